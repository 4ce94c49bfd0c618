import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { WAIT_TIMEOUT_MS } from "../../test/indexer.ts";
import { hasRedis, startRedis, startRedisStandIn, type TestRedis } from "../../test/redis.ts";
import { type Budget, createRateLimit, type RateLimit } from "./rate-limit.ts";
import type { Log } from "../log.ts";
import { createRedisStore } from "./rate-store.ts";

const servers = [
  { name: "what stands in for Redis", start: startRedisStandIn },
  ...(hasRedis ? [{ name: "a real Redis", start: startRedis }] : []),
];

const skipped = hasRedis ? "" : " (SKIPPED: a real Redis, redis-server is not on the path)";

describe.each(servers)(`with $name${skipped}`, ({ start }) => {
  let redis: TestRedis;
  const limits: RateLimit[] = [];
  const closes: (() => void)[] = [];
  /** The processes for which Redis is silent, and how often that has changed. */
  const silent = new Set<number>();
  let changes = 0;
  const logOf =
    (n: number): Log =>
    (_, message) => {
      changes += 1;
      if (message === "Redis answers") silent.delete(n);
      else silent.add(n);
    };

  beforeAll(async () => {
    redis = await start();
    for (let n = 0; n < 2; n += 1) {
      const { store, close } = await createRedisStore(redis.url, { log: logOf(n) });
      limits.push(createRateLimit({ limit: 20, burst: 40, store, isStoreUp: () => true }));
      closes.push(close);
    }
    // Before a process is connected it counts for itself.
    await Promise.all(
      limits.map(async (limit, n) => {
        let tries = 0;
        const isShared = async () => {
          const id = `ready-${n}-${tries++}`;
          await Promise.all(Array.from({ length: 3 }, async () => limit.take(id)));
          return (await redis.keys()).includes(`rate:${id}`);
        };
        await vi.waitUntil(isShared, { timeout: WAIT_TIMEOUT_MS });
      }),
    );
  });
  afterAll(async () => {
    for (const limit of limits) limit.stop();
    for (const close of closes) close();
    await redis.stop();
  });

  const flood = async (id: string, requests: number) => {
    const budgets: Budget[] = await Promise.all(
      Array.from({ length: requests }, async (_, n) => (limits[n % 2] as RateLimit).take(id)),
    );
    return budgets.filter(({ isAllowed }) => isAllowed).length;
  };

  test("processes share a budget", async () => {
    let [id, allowed, before] = ["", 0, 0];
    // On a busy machine Redis may be silent for too long: then each counts for itself.
    do {
      before = changes;
      id = `a-${before}`;
      allowed = await flood(id, 160);
    } while (changes !== before || silent.size > 0);
    expect(allowed).toBeGreaterThanOrEqual(36);
    expect(allowed).toBeLessThanOrEqual(44);
    expect(await redis.keys()).toEqual(expect.arrayContaining([`rate:${id}`, `burst:${id}`]));
  });

  test("once it is gone each process counts for itself", async () => {
    await redis.stop();
    const allowed = await flood("b", 160);
    expect(allowed).toBeGreaterThanOrEqual(72);
    expect(allowed).toBeLessThanOrEqual(84);
  });
});

test("that Redis is gone, refuses the password or is back is said once each", async () => {
  const redis = await startRedisStandIn({ password: "right" });
  const lines: string[] = [];
  const log: Log = (level, message, fields) => lines.push([level, message, fields?.error].join(" ").trim());
  const wrong = await createRedisStore(redis.url.replace("//", "//:wrong@"), { log });
  await expect.poll(redis.refusals).toBeGreaterThan(2);
  wrong.close();
  expect(lines).toEqual([expect.stringMatching(/^warn Redis does not answer; .+WRONGPASS/)]);

  lines.length = 0;
  const right = await createRedisStore(redis.url.replace("//", "//:right@"), { log });
  await redis.stop();
  await expect.poll(() => lines).toHaveLength(1);
  await redis.comeBack();
  await expect.poll(() => lines).toHaveLength(2);
  right.close();
  await redis.stop();
  expect(lines).toEqual([expect.stringMatching(/^warn Redis does not answer; /), "info Redis answers"]);
});

/** A limit of this process in a Redis, and what it logs. */
async function limitIn(redis: TestRedis) {
  const lines: string[] = [];
  const { store, close } = await createRedisStore(redis.url, {
    log: (level, message, fields) => lines.push([level, message, fields?.error].join(" ").trim()),
  });
  const limit = createRateLimit({ limit: 20, burst: 20, store, isStoreUp: () => true });
  let clients = 0;
  /** Takes from the budget of a new client, the second time after the store was asked. */
  const take = async () => {
    const id = `client-${clients++}`;
    await limit.take(id);
    await limit.take(id);
    return id;
  };
  const isShared = async () => {
    const id = await take();
    return (await redis.keys()).includes(`rate:${id}`);
  };
  await vi.waitUntil(isShared, { timeout: WAIT_TIMEOUT_MS });
  const stop = async () => {
    limit.stop();
    close();
    await redis.stop();
  };
  return { take, lines, stop };
}

test("a Redis that hangs is said, and then nobody waits for it", async () => {
  const redis = await startRedisStandIn();
  const { take, lines, stop } = await limitIn(redis);
  redis.hang();
  await take();
  expect(lines).toEqual([expect.stringMatching(/^warn Redis does not answer; /)]);
  const asked = Array.from({ length: 20 }, async () => {
    const startedAt = performance.now();
    await take();
    return performance.now() - startedAt;
  });
  expect(Math.max(...(await Promise.all(asked)))).toBeLessThan(500);
  await stop();
});

test("that Redis counts nothing is said once, and after a failover another one is looked for under its name", async () => {
  const redis = await startRedisStandIn();
  const { take, lines, stop } = await limitIn(redis);
  const connections = redis.connections();
  redis.refuse("OOM command not allowed when used memory > 'maxmemory'.");
  for (let n = 0; n < 3; n += 1) await take();
  expect(lines).toEqual([expect.stringMatching(/^warn Redis counts no requests; .+OOM/)]);
  redis.refuse(undefined);
  await take();
  expect(lines).toEqual([expect.any(String), "info Redis counts requests again"]);
  expect(redis.connections()).toBe(connections);

  redis.refuse("READONLY You can't write against a read only replica.");
  await take();
  await expect.poll(redis.connections).toBe(connections + 1);
  await stop();
});
