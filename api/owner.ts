import { z } from "@hono/zod-openapi";
import type { Fragment, Sql } from "postgres";
import { type Contract, contractType, isShown, joinContract, joinContractMetadata } from "./contract.ts";
import { type RawRow, toBytes, toHex, toHexJson, toText } from "./database.ts";
import { EMPTY_NORMALIZED, Metadata, writeMetadata } from "./metadata.ts";
import { type Chunk, concat, type Group } from "./page.ts";
import {
  fittingColumns,
  fittingRows,
  joinTokenMetadata,
  MintInfoWithBlock,
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

/** The zero address is where burned tokens go: it holds nothing. */
const ZERO_ADDRESS = `0x${"0".repeat(40)}`;

/** Tokens that an account holds, by contract and token id, `after` one of them. */
export async function listHoldings(
  sql: Sql,
  {
    chainId,
    accountAddress,
    contractAddress,
    normalizedAs,
    after,
    limit,
  }: {
    chainId: number;
    accountAddress: string;
    contractAddress?: string | undefined;
    /** Whether the answer shows the normalized document as an object or as text within text. */
    normalizedAs: "object" | "text";
    after: [string, string] | undefined;
    limit: number;
  },
): Promise<RawRow[]> {
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
  return sql`
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
      window page_order as (order by page.contract_address, page.token_id rows unbounded preceding)
    )
    select
      held.contract_address,
      held.token_id,
      held.balance,
      ${mintColumns(sql)},
      ${normalizedAs === "text" ? sql`to_json(held.normalized)` : sql`held.normalized`} as normalized,
      to_json(nullif(held.raw, '')) as raw,
      held.metadata_updated_at,
      to_json(coalesce(held.awaiting_metadata_update, true)) as awaiting_metadata_update,
      to_json(coalesce(held.token_uri, '')) as token_uri,
      to_json(coalesce(contract_metadata.name, '')) as name,
      to_json(coalesce(contract_metadata.symbol, '')) as symbol,
      to_json(contract_metadata.image) as image
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
    where ${fittingRows(sql, sql`held`)}
    order by
      held.contract_address,
      held.token_id
  `.raw();
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

/** A row of `listHoldings` by text in an owner's list of tokens. */
export function writeOwnerToken(row: RawRow, { accountAddress }: { accountAddress: string }): Chunk[] {
  const [contractAddress, tokenId, balance, mintAddress, , mintHash, mintBlock, normalized, raw, updatedAt] = row;
  const id = toText(tokenId);
  const minted = mintBlock ? `"${toText(mintBlock)}"` : "null";
  return [
    `{"contract_address":"${toHex(contractAddress)}","token_id":"${id}","token_id_hex":"${toTokenIdHex(id)}","owner":"${accountAddress}","block_number_minted":${minted},"token_uri":`,
    row[11] ?? '""',
    ',"name":',
    row[12] ?? '""',
    ',"symbol":',
    row[13] ?? '""',
    ',"metadata":',
    raw ?? '""',
    ',"normalized_metadata":',
    normalized ?? EMPTY_NORMALIZED_TEXT,
    `,"last_metadata_refresh":${toText(updatedAt)},"minter_address":${toHexJson(mintAddress)},"mint_transaction_hash":${toHexJson(mintHash)},"balance":"${toText(balance)}"}`,
  ];
}

const EMPTY_NORMALIZED_TEXT = JSON.stringify(EMPTY_NORMALIZED);

/** The group of a row of `listHoldings` in the all-holdings list: its contract. */
export function holdingsGroup(row: RawRow): Group {
  const id = toHex(row[0]);
  const [name = null, symbol = null, image = null] = row.slice(12);
  return {
    id,
    head: concat([
      `{"contract_address":"${id}","contract_name":`,
      name ?? '""',
      ',"contract_symbol":',
      symbol ?? '""',
      ',"contract_image":',
      image ?? "null",
      ',"items":[',
    ]),
    tail: "]}",
  };
}

/** A row of `listHoldings` by object in a holdings group. */
export function writeHolding(row: RawRow, { accountAddress }: { accountAddress: string }): Chunk[] {
  const [normalized = null, raw = null, updatedAt, isAwaiting] = row.slice(7);
  return [
    `{"token_id":"${toText(row[1])}","owner":"${accountAddress}","mint_info":${writeMintWithBlock(row, 3)},"metadata":`,
    ...writeMetadata({ normalized, raw, updatedAt: toText(updatedAt) }),
    `,"awaiting_metadata_update":${toText(isAwaiting)}}`,
  ];
}
