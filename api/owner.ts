import { z } from "@hono/zod-openapi";
import type { Fragment, Sql } from "postgres";
import { type Contract, contractType, isShown, joinContract, joinContractMetadata } from "./contract.ts";
import { toBytes } from "./database.ts";
import { EMPTY_NORMALIZED, Metadata, type MetadataRow, writeMetadata } from "./metadata.ts";
import type { Group } from "./page.ts";
import {
  fittingColumns,
  fittingRows,
  joinTokenMetadata,
  MintInfoWithBlock,
  type MintRow,
  mintColumns,
  toTokenIdHex,
  writeMintWithBlock,
} from "./token.ts";

/** A token that an account holds. */
export const OwnerToken = z
  .strictObject({
    contract_address: z.string(),
    token_id: z.string(),
    token_id_hex: z.string(),
    owner: z.string().openapi({ description: "The account asked for." }),
    block_number_minted: z.string().nullable(),
    token_uri: z.string(),
    name: z.string().openapi({ description: "Of the contract." }),
    symbol: z.string().openapi({ description: "Of the contract." }),
    metadata: z.string().openapi({ description: "The document as it was fetched." }),
    normalized_metadata: z.string().openapi({ description: "NormalizedMetadata as JSON text." }),
    last_metadata_refresh: z.int().nullable().openapi({ description: "Unix seconds." }),
    minter_address: z.string().nullable(),
    mint_transaction_hash: z.string().nullable(),
    balance: z.string().openapi({ description: "Extension: units held, decimal; 1 for ERC-721." }),
  })
  .openapi("OwnerToken");

/** Tokens of one contract that an account holds. */
export const Holdings = z
  .strictObject({
    contract_address: z.string(),
    contract_name: z.string(),
    contract_symbol: z.string(),
    contract_image: z.string().nullable(),
    items: z.array(
      z.strictObject({
        token_id: z.string(),
        owner: z.string().openapi({ description: "The account asked for." }),
        mint_info: MintInfoWithBlock,
        metadata: Metadata,
        awaiting_metadata_update: z.boolean(),
      }),
    ),
  })
  .openapi("Holdings");

export type HoldingRow = MetadataRow &
  MintRow & {
    contract_address: string;
    token_id: string;
    owner: string;
    balance: string;
    token_uri: string;
    name: string;
    symbol: string;
    image: string | null;
    awaiting_metadata_update: boolean;
  };

/** The zero address is where burned tokens go: it holds nothing. */
const ZERO_ADDRESS = `0x${"0".repeat(40)}`;

/** Tokens that an account holds, by contract and token id, `after` one of them. */
export async function listHoldings(
  sql: Sql,
  {
    chainId,
    accountAddress,
    contractAddress,
    after,
    limit,
  }: {
    chainId: number;
    accountAddress: string;
    contractAddress?: string | undefined;
    after: [string, string] | undefined;
    limit: number;
  },
): Promise<HoldingRow[]> {
  if (accountAddress === ZERO_ADDRESS) return [];
  const account = toBytes(accountAddress);
  const [afterContract, afterToken] = after ? [toBytes(after[0]), after[1]] : [Buffer.alloc(0), "-1"];
  // Bounds of the index on owner instead of `owner =`: with that the planner may walk all tokens in the order of
  // contract and id, which is the same order then, and leave out those of others.
  const conditions = (table: Fragment): Fragment =>
    contractAddress === undefined
      ? sql`
        (${table}.owner, ${table}.contract_address, ${table}.token_id) > (${account}, ${afterContract}, ${afterToken})
        and ${table}.owner <= ${account}
        and ${isShown(sql, { chainId, contractAddress: sql`${table}.contract_address` })}
      `
      : sql`
        (${table}.owner, ${table}.contract_address, ${table}.token_id)
          > (${account}, ${toBytes(contractAddress)}, ${afterToken})
        and (${table}.owner, ${table}.contract_address) <= (${account}, ${toBytes(contractAddress)})
        and ${table}.owner <= ${account}
        and ${isShown(sql, { chainId, contractAddress: sql`${table}.contract_address` })}
      `;
  return sql<HoldingRow[]>`
    with page as materialized (
      (
        select
          token.contract_address,
          token.token_id,
          1::numeric as balance
        from token
        where ${conditions(sql`token`)}
        order by
          token.owner,
          token.contract_address,
          token.token_id
        limit ${limit}
      )
      union all
      (
        select
          ownership.contract_address,
          ownership.token_id,
          ownership.balance
        from ownership
        where
          ${conditions(sql`ownership`)}
          and ownership.balance > 0
        order by
          ownership.owner,
          ownership.contract_address,
          ownership.token_id
        limit ${limit}
      )
      order by
        contract_address,
        token_id
      limit ${limit}
    ),
    measured as (
      select
        page.contract_address,
        page.token_id,
        page.balance,
        token_metadata.token_uri,
        token_metadata.raw,
        token_metadata.normalized,
        token_metadata.metadata_updated_at,
        token_metadata.awaiting_metadata_update,
        ${fittingColumns(sql)}
      from page
      ${joinTokenMetadata(sql, { chainId, page: sql`page` })}
      window page_order as (order by page.contract_address, page.token_id)
    )
    select
      '0x' || encode(held.contract_address, 'hex') as contract_address,
      held.token_id,
      ${accountAddress} as owner,
      held.balance,
      coalesce(held.token_uri, '') as token_uri,
      held.raw,
      held.normalized,
      held.metadata_updated_at,
      coalesce(held.awaiting_metadata_update, true) as awaiting_metadata_update,
      coalesce(contract_metadata.name, '') as name,
      coalesce(contract_metadata.symbol, '') as symbol,
      contract_metadata.image,
      ${mintColumns(sql)}
    from measured as held
    cross join lateral (
      select
        found.mint_address,
        found.mint_block_number,
        found.mint_timestamp,
        found.mint_transaction_hash
      from token as found
      where
        found.contract_address = held.contract_address
        and found.token_id = held.token_id
      limit 1
    ) as token
    ${joinContractMetadata(sql, { chainId, page: sql`held` })}
    where ${fittingRows(sql)}
    order by
      held.contract_address,
      held.token_id
  `;
}

