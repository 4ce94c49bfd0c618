/** Zora's asks by their logs: what is written at the module's own addresses is all that an indexer sees of it. */
import { type Abi, encodeAbiParameters, type Hex, parseAbi, parseAbiParameters, zeroAddress } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { withConnection } from "../postgres/pool.ts";
import { BLUR_POOL_ADDRESS } from "../abis/blur.ts";
import { ZORA_ADDRESSES, ZORA_MODULE_MANAGER_ADDRESS, ZORA_TRANSFER_HELPER_ADDRESS } from "../abis/zora.ts";
import type { Api } from "../api/server.ts";
import { createCallReader } from "../offchain/chain/call.ts";
import { createRpc } from "../offchain/chain/rpc.ts";
import { readListingApprovals } from "../offchain/order/listing-approval.ts";
import { openApi } from "./api.ts";
import { assemble, callKey } from "./bytecode.ts";
import { type Contract, startChain, type TestChain } from "./chain.ts";
import { createTestDatabase, type TestDatabase } from "./database.ts";
import { type Indexer, startIndexer } from "./indexer.ts";
import { type LogToWrite, logOf, words } from "./raw-log.ts";
import { compile } from "./solidity.ts";

const { Deed, Emitter } = compile("Deed", "Emitter");
const ASKS = ZORA_ADDRESSES[0] as Hex;
const ASK = "(address,address,address,uint16,uint256)";
const abi: Abi = parseAbi([
  "function setApprovalForAll(address operator, bool approved)",
  "function transferFrom(address from, address to, uint256 tokenId)",
]);

let chain: TestChain;
let database: TestDatabase;
let indexer: Indexer;
let api: Api;
let deed: Contract;
let [seller, buyer]: [Hex, Hex] = ["0x", "0x"];

beforeAll(async () => {
  [chain, database] = await Promise.all([startChain(), createTestDatabase()]);
  [seller, buyer] = chain.accounts as [Hex, Hex];
  deed = await chain.deploy(Deed);
  const emitter = await chain.deploy(Emitter);
  const code = await chain.request<Hex>("eth_getCode", emitter.address, "latest");
  for (const address of [ASKS, ZORA_MODULE_MANAGER_ADDRESS]) await chain.request("anvil_setCode", address, code);
  await chain.mine({ to: deed, name: "mint", args: [seller, 1n] });
  indexer = startIndexer({ databaseUrl: database.url, rpcUrl: chain.rpcUrl });
  await indexer.waitUntilLive(await chain.head());
  api = await openApi(database.url);
});
afterAll(async () => {
  await api?.stop();
  await indexer?.stop();
  await chain?.stop();
  await database?.drop();
});

const at = (address: Hex): Contract => ({ address, abi: Emitter.abi });
const own = (): Contract => ({ address: deed.address, abi });
const askOf = (price: bigint, currency: Hex) => words(seller, seller, currency, 0n, price);
const ask = (name: string, price: bigint, currency: Hex = zeroAddress): LogToWrite =>
  logOf(`${name}(address,uint256,${ASK})`, [deed.address, 1n], askOf(price, currency));
const write = async (address: Hex, ...logs: LogToWrite[]) => {
  await chain.mine({ to: at(address), name: "write", args: [logs] });
  await indexer.waitUntilLive(await chain.head());
};
const act = async (name: string, ...args: unknown[]) => {
  await chain.mine({ to: own(), name, args, from: args[0] === buyer ? buyer : seller });
  await indexer.waitUntilLive(await chain.head());
};
const token = async (id = 1) => {
  const response = await api.app.request(`/orderbook/token/${deed.address}/${id}`);
  return ((await response.json()) as { result: Record<string, string> }).result;
};

test("an ask is a listing of the module's", async () => {
  await write(ASKS, ask("AskCreated", 500n));
  expect(await token()).toMatchObject({
    is_listed: "true",
    current_price: "500",
    current_owner: seller,
    exchange: "zora",
    broker_id: ASKS,
    end_date: "",
  });
});

test("its price changes, and a new one replaces it", async () => {
  await write(ASKS, ask("AskPriceUpdated", 400n));
  expect(await token()).toMatchObject({ is_listed: "true", current_price: "400" });
  await write(ASKS, ask("AskCanceled", 400n), ask("AskCreated", 700n));
  expect(await token()).toMatchObject({ is_listed: "true", current_price: "700" });
  const response = await api.app.request(`/orderbook/token/${deed.address}/1/history`);
  const { result } = (await response.json()) as { result: { history: Record<string, string>[] } };
  expect(result.history.map(({ order_status, amount }) => `${order_status} ${amount}`).toSorted()).toEqual([
    "CANCELLED 400",
    "CANCELLED 500",
    "PLACED 400",
    "PLACED 500",
    "PLACED 700",
  ]);
});

