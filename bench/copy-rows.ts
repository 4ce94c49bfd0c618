import { createReadStream } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { Sql } from "postgres";
import { settle } from "./database.ts";

/**
 * What it takes at least to have the rows of a schema once more: COPY of each table out of a file, as psql would send
 * it, then its primary key, nothing else. Seconds.
 */
export async function copyRows(sql: Sql, { schemaName }: { schemaName: string }): Promise<number> {
  const [server] = await sql<{ directory: string }[]>`select current_setting('data_directory') as directory`;
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
  // Where the server may write, whoever it runs as.
  const fileOf = (name: string) => join(server!.directory, `copied-${name}`);
  try {
    for (const { name } of tables) await sql.unsafe(`copy "${schemaName}"."${name}" to '${fileOf(name)}'`);
    await sql.unsafe("create schema copied");
    await settle(sql);

    const startedAt = performance.now();
    for (const { name, key } of tables) {
      await sql.begin(async (transaction) => {
        await transaction.unsafe(`create table copied."${name}" (like "${schemaName}"."${name}")`);
        const rows = await transaction`copy copied.${transaction(name)} from stdin`.writable();
        await pipeline(createReadStream(fileOf(name), { highWaterMark: 2 ** 18 }), rows);
        if (key) await transaction.unsafe(`alter table copied."${name}" add ${key}`);
      });
    }
    return (performance.now() - startedAt) / 1000;
  } finally {
    await Promise.all(tables.map(({ name }) => rm(fileOf(name), { force: true })));
  }
}
