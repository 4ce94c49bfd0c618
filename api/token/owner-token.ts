import { z } from "@hono/zod-openapi";
import { zeroAddress } from "viem";
import { list, text } from "../http/field.ts";
import type { RowStream } from "../sql/database.ts";
import { HELD, heldParameters, type HoldingsOptions } from "./holding.ts";
import {
  bytesOf,
  hexJson,
  itemUpTo,
  METADATA_END,
  MINT_INFO_WITH_BLOCK,
  NORMALIZED,
  numberJson,
  RAW,
  textJson,
  tokenIdHex,
} from "../sql/item.ts";
import { documentsInPieces, loadDocuments, loadRows } from "../sql/item-page.ts";
import { Metadata } from "./metadata.ts";
import { createPage, type Group, type LastItem, type Page } from "../http/page.ts";
import { joinTokenMetadataText, MintInfoWithBlock } from "./token.ts";
import {
  AskedOwner,
  Balance,
  ContractAddress,
  ContractImage,
  ContractName,
  ContractSymbol,
  IsAwaitingMetadata,
  MetadataUpdatedAt,
  MintAddress,
  MintTransaction,
  RawMetadata,
  TokenId,
  TokenIdHex,
} from "./token-field.ts";

/** A token that an account holds. */
export const OwnerToken = z
  .strictObject({
    contract_address: ContractAddress,
    token_id: TokenId,
    token_id_hex: TokenIdHex,
    owner: AskedOwner,
    block_number_minted: text("Number of the block of the mint, decimal; null where none was seen.").nullable(),
    token_uri: text(
      "As the contract says it, which may be a whole document, with the id in the place of `{id}` where the token is " +
        "ERC-1155; empty where it says none, or wasn't asked yet.",
    ),
    name: ContractName,
    symbol: ContractSymbol,
    metadata: RawMetadata,
    normalized_metadata: text("A NormalizedMetadata as JSON text."),
    last_metadata_refresh: MetadataUpdatedAt,
    minter_address: MintAddress,
    mint_transaction_hash: MintTransaction,
    balance: Balance,
  })
  .openapi("OwnerToken", { description: "A token that an account holds." });
export type OwnerToken = z.infer<typeof OwnerToken>;

/** The tokens of one contract that an account holds. */
export const Holdings = z
  .strictObject({
    contract_address: ContractAddress,
    contract_name: ContractName,
    contract_symbol: ContractSymbol,
    contract_image: ContractImage,
    items: list(
      z.strictObject({
        token_id: TokenId,
        owner: AskedOwner,
        mint_info: MintInfoWithBlock,
        metadata: Metadata,
        awaiting_metadata_update: IsAwaitingMetadata,
      }),
      "Its tokens that the account holds, by ascending token id.",
    ),
  })
  .openapi("Holdings", { description: "Tokens of one contract that an account holds." });

/** SQL of a token in a list of an owner's tokens. Documents come last, as in `METADATA_END`. */
const OWNER_TOKEN = `
  '{"contract_address":"0x' || encode(token.contract_address, 'hex')
  || '","token_id":"' || token.token_id
  || '","token_id_hex":"' || ${tokenIdHex("token.token_id")}
  || '","owner":"0x' || encode($3, 'hex')
  || '","balance":"' || token.balance
  || '","block_number_minted":' || coalesce('"' || token.mint_block_number || '"', 'null')
  || ',"token_uri":' || ${textJson("token_metadata.token_uri")}
  || ',"name":' || ${textJson("token.name")}
  || ',"symbol":' || ${textJson("token.symbol")}
  || ',"last_metadata_refresh":' || ${numberJson("token_metadata.metadata_updated_at")}
  || ',"minter_address":' || ${hexJson("token.mint_address")}
  || ',"mint_transaction_hash":' || ${hexJson("token.mint_transaction_hash")}
  || (',"metadata":' || ${RAW} || (',"normalized_metadata":' || to_json(${NORMALIZED})::text || '}'))
`;

/** SQL of a token in a group of holdings. */
const HOLDING = `
  '{"token_id":"' || token.token_id
  || '","owner":"0x' || encode($3, 'hex')
  || '","mint_info":' || ${MINT_INFO_WITH_BLOCK}
  || ',"awaiting_metadata_update":' || coalesce(token_metadata.awaiting_metadata_update, true)::text
  || ${METADATA_END}
`;
/** SQL of a group of holdings up to its items. */
const HOLDINGS_HEAD = `
  '{"contract_address":"0x' || encode(token.contract_address, 'hex')
  || '","contract_name":' || ${textJson("token.name")}
  || ',"contract_symbol":' || ${textJson("token.symbol")}
  || ',"contract_image":' || coalesce(to_json(token.image)::text, 'null')
  || ',"items":['
`;

const joinDocuments = joinTokenMetadataText({ chainId: "$2", page: "token" });

/** Parameters: those of `held`, of which the third is the account, the bytes of documents, and items of a piece. */
const ownerTokens = (held: string) =>
  documentsInPieces({
    item: OWNER_TOKEN,
    columns: [
      "contract_address",
      "token_id",
      "balance",
      "mint_address",
      "mint_block_number",
      "mint_transaction_hash",
      "name",
      "symbol",
    ],
    page: held,
    order: "contract_address, token_id",
    join: joinDocuments,
    // A URI may contain a whole document, too.
    bytes: bytesOf("raw_json", "normalized", "token_uri"),
    documentBytes: "$6",
    pieceItems: "$7",
  });
const OWNER_TOKENS = ownerTokens(HELD.ofAnyContract);
const OWNER_TOKENS_OF_CONTRACT = ownerTokens(HELD.ofOneContract);

/** Parameters: those of `held`, and the bytes of documents. */
const HOLDINGS = `
  select
    ${itemUpTo("$6", HOLDING)},
    ${HOLDINGS_HEAD}
  from (${HELD.ofAnyContract}) as token
  ${joinDocuments}
  order by
    token.contract_address,
    token.token_id
`;

/** The tokens that an account holds, by contract and token id, or those of one contract. */
export async function listOwnerTokens(stream: RowStream, options: HoldingsOptions): Promise<Page> {
  const { accountAddress, contractAddress, limit } = options;
  if (accountAddress === zeroAddress) return createPage({ limit });
  const text = contractAddress === undefined ? OWNER_TOKENS : OWNER_TOKENS_OF_CONTRACT;
  return loadDocuments(stream, text, { limit, parameters: heldParameters(options) });
}

/** The tokens that an account holds, in groups by contract. */
export async function listHoldings(
  stream: RowStream,
  options: Omit<HoldingsOptions, "contractAddress">,
): Promise<Page> {
  if (options.accountAddress === zeroAddress) return createPage(options);
  let last: Group | undefined;
  return loadRows(stream, HOLDINGS, {
    limit: options.limit,
    parametersOf: (rows, documentBytes) => [rows, ...heldParameters(options), documentBytes],
    groupOf: ([, head]) => {
      // Copied, because the row's bytes are valid only during this call.
      if (head && !last?.head.equals(head)) last = { head: Buffer.from(head), tail: "]}" };
      return last;
    },
  });
}

/** The sort key of an item of `listHoldings`. */
export function holdingKey({ item, group }: LastItem): [contractAddress: string, tokenId: string] {
  const { contract_address } = JSON.parse(`${group?.head.toString()}${group?.tail}`) as { contract_address: string };
  const { token_id } = JSON.parse(item.toString()) as { token_id: string };
  return [contract_address, token_id];
}
