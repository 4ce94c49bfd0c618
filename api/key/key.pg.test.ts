import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { FROM_BUNDLE } from "../../indexer/child-process.ts";
import { createTestApi, type TestApi, TEST_KEY } from "../../test/api.ts";
import { startRedisStandIn } from "../../test/redis.ts";
import type { Api } from "../server.ts";

let t: TestApi;
let other: Api;

beforeAll(async () => {
  t = await createTestApi();
  other = await t.another();
});
afterAll(() => t.stop());

const register = async (api: Api, body: unknown, address = "192.0.2.1") =>
  api.app.request(
    "/keys",
    { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) },
    { incoming: { socket: { remoteAddress: address } } },
  );
const newKey = async (name: string) => {
  const response = await register(t.api, { name });
  const { result } = (await response.json()) as { result: { key: string; prefix: string; name: string } };
  return { ...result, status: response.status, headers: response.headers };
};
const use = async (api: Api, key: string) =>
  (await api.app.request("/v1/contracts", { headers: { "x-api-key": key } })).status;

test("a key is registered by a name, shown once and stored as a hash", async () => {
  const { status, key, prefix, name, headers } = await newKey("  my app ");
  expect(status).toBe(201);
  expect(name).toBe("my app");
  expect(key).toMatch(/^nft_[0-9a-f]{40}$/);
  expect(key.startsWith(prefix)).toBe(true);
  expect(headers.get("cache-control")).toBe("no-store");
  expect(headers.get("access-control-allow-origin")).toBeNull();
  const rows = await t.sql`select api_key::text as row from offchain.api_key`;
  expect(JSON.stringify(rows)).not.toContain(key.slice(prefix.length));
  expect([await use(t.api, key), await use(other, key)]).toEqual([200, 200]);
});

test("a key that was seen costs no round trip", async () => {
  const { key } = await newKey("seen");
  await use(t.api, key);
  await t.sql`alter table offchain.api_key rename to api_key_hidden`;
  expect([await use(t.api, key), await use(t.api, TEST_KEY)]).toEqual([200, 200]);
  await t.sql`alter table offchain.api_key_hidden rename to api_key`;
});

test("an unknown key is looked up once in two seconds, and what can't be a key never", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  const key = "nft_later";
  expect(await use(t.api, key)).toBe(401);
  await t.sql`alter table offchain.api_key rename to api_key_hidden`;
  expect(await Promise.all(["", "x".repeat(201), key].map((each) => use(t.api, each)))).toEqual([401, 401, 401]);
  await t.sql`alter table offchain.api_key_hidden rename to api_key`;
  await t.sql`
    insert into offchain.api_key (key_hash, prefix, name)
    values (sha256(${key}::text::bytea), ${key}, 'later')
  `;
  expect(await use(t.api, key)).toBe(401);
  vi.setSystemTime(Date.now() + 2001);
  expect(await use(t.api, key)).toBe(200);
  vi.useRealTimers();
});

test("a revoked key is refused within 5 seconds on every process", async () => {
  const { key, prefix } = await newKey("gone");
  expect([await use(t.api, key), await use(other, key)]).toEqual([200, 200]);
  await t.sql`update offchain.api_key set revoked_at = now() where prefix = ${prefix}`;
  const useBoth = () => Promise.all([use(t.api, key), use(other, key)]);
  await expect.poll(useBoth, { timeout: 5000, interval: 100 }).toEqual([401, 401]);
});

test("uses are counted in batches", async () => {
  const { key, prefix } = await newKey("counted");
  for (let n = 0; n < 7; n += 1) await use(t.api, key);
  await use(other, key);
  const readUses = () => t.sql`
    select request_count::int as request_count, last_used_at > now() - interval '10 seconds' as is_recent
    from offchain.api_key where prefix = ${prefix}
  `;
  await expect.poll(readUses).toEqual([{ request_count: 8, is_recent: true }]);
});

