/** Every transition of an order, and after each whether the Orderbook says what the exchange itself would do. */
import { ItemType } from "@opensea/seaport-js/lib/constants.js";
import type { OrderWithCounter } from "@opensea/seaport-js/lib/types.js";
import {
  type Address,
  concat,
  encodeAbiParameters,
  encodeFunctionData,
  type Hex,
  pad,
  parseAbiParameters,
  zeroAddress,
  zeroHash,
} from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { withConnection } from "../postgres/pool.ts";
import { SEAPORT_ADDRESS, WRAPPED_ETHER_ADDRESS } from "../demo/exchange.ts";
import { fillOrder, placeOrder, toTransaction } from "../demo/market.ts";
import { createCallReader } from "../offchain/chain/call.ts";
import { readContractSignatures } from "../offchain/order/contract-signature.ts";
import { readListingApprovals } from "../offchain/order/listing-approval.ts";
import { readOfferFunds } from "../offchain/order/offer-funds.ts";
import { createRpc } from "../offchain/chain/rpc.ts";
import { readSales } from "./onchain-tables.ts";
import { type OrderbookWorld, startOrderbookWorld, toLong } from "./orderbook-world.ts";
import { compile } from "./solidity.ts";

let w: OrderbookWorld;
let lastId = 990_000n;

beforeAll(async () => {
  w = await startOrderbookWorld();
  await w.mine([
    ...[w.seller, w.buyer].flatMap((account) => [
      w.call(account, w.single, "setApprovalForAll", [SEAPORT_ADDRESS, true]),
      w.call(account, w.units, "setApprovalForAll", [SEAPORT_ADDRESS, true]),
    ]),
    w.wrap(w.buyer, 10n ** 18n),
  ]);
});
afterAll(() => w?.stop());

/** A token of the seller's. */
async function mint(): Promise<bigint> {
  const id = ++lastId;
  await w.mine([w.call(w.seller, w.single, "mint", [w.seller, id])]);
  return id;
}

/** Puts an order on the chain: no signature is needed to fill it. */
async function list(tokenId: bigint, more = {}): Promise<OrderWithCounter> {
  const input = w.inputOf(w.seller, w.single721(tokenId), more);
  const { order, transactions } = await placeOrder(w.market, { maker: w.seller, input });
  await w.mine(transactions);
  return order;
}

const hashOf = (order: OrderWithCounter) => w.market.seaport.getOrderHash(order.parameters) as Hex;

/** What the Orderbook says of an order, and whether the exchange itself would fill it. */
async function compare(order: OrderWithCounter, more: { taker?: Address } = {}) {
  const [nft] = order.parameters.offer;
  const token = await w.token(nft!.token as Address, BigInt(nft!.identifierOrCriteria));
  const isListed = token.is_listed === "true" && token.order_hash === hashOf(order);
  return { isListed, isFillable: await w.couldBeFilled(order, more), quantity: token.quantity };
}
/** A reorg that takes back all that happened since `snapshot`. */
async function goBackTo(snapshot: Hex): Promise<void> {
  const lostAt = await w.head();
  await w.client.revert({ id: snapshot });
  w.startOver();
  while ((await w.head()) <= lostAt) await w.client.mine({ blocks: 1 });
  await w.catchUp();
}
const LISTED = { isListed: true, isFillable: true };
const GONE = { isListed: false, isFillable: false };

test("listed, filled", async () => {
  const id = await mint();
  const order = await list(id);
  expect(await compare(order)).toMatchObject(LISTED);
  expect(await w.getOrderStatus(hashOf(order))).toEqual([true, false, 0n, 0n]);
  await w.mine(await fillOrder(w.market, { order, taker: w.buyer }));
  expect(await w.getOrderStatus(hashOf(order))).toEqual([true, false, 1n, 1n]);
  expect(await compare(order)).toMatchObject(GONE);
  expect(await w.token(w.single, id)).toMatchObject({ current_owner: w.buyer });
});

