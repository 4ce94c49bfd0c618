import { createReadStream, createWriteStream } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { Sql } from "postgres";
import { BENCH_DIRECTORY, settle } from "./database.ts";

/**
 * What it takes at least to have the rows of a schema once more: COPY of each table out of a file, then its primary
 * key, nothing else. Seconds.
 */
export async function copyRows(sql: Sql, { schemaName }: { schemaName: string }): Promise<number> {
  const directory = join(BENCH_DIRECTORY, "rows");
  await mkdir(directory, { recursive: true });
  try {
    const tables = await sql<{ name: string; key: string | null }[]>`
      select
        relname as name,
        pg_get_constraintdef(c.oid) as key
      from pg_class t
      left join pg_constraint c on c.conrelid = t.oid and contype = 'p'
      where relnamespace = to_regnamespace(${schemaName})
        and relkind = 'r'
        and relname not like '\\_%'
      order by relname
    `;
    for (const { name } of tables) {
      const rows = await sql`copy ${sql(schemaName)}.${sql(name)} to stdout`.readable();
      await pipeline(rows, createWriteStream(join(directory, name)));
    }
    await sql.unsafe(`create schema copied`);
    await settle(sql);

    const startedAt = performance.now();
    for (const { name, key } of tables) {
      await sql.begin(async (transaction) => {
        await transaction.unsafe(`create table copied."${name}" (like "${schemaName}"."${name}")`);
        const rows = await transaction`copy copied.${transaction(name)} from stdin`.writable();
        await pipeline(createReadStream(join(directory, name), { highWaterMark: 2 ** 18 }), rows);
        if (key) await transaction.unsafe(`alter table copied."${name}" add ${key}`);
      });
    }
    return (performance.now() - startedAt) / 1000;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
