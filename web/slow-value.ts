/** A page waits so long for a value that is slow to find, in milliseconds. */
const PATIENCE_MS = 15;
/**
 * What was found, or that nothing was, holds for so many times of what it took to find, so that finding is never more
 * than a twentieth of the work.
 */
const USES = 20;
/** As many are looked for at once: whoever opens many pages doesn't keep the database busy with counting. */
const MAX_AT_ONCE = 2;
const MAX_KEPT = 2000;

/**
 * Values by key that take long to find: what was found in time, or what was known before. Undefined where the first
 * search goes on, null where it failed.
 */
export type SlowValues<T> = (key: string, find: () => Promise<T>) => Promise<T | null | undefined>;

export function createSlowValues<T>(): SlowValues<T> {
  const kept = new Map<string, { value: T | null; usableUntil: number }>();
  const finding = new Map<string, Promise<void>>();

  function start(key: string, find: () => Promise<T>): Promise<void> | undefined {
    const known = finding.get(key);
    if (known || finding.size >= MAX_AT_ONCE) return known;
    const startedAt = performance.now();
    const found = find()
      // What can't be counted in the time that a statement has is as it was known before.
      .catch(() => kept.get(key)?.value ?? null)
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
