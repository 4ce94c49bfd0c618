import { describeError, type Log } from "../api/log.ts";

/** How long a page waits for a slow value, in milliseconds. */
const PATIENCE_MS = 15;
/**
 * A result, or a failure, is used again for so many times as long as finding it took. So finding is at most a twentieth
 * of the work.
 */
const USES = 20;
/** Most values that are found at the same time, so that many open pages don't keep the database busy with counting. */
const MAX_AT_ONCE = 2;
const MAX_KEPT = 2000;

/** What Postgres says of a statement that took too long. */
const QUERY_CANCELED = "57014";

/**
 * Gives slow values by key: the new value if it is found in time, else the last one. Undefined while the first search
 * goes on, null if it failed.
 */
export type SlowValues<T> = (key: string, find: () => Promise<T>) => Promise<T | null | undefined>;

/** Creates slow values of one kind, none of which is known yet. `log` gets failures. */
export function createSlowValues<T>({ log }: { log: Log }): SlowValues<T> {
  const kept = new Map<string, { value: T | null; usableUntil: number }>();
  const finding = new Map<string, Promise<void>>();

  function start(key: string, find: () => Promise<T>): Promise<void> | undefined {
    const known = finding.get(key);
    if (known || finding.size >= MAX_AT_ONCE) return known;
    const startedAt = performance.now();
    const found = find()
      // If the statement takes too long, the last known value stays.
      .catch((error: unknown) => {
        if ((error as { code?: string }).code !== QUERY_CANCELED)
          log("error", "slow value failed", describeError(error));
        return kept.get(key)?.value ?? null;
      })
      .then((value) => {
        const foundAt = performance.now();
        kept.delete(key);
        kept.set(key, { value, usableUntil: foundAt + USES * (foundAt - startedAt) });
        if (kept.size > MAX_KEPT) kept.delete(kept.keys().next().value as string);
      })
      .finally(() => finding.delete(key));
    finding.set(key, found);
    return found;
  }

  return async (key, find) => {
    const isOld = performance.now() > (kept.get(key)?.usableUntil ?? 0);
    const found = isOld ? start(key, find) : undefined;
    if (found) await Promise.race([found, pause(PATIENCE_MS)]);
    return kept.get(key)?.value;
  };
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
