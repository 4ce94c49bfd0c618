import { CONTRACT_TYPE, joinContractText, WITH_CONTRACT_TYPE } from "./contract.ts";
import { type Parameter, type RowStream, toArray, toBytes } from "../sql/database.ts";
import { METADATA_END, MINT_INFO, MINT_INFO_WITH_BLOCK, textJson, tokenIdHex } from "../sql/item.ts";
import { documentsInPieces, itemOf, loadDocuments } from "../sql/item-page.ts";
import type { Page } from "../http/page.ts";
import { CURRENT_OWNER, joinToken, joinTokenMetadataText } from "./token.ts";

/** A token as JSON; `more` are fields behind the others and before the documents. */
const tokenItem = ({ mintInfo, type, more = "''" }: { mintInfo: string; type: string; more?: string }) => `
  '{"contract_address":"0x' || encode(token.contract_address, 'hex')
  || '","token_id":"' || token.token_id
  || '","token_id_hex":"' || ${tokenIdHex("token.token_id")}
  || '","owner":"' || coalesce('0x' || encode(${CURRENT_OWNER}, 'hex'), '')
  || '","mint_info":' || ${mintInfo}
  || ',"type":"' || ${type} || '"'
  || ${more}
  || ${METADATA_END}
`;

const TOKEN = tokenItem({ mintInfo: MINT_INFO, type: CONTRACT_TYPE });
const BATCH_TOKEN = tokenItem({
  mintInfo: MINT_INFO_WITH_BLOCK,
  type: CONTRACT_TYPE,
  more: `
    ',"contract_name":' || ${textJson("contract_metadata.name")}
    || ',"awaiting_metadata_update":' || coalesce(token_metadata.awaiting_metadata_update, true)::text
  `,
});

/** Parameters: rows, chain, contract, what `condition` takes, bytes of documents, items of a piece. */
const tokensOf = (condition: string, rest: { documentBytes: string; pieceItems: string }) => `
  ${WITH_CONTRACT_TYPE}
  ${documentsInPieces({
    ...rest,
    item: tokenItem({ mintInfo: MINT_INFO, type: "(select contract_type from contract_type)" }),
    columns: ["contract_address", "token_id", "owner", "mint_address", "mint_timestamp", "mint_transaction_hash"],
    page: `
      select
        token.contract_address,
        token.token_id,
        token.owner,
        token.mint_address,
        token.mint_timestamp,
        token.mint_transaction_hash
      from token
      where
        token.contract_address = $3
        and exists (select from contract_type)
        and ${condition}
      order by
        token.contract_address,
        token.token_id
      limit $1
    `,
    order: "token_id",
    join: joinTokenMetadataText({ chainId: "$2", page: "token" }),
  })}
`;
const TOKENS_AFTER = tokensOf("token.token_id > $4", { documentBytes: "$5", pieceItems: "$6" });
const TOKENS_BY_ID = tokensOf("token.token_id > $4 and token.token_id = any ($5::numeric[])", {
  documentBytes: "$6",
  pieceItems: "$7",
});

/** Tokens of a contract by ascending id. None where the contract is hidden. */
export async function listTokens(
  stream: RowStream,
  {
    chainId,
    contractAddress,
    tokenIds,
    after = "-1",
    limit,
  }: {
    chainId: number;
    contractAddress: string;
    tokenIds?: string[] | undefined;
    after: string | undefined;
    limit: number;
  },
): Promise<Page> {
  const parameters: Parameter[] = [chainId, toBytes(contractAddress), after];
  return tokenIds === undefined
    ? loadDocuments(stream, TOKENS_AFTER, { limit, parameters })
    : loadDocuments(stream, TOKENS_BY_ID, { limit, parameters: [...parameters, toArray(tokenIds)] });
}

/**
 * Rows: `item` of a token and its place in the array of ids from 1, in no order. A contract is looked up once for
 * all tokens of it: look-ups are most of what a token costs Postgres.
 *
 * Parameters: chain, then of each contract its address without 0x and the first and last of its places in the array of
 * token ids that follows.
 */
const tokensByKey = (item: string) => `
  select
    ${item},
    requested.first + wanted.place - 1
  from unnest($2::text[], $3::int[], $4::int[]) as requested (contract_address, first, last)
  cross join lateral (
    select decode(requested.contract_address, 'hex') as contract_address
  ) as page
  ${joinContractText({ chainId: "$1", page: "page" })}
  cross join lateral unnest(($5::numeric[])[requested.first:requested.last])
    with ordinality as wanted (token_id, place)
  ${joinToken({
    columns: [
      "contract_address",
      "token_id",
      "owner",
      "mint_address",
      "mint_block_number",
      "mint_timestamp",
      "mint_transaction_hash",
    ],
    contractAddress: "contract.contract_address",
    tokenId: "wanted.token_id",
  })}
  ${joinTokenMetadataText({ chainId: "$1", page: "token" })}
  where contract_metadata.is_fungible is not true
`;
const TOKENS_BY_KEY = tokensByKey(TOKEN);
const BATCH_TOKENS_BY_KEY = tokensByKey(BATCH_TOKEN);

export type TokenKey = { contract_address: string; token_id: string };

/** JSON of those of `tokens` that exist, each with its place in `tokens` from 0. In no order. */
export const findTokens = async (stream: RowStream, options: { chainId: number; tokens: readonly TokenKey[] }) =>
  findByKey(stream, TOKENS_BY_KEY, options);

/** The same as a batch answers them, in the order in which they are asked for. */
export async function listBatch(
  stream: RowStream,
  options: { chainId: number; tokens: readonly TokenKey[] },
): Promise<string[]> {
  const found = await findByKey(stream, BATCH_TOKENS_BY_KEY, options);
  return found.toSorted((a, b) => a.place - b.place).map(({ json }) => json);
}

async function findByKey(
  stream: RowStream,
  text: string,
  { chainId, tokens }: { chainId: number; tokens: readonly TokenKey[] },
): Promise<{ json: string; place: number }[]> {
  const contracts = Map.groupBy(tokens.keys(), (place) => tokens[place]?.contract_address ?? "");
  const places = [...contracts.values()].flat();
  const lasts: number[] = [];
  for (const { length } of contracts.values()) lasts.push((lasts.at(-1) ?? 0) + length);
  const parameters = [
    chainId,
    toArray([...contracts.keys()].map((address) => address.slice(2))),
    toArray([1, ...lasts.slice(0, -1).map((last) => last + 1)]),
    toArray(lasts),
    toArray(places.map((place) => tokens[place]?.token_id ?? "")),
  ];
  const found: { json: string; place: number }[] = [];
  await stream(text, parameters, (row) => {
    found.push({ json: itemOf(row).toString(), place: places[Number(row[1]) - 1] as number });
  });
  return found;
}
