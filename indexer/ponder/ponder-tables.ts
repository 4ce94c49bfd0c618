import { setTimeout as sleep } from "node:timers/promises";
import type { Sql } from "postgres";
import type { Deployment } from "../deployment.ts";

/** How long the connections of a killed Ponder may take to vanish. */
const STALE_LOCK_WAIT_MS = 10_000;

/** Until readers are told what was taken back: once a second. Ponder takes the rows back 1 to 2 s after its start. */
const REPORTED_WITHIN_MS = 1_000;

/**
 * Takes back what the last Ponder noted, which isn't true of the next one: some seconds after its start that takes the
 * blocks that aren't final out of the tables and indexes them anew, so that nobody may count on them from now on. Also the
 * mark by which a killed Ponder had locked the schema, for which the next one would wait 25 s: as we hold the network's
 * lock, it means nothing once the connections of the killed one are gone.
 */
export async function takeBackNotes(sql: Sql, deployment: Deployment): Promise<void> {
  const { schema_name } = deployment;
  const [meta] = await sql<{ table: string | null }[]>`
    select to_regclass(${`"${schema_name}"._ponder_meta`})::text as table
  `;
  if (!meta?.table) return;
  const notes = { is_ready: 0, ...((await areWritersGone(sql, deployment)) && { is_locked: 0 }) };
  await sql`
    update ${sql(`${schema_name}._ponder_checkpoint`)}
    set latest_checkpoint = finalized_checkpoint
  `;
  await sql`
    update ${sql(`${schema_name}._ponder_meta`)}
    set value = value || ${sql.json(notes)}
  `;
  await sleep(REPORTED_WITHIN_MS);
}

/**
 * Ponder numbers each change of a row at the chain's head, and its numbers have 31 bits: it would stop for good after two
 * thousand million of them, which is some months of a busy chain.
 */
export async function widenNumbers(sql: Sql, { schema_name }: Deployment): Promise<void> {
  const tables = await sql<{ name: string }[]>`
    select table_name as name
    from information_schema.columns
    where
      table_schema = ${schema_name}
      and column_name = 'operation_id'
      and data_type = 'integer'
  `;
  if (tables.length === 0) return;
  await sql.begin(async (tx) => {
    for (const { name } of tables)
      await tx`alter table ${tx(`${schema_name}.${name}`)} alter column operation_id type bigint`;
    await tx`alter sequence ${tx(`${schema_name}.operation_id`)} as bigint`;
  });
}

/** Whether no Ponder is connected any more. That is waited for, but not for ever. */
async function areWritersGone(sql: Sql, { schema_name }: Deployment): Promise<boolean> {
  for (const deadline = performance.now() + STALE_LOCK_WAIT_MS; performance.now() < deadline; await sleep(200)) {
    const [writers] = await sql<{ count: number }[]>`
      select count(*)::int as count
      from pg_stat_activity
      where
        datname = current_database()
        and application_name in (${`${schema_name}_internal`}, ${`${schema_name}_user`})
    `;
    if (!writers?.count) return true;
  }
  return false;
}
