import { RateLimiterMemory } from "rate-limiter-flexible";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createRateLimit, type RateLimit } from "./rate-limit.ts";
import type { RateStore } from "./rate-store.ts";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

/** A store that several processes share. */
function createMemoryStore(): RateStore {
  const windows = new Map<string, RateLimiterMemory>();
  return (window) => {
    const { keyPrefix } = window;
    const limiter = windows.get(keyPrefix) ?? new RateLimiterMemory(window);
    windows.set(keyPrefix, limiter);
    return limiter;
  };
}

const create = ({ store, burst = 20 }: { store: RateStore; burst?: number }) =>
  createRateLimit({ limit: 20, burst, store, isStoreUp: () => true });

async function flood(limit: RateLimit, requests: number): Promise<number> {
  let allowed = 0;
  for (let n = 0; n < requests; n++) if ((await limit.take("a")).isAllowed) allowed++;
  return allowed;
}

test("what a process takes in advance lapses with its window", async () => {
  const limit = create({ store: createMemoryStore() });
  for (let second = 0; second < 10; second++) {
    expect(await flood(limit, 1)).toBe(1);
    await vi.advanceTimersByTimeAsync(1001);
  }
  expect(await flood(limit, 100)).toBe(20);
  limit.stop();
});

test("a client that keeps to its rate is never refused, however many processes it asks", async () => {
  const store = createMemoryStore();
  const limits = Array.from({ length: 8 }, () => create({ store }));
  let refused = 0;
  for (let n = 0; n < 160; n++) {
    if (!(await limits[n % 8]!.take("a")).isAllowed) refused++;
    await vi.advanceTimersByTimeAsync(1000 / 16);
  }
  expect(refused).toBe(0);
  for (const limit of limits) limit.stop();
});

test("requests that come together are admitted, however late a process notices what it took for them", async () => {
  const limit = create({ store: createMemoryStore() });
  let now = performance.now();
  const clock = vi.spyOn(performance, "now").mockImplementation(() => (now += 1001));
  const budgets = await Promise.all([limit.take("a"), limit.take("a"), limit.take("a")]);
  expect(budgets.map(({ isAllowed }) => isAllowed)).toEqual([true, true, true]);
  clock.mockRestore();
  limit.stop();
});

test("a client has its rate each second, and once in ten seconds the burst", async () => {
  const limit = create({ store: createMemoryStore(), burst: 50 });
  const allowed: number[] = [];
  for (let second = 0; second < 12; second++) {
    allowed.push(await flood(limit, 100));
    expect(limit.peek("a").remaining).toBeLessThanOrEqual(50);
    await vi.advanceTimersByTimeAsync(1001);
  }
  expect(allowed).toEqual([50, ...Array<number>(9).fill(20), 50, 20]);
  limit.stop();
});

test("what is taken of the burst in advance is there for ten seconds", async () => {
  const limit = create({ store: createMemoryStore(), burst: 50 });
  for (let second = 0; second < 10; second++) {
    expect(await flood(limit, 23)).toBe(23);
    await vi.advanceTimersByTimeAsync(1001);
  }
  limit.stop();
});

test("who is refused is refused until the window ends, though what is over is forgotten meanwhile", async () => {
  const limit = create({ store: createMemoryStore() });
  await vi.advanceTimersByTimeAsync(9600);
  expect(await flood(limit, 100)).toBe(20);
  await vi.advanceTimersByTimeAsync(900);
  expect(await flood(limit, 1)).toBe(0);
  await vi.advanceTimersByTimeAsync(101);
  expect(await flood(limit, 1)).toBe(1);
  limit.stop();
});

test("a window that a process began whose clock is ahead ends in time for the others", async () => {
  const store = createMemoryStore();
  const [ahead, behind] = [create({ store }), create({ store })];
  const now = Date.now();
  vi.setSystemTime(now + 3_600_000);
  expect(await flood(ahead, 100)).toBe(20);
  vi.setSystemTime(now);
  await flood(behind, 2);
  expect(await behind.take("a")).toEqual({ isAllowed: false, remaining: 0, resetSeconds: 1 });
  for (const limit of [ahead, behind]) limit.stop();
});

