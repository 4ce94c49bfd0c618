import { setTimeout as sleep } from "node:timers/promises";
import { ItemType, OrderType } from "@opensea/seaport-js/lib/constants.js";
import type { OrderWithCounter } from "@opensea/seaport-js/lib/types.js";
import { zeroAddress, zeroHash } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Listener, listen } from "../api/listen.ts";
import { readConfig } from "../config.ts";
import { createTestApi, TEST_KEY, type TestApi } from "../test/api.ts";
import { serveOrigin } from "../test/origin.ts";
import { ALICE, APES, MAX_ID, seed } from "../test/seed.ts";
import { createClient } from "./client.ts";

let api: TestApi;
const listeners: Listener[] = [];

beforeAll(async () => {
  api = await createTestApi();
  await seed(api.sql);
});
afterAll(async () => {
  for (const listener of listeners) await listener.close();
  await api?.stop();
});

async function serve(config: Parameters<TestApi["another"]>[0] = {}): Promise<string> {
  const listener = await listen(await api.another(config), { host: "127.0.0.1", port: 0 });
  listeners.push(listener);
  return listener.url;
}

test("iterates over a list page by page, each item once", async () => {
  const client = createClient({ url: await serve(), key: TEST_KEY });
  const path = { contract_address: APES };
  const ids: string[] = [];
  for await (const { token_id } of client.iterate("/v1/tokens/{contract_address}", {
    params: { path, query: { limit: 1 } },
  }))
    ids.push(token_id);
  expect(ids).toEqual(["1", "2", "10", String(MAX_ID)]);

  const asked = { path, query: { limit: 1, tokens_ids: ["10", "0x1"] } };
  const some = await Array.fromAsync(client.iterate("/v1/tokens/{contract_address}", { params: asked }));
  expect(some.map(({ token_id }) => token_id)).toEqual(["1", "10"]);
});

test("reads single objects of both networks, and posts", async () => {
  const url = await serve();
  const client = createClient({ url, key: TEST_KEY });
  const token = { contract_address: APES, token_id: "1" };
  const { data } = await client.get("/v1/tokens/{contract_address}/{token_id}", { params: { path: token } });
  expect(data?.result.owner).toBe(ALICE);
  const batch = await client.post("/v1/tokens/batch", { body: { tokens: [token] } });
  expect(batch.data?.result[0]?.contract_name).toBe("Apes");
  const testnet = createClient({ url: `${url}/testnet/`, key: TEST_KEY });
  expect(await Array.fromAsync(testnet.iterate("/v1/contracts", {}))).toHaveLength(1);
});

test("posts an order as Seaport's own client makes it, whose numbers may be of any size and kind", async () => {
  // It isn't asked: the token is looked up first.
  const { networks } = readConfig({ MAINNET_RPC_URL: "http://127.0.0.1:1" });
  const client = createClient({ url: await serve({ networks }) });
  const one = { token: APES, startAmount: "1", endAmount: "1" };
  const order: OrderWithCounter = {
    parameters: {
      offerer: ALICE,
      zone: zeroAddress,
      zoneHash: zeroHash,
      startTime: 1n,
      endTime: 2n ** 255n,
      orderType: OrderType.FULL_OPEN,
      offer: [{ ...one, itemType: ItemType.ERC721, identifierOrCriteria: "7" }],
      consideration: [
        { ...one, itemType: ItemType.NATIVE, token: zeroAddress, identifierOrCriteria: "0", recipient: ALICE },
      ],
      totalOriginalConsiderationItems: 1,
      salt: "0x2a",
      conduitKey: zeroHash,
      counter: 0n,
    },
    signature: "0x",
  };
  const { error } = await client.post("/orderbook/orders", { body: order });
  expect(error?.message).toBe(`Token 7 of contract ${APES} is unknown.`);
});

test("an error of the API is a value for a request, and thrown by an iteration", async () => {
  const client = createClient({ url: await serve() });
  const { error, response } = await client.get("/v1/contracts", {});
  expect([response.status, error?.type]).toEqual([401, "invalid_request"]);
  await expect(Array.fromAsync(client.iterate("/v1/contracts", {}))).rejects.toMatchObject({
    status: 401,
    message: "The API key is missing. Expected one in the header x-api-key.",
  });
});

test.each([
  [502, "<html><h1>502 Bad Gateway</h1></html>", "api_error", "The answer is 502 Bad Gateway, and not of the API."],
  [504, "", "api_error", "The answer is 504 Gateway Timeout, and not of the API."],
  [403, '{"message":"Forbidden"}', "invalid_request", "Forbidden"],
])("an iteration tells what a proxy answers: %i %s", async (status, body, type, message) => {
  const proxy = await serveOrigin((_, response) => response.writeHead(status).end(body));
  const client = createClient({ url: `${proxy.url}/nfts/` });
  const asked = Array.fromAsync(client.iterate("/v1/contracts", {}));
  await expect(asked).rejects.toMatchObject({ status, type, message });
  expect(proxy.requests).toEqual(["/nfts/v1/contracts"]);
  await proxy.close();
});

test("a limit that is met is waited for", async () => {
  const client = createClient({ url: await serve({ rateLimit: 1, rateBurst: 1 }), key: TEST_KEY });
  const statuses = [];
  for (let n = 0; n < 3; n += 1) statuses.push((await client.get("/v1/contracts", {})).response.status);
  expect(statuses).toEqual([200, 200, 200]);
});

test("whoever waits for a limit may give up", async () => {
  const client = createClient({ url: await serve({ rateLimit: 0.05, rateBurst: 1 }), key: TEST_KEY });
  await client.get("/v1/contracts", {});
  const giving = new AbortController();
  const asked = client.get("/v1/contracts", { signal: giving.signal });
  // By then it has met the limit, which it would wait 20 s for.
  setTimeout(() => giving.abort(new Error("Enough.")), 500);
  const outcome = asked.then(({ response }) => response.status, String);
  expect(await Promise.race([outcome, sleep(10_000, "It still waits.")])).toBe("Error: Enough.");
});
