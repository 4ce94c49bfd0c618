import { afterAll, beforeAll, expect, test } from "vitest";
import { addressOf, type Body, createTestApi, openApi, type TestApi, TEST_KEY } from "../test/api.ts";
import { APES, seed } from "../test/seed.ts";
import type { Api } from "./server.ts";

const SECRET_KEYS = [TEST_KEY, "nft_unknown_0123456789abcdef", "a key with spaces"];

let t: TestApi;
/** Another API with the usual limits, whose log the test keeps. */
let logged: Api;
const lines: unknown[][] = [];

beforeAll(async () => {
  t = await createTestApi({ networks: ["mainnet"] });
  await seed(t.sql);
  logged = await openApi(t.url, {
    env: { RATE_LIMIT: "20", RATE_BURST: "5", API_KEYS: TEST_KEY },
    log: (...line) => lines.push(line),
  });
});
afterAll(async () => {
  await logged.stop();
  await t.stop();
});

const long = `/testnet/v1/tokens/nothing?tokens_ids=${"9".repeat(33_000)}`;
const bad = { method: "POST", body: "{", headers: { "x-api-key": "none", "content-type": "text/plain" } };
const json = { "content-type": "application/json" };

/** Faults that a request may have, in the order in which they are reported. */
const wrongs: [status: number, path: string, init: RequestInit][] = [
  [414, long, { headers: { "x-api-key": "none" } }],
  [404, "/testnet/v1/tokens/nothing?limit=0", { headers: { "x-api-key": "none" } }],
  [404, "/v1/nothing", { headers: { "x-api-key": "none" } }],
  [405, "/v1/tokens/batch", { headers: { "x-api-key": "none" } }],
  [405, `/v1/contracts/${APES}`, { method: "DELETE", headers: { "x-api-key": "none" } }],
  [401, "/v1/tokens/nothing?limit=0&cursor=", { headers: { "x-api-key": "none" } }],
  [401, "/v1/tokens/batch", bad],
  [400, "/v1/tokens/nothing/1/metadata/refresh", { ...bad, headers: { "content-type": "text/plain" } }],
  [415, "/v1/tokens/batch", { ...bad, headers: { "content-type": "text/plain" } }],
  [413, "/v1/tokens/batch", { method: "POST", headers: json, body: " ".repeat(1_048_577) }],
  [400, "/v1/tokens/batch", { method: "POST", headers: json, body: "{" }],
  [400, `/v1/tokens/${addressOf(404)}?cursor=none`, {}],
  [404, `/v1/tokens/${addressOf(404)}`, {}],
];

test.each(wrongs)("%i is told first of what is wrong with %.60s", async (status, path, init) => {
  const response = await t.request(path, init);
  expect(response.status).toBe(status);
  expect(await response.json()).toEqual({ type: "invalid_request", message: expect.any(String) as string });
});

test.each(["?cursor=", "?limit=", "?tokens_ids=", "?limit=1&limit=2", "?limit=%2B1", "?limit=1e2"])(
  "%s is malformed, not absent",
  async (query) => expect((await t.get(`/v1/tokens/${APES}${query}`)).status).toBe(400),
);

test.each(["identity", "Identity"])("a body that says %s as its encoding is read", async (encoding) => {
  const body = JSON.stringify({ tokens: [{ contract_address: APES, token_id: "1" }] });
  const headers = { ...json, "content-encoding": encoding };
  expect((await t.request("/v1/tokens/batch", { method: "POST", headers, body })).status).toBe(200);
});

test("a cursor holds on every process", async () => {
  const { body } = await t.get(`/v1/tokens/${APES}?limit=1`);
  const { app } = await t.another();
  const next = await app.request(`/v1/tokens/${APES}?limit=1&cursor=${body.cursor}`, {
    headers: { "x-api-key": TEST_KEY },
  });
  expect(((await next.json()) as Body).result[0]?.token_id).toBe("2");
});

/** Asks from a client address of its own, so that requests to the other API do not use its budget. */
const askLogged = async (path: string, init: RequestInit = {}) =>
  logged.app.request(path, init, { incoming: { socket: { remoteAddress: "192.0.2.77" } } });

test("a burst below the rate counts as the rate", async () => {
  const response = await askLogged("/health");
  expect(response.headers.get("ratelimit-policy")).toBe('"default";q=20;w=1');
});

test("a fault of ours is 500 without internals, found in the log by the id that the answer carries", async () => {
  await t.sql`alter table offchain.contract_metadata rename column symbol to away`;
  const response = await askLogged(`/v1/contracts/${APES}`, { headers: { "x-api-key": TEST_KEY } });
  await t.sql`alter table offchain.contract_metadata rename column away to symbol`;
  const text = await response.text();
  expect([response.status, response.headers.get("cache-control")]).toEqual([500, "no-store"]);
  expect(JSON.parse(text)).toMatchObject({ type: "api_error" });
  expect(text).not.toMatch(/symbol|column|42703|select/i);
  const id = response.headers.get("x-request-id");
  const line = lines.find(([level, , fields]) => level === "error" && JSON.stringify(fields).includes(`${id}`));
  expect(JSON.stringify(line)).toContain("42703");
});

test("the log has every request and no key", async () => {
  lines.length = 0;
  for (const key of SECRET_KEYS) {
    await askLogged(`/v1/contracts?x-api-key=${encodeURIComponent(key)}`, { headers: { "x-api-key": key } });
    await askLogged("/keys", { method: "POST", headers: { ...json, "x-api-key": key }, body: "{}" });
  }
  const made = await askLogged("/keys", { method: "POST", headers: json, body: '{"name":"x"}' });
  const body = (await made.json()) as { result: { key: string } };
  expect(body).toMatchObject({ result: { key: expect.stringMatching(/^nft_/) as string } });
  const requests = lines.filter(([, message]) => message === "request");
  expect(requests).toHaveLength(2 * SECRET_KEYS.length + 1);
  const text = JSON.stringify(lines);
  for (const key of [...SECRET_KEYS, body.result.key]) {
    expect(text).not.toContain(key);
    expect(text).not.toContain(encodeURIComponent(key));
  }
});
