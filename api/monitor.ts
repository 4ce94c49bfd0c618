import { createSecretKey, type KeyObject } from "node:crypto";
import type { Sql } from "postgres";
import type { Network } from "../config.ts";
import { isMissingTable } from "../offchain/network.ts";
import { type MetadataStatus, readMetadataStatus } from "../offchain/token/metadata-status.ts";
import { notFound, unavailable } from "./http/errors.ts";
import { describeError, type Log } from "./log.ts";
import { listNetworks, type NetworkRow } from "./network.ts";
import { answerWithin } from "./sql/deadline.ts";

/** State of the database and the networks, read once a second, so that requests needn't ask for it. */
export type Monitor = {
  isReachable: () => boolean;
  /** The networks as last read. `silent_seconds` grows with the time since then. */
  networks: () => NetworkRow[];
  metadata: () => MetadataStatus;
  /**
   * Chain id of a network, the secret of cursors, and the earliest time that its next block can have, in Unix seconds:
   * the clock's, or the last block's if that is later. @throws HttpError 404 or 503 where the network can't be read
   */
  require: (network: Network) => { chainId: number; secret: KeyObject; now: number };
  refresh: () => Promise<void>;
  stop: () => void;
};

const INTERVAL_MS = 1000;
/** The database counts as unreachable if this small query takes longer. */
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

/**
 * Reads the state every second until it is stopped. The promise resolves after the first try, reachable or not.
 * `isUpgrading`: whether our tables may not be those of this version yet.
 */
export async function startMonitor({
  sql,
  log,
  isUpgrading = () => false,
}: {
  sql: Sql;
  log: Log;
  isUpgrading?: (() => boolean) | undefined;
}): Promise<Monitor> {
  let networks: NetworkRow[] = [];
  let lookedAt = 0;
  let metadata = NO_METADATA;
  let secret: KeyObject | undefined;
  /** Undefined before the first look. */
  let isReachable: boolean | undefined;
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
      // Missing tables mean that the database answers, but isn't migrated yet.
      isReachable = isMissingTable(error);
      if (!isReachable && wasReachable !== false) log("error", "the database is unreachable", describeError(error));
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
    isReachable: () => isReachable === true,
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
        if (isUpgrading()) throw unavailable("The database is being brought up to date.");
        const now = Math.max(Math.floor(Date.now() / 1000), row.head_timestamp, row.indexed_timestamp);
        return { chainId: row.chain_id, secret, now };
      }
      if (!row && network === "testnet" && networks.length > 0)
        throw notFound("The test network is not configured. Expected a request to the main network, without /testnet.");
      throw unavailable("Nothing is indexed yet.");
    },
  };
}

/** The key that signs cursors. The migration makes it once, so it is the same in every process and never changes. */
async function findSecret(sql: Sql): Promise<KeyObject | undefined> {
  const [row] = await sql<{ value: Buffer }[]>`
    select value
    from offchain.secret
    where name = 'cursor'
  `;
  // Turned into a key object once: each MAC takes 2 µs with it, and took 11 µs with bytes.
  return row && createSecretKey(row.value);
}
