/**
 * Lists that are made at once for many requests. A short one is made anew for each, so that it is always right; a long
 * one is used again for a time that grows with what it took, so that making it is never more than a twentieth of the
 * work.
 */

/** Lists up to this size are made anew. */
export const SHORT_LIST = 1000;
/** A long list is used for so many times of what it took to make. */
const USES = 20;
/** Entries of all lists that are kept: some 100 MB. */
const MAX_ENTRIES = 2_000_000;

type Kept<T> = { value: T; madeAt: number; lifetime: number; size: number };

/** Answers `load` for a key, or what it said a moment ago. */
type KeptLists<T> = (key: string, load: () => Promise<T>) => Promise<T>;

/** `sizeOf`: entries that a list takes to make; `weightOf`: entries that it holds in memory. */
export function createKeptLists<T>({
  sizeOf,
  weightOf,
}: {
  sizeOf: (list: T) => number;
  weightOf: (list: T) => number;
}): KeptLists<T> {
  const kept = new Map<string, Kept<T>>();
  const loading = new Map<string, Promise<T>>();

  async function make(key: string, load: () => Promise<T>): Promise<T> {
    const startedAt = performance.now();
    const value = await load();
    const madeAt = performance.now();
    kept.delete(key);
    if (sizeOf(value) > SHORT_LIST) {
      kept.set(key, { value, madeAt, lifetime: USES * (madeAt - startedAt), size: weightOf(value) });
      dropOldest();
    }
    return value;
  }

  function dropOldest(): void {
    let entries = 0;
    for (const { size } of kept.values()) entries += size;
    for (const [key, { size }] of kept) {
      if (entries <= MAX_ENTRIES || kept.size === 1) return;
      kept.delete(key);
      entries -= size;
    }
  }

  return async (key, load) => {
    const known = kept.get(key);
    const age = known ? performance.now() - known.madeAt : Infinity;
    if (known && age < known.lifetime) return known.value;
    let made = loading.get(key);
    if (!made) {
      made = make(key, load).finally(() => loading.delete(key));
      loading.set(key, made);
    }
    // Nobody waits for a long list that was right a moment ago; a failure is said to whoever waits.
    if (!known || age > 2 * known.lifetime) return made;
    made.catch(() => {});
    return known.value;
  };
}
