import { encodeAbiParameters, getAbiItem, type Hex, numberToHex, slice, toEventSelector, zeroAddress } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { withConnection } from "../postgres/pool.ts";
import { FOUNDATION_ADDRESS } from "../abis/foundation.ts";
import { seaportAbi } from "../abis/seaport.ts";
import { type DemoChain, startDemoChain } from "../demo/chain.ts";
import { createRequest, startChain } from "./chain.ts";
import { createTestDatabase, type TestDatabase } from "./database.ts";
import { type Indexer, startIndexer } from "./indexer.ts";
import { readAllRows, readSales, type SaleRow } from "./onchain-tables.ts";
import { fulfilled } from "./order-fulfilled.ts";
import { logOf, type LogToWrite, transferLog, word, words } from "./raw-log.ts";
import { type Call, type ReceiptLog, salesOfLogs } from "./sales-of-logs.ts";
import { compile } from "./solidity.ts";

const LIVE_EVENTS = 40;
const ETHER: Hex = `0x${"0".repeat(40)}`;

let chain: DemoChain;
let database: TestDatabase;
let indexer: Indexer;
let request: ReturnType<typeof createRequest>;

beforeAll(async () => {
  chain = await startDemoChain();
  request = createRequest(chain.rpcUrl);
  database = await createTestDatabase();
  indexer = startIndexer({ databaseUrl: database.url, rpcUrl: chain.rpcUrl });
});
afterAll(async () => {
  await indexer?.stop();
  await chain?.stop();
  await database?.drop();
});

const head = async () => Number(await request<Hex>("eth_blockNumber"));

type Transaction = Call & { hash: Hex; value: Hex };
type Log = ReceiptLog & { blockNumber: Hex; transactionHash: Hex };

/** Every transaction that sold something, with its sales as its logs alone have them. */
async function listTrades() {
  const logs = await request<Log[]>("eth_getLogs", { fromBlock: "0x0", toBlock: "latest" });
  const byTransaction = Map.groupBy(logs, (log) => log.transactionHash);
  const trades = await Promise.all(
    [...byTransaction].map(async ([hash, logs]) => {
      const transaction = await request<Transaction>("eth_getTransactionByHash", hash);
      const sales = await salesOfLogs(logs, transaction, chain);
      return { transaction, blockNumber: Number(logs[0]!.blockNumber), sales };
    }),
  );
  return trades.filter(({ sales }) => sales.length > 0);
}

/** Rows as the trades' logs have them, to be compared with the table's. */
async function expectSales(rows: SaleRow[]): Promise<void> {
  const expected = (await listTrades()).flatMap(({ transaction, blockNumber, sales }) =>
    sales.map(({ event_type: _type, timestamp: _timestamp, ...sale }) => ({
      ...sale,
      block_number: blockNumber,
      transaction_hash: transaction.hash,
    })),
  );
  expect(rows).toMatchObject(expected);
}

test("the history's sales are there, each once", async () => {
  await indexer.waitUntilLive(await head());
  const rows = await readSales(database.url);
  expect(rows.length).toBeGreaterThanOrEqual(10);
  await expectSales(rows);
});

test("what a transaction's sales cost in ether is what was sent with it", async () => {
  const trades = (await listTrades()).filter(({ sales }) =>
    sales.every(({ currency_address }) => currency_address === ETHER),
  );
  const rows = await readSales(database.url);
  const paid = trades.map(({ transaction }) => {
    const sold = rows.filter((row) => row.transaction_hash === transaction.hash);
    return { cost: sold.reduce((sum, { price }) => sum + price!, 0n), sent: BigInt(transaction.value) };
  });
  expect(paid.filter(({ cost, sent }) => cost === sent).length).toBeGreaterThanOrEqual(5);
  // A declining price is lower by the time it is paid, and the rest comes back.
  for (const { cost, sent } of paid.filter(({ cost, sent }) => cost !== sent)) {
    expect(cost).toBeLessThan(sent);
    expect(cost).toBeGreaterThan((sent * 9n) / 10n);
  }
});

test("live sales are there, and a reorg undoes those that it replaces", async () => {
  for (let event = 0; event < LIVE_EVENTS; event++) await chain.playEvent();
  await indexer.waitUntilLive(await head());
  const before = await readSales(database.url);
  await expectSales(before);

  const snapshot = await request<Hex>("evm_snapshot");
  const lost = await head();
  while ((await readSales(database.url)).length === before.length) {
    for (let event = 0; event < 5; event++) await chain.playEvent();
    await indexer.waitUntilLive(await head());
  }
  expect((await head()) - lost).toBeLessThan(30);
  const deepest = await head();
  await request("evm_revert", snapshot);
  await request("anvil_mine", numberToHex(deepest - lost + 2));
  await indexer.waitUntilLive(await head());
  expect(await readSales(database.url)).toEqual(before);
});

test("a second index of the same chain has the same rows", async () => {
  const other = await createTestDatabase();
  const second = startIndexer({ databaseUrl: other.url, rpcUrl: chain.rpcUrl });
  try {
    await second.waitUntilLive(await head());
    expect(await readAllRows(other.url)).toEqual(await readAllRows(database.url));
  } finally {
    await second.stop();
    await other.drop();
  }
});

