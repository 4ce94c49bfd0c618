/** How many of something each one has, such as a client its connections. */
type Tally = { of: (name: string) => number; change: (name: string, change: 1 | -1) => void };

/** An empty tally. Who has none is forgotten. */
export function createTally(): Tally {
  const counts = new Map<string, number>();
  const of = (name: string) => counts.get(name) ?? 0;
  return {
    of,
    change(name, change) {
      const count = of(name) + change;
      if (count === 0) counts.delete(name);
      else counts.set(name, count);
    },
  };
}
