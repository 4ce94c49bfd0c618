import type { Sql } from "postgres";
import {
  type RateLimiterAbstract,
  type RateLimiterMemory,
  RateLimiterPostgres,
  RateLimiterRedis,
} from "rate-limiter-flexible";
import { describeError, type Log } from "../log.ts";

/** Creates a window of points that all processes share. */
export type RateStore = (window: {
  keyPrefix: string;
  points: number;
  duration: number;
  insuranceLimiter: RateLimiterMemory;
}) => RateLimiterAbstract;

/** A store of windows in the table rate_limit. */
export function createPostgresStore(sql: Sql): RateStore {
  // The part of the `pg` package's client that the library uses.
  const storeClient = {
    query: async ({ text, values }: { text: string; values: (string | number | null)[] }) => {
      const rows = await sql.unsafe(text, values, { prepare: true });
      return { rows: [...rows], rowCount: rows.count };
    },
  };
  return (window) =>
    new RateLimiterPostgres({
      ...window,
      storeClient,
      storeType: "client",
      schemaName: "offchain",
      tableName: "rate_limit",
      tableCreated: true,
      clearExpiredByTimeout: true,
    });
}

/**
 * A store of windows in Redis, for API processes on several machines. Its package is loaded only where it is
 * configured.
 */
export async function createRedisStore(
  url: string,
  { log }: { log: Log },
): Promise<{ store: RateStore; close: () => void }> {
  const { Redis } = await import("ioredis");
  const storeClient = new Redis(url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    connectTimeout: 2000,
    retryStrategy: (attempt) => Math.min(attempt * 100, 2000),
  });
  let isDown = false;
  storeClient.on("error", (error) => {
    if (!isDown) log("warn", "Redis does not answer; each process counts for itself", describeError(error));
    isDown = true;
  });
  storeClient.on("ready", () => {
    if (isDown) log("info", "Redis answers");
    isDown = false;
  });
  return {
    store: (window) => new RateLimiterRedis({ ...window, storeClient, rejectIfRedisNotReady: true }),
    close: () => storeClient.disconnect(),
  };
}
