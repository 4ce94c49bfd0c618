import { EIP_712_ORDER_TYPE, ItemType } from "@opensea/seaport-js/lib/constants.js";
import type { CreateOrderInput } from "@opensea/seaport-js/lib/types.js";
import { type Abi, type Address, encodeFunctionData, type Hex, numberToHex, parseAbi } from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { toBytes } from "../offchain/bytea.ts";
import type { Api } from "../api/server.ts";
import { type DemoChain, startDemoChain } from "../demo/chain.ts";
import { SEAPORT_ADDRESS, WRAPPED_ETHER_ADDRESS } from "../demo/exchange.ts";
import { createMarket, fillOrder, type Market, toTransaction } from "../demo/market.ts";
import { createMiner, type Miner } from "../demo/miner.ts";
import { createRandom } from "../demo/random.ts";
import { createWorld } from "../demo/world.ts";
import { openApi } from "./api.ts";
import { createTestDatabase, type TestDatabase } from "./database.ts";
import { type Indexer, startIndexer, WAIT_TIMEOUT_MS } from "./indexer.ts";
import { type RpcProxy, startRpcProxy } from "./rpc-proxy.ts";

const PRICE = "1000000000000000";

let chain: DemoChain;
let miner: Miner;
let market: Market;
let database: TestDatabase;
let indexer: Indexer;
let api: Awaited<ReturnType<typeof openApi>>;
let seller: Address;
let buyer: Address;
let other: Address;
let contract: Address;

const tokenAbi: Abi = parseAbi([
  "function mint(address to, uint256 tokenId)",
  "function setApprovalForAll(address operator, bool approved)",
  "function transferFrom(address from, address to, uint256 tokenId)",
]);
const range = (count: number) => Array.from({ length: count }, (_, n) => n);
const now = () => Math.floor(Date.now() / 1000);
const ids = [1, 2, 3, 4, 5, 6, 7].map((id) => BigInt(880_000 + id));

beforeAll(async () => {
  chain = await startDemoChain();
  miner = createMiner(chain.rpcUrl);
  const world = createWorld({ random: createRandom(1), accounts: await miner.client.getAddresses() });
  market = await createMarket(miner, { rpcUrl: chain.rpcUrl, world, contracts: chain.contracts });
  [seller, buyer, other] = world.collectors.map((account) => account.toLowerCase()) as [Address, Address, Address];
  contract = chain.contracts.LighthouseLetters;
  await mine(
    ...ids.map((tokenId) => call(seller, "mint", [seller, tokenId])),
    call(seller, "setApprovalForAll", [SEAPORT_ADDRESS, true]),
  );
  database = await createTestDatabase();
  indexer = startIndexer({ databaseUrl: database.url, rpcUrl: chain.rpcUrl });
  await catchUp();
  api = await openApi(database.url, { env: { MAINNET_RPC_URL: chain.rpcUrl } });
});
afterAll(async () => {
  await api?.stop();
  await indexer?.stop();
  market?.stop();
  await chain?.stop();
  await database?.drop();
});

type Transaction = { from: Address; to?: Address; data?: Hex; value?: bigint };
const call = (from: Address, functionName: string, args: unknown[]): Transaction => ({
  from,
  to: contract,
  data: encodeFunctionData({ abi: tokenAbi, functionName, args }),
});
const mine = (...transactions: Transaction[]) =>
  miner.mineBlock({ transactions: transactions as never, timestamp: BigInt(now()) });
const catchUp = async () => indexer.waitUntilLive(Number(await miner.client.getBlockNumber({ cacheTime: 0 })));

const inputOf = (tokenId: bigint, more: Partial<CreateOrderInput> = {}): CreateOrderInput => ({
  offer: [{ itemType: ItemType.ERC721, token: contract, identifier: tokenId.toString() }],
  consideration: [{ amount: PRICE, recipient: seller }],
  fees: [{ recipient: other, basisPoints: 250 }],
  startTime: now() - 10,
  endTime: now() + 100_000,
  ...more,
});
const sign = async (input: CreateOrderInput, maker = seller) =>
  (await market.seaport.createOrder(input, maker)).executeAllActions();

