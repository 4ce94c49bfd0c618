import type { Sql } from "postgres";
import { NETWORKS, type Network } from "../../config.ts";
import { createPool } from "../../pool.ts";
import { openSocket, type Wanted } from "./postgres-socket.ts";

/** Connections for the queries of one network: what two cores of Postgres keep busy, and some that wait. */
const READ_CONNECTIONS = 6;
const STREAM_CONNECTIONS = 6;
/** Connections for statements over whole lists: so many at once, and they take none from other queries. */
const LONG_CONNECTIONS = 4;
/** Connections for refreshes, keys, counters and rate limits, which are short. */
const WRITE_CONNECTIONS = 4;

/** Bound of every query, in milliseconds. */
const STATEMENT_TIMEOUT_MS = 5000;
/** Bound of a statement over a whole list, which sets it for itself. */
export const LONG_STATEMENT_TIMEOUT_MS = 60_000;
/** So long after the bound of what it was asked Postgres has answered or is gone. */
const SILENCE_MS = 1500;
/** Pause before a lost connection is tried again: short, so that we are back as soon as Postgres is. */
const RECONNECT_SECONDS = 0.25;

/**
 * Each statement is planned once a connection, because planning took longer than running for most: a single token cost
 * Postgres 530 µs, now 71. A plan that is kept must also be right when the tables have grown, so it may only look rows
 * up in the order of an index.
 */
export const PLANNER_SETTINGS = {
  plan_cache_mode: "force_generic_plan",
  enable_seqscan: "off",
  enable_bitmapscan: "off",
  enable_hashjoin: "off",
  enable_mergejoin: "off",
  // Remembers look-ups that never come again: each of a page is for another token.
  enable_memoize: "off",
  // Estimates without values are high, and compiling takes longer than any of these statements.
  jit: "off",
};

/** Where the API reads and writes. Unqualified names mean the tables of the network and then ours. */
export type Databases = {
  read: Record<Network, Sql>;
  /** The same tables for rows that pass through this process as bytes. */
  stream: Record<Network, RowStream>;
  /** The same tables for `runLong`. */
  long: Record<Network, Sql>;
  write: Record<Network, Sql>;
  /** One connection for what the process asks for itself, so that requests can't starve it. */
  monitor: Sql;
  end: () => Promise<void>;
};

/** Pools that connect when first used. `readUrl` may be a replica. */
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
    backoff: () => RECONNECT_SECONDS,
    // Asked for on each new connection, by a query whose failure nobody could catch. `toArray` does without.
    fetch_types: false,
    connection: {
      search_path: searchPath,
      statement_timeout: timeoutMs,
      application_name: "nft-index-api",
      ...PLANNER_SETTINGS,
    },
    // Block numbers, timestamps and chain ids are below 2^53. Without this they come as text.
    types: { int8: { to: 20, from: [20], parse: Number, serialize: String } },
    // Of several hosts the driver tries one after the other itself.
    ...(url.includes(",") ? {} : { socket }),
  });
}

export type Parameter = string | number | Buffer;

/** A row as Postgres sent it, a column a place. */
export type RawRow = readonly (Buffer | null)[];

/**
 * Runs a statement that is one text with $1, $2 … and hands its rows over one by one. Their bytes are valid until
 * `onRow` returns. Putting the same text together out of fragments took 27 µs a request.
 */
export type RowStream = (
  text: string,
  parameters: readonly Parameter[],
  onRow: (row: RawRow) => void,
) => Promise<unknown>;

/** Statements on connections of `sql`. */
export const streamOf =
  (sql: Sql): RowStream =>
  async (text, parameters, onRow) =>
    sql
      .unsafe(text, parameters as Parameter[], { prepare: true })
      .raw()
      .forEach((row) => onRow(row));

/**
 * The text of a statement without indentation, for long ones: Postgres copies it, and looks for its end, each time that
 * it runs.
 */
export const squeeze = (text: string) => text.replaceAll(/\s+/g, " ");

/** The bytes of an address that is lower-case hex, as Postgres wants them. */
export const toBytes = (address: string) => Buffer.from(address.slice(2), "hex");

/** Bounds of all addresses. */
export const BEFORE_ANY_ADDRESS = Buffer.alloc(0);
export const AFTER_ANY_ADDRESS = Buffer.alloc(32, 0xff);

/** An array as Postgres reads it, of values that need no quoting: digits and hex. */
export const toArray = (values: readonly (string | number)[]) => `{${values.join(",")}}`;
