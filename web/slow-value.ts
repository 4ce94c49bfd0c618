/** A page waits so long for a value that is slow to find, in milliseconds. */
const PATIENCE_MS = 15;
/** A value is used for so long, and found anew behind the scenes after. */
const MAX_AGE_MS = 10_000;
/** As many are looked for at once: whoever opens many pages doesn't keep the database busy with counting. */
const MAX_AT_ONCE = 2;
const MAX_KEPT = 2000;

/** Values by key that take long to find: what is known now, or undefined where nothing was found in time. */
export type SlowValues<T> = (key: string, find: () => Promise<T>) => Promise<T | undefined>;

export function createSlowValues<T>(): SlowValues<T> {
  const kept = new Map<string, { value: T; foundAt: number }>();
  const finding = new Map<string, Promise<void>>();

  function start(key: string, find: () => Promise<T>): Promise<void> | undefined {
    const known = finding.get(key);
    if (known || finding.size >= MAX_AT_ONCE) return known;
    const found = find()
      .then((value) => {
        kept.delete(key);
        kept.set(key, { value, foundAt: Date.now() });
        if (kept.size > MAX_KEPT) kept.delete(kept.keys().next().value as string);
      })
      // What can't be counted in the time that a statement has stays unknown.
      .catch(() => {})
      .finally(() => finding.delete(key));
    finding.set(key, found);
    return found;
  }

  return async (key, find) => {
    const isOld = Date.now() - (kept.get(key)?.foundAt ?? 0) > MAX_AGE_MS;
    const found = isOld ? start(key, find) : undefined;
    if (found && !kept.has(key)) await Promise.race([found, pause(PATIENCE_MS)]);
    return kept.get(key)?.value;
  };
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
