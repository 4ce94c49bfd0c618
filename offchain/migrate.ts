import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Sql } from "postgres";
import { ConfigError } from "../config.ts";
import { isMissingTable } from "./network.ts";

const MIGRATIONS = join(import.meta.dirname, "migrations");

/** The advisory lock for migrations. The number is arbitrary, but nobody else uses it. */
const MIGRATION_LOCK = 4_027_311_001;

/**
 * Brings the schema `offchain` up to date: runs each file of `migrations/` once, in the order of their names.
 *
 * @throws ConfigError where a newer version has changed the schema in a way that this one doesn't know
 */
export async function migrate(sql: Sql): Promise<void> {
  const files = await listFiles();
  await sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(${MIGRATION_LOCK})`;
    await tx`set local client_min_messages = warning`;
    await tx`create schema if not exists offchain`;
    await tx`set local search_path = offchain`;
    await tx`create table if not exists migration (name text primary key, applied_at timestamptz not null default now())`;
    const applied = new Set((await tx<{ name: string }[]>`select name from migration`).map(({ name }) => name));
    for (const former of [...applied].filter((name) => !files.includes(name))) {
      const name = files.find((file) => titleOf(file) === titleOf(former) && !applied.has(file));
      if (name === undefined)
        throw new ConfigError(
          `A newer version has changed our tables in this database (${former}). Expected that version, or a backup from before it.`,
        );
      await tx`update migration set name = ${name} where name = ${former}`;
      applied.add(name);
    }
    for (const name of files.filter((file) => !applied.has(file))) {
      await tx.unsafe(await readFile(join(MIGRATIONS, name), "utf8"));
      await tx`insert into migration (name) values (${name})`;
    }
  });
}

/** Whether the schema has all that this version knows of. A replica may have it later than its primary. */
export async function isMigrated(sql: Sql): Promise<boolean> {
  const rows = await sql<{ name: string }[]>`select name from offchain.migration`.catch((error: unknown) => {
    if (isMissingTable(error)) return [];
    throw error;
  });
  const applied = new Set(rows.map(({ name }) => name));
  return (await listFiles()).every((name) => applied.has(name));
}

async function listFiles(): Promise<string[]> {
  return (await readdir(MIGRATIONS)).filter((name) => name.endsWith(".sql")).toSorted();
}

/** The name without its number. Migrations that were written at the same time get new numbers when they are merged. */
const titleOf = (file: string) => file.replace(/^\d+-/, "");