test("one that is to be paid out of Blur's pool is none: Zora can't take it from there", async () => {
  await write(ASKS, ask("AskPriceUpdated", 1n, BLUR_POOL_ADDRESS));
  expect(await token()).toMatchObject({ is_listed: "false" });
  await write(ASKS, ask("AskPriceUpdated", 700n));
  expect(await token()).toMatchObject({ is_listed: "true", current_price: "700" });
});

test("it stands while the seller holds the token, and comes back with it", async () => {
  await act("transferFrom", seller, buyer, 1n);
  expect(await token()).toMatchObject({ is_listed: "false" });
  await act("transferFrom", buyer, seller, 1n);
  expect(await token()).toMatchObject({ is_listed: "true" });
});

test("it stands while Zora may move the token, and the module may ask it to", async () => {
  for (const isApproved of [true, false, true]) {
    await act("setApprovalForAll", ZORA_TRANSFER_HELPER_ADDRESS, isApproved);
    expect(await token()).toMatchObject({ is_listed: String(isApproved) });
  }
  for (const isApproved of [false, true]) {
    const signature = "ModuleApprovalSet(address,address,bool)";
    await write(ZORA_MODULE_MANAGER_ADDRESS, logOf(signature, [seller, ASKS], words(isApproved ? 1n : 0n)));
    expect(await token()).toMatchObject({ is_listed: String(isApproved) });
  }
});

test("it ends when it is cancelled, and when it is filled", async () => {
  await write(ASKS, ask("AskCanceled", 700n));
  expect(await token()).toMatchObject({ is_listed: "false" });
  await write(ASKS, ask("AskCreated", 900n));
  expect(await token()).toMatchObject({ is_listed: "true", current_price: "900" });
  const data = encodeAbiParameters(parseAbiParameters(`address, ${ASK}`), [
    zeroAddress,
    [seller, seller, zeroAddress, 0, 900n],
  ]);
  await write(ASKS, logOf(`AskFilled(address,uint256,address,address,${ASK})`, [deed.address, 1n, buyer], data));
  // The token itself didn't move here: what ends the ask is its own log.
  expect(await token()).toMatchObject({ is_listed: "false", current_owner: seller });
});

test("one that somebody asks in an owner's name stands once the owner lets the module act", async () => {
  // Whoever asks has to let the module act, whoever sells has to for the sale.
  await chain.mine({ to: deed, name: "mint", args: [buyer, 2n] });
  await chain.mine({ to: own(), name: "setApprovalForAll", args: [ZORA_TRANSFER_HELPER_ADDRESS, true], from: buyer });
  const terms = words(buyer, seller, zeroAddress, 0n, 300n);
  await write(ASKS, logOf(`AskCreated(address,uint256,${ASK})`, [deed.address, 2n], terms));
  const readCalls = createCallReader(createRpc({ urls: [chain.rpcUrl] }));
  const emitter = await chain.request<Hex>("eth_getCode", ZORA_MODULE_MANAGER_ADDRESS, "latest");
  for (const isAllowed of [false, true]) {
    const code = assemble({ [callKey.isModuleApproved]: words(isAllowed ? 1n : 0n) });
    await chain.request("anvil_setCode", ZORA_MODULE_MANAGER_ADDRESS, code);
    await withConnection(database.url, (sql) =>
      readListingApprovals(sql, { network: "mainnet", chainId: 31_337, readCalls, after: undefined }),
    );
    expect(await token(2)).toMatchObject({ is_listed: String(isAllowed), current_owner: buyer });
  }
  // What is on record goes before what was said earlier.
  await chain.request("anvil_setCode", ZORA_MODULE_MANAGER_ADDRESS, emitter);
  for (const isAllowed of [false, true]) {
    const signature = "ModuleApprovalSet(address,address,bool)";
    await write(ZORA_MODULE_MANAGER_ADDRESS, logOf(signature, [buyer, ASKS], words(isAllowed ? 1n : 0n)));
    expect(await token(2)).toMatchObject({ is_listed: String(isAllowed) });
  }
});
