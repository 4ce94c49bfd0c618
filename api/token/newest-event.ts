import type { Sql } from "postgres";
import { contractType, isShown, joinContract } from "./contract.ts";
import { toBytes } from "../sql/database.ts";
import { BEHIND_ALL, eventColumns, type EventKey, type EventRow } from "./event.ts";

/**
 * Events that one look back in time goes through in search of an account's: no index knows who took part in what, and
 * these cost 15 ms.
 */
const WINDOW_EVENTS = 20_000;

/** An event with its collection's name. */
type NamedEventRow = EventRow & { contract_name: string };

/** Events of all contracts that aren't hidden, newest first. */
export async function listNewestEvents(
  sql: Sql,
  { chainId, before = BEHIND_ALL, limit }: { chainId: number; before?: EventKey | undefined; limit: number },
): Promise<NamedEventRow[]> {
  return sql<NamedEventRow[]>`
    with page as materialized (
      select
        token_event.contract_address,
        ${eventColumns(sql)}
      from token_event
      where
        (token_event.block_number, token_event.log_index, token_event.batch_index)
          < (${before[0]}, ${before[1]}, ${before[2]})
        and ${isShown(sql, { chainId, contractAddress: "token_event.contract_address" })}
      order by
        token_event.block_number desc,
        token_event.log_index desc,
        token_event.batch_index desc
      limit ${limit}
    )
    ${selectNamed(sql, { chainId })}
  `;
}

/**
 * Events in which an account took part, newest first, among the last `WINDOW_EVENTS` events before `before`, and where
 * to go on looking behind those: undefined where there is nothing older.
 */
export async function listAccountEvents(
  sql: Sql,
  {
    chainId,
    accountAddress,
    before = BEHIND_ALL,
    limit,
  }: { chainId: number; accountAddress: string; before?: EventKey | undefined; limit: number },
): Promise<{ rows: NamedEventRow[]; next: EventKey | undefined }> {
  const account = toBytes(accountAddress);
  const window = sql`
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
  const [rows, [end]] = await Promise.all([
    sql<NamedEventRow[]>`
      with found as materialized (
        select
          looked_at.block_number,
          looked_at.log_index,
          looked_at.batch_index
        from (${window} limit ${WINDOW_EVENTS}) as looked_at
        where
          (
            looked_at.from_address = ${account}
            or looked_at.to_address = ${account}
          )
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
    `,
    sql<{ block_number: number; log_index: number; batch_index: number }[]>`
      select
        block_number,
        log_index,
        batch_index
      from (${window} offset ${WINDOW_EVENTS - 1} limit 1) as last
    `,
  ]);
  const last = rows.length === limit ? rows.at(-1) : end;
  return { rows, next: last && [last.block_number, last.log_index, last.batch_index] };
}

/** The rows of `page` with what their contracts are called. */
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
