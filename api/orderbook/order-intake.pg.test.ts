import {
  concat,
  type Hex,
  hexToBigInt,
  keccak256,
  numberToHex,
  stringToHex,
  toFunctionSelector,
  zeroAddress,
  zeroHash,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { toBytes } from "../../offchain/bytea.ts";
import { CONDUIT_CONTROLLER_ADDRESS, SEAPORT_VERSIONS } from "../../abis/seaport.ts";
import { readConfig } from "../../config.ts";
import { addressOf, createTestApi, inserter, MAINNET_ID, type TestApi } from "../../test/api.ts";
import { serveCalls } from "../../test/node-server.ts";
import type { Origin } from "../../test/origin.ts";
import { clearOrders, placeOrder } from "../../test/orders.ts";
import { digestOf, hashOrder, type OrderComponents } from "./order-signature.ts";

/** Time of the network's head. It is ahead of this machine's clock, so orders are judged by it. */
const NOW = 4_000_000_000;
const account = privateKeyToAccount(keccak256(stringToHex("a maker")));
const MAKER = account.address.toLowerCase() as Hex;
const [CRANES, CONDUIT] = [addressOf(0x71), addressOf(0xc0d)] as [Hex, Hex];
const SEAPORT: Hex = "0x0000000000000068f116a894984e2db1123eb395";
const SEAPORT_15: Hex = "0x00000000000000adc04c56bf30ac9d3c0aaf14dc";
/** This exchange has no code on the test's chain. */
const SEAPORT_14: Hex = "0x00000000000001ad428e4906ae43d8f9852d0dd6";
const WETH: Hex = "0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2";
const SEAPORT_ELSEWHERE: Hex = "0x00000000006687982678b03100b9bdc8be440814";
/** An exchange of `SEAPORT_ADDRESSES` for each version. */
const OWN: Record<Hex, string> = Object.fromEntries(
  [...new Set(Object.values(SEAPORT_VERSIONS))].map((version, index) => [addressOf(0x5ea0 + index), version]),
);
const VERSIONS: Record<Hex, string> = {
  ...OWN,
  [SEAPORT]: "1.6",
  [SEAPORT_ELSEWHERE]: "1.6",
  [SEAPORT_15]: "1.5",
  [SEAPORT_14]: "1.4",
};

/** Addresses with code, and the words that a contract answers to a function. All other calls revert. */
const codes = new Set<string>();
const answers = new Map<string, bigint[]>();
const say = (to: Hex, signature: string, ...words: bigint[]) =>
  answers.set(`${to} ${toFunctionSelector(signature)}`, words);
/** The same at the end of a block that isn't the last one. */
const sayAt = (block: number, to: Hex, signature: string, ...words: bigint[]) =>
  answers.set(`${to} ${toFunctionSelector(signature)} at ${block}`, words);

let node: Origin;
let t: TestApi;

type Request = { id: unknown; method: string; params: [string & { to: Hex; data: Hex }, string] };
function answer({ id, method, params: [parameter, block] }: Request) {
  const found = (result: unknown) => ({ jsonrpc: "2.0", id, result });
  if (method === "eth_chainId") return found(numberToHex(MAINNET_ID));
  if (method === "eth_getCode") return found(codes.has(parameter) ? "0x01" : "0x");
  // A payment.
  if (parameter.data === undefined) return found("0x");
  const call = `${parameter.to} ${parameter.data.slice(0, 10)}`;
  const words = block === "latest" ? answers.get(call) : answers.get(`${call} at ${Number(block)}`);
  if (!words) return { jsonrpc: "2.0", id, error: { code: 3, message: "execution reverted" } };
  return found(concat(words.map((word) => numberToHex(word, { size: 32 }))));
}

beforeAll(async () => {
  node = await serveCalls(answer);
  const { networks } = readConfig({ MAINNET_RPC_URL: node.url });
  t = await createTestApi({ config: { networks, seaportAddresses: Object.keys(OWN) } });
  await t.sql`update offchain.network set head_timestamp = ${NOW}`;
  await t.api.refresh();
  await inserter(t.sql).contract(CRANES);
  await inserter(t.sql).token(CRANES, 1, { owner: MAKER });
  for (const address of [SEAPORT, SEAPORT_15, WETH]) codes.add(address);
});
afterAll(async () => {
  await t.stop();
  await node.close();
});
beforeEach(async () => {
  await clearOrders(t.sql);
  await t.sql`delete from onchain_mainnet.conduit`;
  await t.sql`delete from offchain.signed_order`;
  for (const operator of [SEAPORT, SEAPORT_15, CONDUIT]) await approve(operator, true);
  answers.clear();
  say(WETH, "balanceOf(address)", 1000n);
  say(WETH, "allowance(address,address)", 1000n);
});

const approve = (operator: Hex, is_approved: boolean) => t.sql`
  insert into onchain_mainnet.approval ${t.sql({
    block_number: is_approved ? 1 : 2,
    log_index: Number(BigInt(operator) % 1000n),
    contract_address: toBytes(CRANES),
    owner: toBytes(MAKER),
    operator: toBytes(operator),
    is_approved,
  } as never)}
`;

const crane = { itemType: 2, token: CRANES, identifierOrCriteria: 1n, startAmount: 1n, endAmount: 1n };
const money = (amount: bigint, { itemType = 0, token = zeroAddress }: { itemType?: number; token?: Hex } = {}) => ({
  itemType,
  token,
  identifierOrCriteria: 0n,
  startAmount: amount,
  endAmount: amount,
});
/** The maker's listing of a crane for 1000 wei. `more` overrides fields. */
const listing = (more: Partial<OrderComponents> = {}): OrderComponents => ({
  offerer: MAKER,
  zone: zeroAddress,
  offer: [crane],
  consideration: [{ ...money(1000n), recipient: MAKER }],
  orderType: 0,
  startTime: 0n,
  endTime: BigInt(NOW) + 1000n,
  zoneHash: zeroHash,
  salt: 0n,
  conduitKey: zeroHash,
  counter: 0n,
  ...more,
});
const offer = (amount: bigint): OrderComponents =>
  listing({
    offer: [money(amount, { itemType: 1, token: WETH })],
    consideration: [{ ...crane, recipient: MAKER }],
  });

/** Sends an order. Returns "taken", or the status and message of the refusal. */
async function send(
  order: OrderComponents,
  { at = SEAPORT, ...more }: { at?: Hex; exchange_address?: Hex; signature?: Hex } = {},
) {
  const digest = digestOf(hashOrder(order), { version: VERSIONS[at]!, chainId: MAINNET_ID, exchange: at });
  const text = JSON.stringify(
    { parameters: order, signature: await account.sign({ hash: digest }), ...more },
    (_, value: unknown) => (typeof value === "bigint" ? value.toString() : value),
  );
  const { status, body } = await t.post("/orderbook/orders", JSON.parse(text));
  return body.result?.order_hash === hashOrder(order) ? "taken" : `${status} ${body.message}`;
}
const find = async (order: OrderComponents) => (await t.get(`/orderbook/orders/${hashOrder(order)}`)).body.result;

test("an order is taken until the second at which it ends", async () => {
  expect(await send(listing({ endTime: BigInt(NOW) }))).toBe("400 The order has expired.");
  expect(await send(listing({ endTime: BigInt(NOW) + 1n }))).toBe("taken");
});

test("one whose signature doesn't fit is told the chain, and an end that go-ethereum writes and Seaport refuses", async () => {
  const order = listing();
  const digestFor = (chainId: number) => digestOf(hashOrder(order), { version: "1.6", chainId, exchange: SEAPORT });
  expect(await send(order, { signature: await account.sign({ hash: digestFor(MAINNET_ID + 1) }) })).toBe(
    `400 The signature is not the offerer's for this order. Expected theirs, for Seaport on chain ${MAINNET_ID}.`,
  );
  const signature = await account.sign({ hash: digestFor(MAINNET_ID) });
  const last = signature.endsWith("1b") ? "00" : "01";
  expect(await send(order, { signature: `${signature.slice(0, -2)}${last}` as Hex })).toBe(
    `400 The signature is not the offerer's for this order: it ends in ${last}. Expected 1b or 1c (27 or 28) at the end of a key's.`,
  );
});

test("one of a contract, or for nothing, is not", async () => {
  expect(await send(listing({ orderType: 4 }))).toMatch(/^400 orderType is 4/);
  expect(await send(listing({ consideration: [{ ...money(0n), recipient: MAKER }] }))).toMatch(/^400 .* for nothing/);
  const rising = { ...money(0n), endAmount: 1n, recipient: MAKER };
  expect(await send(listing({ consideration: [rising] }))).toBe("taken");
});

test("one for some tokens of a contract, which only a proof tells, is not, and says what may be", async () => {
  const someCranes = { ...crane, itemType: 4, identifierOrCriteria: 5n };
  for (const order of [
    { ...offer(5n), consideration: [{ ...someCranes, recipient: MAKER }] },
    listing({ offer: [someCranes] }),
  ])
    expect(await send(order)).toMatch(/^400 .* for any token of a contract, .* but not for some of them\.$/);
});

test("one for a token of a hidden contract, or for any of its tokens, is not", async () => {
  const anyCrane = { ...crane, itemType: 4, identifierOrCriteria: 0n, recipient: MAKER };
  const orders = [listing(), { ...offer(5n), consideration: [anyCrane] }];
  const answersTo = async () => Promise.all(orders.map((order) => send(order)));
  await inserter(t.sql).contractMetadata(CRANES, { is_fungible: true });
  expect(await answersTo()).toEqual([
    `400 Token 1 of contract ${CRANES} is unknown.`,
    `400 Contract ${CRANES} is unknown.`,
  ]);
  await t.sql`delete from offchain.contract_metadata`;
  expect(await answersTo()).toEqual(["taken", "taken"]);
});

test("an offer for any token of a contract of two standards is for its tokens of either", async () => {
  const anyOf = (itemType: number) => ({
    ...offer(5n),
    consideration: [{ ...crane, itemType, identifierOrCriteria: 0n, recipient: MAKER }],
  });
  const [single, units] = [anyOf(4), anyOf(5)];
  expect(await send(units)).toMatch(/^400 The order's itemType is that of ERC1155. Expected that of ERC721/);
  await inserter(t.sql).token(CRANES, 9, { owner: null, standard: "ERC1155" });
  await inserter(t.sql).ownership(CRANES, 9, CONDUIT, 4);
  const offersOn = async (id: number) =>
    ((await t.get(`/orderbook/token/${CRANES}/${id}/offers`)).body.result.offers as unknown[]).length;
  expect(await send(units)).toBe("taken");
  expect([await offersOn(1), await offersOn(9)]).toEqual([0, 1]);
  expect(await send(single)).toBe("taken");
  expect([await offersOn(1), await offersOn(9)]).toEqual([1, 1]);
  await t.sql`delete from onchain_mainnet.token where token_id = 9`;
  await t.sql`delete from onchain_mainnet.ownership`;
});

test("one of a wallet that disowned its signature stands with another one", async () => {
  const wallet = addressOf(0x3a1) as Hex;
  codes.add(wallet);
  await inserter(t.sql).token(CRANES, 3, { owner: wallet });
  const order = listing({
    offerer: wallet,
    offer: [{ ...crane, identifierOrCriteria: 3n }],
    consideration: [{ ...money(1000n), recipient: wallet }],
  });
  const forged = `400 The signature is not the offerer's for this order. Expected theirs, for Seaport on chain ${MAINNET_ID}.`;
  expect(await send(order)).toBe(forged);
  say(wallet, "isValidSignature(bytes32,bytes)", BigInt("0x1626ba7e".padEnd(66, "0")));
  expect(await send(order)).toBe("taken");
  const { signature } = await find(order);
  const [{ contract_digest }] = await t.sql<[{ contract_digest: Buffer }]>`
    update offchain.signed_order
    set is_disowned = true
    returning contract_digest
  `;
  expect(`0x${contract_digest.toString("hex")}`).toBe(
    digestOf(hashOrder(order), { version: "1.6", chainId: MAINNET_ID, exchange: SEAPORT }),
  );
  expect(await find(order)).toMatchObject({ is_fillable: false, signature });
  expect(await send(order, { signature: "0x1234" })).toBe("taken");
  expect(await find(order)).toMatchObject({ is_fillable: true, signature: "0x1234" });
  // An order that stands keeps the signature that it has.
  expect(await send(order)).toBe("taken");
  expect(await find(order)).toMatchObject({ is_fillable: true, signature: "0x1234" });
  // A key's signature can't be disowned, so its order has no contract_digest.
  expect(await send(listing())).toBe("taken");
  expect(
    await t.sql`
      select count(*)::int as count
      from offchain.signed_order
      where contract_digest is not null
    `,
  ).toEqual([{ count: 1 }]);
});

test("one that an account's contract confirmed, and then its key signed, stands whatever the contract says", async () => {
  codes.add(MAKER);
  say(MAKER, "isValidSignature(bytes32,bytes)", BigInt("0x1626ba7e".padEnd(66, "0")));
  expect(await send(listing(), { signature: "0x1234" })).toBe("taken");
  expect(await send(listing())).toBe("taken");
  // As the worker does with what a contract disowns.
  await t.sql`update offchain.signed_order set is_disowned = true where contract_digest is not null`;
  const { signature, is_fillable } = await find(listing());
  expect([String(signature).length, is_fillable]).toEqual([2 + 2 * 65, true]);
  codes.delete(MAKER);
});

describe("what became of an order", () => {
  const status = (isCancelled: bigint, filled: bigint, parts: bigint) =>
    say(SEAPORT, "getOrderStatus(bytes32)", 0n, isCancelled, filled, parts);
  const settle = (state: Record<string, unknown>) =>
    placeOrder(t.sql, 1, { side: null, order_hash: hashOrder(listing()), exchange_address: SEAPORT, ...state });
  const cancelled = "400 The order is cancelled.";
  const filled = "400 The order is filled.";

  test("is what its exchange says", async () => {
    status(1n, 0n, 0n);
    expect(await send(listing())).toBe(cancelled);
    status(0n, 2n, 2n);
    expect(await send(listing())).toBe(filled);
    status(0n, 0n, 0n);
    expect(await send(listing())).toBe("taken");
  });

  test("or its logs, where the node lags", async () => {
    await settle({ is_cancelled: true });
    expect(await send(listing())).toBe(cancelled);
    await clearOrders(t.sql);
    await settle({ filled: "1" });
    expect(await send(listing())).toBe(filled);
  });

  test("in blocks that are not indexed has to be indexed first", async () => {
    await inserter(t.sql).token(CRANES, 2, { owner: null, standard: "ERC1155" });
    await inserter(t.sql).ownership(CRANES, 2, MAKER, 4);
    const units = { ...crane, itemType: 3, identifierOrCriteria: 2n, startAmount: 4n, endAmount: 4n };
    const order = listing({ offer: [units], orderType: 1 });
    status(0n, 1n, 2n);
    expect(await send(order)).toMatch(/^400 2 of the order's units were filled in blocks that are not indexed/);
    await settle({ order_hash: hashOrder(order), filled: "1" });
    expect(await send(order)).toMatch(/^400 1 of the order's units were filled in blocks that are not indexed/);
    await t.sql`update onchain_mainnet.trade_order set filled = 2`;
    expect(await send(order)).toBe("taken");
    // The maker has to hold the units that are left.
    await inserter(t.sql).ownership(CRANES, 2, CONDUIT, 4);
    const hold = (balance: number) =>
      t.sql`update onchain_mainnet.ownership set balance = ${balance} where owner = ${toBytes(MAKER)}`;
    await hold(2);
    expect(await send(order)).toBe("taken");
    await hold(1);
    expect(await send(order)).toBe("400 The offerer holds 1 of the token. Expected at least 2.");
  });
});

test("an approval is as the contract says, else as it said last, else it is taken to stand", async () => {
  const refused = `400 The token is not approved for ${SEAPORT}, through which the order would be filled.`;
  await approve(SEAPORT, false);
  expect(await send(listing())).toBe(refused);
  // Approved again, later in the same block.
  await t.sql`
    insert into onchain_mainnet.approval (block_number, log_index, contract_address, owner, operator, is_approved)
    select block_number, log_index + 1, contract_address, owner, operator, true
    from onchain_mainnet.approval
    where not is_approved
  `;
  expect(await send(listing())).toBe("taken");
  await t.sql`delete from onchain_mainnet.approval where is_approved`;
  say(CRANES, "getApproved(uint256)", BigInt(SEAPORT));
  expect(await send(listing())).toBe("taken");
  await t.sql`delete from onchain_mainnet.approval`;
  say(CRANES, "getApproved(uint256)", 0n);
  expect(await send(listing())).toBe(refused);
  answers.clear();
  expect(await send(listing())).toBe("taken");
});

test("where Seaport lives elsewhere, OpenSea's conduit is who must be approved, though it doesn't follow from its key", async () => {
  const conduitKey = "0x86d26897267711ea4b173c8c124a0a73612001da35562f1ee3b26929b6575e89";
  codes.add(SEAPORT_ELSEWHERE);
  say(CRANES, "isApprovedForAll(address,address)", 0n);
  say(CRANES, "getApproved(uint256)", 0n);
  const refused = await send(listing({ conduitKey }), { at: SEAPORT_ELSEWHERE });
  expect(refused).toMatch(/0x00000000001566479594a2e05532d81afa09bc52/);
  await approve("0x00000000001566479594a2e05532d81afa09bc52", true);
  expect(await send(listing({ conduitKey }), { at: SEAPORT_ELSEWHERE })).toBe("taken");
  codes.delete(SEAPORT_ELSEWHERE);
});

test("a conduit is where its controller said, and needs a channel where there is a controller to say so", async () => {
  const conduitKey = keccak256("0x01");
  const closed = `400 The conduit of the order's conduitKey, ${CONDUIT}, has no open channel to exchange ${SEAPORT}.`;
  const row = { conduit_key: toBytes(conduitKey), conduit_address: toBytes(CONDUIT) };
  await t.sql`insert into onchain_mainnet.conduit ${t.sql(row as never)}`;
  expect(await send(listing({ conduitKey }))).toBe("taken");
  codes.add(CONDUIT_CONTROLLER_ADDRESS);
  say(CONDUIT_CONTROLLER_ADDRESS, "getChannelStatus(address,address)", 0n);
  expect(await send(listing({ conduitKey }))).toBe(closed);
  say(CONDUIT_CONTROLLER_ADDRESS, "getChannelStatus(address,address)", 1n);
  expect(await send(listing({ conduitKey }))).toBe("taken");
  codes.delete(CONDUIT_CONTROLLER_ADDRESS);
});

test("an offer is funded by what the bidder has and lets the exchange take, to the last unit", async () => {
  expect(await send(offer(1000n))).toBe("taken");
  expect(await send(offer(1001n))).toBe(`400 The offer is not funded: 1000 of ${WETH} can be taken. Expected 1001.`);
  say(WETH, "allowance(address,address)", 999n);
  expect(await send(offer(1000n))).toBe(`400 The offer is not funded: 999 of ${WETH} can be taken. Expected 1000.`);
});

test("neither an exchange nor a currency that isn't there will do", async () => {
  expect(await send(listing(), { at: SEAPORT_14 })).toMatch(
    /^400 The order is for exchange .* has no code on this chain/,
  );
  const coin = addressOf(0xc01) as Hex;
  const inCoins = { ...money(1n, { itemType: 1, token: coin }), recipient: MAKER };
  expect(await send(listing({ consideration: [inCoins] }))).toBe(
    `400 Currency ${coin} has no code on this chain. Expected that of a token.`,
  );
});

test("an exchange of SEAPORT_ADDRESSES may be of any version", async () => {
  const taken = [];
  for (const [at, version] of Object.entries(OWN) as [Hex, string][]) {
    codes.add(at);
    await approve(at, true);
    const text = hexToBigInt(stringToHex(version, { size: 32 }));
    say(at, "information()", 0x60n, 0n, hexToBigInt(CONDUIT_CONTROLLER_ADDRESS), BigInt(version.length), text);
    taken.push([version, await send(listing(), { at })]);
  }
  expect(taken).toEqual(Object.values(OWN).map((version) => [version, "taken"]));
});

describe("an order that names its exchange", () => {
  test("is taken for that one alone", async () => {
    expect(await send(listing(), { exchange_address: SEAPORT_15 })).toMatch(/^400 The signature is not the offerer's/);
    expect(await send(listing(), { at: SEAPORT_15, exchange_address: SEAPORT_15 })).toBe("taken");
    expect(await find(listing())).toMatchObject({ exchange_address: SEAPORT_15 });
    expect(await send(listing(), { exchange_address: CRANES })).toBe(
      `400 exchange_address ${CRANES} is unknown. Expected one of a Seaport.`,
    );
  });

  test("and signed for two is shown as the one that could be filled", async () => {
    for (const gone of [SEAPORT, SEAPORT_15]) {
      await clearOrders(t.sql);
      for (const at of [SEAPORT, SEAPORT_15]) expect(await send(listing(), { at })).toBe("taken");
      const state = { side: null, is_open: false, is_cancelled: true, exchange_address: gone };
      await placeOrder(t.sql, 1, { ...state, order_hash: hashOrder(listing()) });
      const left = gone === SEAPORT ? SEAPORT_15 : SEAPORT;
      expect(await find(listing())).toMatchObject({ exchange_address: left, is_fillable: true });
    }
  });
});

test("an offer under a counter that was raised could not be filled", async () => {
  expect(await send(offer(1000n))).toBe("taken");
  expect(await find(offer(1000n))).toMatchObject({ is_fillable: true });
  const counter = { exchange_address: toBytes(SEAPORT), maker: toBytes(MAKER), counter: "1" };
  await t.sql`insert into onchain_mainnet.order_counter ${t.sql(counter as never)}`;
  expect(await find(offer(1000n))).toMatchObject({ is_fillable: false });
});

describe("a counter without a log was raised", () => {
  const INDEXED = 50;
  const counterOf = "getCounter(address)";
  const order = listing({ counter: 7n });
  const isFillable = async () => (await find(order)).is_fillable as boolean;
  beforeEach(async () => {
    await t.sql`update offchain.network set indexed_block = ${INDEXED}`;
    say(SEAPORT, counterOf, 7n);
  });

  test("before the first indexed block where it was the same at the last one", async () => {
    sayAt(INDEXED, SEAPORT, counterOf, 7n);
    expect(await send(order)).toBe("taken");
    expect(await isFillable()).toBe(true);
  });

  test("or where no node knows what it was", async () => {
    expect(await send(order)).toBe("taken");
    expect(await isFillable()).toBe(true);
  });

  test("else in a block to come: the order stands from then on, unless a reorg takes the log away", async () => {
    sayAt(INDEXED, SEAPORT, counterOf, 0n);
    expect(await send(order)).toBe("taken");
    expect(await isFillable()).toBe(false);
    const counter = { exchange_address: toBytes(SEAPORT), maker: toBytes(MAKER), counter: "7" };
    await t.sql`insert into onchain_mainnet.order_counter ${t.sql(counter as never)}`;
    expect(await isFillable()).toBe(true);
    await t.sql`delete from onchain_mainnet.order_counter`;
    expect(await isFillable()).toBe(false);
  });
});

test("an offer for a token that is burned by now could not be filled", async () => {
  expect(await send(offer(1000n))).toBe("taken");
  await t.sql`update onchain_mainnet.token set owner = ${toBytes(zeroAddress)}`;
  expect(await find(offer(1000n))).toMatchObject({ is_fillable: false });
  await t.sql`update onchain_mainnet.token set owner = ${toBytes(MAKER)}`;
  expect(await find(offer(1000n))).toMatchObject({ is_fillable: true });
});
