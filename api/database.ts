import postgres, { type Sql } from "postgres";
import { NETWORKS, type Network } from "../config.ts";

/** Connections for the queries of one network: what two cores of Postgres keep busy, and some that wait. */
const READ_CONNECTIONS = 10;
/** Connections for refreshes, keys, counters and rate limits, which are short. */
const WRITE_CONNECTIONS = 4;

/** Bound of every query, in milliseconds. */
export const STATEMENT_TIMEOUT_MS = 5000;
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
};

/** Where the API reads and writes. Unqualified names mean the tables of the network and then ours. */
export type Databases = {
  read: Record<Network, Sql>;
  write: Record<Network, Sql>;
  /** One connection for what the process asks for itself, so that requests can't starve it. */
  monitor: Sql;
  end: () => Promise<void>;
};

/** Pools that connect when first used. `readUrl` may be a replica. */
export function openDatabases({ url, readUrl }: { url: string; readUrl: string }): Databases {
  const open = (to: string, { max, searchPath }: { max: number; searchPath: string }) =>
    openPool(to, { max, searchPath });
  const perNetwork = (to: string, max: number) =>
    Object.fromEntries(
      NETWORKS.map((network) => [network, open(to, { max, searchPath: `onchain_${network},offchain` })]),
    ) as Record<Network, Sql>;
  const read = perNetwork(readUrl, READ_CONNECTIONS);
  const write = perNetwork(url, WRITE_CONNECTIONS);
  const monitor = open(readUrl, { max: 1, searchPath: "offchain" });
  const all = [...Object.values(read), ...Object.values(write), monitor];
  return { read, write, monitor, end: async () => void (await Promise.all(all.map((sql) => sql.end({ timeout: 2 })))) };
}

function openPool(url: string, { max, searchPath }: { max: number; searchPath: string }): Sql {
  return postgres(url, {
    max,
    connect_timeout: 3,
    backoff: () => RECONNECT_SECONDS,
    onnotice: () => {},
    // Asked for on each new connection, by a query whose failure nobody could catch. `toArray` does without.
    fetch_types: false,
    connection: {
      search_path: searchPath,
      statement_timeout: STATEMENT_TIMEOUT_MS,
      application_name: "nft-index-api",
      ...PLANNER_SETTINGS,
    },
    // Block numbers, timestamps and chain ids are below 2^53. Without this they come as text.
    types: { int8: { to: 20, from: [20], parse: Number, serialize: String } },
  });
}

/** The bytes of an address that is lower-case hex, as Postgres wants them. */
export const toBytes = (address: string) => Buffer.from(address.slice(2), "hex");

/** An array as Postgres reads it, of values that need no quoting: digits and hex. */
export const toArray = (values: readonly (string | number)[]) => `{${values.join(",")}}`;

/**
 * A row as Postgres sent it, a column a place, for answers that pass documents on without decoding them. Everything but
 * documents and names is ASCII.
 */
export type RawRow = (Buffer | null)[];

/** A number, an id or a word of a raw row; `null` as JSON has it where there is none. */
export const toText = (column: Buffer | null | undefined) => (column ? column.toString("latin1") : "null");

/** An address or a hash of a raw row. */
export const toHex = (column: Buffer | null | undefined) => (column ? `0x${column.toString("latin1", 2)}` : "");

/** The same as JSON: a text or null. */
export const toHexJson = (column: Buffer | null | undefined) =>
  column ? `"0x${column.toString("latin1", 2)}"` : "null";