test("a private listing is in no list, and fillable while the exchange would fill it", async () => {
  const id = await mint();
  const own = { itemType: ItemType.ERC721 as const, token: w.single, identifier: id.toString(), recipient: w.buyer };
  const consideration = [{ amount: "1000", recipient: w.seller }, own];
  const order = await w.sign(w.inputOf(w.seller, w.single721(id), { consideration, fees: [] }), w.seller);
  expect(await w.post(order)).toMatchObject({ status: 200 });
  const agree = async (isFillable: boolean) => {
    expect(await w.token(w.single, id)).toMatchObject({ is_listed: "false" });
    const response = await w.api.app.request(`/orderbook/orders/${hashOf(order)}`);
    expect(await response.json()).toMatchObject({ result: { is_fillable: isFillable } });
    expect(await w.couldBeFilled(order)).toBe(isFillable);
  };
  await agree(true);
  await w.mine([w.call(w.seller, w.single, "transferFrom", [w.seller, w.other, id])]);
  await agree(false);
});

test("filled in parts, until a rest is left that the seller doesn't hold", async () => {
  const id = ++lastId;
  await w.mine([w.call(w.seller, w.units, "mint", [w.seller, id, 10n])]);
  const input = w.inputOf(w.seller, w.units1155(id, 8n), { allowPartialFills: true });
  const { order, transactions } = await placeOrder(w.market, { maker: w.seller, input });
  await w.mine(transactions);
  expect(await compare(order)).toEqual({ ...LISTED, quantity: "8" });

  await w.mine(await fillOrder(w.market, { order, taker: w.buyer, units: 2n }));
  const [, , filled, size] = await w.getOrderStatus(hashOf(order));
  expect((8n * filled) / size).toBe(2n);
  expect(await compare(order)).toEqual({ ...LISTED, quantity: "6" });

  await w.mine([w.call(w.seller, w.units, "safeTransferFrom", [w.seller, w.other, id, 3n, "0x"])]);
  expect(await compare(order)).toMatchObject(GONE);
  await w.mine([w.call(w.other, w.units, "safeTransferFrom", [w.other, w.seller, id, 1n, "0x"])]);
  expect(await compare(order)).toEqual({ ...LISTED, quantity: "6" });
  await w.mine(await fillOrder(w.market, { order, taker: w.buyer, units: 6n }));
  expect(await compare(order)).toMatchObject(GONE);
});

test("an offer that is accepted in parts, whatever else whoever accepts it adds", async () => {
  const [id, worthless] = [++lastId, ++lastId];
  await w.mine([
    w.call(w.seller, w.units, "mint", [w.seller, id, 5n]),
    w.call(w.seller, w.units, "mint", [w.seller, worthless, 4n]),
  ]);
  const wanted = { itemType: ItemType.ERC1155 as const, token: w.units, identifier: id.toString(), amount: "5" };
  const { order, transactions } = await placeOrder(w.market, {
    maker: w.buyer,
    input: {
      offer: [{ token: WRAPPED_ETHER_ADDRESS, amount: "5000" }],
      consideration: [{ ...wanted, recipient: w.buyer }],
      startTime: w.now() - 100,
      endTime: w.now() + 1000,
      allowPartialFills: true,
    },
  });
  await w.mine(transactions);
  // Of which a fifth goes with a fifth of the order.
  const added = { ...wanted, identifier: worthless.toString(), amount: "20", recipient: w.other };
  const { actions } = await w.market.seaport.fulfillOrder({
    order,
    accountAddress: w.seller,
    unitsToFill: 1n,
    tips: [added],
    conduitKey: order.parameters.conduitKey,
  });
  await w.mine(await Promise.all(actions.map((action) => toTransaction(w.seller, action.transactionMethods))));
  const [, , filled, size] = await w.getOrderStatus(hashOf(order));
  expect((5n * filled) / size).toBe(1n);
  const sales = await readSales(w.database.url);
  expect(sales.filter((sale) => sale.token_id === worthless)).toMatchObject([{ quantity: 4n, to_address: w.other }]);
  expect(await w.token(w.units, id)).toMatchObject({ has_offer: "true" });

  await w.mine(await fillOrder(w.market, { order, taker: w.seller, units: 4n }));
  expect(await w.token(w.units, id)).toMatchObject({ has_offer: "false" });
});

