import type { Sql } from "postgres";
import { indexStatements } from "../indexer/indexes.ts";
import { primaryKeyName, tableShapes } from "./onchain-schema.ts";
import { createKeyStatement } from "./row-store.ts";

/** Indexes that are made at once: one a core, where there are two. */
const CONCURRENCY = 2;

/** Makes indexes as the tables get ready for them. What is there already is left as it is. */
export type Builder = {
  /** Makes all indexes of the tables, several at once. */
  build: (isTable: (name: string) => boolean) => Promise<void>;
  /** Turns unique indexes into primary keys, and the tables into ordinary ones. */
  finish: () => Promise<void>;
};

export async function createBuilder(sql: Sql, { schemaName }: { schemaName: string }): Promise<Builder> {
  const shapes = [...tableShapes.values()];
  // Of tracked contracts: they would make the COPY of all others slow.
  const folded = await sql`select from ${sql(schemaName)}.folded_partition limit 1`;
  if (folded.length === 0)
    for (const shape of shapes)
      if (shape.key === "token" || shape.key === "ownership")
        await sql.unsafe(`drop index if exists "${schemaName}"."${primaryKeyName(shape)}"`);

  const jobs: { statement: string; done: () => void; failed: (error: unknown) => void }[] = [];
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
    build: async (isTable) => {
      const statements = [
        ...shapes
          .filter(({ name }) => isTable(name))
          .map((shape) => ({ table: shape.name, statement: createKeyStatement(schemaName, shape) })),
        ...indexStatements(schemaName)
          .filter(({ table }) => isTable(table))
          .map(({ table, plain }) => ({ table, statement: plain })),
      ];
      await Promise.all(statements.map(({ statement }) => run(statement)));
      await Promise.all(
        shapes.filter(({ name }) => isTable(name)).map(({ name }) => run(`analyze "${schemaName}"."${name}"`)),
      );
    },
    finish: async () => {
      const existing = await sql<{ name: string }[]>`
        select conname as name
        from pg_constraint
        where connamespace = ${schemaName}::regnamespace
      `;
      const names = new Set(existing.map(({ name }) => name));
      for (const shape of shapes) {
        const name = primaryKeyName(shape);
        const table = `"${schemaName}"."${shape.name}"`;
        await sql.unsafe(`alter table ${table} reset (autovacuum_enabled)`);
        if (!names.has(name))
          await sql.unsafe(`alter table ${table} add constraint "${name}" primary key using index "${name}"`);
      }
    },
  };
}
