import { setTimeout as sleep } from "node:timers/promises";
import type { Sql } from "postgres";
import { type Config, ConfigError } from "../config.ts";
import { keepRunning } from "../indexer/keeper.ts";
import { migrate } from "../offchain/migrate.ts";
import { withConnection, withDatabase } from "../postgres/pool.ts";
import { makeDataDir } from "./data-dir.ts";
import { isOwned, takeOwnerLock } from "./owner-lock.ts";
import { type EmbeddedPostgres, startPostgres } from "./postgres.ts";
import { exitWith } from "./process.ts";

/** Database of the embedded server where a real chain is followed. */
const MAIN_DATABASE = "nft_index";

/** Database of the demo, and of a test network beside it: one of its own, so that a real chain's is never touched. */
const DEMO_DATABASE = "nft_index_demo";

/** SQLSTATEs of a database that somebody else has made since we looked. */
const MADE_MEANWHILE = new Set(["42P04", "23505"]);

const WATCH_EVERY_MS = 2_000;

type OpenDatabase = { url: string; close: () => Promise<void> };

/**
 * The database for `npm start`, made where it is missing. The embedded server is started where there is no DATABASE_URL,
 * and again whenever it is gone. `onLost`: another `npm start` has it now, and this one is to end.
 *
 * @throws ConfigError where it can't be reached or made, or has an owner already
 */
export async function openDatabase(config: Config, { log, onLost }: OpenOptions): Promise<OpenDatabase> {
  await using opened = new AsyncDisposableStack();
  const { url, embedded } = await openServer(config, opened);
  const name = databaseNameOf(config);
  if (name === undefined) return closedBy(opened, url);
  const named = withDatabase(url, name);
  if (embedded) {
    opened.defer(await takeOwnerLock(url, { where: `DATA_DIR ${config.dataDir}`, onLost }));
    opened.defer(keepServer(embedded, { log }).stop);
    await createDatabase(url, { name, config });
  } else {
    await createDatabase(url, { name, config });
    // Whatever database of the server DATABASE_URL names, the demo's is the same one.
    opened.defer(await takeOwnerLock(named, { where: "DATABASE_URL", onLost }));
  }
  return closedBy(opened, named);
}
type OpenOptions = { log: (line: string) => void; onLost: (line: string) => void };

/**
 * The database that a command beside the service means: that of `npm start` with this configuration. Where only
 * DATABASE_URL is set and no chain, that is the database it names, unless a demo runs on its server.
 *
 * @throws ConfigError where it can't be reached, or is a demo's that was never started
 */
export async function findDatabase(config: Config): Promise<OpenDatabase> {
  await using opened = new AsyncDisposableStack();
  const { url, embedded } = await openServer(config, opened);
  const name = databaseNameOf(config);
  if (name === undefined) return closedBy(opened, url);
  const isThere = await hasDatabase(url, name);
  if (!embedded) {
    const named = withDatabase(url, name);
    const isMeant = isThere && (config.networks.testnet !== undefined || (await isOwned(named)));
    return closedBy(opened, isMeant ? named : url);
  }
  if (!isThere && name === DEMO_DATABASE)
    throw new ConfigError("Nothing was ever started here. Expected npm start, MAINNET_RPC_URL or DATABASE_URL.");
  await createDatabase(url, { name, config });
  return closedBy(opened, withDatabase(url, name));
}

/** DATABASE_URL, for the parts that run alone. Where it is missing the process ends with one line. */
export function databaseUrlOrExit({ databaseUrl }: Config): string {
  const expected = "Expected a URL like postgres://user:password@host:5432/name.";
  return databaseUrl ?? exitWith(new ConfigError(`DATABASE_URL is not set. ${expected}`));
}

/** DATABASE_URL of a database that answers. @throws ConfigError where it doesn't */
export async function requireDatabase(config: Config): Promise<string> {
  const url = databaseUrlOrExit(config);
  await checkDatabase(url, nameOfUrl(url));
  return url;
}

/** @throws ConfigError where DATABASE_READ_URL is set and is no Postgres that answers */
export async function requireReplica({ databaseReadUrl: url }: Config): Promise<void> {
  if (url !== undefined) await checkDatabase(url, nameOfUrl(url, "DATABASE_READ_URL"));
}

/** SQLSTATEs of what a role may not do, and of a database that takes no writes. */
const FORBIDDEN = new Set(["42501", "25006"]);

/**
 * Brings our own tables up to date.
 *
 * @throws ConfigError where the role of the URL may not, or where the database isn't one that all parts can work with
 */
export async function prepareDatabase(sql: Sql, { url }: { url: string }): Promise<void> {
  await checkUse(sql, { url });
  await migrate(sql).catch((error: Error & { code?: string }) => {
    if (!FORBIDDEN.has(error.code ?? "")) throw error;
    throw new ConfigError(
      `${nameOfUrl(url)} can't be used (${error.message}). Expected a role that may create schemas there and owns ours.`,
      { cause: error },
    );
  });
}

/** The database on the server. Undefined: the one that DATABASE_URL names. */
function databaseNameOf({ networks, databaseUrl }: Config): string | undefined {
  if (!networks.mainnet) return DEMO_DATABASE;
  return databaseUrl ? undefined : MAIN_DATABASE;
}

type Server = { url: string; embedded: EmbeddedPostgres | undefined };

