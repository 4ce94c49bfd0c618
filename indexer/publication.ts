import type { ISql, Sql, TransactionSql } from "postgres";
import type { Network } from "../config.ts";
import type { TableShape } from "../history/load/onchain-schema.ts";
import { toBytes } from "../offchain/bytea.ts";
import type { Deployment } from "./deployment.ts";

/** Tables of a deployment that readers see. */
export const PUBLISHED_TABLES = [
  "contract",
  "token",
  "ownership",
  "token_event",
  "skipped_log",
  "metadata_update",
  "trade_order",
  "order_counter",
  "raised_counter",
  "approval",
  "conduit",
] as const;

/** How long, and how often, dropping something waits for its readers: new readers wait behind it. */
const LOCK_TIMEOUT = "2s";
const DROP_ATTEMPTS = 5;

/** Until the end of this transaction nobody else publishes or drops anything of the network. */
export async function lockPublication(tx: TransactionSql, { network }: { network: Network }): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended(${`publication of ${network}`}, 0))`;
}

/** SQLSTATEs of a wait that was too long and of a deadlock. */
const BUSY = new Set(["55P03", "40P01"]);

/**
 * Points the readers' views at a deployment, all in one step. `isComplete`: for good, not as a preview. `exchanges`: the
 * Seaports whose logs it has; signed orders of others count for nothing from then on. By default it is left as it was.
 *
 * The new views are made in a schema beside the old one, and the schemas change names. So nobody waits, whereas dropping
 * views waits for their readers and may deadlock with them. The old views are dropped afterwards, or at the latest before
 * the next publication, once nobody reads them.
 *
 * @throws Error that `isBusy` knows where views from before the last publication are still being read; another one where
 * the deployment was dropped meanwhile: its views would be empty
 */
export async function publish(
  sql: Sql,
  { schema_name, network, chain_id }: Deployment,
  { isComplete, exchanges }: { isComplete: boolean; exchanges?: readonly string[] },
): Promise<void> {
  // Imported here, because a process that has loaded the schema for Ponder can't load it as plain tables too.
  const { tableShapes } = await import("../history/load/onchain-schema.ts");
  const shapes = new Map([...tableShapes.values()].map((shape) => [shape.name, shape]));
  const views = `onchain_${network}`;
  const [next, last] = [`${views}_next`, `${views}_last`];
  await dropSchema(sql, last);
  await sql.begin(async (tx) => {
    await tx`set local client_min_messages = warning`;
    await lockPublication(tx, { network });
    const [kept] = await tx`select from offchain.deployment where schema_name = ${schema_name} for update`;
    if (!kept) throw new Error(`${schema_name} was dropped before it was published`);
    // Another version may have published since.
    await tx.unsafe(`drop schema if exists "${next}", "${last}" cascade`);
    await tx.unsafe(`create schema "${next}"`);
    const columns = await tx<{ table: string; names: string[] }[]>`
      select
        table_name as "table",
        array_agg(column_name::text order by ordinal_position) as names
      from information_schema.columns
      where table_schema = ${schema_name}
      group by table_name
    `;
    const columnsOf = new Map(columns.map(({ table, names }) => [table, names]));
    for (const table of PUBLISHED_TABLES) {
      const select = selectOf(shapes.get(table)!, { schema_name, has: columnsOf.get(table) });
      await tx.unsafe(`create view "${next}"."${table}" as ${select}`);
    }
    const [existing] = await tx`select from pg_namespace where nspname = ${views}`;
    if (existing) await tx.unsafe(`alter schema "${views}" rename to "${last}"`);
    await tx.unsafe(`alter schema "${next}" rename to "${views}"`);
    if (isComplete)
      await tx`
        update offchain.deployment
        -- Not now(), the transaction's start: one that began later may have published sooner.
        set published_at = greatest(clock_timestamp(), ${lastPublication(tx, { network })} + interval '1 ms')
        where schema_name = ${schema_name}
      `;
    if (exchanges)
      await tx`
        update offchain.signed_order
        set is_followed = not is_followed
        where chain_id = ${chain_id}
          and is_followed <> (exchange_address in ${tx(exchanges.map(toBytes))})
      `;
  });
  await dropSchema(sql, last).catch((error: unknown) => {
    if (!isBusy(error)) throw error;
  });
}

/** Takes the views of a network's readers away. @throws Error that `isBusy` knows, as `publish` does */
export async function unpublish(sql: Sql, { network }: Pick<Deployment, "network">): Promise<void> {
  await dropSchema(sql, `onchain_${network}_last`);
  await sql.begin(async (tx) => {
    await lockPublication(tx, { network });
    await tx.unsafe(`alter schema "onchain_${network}" rename to "onchain_${network}_last"`);
  });
}

/** The time of a network's last publication, null before the first. In the future where the clock was set back since. */
export const lastPublication = (sql: ISql, { network }: { network: Network }) => sql`
  (select max(published_at) from offchain.deployment where network = ${network})
`;

/** Whether it is this deployment's tables that readers see. */
export async function isShown(sql: Sql, { schema_name, network }: Deployment): Promise<boolean> {
  const rows = await sql`
    select
    from pg_depend d
    join pg_rewrite r on r.oid = d.objid
    join pg_class v on v.oid = r.ev_class
    join pg_class t on t.oid = d.refobjid
    where
      d.classid = 'pg_rewrite'::regclass
      and d.refclassid = 'pg_class'::regclass
      and v.relnamespace = to_regnamespace(quote_ident(${`onchain_${network}`}))
      and t.relnamespace = to_regnamespace(quote_ident(${schema_name}))
    limit 1
  `;
  return rows.length > 0;
}

/**
 * A table as readers of this version know it. Where the deployment is of another version, columns that it lacks are null,
 * and tables that it lacks are empty.
 */
function selectOf(
  { name: table, columns }: TableShape,
  { schema_name, has }: { schema_name: string; has: string[] | undefined },
): string {
  const missing = columns.filter(({ name }) => !has?.includes(name));
  const nulls = missing.map(({ name, type }) => `null::${type} as "${name}"`);
  const own = has?.map((name) => `"${name}"`) ?? [];
  return `select ${[...own, ...nulls].join(", ")} ${has ? `from "${schema_name}"."${table}"` : "where false"}`;
}

/** Whether something failed because it is in use: to be tried again later. */
export function isBusy(error: unknown): boolean {
  return BUSY.has((error as { code?: string }).code ?? "");
}

async function dropSchema(sql: Sql, schemaName: string): Promise<void> {
  await dropWhenFree(sql, (tx) => tx.unsafe(`drop schema if exists "${schemaName}" cascade`));
}

/**
 * Drops something in one transaction. Its readers finish first, and nobody waits long behind it.
 *
 * @throws Error that `isBusy` knows
 */
export async function dropWhenFree<T>(sql: Sql, drop: (tx: TransactionSql) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return (await sql.begin(async (tx) => {
        await tx.unsafe(`set local lock_timeout = '${LOCK_TIMEOUT}'`);
        await tx`set local client_min_messages = warning`;
        return drop(tx);
      })) as T;
    } catch (error) {
      if (!isBusy(error) || attempt === DROP_ATTEMPTS) throw error;
    }
  }
}
