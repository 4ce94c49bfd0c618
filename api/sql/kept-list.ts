/**
 * Caches of lists that many requests use. Short lists are always current: a request shares one only with others that came
 * before it was begun. A long list is used for a time that grows with how long it took to make, so that making it takes at
 * most a twentieth of the work.
 */

/** Lists up to this size aren't cached. */
export const SHORT_LIST = 1000;
/** A long list is used for so many times as long as it took to make. */
const USES = 20;
/** The most entries that are cached in all lists together: some 100 MB. */
const MAX_ENTRIES = 2_000_000;
/** A list counts as so many entries at least: what is kept of an account that holds nothing any more takes 0.5 kB. */
const MIN_WEIGHT = 20;

type Kept<T> = { value: T; madeAt: number; lifetime: number; size: number };

/** The list for a key: a cached one, or what `load` returns. */
type KeptLists<T> = (key: string, load: () => Promise<T>) => Promise<T>;

/**
 * Creates a cache. `sizeOf`: how many entries were gone through to make a list; `weightOf`: how many it holds in
 * memory, each of 50 bytes.
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
  /** The entries of all lists in `kept`. */
  let entries = 0;

  async function make(key: string, load: () => Promise<T>): Promise<T> {
    const startedAt = performance.now();
    const value = await load();
    const madeAt = performance.now();
    drop(key);
    if (sizeOf(value) > SHORT_LIST) {
      const size = Math.max(MIN_WEIGHT, weightOf(value));
      kept.set(key, { value, madeAt, lifetime: USES * (madeAt - startedAt), size });
      entries += size;
      dropOldest();
    }
    return value;
  }

  function dropOldest(): void {
    for (const key of kept.keys()) {
      if (entries <= MAX_ENTRIES || kept.size === 1) return;
      drop(key);
    }
  }

  function drop(key: string): void {
    entries -= kept.get(key)?.size ?? 0;
    kept.delete(key);
  }

  return async (key, load) => {
    const known = kept.get(key);
    const age = known ? performance.now() - known.madeAt : Infinity;
    if (known && age < known.lifetime) return known.value;
    if (!known && loading.has(key)) {
      // It was begun before this request came. Unless it turns out to be long, it isn't current enough for it.
      await loading.get(key);
      const made = kept.get(key);
      if (made) return made.value;
    }
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
