import { setTimeout as sleep } from "node:timers/promises";
import { type Config, ConfigError } from "../config.ts";
import { keepRunning } from "../indexer/keeper.ts";
import { withConnection, withDatabase } from "../postgres/pool.ts";
import { makeDataDir } from "./data-dir.ts";
import { checkDatabase, nameOfUrl } from "./database-check.ts";
import { isOwned, takeOwnerLock } from "./owner-lock.ts";
import { type EmbeddedPostgres, hasData, startPostgres } from "./postgres.ts";

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
  const { url, embedded } = await openServer(config, opened, { mayBeNew: true });
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
  const name = databaseNameOf(config);
  await using opened = new AsyncDisposableStack();
  const { url, embedded } = await openServer(config, opened, { mayBeNew: name !== DEMO_DATABASE });
  if (name === undefined) return closedBy(opened, url);
  const isThere = await hasDatabase(url, name);
  if (!embedded) {
    const named = withDatabase(url, name);
    const isMeant = isThere && (config.networks.testnet !== undefined || (await isOwned(named)));
    return closedBy(opened, isMeant ? named : url);
  }
  if (!isThere && name === DEMO_DATABASE)
    throw (await hasDatabase(url, MAIN_DATABASE)) ? onlyChainStarted(config) : neverStarted();
  await createDatabase(url, { name, config });
  return closedBy(opened, withDatabase(url, name));
}

const neverStarted = () =>
  new ConfigError("Nothing was ever started here. Expected npm start, MAINNET_RPC_URL or DATABASE_URL.");

/** It was told its node at the start and not in `.env`, as systemd does, so that the command doesn't know of it. */
const onlyChainStarted = ({ dataDir }: Config) =>
  new ConfigError(
    `What was started in DATA_DIR ${dataDir} follows a chain, and no demo. Expected MAINNET_RPC_URL and its other variables here too.`,
  );

/** The database on the server. Undefined: the one that DATABASE_URL names. */
function databaseNameOf({ networks, databaseUrl }: Config): string | undefined {
  if (!networks.mainnet) return DEMO_DATABASE;
  return databaseUrl ? undefined : MAIN_DATABASE;
}

type Server = { url: string; embedded: EmbeddedPostgres | undefined };

async function openServer(
  config: Config,
  opened: AsyncDisposableStack,
  { mayBeNew }: { mayBeNew: boolean },
): Promise<Server> {
  const { databaseUrl, dataDir } = config;
  if (databaseUrl) {
    await checkDatabase(databaseUrl, nameOfUrl(databaseUrl));
    return { url: databaseUrl, embedded: undefined };
  }
  makeDataDir(config);
  // A server would be made only to find nothing on it.
  if (!mayBeNew && !hasData(dataDir)) throw neverStarted();
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
      await server.rotateLog();
      await sleep(WATCH_EVERY_MS, undefined, { signal }).catch(() => {});
    }
    return "Postgres has ended";
  };
  return keepRunning(watch, { onFailure: log });
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
