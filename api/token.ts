import { z } from "@hono/zod-openapi";
import type { Fragment, Sql } from "postgres";
import { CONTRACT_TYPE, joinContractText } from "./contract.ts";
import { type Parameter, type RowStream, toArray, toBytes } from "./database.ts";
import { METADATA, MINT_INFO, MINT_INFO_WITH_BLOCK, tokenIdHex } from "./item.ts";
import { documentsInPieces, itemOf, loadDocuments } from "./item-page.ts";
import { Metadata } from "./metadata.ts";
import type { Page } from "./page.ts";

export const MintInfo = z.strictObject({
  address: z.string().nullable().openapi({ description: "Receiver of the first transfer from the zero address." }),
  timestamp: z.int().nullable(),
  transaction_hash: z.string().nullable(),
});
export const MintInfoWithBlock = MintInfo.extend({ block_number: z.int().nullable() });

const TokenType = z.enum(["ERC721", "ERC1155", "CRYPTOPUNKS"]);

const TokenFields = z.object({
  contract_address: z.string(),
  token_id: z.string().openapi({ description: "Decimal." }),
  token_id_hex: z.string().openapi({ description: "0x and 64 hex digits." }),
  owner: z.string().openapi({
    description:
      "The zero address when an ERC-721 token is burned. Of several holders of an ERC-1155 token the one that " +
      "received last; empty when nobody holds it.",
  }),
  mint_info: MintInfo,
  metadata: Metadata,
  type: TokenType,
});

/** A token on the wire. */
export const Token = z.strictObject(TokenFields.shape).openapi("Token");
export type Token = z.infer<typeof Token>;

/** A token of a batch answer. */
export const BatchToken = z
  .strictObject({
    ...TokenFields.shape,
    mint_info: MintInfoWithBlock,
    contract_name: z.string(),
    awaiting_metadata_update: z.boolean(),
  })
  .openapi("BatchToken");

/** The current holder. An ERC-1155 token's is looked up in the order in which its holders received. */
const CURRENT_OWNER = `
  coalesce(
    token.owner,
    (
      select ownership.owner
      from ownership
      where
        ownership.contract_address = token.contract_address
        and ownership.token_id = token.token_id
        and ownership.balance > 0
      order by
        ownership.received_block_number desc,
        ownership.received_log_index desc,
        ownership.received_batch_index desc
      limit 1
    )
  )
`;
export const currentOwner = (sql: Sql): Fragment => sql.unsafe(CURRENT_OWNER);

/**
 * Looks up the metadata of each row of `page`. Limited, so that the planner can't begin with the metadata: the limit
 * does nothing else, the keys are unique.
 */
export const joinTokenMetadataText = ({ chainId, page }: { chainId: string; page: string }) => `
  left join lateral (
    select
      found.token_uri,
      found.raw_json,
      found.normalized,
      found.metadata_updated_at,
      found.awaiting_metadata_update
    from token_metadata as found
    where
      found.chain_id = ${chainId}
      and found.contract_address = ${page}.contract_address
      and found.token_id = ${page}.token_id
    limit 1
  ) as token_metadata on true
`;
export const joinTokenMetadata = (sql: Sql, { chainId, page }: { chainId: number; page: string }): Fragment =>
  sql.unsafe(joinTokenMetadataText({ chainId: String(chainId), page }));

/** A token as JSON, without the end of the object. */
const tokenFields = ({ mintInfo, type }: { mintInfo: string; type: string }) => `
  '{"contract_address":"0x' || encode(token.contract_address, 'hex')
  || '","token_id":"' || token.token_id
  || '","token_id_hex":"' || ${tokenIdHex("token.token_id")}
  || '","owner":"' || coalesce('0x' || encode(${CURRENT_OWNER}, 'hex'), '')
  || '","mint_info":' || ${mintInfo}
  || ',"metadata":' || ${METADATA}
  || (',"type":"' || ${type} || '"')
`;

const TOKEN = `${tokenFields({ mintInfo: MINT_INFO, type: CONTRACT_TYPE })} || '}'`;
const BATCH_TOKEN = `
  ${tokenFields({ mintInfo: MINT_INFO_WITH_BLOCK, type: CONTRACT_TYPE })}
  || (',"contract_name":' || to_json(coalesce(contract_metadata.name, ''))::text
  || ',"awaiting_metadata_update":' || coalesce(token_metadata.awaiting_metadata_update, true)::text || '}')
`;

/** Parameters: rows, chain, contract, what `condition` takes, bytes of documents, items of a piece. */
const tokensOf = (condition: string, rest: { documentBytes: string; pieceItems: string }) => `
  with contract_type as materialized (
    select ${CONTRACT_TYPE} as contract_type
    from contract
    left join contract_metadata
      on contract_metadata.chain_id = $2
      and contract_metadata.contract_address = contract.contract_address
    where
      contract.contract_address = $3
      and contract_metadata.is_fungible is not true
  )
  ${documentsInPieces({
    ...rest,
    item: `${tokenFields({ mintInfo: MINT_INFO, type: "(select contract_type from contract_type)" })} || '}'`,
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

/** Parameters: chain, addresses without 0x, token ids. Rows: the item, and its place in the request from 1. */
const tokensByKey = (item: string) => `
  select
    ${item},
    requested.place
  from unnest($2::text[], $3::numeric[]) with ordinality as requested (contract_address, token_id, place)
  cross join lateral (
    select
      found.contract_address,
      found.token_id,
      found.owner,
      found.mint_address,
      found.mint_block_number,
      found.mint_timestamp,
      found.mint_transaction_hash
    from token as found
    where
      found.contract_address = decode(requested.contract_address, 'hex')
      and found.token_id = requested.token_id
    limit 1
  ) as token
  ${joinContractText({ chainId: "$1", page: "token" })}
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
  const found: { json: string; place: number }[] = [];
  const addresses = toArray(tokens.map((token) => token.contract_address.slice(2)));
  const ids = toArray(tokens.map((token) => token.token_id));
  await stream(text, [chainId, addresses, ids], (row) => {
    found.push({ json: itemOf(row).toString(), place: Number(row[1]) - 1 });
  });
  return found;
}

/** 0x and 64 hex digits. */
export const toTokenIdHex = (tokenId: string) => `0x${BigInt(tokenId).toString(16).padStart(64, "0")}`;
