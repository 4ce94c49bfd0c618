/**
 * Sales that exchanges wrote themselves, by the receipts of their transactions, through the whole indexer. Those of
 * mainnet, and what the exchanges were paid by the transactions' traces, are from public recordings: Once-Upon/context
 * 66b0d3f and RSS3-Network/Node 813383e. Where there are few or none, the exchange's own code wrote them at its mainnet
 * address on a test chain: Zora's AsksV1_1 and OffersV1 (@zoralabs/v3 1.0.13), LooksRare's second protocol
 * (@looksrare/contracts-exchange-v2 0.1.3), Foundation's market (f8n/fnd-protocol 1087a8b), Payment Processor
 * (limitbreakinc/payment-processor-v2 7bd95c4, payment-processor 12d5545), Zora's AuctionHouse (@zoralabs/auction-house
 * 1.1.3) and ReserveAuctionCoreEth (@zoralabs/v3 1.0.13), and SuperRare's second market (superrare/pixura-contracts).
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Hex, zeroAddress } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { LOOKSRARE_V1_ADDRESS } from "../abis/looksrare.ts";
import { PAYMENT_PROCESSOR_V1_ADDRESSES } from "../abis/payment-processor.ts";
import { SUPER_RARE_ADDRESSES } from "../abis/superrare.ts";
import { WYVERN_ADDRESSES } from "../abis/wyvern.ts";
import { ZORA_AUCTION_HOUSE_ADDRESSES, ZORA_RESERVE_AUCTION_ADDRESSES } from "../abis/zora.ts";
import { type BareLog, blocksOf, type BlockServer, MAINNET_FINALITY, startBlockServer } from "./block-server.ts";
import { createTestDatabase, type TestDatabase } from "./database.ts";
import { startIndexer } from "./indexer.ts";
import { readSales, type SaleRow } from "./onchain-tables.ts";
import { outflowOf } from "./sales-of-logs.ts";

/** A transaction by its receipt. */
type Receipt = {
  hash: Hex;
  from: Hex;
  to: Hex;
  /** Only where Wyvern was called without a contract between: the currency is in it. */
  input?: Hex;
  logs: Pick<BareLog, "logIndex" | "address" | "topics" | "data">[];
};

/** `paid`: wei that an exchange was sent, less what it sent back. */
type Recorded = Receipt & { paid: Record<Hex, string> };

/** `sold`: what was to happen. The price is that of all that went from one to the other. */
type Staged = Receipt & { what: string; sold: { seller: Hex; buyer: Hex; price: string }[] };

/** Exchanges that are not on the other chain: what they write there is somebody else's. */
const ETHEREUM_ALONE = new Set(
  [
    PAYMENT_PROCESSOR_V1_ADDRESSES,
    SUPER_RARE_ADDRESSES,
    ZORA_AUCTION_HOUSE_ADDRESSES,
    ZORA_RESERVE_AUCTION_ADDRESSES,
  ].flatMap((addresses) => addresses[1]!),
);

const readReceipts = <R extends Receipt>(name: string) =>
  readFileSync(join(import.meta.dirname, `receipts/${name}.ndjson`), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as R);
const mainnet = readReceipts<Recorded>("mainnet");
const staged = readReceipts<Staged>("staged");

let servers: BlockServer[] = [];
let database: TestDatabase;
let sales: SaleRow[];
let liveSales: SaleRow[];

beforeAll(async () => {
  const all: Receipt[] = [...mainnet, ...staged];
  // Each transaction in a block of its own: what was between them isn't at hand.
  const logs = all.flatMap((transaction, place) =>
    transaction.logs.map((log) => ({
      ...log,
      blockNumber: place + 1,
      timestamp: 1_600_000_000 + place,
      transactionHash: transaction.hash,
    })),
  );
  const calls = new Map(all.map(({ hash, from, to, input = "0x" }) => [hash, { from, to, input }]));
  const blocks = blocksOf(logs, calls);
  // One has all of it in the past, the other begins with the genesis block alone and sees it come.
  const [past, live] = (servers = [
    await startBlockServer({ chainId: 1, blocks, head: all.length + MAINNET_FINALITY + 1 }),
    await startBlockServer({ chainId: 10, blocks, head: 0 }),
  ]) as [BlockServer, BlockServer];
  database = await createTestDatabase();
  const env = { TESTNET_RPC_URL: live.url };
  const indexer = startIndexer({ databaseUrl: database.url, rpcUrl: past.url, env });
  await indexer.waitUntilLive(all.length);
  await indexer.waitUntilLive(0, { network: "testnet" });
  live.setHead(all.length);
  await indexer.waitUntilLive(all.length, { network: "testnet" });
  await indexer.stop();
  sales = await readSales(database.url);
  liveSales = await readSales(database.url, { network: "testnet" });
});
afterAll(async () => {
  for (const server of servers) await server.stop();
  await database?.drop();
});

