import { randomBytes } from "node:crypto";
import postgres, { type Sql } from "postgres";
import { afterAll, inject } from "vitest";
import { primaryKeyName, tableShapes } from "../history/load/onchain-schema.ts";
import { indexStatements } from "../indexer/indexes.ts";
import { migrate } from "../offchain/migrate.ts";
import { createPool, withConnection, withDatabase } from "../postgres/pool.ts";

/** A database of one test. */
export type TestDatabase = { name: string; url: string; drop: () => Promise<void> };

/** An empty database of its own, on the Postgres of this test run. */
export const createEmptyDatabase = () => copyDatabase(inject("postgresUrl"), "template1");

/** A database with the tables of `offchain`, as every start but the first finds them. */
export const createTestDatabase = () => copyDatabase(inject("postgresUrl"), inject("migratedDatabase"));

/** A database with all tables that the API reads, the on-chain ones as plain tables in `onchain_mainnet` and `onchain_testnet`. */
export const createReadableDatabase = () => copyDatabase(inject("postgresUrl"), inject("readableDatabase"));

/**
 * A database for the tests of a file and a pool on it, which go when those are over, after what else they close. To be
 * called once, before any test. `create`: one of those above.
 */
export async function useDatabase(
  create: () => Promise<TestDatabase>,
  options: Parameters<typeof createPool>[1],
): Promise<{ database: TestDatabase; sql: Sql }> {
  const database = await create();
  const sql = createPool(database.url, options);
  afterAll(async () => {
    await sql.end();
    await database.drop();
  });
  return { database, sql };
}

/** Makes what `createTestDatabase` and `createReadableDatabase` copy, once a run: to make each took four times as long. */
export async function makeTemplates(serverUrl: string): Promise<{ migrated: TestDatabase; readable: TestDatabase }> {
  const migrated = await copyDatabase(serverUrl, "template1");
  await withConnection(migrated.url, migrate);
  const readable = await copyDatabase(serverUrl, migrated.name);
  await withConnection(readable.url, async (sql) => {
    for (const schemaName of ["onchain_mainnet", "onchain_testnet"]) await createOnchainTables(sql, schemaName);
  });
  return { migrated, readable };
}

async function copyDatabase(serverUrl: string, template: string): Promise<TestDatabase> {
  const name = `test_${randomBytes(8).toString("hex")}`;
  const admin = postgres(serverUrl, { max: 1, onnotice: () => {} });
  // By its files: page by page through the log, as Postgres does by default, it took three times the CPU.
  await admin.unsafe(`create database ${name} template ${template} strategy file_copy`);
  return {
    name,
    url: withDatabase(serverUrl, name),
    drop: async () => {
      await admin.unsafe(`drop database if exists ${name} with (force)`);
      await admin.end();
    },
  };
}

/** Sessions on the database of `sql` that wait for a lock. */
export async function countWaiting(sql: Sql): Promise<number> {
  const rows = await sql`
    select
    from pg_stat_activity
    where
      datname = current_database()
      and wait_event_type = 'Lock'
  `;
  return rows.length;
}

/** The tables of `ponder.schema.ts` with the indexes of `indexer/indexes.ts`, as a deployment has them. */
export async function createOnchainTables(sql: Sql, schemaName: string): Promise<void> {
  const statements = [...tableShapes.values()].flatMap((shape) => [
    shape.createStatement(schemaName),
    `alter table "${schemaName}"."${shape.name}" add constraint ${primaryKeyName(shape)} primary key (${shape.primaryKey.join(", ")})`,
  ]);
  statements.push(...indexStatements(schemaName).map(({ plain }) => plain));
  await sql.unsafe([`create schema "${schemaName}"`, ...statements].join(";"));
}
