import type { Sql } from "postgres";
import { primaryKeyName, tableShapes } from "./onchain-schema.ts";
import { createKeyStatement } from "./row-store.ts";

/** Indexes that are made at the same time: one per core on two cores. */
const CONCURRENCY = 2;

/** Work of analyzing a table, as a share of the work of making one index on it. */
const ANALYZE_WEIGHT = 0.1;

/** SQL that makes an index on a table. */
export type IndexStatement = { table: string; plain: string };

/** Makes indexes once their tables are filled. Indexes that exist already are left as they are. */
type Builder = {
  /** Makes all indexes of the tables, several at once, analyzes the tables, and reports the share of the work done. */
  build: (isTable: (name: string) => boolean, onShare: (share: number) => void) => Promise<void>;
};

type Job = { statement: string; done: () => void; failed: (error: unknown) => void };

/** Creates the builder of a schema's indexes, primary keys included. */
export function createBuilder(
  sql: Sql,
  { schemaName, indexes }: { schemaName: string; indexes: readonly IndexStatement[] },
): Builder {
  const jobs: Job[] = [];
  let running = 0;
  const runNext = (): void => {
    const job = running < CONCURRENCY ? jobs.shift() : undefined;
    if (!job) return;
    running++;
    void sql
      .begin(async (tx) => {
        await tx.unsafe("set local maintenance_work_mem = '128MB'");
        await tx.unsafe(job.statement);
      })
      .then(job.done, job.failed)
      .finally(() => {
        running--;
        runNext();
      });
    runNext();
  };
  const run = (statement: string) =>
    new Promise<void>((done, failed) => {
      jobs.push({ statement, done, failed });
      runNext();
    });

  return {
    build: async (isTable, onShare) => {
      const sizes = await readSizes(sql, { schemaName });
      const shapes = [...tableShapes.values()].filter(({ name }) => isTable(name));
      const statements = [
        ...shapes.map((shape) => ({ table: shape.name, statement: createKeyStatement(schemaName, shape) })),
        ...indexes.filter(({ table }) => isTable(table)).map(({ table, plain }) => ({ table, statement: plain })),
      ];
      const weightOf = (table: string) => 1 + (sizes.get(table) ?? 0);
      const total =
        statements.reduce((sum, { table }) => sum + weightOf(table), 0) +
        shapes.reduce((sum, { name }) => sum + weightOf(name) * ANALYZE_WEIGHT, 0);
      let done = 0;
      const runWeighed = async (statement: string, weight: number) => {
        await run(statement);
        done += weight;
        onShare(done / total);
      };
      await Promise.all(statements.map(({ table, statement }) => runWeighed(statement, weightOf(table))));
      await Promise.all(
        shapes.map(({ name }) => runWeighed(`analyze "${schemaName}"."${name}"`, weightOf(name) * ANALYZE_WEIGHT)),
      );
    },
  };
}

/**
 * Drops the keys of token and ownership, which tracked contracts needed: they would slow the COPY of all other rows.
 */
export async function dropFoldedKeys(sql: Sql, { schemaName }: { schemaName: string }): Promise<void> {
  for (const table of ["token", "ownership"] as const)
    await sql.unsafe(`drop index if exists "${schemaName}"."${primaryKeyName(tableShapes.get(table)!)}"`);
}

/** Turns unique indexes into primary keys, and autovacuum of the tables on again. */
export async function finishTables(sql: Sql, { schemaName }: { schemaName: string }): Promise<void> {
  const existing = await sql<{ name: string }[]>`
    select conname as name
    from pg_constraint
    where connamespace = ${schemaName}::regnamespace
  `;
  const names = new Set(existing.map(({ name }) => name));
  for (const shape of tableShapes.values()) {
    const name = primaryKeyName(shape);
    const table = `"${schemaName}"."${shape.name}"`;
    await sql.unsafe(`alter table ${table} reset (autovacuum_enabled)`);
    if (!names.has(name))
      await sql.unsafe(`alter table ${table} add constraint "${name}" primary key using index "${name}"`);
  }
}

async function readSizes(sql: Sql, { schemaName }: { schemaName: string }): Promise<Map<string, number>> {
  const rows = await sql<{ name: string; bytes: number }[]>`
    select
      relname as name,
      pg_relation_size(oid)::float8 as bytes
    from pg_class
    where relnamespace = ${schemaName}::regnamespace
      and relkind = 'r'
  `;
  return new Map(rows.map(({ name, bytes }) => [name, bytes]));
}