test("a store that hangs costs one wait, not one for each request", async () => {
  let asked = 0;
  class Hanging extends RateLimiterMemory {
    override consume(): Promise<never> {
      asked++;
      return new Promise(() => {});
    }
  }
  const limit = create({ store: (window) => new Hanging(window) });
  const first = flood(limit, 2);
  await vi.advanceTimersByTimeAsync(1500);
  expect([await first, asked]).toEqual([2, 1]);
  expect([await flood(limit, 100), asked]).toEqual([18, 1]);
  // After this time the store is asked again, and nobody waits for it.
  await vi.advanceTimersByTimeAsync(2001);
  let allowed = 0;
  void flood(limit, 100).then((count) => (allowed = count));
  await vi.advanceTimersByTimeAsync(100);
  expect([allowed, asked]).toEqual([20, 2]);
  limit.stop();
});

describe("with a store that is slow to answer", () => {
  /** Requests of one client to two processes for 15 s: how many were refused, and how long one waited at most. */
  async function ask({ requestsPerSecond, answerMs }: { requestsPerSecond: number; answerMs: number }) {
    const shared = createMemoryStore();
    const store: RateStore = (window) => {
      const limiter = shared(window);
      const answerLate = async <T>(answer: () => Promise<T>) => {
        await new Promise((resolve) => void setTimeout(resolve, answerMs));
        return answer();
      };
      return {
        ...window,
        consume: (id: string, points: number) => answerLate(() => limiter.consume(id, points)),
        reward: (id: string, points: number) => answerLate(() => limiter.reward(id, points)),
      } as unknown as ReturnType<RateStore>;
    };
    const limits = [1, 2].map(() => create({ store, burst: 40 }));
    const [waits, refused]: [number[], number[]] = [[], []];
    for (let n = 0; n < requestsPerSecond * 15; n++) {
      const askedAt = performance.now();
      void Promise.resolve(limits[n % 2]!.take("a")).then(({ isAllowed }) => {
        waits.push(performance.now() - askedAt);
        if (!isAllowed) refused.push(n);
      });
      await vi.advanceTimersByTimeAsync(1000 / requestsPerSecond);
    }
    await vi.advanceTimersByTimeAsync(3000);
    for (const limit of limits) limit.stop();
    expect(waits).toHaveLength(requestsPerSecond * 15);
    return { refused: refused.length, longestMs: Math.max(...waits) };
  }

  test("a client that keeps to its rate waits for one answer or two, and isn't refused", async () => {
    const { refused, longestMs } = await ask({ requestsPerSecond: 18, answerMs: 200 });
    expect(refused).toBe(0);
    expect(longestMs).toBeLessThanOrEqual(500);
  });

  test("nobody waits longer for many answers than for one that doesn't come", async () => {
    const answerMs = 600;
    const { longestMs } = await ask({ requestsPerSecond: 18, answerMs });
    expect(longestMs).toBeLessThanOrEqual(1500 + 2 * answerMs);
  });

  test("who asks for more is refused, and waits no longer and longer", async () => {
    const { refused, longestMs } = await ask({ requestsPerSecond: 200, answerMs: 50 });
    // Of 3000 there are 20 each second, and the burst twice.
    expect(refused).toBeGreaterThan(2600);
    expect(longestMs).toBeLessThanOrEqual(800);
  });
});

test("a store that hung is shared again once it answers", async () => {
  let isHanging = true;
  const shared = createMemoryStore();
  const store: RateStore = (window) => {
    const limiter = shared(window);
    const consume = limiter.consume.bind(limiter);
    return Object.assign(limiter, {
      consume: (...points: Parameters<typeof consume>) => (isHanging ? new Promise(() => {}) : consume(...points)),
    });
  };
  const limit = create({ store });
  const first = flood(limit, 2);
  await vi.advanceTimersByTimeAsync(1500);
  expect(await first).toBe(2);
  isHanging = false;
  await vi.advanceTimersByTimeAsync(2001);
  await limit.take("a");
  await vi.advanceTimersByTimeAsync(1001);
  const other = create({ store });
  expect((await flood(limit, 30)) + (await flood(other, 30))).toBeLessThanOrEqual(21);
  for (const one of [limit, other]) one.stop();
});

test("a store that is known to be down isn't asked", async () => {
  const store = createMemoryStore();
  const limits = [1, 2].map(() => createRateLimit({ limit: 20, burst: 20, store, isStoreUp: () => false }));
  for (const limit of limits) expect(await flood(limit, 100)).toBe(20);
  for (const limit of limits) limit.stop();
});
