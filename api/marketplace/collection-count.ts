import type { Sql } from "postgres";
import { toArray } from "../sql/database.ts";
import { ZERO_LITERAL } from "../token/holding.ts";
import { runLong } from "../sql/long-statement.ts";
import { IS_HELD } from "./marketplace-scope.ts";

type Count = { address: string; count: number };
const toMap = (rows: Count[]) => new Map(rows.map(({ address, count }) => [address, count]));

/** The last block with an event; -1 where there is none. */
export async function findLastEventBlock(sql: Sql): Promise<number> {
  const [row] = await sql<{ block_number: number }[]>`
    select token_event.block_number
    from token_event
    order by
      token_event.block_number desc,
      token_event.log_index desc,
      token_event.batch_index desc
    limit 1
  `;
  return row?.block_number ?? -1;
}

/** Whether there are more than `most` events since a block. */
export async function hasMoreEvents(
  sql: Sql,
  { fromBlock, most }: { fromBlock: number; most: number },
): Promise<boolean> {
  const rows = await sql`
    select
    from token_event
    where token_event.block_number >= ${fromBlock}
    order by
      token_event.block_number,
      token_event.log_index,
      token_event.batch_index
    limit 1
    offset ${most}
  `;
  return rows.length > 0;
}

/**
 * Addresses without 0x of the contracts whose number of tokens may have changed since a block. A transfer counts if it
 * is the token's first event: where indexing began after the mint, the token becomes known with its first transfer.
 */
export async function listChangedContracts(sql: Sql, { fromBlock }: { fromBlock: number }): Promise<string[]> {
  const rows = await sql<{ address: string }[]>`
    select distinct encode(token_event.contract_address, 'hex') as address
    from token_event
    where
      token_event.block_number >= ${fromBlock}
      and case token_event.event_type
        when 'sale' then false
        when 'transfer' then (
          select true
          from token_event as earlier
          where
            earlier.contract_address = token_event.contract_address
            and earlier.token_id = token_event.token_id
            and earlier.block_number < ${fromBlock}
          limit 1
        ) is null
        else true
      end
  `;
  return rows.map(({ address }) => address);
}

/** How many tokens of each of these contracts somebody holds, by address without 0x. */
export async function countTokens(
  sql: Sql,
  { addresses }: { addresses: readonly string[] },
): Promise<Map<string, number>> {
  if (addresses.length === 0) return new Map();
  const rows = await runLong<Count>(
    sql,
    (long) => long`
      select
        requested.address,
        (
          select count(*)
          from token
          where
            token.contract_address = decode(requested.address, 'hex')
            and ${long.unsafe(IS_HELD)}
        ) as count
      from unnest(${toArray(addresses)}::text[]) as requested (address)
    `,
  );
  return toMap(rows);
}

/** How many tokens of each contract somebody holds, by address without 0x. Contracts with none are left out. */
export async function countAllTokens(sql: Sql): Promise<Map<string, number>> {
  const rows = await runLong<Count>(
    sql,
    (long) => long`
      select
        encode(contract_address, 'hex') as address,
        sum(count)::float8 as count
      from (
        select
          token.contract_address,
          count(*) as count
        from token
        where
          token.owner is not null
          and token.owner <> ${long.unsafe(ZERO_LITERAL)}
        group by token.contract_address
        union all
        select
          held.contract_address,
          count(*)
        from (
          select distinct
            ownership.contract_address,
            ownership.token_id
          from ownership
          where ownership.balance > 0
        ) as held
        group by held.contract_address
      ) as counted
      group by contract_address
    `,
    { isOverTables: true },
  );
  return toMap(rows);
}