test.each([
  {},
  { name: "" },
  { name: "   " },
  { name: 5 },
  { name: "x".repeat(101) },
  { name: "a\u0000b" },
  { name: "a\u0085b" },
  { name: "a\nb" },
  [],
  null,
])("body %j registers nothing", async (body) => {
  const response = await register(t.api, body, "192.0.2.77");
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ type: "invalid_request" });
});

test("an address gets so many keys, and no more", async () => {
  const statuses: number[] = [];
  for (let n = 0; n < 22; n += 1)
    statuses.push((await register(n % 2 ? t.api : other, { name: "many" }, "192.0.2.9")).status);
  expect(statuses.filter((status) => status === 201)).toHaveLength(20);
  const refused = await register(t.api, { name: "many" }, "192.0.2.9");
  expect([refused.status, Number(refused.headers.get("retry-after")) > 3000]).toEqual([429, true]);
  expect((await register(t.api, { name: "another" }, "192.0.2.10")).status).toBe(201);
  // An IPv6 customer has a whole network of addresses.
  const fromIpv6: number[] = [];
  for (let n = 0; n < 21; n += 1) fromIpv6.push((await register(t.api, { name: "many" }, `2001:db8::${n}`)).status);
  expect(fromIpv6).toEqual([...Array<number>(20).fill(201), 429]);
});

test("with a Redis that hangs keys are registered all the same, as many as ever", async () => {
  const redis = await startRedisStandIn();
  const api = await t.another({ redisUrl: redis.url });
  const statuses: number[] = [];
  const keysAfterFirst = async () => {
    await register(api, { name: "first" }, "192.0.2.200");
    return redis.keys();
  };
  await expect.poll(keysAfterFirst).toContain("register:192.0.2.200");
  redis.hang();
  for (let n = 0; n < 3; n += 1) statuses.push((await register(api, { name: "hung" }, "192.0.2.201")).status);
  expect(statuses).toEqual([201, 201, 201]);
  await redis.stop();
});

test("registration can be closed", async () => {
  const closed = await t.another({ keyRegistration: "closed" });
  const response = await register(closed, { name: "x" });
  expect([response.status, ((await response.json()) as { type: string }).type]).toEqual([403, "invalid_request"]);
});

test("the command creates, lists and revokes", async () => {
  const run = async (...args: string[]) => {
    const child = promisify(execFile)(process.execPath, [...FROM_BUNDLE, "bin/keys.ts", ...args], {
      env: { ...process.env, DATABASE_URL: t.url },
      cwd: `${import.meta.dirname}/../..`,
    });
    return child.then(
      ({ stdout }) => ({ code: 0, text: stdout }),
      (error: { code: number; stderr: string }) => ({ code: error.code, text: error.stderr }),
    );
  };
  const { text } = await run("create", "from the command line");
  const key = text.trim();
  expect(await use(t.api, key)).toBe(200);
  expect((await run("list")).text).toMatch(new RegExp(`${key.slice(0, 12)}\\s+from the command line\\s.*active`));
  expect((await run("list")).text).not.toContain(key);
  expect(await run("revoke", key.slice(0, 12))).toEqual({ code: 0, text: `${key.slice(0, 12)} is revoked.\n` });
  expect((await run("list")).text).toMatch(new RegExp(`${key.slice(0, 12)}.*revoked 2`));
  expect(await run("revoke", key.slice(0, 12))).toMatchObject({ code: 1 });
  // Who finds a key somewhere has all of it.
  const found = (await run("create", "found somewhere")).text.trim();
  expect(await run("revoke", found)).toEqual({ code: 0, text: `${found.slice(0, 12)} is revoked.\n` });
  expect((await run("list")).text).toMatch(/found somewhere.*revoked 2/);
  expect(await run("create")).toMatchObject({
    code: 1,
    text: expect.stringContaining("Expected: npm run keys") as string,
  });
});
