import { expect, test } from "vitest";
import { createProgressWatch } from "./progress-watch.ts";

/** Looks at one deployment so many seconds later, of which all is as it was but for the changes. */
function watch({ startBlock = 0, endBlock }: { startBlock?: number; endBlock?: number } = {}) {
  const look = createProgressWatch({ startBlock, endBlock, fingerprint: "abc" });
  const head = {
    isKnown: true,
    block: 100,
    timestamp: 0,
    reorgs: 0,
    answeredAt: 0,
    error: undefined as string | undefined,
  };
  let now = 0;
  let seen = {
    schemaName: "first",
    isPublished: false,
    block: 50,
    finalizedBlock: 0,
    isReady: true,
    isRunning: true,
    failure: undefined as string | undefined,
    problem: undefined as string | undefined,
  };
  return (seconds: number, changes: Partial<typeof seen> & { head?: Partial<typeof head> }) => {
    const { head: newHead, ...others } = changes;
    Object.assign(head, newHead);
    seen = { ...seen, ...others };
    now += seconds * 1000;
    if (!head.error) head.answeredAt = now;
    const { schemaName, isPublished, block, finalizedBlock, isReady, isRunning, failure, problem } = seen;
    const published_at = isPublished ? new Date(0) : null;
    const newest = {
      deployment: { schema_name: schemaName, fingerprint: "abc", history_block: -1, published_at },
      position: { indexedBlock: block, indexedTimestamp: 0, finalizedBlock, isReady },
      isRunning,
    };
    return look({ now, head, newest, visible: newest, history: undefined, failure, problem });
  };
}

test("what ended it, or what it complains of, is the reason once it has come no further for a minute", () => {
  for (const words of [{ failure: "no space left" }, { problem: "no space left" }]) {
    const see = watch();
    see(0, {});
    expect(see(1, words).reason).toBe("failure" in words ? "no space left" : undefined);
    // It runs again, and goes back to the last final block.
    expect(see(1, { failure: undefined, block: 40 }).reason).toBeUndefined();
    expect(see(58, { block: 50 }).reason).toBeUndefined();
    expect(see(1, {}).reason).toBe("no space left");
    // One block more, or tables that are built anew, are a minute more.
    expect(see(1, { block: 51 }).reason).toBeUndefined();
    expect(see(61, {}).reason).toBe("failure" in words ? undefined : "no space left");
    expect(see(1, { schemaName: "second", block: 10 }).reason).toBeUndefined();
  }
});

test("a full disk is the reason as soon as it ended something, until it comes further", () => {
  const failure = 'DelayedInsertError: could not extend file "base/5/16402": No space left on device';
  const see = watch();
  see(0, {});
  expect(see(1, { failure }).reason).toBe(failure);
  expect(see(1, { failure: undefined, block: 40 }).reason).toBe(failure);
  expect(see(1, { block: 50 }).reason).toBe(failure);
  expect(see(1, { block: 51 }).reason).toBeUndefined();
});

test("nodes that don't answer for ten seconds stall it", () => {
  const see = watch();
  see(0, {});
  expect(see(10, { head: { error: "fetch failed" } }).reason).toBeUndefined();
  expect(see(1, {}).reason).toBe("RPC doesn't answer: fetch failed");
  expect(see(1, { head: { error: undefined } }).reason).toBeUndefined();
});

test("a chain that is before the start block is the reason, whatever is complained of meanwhile", () => {
  const see = watch({ startBlock: 102 });
  see(0, { head: { isKnown: false, block: 0 }, block: 0 });
  expect(see(1, {}).reason).toBeUndefined();
  const reason = "The chain is at block 100, and its index starts at block 102";
  expect(see(1, { head: { isKnown: true, block: 100 } }).reason).toBe(reason);
  expect(see(61, { problem: "a request took too long" }).reason).toBe(reason);
  expect(see(1, { head: { block: 102 } }).reason).not.toBe(reason);
});

test("a chain that is set back below what was final stalls it after a minute, or once Ponder refuses to start", () => {
  const see = watch();
  const reason =
    "The chain is at block 4, and block 70 was final. Expected a node that catches up or, where the chain was set back " +
    "for good, npm run rebuild -- --refetch";
  see(0, { block: 100, finalizedBlock: 70, isPublished: true });
  expect(see(1, { head: { block: 4 } }).reason).toBeUndefined();
  expect(see(61, {}).reason).toBe(reason);
  expect(see(1, { head: { block: 70 } }).reason).toBeUndefined();
  expect(see(1, { head: { block: 4 }, failure: "no space left" }).reason).toBe("no space left");
  const failure = 'MigrationError: Finalized block for chain "1" cannot move backwards';
  expect(see(1, { failure }).reason).toBe(reason);
});

