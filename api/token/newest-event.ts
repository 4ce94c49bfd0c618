import type { Fragment, Sql } from "postgres";
import { toBytes } from "../../offchain/bytea.ts";
import { contractType, isShown, joinContract } from "./contract.ts";
import { BEHIND_ALL, eventColumns, type EventKey, type EventRow, eventRowKey } from "./event.ts";

/**
 * How many events are searched at once for those of an account, or for those that aren't hidden. No index has these;
 * 20,000 events take 15 ms.
 */
const WINDOW_EVENTS = 20_000;

/** An event with the name of its collection. */
type NamedEventRow = EventRow & { contract_name: string };

type Options = { chainId: number; before?: EventKey | undefined; limit: number };
/** `next`: where to continue, undefined where there are no older events. */
type Found = { rows: NamedEventRow[]; next: EventKey | undefined };

/**
 * Events of all contracts that aren't hidden, newest first, among the last `WINDOW_EVENTS` before `before`. There is a
 * window because one log of a hidden contract may have thousands of events.
 */
export async function listNewestEvents(sql: Sql, { chainId, before = BEHIND_ALL, limit }: Options): Promise<Found> {
  const found = await listInWindow(sql, { chainId, before, limit: limit + 1 }, sql`true`);
  const rows = found.slice(0, limit);
  // The end of the window is needed only where all rows of the window are returned.
  return { rows, next: found.length > limit ? eventRowKey(rows.at(-1)!) : await findWindowEnd(sql, before) };
}

/** Events in which an account took part, newest first, in the same window. */
export async function listAccountEvents(
  sql: Sql,
  { accountAddress, chainId, before = BEHIND_ALL, limit }: Options & { accountAddress: string },
): Promise<Found> {
  const account = toBytes(accountAddress);
  const isOfAccount = sql`
    (
      looked_at.from_address = ${account}
      or looked_at.to_address = ${account}
    )
  `;
  const [found, end] = await Promise.all([
    listInWindow(sql, { chainId, before, limit: limit + 1 }, isOfAccount),
    findWindowEnd(sql, before),
  ]);
  const rows = found.slice(0, limit);
  return { rows, next: found.length > limit ? eventRowKey(rows.at(-1)!) : end };
}

const windowOf = (sql: Sql, before: EventKey) => sql`
  select
    token_event.block_number,
    token_event.log_index,
    token_event.batch_index,
    token_event.contract_address,
    token_event.from_address,
    token_event.to_address
  from token_event
  where
    (token_event.block_number, token_event.log_index, token_event.batch_index)
      < (${before[0]}, ${before[1]}, ${before[2]})
  order by
    token_event.block_number desc,
    token_event.log_index desc,
    token_event.batch_index desc
`;

/** The last event of a window. Undefined where it is the oldest of all. */
async function findWindowEnd(sql: Sql, before: EventKey): Promise<EventKey | undefined> {
  const [end] = await sql<Parameters<typeof eventRowKey>>`
    select
      block_number,
      log_index,
      batch_index
    from (${windowOf(sql, before)} offset ${WINDOW_EVENTS - 1} limit 1) as last
  `;
  return end && eventRowKey(end);
}

async function listInWindow(
  sql: Sql,
  { chainId, before, limit }: { chainId: number; before: EventKey; limit: number },
  condition: Fragment,
): Promise<NamedEventRow[]> {
  return sql<NamedEventRow[]>`
    with found as materialized (
      select
        looked_at.block_number,
        looked_at.log_index,
        looked_at.batch_index
      from (${windowOf(sql, before)} limit ${WINDOW_EVENTS}) as looked_at
      where
        ${condition}
        and ${isShown(sql, { chainId, contractAddress: "looked_at.contract_address" })}
      limit ${limit}
    ),
    page as materialized (
      select
        token_event.contract_address,
        ${eventColumns(sql)}
      from found
      join token_event using (block_number, log_index, batch_index)
    )
    ${selectNamed(sql, { chainId })}
  `;
}

/** The rows of `page` with the names of their contracts. */
const selectNamed = (sql: Sql, { chainId }: { chainId: number }) => sql`
  select
    '0x' || encode(page.contract_address, 'hex') as contract_address,
    ${contractType(sql)} as contract_type,
    coalesce(contract_metadata.name, '') as contract_name,
    page.event_type,
    page.from_address,
    page.to_address,
    page.timestamp,
    page.token_id,
    page.transaction_hash,
    page.quantity,
    page.block_number,
    page.log_index,
    page.batch_index,
    page.price,
    page.currency_address,
    page.price_note,
    page.marketplace,
    page.broker
  from page
  ${joinContract(sql, { chainId, page: "page" })}
  order by
    page.block_number desc,
    page.log_index desc,
    page.batch_index desc
`;
