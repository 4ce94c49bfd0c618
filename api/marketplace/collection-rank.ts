import type { Sql } from "postgres";
import { REORG_BLOCKS } from "../../offchain/network.ts";
import {
  countAllTokens,
  countTokens,
  findLastEventBlock,
  hasMoreEvents,
  listChangedContracts,
} from "./collection-count.ts";

/**
 * How long counts are used again, in milliseconds. They decide the order of collections, and are shown for collections
 * with so many tokens that counting them for each request would be slow.
 */
const MAX_AGE_MS = 5_000;
/**
 * Counts are used for at least so many times as long as counting took. So counting is at most a twentieth of the work.
 */
const USES = 20;
/** After this time all collections are counted again, because a rebuild may have changed counts in old blocks. */
const RECOUNT_MS = 3_600_000;

/**
 * With more events than these since the last count, and more than one for so many tokens, all collections are counted
 * again. That takes up to 3 µs a token, and looking at an event takes 30: once a history of some millions had been
 * loaded, each try took longer than a statement may.
 */
const FEW_EVENTS = 1000;
const TOKENS_OF_EVENT = 20;

/** Collections of a network by the number of their tokens. */
export type CollectionRank = {
  /** Sorts addresses without 0x: most tokens first, then by address. The same array is sorted once after each count. */
  inOrder: (addresses: readonly string[]) => Promise<readonly string[]>;
  /** How many tokens a collection had when they were last counted. */
  countOf: (address: string) => number;
};

/**
 * Counts all collections once, and then only those whose tokens may have changed since. `sql`: connections for
 * `runLong`.
 */
export function createCollectionRank(sql: Sql): CollectionRank {
  let counts = new Map<string, number>();
  let sorted = new WeakMap<readonly string[], string[]>();
  /**
   * Collections changed in recent blocks, with the head when the change was last seen. They are counted each time,
   * because a reorg may still undo the change.
   */
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
    const newHead = await findLastEventBlock(sql);
    // All are counted at first, after a reorg and after much else; the hourly recount takes place when no request waits.
    const isAnew =
      newHead < head ||
      countedAt === -Infinity ||
      (isRecountDue() && !isAwaited) ||
      (await hasMoreEvents(sql, { fromBlock: head - REORG_BLOCKS, most: mostEvents() }));
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

  /** After more events than these all collections are counted. */
  function mostEvents(): number {
    let tokens = 0;
    for (const count of counts.values()) tokens += count;
    return Math.max(FEW_EVENTS, Math.floor(tokens / TOKENS_OF_EVENT));
  }

  const isRecountDue = () => performance.now() - countedAt > RECOUNT_MS;

  async function countOnce(): Promise<void> {
    await count().finally(() => (counting = undefined));
    if (!isAwaited || !isRecountDue()) return;
    // If a request waited for each count, the due recount is started here, after its answer.
    isAwaited = false;
    counting = countOnce();
    counting.catch(() => {});
  }

  async function refresh(): Promise<void> {
    const now = performance.now();
    if (now < freshUntil) return;
    if (!counting) {
      // The very first request waits, and the first one after a quiet time. Others get the last counts meanwhile.
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