const salesOf = ({ hash }: Receipt) => sales.filter(({ transaction_hash }) => transaction_hash === hash);

test("on mainnet: what was sold, by whom, to whom and for how much", () => {
  const lines = mainnet
    .flatMap(salesOf)
    .map((sale) =>
      [
        sale.transaction_hash.slice(0, 10),
        sale.marketplace,
        `${sale.contract_address.slice(0, 8)}/${String(sale.token_id).slice(0, 8)} x${sale.quantity}`,
        `${sale.from_address.slice(0, 8)} to ${sale.to_address.slice(0, 8)}`,
        sale.price ?? sale.price_note,
        sale.currency_address?.slice(0, 14),
      ].join(" · "),
    );
  expect(lines).toMatchInlineSnapshot(`
    [
      "0xcdb81dbb · wyvern · 0x5ceb7e/7 x1 · 0x887b86 to 0x6841cc · 75000000000000000 · 0x000000000000",
      "0x1073017f · wyvern · 0x60e4d7/14997 x1 · 0xd296e1 to 0xbaa374 · 14000000000000000000 · 0xc02aaa39b223",
      "0xdfa69e31 · wyvern · 0x963163/7383 x1 · 0x36cc92 to 0xbf49b4 · 103450000000000000 · 0x000000000000",
      "0xdfa69e31 · wyvern · 0x963163/7512 x1 · 0x36cc92 to 0xbf49b4 · 103450000000000000 · 0x000000000000",
      "0x5a3921e9 · looksrare · 0xf75140/2049 x1 · 0xdea3e1 to 0x0f2c9f · 250000000000000000 · 0xc02aaa39b223",
      "0x294deb71 · wyvern · 0x76be3b/10210 x2 · 0x266b13 to 0x96236a · 30000000000000000 · 0x000000000000",
      "0x0c380473 · looksrare · 0x76be3b/10247 x1 · 0xb52084 to 0x5c679c · 1100000000000000000 · 0xc02aaa39b223",
      "0xc905360a · looksrare · 0xe3f929/5889 x1 · 0xb36cc2 to 0x910836 · 300000000000000000 · 0xc02aaa39b223",
      "0x678a8f65 · looksrare · 0x4e1f41/7683 x1 · 0x1cf527 to 0x8b3020 · 2752370000000000000 · 0xc02aaa39b223",
      "0x91c05a1e · looksrare · 0x7bd294/3570 x1 · 0x440aae to 0x4f13f0 · 16850000000000000000 · 0xc02aaa39b223",
      "0xf834d351 · wyvern · 0xef9e34/7124 x1 · 0x3f1f3e to 0x70e7a6 · 200000000000000000 · 0x000000000000",
      "0xf834d351 · wyvern · 0xef9e34/8095 x1 · 0x56a061 to 0x70e7a6 · 200000000000000000 · 0x000000000000",
      "0x512dedfe · wyvern · 0x3d70f6/1 x1 · 0x27d1f6 to 0x46a70c · 180000000000000000 · 0xc02aaa39b223",
      "0xd62687b6 · wyvern · 0x3bbfea/5625 x1 · 0xefdbf4 to 0xaaecaf · 44000000000000000 · 0xc02aaa39b223",
      "0xd62687b6 · wyvern · 0x3bbfea/5626 x1 · 0xefdbf4 to 0xaaecaf · 44000000000000000 · 0xc02aaa39b223",
      "0xd62687b6 · wyvern · 0x3bbfea/5627 x1 · 0xefdbf4 to 0xaaecaf · 44000000000000000 · 0xc02aaa39b223",
      "0xd62687b6 · wyvern · 0x3bbfea/5628 x1 · 0xefdbf4 to 0xaaecaf · 44000000000000000 · 0xc02aaa39b223",
      "0xd62687b6 · wyvern · 0x3bbfea/5629 x1 · 0xefdbf4 to 0xaaecaf · 44000000000000000 · 0xc02aaa39b223",
      "0xac58d621 · wyvern · 0x488057/1 x1 · 0xad3127 to 0xf582ee · 20000000000000000000 · 0x64d91f12ece7",
      "0x5e532708 · wyvern · 0x89dd93/348 x1 · 0x1a4ad4 to 0xa3d425 · 9666666666666668 · 0x000000000000",
      "0x5e532708 · wyvern · 0x89dd93/492 x1 · 0x1a4ad4 to 0xa3d425 · 9666666666666666 · 0x000000000000",
      "0x5e532708 · wyvern · 0x89dd93/493 x1 · 0x1a4ad4 to 0xa3d425 · 9666666666666666 · 0x000000000000",
      "0x4a2d082c · looksrare · 0x69b9c9/5965 x1 · 0xb3ab08 to 0x5ffda2 · 50100000000000000 · 0xc02aaa39b223",
      "0x00b5b898 · wyvern · 0x207981/1 x1 · 0x05dc29 to 0xc6216d · 145000000000000000 · 0x000000000000",
      "0xb6603c53 · looksrare · 0x1d3ada/5818 x1 · 0xe434ef to 0x9e9346 · 40000000000000000 · 0xc02aaa39b223",
      "0xb6603c53 · wyvern · 0x1d3ada/5818 x1 · 0x9e9346 to 0x1540e2 · 65000000000000000 · 0xc02aaa39b223",
      "0x6f664358 · wyvern · 0xc36cf0/10548753 x1 · 0x450a40 to 0x800a90 · 197500000000 · 0x15d4c048f83b",
      "0xeb1638e4 · wyvern · 0x982a5a/1786 x1 · 0x6b6b9c to 0xf44eab · 70000000000000000 · 0x000000000000",
      "0x762b0753 · x2y2 · 0x57f188/18275699 x1 · 0x203ff3 to 0x06b863 · 156900000000000000 · 0x000000000000",
      "0x762b0753 · x2y2 · 0x57f188/24579374 x1 · 0x203ff3 to 0x06b863 · 156900000000000000 · 0x000000000000",
      "0x5fa54e51 · x2y2 · 0xc86664/4151 x1 · 0x0c50cb to 0xb67534 · 96000000000000000 · 0x000000000000",
      "0x7b15a9d4 · seaport · 0xc86664/6551 x1 · 0x76fab3 to 0x9986c8 · 105000000000000000 · 0xc02aaa39b223",
      "0x6131f902 · x2y2 · 0x49cf6f/10992 x1 · 0x8b3581 to 0xd28906 · 9400100000000000000 · 0xc02aaa39b223",
      "0x87e33fef · seaport · 0xba627f/14818 x1 · 0x32de4b to 0x8e0db3 · 500000000000000000 · 0x000000000000",
      "0x87e33fef · seaport · 0xba627f/11578 x1 · 0x05447c to 0x8e0db3 · 500000000000000000 · 0x000000000000",
      "0x87e33fef · seaport · 0xba627f/10688 x1 · 0xc1d917 to 0x8e0db3 · 500000000000000000 · 0x000000000000",
      "0x87e33fef · seaport · 0xba627f/8930 x1 · 0xa168c4 to 0x8e0db3 · 500000000000000000 · 0x000000000000",
      "0x87e33fef · seaport · 0xba627f/8489 x1 · 0x35aa36 to 0x8e0db3 · 500000000000000000 · 0x000000000000",
      "0x87e33fef · seaport · 0xba627f/7821 x1 · 0xec0b68 to 0x8e0db3 · 500000000000000000 · 0x000000000000",
      "0x87e33fef · seaport · 0xba627f/7820 x1 · 0xb5d1d5 to 0x8e0db3 · 500000000000000000 · 0x000000000000",
      "0x87e33fef · looksrare · 0xba627f/12181 x1 · 0x562607 to 0x8e0db3 · 468000000000000000 · 0xc02aaa39b223",
      "0x87e33fef · x2y2 · 0xba627f/13626 x1 · 0xc7daf4 to 0x8e0db3 · 499000000000000000 · 0x000000000000",
      "0x937345fb · seaport · 0x66b5fb/5394 x1 · 0xd03c4c to 0xabd426 · 8000000000000000 · 0x000000000000",
      "0x937345fb · seaport · 0x66b5fb/5001 x1 · 0xd03c4c to 0xabd426 · 8000000000000000 · 0x000000000000",
      "0x94a38208 · seaport · 0xc36cf0/19838461 x3 · 0x54df3f to 0xc832b1 · 75000000000 · 0x15d4c048f83b",
      "0x80ff47b8 · x2y2 · 0x67e23c/1532 x1 · 0x4c0dbe to 0x5ff297 · 12000000000000000 · 0x000000000000",
      "0xdc90d310 · x2y2 · 0x15ea13/2314 x1 · 0xafb4ed to 0x196948 · 65000000000000000 · 0x000000000000",
      "0xdc90d310 · x2y2 · 0x15ea13/2616 x1 · 0xb78d50 to 0x196948 · 65000000000000000 · 0x000000000000",
      "0xdc90d310 · seaport · 0x15ea13/2168 x1 · 0x7b53ff to 0x196948 · 65000000000000000 · 0x000000000000",
      "0xb483b13a · x2y2 · 0x15ea13/3538 x1 · 0x8c875a to 0x70d008 · 64000000000000000 · 0x000000000000",
      "0x8de843a3 · seaport · 0x904ae1/2474 x1 · 0x37eb32 to 0x761cdb · 70000000000000000 · 0x000000000000",
      "0x8de843a3 · x2y2 · 0x904ae1/5530 x1 · 0x5c3ac0 to 0x761cdb · 70000000000000000 · 0x000000000000",
      "0x3286edb0 · seaport · 0xe6d50a/0 x6 · 0x13ca18 to 0x15d8f5 · 539400000000000000 · 0x000000000000",
      "0x42ee5e6f · looksrare · 0xce73f7/3540 x1 · 0x5b99a3 to 0x8bf2b3 · 19000000000000000 · 0xc02aaa39b223",
      "0xa9645b81 · blur · 0xe2e27b/7704 x1 · 0x9a32e0 to 0x324019 · 6500000000000000 · 0x000000000000",
      "0x736d3ed5 · blur · 0x9ca39a/4004 x1 · 0x87ab02 to 0x94c9c6 · 19000000000000000 · 0x000000000000",
      "0x736d3ed5 · blur · 0x9ca39a/4608 x1 · 0x00c9f5 to 0x94c9c6 · 16000000000000000 · 0x000000000000",
      "0x736d3ed5 · blur · 0x9ca39a/8354 x1 · 0x0ca88a to 0x94c9c6 · 19000000000000000 · 0x000000000000",
      "0x736d3ed5 · blur · 0x9ca39a/9835 x1 · 0x00c9f5 to 0x94c9c6 · 16000000000000000 · 0x000000000000",
      "0x7fa8c4a7 · seaport · 0xedfc4f/22 x1 · 0x585a15 to 0xac0f76 · 30000000000000000 · 0x000000000000",
      "0x7fa8c4a7 · seaport · 0xedfc4f/22 x2 · 0xf78dcc to 0xac0f76 · 66000000000000000 · 0x000000000000",
      "0x5a0a5b84 · blur · 0xea14fb/1221 x1 · 0x8efe23 to 0x0e6e2e · 132000000000000000 · 0x000000000000",
      "0x3fce5549 · seaport · 0x495f94/10903366 x1 · 0xf10edd to 0x24abd6 · 1100000000 · 0xa0b86991c621",
      "0xdc8179b8 · blur · 0x5af0d9/9507 x1 · 0x294693 to 0xcb54a9 · 2520000000000000000 · 0x0000000000a3",
      "0x1619e96a · looksrare · 0x306b1e/159 x1 · 0xe10510 to 0x94e9d7 · 10500000000000000 · 0xc02aaa39b223",
      "0x15713058 · looksrare · 0xd42966/1662 x1 · 0x06b642 to 0x60f0a4 · 1848150000000000 · 0x000000000000",
      "0xa6c873b0 · blur · 0xed37c9/199 x1 · 0xee6dae to 0x016ab6 · 30000000000000000 · 0x0000000000a3",
      "0xa6c873b0 · blur · 0xed37c9/185 x1 · 0xee6dae to 0x5802e0 · 30000000000000000 · 0x0000000000a3",
      "0xa6c873b0 · blur · 0xed37c9/214 x1 · 0xee6dae to 0x9eb18d · 20000000000000000 · 0x0000000000a3",
      "0xa6c873b0 · blur · 0xed37c9/192 x1 · 0xee6dae to 0xdbb917 · 30000000000000000 · 0x0000000000a3",
      "0xa6c873b0 · blur · 0xed37c9/202 x1 · 0xee6dae to 0xf41eaf · 20000000000000000 · 0x0000000000a3",
    ]
  `);
});

