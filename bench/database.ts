import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Sql } from "postgres";
import { startPostgres } from "../bin/postgres.ts";
import { createPool } from "../postgres/pool.ts";

/** Everything that the benchmarks write. */
export const BENCH_DIRECTORY = join(import.meta.dirname, "../.bench");

/** The process that started it makes the name whole. */
const DIRECTORY_PREFIX = "postgres-";

/** A database of its own, with a pool on it. */
export type BenchDatabase = { url: string; sql: Sql; drop: () => Promise<void> };

/** A Postgres that nothing else uses. */
export type BenchPostgres = {
  version: string;
  /** Its first process: all others are its children. */
  pid: number;
  createDatabase: () => Promise<BenchDatabase>;
  stop: () => Promise<void>;
};

/** A new, durable Postgres (fsync on) for one benchmark. Others may run beside it. */
export async function startBenchPostgres(): Promise<BenchPostgres> {
  await removeLeftovers();
  const directory = join(BENCH_DIRECTORY, `${DIRECTORY_PREFIX}${process.pid}`);
  const server = await startPostgres({ directory, isDurable: true });
  const pid = await findPostmaster(directory);
  const kill = () => void (pid && process.kill(pid, "SIGINT"));
  process.once("exit", kill);
  const admin = createPool(server.urlOf("postgres"), { max: 1 });
  const [{ version } = { version: "" }] = await admin<{ version: string }[]>`
    select current_setting('server_version') as version
  `;

  let count = 0;
  return {
    version,
    pid: pid ?? 0,
    createDatabase: async () => {
      const name = `bench_${++count}`;
      await admin`create database ${admin(name)}`;
      const url = server.urlOf(name);
      const sql = createPool(url, { max: 1 });
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
      process.off("exit", kill);
      await server.stop();
      await rm(directory, { recursive: true, force: true });
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

/** What a killed benchmark left behind: its Postgres may still run. */
async function removeLeftovers(): Promise<void> {
  await mkdir(BENCH_DIRECTORY, { recursive: true });
  for (const name of await readdir(BENCH_DIRECTORY)) {
    if (!name.startsWith(DIRECTORY_PREFIX) || isAlive(Number(name.slice(DIRECTORY_PREFIX.length)))) continue;
    const directory = join(BENCH_DIRECTORY, name);
    const pid = await findPostmaster(directory);
    const command = pid && (await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => ""));
    if (pid && command && command.includes(directory)) {
      process.kill(pid, "SIGINT");
      while (isAlive(pid)) await sleep(50);
    }
    await rm(directory, { recursive: true, force: true });
  }
}

async function findPostmaster(directory: string): Promise<number | undefined> {
  const text = await readFile(join(directory, "postgres/postmaster.pid"), "utf8").catch(() => "");
  return Number.parseInt(text, 10) || undefined;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