test("sold for what was paid, though whoever buys adds what there is none of", async () => {
  const id = await mint();
  const { parameters } = await list(id);
  const { consideration } = parameters;
  const none = { ...consideration[0]!, startAmount: "0", endAmount: "0" };
  const added = [
    { ...none, itemType: ItemType.ERC20, token: WRAPPED_ETHER_ADDRESS },
    { ...none, itemType: ItemType.ERC1155, token: w.units, identifierOrCriteria: "1" },
  ];
  const order = { ...parameters, consideration: [...consideration, ...added] };
  const items = (all: readonly unknown[]) => all.map((_, itemIndex) => [{ orderIndex: 0, itemIndex }]);
  const data = w.market.seaport.contract.interface.encodeFunctionData("fulfillAvailableAdvancedOrders", [
    [{ parameters: order, numerator: 1, denominator: 1, signature: "0x", extraData: "0x" }],
    [],
    items(parameters.offer),
    items(consideration),
    zeroHash,
    w.buyer,
    1,
  ]) as Hex;
  const price = consideration.reduce((sum, { startAmount }) => sum + BigInt(startAmount), 0n);
  await w.mine([{ from: w.buyer, to: SEAPORT_ADDRESS, data, value: price }]);
  const sales = (await readSales(w.database.url)).filter((sale) => sale.token_id === id);
  expect(sales).toMatchObject([
    { from_address: w.seller, to_address: w.buyer, price, currency_address: zeroAddress, price_note: null },
  ]);
});

test("matched with the order that answers it", async () => {
  const id = await mint();
  const amount = "2000000000000000";
  const sell = await w.sign(
    w.inputOf(w.seller, w.single721(id), {
      fees: [],
      consideration: [{ token: WRAPPED_ETHER_ADDRESS, amount, recipient: w.seller }],
    }),
    w.seller,
  );
  expect(await w.post(sell)).toMatchObject({ status: 200 });
  const buying = {
    offer: [{ token: WRAPPED_ETHER_ADDRESS, amount }],
    consideration: [
      { itemType: ItemType.ERC721 as const, token: w.single, identifier: id.toString(), recipient: w.buyer },
    ],
    startTime: w.now() - 100,
    endTime: w.now() + 1000,
  };
  const { order: buy, transactions } = await placeOrder(w.market, { maker: w.buyer, input: buying });
  await w.mine(transactions);
  expect(await compare(sell)).toMatchObject(LISTED);
  expect(await w.token(w.single, id)).toMatchObject({ has_offer: "true" });

  const match = w.market.seaport.matchOrders({
    orders: [sell, buy],
    fulfillments: [
      {
        offerComponents: [{ orderIndex: 0, itemIndex: 0 }],
        considerationComponents: [{ orderIndex: 1, itemIndex: 0 }],
      },
      {
        offerComponents: [{ orderIndex: 1, itemIndex: 0 }],
        considerationComponents: [{ orderIndex: 0, itemIndex: 0 }],
      },
    ],
    accountAddress: w.other,
  });
  await w.mine([await toTransaction(w.other, match)]);
  expect(await compare(sell)).toMatchObject(GONE);
  expect(await w.token(w.single, id)).toMatchObject({ has_offer: "false", current_owner: w.buyer });
  const sales = (await readSales(w.database.url)).filter((sale) => sale.token_id === id);
  expect(sales).toMatchObject([{ from_address: w.seller, to_address: w.buyer, price: BigInt(amount) }]);
});

test("a private listing that somebody else pays for is sold to whom it is for", async () => {
  const id = await mint();
  const [forBuyer] = w.single721(id);
  const { parameters, signature } = await list(id, {
    fees: [],
    consideration: [
      { amount: "1000", recipient: w.seller },
      { ...forBuyer!, recipient: w.buyer },
    ],
  });
  const data = w.market.seaport.contract.interface.encodeFunctionData("fulfillOrder", [
    { parameters, signature },
    zeroHash,
  ]) as Hex;
  await w.mine([
    w.call(w.other, w.single, "setApprovalForAll", [SEAPORT_ADDRESS, true]),
    { from: w.other, to: SEAPORT_ADDRESS, data, value: 1000n },
  ]);
  expect(await w.token(w.single, id)).toMatchObject({ current_owner: w.buyer });
  const sales = (await readSales(w.database.url)).filter((sale) => sale.token_id === id);
  expect(sales).toMatchObject([{ from_address: w.seller, to_address: w.buyer, price: 1000n }]);
});

test("cancelled", async () => {
  const order = await list(await mint());
  expect(await compare(order)).toMatchObject(LISTED);
  await w.mine([await toTransaction(w.seller, w.market.seaport.cancelOrders([order.parameters], w.seller))]);
  expect(await w.getOrderStatus(hashOf(order))).toEqual([false, true, 0n, 0n]);
  expect(await compare(order)).toMatchObject(GONE);
});

