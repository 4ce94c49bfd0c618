import type { OrderWithCounter } from "@opensea/seaport-js/lib/types.js";
import { type Address, encodeFunctionData } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { withConnection } from "../postgres/pool.ts";
import type { Api } from "../api/server.ts";
import { SEAPORT_ADDRESS } from "../demo/exchange.ts";
import { fillOrder, toTransaction } from "../demo/market.ts";
import { createCallReader } from "../offchain/chain/call.ts";
import { createRpc } from "../offchain/chain/rpc.ts";
import { readContractSignatures } from "../offchain/order/contract-signature.ts";
import { openApi } from "./api.ts";
import { createTestDatabase, type TestDatabase } from "./database.ts";
import { startIndexer } from "./indexer.ts";
import { type OrderbookWorld, startOrderbookWorld, toLong } from "./orderbook-world.ts";
import { compile } from "./solidity.ts";

/*
 * An index that begins after a maker has raised their counter, cancelled and sold, and put an order on the chain: what
 * came of their orders before its first block stands in no log of it.
 */

const OUTDATED = 880_001n;
const CANCELLED = 880_002n;
const FILLED = 880_003n;
const OPEN = 880_004n;
/** Four units for sale, of which one was sold. */
const UNITS = 880_005n;
const TOKENS = [OUTDATED, CANCELLED, FILLED, OPEN];
/** Two tokens of a wallet, whose listing of the first was put on the chain. */
const VALIDATED = 880_006n;
const ONLY_SIGNED = 880_007n;

const { Wallet } = compile("Wallet");

let w: OrderbookWorld;
let database: TestDatabase;
let api: Api;
let wallet: Address;
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
  const [receipt] = await w.mine([{ from: w.other, data: Wallet.bytecode }]);
  wallet = receipt!.contractAddress!.toLowerCase() as Address;
  for (const id of [VALIDATED, ONLY_SIGNED]) signed.set(id, await signAsWallet(id));
  await w.mine([await toTransaction(w.other, w.market.seaport.validate([signed.get(VALIDATED)!], w.other))]);

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
    ...[VALIDATED, ONLY_SIGNED].map((id) => w.call(w.other, single, "mint", [wallet, id])),
    ofWallet("execute", [single, w.call(wallet, single, "setApprovalForAll", [SEAPORT_ADDRESS, true]).data]),
  ]);
  const indexer = startIndexer({ databaseUrl: database.url, rpcUrl: w.chain.rpcUrl, env });
  stack.defer(indexer.stop);
  await indexer.waitUntilLive(await w.head());
  api = await openApi(database.url, { env: { MAINNET_RPC_URL: w.chain.rpcUrl } });
  stack.defer(api.stop);
});
afterAll(() => stack.disposeAsync());

/** A call of the wallet by its owner. */
const ofWallet = (functionName: string, args: unknown[]) => ({
  from: w.other,
  to: wallet,
  data: encodeFunctionData({ abi: Wallet.abi, functionName, args }),
});

/** A listing of the wallet's, signed by its owner. */
async function signAsWallet(id: bigint): Promise<OrderWithCounter> {
  const { parameters } = signed.get(OPEN)!;
  const own = {
    ...parameters,
    offerer: wallet,
    counter: 0,
    offer: [{ ...parameters.offer[0]!, identifierOrCriteria: id.toString() }],
    consideration: [{ ...parameters.consideration[0]!, recipient: wallet }],
    totalOriginalConsiderationItems: 1,
  } as unknown as OrderWithCounter["parameters"];
  return { parameters: own, signature: toLong(await w.market.seaport.signOrder(own, w.other)) };
}

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

test("one of a wallet that disowns it stands where it was put on the chain before, as at the exchange", async () => {
  for (const id of [VALIDATED, ONLY_SIGNED]) expect(await post(id)).toBe("200 ");
  const compareBoth = async () => {
    await withConnection(database.url, (sql) =>
      readContractSignatures(sql, {
        chainId: w.chain.chainId,
        readCalls: createCallReader(createRpc({ urls: [w.chain.rpcUrl] })),
        after: undefined,
      }),
    );
    return Promise.all(
      [VALIDATED, ONLY_SIGNED].map(async (id) => [await isListed(id), await w.couldBeFilled(signed.get(id)!)]),
    );
  };
  const both = ["true", true];
  expect(await compareBoth()).toEqual([both, both]);
  await w.mine([ofWallet("lock", [true])]);
  expect(await compareBoth()).toEqual([both, ["false", false]]);
});
