/**
 * Caches of lists that many requests use. Short lists are made anew for each request, so they are always current. A
 * long list is used for a time that grows with how long it took to make, so that making it takes at most a twentieth of
 * the work.
 */

/** Lists up to this size aren't cached. */
export const SHORT_LIST = 1000;
/** A long list is used for so many times as long as it took to make. */
const USES = 20;
/** The most entries that are cached in all lists together: some 100 MB. */
const MAX_ENTRIES = 2_000_000;

type Kept<T> = { value: T; madeAt: number; lifetime: number; size: number };

/** The list for a key: a cached one, or what `load` returns. */
type KeptLists<T> = (key: string, load: () => Promise<T>) => Promise<T>;

/**
 * Creates a cache. `sizeOf`: how many entries were gone through to make a list; `weightOf`: how many it holds in
 * memory.
 */
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
    // Nobody waits for a list that was current a moment ago. A failure is returned only to those who do wait.
    if (!known || age > 2 * known.lifetime) return made;
    made.catch(() => {});
    return known.value;
  };
}