test.for(staged)("on a test chain: $what", ({ sold, ...one }) => {
  const parties = Map.groupBy(salesOf(one), ({ from_address, to_address }) => `${from_address} to ${to_address}`);
  const totals = [...parties.values()].map((between) => ({
    seller: between[0]!.from_address,
    buyer: between[0]!.to_address,
    price: String(sum(between.map(({ price }) => price!))),
  }));
  expect(totals).toEqual(sold);
});

test("live, block by block, the sales are the same, but for the currencies that only other contracts' logs name", () => {
  const isElsewhere = new Set(staged.filter(({ to }) => ETHEREUM_ALONE.has(to ?? "")).map(({ hash }) => hash));
  const isSilent = new Set(mainnet.filter(({ to }) => !WYVERN_ADDRESSES.includes(to)).map(({ hash }) => hash));
  const unpriced = { price: null, currency_address: null, price_note: "unknown currency" };
  const seen = sales
    .filter(({ transaction_hash }) => !isElsewhere.has(transaction_hash))
    .map((sale) =>
      sale.marketplace === "wyvern" && isSilent.has(sale.transaction_hash) ? { ...sale, ...unpriced } : sale,
    );
  expect(liveSales).toEqual(seen);
});

test("whoever signed takes the order: he sells where an offer was accepted, and buys where a listing was", () => {
  const taken = [...mainnet, ...staged].flatMap((one) =>
    salesOf(one)
      .filter(({ from_address, to_address }) => (from_address === one.from) !== (to_address === one.from))
      .map(({ is_offer, from_address }) => ({ hash: one.hash, is_offer, isSeller: from_address === one.from })),
  );
  expect(taken.filter(({ is_offer }) => is_offer).length).toBeGreaterThan(25);
  expect(taken.filter(({ is_offer }) => !is_offer).length).toBeGreaterThan(60);
  expect(taken.filter(({ is_offer, isSeller }) => is_offer !== isSeller)).toEqual([]);
});