test("given away and back", async () => {
  const id = await mint();
  const order = await list(id);
  await w.mine([w.call(w.seller, w.single, "transferFrom", [w.seller, w.other, id])]);
  expect(await compare(order)).toMatchObject(GONE);
  await w.mine([w.call(w.other, w.single, "transferFrom", [w.other, w.seller, id])]);
  expect(await compare(order)).toMatchObject(LISTED);
});

test("approval taken back and given again", async () => {
  const order = await list(await mint());
  for (const isApproved of [false, true]) {
    await w.mine([w.call(w.seller, w.single, "setApprovalForAll", [SEAPORT_ADDRESS, isApproved])]);
    expect(await compare(order)).toMatchObject(isApproved ? LISTED : GONE);
  }
});

test("a token approved alone", async () => {
  const id = await mint();
  const order = await list(id);
  const look = () =>
    withConnection(w.database.url, (sql) =>
      readListingApprovals(sql, {
        network: "mainnet",
        chainId: w.chain.chainId,
        readCalls: createCallReader(createRpc({ urls: [w.chain.rpcUrl] })),
        after: undefined,
      }),
    );
  await w.mine([
    w.call(w.seller, w.single, "setApprovalForAll", [SEAPORT_ADDRESS, false]),
    w.call(w.seller, w.single, "approve", [SEAPORT_ADDRESS, id]),
  ]);
  // A listing that is sent now is shown before the worker has asked the contract, and so are others of the same token.
  const parameters = { ...order.parameters, salt: "1" };
  const signature = await w.market.seaport.signOrder(parameters, w.seller);
  expect(await compare(order)).toMatchObject({ isListed: false, isFillable: true });
  expect(await w.post({ parameters, signature })).toMatchObject({ status: 200 });
  expect(await w.token(w.single, id)).toMatchObject({ is_listed: "true" });
  await look();
  expect(await compare(order)).toMatchObject(LISTED);
  // Every transfer clears it.
  await w.mine([
    w.call(w.seller, w.single, "transferFrom", [w.seller, w.other, id]),
    w.call(w.other, w.single, "transferFrom", [w.other, w.seller, id]),
  ]);
  await look();
  expect(await compare(order)).toMatchObject(GONE);
  // What is on record goes before an older answer, at once.
  await w.mine([w.call(w.seller, w.single, "setApprovalForAll", [SEAPORT_ADDRESS, true])]);
  expect(await compare(order)).toMatchObject(LISTED);
  await w.mine([w.call(w.seller, w.single, "setApprovalForAll", [SEAPORT_ADDRESS, false])]);
  expect(await compare(order)).toMatchObject(GONE);
  await w.mine([w.call(w.seller, w.single, "setApprovalForAll", [SEAPORT_ADDRESS, true])]);
});

test("restricted by a zone, whose refusals show when the order is filled", async () => {
  const { Warden } = compile("Warden");
  const [receipt] = await w.mine([{ from: w.other, data: Warden.bytecode }]);
  const zone = receipt!.contractAddress!.toLowerCase() as Address;
  const toZone = (functionName: string, args: unknown[], value?: bigint) =>
    w.mine([{ from: w.buyer, to: zone, data: encodeFunctionData({ abi: Warden.abi, functionName, args }), value }]);
  const { interface: seaport } = w.market.seaport.contract;
  const id = ++lastId;
  await w.mine([w.call(w.seller, w.units, "mint", [w.seller, id, 8n])]);
  const more = { allowPartialFills: true, restrictedByZone: true, zone };
  const order = await w.sign(w.inputOf(w.seller, w.units1155(id, 8n), more), w.seller);
  const { parameters, signature } = order;
  expect(parameters.orderType).toBe(3);
  expect(await w.post(order)).toMatchObject({ status: 200 });
  expect(await compare(order)).toEqual({ ...LISTED, quantity: "8" });

  await w.mine(await fillOrder(w.market, { order, taker: w.buyer, units: 2n }));
  expect(await compare(order)).toEqual({ ...LISTED, quantity: "6" });
  await toZone("refuse", [true]);
  expect(await compare(order)).toEqual({ isListed: true, isFillable: false, quantity: "6" });

  const part = { parameters, numerator: 4, denominator: 8, signature, extraData: "0x" };
  const fill = seaport.encodeFunctionData("fulfillAdvancedOrder", [part, [], zeroHash, w.buyer]);
  const price = 10n ** 15n / 2n;
  await toZone("execute", [SEAPORT_ADDRESS, fill], price);
  expect((await readSales(w.database.url)).at(-1)).toMatchObject({
    token_id: id,
    from_address: w.seller,
    to_address: w.buyer,
    quantity: 4n,
    price,
  });
  await toZone("refuse", [false]);
  expect(await compare(order)).toEqual({ ...LISTED, quantity: "2" });
  await toZone("execute", [SEAPORT_ADDRESS, seaport.encodeFunctionData("cancel", [[parameters]])]);
  expect(await compare(order)).toMatchObject(GONE);
  expect(await w.post(order)).toMatchObject({ status: 400, message: "The order is cancelled." });
});