type Body = { result: { order_hash: string } & Record<string, string>; type: string; message: string };
async function post(order: unknown): Promise<{ status: number; body: Body }> {
  const response = await api.app.request("/orderbook/orders", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(order, (_, value: unknown) => (typeof value === "bigint" ? value.toString() : value)),
  });
  return { status: response.status, body: (await response.json()) as Body };
}
const get = async (hash: string) => {
  const response = await api.app.request(`/orderbook/orders/${hash}`);
  return { status: response.status, body: (await response.json()) as { result: SignedOrder } };
};
type SignedOrder = Awaited<ReturnType<typeof sign>> & { is_fillable: boolean; exchange_address: string };
const token = async (tokenId: bigint) =>
  ((await (await api.app.request(`/orderbook/token/${contract}/${tokenId}`)).json()) as Body).result;
/** Why an order is refused. */
const refusalOf = async (order: unknown) => {
  const { status, body } = await post(order);
  return `${status} ${body.type}: ${body.message}`;
};

describe("a signed listing", () => {
  test("is taken, has Seaport's own hash, and is listed", async () => {
    const order = await sign(inputOf(ids[0]!));
    const hash = market.seaport.getOrderHash(order.parameters);
    expect(await post(order)).toEqual({ status: 200, body: { result: { order_hash: hash } } });
    expect(await post(order)).toMatchObject({ status: 200, body: { result: { order_hash: hash } } });
    expect(await token(ids[0]!)).toMatchObject({
      is_listed: "true",
      order_hash: hash,
      current_price: PRICE,
      broker_id: other,
      exchange: "seaport",
      current_owner: seller,
    });
  });

  test("is refused where somebody is paid who takes no ether", async () => {
    // The contract of the token, as a seller or for a fee.
    const [toSeller, toFee] = [
      await sign(inputOf(ids[0]!, { fees: [], consideration: [{ amount: "1", recipient: contract }] })),
      await sign(inputOf(ids[0]!, { fees: [{ recipient: contract, basisPoints: 250 }] })),
    ];
    const refusal = `400 invalid_request: The recipient ${contract} doesn't take the chain's own currency. Expected one that does.`;
    expect([await refusalOf(toSeller), await refusalOf(toFee)]).toEqual([refusal, refusal]);
    // A payment that begins with nothing, and the last of many.
    const toPerson = (n: number) => ({ amount: "1", recipient: numberToHex(0xface_00 + n, { size: 20 }) });
    const rising = { amount: "0", endAmount: PRICE, recipient: contract };
    const many = [...range(11).map(toPerson), { amount: "1", recipient: contract }];
    for (const consideration of [[toPerson(0), rising], many])
      expect(await refusalOf(await sign(inputOf(ids[0]!, { fees: [], consideration })))).toBe(refusal);
    // Wrapped, nobody is asked.
    const wrapped = { amount: "1", recipient: contract, token: WRAPPED_ETHER_ADDRESS };
    const order = await sign(inputOf(ids[6]!, { fees: [], consideration: [wrapped] }));
    expect(await post(order)).toMatchObject({ status: 200 });
  });

  test("goes when the token goes, and comes back with it", async () => {
    const { order_hash: hash } = await token(ids[0]!);
    await mine(call(seller, "transferFrom", [seller, buyer, ids[0]!]));
    await catchUp();
    expect(await token(ids[0]!)).toMatchObject({ is_listed: "false", current_owner: buyer });
    expect((await get(hash)).body.result.is_fillable).toBe(false);
    await mine(call(buyer, "transferFrom", [buyer, seller, ids[0]!]));
    await catchUp();
    expect(await token(ids[0]!)).toMatchObject({ is_listed: "true" });
    expect((await get(hash)).body.result.is_fillable).toBe(true);
  });

  test("ends when it is filled, which takes no more than what is told of it", async () => {
    const order = await sign(inputOf(ids[1]!));
    await post(order);
    const hash = market.seaport.getOrderHash(order.parameters);
    const { status, body } = await get(hash.toUpperCase().replace("0X", "0x"));
    expect(status).toBe(200);
    const { parameters, signature, ...told } = body.result;
    expect(told).toEqual({
      order_hash: hash,
      exchange_address: SEAPORT_ADDRESS.toLowerCase(),
      placed_timestamp: expect.any(Number) as number,
      is_fillable: true,
    });
    expect(market.seaport.getOrderHash(parameters)).toBe(hash);
    await miner.mineBlock({
      transactions: await fillOrder(market, { order: { parameters, signature }, taker: buyer }),
      timestamp: BigInt(now()),
    });
    await catchUp();
    expect((await get(hash)).body.result).toMatchObject({ is_fillable: false, signature: order.signature });
    expect(await token(ids[1]!)).toMatchObject({ is_listed: "false", current_owner: buyer });
    expect(await refusalOf(order)).toMatch(/^400 invalid_request: .*The order is filled/);
  });

  test("ends when it is cancelled, and can't be listed again", async () => {
    const order = await sign(inputOf(ids[2]!));
    await post(order);
    expect(await token(ids[2]!)).toMatchObject({ is_listed: "true" });
    await mine(await toTransaction(seller, market.seaport.cancelOrders([order.parameters], seller)));
    await catchUp();
    expect(await token(ids[2]!)).toMatchObject({ is_listed: "false" });
    expect(await refusalOf(order)).toMatch(/^400 invalid_request: .*The order is cancelled/);
  });

  test("may be one of many that were signed at once", async () => {
    const { executeAllActions } = await market.seaport.createBulkOrders([inputOf(ids[3]!), inputOf(ids[4]!)], seller);
    const orders = await executeAllActions();
    for (const [index, order] of orders.entries()) {
      expect((await post(order)).status).toBe(200);
      expect(await token(ids[3 + index]!)).toMatchObject({ is_listed: "true" });
    }
  });

  test("may have a signature of 64 or 65 bytes", async () => {
    const order = await sign(inputOf(ids[5]!, { salt: "77" }));
    const compact = order.signature as Hex;
    const [r, vs] = [compact.slice(0, 66), BigInt(`0x${compact.slice(66)}`)];
    const s = numberToHex(vs & (2n ** 255n - 1n), { size: 32 });
    const long = `${r}${s.slice(2)}${vs >> 255n ? "1c" : "1b"}`;
    expect([compact.length, long.length]).toEqual([2 + 128, 2 + 130]);
    const [first, second] = [await post(order), await post({ ...order, signature: long })];
    expect([first.status, second.status]).toEqual([200, 200]);
    expect(second.body).toEqual(first.body);
  });
});

