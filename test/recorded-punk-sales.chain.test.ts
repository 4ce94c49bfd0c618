/** Real sales of the punks' market, told in the logs that it writes: the samples have who, whom, what and how much. */
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { type Hex, zeroAddress } from "viem";
import { expect, test } from "vitest";
import { type BareLog, blocksOf, MAINNET_FINALITY, startBlockServer } from "./block-server.ts";
import { createTestDatabase } from "./database.ts";
import { startIndexer } from "./indexer.ts";
import { readSales } from "./onchain-tables.ts";
import { type LogToWrite, logOf, words } from "./raw-log.ts";
import { describeSamples, samplePath } from "./samples.ts";

const MARKET: Hex = "0xb47e3cd837ddf8e4c57f05d70ab865de6e193bbb";
/** Who bid for a punk that was never sold again: only that its bid was taken is known. */
const BIDDER: Hex = `0x${"b1".repeat(20)}`;
const SALES_PER_BLOCK = 25;

type Sale = { punk: bigint; price: bigint; seller: Hex; buyer: Hex; isBid: boolean; hash: Hex };

/** In the order of the chain. A bid's taker is whoever sold the punk next. */
function readRealSales(): Sale[] {
  const text = gunzipSync(readFileSync(samplePath("a_activity/punks_v2/sales_2017_2018.csv.gz"))).toString("utf8");
  const rows = text
    .trim()
    .split("\n")
    .slice(1)
    .map((line) => line.split(",") as [string, string, string, string, Hex, Hex, string, Hex]);
  return rows.map(([, punk, , price, seller, to, , hash], index) => {
    const next = rows.slice(index + 1).find((row) => row[1] === punk);
    const isBid = to === zeroAddress;
    const buyer = isBid ? (next?.[4] ?? BIDDER) : to;
    return { punk: BigInt(punk), price: BigInt(price), seller, buyer, isBid, hash };
  });
}

/** What the market writes for one sale. Source: its contract. */
function logsOf({ punk, price, seller, buyer, isBid }: Sale): LogToWrite[] {
  const transfer = logOf("Transfer(address,address,uint256)", [seller, buyer], words(1n));
  const bought = "PunkBought(uint256,uint256,address,address)";
  if (isBid) {
    const bid = logOf("PunkBidEntered(uint256,uint256,address)", [punk, buyer], words(price));
    // The bid is erased before the log is written.
    return [bid, transfer, logOf(bought, [punk, seller, zeroAddress], words(0n))];
  }
  return [transfer, logOf("PunkNoLongerForSale(uint256)", [punk]), logOf(bought, [punk, seller, buyer], words(price))];
}

describeSamples("real sales of punks (skipped where the samples are not at hand)", () => {
  test("all have their seller, buyer and price, accepted bids too", async () => {
    const real = readRealSales();
    expect([real.length, real.filter(({ isBid }) => isBid).length]).toEqual([2185, 577]);
    const logs = real.flatMap((sale, index): BareLog[] => {
      const blockNumber = 1 + Math.floor(index / SALES_PER_BLOCK);
      return logsOf(sale).map((log, place) => ({
        ...log,
        address: MARKET,
        transactionHash: sale.hash,
        blockNumber,
        logIndex: (index % SALES_PER_BLOCK) * 3 + place,
        timestamp: 1_600_000_000 + blockNumber,
      }));
    });
    const last = logs.at(-1)!.blockNumber;
    const database = await createTestDatabase();
    const server = await startBlockServer({ chainId: 1, blocks: blocksOf(logs), head: last + MAINNET_FINALITY + 1 });
    const indexer = startIndexer({ databaseUrl: database.url, rpcUrl: server.url });
    try {
      await indexer.waitUntilLive(last);
      const sales = await readSales(database.url);
      expect(
        sales.map(({ token_id, price, price_note, from_address, to_address, transaction_hash }) => ({
          punk: token_id,
          price,
          price_note,
          seller: from_address,
          buyer: to_address,
          hash: transaction_hash,
        })),
      ).toEqual(
        real
          .filter(({ price }) => price > 0n)
          .map(({ punk, price, seller, buyer, hash }) => ({ punk, price, price_note: null, seller, buyer, hash })),
      );
    } finally {
      await indexer.stop();
      await server.stop();
      await database.drop();
    }
  });
});
