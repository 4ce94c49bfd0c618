import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Budget, createRateLimit, type RateLimit } from "./rate-limit.ts";
import { createRedisStore } from "./rate-store.ts";

/** As much of Redis as the library asks for: its script counts up a key that expires. */
async function startRedis() {
  const counters = new Map<string, { points: number; endsAt: number }>();
  const sockets = new Set<Socket>();
  const count = (key: string, points: number, seconds: number) => {
    const now = Date.now();
    const known = counters.get(key);
    const counter = known && known.endsAt > now ? known : { points: 0, endsAt: now + seconds * 1000 };
    counter.points += points;
    counters.set(key, counter);
    return `*2\r\n:${counter.points}\r\n:${counter.endsAt - now}\r\n`;
  };
  const answer = ([name = "", ...args]: string[]) => {
    if (/^eval(sha)?$/i.test(name)) return count(args[2] ?? "", Number(args[3]), Number(args[4]));
    return /^info$/i.test(name) ? "$9\r\nloading:0\r\n" : "+OK\r\n";
  };
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("data", (data) => {
      // Each command is an array of texts; they come whole on the loopback device.
      for (const command of data.toString().split(/(?=\*\d+\r\n)/)) {
        const words = command.split("\r\n").filter((_, place) => place > 0 && place % 2 === 0);
        socket.write(answer(words));
      }
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  return {
    url: `redis://127.0.0.1:${port}`,
    keys: () => [...counters.keys()],
    stop: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

let redis: Awaited<ReturnType<typeof startRedis>>;
const limits: RateLimit[] = [];
const closes: (() => void)[] = [];

beforeAll(async () => {
  redis = await startRedis();
  for (let n = 0; n < 2; n += 1) {
    const { store, close } = await createRedisStore(redis.url, { onError: () => {} });
    limits.push(createRateLimit({ limit: 20, burst: 40, store, isStoreUp: () => true }));
    closes.push(close);
  }
  await new Promise((resolve) => setTimeout(resolve, 300));
});
afterAll(() => {
  for (const limit of limits) limit.stop();
  for (const close of closes) close();
  redis.stop();
});

const flood = async (id: string, requests: number) => {
  const budgets: Budget[] = await Promise.all(
    Array.from({ length: requests }, async (_, n) => (limits[n % 2] as RateLimit).take(id)),
  );
  return budgets.filter(({ isAllowed }) => isAllowed).length;
};

test("Redis shares a budget between processes", async () => {
  const allowed = await flood("a", 160);
  expect(allowed).toBeGreaterThanOrEqual(36);
  expect(allowed).toBeLessThanOrEqual(44);
  expect(redis.keys()).toEqual(expect.arrayContaining(["rate:a", "burst:a"]));
});

test("without Redis each process counts for itself", async () => {
  redis.stop();
  await new Promise((resolve) => setTimeout(resolve, 100));
  const allowed = await flood("b", 160);
  expect(allowed).toBeGreaterThanOrEqual(72);
  expect(allowed).toBeLessThanOrEqual(84);
});
