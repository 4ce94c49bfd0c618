import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { createTestApi, type TestApi } from "../../test/api.ts";
import { stopClock } from "../../test/clock.ts";
import type { Api } from "../server.ts";
import { createKey } from "./key.ts";
import { createPostgresStore } from "./rate-store.ts";

const RATE = 20;
const BURST = 40;
const KEYS = ["key-aaaaaaaa", "key-bbbbbbbb", "key-cccccccc", "key-dddddddd"];

let t: TestApi;
let other: Api;

beforeAll(async () => {
  t = await createTestApi({
    config: { apiKeys: KEYS, rateLimit: RATE, rateBurst: BURST, trustedProxies: ["10.0.0.0/8"] },
  });
  other = await t.another();
});
afterAll(() => t.stop());

const ask = async (
  api: Api,
  headers: Record<string, string>,
  path = "/v1/contracts",
  address = "192.0.2.1",
  method = "GET",
) => api.app.request(path, { headers, method }, { incoming: { socket: { remoteAddress: address } } });

const allowed = async (responses: Promise<Response>[]) =>
  (await Promise.all(responses)).filter(({ status }) => status !== 429).length;

test("a key has its burst, then its rate, over all processes", async () => {
  const flood = async () => {
    const startedAt = performance.now();
    const requests = Array.from({ length: 4 * BURST }, (_, n) =>
      ask(n % 2 ? t.api : other, { "x-api-key": KEYS[0] ?? "" }),
    );
    const count = await allowed(requests);
    // A slow machine may take more than a second, in which the rate allows so many more.
    return { count, more: RATE * Math.floor((performance.now() - startedAt) / 1000) };
  };
  const first = await flood();
  expect(first.count).toBeGreaterThanOrEqual(BURST - 4);
  expect(first.count).toBeLessThanOrEqual(BURST + 4 + first.more);
  await sleep(1100);
  const second = await flood();
  expect(second.count).toBeGreaterThanOrEqual(RATE - 4);
  expect(second.count).toBeLessThanOrEqual(RATE + 4 + second.more);
});

test("another key has a budget of its own", async () => {
  expect(await allowed([ask(t.api, { "x-api-key": KEYS[1] ?? "" })])).toBe(1);
});

test("every answer tells the budget, a refusal when to come again", async () => {
  stopClock();
  const read = async (response: Promise<Response>) => {
    const { headers, status } = await response;
    return { status, left: Number(headers.get("ratelimit-remaining")), headers };
  };
  const key = { "x-api-key": KEYS[2] ?? "" };
  const first = await read(ask(t.api, key));
  const second = await read(ask(t.api, key));
  expect(first.headers.get("ratelimit-policy")).toBe(`"default";q=${RATE};w=1;burst=${BURST}`);
  expect(first.headers.get("ratelimit")).toMatch(/^"default";r=\d+;t=\d+$/);
  expect(first.headers.get("ratelimit-limit")).toBe(String(BURST));
  expect([first.left, second.left]).toEqual([BURST - 1, BURST - 2]);
  for (const path of ["/health", "/nope", "/v1/contracts?limit=0", "/status"])
    expect((await read(ask(t.api, key, path))).headers.get("ratelimit-limit")).toBe(String(BURST));

  for (;;) {
    const answer = await ask(t.api, key);
    if (answer.status !== 429) continue;
    expect(answer.headers.get("retry-after")).toBe("1");
    expect(answer.headers.get("ratelimit-remaining")).toBe("0");
    expect(await answer.json()).toMatchObject({ type: "invalid_request" });
    break;
  }
});

test("without a key the client's address counts, behind a trusted proxy the one that it forwards", async () => {
  stopClock();
  const flood = (headers: Record<string, string>, address: string) =>
    allowed(Array.from({ length: 3 * BURST }, () => ask(t.api, headers, "/nope", address)));
  // Anyone can send the header, so it counts only from a trusted proxy.
  const stranger = await flood({ "x-forwarded-for": "198.51.100.1" }, "203.0.113.9");
  expect(stranger).toBeLessThanOrEqual(BURST + 2);
  expect(await allowed([ask(t.api, {}, "/nope", "203.0.113.9")])).toBe(0);
  expect(await allowed([ask(t.api, { "x-forwarded-for": "198.51.100.1" }, "/nope", "10.0.0.1")])).toBe(1);
  await flood({ "x-forwarded-for": "203.0.113.77, 198.51.100.2, 10.1.1.1" }, "10.0.0.1");
  expect(await allowed([ask(t.api, { "x-forwarded-for": "198.51.100.2" }, "/nope", "10.0.0.1")])).toBe(0);
  expect(await allowed([ask(t.api, { "x-forwarded-for": "203.0.113.77" }, "/nope", "10.0.0.1")])).toBe(1);
  // An IPv6 customer has a whole network of addresses.
  await flood({}, "2001:db8:1:2::1");
  expect(await allowed([ask(t.api, {}, "/nope", "2001:db8:1:2:ffff::9")])).toBe(0);
  expect(await allowed([ask(t.api, {}, "/nope", "2001:db8:1:3::1")])).toBe(1);
});

