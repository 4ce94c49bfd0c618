import { createRequire } from "node:module";
import { join } from "node:path";
import type { Sql } from "postgres";
import { expect, test } from "vitest";
import { createPool } from "../../postgres/pool.ts";
import { createEmptyDatabase } from "../../test/database.ts";
import { PONDER_MAIN } from "./bundle.ts";
import { createPonderSync } from "./ponder-sync-schema.ts";

/** What Ponder does at each start. */
async function migrate(url: string): Promise<void> {
  const require = createRequire(PONDER_MAIN);
  const { Kysely, Migrator, PostgresDialect, WithSchemaPlugin } = require("kysely") as typeof import("kysely");
  const { Pool } = require("pg") as { Pool: new (options: object) => never };
  const { buildMigrationProvider } = (await import(join(PONDER_MAIN, "../../sync-store/migrations.js"))) as {
    buildMigrationProvider: (logger: object) => never;
  };
  const db = new Kysely({
    dialect: new PostgresDialect({ pool: new Pool({ connectionString: url, max: 2 }) }),
    plugins: [new WithSchemaPlugin("ponder_sync")],
  });
  const logger = { debug: () => {}, info: () => {}, warn: () => {} };
  const provider = buildMigrationProvider(logger);
  const { error } = await new Migrator({ db, provider, migrationTableSchema: "ponder_sync" }).migrateToLatest();
  await db.destroy();
  if (error) throw error as Error;
}

/** All that `ponder_sync` consists of. */
async function describe(sql: Sql) {
  const columns = await sql`
    select
      c.relname,
      c.relkind,
      a.attname,
      format_type(a.atttypid, a.atttypmod) as type,
      a.attnotnull,
      a.attidentity,
      pg_get_expr(d.adbin, d.adrelid) as default
    from pg_class c
    left join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
    where c.relnamespace = 'ponder_sync'::regnamespace
    order by c.relname, a.attnum
  `;
  const constraints = await sql`
    select
      conrelid::regclass::text as table,
      pg_get_constraintdef(oid) as definition
    from pg_constraint
    where connamespace = 'ponder_sync'::regnamespace
    order by 1, 2
  `;
  const indexes = await sql`select indexdef from pg_indexes where schemaname = 'ponder_sync' order by 1`;
  const migrations = await sql`select name from ponder_sync.kysely_migration order by timestamp, name`;
  const locks = await sql`select id, is_locked from ponder_sync.kysely_migration_lock`;
  return [columns, constraints, indexes, migrations, locks].map((rows) => rows.map((row) => ({ ...row })));
}

test("the tables of ponder_sync are those of Ponder's migrations, which find nothing left to do", async () => {
  const [made, migrated] = [await createEmptyDatabase(), await createEmptyDatabase()];
  const [ours, others, theirs] = [made, made, migrated].map(({ url }) => createPool(url, { max: 1 })) as [
    Sql,
    Sql,
    Sql,
  ];
  // Two networks begin at the same time, each on a session that has seen that nothing is there, which Postgres remembers.
  for (const sql of [ours, others]) await sql`select to_regclass('ponder_sync.blocks')`;
  await Promise.all([createPonderSync(ours), createPonderSync(others)]);
  const before = await describe(ours);
  await migrate(made.url);
  await migrate(migrated.url);
  expect(await describe(ours)).toEqual(before);
  expect(before).toEqual(await describe(theirs));
  await Promise.all([ours, others, theirs].map((sql) => sql.end()));
  await Promise.all([made.drop(), migrated.drop()]);
});