test("an auction whose market keeps the token is sold, unless the token's contract isn't indexed", async () => {
  const [own, other] = [await startChain(), await createTestDatabase()];
  const { Emitter } = compile("Emitter");
  const [listed, unlisted] = [await own.deploy(Emitter), await own.deploy(Emitter)];
  const code = await own.request<Hex>("eth_getCode", listed.address, "latest");
  await own.request("anvil_setCode", FOUNDATION_ADDRESS, code);
  const market = { address: FOUNDATION_ADDRESS as Hex, abi: Emitter.abi };
  const [seller, winner] = own.accounts as [Hex, Hex];
  const created = "ReserveAuctionCreated(address,address,uint256,uint256,uint256,uint256,uint256)";
  const finalized = "ReserveAuctionFinalized(uint256,address,address,uint256,uint256,uint256)";
  const auction = async (id: bigint) => {
    for (const [place, contract] of [listed, unlisted].entries()) {
      const auctionId = 2n * id + BigInt(place);
      const began = logOf(created, [seller, contract.address, id], words(1n, 1n, 5n, auctionId));
      const ended = logOf(finalized, [auctionId, seller, winner], words(50n, 100n, 850n));
      await own.mine(
        { to: contract, name: "write", args: [[transferLog(seller, FOUNDATION_ADDRESS, id)]] },
        { to: market, name: "write", args: [[began, ended]] },
      );
    }
  };
  await auction(1n);
  await own.mineEmpty(40);
  const env = { MAINNET_CONTRACTS: listed.address };
  const second = startIndexer({ databaseUrl: other.url, rpcUrl: own.rpcUrl, env });
  try {
    const ownHead = await own.head();
    await second.waitUntilLive(ownHead);
    // The first ones are history, these come live.
    await auction(2n);
    await second.waitUntilLive(ownHead + 2);
    const sold = (await readSales(other.url)).map((sale) => [sale.contract_address, sale.token_id, sale.price]);
    expect(sold).toEqual([1n, 2n].map((id) => [listed.address, id, 1000n]));
  } finally {
    await second.stop();
    await other.drop();
    await own.stop();
  }
});

test("an order leaves a row where it names a token that is indexed, in history and live", async () => {
  const [own, other] = [await startChain(), await createTestDatabase()];
  const { Emitter } = compile("Emitter");
  const [listed, unlisted, exchange] = [
    await own.deploy(Emitter),
    await own.deploy(Emitter),
    await own.deploy(Emitter),
  ];
  const [seller, buyer] = own.accounts as [Hex, Hex];
  const topic = toEventSelector(getAbiItem({ abi: seaportAbi, name: "OrderFulfilled" }));
  const hashOf = (number: number, place: number) => numberToHex(2 * number + place, { size: 32 });
  const sell = async (number: number) => {
    for (const [place, contract] of [listed, unlisted].entries()) {
      const id = BigInt(number);
      const data = encodeAbiParameters(fulfilled, [
        hashOf(number, place),
        buyer,
        [{ itemType: 2, token: contract.address, identifier: id, amount: 1n }],
        [{ itemType: 0, token: zeroAddress, identifier: 0n, amount: 10n, recipient: seller }],
      ]);
      const sold = { topics: [topic, word(seller), word(zeroAddress)], data };
      await own.mine(
        { to: contract, name: "write", args: [[transferLog(seller, buyer, id)]] },
        { to: exchange, name: "write", args: [[sold]] },
      );
    }
  };
  await sell(1);
  await own.mineEmpty(40);
  const env = { MAINNET_CONTRACTS: listed.address, SEAPORT_ADDRESSES: exchange.address };
  const second = startIndexer({ databaseUrl: other.url, rpcUrl: own.rpcUrl, env });
  try {
    await second.waitUntilLive(await own.head());
    await sell(2);
    await second.waitUntilLive(await own.head());
    const orders = await withConnection(
      other.url,
      (sql) => sql<{ hash: Hex }[]>`
        select '0x' || encode(order_hash, 'hex') as hash
        from onchain_mainnet.trade_order
        order by order_hash
      `,
    );
    expect(orders.map(({ hash }) => hash)).toEqual([hashOf(1, 0), hashOf(2, 0)]);
  } finally {
    await second.stop();
    await other.drop();
    await own.stop();
  }
});

test("a sale is there live after a log of its exchange whose arrays are cut off", async () => {
  const [own, other] = [await startChain(), await createTestDatabase()];
  const { Emitter } = compile("Emitter");
  // Token and exchange in one, so that both logs are of one transaction.
  const contract = await own.deploy(Emitter);
  const [seller, buyer] = own.accounts as [Hex, Hex];
  const data = encodeAbiParameters(fulfilled, [
    numberToHex(1, { size: 32 }),
    buyer,
    [{ itemType: 2, token: contract.address, identifier: 1n, amount: 1n }],
    [{ itemType: 0, token: zeroAddress, identifier: 0n, amount: 10n, recipient: seller }],
  ]);
  const topic = toEventSelector(getAbiItem({ abi: seaportAbi, name: "OrderFulfilled" }));
  const topics = [topic, word(seller), word(zeroAddress)];
  const write = (...logs: LogToWrite[]) => own.mine({ to: contract, name: "write", args: [logs] });
  const env = { SEAPORT_ADDRESSES: contract.address };
  const second = startIndexer({ databaseUrl: other.url, rpcUrl: own.rpcUrl, env });
  try {
    await second.waitUntilLive(await own.head());
    await write({ topics, data: slice(data, 0, 6 * 32) });
    await write(transferLog(seller, buyer, 1n), { topics, data });
    await second.waitUntilLive(await own.head());
    expect((await readSales(other.url)).map(({ token_id, price }) => [token_id, price])).toEqual([[1n, 10n]]);
  } finally {
    await second.stop();
    await other.drop();
    await own.stop();
  }
});