test("it is complete at the head of a Ponder that has run since the last look, and was published", () => {
  const see = watch();
  expect(see(1, { block: 100, isPublished: true }).isComplete).toBe(false);
  expect(see(1, {})).toMatchObject({ isComplete: true, progress: 1, etaSeconds: null });
  // The chain goes on; it is a moment behind.
  expect(see(1, { head: { block: 101 } }).isComplete).toBe(true);
  // Started again, it is behind until it says that it is ready, and is at the head.
  expect(see(1, { isRunning: false }).isComplete).toBe(false);
  expect(see(1, { isRunning: true, block: 101 }).isComplete).toBe(false);
  expect(see(1, { isReady: false }).isComplete).toBe(false);
  expect(see(1, { isReady: true, block: 100 }).isComplete).toBe(false);
  expect(see(1, { block: 101 }).isComplete).toBe(true);
});

test("what is complete stalls where the head moves on for a minute without it, but not at its last block", () => {
  for (const [endBlock, reason] of [
    [undefined, "No block indexed for 61 s"],
    [100, undefined],
  ] as const) {
    const see = watch({ endBlock });
    see(0, { block: 100, isPublished: true });
    // Complaints don't count any more, nor does a chain that stands still.
    expect(see(61, { problem: "slow" })).toMatchObject({ isComplete: true, reason: undefined });
    expect(see(60, { head: { block: 101 } }).reason).toBeUndefined();
    expect(see(1, { head: { block: 102 } }).reason).toBe(reason);
    expect(see(1, { block: endBlock ?? 102 }).reason).toBeUndefined();
  }
});

test("the time left is told by the blocks since it was started", () => {
  const see = watch();
  expect(see(0, { block: 10 })).toMatchObject({ progress: 0.1, etaSeconds: null });
  expect(see(3, { block: 40 }).etaSeconds).toBeNull();
  expect(see(1, { block: 50 }).etaSeconds).toBe(5);
  see(1, { isRunning: false });
  expect(see(1, { isRunning: true }).etaSeconds).toBeNull();
  // Of the five since it was last seen not to run.
  expect(see(4, { block: 60 }).etaSeconds).toBe(20);
});

test("what follows a head that goes on, and for five minutes neither does so nor says why, hangs", () => {
  const see = watch();
  see(0, { isPublished: true, block: 100 });
  expect(see(1, { head: { block: 101 } }).isHung).toBe(false);
  expect(see(298, {}).isHung).toBe(false);
  expect(see(2, { problem: "a node that doesn't answer" }).isHung).toBe(false);
  expect(see(0, { problem: undefined, head: { error: "fetch failed" } }).isHung).toBe(false);
  expect(see(0, { head: { error: undefined } }).isHung).toBe(true);

  // Started again, it has as long.
  see(1, { isRunning: false, block: 70 });
  expect(see(1, { isRunning: true }).isHung).toBe(false);
  expect(see(299, {}).isHung).toBe(false);
  expect(see(2, {}).isHung).toBe(true);

  // Until it follows the head it may fetch one range for minutes.
  expect(see(0, { isReady: false }).isHung).toBe(false);
  expect(see(0, { isReady: true, block: 101 }).isHung).toBe(false);
  expect(see(1000, {}).isHung).toBe(false);
});

test("what has come to the head and is a thousand blocks below it for half a minute begins anew", () => {
  const see = watch();
  see(0, { block: 100 });
  expect(see(1, { head: { block: 1_099 } }).isFarBehind).toBe(false);
  expect(see(60, {}).isFarBehind).toBe(false);
  expect(see(1, { head: { block: 2_000 } }).isFarBehind).toBe(false);
  expect(see(29, { block: 200 }).isFarBehind).toBe(false);
  expect(see(2, { block: 210, head: { error: "fetch failed" } }).isFarBehind).toBe(false);
  expect(see(0, { head: { error: undefined }, problem: "no logs of block 211" }).isFarBehind).toBe(false);
  expect(see(0, { problem: undefined }).isFarBehind).toBe(true);
  expect(see(1, {}).isFarBehind).toBe(false);

  // Then it goes by ranges, however long that takes.
  see(1, { isRunning: false, isReady: false });
  expect(see(1, { isRunning: true }).isFarBehind).toBe(false);
  expect(see(100, { block: 900 }).isFarBehind).toBe(false);
  expect(see(100, { block: 1_970, isReady: true }).isFarBehind).toBe(false);
  expect(see(100, {}).isFarBehind).toBe(false);

  // One wrong answer about the head says nothing.
  expect(see(1, { head: { block: 99_999 } }).isFarBehind).toBe(false);
  expect(see(31, { head: { block: 2_001 } }).isFarBehind).toBe(false);
});