test("a contract makes its own orders when they are filled: sales, of which nothing is on sale before", async () => {
  const { Pool } = compile("Pool");
  const [receipt] = await w.mine([{ from: w.other, data: Pool.bytecode }]);
  const pool = receipt!.contractAddress!.toLowerCase() as Address;
  const byPool = (to: Address, data: Hex) =>
    w.mine([
      {
        from: w.other,
        to: pool,
        data: encodeFunctionData({ abi: Pool.abi, functionName: "execute", args: [to, data] }),
      },
    ]);
  const { interface: seaport } = w.market.seaport.contract;
  const [held, wanted] = [++lastId, await mint()];
  await w.client.setBalance({ address: pool, value: 1000n });
  await w.mine([w.call(w.other, w.single, "mint", [pool, held])]);
  await byPool(w.single, w.call(w.other, w.single, "setApprovalForAll", [SEAPORT_ADDRESS, true]).data);

  type Item = { itemType: number; token: Address; identifier: bigint; amount: bigint; recipient: Address };
  const token = (identifier: bigint): Item => ({
    itemType: 2,
    token: w.single,
    identifier,
    amount: 1n,
    recipient: pool,
  });
  const ether = (amount: bigint): Item => ({
    itemType: 0,
    token: zeroAddress,
    identifier: 0n,
    amount,
    recipient: pool,
  });
  const termOf = ({ identifier, amount, ...item }: Item) => ({
    ...item,
    identifierOrCriteria: identifier,
    startAmount: amount,
    endAmount: amount,
  });
  const orderOf = (offer: Item, consideration: Item, orderType = 4) => ({
    offerer: pool,
    zone: zeroAddress,
    offer: [termOf(offer)],
    consideration: [termOf(consideration)],
    orderType,
    startTime: 0,
    endTime: w.now() + 100_000,
    zoneHash: zeroHash,
    salt: 0,
    conduitKey: zeroHash,
    counter: 0,
    totalOriginalConsiderationItems: 1,
  });
  const context = parseAbiParameters([
    "Spent[], Received[]",
    "struct Spent { uint8 itemType; address token; uint256 identifier; uint256 amount; }",
    "struct Received { uint8 itemType; address token; uint256 identifier; uint256 amount; address recipient; }",
  ]);
  /** Whoever fills the order allows `parameters`, and the contract makes it of `given` and `taken`. */
  const fill = (
    from: Address,
    parameters: ReturnType<typeof orderOf>,
    [given, taken]: [Item, Item],
    value?: bigint,
  ) => {
    const extraData = encodeAbiParameters(context, [[given], [taken]]);
    const order = { parameters, numerator: 1, denominator: 1, signature: "0x", extraData };
    const data = seaport.encodeFunctionData("fulfillAdvancedOrder", [order, [], zeroHash, from]) as Hex;
    return w.mine([{ from, to: SEAPORT_ADDRESS, data, value }]);
  };
  const listing = orderOf(token(held), ether(100n));
  expect(await w.post({ parameters: listing, signature: "0x" })).toMatchObject({
    status: 400,
    message: expect.stringContaining("orderType is 4") as string,
  });
  const validate = (parameters: ReturnType<typeof orderOf>) =>
    seaport.encodeFunctionData("validate", [[{ parameters, signature: "0x" }]]) as Hex;
  await byPool(SEAPORT_ADDRESS, validate(listing));
  expect(await w.token(w.single, held)).toMatchObject({ is_listed: "false" });
  // What it signs by putting it on the chain is an order as any other, and its counter is not that of its own orders.
  await byPool(SEAPORT_ADDRESS, validate(orderOf(token(held), ether(70n), 0)));
  expect(await w.token(w.single, held)).toMatchObject({ is_listed: "true", current_price: "70" });
  await byPool(SEAPORT_ADDRESS, seaport.encodeFunctionData("incrementCounter") as Hex);
  expect(await w.token(w.single, held)).toMatchObject({ is_listed: "false" });

  await fill(w.buyer, listing, [token(held), ether(90n)], 100n);
  await fill(w.seller, orderOf(ether(50n), token(wanted)), [ether(60n), token(wanted)]);
  const sales = (await readSales(w.database.url)).filter(({ token_id }) => [held, wanted].includes(token_id));
  expect(sales).toMatchObject([
    { from_address: pool, to_address: w.buyer, price: 90n, currency_address: zeroAddress, is_offer: false },
    { from_address: w.seller, to_address: pool, price: 60n, currency_address: zeroAddress, is_offer: true },
  ]);
  expect(await w.token(w.single, wanted)).toMatchObject({ current_owner: pool, has_offer: "false" });
});

