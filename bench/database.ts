import { readFile } from "node:fs/promises";
import { join } from "node:path";
import postgres, { type Sql } from "postgres";
import { startPostgres } from "../bin/postgres.ts";

/** Everything that the benchmarks write. */
export const BENCH_DIRECTORY = join(import.meta.dirname, "../.bench");

const DATABASE_PREFIX = "bench_";

export type BenchDatabase = { url: string; sql: Sql; drop: () => Promise<void> };

export type BenchPostgres = {
  version: string;
  /** Its first process: all others are its children. */
  pid: number;
  createDatabase: () => Promise<BenchDatabase>;
  stop: () => Promise<void>;
};

/** A durable Postgres (fsync on) for benchmarks alone, without the databases that an earlier run may have left. */
export async function startBenchPostgres(): Promise<BenchPostgres> {
  const server = await startPostgres({ directory: BENCH_DIRECTORY, isDurable: true });
  const admin = postgres(server.urlOf("postgres"), { max: 1, onnotice: () => {} });
  const left = await admin`select datname as name from pg_database where starts_with(datname, ${DATABASE_PREFIX})`;
  for (const { name } of left) await admin`drop database ${admin(name)} with (force)`;
  const [{ version } = { version: "" }] = await admin<{ version: string }[]>`
    select current_setting('server_version') as version
  `;

  let count = 0;
  return {
    version,
    pid: Number((await readFile(join(BENCH_DIRECTORY, "postgres/postmaster.pid"), "utf8")).split("\n")[0]),
    createDatabase: async () => {
      const name = `${DATABASE_PREFIX}${++count}`;
      await admin`create database ${admin(name)}`;
      const url = server.urlOf(name);
      const sql = postgres(url, { max: 1, onnotice: () => {} });
      return {
        url,
        sql,
        drop: async () => {
          await sql.end();
          await admin`drop database ${admin(name)} with (force)`;
        },
      };
    },
    stop: async () => {
      await admin.end();
      await server.stop();
    },
  };
}

/** Writes out what earlier runs left in memory, so that the next one doesn't pay for it. */
export async function settle(sql: Sql): Promise<void> {
  await sql`checkpoint`;
}

/** Bytes of all tables of a schema with their indexes. */
export async function listTableSizes(sql: Sql, { schemaName }: { schemaName: string }) {
  return sql<{ name: string; bytes: number }[]>`
    select
      relname as name,
      pg_total_relation_size(oid)::float8 as bytes
    from pg_class
    where relkind = 'r' and relnamespace = to_regnamespace(${schemaName})
    order by bytes desc
  `;
}
