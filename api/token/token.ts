import { z } from "@hono/zod-openapi";
import { integer } from "../http/field.ts";
import { Metadata } from "./metadata.ts";
import {
  ContractAddress,
  ContractName,
  ContractType,
  CurrentOwner,
  IsAwaitingMetadata,
  MintAddress,
  MintTransaction,
  TokenId,
  TokenIdHex,
} from "./token-field.ts";

const MintInfo = z
  .strictObject({
    address: MintAddress,
    timestamp: integer("Unix seconds of the mint; null where none was seen.").nullable(),
    transaction_hash: MintTransaction,
  })
  .openapi({ description: "The first mint of the token." });
/** A mint with the number of its block, as a batch has it. */
export const MintInfoWithBlock = MintInfo.extend({
  block_number: integer("Number of the block of the mint; null where none was seen.").nullable(),
});

const TokenFields = z.object({
  contract_address: ContractAddress,
  token_id: TokenId,
  token_id_hex: TokenIdHex,
  owner: CurrentOwner,
  mint_info: MintInfo,
  metadata: Metadata,
  type: ContractType,
});

/** A token in answers. */
export const Token = z
  .strictObject(TokenFields.shape)
  .openapi("Token", { description: "A token, which stays readable when it is burned." });
export type Token = z.infer<typeof Token>;

/** A token in answers to a batch. */
export const BatchToken = z
  .strictObject({
    ...TokenFields.shape,
    mint_info: MintInfoWithBlock,
    contract_name: ContractName,
    awaiting_metadata_update: IsAwaitingMetadata,
  })
  .openapi("BatchToken", {
    description: "A token of a batch: a Token with more about its mint, contract and metadata.",
  });

/** SQL of `columns` of the account that received the ERC-1155 token `token` last and still holds it. */
export const lastReceiver = (columns: string, condition = "true") => `
  (
    select ${columns}
    from ownership
    where
      ${condition}
      and ownership.contract_address = token.contract_address
      and ownership.token_id = token.token_id
      and ownership.balance > 0
    order by
      ownership.received_block_number desc,
      ownership.received_log_index desc,
      ownership.received_batch_index desc
    limit 1
  )
`;

/** SQL of the current holder. */
export const CURRENT_OWNER = `coalesce(token.owner, ${lastReceiver("ownership.owner")})`;

/**
 * SQL that joins `columns` of the token with this contract and id. The limit keeps the planner from beginning with all
 * tokens, and does nothing else, because the keys are unique.
 */
export const joinToken = ({
  columns,
  contractAddress,
  tokenId,
}: {
  columns: readonly string[];
  contractAddress: string;
  tokenId: string;
}) => `
  cross join lateral (
    select ${columns.map((column) => `found.${column}`).join(", ")}
    from token as found
    where
      found.contract_address = ${contractAddress}
      and found.token_id = ${tokenId}
    limit 1
  ) as token
`;

/** SQL of the metadata of a row of `page`, with a limit as in `joinToken`. */
const metadataOf = ({ chainId, page, condition = "true" }: { chainId: string; page: string; condition?: string }) => `
  (
    select
      found.token_uri,
      found.raw_json,
      found.normalized,
      found.metadata_updated_at,
      found.awaiting_metadata_update
    from token_metadata as found
    where
      ${condition}
      and found.chain_id = ${chainId}
      and found.contract_address = ${page}.contract_address
      and found.token_id = ${page}.token_id
    limit 1
  )
`;

/** SQL that joins to each row of `page` its metadata. */
export const joinTokenMetadataText = ({ chainId, page }: { chainId: string; page: string }) => `
  left join lateral ${metadataOf({ chainId, page })} as token_metadata on true
`;

/**
 * SQL that joins to each row of `page` its metadata, for a page with the contract's next `rows` ids behind `after`. The
 * metadata is read in one go in the order of the ids, because look-ups took a fourth of what a page of 100 tokens costs
 * Postgres. What is missing then, because tokens without metadata or metadata without tokens lie between, is looked up.
 * Only a full join can't be planned as look-ups, and it stays one only with a condition that the planner doesn't see
 * through.
 *
 * @param page numbered from 1 by its column `place`. Only `group by` and `order by` may follow
 */
export const mergeTokenMetadataText = ({
  chainId,
  contractAddress,
  after,
  rows,
  page,
}: Record<"chainId" | "contractAddress" | "after" | "rows" | "page", string>) => `
  full join (
    select
      token_id,
      raw_json,
      normalized,
      metadata_updated_at
    from token_metadata
    where
      chain_id = ${chainId}
      and contract_address = ${contractAddress}
      and token_id > ${after}
    order by token_id
    limit ${rows}
  ) as nearby on nearby.token_id = ${page}.token_id
  left join lateral ${metadataOf({ chainId, page, condition: "nearby.token_id is null" })} as found on true
  cross join lateral (
    select
      coalesce(nearby.raw_json, found.raw_json) as raw_json,
      coalesce(nearby.normalized, found.normalized) as normalized,
      coalesce(nearby.metadata_updated_at, found.metadata_updated_at) as metadata_updated_at
  ) as token_metadata
  where coalesce(${page}.place, 0) > 0
`;
