import type { Sql } from "postgres";
import type { Deployment } from "./deployment.ts";
import { PUBLISHED_TABLES } from "./publication.ts";

/** An index of a table of this size is made within about a second. */
const SMALL_TABLE_BYTES = 128 * 2 ** 20;

/**
 * The indexes that the API's queries need beside the primary keys, one for each order in which it pages.
 *
 * They are ours and not in `ponder.schema.ts`, because Ponder drops the ones declared there at every restart.
 */
const INDEXES = {
  contract_first_seen: "contract (block_number, log_index, contract_address)",
  token_owner: "token (owner, contract_address, token_id) where owner is not null",
  ownership_owner: "ownership (owner, contract_address, token_id) where balance > 0",
  ownership_latest:
    "ownership (contract_address, token_id, received_block_number, received_log_index, received_batch_index) where balance > 0",
  token_event_contract: "token_event (contract_address, block_number, log_index, batch_index)",
  trade_order_floor: "trade_order (contract_address, unit_price) where is_open and side = 'listing'",
  trade_order_maker: "trade_order (maker, contract_address, token_id) where is_open and side = 'listing'",
  // Of most orders that were filled there are no terms.
  trade_order_currency:
    "trade_order (contract_address, token_id, side, currency_address, placed_timestamp) where contract_address is not null",
  trade_order_newest:
    "trade_order (contract_address, token_id, side, placed_timestamp) where contract_address is not null",
  trade_order_offer: "trade_order (maker, currency_address, operator, end_time) where is_open and side = 'offer'",
  // Must be made after the two of all orders: of indexes of equal cost the planner takes the one that was made last.
  trade_order_open: "trade_order (contract_address, token_id, side, placed_timestamp) where is_open",
  token_event_sale:
    "token_event (contract_address, token_id, block_number, log_index, batch_index) where event_type = 'sale'",
  approval_latest: "approval (contract_address, owner, operator, block_number, log_index)",
  token_event_token: "token_event (contract_address, token_id, block_number, log_index, batch_index)",
};

/** Statements that make a deployment's indexes where they are missing. `concurrently` must run outside a transaction. */
export function indexStatements(
  schemaName: string,
): { name: string; table: string; plain: string; concurrently: string }[] {
  return Object.entries(INDEXES).map(([name, columns]) => {
    const create = (how: string) => `create index ${how} if not exists ${name} on "${schemaName}".${columns}`;
    const table = columns.slice(0, columns.indexOf(" "));
    return { name, table, plain: create(""), concurrently: create("concurrently") };
  });
}

/** Makes the indexes that are still missing, while Ponder goes on writing. History's tables come with theirs. */
export async function createIndexes(sql: Sql, { schema_name }: Deployment): Promise<void> {
  const existing = await sql<{ name: string; isvalid: boolean }[]>`
    select
      c.relname as name,
      i.indisvalid as isvalid
    from pg_index i
    join pg_class c on c.oid = i.indexrelid
    join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = ${schema_name}
  `;
  // An index whose making was cut off is there but invalid: never used, and never made again. It is dropped concurrently,
  // because readers may use its table.
  for (const { name, isvalid } of existing)
    if (!isvalid) await sql.unsafe(`drop index concurrently "${schema_name}"."${name}"`);
  const valid = new Set(existing.filter(({ isvalid }) => isvalid).map(({ name }) => name));
  const missing = indexStatements(schema_name).filter(({ name }) => !valid.has(name));
  if (missing.length === 0) return;
  // Tables in parallel, but the indexes of one table in turn: they would wait for each other.
  const made = await Promise.allSettled(
    PUBLISHED_TABLES.map(async (table) => {
      const [row] = await sql<{ bytes: number }[]>`
        select pg_relation_size(${`"${schema_name}"."${table}"`}::regclass)::float8 as bytes
      `;
      // On a small table Ponder waits for a moment only; concurrently it would take several times as long.
      const how = row!.bytes < SMALL_TABLE_BYTES ? "plain" : "concurrently";
      for (const index of missing) if (index.table === table) await sql.unsafe(index[how]);
      await sql.unsafe(`analyze "${schema_name}"."${table}"`);
    }),
  );
  // Once all of them have ended: whoever tries again finds none that is still being made.
  for (const one of made) if (one.status === "rejected") throw one.reason;
}