describe("refused is", () => {
  test("an order that somebody else signed, or that was changed after it was signed", async () => {
    const order = await sign(inputOf(ids[0]!));
    expect(await refusalOf({ ...order, parameters: { ...order.parameters, offerer: buyer } })).toMatch(
      /^400 invalid_request: .*signature/,
    );
    const cheaper = { ...order.parameters.consideration[0]!, startAmount: "1", endAmount: "1" };
    const consideration = [cheaper, ...order.parameters.consideration.slice(1)];
    expect(await refusalOf({ ...order, parameters: { ...order.parameters, consideration } })).toMatch(
      /^400 invalid_request: .*signature/,
    );
    expect(await refusalOf({ ...order, signature: `0x${"11".repeat(64)}` })).toMatch(
      /^400 invalid_request: .*signature/,
    );
  });

  test("one that is over, or ends before it starts", async () => {
    expect(await refusalOf(await sign(inputOf(ids[0]!, { endTime: now() - 5 })))).toMatch(
      /^400 invalid_request: .*expired/,
    );
    const order = await sign(inputOf(ids[0]!));
    const parameters = { ...order.parameters, startTime: order.parameters.endTime };
    expect(await refusalOf({ ...order, parameters })).toMatch(/^400 invalid_request: .*ends before it starts/);
  });

  test("one of somebody who doesn't hold the token, or lets nobody move it", async () => {
    expect(await refusalOf(await signUnchecked(ids[1]!))).toMatch(/^400 invalid_request: .*holds 0 of the token/);
    const order = await signUnchecked(ids[5]!);
    await mine(call(seller, "setApprovalForAll", [SEAPORT_ADDRESS, false]));
    await catchUp();
    expect(await token(ids[0]!)).toMatchObject({ is_listed: "false" });
    expect(await refusalOf(order)).toMatch(/^400 invalid_request: .*not approved/);
    await mine(call(seller, "setApprovalForAll", [SEAPORT_ADDRESS, true]));
    await catchUp();
    expect(await token(ids[0]!)).toMatchObject({ is_listed: "true" });
  });

  test("one of an earlier counter", async () => {
    const order = await signUnchecked(ids[0]!, { counter: 5 });
    expect(await refusalOf(order)).toMatch(/^400 invalid_request: .*counter is 5/);
  });

  test("a body that is no order, and says which part of it", async () => {
    expect(await refusalOf({})).toMatch(/^400 invalid_request: .*parameters is missing/);
    expect(await refusalOf([])).toMatch(/^400 invalid_request: .*not an object/);
    const order = await sign(inputOf(ids[0]!));
    expect(await refusalOf({ parameters: order.parameters })).toMatch(/^400 invalid_request: .*signature is missing/);
    expect(await refusalOf({ ...order, parameters: { ...order.parameters, salt: "x" } })).toMatch(
      /^400 invalid_request: .*salt "x" is invalid/,
    );
    expect(await refusalOf({ ...order, parameters: { ...order.parameters, salt: undefined } })).toMatch(
      /^400 invalid_request: .*salt is missing\. Expected a whole number/,
    );
    expect(await refusalOf({ ...order, parameters: { ...order.parameters, offer: [] } })).toMatch(
      /^400 invalid_request: .*offer is empty/,
    );
    const more = { ...order.parameters, totalOriginalConsiderationItems: 9 };
    expect(await refusalOf({ ...order, parameters: more })).toMatch(
      /^400 invalid_request: .*totalOriginalConsiderationItems is 9/,
    );
  });

  test("one for another version than its exchange is of", async () => {
    const exchange: Address = "0x000000000000000000000000000000005ea90000";
    await miner.client.setCode({
      address: exchange,
      bytecode: (await miner.client.getCode({ address: SEAPORT_ADDRESS }))!,
    });
    await mine(call(seller, "setApprovalForAll", [exchange, true]));
    await catchUp();
    const extra = await openApi(database.url, { env: { MAINNET_RPC_URL: chain.rpcUrl, SEAPORT_ADDRESSES: exchange } });
    const { parameters } = await sign(inputOf(ids[0]!));
    const answers = [];
    for (const version of ["1.5", "1.6"]) {
      const signature = await miner.client.signTypedData({
        account: seller,
        domain: { name: "Seaport", version, chainId: await miner.client.getChainId(), verifyingContract: exchange },
        types: EIP_712_ORDER_TYPE,
        primaryType: "OrderComponents",
        message: { ...parameters },
      });
      const body = JSON.stringify({ parameters, signature }, (_, value: unknown) =>
        typeof value === "bigint" ? value.toString() : value,
      );
      const headers = { "content-type": "application/json" };
      const response = await extra.app.request("/orderbook/orders", { method: "POST", headers, body });
      answers.push(response.status === 200 ? "taken" : ((await response.json()) as Body).message);
    }
    expect(answers).toEqual([expect.stringMatching(/^The signature is not the offerer's for this order\./), "taken"]);
    await extra.stop();
  });

  test("an offer without the money for it", async () => {
    const poor = await sign(
      {
        offer: [{ token: WRAPPED_ETHER_ADDRESS, amount: "1000" }],
        consideration: [
          { itemType: ItemType.ERC721, token: contract, identifier: ids[0]!.toString(), recipient: buyer },
        ],
        startTime: now() - 10,
        endTime: now() + 1000,
      },
      buyer,
    );
    expect((await post(poor)).status).toBe(200);
    expect(await token(ids[0]!)).toMatchObject({ has_offer: "true" });
    expect((await get(market.seaport.getOrderHash(poor.parameters))).body.result.is_fillable).toBe(true);
    const [nft] = poor.parameters.consideration;
    const missing = { ...poor.parameters, consideration: [{ ...nft!, identifierOrCriteria: "888000" }] };
    expect(await refusalOf({ parameters: missing, signature: await market.seaport.signOrder(missing, buyer) })).toBe(
      `400 invalid_request: Token 888000 of contract ${contract} is unknown.`,
    );
    const amount = "1".padEnd(30, "0");
    const parameters = {
      ...poor.parameters,
      offer: [{ ...poor.parameters.offer[0]!, startAmount: amount, endAmount: amount }],
    };
    const signature = await market.seaport.signOrder(parameters, buyer);
    expect(await refusalOf({ parameters, signature })).toMatch(/^400 invalid_request: .*not funded/);
  });
});

test("orders of one maker for the same token are taken up to a hundred, and the same one again", async () => {
  const sql = api.databases.write.mainnet;
  await sql`delete from offchain.signed_order`;
  const order = await sign(inputOf(ids[0]!, { salt: "77" }));
  expect((await post(order)).status).toBe(200);
  const hash = toBytes(market.seaport.getOrderHash(order.parameters));
  const [row] = await sql`select * from offchain.signed_order where order_hash = ${hash}`;
  const copies = Array.from({ length: 99 }, (_, n) => ({ ...row, order_hash: Buffer.alloc(32, n) }));
  await sql`insert into offchain.signed_order ${sql(copies)}`;
  expect((await post(order)).status).toBe(200);
  const another = await sign(inputOf(ids[0]!, { salt: "78" }));
  expect(await refusalOf(another)).toMatch(/^400 invalid_request: .*100 orders of the offerer stand for token 880001/);
  expect((await post(await sign(inputOf(ids[5]!, { salt: "79" })))).status).toBe(200);
  await sql`delete from offchain.signed_order where order_hash <> ${hash}`;
  expect((await post(another)).status).toBe(200);
});

test("an order that nobody sent is not there", async () => {
  expect(await get(`0x${"5e".repeat(32)}`)).toMatchObject({ status: 404, body: { type: "invalid_request" } });
  expect(await get("0x5e")).toMatchObject({
    status: 400,
    body: { message: 'Order hash "0x5e" is invalid. Expected 0x and 64 hex digits.' },
  });
});

test("of orders that are sent at once no more are taken than of the same one after the other", async () => {
  const sql = api.databases.write.mainnet;
  await sql`delete from offchain.signed_order`;
  const orders = [];
  for (const n of range(8)) orders.push(await sign(inputOf(ids[0]!, { salt: String(500 + n) })));
  expect((await post(orders[0])).status).toBe(200);
  const [row] = await sql`select * from offchain.signed_order`;
  const copies = range(97).map((n) => ({ ...row, order_hash: Buffer.alloc(32, n) }));
  await sql`insert into offchain.signed_order ${sql(copies)}`;
  const answers = await Promise.all(orders.slice(1).map(post));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(2);
  await sql`delete from offchain.signed_order`;
});

describe("what nobody signed costs the node", () => {
  let proxy: RpcProxy;
  let asking: Api;
  beforeAll(async () => {
    // Of the Seaports that are known this chain has two, of which one more is a copy.
    const bytecode = (await miner.client.getCode({ address: SEAPORT_ADDRESS }))!;
    await miner.client.setCode({ address: "0x00000000000000adc04c56bf30ac9d3c0aaf14dc", bytecode });
    proxy = await startRpcProxy(chain.rpcUrl);
    asking = await openApi(database.url, { env: { MAINNET_RPC_URL: proxy.url } });
    // Which exchanges are there is known from the first order on, and whether Multicall3 is from the second.
    await callsOf({ counter: undefined });
    await callsOf({ counter: undefined });
  });
  afterAll(async () => {
    await asking?.stop();
    await proxy?.stop();
  });

  /** What is asked of the node for an order with a signature that is wrong. */
  async function callsOf(change: Record<string, unknown>): Promise<Record<string, number>> {
    const { parameters } = await sign(inputOf(ids[0]!));
    proxy.resetCounts();
    const response = await asking.app.request("/orderbook/orders", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ parameters: { ...parameters, ...change }, signature: `0x${"11".repeat(64)}` }),
    });
    expect(response.status).toBe(400);
    return proxy.counts();
  }

  test("one question where a person is said to have signed", async () => {
    expect(await callsOf({})).toEqual({ eth_getCode: 1 });
  });

  test("one more, for its counters at all exchanges, where the order doesn't name one", async () => {
    expect(await callsOf({ counter: undefined })).toEqual({ eth_getCode: 1, eth_call: 1 });
  });

  test("what each exchange that is there asks a contract", async () => {
    await callsOf({ offerer: contract });
    expect(await callsOf({ offerer: contract })).toEqual({ eth_call: 2 });
  });

  test("nothing where the order couldn't be taken anyway", async () => {
    const token = [{ itemType: 2, token: contract, identifierOrCriteria: "1", startAmount: "2", endAmount: "2" }];
    expect(await callsOf({ offer: token })).toEqual({});
    const unknown = [
      { itemType: 2, token: contract, identifierOrCriteria: "888000", startAmount: "1", endAmount: "1" },
    ];
    expect(await callsOf({ offer: unknown })).toEqual({});
  });
});

