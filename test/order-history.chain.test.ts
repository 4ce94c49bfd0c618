/** What the Orderbook's history says of orders that the exchange itself has filled. */
import { ItemType } from "@opensea/seaport-js/lib/constants.js";
import type { CreateOrderInput, OrderWithCounter } from "@opensea/seaport-js/lib/types.js";
import type { Address } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { SEAPORT_ADDRESS, WRAPPED_ETHER_ADDRESS } from "../demo/exchange.ts";
import { fillOrder, placeOrder, toTransaction } from "../demo/market.ts";
import type { DemoTransaction } from "../demo/miner.ts";
import { type OrderbookWorld, startOrderbookWorld } from "./orderbook-world.ts";

type Entry = Record<"event_type" | "order_status" | "amount" | "currency_address", string> & {
  event_timestamp: number;
  canceled_reason: string | null;
};

const ETHER = 10n ** 18n;

let w: OrderbookWorld;
let lastId = 970_000n;
/**
 * The chain's time: a second later with each block, so that entries have an order, and never behind the clock, by which
 * orders are placed.
 */
let time: number;

beforeAll(async () => {
  w = await startOrderbookWorld();
  time = w.now();
  await mine(
    w.call(w.seller, w.single, "setApprovalForAll", [SEAPORT_ADDRESS, true]),
    w.call(w.seller, w.units, "setApprovalForAll", [SEAPORT_ADDRESS, true]),
    w.wrap(w.buyer, 10n * ETHER),
  );
});
afterAll(() => w?.stop());

/** The time of the block with these. */
async function mine(...transactions: DemoTransaction[]): Promise<number> {
  time = Math.max(time + 1, w.now());
  await w.mine(transactions, { at: time });
  return time;
}

async function mintSingle(): Promise<bigint> {
  await mine(w.call(w.seller, w.single, "mint", [w.seller, ++lastId]));
  return lastId;
}

async function mintUnits(amount: bigint): Promise<bigint> {
  await mine(w.call(w.seller, w.units, "mint", [w.seller, ++lastId, amount]));
  return lastId;
}

/** Signs an order, and lists it. */
async function post(input: CreateOrderInput, maker: Address): Promise<OrderWithCounter> {
  const order = await w.sign({ startTime: w.now() - 100, endTime: w.now() + 100_000, ...input }, maker);
  expect(await w.post(order)).toMatchObject({ status: 200 });
  return order;
}

/** A bid of the buyer's in wrapped ether. */
const bid = (amount: bigint, wanted: object, more: Partial<CreateOrderInput> = {}) =>
  post(
    {
      offer: [{ token: WRAPPED_ETHER_ADDRESS, amount: amount.toString() }],
      consideration: [{ itemType: ItemType.ERC721, token: w.single, recipient: w.buyer, ...wanted } as never],
      ...more,
    },
    w.buyer,
  );

const fill = async (order: OrderWithCounter, more: { taker: Address; units?: bigint; tokenId?: bigint }) =>
  mine(...(await fillOrder(w.market, { order, ...more })));

async function historyOf(contract: Address, tokenId: bigint): Promise<Entry[]> {
  const response = await w.api.app.request(`/orderbook/token/${contract}/${tokenId}/history`);
  return ((await response.json()) as { result: { history: Entry[] } }).result.history;
}
const linesOf = async (contract: Address, tokenId: bigint) =>
  (await historyOf(contract, tokenId)).map(({ event_type, order_status, amount }) =>
    [event_type, order_status, amount].join(" "),
  );

test("a listing that is bought in parts is fulfilled each time", async () => {
  const id = await mintUnits(10n);
  const order = await post(w.inputOf(w.seller, w.units1155(id, 10n), { allowPartialFills: true, fees: [] }), w.seller);
  await fill(order, { taker: w.buyer, units: 3n });
  await fill(order, { taker: w.buyer, units: 7n });
  expect(await linesOf(w.units, id)).toEqual([
    "Listing FULFILLED 700000000000000",
    "Listing FULFILLED 300000000000000",
    "Listing PLACED 1000000000000000",
  ]);
});

test("an offer that is accepted in parts is executed each time", async () => {
  const id = await mintUnits(10n);
  const wanted = { itemType: ItemType.ERC1155, token: w.units, identifier: id.toString(), amount: "4" };
  const order = await bid(4000n, wanted, { allowPartialFills: true });
  await fill(order, { taker: w.seller, units: 1n });
  const first = ["Offer EXECUTED 1000", "Offer PLACED 4000"];
  expect(await linesOf(w.units, id)).toEqual(first);
  await fill(order, { taker: w.seller, units: 2n });
  expect(await linesOf(w.units, id)).toEqual(["Offer EXECUTED 2000", ...first]);
  const currencies = (await historyOf(w.units, id)).map(({ currency_address }) => currency_address);
  expect(new Set(currencies)).toEqual(new Set([WRAPPED_ETHER_ADDRESS]));
});

