import { readdirSync, readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { type Hex, zeroAddress } from "viem";
import { beforeAll, expect, test } from "vitest";
import { describeSamples, samplePath } from "../test/samples.ts";
import { type Call, type ReceiptLog, outflowOf, readHops, salesOfTransactions } from "../test/sales-of-logs.ts";
import type { TokenEventRow } from "./movement.ts";

type Transaction = Call & { hash: Hex; value: Hex };
type Trade = { transaction: Transaction; logs: ReceiptLog[]; sales: TokenEventRow[] };
type Block = { block: { transactions: Transaction[] }; receipts: { logs: ReceiptLog[] }[] };

describeSamples("sales in blocks of Ethereum mainnet", () => {
  let trades: Trade[] = [];

  beforeAll(async () => {
    const blocks = readdirSync(samplePath("a_activity/blocks"))
      .filter((name) => name.endsWith(".json.gz"))
      .map((name) => {
        const text = gunzipSync(readFileSync(samplePath(`a_activity/blocks/${name}`))).toString();
        return JSON.parse(text) as Block;
      });
    const transactions = blocks.flatMap(({ block, receipts }) =>
      block.transactions.map((transaction, index) => ({ transaction, call: transaction, logs: receipts[index]!.logs })),
    );
    const sales = Map.groupBy(await salesOfTransactions(transactions), (row) => row.block_number);
    trades = [...sales].map(([place, rows]) => ({ ...transactions[place]!, sales: rows }));
  });

  test("what was sold, by whom, to whom and for how much", () => {
    const lines = trades.flatMap(({ sales }) =>
      sales.map((row) =>
        [
          row.marketplace,
          `${row.contract_address.slice(0, 8)}/${String(row.token_id).slice(0, 8)} x${row.quantity}`,
          `${row.from_address.slice(0, 8)} to ${row.to_address.slice(0, 8)}`,
          row.price,
          row.price_note,
        ].join(" · "),
      ),
    );
    expect(lines).toMatchInlineSnapshot(`
      [
        "seaport · 0xe1dc51/1700 x1 · 0x8046c6 to 0xba37cd · 195000000000000000 · ",
        "seaport · 0x33fd42/48 x1 · 0x18412b to 0xf5eb53 · 70000000000000000 · ",
        "blur · 0xb6a37b/17546 x1 · 0xc94762 to 0x7ace5c · 960000000000000000 · ",
        "blur · 0xb6a37b/315 x1 · 0xc94762 to 0x7f41c4 · 970000000000000000 · ",
        "blur · 0xb6a37b/16511 x1 · 0xc94762 to 0xaa99ff · 960000000000000000 · ",
        "seaport · 0x81d6a3/2677 x1 · 0x5a5a77 to 0x65df84 · 295000000000000000 · ",
        "blur · 0xed5af3/4242 x1 · 0xc94762 to 0x5f1ee2 · 6510000000000000000 · ",
        "seaport · 0x966265/3594 x1 · 0x422a26 to 0x4d9d8e · 26600000000000000 · ",
        "seaport · 0x57f188/79201892 x1 · 0x34a19a to 0x674236 · 580300000000000000 · ",
        "seaport · 0x966265/2679 x1 · 0xa530b2 to 0xf18ec1 · 28000000000000000 · ",
        "seaport · 0x966265/2351 x1 · 0xcdd437 to 0xbafa2e · 27700000000000000 · ",
      ]
    `);
  });

  test("what was paid in ether is the ether sent", () => {
    const inEther = trades.filter(({ sales }) =>
      sales.every(({ currency_address }) => currency_address === zeroAddress),
    );
    expect(inEther).toHaveLength(5);
    for (const { transaction, sales } of inEther)
      expect(sales.reduce((sum, { price }) => sum + price!, 0n)).toBe(BigInt(transaction.value));
  });

  test("what was paid in a token is what left the buyer's account", () => {
    const inTokens = trades.flatMap(({ logs, sales }) => sales.map((sale) => ({ logs, sale })));
    const paid = inTokens.filter(({ sale }) => sale.currency_address !== zeroAddress);
    expect(paid).toHaveLength(6);
    for (const { logs, sale } of paid)
      expect(outflowOf(sale.to_address, sale.currency_address!, logs)).toBe(sale.price);
  });

  test("every seller gave the token and every buyer has it at the end of the transaction", () => {
    for (const { logs, sales } of trades) {
      const hops = logs.flatMap(readHops);
      for (const { contract_address, token_id, from_address, to_address } of sales) {
        const way = hops.filter((hop) => hop.contractAddress === contract_address && hop.tokenId === token_id);
        expect([way[0]?.from, way.at(-1)?.to]).toEqual([from_address, to_address]);
      }
    }
  });
});
