import type { Sql } from "postgres";
import { REORG_BLOCKS } from "../../offchain/network.ts";
import { countAllTokens, countTokens, findHeadBlock, listChangedContracts } from "./collection-count.ts";

/**
 * How long counts are used again, in milliseconds. They decide the order of collections, and are shown of those with so
 * many tokens that counting them anew would be slow.
 */
const MAX_AGE_MS = 5_000;
/** Longer where counting takes long: it is never more than a twentieth of the work. */
const USES = 20;
/** All are counted anew after so long: a rebuild may have come to other counts in old blocks. */
const RECOUNT_MS = 3_600_000;

/** Collections of a network by the number of their tokens. */
export type CollectionRank = {
  /** Addresses without 0x in order: most tokens first, then by address. The same list is sorted once for each count. */
  inOrder: (addresses: readonly string[]) => Promise<readonly string[]>;
  /** Tokens of a collection as counted a moment ago. */
  countOf: (address: string) => number;
};

/**
 * Counts all collections once, and then those in which tokens came or went since. `sql`: connections of
 * `runLong`.
 */
export function createCollectionRank(sql: Sql): CollectionRank {
  let counts = new Map<string, number>();
  let sorted = new WeakMap<readonly string[], string[]>();
  /** Those collections, with the head when they were last seen to be: a reorg may have taken all that came. */
  const unsettled = new Map<string, number>();
  let head = -1;
  let countedAt = -Infinity;
  let freshUntil = -Infinity;
  let staleFrom = -Infinity;
  let counting: Promise<void> | undefined;
  /** Whether requests wait for what is being counted. */
  let isAwaited = false;

  async function count(): Promise<void> {
    const startedAt = performance.now();
    const newHead = await findHeadBlock(sql);
    // All are counted while nobody waits, but for the first time.
    const isAnew = newHead < head || countedAt === -Infinity || (isRecountDue() && !isAwaited);
    const fromBlock = (isAnew ? newHead : head) - REORG_BLOCKS;
    for (const address of await listChangedContracts(sql, { fromBlock })) unsettled.set(address, newHead);
    if (isAnew) {
      counts = await countAllTokens(sql);
      countedAt = startedAt;
    } else {
      const addresses = [...unsettled.keys()];
      for (const [address, tokens] of await countTokens(sql, { addresses })) counts.set(address, tokens);
    }
    for (const [address, seen] of unsettled) if (seen < newHead - REORG_BLOCKS) unsettled.delete(address);
    head = newHead;
    sorted = new WeakMap();
    const endedAt = performance.now();
    const lifetime = Math.max(MAX_AGE_MS, USES * (endedAt - startedAt));
    freshUntil = endedAt + lifetime;
    staleFrom = endedAt + 2 * lifetime;
  }

  const isRecountDue = () => performance.now() - countedAt > RECOUNT_MS;

  async function countOnce(): Promise<void> {
    await count().finally(() => (counting = undefined));
    if (!isAwaited || !isRecountDue()) return;
    // Where each request is the first after a while, all are counted behind one of them.
    isAwaited = false;
    counting = countOnce();
    counting.catch(() => {});
  }

  async function refresh(): Promise<void> {
    const now = performance.now();
    if (now < freshUntil) return;
    if (!counting) {
      // Who asks first waits, or first after a quiet while; else the counts of a moment ago do.
      isAwaited = now > staleFrom;
      counting = countOnce();
    }
    if (isAwaited) return counting;
    counting.catch(() => {});
  }

  const countOf = (address: string) => counts.get(address) ?? 0;
  return {
    countOf,
    inOrder: async (addresses) => {
      await refresh();
      const known = sorted.get(addresses);
      if (known) return known;
      const ordered = addresses.toSorted((a, b) => countOf(b) - countOf(a) || (a < b ? -1 : a > b ? 1 : 0));
      sorted.set(addresses, ordered);
      return ordered;
    },
  };
}