test("a counter that is raised ends what was signed and what was on the chain", async () => {
  const [first, second] = [await mint(), await mint()];
  const order = await list(first);
  const signed = await w.sign(w.inputOf(w.seller, w.single721(second)), w.seller);
  expect(await w.post(signed)).toMatchObject({ status: 200 });
  expect(await compare(order)).toMatchObject(LISTED);
  expect(await compare(signed)).toMatchObject(LISTED);
  const before = await w.getCounter(w.seller);
  await w.mine([await toTransaction(w.seller, w.market.seaport.bulkCancelOrders(w.seller))]);
  expect(await w.getCounter(w.seller)).not.toBe(before);
  expect(await compare(order)).toMatchObject(GONE);
  expect(await compare(signed)).toMatchObject(GONE);
  expect(await compare(await list(first))).toMatchObject(LISTED);
});

test("a reorg that undoes a sale brings the listing back, and the sale is none", async () => {
  const id = await mint();
  const order = await list(id);
  const salesOf = async () => (await readSales(w.database.url)).filter((sale) => sale.token_id === id);
  const snapshot = await w.client.snapshot();
  await w.mine(await fillOrder(w.market, { order, taker: w.buyer }));
  expect(await compare(order)).toMatchObject(GONE);
  expect(await salesOf()).toHaveLength(1);

  await goBackTo(snapshot);
  expect(await compare(order)).toMatchObject(LISTED);
  expect(await salesOf()).toEqual([]);
});

test("a reorg that undoes the first raise of a counter undoes what was signed under it, and nothing else", async () => {
  // Who has never raised it before.
  const [maker, taker] = [w.buyer, w.other];
  const [first, second] = [++lastId, ++lastId];
  await w.mine([
    ...[first, second].map((id) => w.call(maker, w.single, "mint", [maker, id])),
    w.call(maker, w.single, "setApprovalForAll", [SEAPORT_ADDRESS, true]),
  ]);
  const signFor = (id: bigint) => w.sign(w.inputOf(maker, w.single721(id)), maker);
  const before = await signFor(first);
  expect(await w.post(before)).toMatchObject({ status: 200 });
  const snapshot = await w.client.snapshot();
  await w.mine([await toTransaction(maker, w.market.seaport.bulkCancelOrders(maker))]);
  const after = await signFor(second);
  expect(await w.post(after)).toMatchObject({ status: 200 });
  expect(await compare(before, { taker })).toMatchObject(GONE);
  expect(await compare(after, { taker })).toMatchObject(LISTED);

  await goBackTo(snapshot);
  expect(await compare(before, { taker })).toMatchObject(LISTED);
  expect(await compare(after, { taker })).toMatchObject(GONE);
});

