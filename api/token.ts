import { z } from "@hono/zod-openapi";
import type { Fragment, Sql } from "postgres";
import { contractType, joinContract } from "./contract.ts";
import { type RawRow, toArray, toBytes, toHex, toHexJson, toText } from "./database.ts";
import { Metadata, writeMetadata } from "./metadata.ts";
import { type Chunk, MAX_BODY_BYTES } from "./page.ts";

export const MintInfo = z.strictObject({
  address: z.string().nullable().openapi({ description: "Receiver of the first transfer from the zero address." }),
  timestamp: z.int().nullable(),
  transaction_hash: z.string().nullable(),
});
export const MintInfoWithBlock = MintInfo.extend({ block_number: z.int().nullable() });

const TokenType = z.enum(["ERC721", "ERC1155", "CRYPTOPUNKS"]);

const tokenFields = z.object({
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
export const Token = z.strictObject(tokenFields.shape).openapi("Token");

/** A token of a batch answer. */
export const BatchToken = z
  .strictObject({
    ...tokenFields.shape,
    mint_info: MintInfoWithBlock,
    contract_name: z.string(),
    awaiting_metadata_update: z.boolean(),
  })
  .openapi("BatchToken");

/** The current holder. An ERC-1155 token's is looked up in the order in which its holders received. */
export const currentOwner = (sql: Sql): Fragment => sql`
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

const ownerColumn = (sql: Sql): Fragment => sql`${currentOwner(sql)} as owner`;

/** Where and when a token came to be; `writeMint` reads these. */
export const mintColumns = (sql: Sql): Fragment => sql`
  token.mint_address,
  token.mint_timestamp,
  token.mint_transaction_hash,
  token.mint_block_number
`;

/** Bytes of a row's metadata, known without reading it. */
const metadataSize = (sql: Sql, table: Fragment): Fragment => sql`
  coalesce(octet_length(${table}.raw) + coalesce(octet_length(${table}.normalized), 0), 0)
`;

/** What `fittingRows` looks at, over the window `page_order`. */
export const fittingColumns = (sql: Sql): Fragment => sql`
  row_number() over page_order as place,
  sum(${metadataSize(sql, sql`token_metadata`)}) over page_order as bytes
`;

/**
 * Rows whose metadata fits into a body, and always two: the second tells that the list goes on after a first that is
 * too large alone. Without this, a page of documents of 1 MB would be 250 MB to read and throw away.
 */
export const fittingRows = (sql: Sql, table: Fragment): Fragment => sql`
  (${table}.place <= 2 or ${table}.bytes - ${metadataSize(sql, table)} <= ${MAX_BODY_BYTES})
`;

/**
 * Looks up the metadata of each row of `page`. Limited, so that the planner can't begin with the metadata: the limit
 * does nothing else, the keys are unique.
 */
export const joinTokenMetadata = (sql: Sql, { chainId, page }: { chainId: number; page: Fragment }): Fragment => sql`
  left join lateral (
    select
      found.token_uri,
      found.raw,
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

/** Tokens of a contract by ascending id. None where the contract is hidden. */
export async function listTokens(
  sql: Sql,
  {
    chainId,
    contractAddress,
    tokenIds,
    after,
    limit,
  }: {
    chainId: number;
    contractAddress: string;
    tokenIds?: string[] | undefined;
    after: string | undefined;
    limit: number;
  },
): Promise<RawRow[]> {
  const address = toBytes(contractAddress);
  return sql`
    with contract_type as materialized (
      select ${contractType(sql)} as contract_type
      from contract
      left join contract_metadata
        on contract_metadata.chain_id = ${chainId}
        and contract_metadata.contract_address = contract.contract_address
      where
        contract.contract_address = ${address}
        and contract_metadata.is_fungible is not true
    ),
    page as materialized (
      select
        token.contract_address,
        token.token_id,
        token.owner,
        token.mint_address,
        token.mint_block_number,
        token.mint_timestamp,
        token.mint_transaction_hash
      from token
      where
        token.contract_address = ${address}
        and exists (select from contract_type)
        ${after === undefined ? sql`` : sql`and token.token_id > ${after}`}
        ${tokenIds === undefined ? sql`` : sql`and token.token_id = any (${toArray(tokenIds)}::numeric[])`}
      order by
        token.contract_address,
        token.token_id
      limit ${limit}
    ),
    measured as (
      select
        token.contract_address,
        token.token_id,
        token.owner,
        token.mint_address,
        token.mint_block_number,
        token.mint_timestamp,
        token.mint_transaction_hash,
        token_metadata.raw,
        token_metadata.normalized,
        token_metadata.metadata_updated_at,
        ${fittingColumns(sql)}
      from page as token
      ${joinTokenMetadata(sql, { chainId, page: sql`token` })}
      window page_order as (order by token.token_id rows unbounded preceding)
    )
    select
      token.contract_address,
      token.token_id,
      ${ownerColumn(sql)},
      ${mintColumns(sql)},
      token.normalized,
      to_json(nullif(token.raw, '')) as raw,
      token.metadata_updated_at,
      (select contract_type from contract_type) as type
    from measured as token
    where ${fittingRows(sql, sql`token`)}
    order by token.token_id
  `.raw();
}

/** The tokens of `tokens` that exist, each once, in the order in which they are asked for. */
export async function listBatch(
  sql: Sql,
  { chainId, tokens }: { chainId: number; tokens: { contract_address: string; token_id: string }[] },
): Promise<RawRow[]> {
  return sql`
    with requested as materialized (
      select
        decode(contract_address, 'hex') as contract_address,
        token_id,
        min(place) as place
      from unnest(
        ${toArray(tokens.map((token) => token.contract_address.slice(2)))}::text[],
        ${toArray(tokens.map((token) => token.token_id))}::numeric[]
      ) with ordinality as item (contract_address, token_id, place)
      group by 1, 2
    )
    select
      token.contract_address,
      token.token_id,
      ${ownerColumn(sql)},
      ${mintColumns(sql)},
      token_metadata.normalized,
      to_json(nullif(token_metadata.raw, '')) as raw,
      token_metadata.metadata_updated_at,
      ${contractType(sql)} as type,
      to_json(coalesce(contract_metadata.name, '')) as contract_name,
      to_json(coalesce(token_metadata.awaiting_metadata_update, true)) as awaiting_metadata_update
    from requested
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
        found.contract_address = requested.contract_address
        and found.token_id = requested.token_id
      limit 1
    ) as token
    ${joinContract(sql, { chainId, page: sql`requested` })}
    ${joinTokenMetadata(sql, { chainId, page: sql`requested` })}
    where contract_metadata.is_fungible is not true
    order by requested.place
  `.raw();
}

/** 0x and 64 hex digits. */
export const toTokenIdHex = (tokenId: string) => `0x${BigInt(tokenId).toString(16).padStart(64, "0")}`;

/** A row of `listTokens` as JSON. */
export function writeToken(row: RawRow): Chunk[] {
  return [...writeTokenFields(row, { mintInfo: `{${writeMint(row, 3)}}` }), "}"];
}

/** A row of `listBatch` as JSON. */
export function writeBatchToken(row: RawRow): Chunk[] {
  return [
    ...writeTokenFields(row, { mintInfo: writeMintWithBlock(row, 3) }),
    ',"contract_name":',
    row[11] ?? '""',
    `,"awaiting_metadata_update":${toText(row[12])}}`,
  ];
}

function writeTokenFields(row: RawRow, { mintInfo }: { mintInfo: string }): Chunk[] {
  const [contractAddress, tokenId, owner, , , , , normalized = null, raw = null, updatedAt, type] = row;
  const id = toText(tokenId);
  return [
    `{"contract_address":"${toHex(contractAddress)}","token_id":"${id}","token_id_hex":"${toTokenIdHex(id)}","owner":"${toHex(owner)}","mint_info":${mintInfo},"metadata":`,
    ...writeMetadata({ normalized, raw, updatedAt: toText(updatedAt) }),
    `,"type":"${toText(type)}"`,
  ];
}

/** The fields of `mint_info` out of `mintColumns`, which begin at a place of the row. */
function writeMint(row: RawRow, place: number): string {
  return `"address":${toHexJson(row[place])},"timestamp":${toText(row[place + 1])},"transaction_hash":${toHexJson(row[place + 2])}`;
}

export function writeMintWithBlock(row: RawRow, place: number): string {
  return `{${writeMint(row, place)},"block_number":${toText(row[place + 3])}}`;
}
