/** Numbers that look random and are the same for the same seed, so that every start tells the same history. */
export type Random = {
  /** A whole number from 0, below `limit`. */
  below: (limit: number) => number;
  pick: <T>(items: readonly T[]) => T;
  /** True in `percent` of 100 cases. */
  chance: (percent: number) => boolean;
};

/** Source: the mulberry32 generator, which is in the public domain. 32 bits of state are plenty for a demo. */
export function createRandom(seed: number): Random {
  // Spread out first, or neighbouring seeds would begin alike.
  let state = Math.imul((seed + 1) ^ 0x9e3779b9, 0x85ebca6b) >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  const below = (limit: number) => Math.floor((next() / 2 ** 32) * limit);
  return {
    below,
    pick: (items) => {
      const item = items[below(items.length)];
      if (item === undefined) throw new Error("Nothing to pick from. Expected at least one item.");
      return item;
    },
    chance: (percent) => below(100) < percent,
  };
}
