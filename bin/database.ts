import { setTimeout as sleep } from "node:timers/promises";
import { type Config, ConfigError } from "../config.ts";
import { createPool } from "../pool.ts";
import { type EmbeddedPostgres, startPostgres } from "./postgres.ts";
import { exitWith } from "./process.ts";

/** Database of the embedded server where a real chain is followed: kept. */
const KEPT_DATABASE = "nft_index";

/** Ending of the name of the demo's database: begun anew each time. */
const DEMO_DATABASE = "nft_index_demo";

/** What `npm start` holds while it runs, so that a second one doesn't begin the demo anew under the first. */
const OWNER_LOCK = 4_027_311_002;

/** A killed owner's connection is noticed within moments. */
const OWNER_LOCK_ATTEMPTS = 10;
const OWNER_LOCK_PAUSE_MS = 500;

export type OpenDatabase = { url: string; close: () => Promise<void> };

/**
 * The database that the configuration asks for, the embedded one started where there is no DATABASE_URL. The demo chain
 * has a database of its own beside it, so that what a real chain filled is never touched.
 *
 * `isOwner`: for `npm start`, which begins the demo's anew. Commands that run
 * beside it leave it as it is.
 *
 * @throws ConfigError where it can't be reached or made, or has an owner already
 */
export async function openDatabase(config: Config, { isOwner }: { isOwner: boolean }): Promise<OpenDatabase> {
  const isDemo = config.networks.mainnet === undefined;
  if (config.databaseUrl && !isDemo) {
    await checkDatabase(config.databaseUrl);
    return { url: config.databaseUrl, close: async () => {} };
  }
  const server = config.databaseUrl ? undefined : await startEmbedded(config);
  const serverUrl = config.databaseUrl ?? server!.urlOf("postgres");
  await checkDatabase(serverUrl);
  const release = isOwner
    ? await lockServer(serverUrl, { where: server ? `DATA_DIR ${config.dataDir}` : "DATABASE_URL" })
    : undefined;
  const name = isDemo ? DEMO_DATABASE : KEPT_DATABASE;
  await createDatabase(serverUrl, { name, isFresh: isOwner && isDemo });
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    close: async () => {
      await release?.();
      await server?.stop();
    },
  };
}

async function lockServer(serverUrl: string, { where }: { where: string }): Promise<() => Promise<void>> {
  const sql = createPool(serverUrl, { max: 1, idle_timeout: 0, max_lifetime: null });
  for (let attempt = 1; attempt <= OWNER_LOCK_ATTEMPTS; attempt++) {
    const [row] = await sql<{ acquired: boolean }[]>`select pg_try_advisory_lock(${OWNER_LOCK}) as acquired`;
    if (row?.acquired) return () => sql.end({ timeout: 1 });
    await sleep(OWNER_LOCK_PAUSE_MS);
  }
  await sql.end({ timeout: 1 });
  throw new ConfigError(`${where} is in use by another npm start. Expected one at a time.`);
}

/** DATABASE_URL, for the parts that run alone. Where it is missing the process ends with one line. */
export function databaseUrlOrExit({ databaseUrl }: Config): string {
  const expected = "Expected a URL like postgres://user:password@host:5432/name.";
  return databaseUrl ?? exitWith(new ConfigError(`DATABASE_URL is not set. ${expected}`));
}

/** DATABASE_URL of a database that answers. @throws ConfigError where it doesn't */
export async function requireDatabase(config: Config): Promise<string> {
  const url = databaseUrlOrExit(config);
  await checkDatabase(url);
  return url;
}

async function startEmbedded(config: Config): Promise<EmbeddedPostgres> {
  try {
    return await startPostgres({ directory: config.dataDir, isDurable: true });
  } catch (error) {
    throw new ConfigError((error as Error).message, { cause: error });
  }
}

async function checkDatabase(url: string): Promise<void> {
  const sql = createPool(url, { max: 1, connect_timeout: 10 });
  try {
    const [row] = await sql<{ version: number }[]>`select current_setting('server_version_num')::int as version`;
    if ((row?.version ?? 0) < 150_000)
      throw new ConfigError(`DATABASE_URL is Postgres ${row?.version}. Expected version 15 or later.`);
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    const { host, pathname } = new URL(url);
    const { message, code } = error as Error & { code?: string };
    throw new ConfigError(
      `DATABASE_URL ${decodeURIComponent(host)}${pathname} is unreachable (${message || code}). Expected a Postgres that answers.`,
      { cause: error },
    );
  } finally {
    await sql.end({ timeout: 1 });
  }
}

async function createDatabase(serverUrl: string, { name, isFresh }: { name: string; isFresh: boolean }): Promise<void> {
  const sql = createPool(serverUrl, { max: 1 });
  try {
    if (isFresh) await sql.unsafe(`drop database if exists ${name} with (force)`);
    const [existing] = await sql`select from pg_database where datname = ${name}`;
    if (!existing) await sql.unsafe(`create database ${name}`);
  } catch (error) {
    throw new ConfigError(
      `DATABASE_URL can't be used for the demo: ${(error as Error).message}. Expected the right to create a database ${name}, or MAINNET_RPC_URL.`,
      { cause: error },
    );
  } finally {
    await sql.end({ timeout: 1 });
  }
}
