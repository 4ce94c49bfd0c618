import type { Sql } from "postgres";
import { countTokens } from "./collection.ts";

/**
 * How long counts of all collections are used again, in milliseconds. They decide the order of lists and nothing else:
 * every count that is shown is counted for the answer.
 */
const MAX_AGE_MS = 5_000;

/** Puts collections in order: most tokens first, then by address. */
export type CollectionRank = (addresses: readonly string[]) => Promise<string[]>;

/** A rank over all collections of a network, counted at most once in a few seconds whoever asks. */
export function createCollectionRank(sql: Sql): CollectionRank {
  let counts: Promise<Map<string, number>> | undefined;
  let countedAt = 0;
  return async (addresses) => {
    if (!counts || Date.now() - countedAt > MAX_AGE_MS) {
      countedAt = Date.now();
      counts = countTokens(sql);
      counts.catch(() => (counts = undefined));
    }
    const known = await counts;
    const countOf = (address: string) => known.get(address) ?? 0;
    return addresses.toSorted((a, b) => countOf(b) - countOf(a) || (a < b ? -1 : a > b ? 1 : 0));
  };
}
