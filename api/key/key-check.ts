import type { Sql } from "postgres";
import { addKeyUse, type Caller, hashKey, isKeyValid, listRevokedLately } from "./key.ts";
import { describeError, type Log } from "../log.ts";
import { within } from "../sql/deadline.ts";

/** Finds the caller with a key in the database. Undefined if the key is unknown or revoked. */
export type FindCaller = () => Promise<Caller | undefined>;

/** Checks keys in memory. A key is looked up in the database only when it is first seen. */
export type KeyCheck = {
  /**
   * The caller with a key, undefined if the key is unknown or revoked. A function where the database must be asked
   * first.
   */
  check: (key: string) => Caller | undefined | FindCaller;
  /** Counts a request with a registered key. Counts are written in batches. */
  count: (caller: Caller) => void;
  stop: () => Promise<void>;
};

/** How long a revoked key may still be accepted. */
const REVOCATION_MS = 2000;
/** How long an unknown key is remembered as such. It may be registered meanwhile. */
const UNKNOWN_MS = 2000;
/** How long the primary has to tell whether a key is valid, until the replica is asked. */
const PRIMARY_WITHIN_MS = 1500;
/** After a longer gap than `listRevokedLately` covers, everything remembered is forgotten. */
const MAX_GAP_MS = 50_000;
const USE_WRITE_MS = 5000;
const MAX_REMEMBERED = 100_000;
/** A longer header is none of our keys, and isn't hashed. */
const MAX_KEY_LENGTH = 200;

/** Creates the check. `apiKeys` are accepted beside the registered keys. `read` may be of a replica. */
export function createKeyCheck({
  sql,
  read,
  apiKeys,
  log,
}: {
  sql: Sql;
  read: Sql;
  apiKeys: string[];
  log: Log;
}): KeyCheck {
  const configured = new Map(apiKeys.map((key) => [hashKey(key), { keyHash: hashKey(key), isRegistered: false }]));
  const known = new Map<string, Caller>();
  const unknown = new Map<string, number>();
  const uses = new Map<string, number>();
  let watchedAt = Date.now();
  let isStopped = false;

  async function find(keyHash: string): Promise<Caller | undefined> {
    const caller = { keyHash, isRegistered: true };
    try {
      if (await within(PRIMARY_WITHIN_MS, isKeyValid(sql, { keyHash }))) {
        remember(known, keyHash, caller);
        return caller;
      }
      remember(unknown, keyHash, Date.now() + UNKNOWN_MS);
      return undefined;
    } catch (error) {
      // A replica may lack the last ones.
      if (!(await isKeyValid(read, { keyHash }).catch(() => false))) throw error;
      remember(known, keyHash, caller);
      // And it may not know yet that this one was revoked, however long ago.
      setTimeout(() => known.delete(keyHash), REVOCATION_MS).unref();
      return caller;
    }
  }

  async function forgetRevoked(): Promise<void> {
    if (known.size > 0) {
      for (const keyHash of await listRevokedLately(sql)) known.delete(keyHash);
      if (Date.now() - watchedAt > MAX_GAP_MS) known.clear();
    }
    watchedAt = Date.now();
  }

  async function writeUses(): Promise<void> {
    if (uses.size === 0) return;
    const counts = new Map(uses);
    uses.clear();
    await addKeyUse(sql, { counts }).catch((error: unknown) => {
      for (const [keyHash, count] of counts) uses.set(keyHash, (uses.get(keyHash) ?? 0) + count);
      throw error;
    });
  }

  const every = (ms: number, task: () => Promise<void>) => {
    let timer: NodeJS.Timeout;
    const next = () => {
      timer = setTimeout(() => {
        void task()
          .catch((error: unknown) => log("debug", "key upkeep failed", describeError(error)))
          .finally(() => {
            if (!isStopped) next();
          });
      }, ms);
      timer.unref();
    };
    next();
    return () => clearTimeout(timer);
  };
  const timers = [every(REVOCATION_MS, forgetRevoked), every(USE_WRITE_MS, writeUses)];

  return {
    check: (key) => {
      if (key === "" || key.length > MAX_KEY_LENGTH) return undefined;
      const keyHash = hashKey(key);
      const caller = configured.get(keyHash) ?? known.get(keyHash);
      if (caller) return caller;
      return (unknown.get(keyHash) ?? 0) > Date.now() ? undefined : () => find(keyHash);
    },
    count: ({ keyHash, isRegistered }) => {
      if (isRegistered) uses.set(keyHash, (uses.get(keyHash) ?? 0) + 1);
    },
    stop: async () => {
      isStopped = true;
      for (const stop of timers) stop();
      await writeUses().catch((error: unknown) => log("warn", "key counters lost", describeError(error)));
    },
  };
}

/** Remembers a value, and forgets the oldest one if there are too many. */
function remember<V>(map: Map<string, V>, key: string, value: V): void {
  if (map.size >= MAX_REMEMBERED) map.delete(map.keys().next().value as string);
  map.set(key, value);
}