/**
 * Contracts of which an account holds at least one token, by address.
 *
 * Each step jumps to the next contract behind the last, so that 100,000 tokens of one contract cost two look-ups.
 */
export async function listOwnerContracts(
  sql: Sql,
  {
    chainId,
    accountAddress,
    after,
    limit,
  }: { chainId: number; accountAddress: string; after: string | undefined; limit: number },
): Promise<Contract[]> {
  if (accountAddress === ZERO_ADDRESS) return [];
  const account = toBytes(accountAddress);
  /** The first contract behind `place` on one side. */
  const next = (table: Fragment, condition: Fragment, place: Fragment): Fragment => sql`
    (
      select ${table}.contract_address
      from ${table}
      where
        (${table}.owner, ${table}.contract_address) > (${account}, ${place})
        and ${table}.owner <= ${account}
        ${condition}
      order by
        ${table}.owner,
        ${table}.contract_address
      limit 1
    )
  `;
  const nextOfBoth = (place: Fragment): Fragment => sql`
    least(
      ${next(sql`token`, sql``, place)},
      ${next(sql`ownership`, sql`and ownership.balance > 0`, place)}
    )
  `;
  const shown = (address: Fragment): Fragment => isShown(sql, { chainId, contractAddress: address });
  return sql<Contract[]>`
    with recursive start as (
      select ${after === undefined ? Buffer.alloc(0) : toBytes(after)}::bytea as place
    ),
    held as (
      select
        first.contract_address,
        ${shown(sql`first.contract_address`)} as is_shown,
        (${shown(sql`first.contract_address`)})::integer as place
      from (select ${nextOfBoth(sql`start.place`)} as contract_address from start offset 0) as first
      where first.contract_address is not null
      union all
      select
        following.contract_address,
        ${shown(sql`following.contract_address`)},
        following.place + (${shown(sql`following.contract_address`)})::integer
      from (
        select
          ${nextOfBoth(sql`held.contract_address`)} as contract_address,
          held.place
        from held
        where held.place < ${limit}
        offset 0
      ) as following
      where following.contract_address is not null
    )
    select
      '0x' || encode(contract.contract_address, 'hex') as contract_address,
      ${contractType(sql)} as contract_type,
      coalesce(contract_metadata.name, '') as name,
      coalesce(contract_metadata.symbol, '') as symbol,
      contract_metadata.image
    from held
    ${joinContract(sql, { chainId, page: sql`held` })}
    where held.is_shown
    order by held.contract_address
  `;
}

/** A token in an owner's list as JSON. */
export function writeOwnerToken(row: HoldingRow): string {
  return JSON.stringify({
    contract_address: row.contract_address,
    token_id: row.token_id,
    token_id_hex: toTokenIdHex(row.token_id),
    owner: row.owner,
    block_number_minted: row.mint_block_number === null ? null : String(row.mint_block_number),
    token_uri: row.token_uri,
    name: row.name,
    symbol: row.symbol,
    metadata: row.raw ?? "",
    normalized_metadata: row.normalized ?? EMPTY_NORMALIZED,
    last_metadata_refresh: row.metadata_updated_at,
    minter_address: row.mint_address,
    mint_transaction_hash: row.mint_transaction_hash,
    balance: row.balance,
  } satisfies z.infer<typeof OwnerToken>);
}

/** The group of a token in the all-holdings list: its contract. */
export function holdingsGroup(row: HoldingRow): Group {
  return {
    id: row.contract_address,
    head: `{"contract_address":"${row.contract_address}","contract_name":${JSON.stringify(row.name)},"contract_symbol":${JSON.stringify(row.symbol)},"contract_image":${JSON.stringify(row.image)},"items":[`,
    tail: "]}",
  };
}

/** A token of a holdings group as JSON. */
export function writeHolding(row: HoldingRow): string {
  return `{"token_id":"${row.token_id}","owner":"${row.owner}","mint_info":${writeMintWithBlock(row)},"metadata":${writeMetadata(row)},"awaiting_metadata_update":${row.awaiting_metadata_update}}`;
}
