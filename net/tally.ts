/** How many of something each tenant has. */
export type Tally = { of: (tenant: string) => number; change: (tenant: string, change: 1 | -1) => void };

/** An empty tally. Tenants that have none are forgotten. */
export function createTally(): Tally {
  const counts = new Map<string, number>();
  const of = (tenant: string) => counts.get(tenant) ?? 0;
  return {
    of,
    change(tenant, change) {
      const count = of(tenant) + change;
      if (count === 0) counts.delete(tenant);
      else counts.set(tenant, count);
    },
  };
}