test("prices in ether are what the exchanges were paid", () => {
  const priced = mainnet.filter((one) => salesOf(one).every(({ price }) => price !== null));
  for (const one of priced) {
    // The first LooksRare wraps what it is sent, and says so.
    const isPaidInEther = ({ currency_address, marketplace }: SaleRow) =>
      currency_address === zeroAddress || (marketplace === "looksrare" && LOOKSRARE_V1_ADDRESS in one.paid);
    const prices = salesOf(one).filter(isPaidInEther);
    expect([one.hash, sum(prices.map(({ price }) => price!))]).toEqual([
      one.hash,
      sum(Object.values(one.paid).map(BigInt)),
    ]);
  }
});

test("prices in other currencies are what left the buyers' accounts", () => {
  const paidInTokens = mainnet.filter(({ paid }) => Object.keys(paid).length === 0);
  const prices = paidInTokens.flatMap((one) =>
    [...Map.groupBy(salesOf(one), ({ to_address }) => to_address)].map(([buyer, bought]) => ({
      hash: one.hash,
      buyer,
      price: sum(bought.map(({ price }) => price!)),
      outflow: outflowOf(buyer, bought[0]!.currency_address!, one.logs),
    })),
  );
  expect(prices.length).toBeGreaterThan(20);
  for (const { price, outflow, ...place } of prices) expect({ ...place, price: outflow }).toEqual({ ...place, price });
});

const sum = (amounts: bigint[]) => amounts.reduce((total, amount) => total + amount, 0n);
