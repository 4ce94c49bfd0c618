import { createSecretKey, type KeyObject } from "node:crypto";
import type { Sql } from "postgres";
import type { Network } from "../config.ts";
import { type MetadataStatus, readMetadataStatus } from "../offchain/token/metadata-status.ts";
import { notFound, unavailable } from "./http/errors.ts";
import { describeError, type Log } from "./log.ts";
import { listNetworks, type NetworkRow } from "./network.ts";
import { answerWithin } from "./sql/deadline.ts";

/** What this process knows without asking the database in a request: looked at once a second. */
export type Monitor = {
  isReachable: () => boolean;
  /** As the last look that was answered found them, and silent for as long since then. */
  networks: () => NetworkRow[];
  metadata: () => MetadataStatus;
  /**
   * Chain id of a network that can be read, and Unix seconds by which its next block goes at least: the clock's, or the
   * last block's where the chain runs ahead of it. @throws HttpError 404 or 503 where it can't be read
   */
  require: (network: Network) => { chainId: number; secret: KeyObject; now: number };
  refresh: () => Promise<void>;
  stop: () => void;
};

const INTERVAL_MS = 1000;
/** The database hangs when it hasn't answered this small question by then. */
const LOOK_WITHIN_MS = 3000;

const NO_METADATA: MetadataStatus = {
  tokens: 0,
  fetched: 0,
  waiting: 0,
  failing: 0,
  fetches_per_second: 0,
  oldest_due_seconds: null,
  failures: [],
  workers: 0,
};

/** Looks every second until it is stopped. The first look is over when the promise resolves, reachable or not. */
export async function startMonitor({ sql, log }: { sql: Sql; log: Log }): Promise<Monitor> {
  let networks: NetworkRow[] = [];
  let lookedAt = 0;
  let metadata = NO_METADATA;
  let secret: KeyObject | undefined;
  let isReachable = false;
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;

  async function look(): Promise<void> {
    networks = await listNetworks(sql);
    lookedAt = performance.now();
    secret ??= await findSecret(sql);
    metadata = await readMetadataStatus(sql);
  }

  async function refresh(): Promise<void> {
    const wasReachable = isReachable;
    try {
      await answerWithin(LOOK_WITHIN_MS, look);
      isReachable = true;
    } catch (error) {
      // Tables that are missing are a database that is there, but not migrated yet.
      isReachable = error instanceof Error && "code" in error && error.code === "42P01";
      if (!isReachable && wasReachable) log("error", "the database is unreachable", describeError(error));
    }
    if (isReachable && !wasReachable) log("info", "the database is reachable");
  }

  const next = () => {
    timer = setTimeout(() => void refresh().finally(() => (isStopped ? undefined : next())), INTERVAL_MS);
    timer.unref();
  };
  await refresh();
  next();

  return {
    isReachable: () => isReachable,
    networks: () => {
      const seconds = (performance.now() - lookedAt) / 1000;
      return networks.map((row) => ({ ...row, silent_seconds: row.silent_seconds + seconds }));
    },
    metadata: () => metadata,
    refresh,
    stop: () => {
      isStopped = true;
      clearTimeout(timer);
    },
    require: (network) => {
      if (!isReachable) throw unavailable("The database is unreachable.");
      const row = networks.find(({ name }) => name === network);
      if (row?.has_tables && secret) {
        const now = Math.max(Math.floor(Date.now() / 1000), row.head_timestamp, row.indexed_timestamp);
        return { chainId: row.chain_id, secret, now };
      }
      if (!row && network === "testnet" && networks.length > 0)
        throw notFound("The test network is not configured. Expected a request to the main network, without /testnet.");
      throw unavailable("Nothing is indexed yet.");
    },
  };
}

/** The key of all cursors: made once by the migration, so that it is the same on every process and for ever. */
async function findSecret(sql: Sql): Promise<KeyObject | undefined> {
  const [row] = await sql<{ value: Buffer }[]>`
    select value
    from offchain.secret
    where name = 'cursor'
  `;
  // Made a key once: from bytes each MAC took 11 µs, now 2.
  return row && createSecretKey(row.value);
}
