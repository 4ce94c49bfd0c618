import { z } from "@hono/zod-openapi";
import { Metadata } from "./metadata.ts";

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

/** Looks up the metadata of each row of `page`, limited as in `joinToken`. */
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

/**
 * The metadata of each row of `page`, whose ids are the next `rows` of the contract behind `after`: read in one go, in
 * the order of the ids, because look-ups took a fourth of what a page of 100 tokens costs Postgres. What isn't there,
 * since tokens without metadata or metadata without tokens lie between, is looked up. Only a full join can't be planned
 * as look-ups, and only a condition that the planner doesn't see through leaves it one.
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
  left join lateral (
    select
      raw_json,
      normalized,
      metadata_updated_at
    from token_metadata
    where
      nearby.token_id is null
      and chain_id = ${chainId}
      and contract_address = ${contractAddress}
      and token_id = ${page}.token_id
    limit 1
  ) as found on true
  cross join lateral (
    select
      coalesce(nearby.raw_json, found.raw_json) as raw_json,
      coalesce(nearby.normalized, found.normalized) as normalized,
      coalesce(nearby.metadata_updated_at, found.metadata_updated_at) as metadata_updated_at
  ) as token_metadata
  where coalesce(${page}.place, 0) > 0
`;