test("an offer for a collection is one for the token that it was accepted with", async () => {
  const [id, other] = [await mintSingle(), await mintSingle()];
  const order = await bid(5000n, { criteria: "0" });
  await fill(order, { taker: w.seller, tokenId: id });
  expect(await linesOf(w.single, id)).toEqual(["CollectionOffer EXECUTED 5000", "CollectionOffer PLACED 5000"]);
  expect(await linesOf(w.single, other)).toEqual(["CollectionOffer PLACED 5000"]);
});

test("an offer that nobody listed here is executed too", async () => {
  const id = await mintSingle();
  const wanted = { itemType: ItemType.ERC721 as const, token: w.single, identifier: id.toString(), recipient: w.buyer };
  const order = await w.sign(
    {
      offer: [{ token: WRAPPED_ETHER_ADDRESS, amount: "6000" }],
      consideration: [wanted],
      startTime: w.now() - 100,
      endTime: w.now() + 100_000,
    },
    w.buyer,
  );
  await fill(order, { taker: w.seller });
  expect((await linesOf(w.single, id))[0]).toBe("Offer EXECUTED 6000");
});

/** What became of an order, when, and why. */
const endOf = async (contract: Address, tokenId: bigint) =>
  (await historyOf(contract, tokenId))
    .filter(({ order_status }) => order_status !== "PLACED")
    .map(({ order_status, event_timestamp, canceled_reason }) => [order_status, event_timestamp, canceled_reason]);
const cancel = async ({ parameters }: OrderWithCounter) =>
  mine(await toTransaction(w.seller, w.market.seaport.cancelOrders([parameters], w.seller)));
const raiseCounter = async () => mine(await toTransaction(w.seller, w.market.seaport.bulkCancelOrders(w.seller)));
const listSingle = async (tokenId: bigint) => post(w.inputOf(w.seller, w.single721(tokenId)), w.seller);
/** The same, put on the chain. */
async function placeSingle(tokenId: bigint): Promise<OrderWithCounter> {
  const input = w.inputOf(w.seller, w.single721(tokenId));
  const { order, transactions } = await placeOrder(w.market, { maker: w.seller, input });
  await mine(...transactions);
  return order;
}

test.for(["listSingle", "placeSingle"] as const)("an order ends once: %s", async (how) => {
  const make = { listSingle, placeSingle }[how];
  const [sold, gone] = [await mintSingle(), await mintSingle()];
  const filled = await make(sold);
  const soldAt = await fill(filled, { taker: w.buyer });
  await cancel(filled);
  expect(await endOf(w.single, sold)).toEqual([["FULFILLED", soldAt, null]]);

  const cancelled = await make(gone);
  const cancelledAt = await cancel(cancelled);
  await cancel(cancelled);
  await raiseCounter();
  expect(await endOf(w.single, gone)).toEqual([["CANCELLED", cancelledAt, "cancelled on chain"]]);
  expect(await endOf(w.single, sold)).toEqual([["FULFILLED", soldAt, null]]);
});

test("a counter that is raised cancels what it passes, when it passes it, and a reorg takes that back", async () => {
  const [signed, placed, later] = [await mintSingle(), await mintSingle(), await mintSingle()];
  const order = await listSingle(signed);
  await placeSingle(placed);
  const snapshot = await w.client.snapshot();
  const before = time;
  const first = await raiseCounter();
  await listSingle(later);
  const second = await raiseCounter();
  await raiseCounter();
  await cancel(order);
  const reason = "counter raised on chain";
  expect(await endOf(w.single, signed)).toEqual([["CANCELLED", first, reason]]);
  expect(await endOf(w.single, placed)).toEqual([["CANCELLED", first, reason]]);
  expect(await endOf(w.single, later)).toEqual([["CANCELLED", second, reason]]);

  const lostAt = await w.head();
  await w.client.revert({ id: snapshot });
  w.startOver();
  time = before + 50;
  while ((await w.head()) <= lostAt) await mine();
  for (const id of [signed, placed, later]) expect(await endOf(w.single, id)).toEqual([]);
  const again = await raiseCounter();
  expect(await endOf(w.single, signed)).toEqual([["CANCELLED", again, reason]]);
});
