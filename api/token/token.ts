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

/** A token on the wire. */
export const Token = z
  .strictObject(TokenFields.shape)
  .openapi("Token", { description: "A token, which stays readable when it is burned." });
export type Token = z.infer<typeof Token>;

/** A token of a batch answer. */
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

/** SQL of `columns` of the one who received `token` last, an ERC-1155 one, of those still holding. */
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

/** The current holder. */
export const CURRENT_OWNER = `coalesce(token.owner, ${lastReceiver("ownership.owner")})`;

/**
 * Looks up `columns` of the token that has this contract and id. Limited, so that the planner can't begin with all
 * tokens: the limit does nothing else, the keys are unique.
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

/** Looks up the metadata of a row of `page`, limited as in `joinToken`. */
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

/** Looks up the metadata of each row of `page`. */
export const joinTokenMetadataText = ({ chainId, page }: { chainId: string; page: string }) => `
  left join lateral ${metadataOf({ chainId, page })} as token_metadata on true
`;

/**
 * The metadata of each row of `page`, whose ids are the next `rows` of the contract behind `after`: read in one go, in
 * the order of the ids, because look-ups took a fourth of what a page of 100 tokens costs Postgres. What isn't there,
 * since tokens without metadata or metadata without tokens lie between, is looked up. Only a full join can't be planned
 * as look-ups, and only a condition that the planner doesn't see through leaves it one.
 *
 * @param page numbered from 1 by its column `place`; nothing but `group by` and `order by` can follow
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