test("an order at an exchange that is taken out of SEAPORT_ADDRESSES counts again when that is back", async () => {
  await api.databases.write.mainnet`delete from offchain.signed_order`;
  const exchange: Address = "0x000000000000000000000000000000005ea91111";
  const env = { MAINNET_RPC_URL: chain.rpcUrl, SEAPORT_ADDRESSES: exchange };
  const bytecode = (await miner.client.getCode({ address: SEAPORT_ADDRESS }))!;
  await miner.client.setCode({ address: exchange, bytecode });
  await mine(call(seller, "setApprovalForAll", [exchange, true]));
  const follow = async (settings: Record<string, string>, isListed: string) => {
    await indexer.stop();
    indexer = startIndexer({ databaseUrl: database.url, rpcUrl: chain.rpcUrl, env: settings });
    await catchUp();
    await expect.poll(async () => (await token(ids[0]!)).is_listed, { timeout: WAIT_TIMEOUT_MS }).toBe(isListed);
  };
  await follow(env, "false");

  expect((await post(await sign(inputOf(ids[5]!)))).status).toBe(200);
  const { parameters } = await sign(inputOf(ids[0]!));
  const domain = { name: "Seaport", version: "1.6", chainId: chain.chainId, verifyingContract: exchange };
  const types = EIP_712_ORDER_TYPE;
  const terms = { domain, types, primaryType: "OrderComponents", message: { ...parameters } } as const;
  const signature = await miner.client.signTypedData({ account: seller, ...terms });
  const extra = await openApi(database.url, { env });
  const response = await extra.app.request("/orderbook/orders", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ parameters, signature }, (_, value: unknown) =>
      typeof value === "bigint" ? value.toString() : value,
    ),
  });
  await extra.stop();
  expect(response.status).toBe(200);
  expect(await token(ids[0]!)).toMatchObject({ is_listed: "true", current_price: PRICE });

  // Nobody sees any more what becomes of it.
  await follow({}, "false");
  expect(await token(ids[5]!)).toMatchObject({ is_listed: "true" });
  await follow(env, "true");
});

/** An order that Seaport's client would not make. */
async function signUnchecked(tokenId: bigint, { counter = 0 }: { counter?: number } = {}) {
  const order = await sign(inputOf(ids[5]!, { salt: "5" }));
  const [item] = order.parameters.offer;
  const offer = [{ ...item!, identifierOrCriteria: tokenId.toString() }];
  const parameters = { ...order.parameters, offer, counter };
  return { parameters, signature: await market.seaport.signOrder(parameters, seller) };
}
