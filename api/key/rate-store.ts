import type { Sql } from "postgres";
import {
  type RateLimiterAbstract,
  type RateLimiterMemory,
  RateLimiterPostgres,
  RateLimiterRedis,
} from "rate-limiter-flexible";
import { describeError, type Log } from "../log.ts";
import { squeeze } from "../sql/database.ts";

/** Creates a window of points that all processes share. */
export type RateStore = (window: {
  keyPrefix: string;
  points: number;
  duration: number;
  /** Answers where the store fails. */
  insuranceLimiter?: RateLimiterMemory;
}) => RateLimiterAbstract;

/** Milliseconds by the clock of Postgres when they are looked at, maybe after waiting for the row. */
const NOW = "(extract(epoch from clock_timestamp()) * 1000)::bigint";

/**
 * Takes $2 points from the window $1 of $3 milliseconds. By the clock of Postgres alone, because those of the processes
 * may differ. A window that ends later than one that begins now began before that clock was set back: it is over.
 */
const TAKE = squeeze(`
  insert into offchain.rate_limit as kept (key, points, expire)
  values ($1, $2, ${NOW} + $3)
  on conflict (key) do update
  set (points, expire) = (
    select
      case when kept.expire > now and kept.expire <= now + $3 then kept.points + $2 else $2 end,
      case when kept.expire > now and kept.expire <= now + $3 then kept.expire else now + $3 end
    from (select ${NOW} as now) clock
  )
  returning points, (expire - ${NOW})::float8 as ms_left
`);

/**
 * A Redis that owes an answer for so long hangs, or its machine is gone: it is connected to anew, and nobody waits for it
 * meanwhile. Shorter than a request waits for a store.
 */
const REDIS_SILENCE_MS = 1000;

/** How often windows that are over are deleted, and how many in one statement, which must end in time. */
const CLEANING_MS = 60_000;
const CLEANING_SIZE = 10_000;

const CLEAN = squeeze(`
  delete from offchain.rate_limit
  where ctid = any (array(select ctid from offchain.rate_limit where expire < ${NOW} limit ${CLEANING_SIZE}))
`);

/** A store of windows in the table rate_limit. */
export function createPostgresStore(sql: Sql, { cleaningMs = CLEANING_MS }: { cleaningMs?: number } = {}): RateStore {
  const clean = async (): Promise<void> => {
    for (let count = CLEANING_SIZE; count === CLEANING_SIZE;)
      ({ count } = await sql.unsafe(CLEAN, [], { prepare: true }));
  };
  // What can't be deleted now is deleted next time.
  setInterval(() => void clean().catch(() => {}), cleaningMs).unref();
  /** The library's own statement takes the time from this process. */
  class Window extends RateLimiterPostgres {
    async _upsert(key: string, points: number, durationMs: number) {
      const rows = await sql.unsafe<{ points: number; ms_left: number }[]>(TAKE, [key, points, durationMs], {
        prepare: true,
      });
      return { rows: rows.map((row) => ({ points: row.points, expire: Date.now() + row.ms_left })) };
    }
  }
  return (window) =>
    new Window({
      ...window,
      storeClient: sql,
      storeType: "client",
      schemaName: "offchain",
      tableName: "rate_limit",
      tableCreated: true,
      clearExpiredByTimeout: false,
    });
}

/** How the library takes points of a window in Redis, which its types leave out. */
const { _upsert: takeFromRedis } = RateLimiterRedis.prototype as unknown as {
  _upsert: (...points: unknown[]) => Promise<unknown>;
};

/**
 * A store of windows in Redis, for API processes on several machines. Its package is loaded only where it is
 * configured.
 */
export async function createRedisStore(
  url: string,
  { log }: { log: Log },
): Promise<{ store: RateStore; close: () => void }> {
  const { Redis, ReplyError } = await import("ioredis");
  const storeClient = new Redis(url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    connectTimeout: 2000,
    socketTimeout: REDIS_SILENCE_MS,
    // It was the first one before a failover: its name may lead to another one now.
    reconnectOnError: ({ message }) => message.includes("READONLY"),
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
  let isRefusing = false;
  /** A Redis that is full, that only reads, or that is one of a cluster, is connected all the same. */
  class Window extends RateLimiterRedis {
    async _upsert(...points: unknown[]) {
      try {
        const result = await takeFromRedis.apply(this, points);
        if (isRefusing) log("info", "Redis counts requests again");
        isRefusing = false;
        return result;
      } catch (error) {
        if (error instanceof ReplyError) {
          if (!isRefusing)
            log("warn", "Redis counts no requests; each process counts for itself", describeError(error));
          isRefusing = true;
        }
        throw error;
      }
    }
  }
  return {
    store: (window) => new Window({ ...window, storeClient, rejectIfRedisNotReady: true }),
    close: () => storeClient.disconnect(),
  };
}