test("an offer stands while the bidder has the money", async () => {
  const id = await mint();
  const amount = 10n ** 17n;
  const offer = await w.sign(
    {
      offer: [{ token: WRAPPED_ETHER_ADDRESS, amount: amount.toString() }],
      consideration: [{ itemType: ItemType.ERC721, token: w.single, identifier: id.toString(), recipient: w.buyer }],
      startTime: w.now() - 100,
      endTime: w.now() + 1000,
    },
    w.buyer,
  );
  const readCalls = createCallReader(createRpc({ urls: [w.chain.rpcUrl] }));
  const look = () =>
    withConnection(w.database.url, async (sql) => {
      // As if the last look was a while ago.
      await sql`update offchain.offer_funds set checked_at = now() - interval '1 hour'`;
      return readOfferFunds(sql, { network: "mainnet", chainId: w.chain.chainId, readCalls });
    });
  const agree = async (isStanding: boolean) => {
    expect(await look()).toBeGreaterThan(0);
    expect(await w.token(w.single, id)).toMatchObject({ has_offer: String(isStanding) });
    expect(await w.couldBeFilled(offer, { taker: w.seller })).toBe(isStanding);
    const response = await w.api.app.request(`/orderbook/token/${w.single}/${id}/offers`);
    const { result } = (await response.json()) as { result: { offers: unknown[] } };
    expect(result.offers).toMatchObject(isStanding ? [{ order_hash: hashOf(offer), exchange: "seaport" }] : []);
  };
  expect(await w.post(offer)).toMatchObject({ status: 200 });
  await agree(true);
  const held = await withConnection(w.database.url, async (sql) => {
    const [row] = await sql<{ spendable: string }[]>`select max(spendable) as spendable from offchain.offer_funds`;
    return BigInt(row!.spendable);
  });
  await w.mine([w.call(w.buyer, WRAPPED_ETHER_ADDRESS, "transfer", [w.other, held - amount + 1n])]);
  await agree(false);
  await w.mine([w.wrap(w.buyer, 1n)]);
  // Sent again, it is shown before the worker has asked again.
  expect(await w.token(w.single, id)).toMatchObject({ has_offer: "false" });
  expect(await w.post(offer)).toMatchObject({ status: 200 });
  expect(await w.token(w.single, id)).toMatchObject({ has_offer: "true" });
  await agree(true);
});

/** What the worker asks of contracts that signed. */
const askWallets = () =>
  withConnection(w.database.url, (sql) =>
    readContractSignatures(sql, {
      chainId: w.chain.chainId,
      readCalls: createCallReader(createRpc({ urls: [w.chain.rpcUrl] })),
      after: undefined,
    }),
  );

test("a wallet that is a contract signs by its owner", async () => {
  const { Wallet } = compile("Wallet");
  const [receipt] = await w.mine([{ from: w.other, data: Wallet.bytecode }]);
  const wallet = receipt!.contractAddress!.toLowerCase() as Address;
  const execute = (to: Address, functionName: string, args: unknown[]) => ({
    from: w.other,
    to: wallet,
    data: encodeFunctionData({
      abi: Wallet.abi,
      functionName: "execute",
      args: [to, w.call(w.other, to, functionName, args).data],
    }),
  });
  const id = ++lastId;
  await w.mine([
    w.call(w.other, w.single, "mint", [wallet, id]),
    execute(w.single, "setApprovalForAll", [SEAPORT_ADDRESS, true]),
  ]);
  const { parameters } = await w.sign(w.inputOf(w.seller, w.single721(await mint())), w.seller);
  const [nft] = parameters.offer;
  const own = {
    ...parameters,
    offerer: wallet,
    counter: 0,
    offer: [{ ...nft!, identifierOrCriteria: id.toString() }],
    consideration: [{ ...parameters.consideration[0]!, recipient: wallet }],
    totalOriginalConsiderationItems: 1,
  } as unknown as OrderWithCounter["parameters"];
  const order = { parameters: own, signature: toLong(await w.market.seaport.signOrder(own, w.other)) };
  const forged = { parameters: own, signature: toLong(await w.market.seaport.signOrder(own, w.buyer)) };

  expect(await w.post(forged)).toMatchObject({ status: 400, message: expect.stringContaining("signature") as string });
  expect(await w.couldBeFilled(forged)).toBe(false);
  expect(await w.post(order)).toMatchObject({ status: 200, result: { order_hash: hashOf(order) } });
  expect(await compare(order)).toMatchObject(LISTED);
  // What it signed is disowned while it is locked, which no log says.
  for (const isLocked of [true, false]) {
    const data = encodeFunctionData({ abi: Wallet.abi, functionName: "lock", args: [isLocked] });
    await w.mine([{ from: w.other, to: wallet, data }]);
    await askWallets();
    expect(await compare(order)).toMatchObject(isLocked ? GONE : LISTED);
  }
  // Some tell nobody but the exchange.
  await w.mine([
    {
      from: w.other,
      to: wallet,
      data: encodeFunctionData({ abi: Wallet.abi, functionName: "answerOnly", args: [SEAPORT_ADDRESS] }),
    },
  ]);
  await askWallets();
  expect(await compare(order)).toMatchObject(LISTED);
  expect(await w.post(order)).toMatchObject({ status: 200, result: { order_hash: hashOf(order) } });
  // Its next owner signs the same order, and sends it before anybody has asked the wallet again.
  await w.mine([
    { from: w.other, to: wallet, data: encodeFunctionData({ abi: Wallet.abi, functionName: "hand", args: [w.buyer] }) },
  ]);
  expect(await w.couldBeFilled(order)).toBe(false);
  expect(await w.post(order)).toMatchObject({ status: 400 });
  expect(await w.couldBeFilled(forged)).toBe(true);
  expect(await w.post(forged)).toMatchObject({ status: 200, result: { order_hash: hashOf(order) } });
  await askWallets();
  expect(await compare(forged)).toMatchObject(LISTED);
  await w.mine(await fillOrder(w.market, { order: forged, taker: w.seller }));
  expect(await compare(forged)).toMatchObject(GONE);
});