async function openServer(config: Config, opened: AsyncDisposableStack): Promise<Server> {
  const { databaseUrl, dataDir } = config;
  if (databaseUrl) {
    await checkDatabase(databaseUrl, nameOfUrl(databaseUrl));
    return { url: databaseUrl, embedded: undefined };
  }
  makeDataDir(config);
  const embedded = await startPostgres({ directory: dataDir, isDurable: true }).catch((error: Error) => {
    throw new ConfigError(error.message, { cause: error });
  });
  opened.defer(embedded.stop);
  const url = embedded.urlOf("postgres");
  await checkDatabase(url, `The Postgres in DATA_DIR ${dataDir}`);
  return { url, embedded };
}

/** Hands over what was opened: it stays open until `close`. */
function closedBy(opened: AsyncDisposableStack, url: string): OpenDatabase {
  const kept = opened.move();
  return { url, close: () => kept.disposeAsync() };
}

/** Starts the server again whenever it is gone, as when the system has killed it for its memory. */
function keepServer(server: EmbeddedPostgres, { log }: { log: (line: string) => void }) {
  const watch = async ({ signal }: { signal: AbortSignal }) => {
    if (!(await server.isRunning())) await server.restart();
    while (!signal.aborted && (await server.isRunning())) {
      await server.turnLog();
      await sleep(WATCH_EVERY_MS, undefined, { signal }).catch(() => {});
    }
    return "Postgres has ended";
  };
  return keepRunning(watch, { onFailure: log });
}

/** A setting that no pooler passes on, because Postgres doesn't tell it of changes. In milliseconds. */
const PROBE = { lock_timeout: 4321 };

/** @throws ConfigError that begins with `what` where it doesn't answer, or something else does in its place */
async function checkDatabase(url: string, what: string): Promise<void> {
  const read = (sql: Sql) => sql<{ version: number; probe: string }[]>`
    select
      current_setting('server_version_num')::int as version,
      current_setting('lock_timeout') as probe
  `;
  const options = { connect_timeout: 10, connection: PROBE };
  const [row] = await withConnection(url, read, options).catch((error: unknown) => {
    const { message, code } = error as Error & { code?: string };
    if (message.includes("startup parameter")) throw isPooler(what, message);
    throw new ConfigError(`${what} is unreachable (${message || code}). Expected a Postgres that answers.`, {
      cause: error,
    });
  });
  if ((row?.version ?? 0) < 150_000)
    throw new ConfigError(`${what} is Postgres ${row?.version}. Expected version 15 or later.`);
  if (row?.probe !== `${PROBE.lock_timeout}ms`) throw isPooler(what, "settings of a session don't reach Postgres");
}

const isPooler = (what: string, why: string) =>
  new ConfigError(`${what} is a pooler (${why}). Expected Postgres itself: our sessions hold settings and locks.`);

/**
 * Checks what no session can set for itself. Names and documents hold characters of all scripts. Postgres 15 and 16 refuse
 * a session that sets transaction_timeout, because they don't know it.
 *
 * @throws ConfigError that says what is to be set
 */
async function checkUse(sql: Sql, { url }: { url: string }): Promise<void> {
  if (new URL(url).host.includes(","))
    throw new ConfigError(`${nameOfUrl(url)} are several hosts. Expected one: Ponder connects to no more.`);
  const [row] = await sql<{ encoding: string; timeout: string | null; role: string }[]>`
    select
      current_setting('server_encoding') as encoding,
      nullif(current_setting('transaction_timeout', true), '0') as timeout,
      quote_ident(current_user) as role
  `;
  if (row && row.encoding !== "UTF8")
    throw new ConfigError(
      `${nameOfUrl(url)} has the encoding ${row.encoding}. Expected UTF8, as by: create database NAME template template0 encoding 'UTF8' locale 'C'.`,
    );
  if (row?.timeout)
    throw new ConfigError(
      `${nameOfUrl(url)} ends each transaction after ${row.timeout}. Expected no transaction_timeout, as by: alter role ${row.role} set transaction_timeout = 0.`,
    );
}

async function hasDatabase(serverUrl: string, name: string): Promise<boolean> {
  const rows = await withConnection(serverUrl, (sql) => sql`select from pg_database where datname = ${name}`);
  return rows.length > 0;
}

/** Makes it where it is missing. @throws ConfigError where it can't be made */
async function createDatabase(
  serverUrl: string,
  { name, config }: { name: string; config: Pick<Config, "databaseUrl" | "dataDir"> },
): Promise<void> {
  if (await hasDatabase(serverUrl, name)) return;
  try {
    await withConnection(serverUrl, (sql) => sql.unsafe(createStatement(name)));
  } catch (error) {
    const { message, code = "" } = error as Error & { code?: string };
    if (MADE_MEANWHILE.has(code)) return;
    const { databaseUrl, dataDir } = config;
    throw new ConfigError(
      databaseUrl
        ? `DATABASE_URL can't be used for the demo: ${message}. Expected the right to create a database ${name}, or MAINNET_RPC_URL.`
        : `The Postgres in DATA_DIR ${dataDir} can't make a database ${name}: ${message}. Expected room for it.`,
      { cause: error },
    );
  }
}

/** Whatever a server takes for its own: many are in ASCII, because nobody said otherwise when they were set up. */
const createStatement = (name: string) =>
  `create database ${name} template template0 encoding 'UTF8' locale_provider libc locale 'C'`;

function nameOfUrl(url: string, variable = "DATABASE_URL"): string {
  const { host, pathname } = new URL(url);
  return `${variable} ${decodeURIComponent(host)}${pathname}`;
}
