import type { OrderWithCounter } from "@opensea/seaport-js/lib/types.js";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Api } from "../api/server.ts";
import { SEAPORT_ADDRESS } from "../demo/exchange.ts";
import { fillOrder, toTransaction } from "../demo/market.ts";
import { openApi } from "./api.ts";
import { createTestDatabase, type TestDatabase } from "./database.ts";
import { startIndexer } from "./indexer.ts";
import { type OrderbookWorld, startOrderbookWorld } from "./orderbook-world.ts";

/*
 * An index that begins after a maker has raised their counter, cancelled and sold: what came of their orders before its
 * first block stands in no log of it.
 */

const OUTDATED = 880_001n;
const CANCELLED = 880_002n;
const FILLED = 880_003n;
const OPEN = 880_004n;
/** Four units for sale, of which one was sold. */
const UNITS = 880_005n;
const TOKENS = [OUTDATED, CANCELLED, FILLED, OPEN];

let w: OrderbookWorld;
let database: TestDatabase;
let api: Api;
const signed = new Map<bigint, OrderWithCounter>();
const stack = new AsyncDisposableStack();

beforeAll(async () => {
  w = await startOrderbookWorld();
  stack.defer(w.stop);
  const { seller, single, units } = w;
  const sign = async (id: bigint) => signed.set(id, await w.sign(w.inputOf(seller, w.single721(id)), seller));
  await w.mine([
    ...TOKENS.map((id) => w.call(seller, single, "mint", [seller, id])),
    w.call(seller, single, "setApprovalForAll", [SEAPORT_ADDRESS, true]),
    w.call(seller, units, "mint", [seller, UNITS, 10n]),
    w.call(seller, units, "setApprovalForAll", [SEAPORT_ADDRESS, true]),
  ]);
  await sign(OUTDATED);
  await w.mine([await toTransaction(seller, w.market.seaport.bulkCancelOrders(seller))]);
  for (const id of [CANCELLED, FILLED, OPEN]) await sign(id);
  const input = w.inputOf(seller, w.units1155(UNITS, 4n), { allowPartialFills: true });
  signed.set(UNITS, await w.sign(input, seller));
  await w.mine([
    await toTransaction(seller, w.market.seaport.cancelOrders([signed.get(CANCELLED)!.parameters], seller)),
    ...(await fillOrder(w.market, { order: signed.get(FILLED)!, taker: w.buyer })),
    ...(await fillOrder(w.market, { order: signed.get(UNITS)!, taker: w.buyer, units: 1n })),
  ]);

  database = await createTestDatabase();
  stack.defer(database.drop);
  const env = { MAINNET_START_BLOCK: String((await w.head()) + 1) };
  // What it is to know of the tokens: that they went to somebody and came back.
  await w.mine([
    w.call(w.buyer, single, "transferFrom", [w.buyer, seller, FILLED]),
    ...TOKENS.map((id) => w.call(seller, single, "transferFrom", [seller, w.other, id])),
  ]);
  await w.mine([
    ...TOKENS.map((id) => w.call(w.other, single, "transferFrom", [w.other, seller, id])),
    w.call(seller, units, "mint", [seller, UNITS, 10n]),
  ]);
  const indexer = startIndexer({ databaseUrl: database.url, rpcUrl: w.chain.rpcUrl, env });
  stack.defer(indexer.stop);
  await indexer.waitUntilLive(await w.head());
  api = await openApi(database.url, { env: { MAINNET_RPC_URL: w.chain.rpcUrl } });
  stack.defer(api.stop);
});
afterAll(() => stack.disposeAsync());

/** What `POST /orders` says, and then the token. */
async function post(id: bigint, { hasCounter = true } = {}): Promise<string> {
  const { parameters, signature } = signed.get(id)!;
  const response = await api.app.request("/orderbook/orders", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      parameters: { ...parameters, counter: hasCounter ? parameters.counter : undefined },
      signature,
    }),
  });
  const { message = "" } = (await response.json()) as { message?: string };
  return `${response.status} ${message}`;
}
const isListed = async (id: bigint) => {
  const response = await api.app.request(`/orderbook/token/${w.single}/${id}`);
  return ((await response.json()) as { result: { is_listed: string } }).result.is_listed;
};

test("an order under a counter that was raised before is refused", async () => {
  expect(await post(OUTDATED)).toMatch(/^400 The order is cancelled: its counter is 0\. Expected \d{2,}/);
});

test("one that was cancelled or filled before is refused", async () => {
  expect(await post(CANCELLED)).toBe("400 The order is cancelled.");
  expect(await post(FILLED)).toBe("400 The order is filled.");
});

test("one of which a part was sold before is refused: nobody would know later what is left", async () => {
  expect(await post(UNITS)).toMatch(/^400 1 of the order's units were filled in blocks that are not indexed\./);
});

test("one under the counter that was raised before is taken, named or not, until the next raise", async () => {
  expect(await isListed(OPEN)).toBe("false");
  expect(await post(OPEN, { hasCounter: false })).toBe("200 ");
  expect(await post(OPEN)).toBe("200 ");
  expect(await isListed(OPEN)).toBe("true");
  await w.mine([await toTransaction(w.seller, w.market.seaport.bulkCancelOrders(w.seller))]);
  await expect.poll(() => isListed(OPEN)).toBe("false");
});
