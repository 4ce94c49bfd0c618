import type { Sql } from "postgres";
import { NETWORKS, type Network } from "../../config.ts";
import { createPool } from "../../postgres/pool.ts";
import { openSocket, type Wanted } from "./postgres-socket.ts";

/** Connections for the queries of one network: enough to keep two cores of Postgres busy, and some more. */
const READ_CONNECTIONS = 6;
const STREAM_CONNECTIONS = 6;
/** Connections for statements over whole lists. They limit how many run at once, and take none from other queries. */
const LONG_CONNECTIONS = 4;
/** Connections for refreshes, keys, counters and rate limits. These statements are short. */
const WRITE_CONNECTIONS = 4;

/** The longest a query may take, in milliseconds. */
const STATEMENT_TIMEOUT_MS = 5000;
/** The longest a statement over a whole list may take, in milliseconds. It sets this for itself. */
export const LONG_STATEMENT_TIMEOUT_MS = 60_000;
/** How long after its statement's timeout Postgres must have answered, in milliseconds. Else it is taken to be gone. */
const SILENCE_MS = 1500;

/**
 * Settings by which each statement is planned once on a connection, because planning took longer than running for most:
 * a single token cost Postgres 530 µs, now 71. Such a plan must still be right when the tables have grown, so it may
 * only look rows up in the order of an index.
 */
export const PLANNER_SETTINGS = {
  plan_cache_mode: "force_generic_plan",
  enable_seqscan: "off",
  enable_bitmapscan: "off",
  enable_hashjoin: "off",
  enable_mergejoin: "off",
  // Memoize keeps look-ups that never come again: each row of a page is another token.
  enable_memoize: "off",
  // Without values estimates are high, and compiling takes longer than any of these statements.
  jit: "off",
};

/** The API's connections. Unqualified names in statements mean tables of the network first, and then ours. */
export type Databases = {
  read: Record<Network, Sql>;
  /** Like `read`, for rows that pass through this process as bytes. */
  stream: Record<Network, RowStream>;
  /** Like `read`, for `runLong`. */
  long: Record<Network, Sql>;
  write: Record<Network, Sql>;
  /** One connection for the process's own queries, so that requests can't starve them. */
  monitor: Sql;
  end: () => Promise<void>;
};

/** Opens pools, which connect when they are first used. `readUrl` may be a replica. */
export function openDatabases({ url, readUrl }: { url: string; readUrl: string }): Databases {
  const perNetwork = (to: string, max: number, timeoutMs = STATEMENT_TIMEOUT_MS) =>
    Object.fromEntries(
      NETWORKS.map((network) => [network, openPool(to, { max, timeoutMs, searchPath: `onchain_${network},offchain` })]),
    ) as Record<Network, Sql>;
  const read = perNetwork(readUrl, READ_CONNECTIONS);
  const streams = perNetwork(readUrl, STREAM_CONNECTIONS);
  const long = perNetwork(readUrl, LONG_CONNECTIONS, LONG_STATEMENT_TIMEOUT_MS);
  const write = perNetwork(url, WRITE_CONNECTIONS);
  const monitor = openPool(readUrl, { max: 1, timeoutMs: STATEMENT_TIMEOUT_MS, searchPath: "offchain" });
  const all = [read, streams, long, write].flatMap((pools) => Object.values(pools)).concat(monitor);
  return {
    read,
    stream: { mainnet: streamOf(streams.mainnet), testnet: streamOf(streams.testnet) },
    long,
    write,
    monitor,
    end: async () => void (await Promise.all(all.map((sql) => sql.end({ timeout: 2 })))),
  };
}

function openPool(
  url: string,
  { max, timeoutMs, searchPath }: { max: number; timeoutMs: number; searchPath: string },
): Sql {
  const socket = (wanted: Wanted) => openSocket(wanted, { silenceMs: timeoutMs + SILENCE_MS });
  return createPool(url, {
    max,
    connect_timeout: 3,
    // The driver would query types on each new connection, and nobody could catch a failure of that. `toArray` doesn't
    // need it.
    fetch_types: false,
    connection: {
      search_path: searchPath,
      statement_timeout: timeoutMs,
      application_name: "nft-index-api",
      ...PLANNER_SETTINGS,
    },
    // Block numbers, timestamps and chain ids are below 2^53. By default the driver returns int8 as text.
    types: { int8: { to: 20, from: [20], parse: Number, serialize: String } },
    // With several hosts the driver itself tries one after the other.
    ...(new URL(url).host.includes(",") ? {} : { socket }),
  });
}

/** A value of a statement's $1, $2 …: a Buffer is bytea, and numeric is a text of digits. */
export type Parameter = string | number | Buffer;

/** A row as Postgres sent it: the bytes of each column. */
export type RawRow = readonly (Buffer | null)[];

/**
 * Runs a statement, a text with $1, $2 …, and passes its rows on one by one. A row's bytes are valid until `onRow`
 * returns. Making the same text of fragments for each request took 27 µs.
 */
export type RowStream = (
  text: string,
  parameters: readonly Parameter[],
  onRow: (row: RawRow) => void,
) => Promise<unknown>;

/** A `RowStream` on the connections of `sql`. */
export const streamOf =
  (sql: Sql): RowStream =>
  async (text, parameters, onRow) =>
    sql
      .unsafe(text, parameters as Parameter[], { prepare: true })
      .raw()
      .forEach((row) => onRow(row));

/**
 * A statement's text without indentation. For long statements: Postgres copies the text, and looks for its end, each
 * time.
 */
export const squeeze = (text: string) => text.replaceAll(/\s+/g, " ");

/** Values before and after all addresses, for comparisons. */
export const BEFORE_ANY_ADDRESS = Buffer.alloc(0);
export const AFTER_ANY_ADDRESS = Buffer.alloc(32, 0xff);

/** A Postgres array as text. Its values must need no quoting: digits and hex. */
export const toArray = (values: readonly (string | number)[]) => `{${values.join(",")}}`;