test("guessing keys is limited by address, before they are looked up, and watching is not", async () => {
  stopClock();
  await t.sql.unsafe(`
    alter table api_key rename to kept_key;
    create sequence look_up;
    create function look_up() returns setof kept_key language plpgsql as $$
    begin
      perform nextval('offchain.look_up');
      return query select * from offchain.kept_key;
    end $$;
    create view api_key as select * from look_up();
  `);
  const guesses = Array.from({ length: 3 * BURST }, (_, n) =>
    ask(t.api, { "x-api-key": `guess-${n}` }, "/v1/contracts", "203.0.113.5"),
  );
  expect(await allowed(guesses)).toBeLessThanOrEqual(BURST + 2);
  const [asked] = await t.sql<{ count: number }[]>`select last_value::int as count from look_up`;
  expect(asked!.count).toBeLessThanOrEqual(BURST + 2);
  await t.sql.unsafe("drop view api_key; alter table kept_key rename to api_key");
  for (const path of ["/health", "/ready", "/status", "/metrics"])
    expect((await ask(t.api, {}, path, "203.0.113.5")).status).toBe(200);
  const [pulse, preflight] = await Promise.all([
    ask(t.api, {}, "/explorer/pulse", "203.0.113.5"),
    ask(t.api, {}, "/v1/contracts", "203.0.113.5", "OPTIONS"),
  ]);
  for (const { status, headers } of [pulse, preflight]) {
    expect(status).not.toBe(429);
    // The burst is used up for ten seconds. These paths don't take from the budget, but tell what is left of it.
    expect(Number(headers.get("ratelimit-remaining"))).toBeLessThan(BURST);
  }
  // A new client must not be told of a window that is over.
  expect((await ask(t.api, {}, "/health", "203.0.113.6")).headers.get("ratelimit-reset")).toBe("1");
});

test("a request with a key that nobody has counts once", async () => {
  stopClock();
  const askWith = (key: string) => ask(t.api, { "x-api-key": key }, "/v1/contracts", "203.0.113.7");
  const first = await askWith("mistyped");
  expect([first.status, first.headers.get("ratelimit-remaining")]).toEqual([401, String(BURST - 1)]);
  expect(await allowed(Array.from({ length: BURST - 4 }, (_, n) => askWith(`mistyped-${n}`)))).toBe(BURST - 4);
});

test("a key is taken that no process has seen, also where its address has no requests without one left", async () => {
  stopClock();
  const { key } = await createKey(t.sql, { name: "new" });
  await Promise.all(Array.from({ length: 3 * BURST }, () => ask(t.api, {}, "/nope", "203.0.113.8")));
  expect((await ask(t.api, {}, "/nope", "203.0.113.8")).status).toBe(429);
  const { status, headers } = await ask(t.api, { "x-api-key": key }, "/v1/contracts", "203.0.113.8");
  expect([status, headers.get("ratelimit-remaining")]).toEqual([200, String(BURST - 1)]);
});

test("keys of one address that a process sees first in many requests at once have their bursts", async () => {
  stopClock();
  const keys = await Promise.all(["one", "two", "three"].map((name) => createKey(t.sql, { name })));
  const counts = await Promise.all(
    keys.map(({ key }) =>
      allowed(Array.from({ length: BURST }, () => ask(t.api, { "x-api-key": key }, "/v1/contracts", "203.0.113.10"))),
    ),
  );
  expect(counts).toEqual([BURST, BURST, BURST]);
});

test("a client that keeps to its rate is never refused", async () => {
  let refused = 0;
  const pace = 1000 / RATE;
  for (let n = 0; n < 2 * RATE; n += 1) {
    const started = Date.now();
    if ((await ask(n % 2 ? t.api : other, { "x-api-key": KEYS[3] ?? "" })).status === 429) refused += 1;
    await sleep(Math.max(0, pace - (Date.now() - started)));
  }
  expect(refused).toBe(0);
});

const isOpen = async (api: Api, address: string) =>
  (await allowed(Array.from({ length: RATE / 2 }, () => ask(api, {}, "/nope", address)))) === RATE / 2;

test("a window that a process began whose clock is an hour ahead is over in time for the others", async () => {
  vi.setSystemTime(Date.now() + 3_600_000);
  try {
    expect(await isOpen(other, "203.0.113.8")).toBe(true);
    await allowed(Array.from({ length: 3 * BURST }, () => ask(other, {}, "/nope", "203.0.113.8")));
  } finally {
    vi.useRealTimers();
  }
  await expect.poll(() => isOpen(t.api, "203.0.113.8"), { interval: 1100 }).toBe(true);
});

test("windows of before the database's clock was set back are over", async () => {
  await allowed(Array.from({ length: 3 * BURST }, () => ask(t.api, {}, "/nope", "203.0.113.10")));
  await t.sql`update rate_limit set expire = expire + 3600000`;
  await expect.poll(() => isOpen(t.api, "203.0.113.10"), { interval: 1100 }).toBe(true);
});

test("windows that are over are deleted, however many", async () => {
  await t.sql`
    insert into rate_limit (key, points, expire)
    select 'rate:' || n, 1, extract(epoch from now()) * 1000 + case when n <= 25000 then -2000 else 3600000 end
    from generate_series(1, 25001) as n
  `;
  createPostgresStore(t.sql, { cleaningMs: 200 });
  const left = async () => (await t.sql`select from rate_limit where key ~ '^rate:[0-9]+$'`).length;
  await expect.poll(left).toBe(1);
});
