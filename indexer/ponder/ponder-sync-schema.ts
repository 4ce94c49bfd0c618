import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Sql } from "postgres";

/** The lock of Kysely, by which Ponder migrates. */
const MIGRATION_LOCK = "3853314791062309107";

/**
 * Makes the tables of `ponder_sync` in one go where there are none. Ponder would run 27 migrations of 170 statements, which
 * is a tenth of a first start. Later migrations than these it runs itself.
 */
export async function createPonderSync(sql: Sql): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(${MIGRATION_LOCK})`;
    // Not to_regclass: a session that saw nothing there before says so still of what another one made meanwhile.
    const [table] = await tx<{ exists: boolean }[]>`
      select exists (
        select
        from pg_tables
        where
          schemaname = 'ponder_sync'
          and tablename = 'kysely_migration'
      ) as exists
    `;
    if (!table!.exists) await tx.unsafe(readFileSync(join(import.meta.dirname, "ponder-sync.sql"), "utf8"));
  });
}