test("an account signs by its code, too, while it has that (EIP-7702), and by its key all along", async () => {
  const { Wallet } = compile("Wallet");
  const [receipt] = await w.mine([{ from: w.other, data: Wallet.bytecode }]);
  const delegation = concat(["0xef0100", receipt!.contractAddress!]);
  const id = await mint();
  const byKey = await w.sign(w.inputOf(w.seller, w.single721(id)), w.seller);
  const [price] = byKey.parameters.consideration;
  const cheaper = {
    ...byKey.parameters,
    consideration: [{ ...price!, startAmount: "1000", endAmount: "1000" }],
    totalOriginalConsiderationItems: 1,
  };
  const byCode = { parameters: cheaper, signature: toLong(await w.market.seaport.signOrder(cheaper, w.other)) };
  const agree = async (isCodeThere: boolean) => {
    await askWallets();
    expect(await w.token(w.single, id)).toMatchObject({
      is_listed: "true",
      order_hash: hashOf(isCodeThere ? byCode : byKey),
    });
    expect([await w.couldBeFilled(byKey), await w.couldBeFilled(byCode)]).toEqual([true, isCodeThere]);
  };

  expect(await w.post(byKey)).toMatchObject({ status: 200 });
  expect(await w.post(byCode)).toMatchObject({ status: 400, message: expect.stringContaining("signature") as string });
  await agree(false);
  await w.client.setCode({ address: w.seller, bytecode: delegation });
  // Its owner, who is the first that the contract stores.
  await w.client.setStorageAt({ address: w.seller, index: 0, value: pad(w.other) });
  expect(await w.post(byCode)).toMatchObject({ status: 200 });
  await agree(true);
  await w.client.setCode({ address: w.seller, bytecode: "0x" });
  await agree(false);
  await w.client.setCode({ address: w.seller, bytecode: delegation });
  await agree(true);
  await w.client.setCode({ address: w.seller, bytecode: "0x" });
});

/** The last: they move the chain's time ahead of the clock. */
test("an order begins and ends with the chain's time", async () => {
  const id = await mint();
  const order = await list(id, { startTime: w.now() + 300, endTime: w.now() + 600 });
  expect(await compare(order)).toMatchObject(GONE);
  await w.mine([], { at: Number(order.parameters.startTime) });
  expect(await compare(order)).toMatchObject(LISTED);
  await w.mine([], { at: Number(order.parameters.endTime) });
  expect(await compare(order)).toMatchObject(GONE);
});

test("one of several units costs what is told while the price falls, to the last unit of money", async () => {
  const id = ++lastId;
  const startTime = w.now() + 1000;
  const input = w.inputOf(w.seller, w.units1155(id, 10n), {
    consideration: [{ amount: "1000000", endAmount: "500000", recipient: w.seller }],
    allowPartialFills: true,
    startTime,
    endTime: startTime + 7000,
  });
  await w.mine([w.call(w.seller, w.units, "mint", [w.seller, id, 10n])]);
  const { order, transactions } = await placeOrder(w.market, { maker: w.seller, input });
  await w.mine(transactions, { at: startTime });
  await w.mine([], { at: startTime + 1 });
  const { current_price } = await w.token(w.units, id);
  const data = w.market.seaport.contract.interface.encodeFunctionData("fulfillAdvancedOrder", [
    { ...order, numerator: 1, denominator: 10, extraData: "0x" },
    [],
    zeroHash,
    w.buyer,
  ]) as Hex;
  const isEnough = (value: bigint) =>
    w.client.call({ account: w.buyer, to: SEAPORT_ADDRESS, data, value }).then(
      () => true,
      () => false,
    );
  expect(await Promise.all([0n, 1n].map((less) => isEnough(BigInt(current_price!) - less)))).toEqual([true, false]);
});
