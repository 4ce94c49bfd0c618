import { toBytes } from "../../offchain/bytea.ts";
import { CONTRACT_TYPE, WITH_CONTRACT_TYPE } from "./contract.ts";
import { type Parameter, type RowStream, toArray } from "../sql/database.ts";
import { METADATA_END, MINT_INFO, MINT_INFO_WITH_BLOCK, textJson, tokenIdHex } from "../sql/item.ts";
import { documentsInPieces, loadDocuments } from "../sql/item-page.ts";
import type { Page } from "../http/page.ts";
import { CURRENT_OWNER, joinTokenMetadataText, mergeTokenMetadataText } from "./token.ts";

/** SQL of a token as JSON. `more`: further fields, before the documents. */
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

/** SQL of a token as JSON, made of its row and those of its contract and its metadata. */
export const TOKEN = tokenItem({ mintInfo: MINT_INFO, type: CONTRACT_TYPE });
/** SQL of a token as JSON in the form of a batch. */
export const BATCH_TOKEN = tokenItem({
  mintInfo: MINT_INFO_WITH_BLOCK,
  type: CONTRACT_TYPE,
  more: `
    ',"contract_name":' || ${textJson("contract_metadata.name")}
    || ',"awaiting_metadata_update":' || coalesce(token_metadata.awaiting_metadata_update, true)::text
  `,
});

/** Parameters: rows, chain, contract, those of `condition`, bytes of documents, items of a piece. */
const tokensOf = (condition: string, rest: { join: string; documentBytes: string; pieceItems: string }) => `
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
  })}
`;
const TOKENS_AFTER = tokensOf("token.token_id > $4", {
  join: mergeTokenMetadataText({ chainId: "$2", contractAddress: "$3", after: "$4", rows: "$1", page: "token" }),
  documentBytes: "$5",
  pieceItems: "$6",
});
const TOKENS_BY_ID = tokensOf("token.token_id > $4 and token.token_id = any ($5::numeric[])", {
  join: joinTokenMetadataText({ chainId: "$2", page: "token" }),
  documentBytes: "$6",
  pieceItems: "$7",
});

/** The tokens of a contract by ascending id. None where the contract is hidden. */
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
