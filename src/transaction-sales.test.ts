import * as fc from "fast-check";
import { type Hex, zeroAddress } from "viem";
import { describe, expect, test } from "vitest";
import { cpuMsOf } from "../test/cpu.ts";
import { MAX_TRANSACTION_HOPS } from "./limits.ts";
import type { Hop, Sale } from "./sale.ts";
import { priceOf } from "./sale.ts";
import { type Fill, type ReceivedItem, salesOfFill, salesOfMatch, type SpentItem } from "./seaport.ts";
import type { SettledSale } from "./settle.ts";
import { addHops, addStep, createTransactionSales, salesOf, type StepContent } from "./transaction-sales.ts";

const account = (byte: string): Hex => `0x${byte.repeat(20)}`;
const [ANNE, BEN, CLEO, ROUTER, MARKET, CREATOR] = ["aa", "bb", "cc", "e0", "f0", "c0"].map(account) as [
  Hex,
  Hex,
  Hex,
  Hex,
  Hex,
  Hex,
];
const [WETH, CRANES, PLATES, EXCHANGE] = ["57", "71", "15", "5e"].map(account) as [Hex, Hex, Hex, Hex];

type Log = { hops: Omit<Hop, "logIndex">[] } | { step: StepContent; exchangeAddress?: Hex };

const hop = (from: Hex, to: Hex, tokenId: bigint, quantity = 1n, contractAddress = CRANES): Log => ({
  hops: [{ from, to, tokenId, quantity, contractAddress }],
});

/** Replays logs and returns the rows that the changes leave. */
function replayRows(logs: Log[], { sender = CLEO }: { sender?: Hex } = {}): SettledSale[] {
  const transactionSales = createTransactionSales();
  const rows = new Map<string, SettledSale>();
  for (const [logIndex, log] of logs.entries()) {
    const fix = (content: StepContent): StepContent => {
      if (content.kind === "fill") return { ...content, fill: { ...content.fill, logIndex } };
      if (content.kind === "sales") return { ...content, sales: content.sales.map((sale) => ({ ...sale, logIndex })) };
      if (content.kind === "offer") return { ...content, sale: { ...content.sale, logIndex } };
      if (content.kind === "window") return { ...content, match: { ...content.match, logIndex } };
      return content;
    };
    const changes =
      "hops" in log
        ? addHops(
            transactionSales,
            log.hops.map((hop) => ({ ...hop, logIndex })),
            () => sender,
          )
        : addStep(
            transactionSales,
            { logIndex, exchangeAddress: log.exchangeAddress ?? EXCHANGE, ...fix(log.step) },
            () => sender,
          );
    for (const { before, after } of changes) {
      const { logIndex, batchIndex } = (after ?? before)!;
      const key = `${logIndex}-${batchIndex}`;
      expect(rows.has(key)).toBe(before !== undefined);
      if (after) rows.set(key, after);
      else rows.delete(key);
    }
  }
  const inOrder = (sales: Iterable<SettledSale>) =>
    [...sales].toSorted((a, b) => a.logIndex - b.logIndex || a.batchIndex - b.batchIndex);
  expect(inOrder(salesOf(transactionSales, () => sender))).toEqual(inOrder(rows.values()));
  return inOrder(rows.values());
}

/** The same as lines. */
function replay(logs: Log[], options: { sender?: Hex } = {}): string[] {
  const name = (address: Hex | null) =>
    ({
      [ANNE]: "Anne",
      [BEN]: "Ben",
      [CLEO]: "Cleo",
      [ROUTER]: "router",
      [MARKET]: "market",
      [CREATOR]: "creator",
      [WETH]: "WETH",
      [CRANES]: "crane",
      [PLATES]: "plate",
      [EXCHANGE]: "exchange",
      [zeroAddress]: "ETH",
    })[address ?? ""] ?? String(address);
  return replayRows(logs, options).map(
    (sale) =>
      `${name(sale.seller)} → ${name(sale.buyer)}: ${sale.quantity} ${name(sale.contractAddress)} ${sale.tokenId} for ` +
      `${sale.price ?? "?"} ${sale.currency ? name(sale.currency) : "?"} by ${name(sale.broker)}` +
      (sale.note ? `, ${sale.note}` : ""),
  );
}

const eth = (amount: bigint, recipient: Hex): ReceivedItem => ({
  itemType: 0,
  token: zeroAddress,
  identifier: 0n,
  amount,
  recipient,
});
const weth = (amount: bigint, recipient: Hex = zeroAddress): ReceivedItem => ({
  itemType: 1,
  token: WETH,
  identifier: 0n,
  amount,
  recipient,
});
const crane = (identifier: bigint, recipient: Hex = zeroAddress): ReceivedItem => ({
  itemType: 2,
  token: CRANES,
  identifier,
  amount: 1n,
  recipient,
});
const plates = (identifier: bigint, amount: bigint, recipient: Hex = zeroAddress): ReceivedItem => ({
  itemType: 3,
  token: PLATES,
  identifier,
  amount,
  recipient,
});
const hash = (orderHash: number): Hex => `0x${orderHash.toString(16).padStart(64, "0")}`;

const fill = (
  offerer: Hex,
  recipient: Hex,
  offer: SpentItem[],
  consideration: ReceivedItem[],
  orderHash = 1,
): { step: { kind: "fill"; fill: Fill } } => ({
  step: { kind: "fill", fill: { logIndex: 0, orderHash: hash(orderHash), offerer, recipient, offer, consideration } },
});
const match = (...hashes: number[]): Log => ({ step: { kind: "match", orderHashes: hashes.map(hash) } });

describe("one Seaport order", () => {
  const listing = fill(ANNE, BEN, [crane(1n)], [eth(900n, ANNE), eth(25n, MARKET), eth(75n, CREATOR)]);

  test("a listing's price is all that was paid, each part once, whichever of sale and transfer comes first", () => {
    const expected = ["Anne → Ben: 1 crane 1 for 1000 ETH by market"];
    expect(replay([listing, hop(ANNE, BEN, 1n)])).toEqual(expected);
    expect(replay([hop(ANNE, BEN, 1n), listing])).toEqual(expected);
  });

  test("an offer's price is what was offered: its fees are part of that, and its currency is no token", () => {
    const offer = fill(BEN, ANNE, [weth(1000n)], [crane(1n, BEN), weth(25n, MARKET), weth(75n, CREATOR)]);
    expect(replay([offer, hop(ANNE, BEN, 1n)])).toEqual(["Anne → Ben: 1 crane 1 for 1000 WETH by market"]);
  });

  test("units of an ERC-1155 token are sold for one price together", () => {
    const sale = fill(ANNE, BEN, [plates(7n, 5n)], [eth(1000n, ANNE)]);
    expect(replay([sale, hop(ANNE, BEN, 7n, 5n, PLATES)])).toEqual(["Anne → Ben: 5 plate 7 for 1000 ETH by exchange"]);
  });

  test("the same order filled twice in one transaction is two sales", () => {
    const part = fill(ANNE, BEN, [plates(7n, 2n)], [eth(400n, ANNE)]);
    const transfer = hop(ANNE, BEN, 7n, 2n, PLATES);
    expect(replay([part, part, transfer, transfer])).toHaveLength(2);
    expect(replay([part, transfer, part, transfer])).toHaveLength(2);
    // Some exchanges move what goes the same way at once.
    expect(replay([part, part, hop(ANNE, BEN, 7n, 4n, PLATES)])).toHaveLength(2);
  });

  test("a bundle's parts add up to its price, and say that they are parts", () => {
    const bundle = fill(ANNE, BEN, [crane(1n), crane(2n), plates(7n, 4n)], [eth(1000n, ANNE)]);
    expect(replay([bundle, hop(ANNE, BEN, 1n), hop(ANNE, BEN, 2n), hop(ANNE, BEN, 7n, 4n, PLATES)])).toEqual([
      "Anne → Ben: 1 crane 1 for 168 ETH by exchange, bundle",
      "Anne → Ben: 1 crane 2 for 166 ETH by exchange, bundle",
      "Anne → Ben: 4 plate 7 for 666 ETH by exchange, bundle",
    ]);
  });

  test("tokens of two contracts with the same number are two tokens", () => {
    const bundle = fill(ANNE, BEN, [crane(7n), plates(7n, 1n)], [eth(1000n, ANNE)]);
    expect(replay([bundle, hop(ANNE, CREATOR, 7n), hop(ANNE, BEN, 7n, 1n, PLATES)])).toEqual([
      "Anne → creator: 1 crane 7 for 500 ETH by exchange, bundle",
      "Anne → Ben: 1 plate 7 for 500 ETH by exchange, bundle",
    ]);
  });

  test("the broker is who gets a fee and doesn't sell", () => {
    const offer = fill(BEN, ANNE, [weth(1000n)], [crane(1n, BEN), weth(5n, ANNE), weth(25n, MARKET)]);
    expect(replay([offer, hop(ANNE, BEN, 1n)])).toEqual(["Anne → Ben: 1 crane 1 for 1000 WETH by market"]);
  });

  test("a token beside more units of another than its bundle cost is sold too", () => {
    const most = plates(7n, 10n ** 18n);
    const transfers = [hop(ANNE, BEN, 7n, 10n ** 18n, PLATES), hop(ANNE, BEN, 1n)];
    expect(replay([fill(ANNE, BEN, [most, crane(1n)], [eth(10n ** 17n, ANNE)]), ...transfers])).toEqual([
      `Anne → Ben: ${10n ** 18n} plate 7 for ${10n ** 17n} ETH by exchange, bundle`,
      "Anne → Ben: 1 crane 1 for 0 ETH by exchange, bundle",
    ]);
    expect(replay([fill(ANNE, BEN, [most, crane(1n)], [eth(0n, ANNE)]), ...transfers])).toEqual([]);
  });

  test("what is added without any of it is no part of a sale", () => {
    const sold = hop(ANNE, BEN, 1n);
    const none = [weth(0n, CREATOR), plates(7n, 0n, CREATOR), eth(0n, CREATOR)];
    for (const added of none)
      expect(replay([sold, fill(ANNE, BEN, [crane(1n)], [eth(1000n, ANNE), added])])).toEqual([
        "Anne → Ben: 1 crane 1 for 1000 ETH by exchange",
      ]);
    expect(replay([sold, fill(ANNE, BEN, [crane(1n), plates(7n, 0n)], [eth(1000n, ANNE)])])).toEqual([
      "Anne → Ben: 1 crane 1 for 1000 ETH by exchange",
    ]);
    const moved = hop(ANNE, BEN, 7n, 1n, PLATES);
    expect(replay([moved, fill(ANNE, BEN, [plates(7n, 0n)], [eth(1000n, ANNE)])])).toEqual([]);
  });

  test("what others get of an offer in another currency is no part of what the bidder pays", () => {
    // Whoever accepts it may add anything, and pays that himself: one wei of ether took the price away.
    const tipped = [crane(1n, BEN), weth(25n, MARKET), eth(1n, CREATOR)];
    const expected = ["Anne → Ben: 1 crane 1 for 1000 WETH by market"];
    expect(replay([hop(ANNE, BEN, 1n), fill(BEN, ANNE, [weth(1000n)], tipped)])).toEqual(expected);
    // As where it is matched with an order that answers it.
    const [bid, answer] = [fill(BEN, CLEO, [weth(1000n)], tipped, 1), fill(ANNE, CLEO, [crane(1n)], [], 2)];
    expect(replay([bid, answer, match(1, 2), hop(ANNE, BEN, 1n)])).toEqual(expected);
    const withFee = fill(BEN, ANNE, [weth(5n)], [crane(1n, BEN), eth(1n, MARKET)]);
    expect(replay([hop(ANNE, BEN, 1n), withFee])).toEqual(["Anne → Ben: 1 crane 1 for 5 WETH by market"]);
  });

  test("a private sale asks for its own token: that is no second sale and no barter", () => {
    const sale = fill(ANNE, CLEO, [crane(1n)], [eth(900n, ANNE), eth(100n, MARKET), crane(1n, BEN)]);
    expect(replay([sale, hop(ANNE, BEN, 1n)])).toEqual(["Anne → Ben: 1 crane 1 for 1000 ETH by market"]);
    expect(salesOfFill(sale.step.fill, { exchangeAddress: EXCHANGE })).toMatchObject([{ buyer: BEN }]);
    // Whoever takes it may pass on units of his own with it.
    const added = fill(ANNE, CLEO, [plates(7n, 1n)], [eth(900n, ANNE), plates(7n, 1n, BEN), plates(7n, 1n, CREATOR)]);
    expect(salesOfFill(added.step.fill, { exchangeAddress: EXCHANGE })).toMatchObject([{ buyer: BEN, price: 900n }]);
  });

  test("a barter and two currencies have no price", () => {
    const barter = fill(ANNE, BEN, [crane(1n)], [crane(2n, ANNE), eth(5n, ANNE)]);
    expect(replay([hop(ANNE, BEN, 1n), hop(BEN, ANNE, 2n), barter])).toEqual([
      "Anne → Ben: 1 crane 1 for ? ? by exchange, barter",
      "Ben → Anne: 1 crane 2 for ? ? by exchange, barter",
    ]);
    const mixed = fill(ANNE, BEN, [crane(1n)], [eth(5n, ANNE), weth(5n, ANNE)]);
    expect(replay([hop(ANNE, BEN, 1n), mixed])).toEqual([
      "Anne → Ben: 1 crane 1 for ? ? by exchange, several currencies",
    ]);
    const paidBack = fill(BEN, ANNE, [weth(5n)], [crane(1n, BEN), eth(1n, BEN)]);
    expect(replay([hop(ANNE, BEN, 1n), paidBack])).toEqual([
      "Anne → Ben: 1 crane 1 for ? ? by exchange, several currencies",
    ]);
    // As where it is matched with an order that answers it.
    const [bid, answer] = [
      fill(BEN, CLEO, [weth(5n)], [crane(1n, BEN), eth(1n, BEN)], 1),
      fill(ANNE, CLEO, [crane(1n), eth(1n, zeroAddress)], [weth(5n, ANNE)], 2),
    ];
    expect(replay([bid, answer, match(1, 2), hop(ANNE, BEN, 1n)])).toEqual([
      "Anne → Ben: 1 crane 1 for ? ? by exchange, several currencies",
    ]);
    const withChange = fill(ANNE, BEN, [crane(1n), weth(5n)], [eth(9n, ANNE)]);
    expect(replay([hop(ANNE, BEN, 1n), withChange])).toEqual([
      "Anne → Ben: 1 crane 1 for ? ? by exchange, several currencies",
    ]);
  });

  test("a gift, a swap of currencies and a token that never moved are no sales", () => {
    expect(replay([fill(ANNE, BEN, [crane(1n)], []), hop(ANNE, BEN, 1n)])).toEqual([]);
    expect(replay([fill(ANNE, BEN, [crane(1n)], [eth(0n, ANNE)]), hop(ANNE, BEN, 1n)])).toEqual([]);
    expect(replay([fill(ANNE, BEN, [weth(5n)], [eth(5n, ANNE)])])).toEqual([]);
    expect(replay([fill(BEN, ANNE, [], [crane(1n, BEN), eth(5n, BEN), weth(5n, BEN)]), hop(ANNE, BEN, 1n)])).toEqual(
      [],
    );
    expect(replay([listing, hop(ANNE, BEN, 2n)])).toEqual([]);
  });

  test("a price that no currency can have is none", () => {
    const most = 2n ** 256n - 1n;
    const sale = fill(ANNE, BEN, [crane(1n)], [weth(most, ANNE), weth(most, ANNE)]);
    expect(replay([sale, hop(ANNE, BEN, 1n)])).toEqual(["Anne → Ben: 1 crane 1 for ? ? by exchange, out of range"]);
    expect(replay([fill(ANNE, BEN, [crane(1n)], [weth(most, ANNE)]), hop(ANNE, BEN, 1n)])).toEqual([
      `Anne → Ben: 1 crane 1 for ${most} WETH by exchange`,
    ]);
  });
});

describe("Seaport orders matched", () => {
  const bid = fill(BEN, CLEO, [weth(1000n)], [crane(1n, BEN), weth(25n, MARKET), weth(75n, CREATOR)], 1);
  const answer = fill(ANNE, CLEO, [crane(1n)], [weth(900n, ANNE)], 2);

  test("an offer and the order that answers it are one sale, at what the bidder pays", () => {
    const expected = ["Anne → Ben: 1 crane 1 for 1000 WETH by market"];
    expect(replay([bid, answer, match(1, 2), hop(ANNE, BEN, 1n)])).toEqual(expected);
    expect(replay([answer, bid, match(2, 1), hop(ANNE, BEN, 1n)])).toEqual(expected);
    // Fees in the answer are the seller's own affair.
    const paidOut = fill(ANNE, CLEO, [crane(1n)], [weth(800n, ANNE), weth(100n, CREATOR)], 2);
    expect(replay([bid, paidOut, match(1, 2), hop(ANNE, BEN, 1n)])).toEqual(expected);
  });

  test("what was written before the match was known is put right", () => {
    // The token came to Anne in the same transaction, so that a fill alone looks complete.
    expect(replay([hop(CLEO, ANNE, 1n), answer, bid, match(2, 1), hop(ANNE, BEN, 1n)], { sender: ANNE })).toEqual([
      "Anne → Ben: 1 crane 1 for 1000 WETH by market",
    ]);
  });

  test("a private listing is sold inside its own order; the order that pays for it sells nothing", () => {
    const sale = fill(ANNE, CLEO, [crane(1n)], [eth(900n, ANNE), eth(100n, MARKET), crane(1n, BEN)], 1);
    const payment = fill(BEN, CLEO, [{ itemType: 0, token: zeroAddress, identifier: 0n, amount: 1000n }], [], 2);
    expect(replay([sale, payment, match(1, 2), hop(ANNE, BEN, 1n)])).toEqual([
      "Anne → Ben: 1 crane 1 for 1000 ETH by market",
    ]);
  });

  test("without an OrdersMatched, as in version 1.1, nobody as the recipient marks a match", () => {
    const unnamed = (fill_: typeof bid) => ({
      step: { ...fill_.step, fill: { ...fill_.step.fill, recipient: zeroAddress } },
    });
    expect(replay([unnamed(bid), unnamed(answer), hop(ANNE, BEN, 1n)])).toEqual([
      "Anne → Ben: 1 crane 1 for 1000 WETH by market",
    ]);
    // What somebody was named for was a trade of its own.
    const accepted = fill(CLEO, CREATOR, [weth(500n)], [crane(9n, CLEO)], 3);
    expect(
      replay([accepted, hop(CREATOR, CLEO, 9n), unnamed(bid), unnamed(answer), hop(ANNE, BEN, 1n)], {
        sender: CREATOR,
      }),
    ).toEqual(["creator → Cleo: 1 crane 9 for 500 WETH by exchange", "Anne → Ben: 1 crane 1 for 1000 WETH by market"]);
    // What no order asks for stays where it is.
    expect(replay([unnamed(answer), hop(ANNE, BEN, 1n)])).toEqual([]);
  });

  test("token for token is a barter", () => {
    const first = fill(ANNE, CLEO, [crane(1n)], [crane(2n, ANNE)], 1);
    const second = fill(BEN, CLEO, [crane(2n)], [crane(1n, BEN)], 2);
    expect(replay([first, second, match(1, 2), hop(ANNE, BEN, 1n), hop(BEN, ANNE, 2n)])).toEqual([
      "Anne → Ben: 1 crane 1 for ? ? by exchange, barter",
      "Ben → Anne: 1 crane 2 for ? ? by exchange, barter",
    ]);
  });

  test("a token with money for a token is a barter, whoever offers the money", () => {
    const asks = fill(ANNE, CLEO, [crane(1n)], [crane(2n, ANNE), weth(5n, ANNE)], 1);
    const pays = fill(BEN, CLEO, [crane(2n), weth(5n)], [crane(1n, BEN)], 2);
    expect(replay([asks, pays, match(1, 2), hop(ANNE, BEN, 1n), hop(BEN, ANNE, 2n)])).toEqual([
      "Anne → Ben: 1 crane 1 for ? ? by exchange, barter",
      "Ben → Anne: 1 crane 2 for ? ? by exchange, barter",
    ]);
    // What is paid for it may ask for nothing, and the token is for whom the rest is.
    const gives = fill(BEN, BEN, [crane(2n), weth(5n)], [], 2);
    const asksBen = fill(ANNE, BEN, [crane(1n)], [crane(2n, ANNE), weth(5n, ANNE)], 1);
    expect(replay([asksBen, gives, match(1, 2), hop(ANNE, BEN, 1n), hop(BEN, ANNE, 2n)])).toEqual([
      "Anne → Ben: 1 crane 1 for ? ? by exchange, barter",
      "Ben → Anne: 1 crane 2 for ? ? by exchange, barter",
    ]);
  });

  test("one order that buys several listings pays each one's own price, where these are all it pays", () => {
    const first = fill(ANNE, CLEO, [crane(1n)], [eth(600n, ANNE)], 1);
    const second = fill(CREATOR, CLEO, [crane(2n)], [eth(350n, CREATOR), eth(50n, MARKET)], 2);
    const pay = (coin: SpentItem) => fill(BEN, CLEO, [coin], [crane(1n, BEN), crane(2n, BEN)], 3);
    const transfers = [hop(ANNE, BEN, 1n), hop(CREATOR, BEN, 2n)];
    expect(replay([first, second, pay(eth(1000n, zeroAddress)), match(1, 2, 3), ...transfers])).toEqual([
      "Anne → Ben: 1 crane 1 for 600 ETH by exchange",
      "creator → Ben: 1 crane 2 for 400 ETH by market",
    ]);
    expect(replay([first, second, pay(eth(1100n, zeroAddress)), match(1, 2, 3), ...transfers])).toEqual([
      "Anne → Ben: 1 crane 1 for 550 ETH by exchange, bundle",
      "creator → Ben: 1 crane 2 for 550 ETH by market, bundle",
    ]);
    expect(replay([first, second, pay(eth(900n, zeroAddress)), match(1, 2, 3), ...transfers])).toEqual([
      "Anne → Ben: 1 crane 1 for 450 ETH by exchange, bundle",
      "creator → Ben: 1 crane 2 for 450 ETH by market, bundle",
    ]);
    expect(replay([first, second, pay(weth(1000n)), match(1, 2, 3), ...transfers])).toEqual([
      "Anne → Ben: 1 crane 1 for 500 WETH by exchange, bundle",
      "creator → Ben: 1 crane 2 for 500 WETH by market, bundle",
    ]);
  });

  test("what somebody sells to himself without moving it, as up to version 1.5, is none of what he trades with others", () => {
    const selling = fill(ANNE, CLEO, [plates(7n, 3n)], [weth(60n, ANNE)], 1);
    const more = fill(ANNE, CLEO, [plates(7n, 3n)], [weth(60n, ANNE)], 2);
    const own = fill(ANNE, CLEO, [weth(900n)], [plates(7n, 3n, ANNE)], 3);
    const bid = fill(BEN, CLEO, [weth(60n)], [plates(7n, 3n, BEN)], 4);
    const expected = ["Anne → Ben: 3 plate 7 for 60 WETH by exchange"];
    expect(replay([selling, more, own, bid, match(1, 2, 3, 4), hop(ANNE, BEN, 7n, 3n, PLATES)])).toEqual(expected);
    expect(replay([bid, selling, own, more, match(4, 1, 3, 2), hop(ANNE, BEN, 7n, 3n, PLATES)])).toEqual(expected);
    // Nor what he buys of himself beside what he buys of others.
    const theirs = fill(BEN, CLEO, [plates(7n, 3n)], [weth(60n, BEN)], 4);
    const wanted = fill(ANNE, CLEO, [weth(60n)], [plates(7n, 3n, ANNE)], 2);
    expect(replay([selling, own, theirs, wanted, match(1, 3, 4, 2), hop(BEN, ANNE, 7n, 3n, PLATES)])).toEqual([
      "Ben → Anne: 3 plate 7 for 60 WETH by exchange",
    ]);
    // Version 1.6 moves it.
    const both = [selling, own, more, bid, match(1, 3, 2, 4), hop(ANNE, ANNE, 7n, 3n, PLATES)];
    expect(replay([...both, hop(ANNE, BEN, 7n, 3n, PLATES)])).toEqual([
      "Anne → Anne: 3 plate 7 for 900 WETH by exchange",
      ...expected,
    ]);
  });

  test("what nobody asks for of an offer is no part of the price where the bidder has it back", () => {
    const sweep = (rest: Hex, offered = 1000n) => [
      fill(ANNE, rest, [crane(1n)], [weth(275n, ANNE), weth(25n, MARKET)], 1),
      fill(CLEO, rest, [crane(2n)], [weth(600n, CLEO)], 2),
      fill(BEN, rest, [weth(offered)], [crane(1n, BEN), crane(2n, BEN)], 3),
    ];
    const moved = [hop(ANNE, BEN, 1n), hop(CLEO, BEN, 2n)];
    const own = ["Anne → Ben: 1 crane 1 for 300 WETH by market", "Cleo → Ben: 1 crane 2 for 600 WETH by exchange"];
    expect(replay([...sweep(BEN), match(1, 2, 3), ...moved])).toEqual(own);
    // Version 1.1 never takes it.
    expect(replay([...sweep(zeroAddress), ...moved])).toEqual(own);
    // Somebody else's profit is paid.
    expect(replay([...sweep(CREATOR), match(1, 2, 3), ...moved])).toEqual([
      "Anne → Ben: 1 crane 1 for 500 WETH by market, bundle",
      "Cleo → Ben: 1 crane 2 for 500 WETH by exchange, bundle",
    ]);
    // Of two offers, no log says whose it was.
    const [other, answer] = [
      fill(CREATOR, BEN, [weth(50n)], [crane(3n, CREATOR)], 4),
      fill(MARKET, BEN, [crane(3n)], [weth(50n, MARKET)], 5),
    ];
    const both = [...sweep(BEN), other, answer, match(1, 2, 3, 4, 5), ...moved, hop(MARKET, CREATOR, 3n)];
    expect(replay(both)).toEqual([
      "Anne → Ben: 1 crane 1 for ? ? by market, unknown bid",
      "Cleo → Ben: 1 crane 2 for ? ? by exchange, unknown bid",
      "market → creator: 1 crane 3 for 50 WETH by exchange",
    ]);
    expect(replay([...sweep(BEN, 900n), other, answer, match(1, 2, 3, 4, 5), ...moved])).toEqual(own);
  });

  test("units for one bidder from two sellers share his price by units", () => {
    const wants = fill(BEN, CLEO, [weth(900n)], [plates(7n, 3n, BEN)], 1);
    const one = fill(ANNE, CLEO, [plates(7n, 1n)], [weth(290n, ANNE)], 2);
    const two = fill(CREATOR, CLEO, [plates(7n, 2n)], [weth(580n, CREATOR)], 3);
    const transfers = [hop(ANNE, BEN, 7n, 1n, PLATES), hop(CREATOR, BEN, 7n, 2n, PLATES)];
    expect(replay([wants, one, two, match(1, 2, 3), ...transfers])).toEqual([
      "Anne → Ben: 1 plate 7 for 300 WETH by exchange",
      "creator → Ben: 2 plate 7 for 600 WETH by exchange",
    ]);
  });

  test("units for two bidders from two sellers cost each what he bids, whoever's units he gets", () => {
    const one = fill(BEN, CLEO, [weth(1000n)], [plates(7n, 1n, BEN), weth(25n, MARKET)], 1);
    const other = fill(CREATOR, CLEO, [weth(500n)], [plates(7n, 1n, CREATOR), weth(25n, MARKET)], 2);
    const answers = [
      fill(ANNE, CLEO, [plates(7n, 1n)], [weth(975n, ANNE)], 3),
      fill(CLEO, CLEO, [plates(7n, 1n)], [weth(475n, CLEO)], 4),
    ];
    const transfers = [hop(ANNE, CREATOR, 7n, 1n, PLATES), hop(CLEO, BEN, 7n, 1n, PLATES)];
    expect(replay([one, other, ...answers, match(1, 2, 3, 4), ...transfers])).toEqual([
      "Cleo → Ben: 1 plate 7 for 1000 WETH by market",
      "Anne → creator: 1 plate 7 for 500 WETH by market",
    ]);
  });

  test("nor does it matter for that who matches them, or who pays the fees", () => {
    const transfers = [hop(ANNE, CLEO, 7n, 2n, PLATES), hop(CREATOR, BEN, 7n, 2n, PLATES)];
    for (const recipient of [BEN, ROUTER]) {
      const listings = [
        fill(ANNE, recipient, [plates(7n, 2n)], [weth(200n, ANNE), weth(30n, MARKET)], 1),
        fill(CREATOR, recipient, [plates(7n, 2n)], [weth(200n, CREATOR), weth(30n, MARKET)], 2),
      ];
      const bids = [
        fill(BEN, recipient, [weth(193n)], [plates(7n, 2n, BEN)], 3),
        fill(CLEO, recipient, [weth(267n)], [plates(7n, 2n, CLEO)], 4),
      ];
      expect(replay([...listings, ...bids, match(1, 2, 3, 4), ...transfers])).toEqual([
        "creator → Ben: 2 plate 7 for 193 WETH by market",
        "Anne → Cleo: 2 plate 7 for 267 WETH by market",
      ]);
    }
  });

  test("units of an order that asks in several currencies have no price", () => {
    const sale = fill(ANNE, CLEO, [plates(7n, 2n)], [eth(5n, ANNE), weth(5n, ANNE)], 1);
    const bid = fill(BEN, CLEO, [], [plates(7n, 1n, BEN)], 2);
    const transfers = [hop(ANNE, BEN, 7n, 1n, PLATES), hop(ANNE, CLEO, 7n, 1n, PLATES)];
    expect(replay([sale, bid, match(1, 2), ...transfers])).toEqual([
      "Anne → Ben: 1 plate 7 for ? ? by exchange, several currencies",
      "Anne → Cleo: 1 plate 7 for ? ? by exchange, several currencies",
    ]);
  });

  test("what is asked for units that go to several is shared without rest, however the order names them", () => {
    const transfers = [hop(ANNE, BEN, 7n, 1n, PLATES), hop(ANNE, CREATOR, 7n, 2n, PLATES)];
    const expected = ["Anne → Ben: 1 plate 7 for 4 ETH by exchange", "Anne → creator: 2 plate 7 for 6 ETH by exchange"];
    const takers = [plates(7n, 1n, BEN), plates(7n, 2n, CREATOR)];
    const toTwo = fill(ANNE, CLEO, [plates(7n, 3n)], [eth(10n, ANNE), ...takers], 1);
    const payment = fill(BEN, CLEO, [eth(10n, zeroAddress)], [], 2);
    expect(replay([toTwo, payment, match(1, 2), ...transfers])).toEqual(expected);
    const named = fill(ANNE, CLEO, [plates(7n, 1n), plates(7n, 2n)], [eth(10n, ANNE), ...takers], 1);
    expect(replay([named, payment, match(1, 2), ...transfers])).toEqual(expected);
  });

  test("an order that also offers no units of its token has a price for the others", () => {
    const sale = fill(ANNE, CLEO, [plates(7n, 0n), plates(7n, 2n)], [eth(1000n, ANNE)], 1);
    const bid = fill(BEN, CLEO, [], [plates(7n, 1n, BEN)], 2);
    const transfers = [hop(ANNE, BEN, 7n, 1n, PLATES), hop(ANNE, CLEO, 7n, 1n, PLATES)];
    expect(replay([sale, bid, match(1, 2), ...transfers])).toEqual([
      "Anne → Ben: 1 plate 7 for 500 ETH by exchange",
      "Anne → Cleo: 1 plate 7 for 500 ETH by exchange",
    ]);
  });

  test("a match that gives one token the place of another leaves both", () => {
    // Minted in the same transaction, so that the seller's order alone looks complete.
    const minted = [hop(zeroAddress, ANNE, 7n, 2n, PLATES), hop(zeroAddress, ANNE, 1n)];
    const asked = eth(30n, ANNE);
    const split = [
      fill(ANNE, ANNE, [plates(7n, 2n), crane(1n)], [asked], 1),
      fill(BEN, ANNE, [eth(10n, zeroAddress)], [plates(7n, 1n, BEN)], 2),
      fill(CREATOR, ANNE, [eth(20n, zeroAddress)], [plates(7n, 1n, CREATOR), crane(1n, CREATOR)], 3),
    ];
    const sold = [hop(ANNE, BEN, 7n, 1n, PLATES), hop(ANNE, CREATOR, 7n, 1n, PLATES), hop(ANNE, CREATOR, 1n)];
    const expected = [
      "Anne → Ben: 1 plate 7 for 10 ETH by exchange",
      "Anne → creator: 1 plate 7 for 10 ETH by exchange, bundle",
      "Anne → creator: 1 crane 1 for 10 ETH by exchange, bundle",
    ];
    expect(replay([...minted, ...split, match(1, 2, 3), ...sold])).toEqual(expected);
  });

  test("whatever is matched, each log's changes lead from the rows before it to those of all logs", () => {
    const tokens = [crane(1n), crane(2n), plates(7n, 1n), plates(8n, 1n)];
    const person = fc.constantFrom(ANNE, BEN, CLEO, CREATOR);
    const nfts = fc.array(
      fc.tuple(fc.constantFrom(...tokens), fc.bigInt({ min: 0n, max: 3n })).map(([token, amount]) => ({
        ...token,
        amount: token.itemType === 2 ? 1n : amount,
      })),
      { maxLength: 3 },
    );
    const order = fc.record({ offerer: person, offered: nfts, wanted: nfts });
    /** Orders, matched or not. Nobody is the recipient in version 1.1, which writes no OrdersMatched. */
    const group = fc
      .tuple(
        fc.array(order, { minLength: 1, maxLength: 4 }),
        fc.constantFrom(ANNE, CLEO, zeroAddress),
        fc.constantFrom("now", "last", "never"),
      )
      .map(([orders, recipient, when]) => (firstHash: number) => {
        const fills = orders.map(({ offerer, offered, wanted }, index) => {
          const asked = [eth(30n, offerer), ...wanted.map((item) => ({ ...item, recipient: offerer }))];
          return fill(offerer, recipient, offered, asked, firstHash + index);
        });
        const matched = match(...orders.map((_, index) => firstHash + index));
        return { now: when === "now" ? [...fills, matched] : fills, last: when === "last" ? [matched] : [] };
      });
    const transfer = fc
      .tuple(fc.constantFrom(zeroAddress, ANNE, BEN), fc.constantFrom(ANNE, BEN, CLEO), nfts)
      .map(([from, to, items]) => (): { now: Log[]; last: Log[] } => ({
        now: items.map(({ token, identifier, amount }) => hop(from, to, identifier, amount, token)),
        last: [],
      }));
    let saleCount = 0;
    fc.assert(
      fc.property(fc.array(fc.oneof(transfer, group), { maxLength: 8 }), (parts) => {
        const logs = parts.map((logsOf, index) => logsOf(index * 4));
        // A zone may fill other orders before its own match is told.
        saleCount += replayRows([...logs.flatMap(({ now }) => now), ...logs.flatMap(({ last }) => last)]).length;
      }),
      { numRuns: 2_000 },
    );
    expect(saleCount).toBeGreaterThan(2_000);
  });

  test("any number of orders is paired up without comparing each with each", () => {
    // That would take minutes.
    const tokenIds = Array.from({ length: 60_000 }, (_, index) => BigInt(index));
    const asks = tokenIds.map((id) => fill(ANNE, CLEO, [crane(id)], [eth(5n, ANNE)]).step.fill);
    const bids = tokenIds.map((id) => fill(BEN, CLEO, [eth(5n, zeroAddress)], [crane(id, BEN)]).step.fill);
    const sales = salesOfMatch([...asks, ...bids.toReversed()], { exchangeAddress: EXCHANGE });
    expect(sales.map(({ tokenId }) => tokenId)).toEqual(tokenIds);
    expect(sales.every(({ buyer, price }) => buyer === BEN && price === 5n)).toBe(true);
  });

  test("nor does an order of any number of tokens compare each with each", () => {
    // That would take minutes.
    const tokenIds = Array.from({ length: 20_000 }, (_, index) => BigInt(index));
    const wanted = tokenIds.toReversed().map((id) => crane(id, BEN));
    const offered = tokenIds.map((id) => crane(id));
    const order = fill(ANNE, CLEO, offered, [eth(60_000n, ANNE), ...wanted]).step.fill;
    for (const sales of [
      salesOfFill(order, { exchangeAddress: EXCHANGE }),
      salesOfMatch([order], { exchangeAddress: EXCHANGE }),
    ]) {
      expect(sales.map(({ tokenId }) => tokenId)).toEqual(tokenIds);
      expect(sales.every(({ buyer, price }) => buyer === BEN && price === 3n)).toBe(true);
    }
  });

  test("of orders of which no log says where their match ends, so many are paired up with each other and no more", () => {
    const unnamed = (offerer: Hex, offered: SpentItem[], asked: ReceivedItem[], hash: number) =>
      fill(offerer, zeroAddress, offered, asked, hash);
    const bid = unnamed(BEN, [weth(9n)], [crane(1n, BEN)], 1);
    const own = (count: number) =>
      Array.from({ length: count }, (_, index) =>
        unnamed(ANNE, [crane(5n + BigInt(index))], [eth(7n, ANNE), crane(5n + BigInt(index), CLEO)], 2 + index),
      );
    const answer = unnamed(ANNE, [crane(1n)], [weth(9n, ANNE)], 1000);
    const sold = (count: number) => replay([bid, ...own(count), answer, hop(ANNE, BEN, 1n), hop(ANNE, CLEO, 5n)]);
    const other = "Anne → Cleo: 1 crane 5 for 7 ETH by exchange";
    expect(sold(198)).toEqual([other, "Anne → Ben: 1 crane 1 for 9 WETH by exchange"]);
    // With each one more, all before it would be paired up again: of three thousand that took a minute.
    expect(sold(199)).toEqual([other]);
  });

  test("an order that is also filled by itself before its match is told is two sales", () => {
    const part = (recipient: Hex) => fill(BEN, recipient, [weth(10n)], [plates(7n, 1n, BEN), weth(1n, MARKET)], 1);
    const answered = fill(ANNE, CLEO, [plates(7n, 1n)], [weth(9n, ANNE)], 2);
    const transfers = [hop(CREATOR, BEN, 7n, 1n, PLATES), hop(ANNE, BEN, 7n, 1n, PLATES)];
    expect(replay([part(CLEO), answered, part(CREATOR), match(1, 2), ...transfers])).toEqual([
      "Anne → Ben: 1 plate 7 for 10 WETH by market",
      "creator → Ben: 1 plate 7 for 10 WETH by market",
    ]);
  });

  test("two matches in one transaction keep apart", () => {
    const other = fill(CREATOR, CLEO, [weth(500n)], [crane(2n, CREATOR), weth(50n, MARKET)], 3);
    const otherAnswer = fill(ANNE, CLEO, [crane(2n)], [weth(450n, ANNE)], 4);
    const first = [bid, answer, match(1, 2), hop(ANNE, BEN, 1n)];
    expect(replay([...first, other, otherAnswer, match(3, 4), hop(ANNE, CREATOR, 2n)])).toEqual([
      "Anne → Ben: 1 crane 1 for 1000 WETH by market",
      "Anne → creator: 1 crane 2 for 500 WETH by market",
    ]);
  });

  test("an order of another version of the exchange is none of a match, though it has the same hash", () => {
    const other = (hash: number) => ({
      ...fill(ANNE, CLEO, [crane(5n)], [eth(7n, ANNE)], hash),
      exchangeAddress: MARKET,
    });
    const expected = ["Anne → Ben: 1 crane 1 for 1000 WETH by market", "Anne → Cleo: 1 crane 5 for 7 ETH by market"];
    const transfers = [hop(ANNE, BEN, 1n), hop(ANNE, CLEO, 5n)];
    expect(replay([bid, answer, other(2), match(1, 2), ...transfers])).toEqual(expected);
    // Nor is one of which no fill was seen.
    expect(replay([bid, answer, other(3), match(1, 3, 2, 4), ...transfers])).toEqual(expected);
  });
});

describe("whether an offer was accepted or a listing bought", () => {
  const isOffer = (...logs: Log[]) => replayRows(logs).map((sale) => sale.isOffer);
  const listing = fill(ANNE, BEN, [crane(1n)], [eth(900n, ANNE), eth(100n, MARKET)]);
  const offer = fill(BEN, ANNE, [weth(1000n)], [crane(1n, BEN), weth(100n, MARKET)]);
  const sold = hop(ANNE, BEN, 1n);

  test("is told by what the order offers", () => {
    expect(isOffer(listing, sold)).toEqual([false]);
    expect(isOffer(fill(ANNE, CLEO, [crane(1n)], [eth(900n, ANNE), crane(1n, BEN)]), sold)).toEqual([false]);
    expect(isOffer(offer, sold)).toEqual([true]);
    const barter = fill(ANNE, BEN, [crane(1n)], [crane(2n, ANNE)]);
    expect(isOffer(sold, hop(BEN, ANNE, 2n), barter)).toEqual([false, true]);
  });

  test("is told by the fees where two orders meet: the one that answers names none", () => {
    const bid = fill(BEN, CLEO, [weth(1000n)], [crane(1n, BEN), weth(100n, MARKET)], 1);
    const answer = fill(ANNE, CLEO, [crane(1n)], [weth(900n, ANNE)], 2);
    expect(isOffer(bid, answer, match(1, 2), sold)).toEqual([true]);
    const ask = fill(ANNE, CLEO, [crane(1n)], [eth(900n, ANNE), eth(100n, MARKET)], 1);
    const purchase = fill(BEN, CLEO, [eth(1000n, zeroAddress)], [crane(1n, BEN)], 2);
    expect(isOffer(ask, purchase, match(1, 2), sold)).toEqual([false]);
    const plain = fill(ANNE, CLEO, [crane(1n)], [weth(1000n, ANNE)], 1);
    const same = fill(BEN, CLEO, [weth(1000n)], [crane(1n, BEN)], 2);
    expect(isOffer(plain, same, match(1, 2), sold)).toEqual([null]);
  });

  test("is told by whose own order answers the other, whatever fees either names", () => {
    const plain = (caller: Hex) => [
      fill(ANNE, caller, [crane(1n)], [weth(1000n, ANNE)], 1),
      fill(BEN, caller, [weth(1000n)], [crane(1n, BEN)], 2),
    ];
    expect(isOffer(...plain(ANNE), match(1, 2), sold)).toEqual([true]);
    expect(isOffer(...plain(BEN), match(1, 2), sold)).toEqual([false]);
    // A router that sells takes its part out of what it answers with: the token's people stand behind it.
    const bid = fill(BEN, ROUTER, [weth(1000n)], [crane(1n, BEN)], 1);
    const answer = fill(ROUTER, ROUTER, [crane(1n)], [weth(900n, ANNE), weth(100n, MARKET)], 2);
    expect(replayRows([hop(ANNE, ROUTER, 1n), bid, answer, match(1, 2), hop(ROUTER, BEN, 1n)])).toMatchObject([
      { seller: ANNE, buyer: BEN, isOffer: true },
    ]);
  });

  test("is told by ether, which no maker's order can offer", () => {
    const listed = fill(ANNE, CLEO, [crane(1n)], [eth(1000n, ANNE)], 1);
    const purchase = fill(BEN, CLEO, [eth(1000n, zeroAddress)], [crane(1n, BEN)], 2);
    // The seller is a vault, whose token was brought by somebody in the same transaction.
    const logs = [hop(CREATOR, ANNE, 1n), listed, purchase, match(1, 2), sold];
    expect(replayRows(logs)).toMatchObject([{ seller: ANNE, buyer: BEN, isOffer: false }]);
  });

  test("is not told by the order that pays for a private listing", () => {
    const sale = fill(ANNE, CLEO, [crane(1n)], [eth(1000n, ANNE), crane(1n, BEN)], 1);
    const payment = fill(BEN, CLEO, [eth(1000n, zeroAddress)], [], 2);
    expect(isOffer(sale, payment, match(1, 2), sold)).toEqual([false]);
  });
});

describe("people behind contracts", () => {
  const sale = (
    seller: Hex | null,
    buyer: Hex | null,
    { tokenId = 1n, price = 1000n, isOffer = false }: Partial<Sale> = {},
  ): { step: StepContent } => ({
    step: {
      kind: "sales",
      sales: [
        {
          ...priceOf(price!, zeroAddress),
          logIndex: 0,
          batchIndex: 0,
          marketplace: "blur",
          contractAddress: CRANES,
          tokenId,
          quantity: 1n,
          seller,
          buyer,
          broker: EXCHANGE,
          isOffer,
        } satisfies Sale,
      ],
    },
  });
  const line = (seller: string, buyer: string, price = 1000) =>
    `${seller} → ${buyer}: 1 crane 1 for ${price} ETH by exchange`;

  test("who buys through a router is whom it passes the token on to", () => {
    expect(replay([hop(ANNE, ROUTER, 1n), sale(ANNE, ROUTER), hop(ROUTER, BEN, 1n)])).toEqual([line("Anne", "Ben")]);
    expect(replay([sale(ANNE, ROUTER), hop(ANNE, ROUTER, 1n), hop(ROUTER, BEN, 1n)])).toEqual([line("Anne", "Ben")]);
  });

  test("who sells through a router is whom it has the token from", () => {
    const accepted = sale(ROUTER, BEN, { isOffer: true });
    expect(replay([hop(ANNE, ROUTER, 1n), hop(ROUTER, BEN, 1n), accepted])).toEqual([line("Anne", "Ben")]);
    expect(replay([hop(ANNE, ROUTER, 1n), accepted, hop(ROUTER, BEN, 1n)])).toEqual([line("Anne", "Ben")]);
  });

  test("whoever made the order sells or buys for himself, wherever he has the token from or puts it", () => {
    const [before, sold, after] = [hop(MARKET, ANNE, 1n), hop(ANNE, BEN, 1n), hop(BEN, CREATOR, 1n)];
    const way = (isOffer: boolean) => replay([before, sold, after, sale(ANNE, BEN, { isOffer })]);
    expect(way(false)).toEqual([line("Anne", "creator")]);
    expect(way(true)).toEqual([line("market", "Ben")]);
  });

  test("who passes on some of the units that he bought has bought them himself", () => {
    const bought = fill(ANNE, ROUTER, [plates(7n, 5n)], [eth(1000n, ANNE)]);
    expect(replay([bought, hop(ANNE, ROUTER, 7n, 5n, PLATES), hop(ROUTER, BEN, 7n, 2n, PLATES)])).toEqual([
      "Anne → router: 5 plate 7 for 1000 ETH by exchange",
    ]);
  });

  test("units that were bought one after the other and passed on together are whom they are passed on to's", () => {
    const buy = (units: bigint) => [
      fill(ANNE, ROUTER, [plates(7n, units)], [eth(10n * units, ANNE)]),
      hop(ANNE, ROUTER, 7n, units, PLATES),
    ];
    expect(replay([...buy(2n), ...buy(3n), hop(ROUTER, BEN, 7n, 5n, PLATES)])).toEqual([
      "Anne → Ben: 2 plate 7 for 20 ETH by exchange",
      "Anne → Ben: 3 plate 7 for 30 ETH by exchange",
    ]);
  });

  test("units that the buyer gave away before are others", () => {
    const given = hop(BEN, CREATOR, 7n, 1n, PLATES);
    const bought = fill(ANNE, BEN, [plates(7n, 1n)], [eth(10n, ANNE)]);
    expect(replay([given, bought, hop(ANNE, BEN, 7n, 1n, PLATES)])).toEqual([
      "Anne → Ben: 1 plate 7 for 10 ETH by exchange",
    ]);
  });

  test("units that were given beside those sold are nobody's sale, nor what moved between others", () => {
    const given = [hop(ANNE, CREATOR, 1n), hop(CREATOR, BEN, 1n)];
    for (const gift of given)
      for (const seller of [ANNE, EXCHANGE, zeroAddress])
        expect(replay([gift, sale(ANNE, BEN), hop(seller, BEN, 1n)])).toEqual([line("Anne", "Ben")]);
    expect(replay([sale(ANNE, BEN), hop(CREATOR, MARKET, 1n)])).toEqual([]);
  });

  test("bought and sold again in one transaction is two sales with their own people", () => {
    const expected = [line("Anne", "router", 1000), line("router", "Ben", 1100)];
    const [buy, sell] = [sale(ANNE, ROUTER), sale(ROUTER, BEN, { price: 1100n })];
    const [first, second] = [hop(ANNE, ROUTER, 1n), hop(ROUTER, BEN, 1n)];
    expect(replay([first, buy, second, sell])).toEqual(expected);
    expect(replay([buy, first, sell, second])).toEqual(expected);
    expect(replay([first, buy, sell, second])).toEqual(expected);
    expect(replay([buy, first, second, sell])).toEqual(expected);
  });

  test("what is sold on and bought back is the router's until it passes it on, and whoever's it was before it had it", () => {
    const buy = (seller: Hex, price: bigint) => [hop(seller, ROUTER, 1n), sale(seller, ROUTER, { price })];
    const sell = (buyer: Hex, price: bigint) => [hop(ROUTER, buyer, 1n), sale(ROUTER, buyer, { price, isOffer: true })];
    expect(replay([...buy(ANNE, 50n), ...sell(BEN, 60n), ...buy(BEN, 70n), hop(ROUTER, CREATOR, 1n)])).toEqual([
      line("Anne", "router", 50),
      line("router", "Ben", 60),
      line("Ben", "creator", 70),
    ]);
    expect(replay([hop(ANNE, ROUTER, 1n), ...sell(BEN, 60n), ...buy(BEN, 70n), ...sell(CREATOR, 80n)])).toEqual([
      line("Anne", "Ben", 60),
      line("Ben", "router", 70),
      line("router", "creator", 80),
    ]);
  });

  test("units that a router passes on to several people are each one's, in their order, and so are those it sells for several", () => {
    const buy = (seller: Hex) => [
      fill(seller, ROUTER, [plates(7n, 1n)], [eth(10n, seller)]),
      hop(seller, ROUTER, 7n, 1n, PLATES),
    ];
    const pass = (buyer: Hex) => hop(ROUTER, buyer, 7n, 1n, PLATES);
    expect(replay([...buy(ANNE), ...buy(CREATOR), pass(BEN), pass(MARKET)])).toEqual([
      "Anne → Ben: 1 plate 7 for 10 ETH by exchange",
      "creator → market: 1 plate 7 for 10 ETH by exchange",
    ]);
    const accept = (buyer: Hex) => [
      fill(buyer, ROUTER, [weth(10n)], [plates(7n, 1n, buyer)]),
      hop(ROUTER, buyer, 7n, 1n, PLATES),
    ];
    const given = [hop(ANNE, ROUTER, 7n, 1n, PLATES), hop(CREATOR, ROUTER, 7n, 1n, PLATES)];
    expect(replay([...given, ...accept(BEN), ...accept(MARKET)])).toEqual([
      "Anne → Ben: 1 plate 7 for 10 WETH by exchange",
      "creator → market: 1 plate 7 for 10 WETH by exchange",
    ]);
  });

  test("an order that doesn't say who takes it leaves that to the transfer", () => {
    expect(replay([hop(ANNE, BEN, 1n), sale(ANNE, null)])).toEqual([line("Anne", "Ben")]);
    expect(replay([hop(ANNE, BEN, 1n), sale(null, BEN)])).toEqual([line("Anne", "Ben")]);
    // Each order to another one.
    expect(
      replay([hop(ANNE, BEN, 1n), hop(ANNE, CLEO, 1n), sale(ANNE, null), sale(ANNE, null, { price: 900n })]),
    ).toEqual([line("Anne", "Ben"), line("Anne", "Cleo", 900)]);
    // To the one of as many units.
    expect(replay([hop(ANNE, BEN, 1n, 2n), hop(ANNE, CLEO, 1n), sale(ANNE, null)])).toEqual([line("Anne", "Cleo")]);
  });

  test("what a market keeps for its buyer is sold to him, wherever else the token goes", () => {
    const { step } = sale(ANNE, BEN) as { step: { kind: "sales"; sales: Sale[] } };
    const kept = { step: { ...step, sales: step.sales.map((one) => ({ ...one, isInEscrow: true as const })) } };
    expect(replay([kept])).toEqual([line("Anne", "Ben")]);
    expect(replay([kept, hop(EXCHANGE, CREATOR, 1n)])).toEqual([line("Anne", "Ben")]);
    expect(replay([kept, hop(CLEO, BEN, 1n)])).toEqual([line("Anne", "Ben")]);
  });

  test("what a market holds is sold by whom the market names, what is minted by whom the log names", () => {
    expect(replay([hop(EXCHANGE, BEN, 1n), sale(ANNE, BEN)])).toEqual([line("Anne", "Ben")]);
    expect(replay([hop(zeroAddress, BEN, 1n), sale(ANNE, BEN)])).toEqual([line("Anne", "Ben")]);
    // A row has a seller, though it be nobody.
    expect(replayRows([hop(zeroAddress, BEN, 1n), sale(null, BEN)])).toMatchObject([{ seller: zeroAddress }]);
  });

  test("who signed the transaction buys for himself, whatever becomes of the token, and a burner is a buyer", () => {
    expect(replay([hop(ANNE, CLEO, 1n), sale(ANNE, CLEO), hop(CLEO, ROUTER, 1n)])).toEqual([line("Anne", "Cleo")]);
    expect(replay([hop(ANNE, BEN, 1n), sale(ANNE, BEN), hop(BEN, zeroAddress, 1n)])).toEqual([line("Anne", "Ben")]);
  });

  test("who signed the transaction has bought for himself also what he gives back to the router he has it from", () => {
    const bought = [hop(ANNE, ROUTER, 1n), sale(ANNE, ROUTER), hop(ROUTER, CLEO, 1n), hop(CLEO, ROUTER, 1n)];
    expect(replay([...bought, hop(ROUTER, MARKET, 1n)])).toEqual([line("Anne", "Cleo")]);
    const sold = [hop(ROUTER, BEN, 1n), sale(ROUTER, BEN, { price: 1100n, isOffer: true })];
    expect(replay([...bought, ...sold])).toEqual([line("Anne", "Cleo"), line("Cleo", "Ben", 1100)]);
  });

  test("a token with any number of hops costs no more than a thousand of them", () => {
    const logs = Array.from({ length: 20_000 }, (_, index) =>
      hop(index % 2 ? ROUTER : BEN, index % 2 ? BEN : ROUTER, 1n),
    );
    const cpuMs = cpuMsOf(() => expect(replay([hop(ANNE, BEN, 1n), sale(ANNE, BEN), ...logs])).toHaveLength(1));
    expect(cpuMs).toBeLessThan(5_000);
  });

  test("units sold one by one have their people up to a hundred, and beyond those whom the exchange names", () => {
    const resold = (count: number) => [
      ...Array.from({ length: count }, () => [hop(ANNE, ROUTER, 1n), sale(ANNE, ROUTER)]).flat(),
      ...Array.from({ length: count }, () => hop(ROUTER, BEN, 1n)),
    ];
    expect(replay(resold(100))).toEqual(Array(100).fill(line("Anne", "Ben")));
    expect(replay(resold(101))).toEqual(Array(101).fill(line("Anne", "router")));
    // Who isn't named isn't guessed.
    expect(replay([...resold(101), sale(ANNE, null)])).toHaveLength(101);
  });

  test("thousands of units of one token in one order are settled with each transfer", () => {
    // Looked for among all transfers with each transfer, they would take minutes.
    const order = fill(ANNE, BEN, Array(3_000).fill(plates(7n, 1n)), [eth(3_000n, ANNE)]);
    const transfers = Array.from({ length: 3_000 }, () => hop(ANNE, BEN, 7n, 1n, PLATES));
    expect(replay([order, ...transfers])).toEqual(Array(3_000).fill("Anne → Ben: 1 plate 7 for 1 ETH by exchange"));
  });

  test("sales that a match takes back are looked for among the hops again", () => {
    const order = (index: number) => fill(ANNE, CLEO, [plates(7n, 1n)], [eth(5n, ANNE)], index);
    const orders = Array.from({ length: 150 }, (_, index) => order(index + 1));
    const bid = fill(BEN, CLEO, [eth(750n, zeroAddress)], [plates(7n, 150n, BEN)], 151);
    const transfers = Array.from({ length: 150 }, () => hop(ANNE, BEN, 7n, 1n, PLATES));
    const matched = match(...Array.from({ length: 151 }, (_, index) => index + 1));
    const sold = "Anne → Ben: 1 plate 7 for 5 ETH by exchange";
    expect(replay([...orders, ...transfers])).toEqual(Array(150).fill("Anne → Cleo: 1 plate 7 for 5 ETH by exchange"));
    expect(replay([...orders, ...transfers, bid, matched])).toEqual(Array(150).fill(sold));
  });
});

describe("Wyvern", () => {
  const window = (currency: Hex | null, price = 1000n): Log => ({
    step: {
      kind: "window",
      match: { logIndex: 0, seller: ANNE, buyer: BEN, maker: ANNE, taker: BEN, price, currency, isOffer: false },
    },
  });

  test("sold is what went from seller to buyer since the match before", () => {
    expect(replay([hop(ANNE, BEN, 1n), window(zeroAddress), hop(ANNE, BEN, 2n), window(WETH, 700n)])).toEqual([
      "Anne → Ben: 1 crane 1 for 1000 ETH by exchange",
      "Anne → Ben: 1 crane 2 for 700 WETH by exchange",
    ]);
  });

  test("what moves after a match is not its, though it is put in before, as where a process starts in between", () => {
    const transactionSales = createTransactionSales();
    const later = { logIndex: 5, contractAddress: CRANES, tokenId: 1n, from: ANNE, to: BEN, quantity: 1n };
    addHops(transactionSales, [later], () => CLEO);
    const { step } = window(zeroAddress) as { step: StepContent };
    addStep(transactionSales, { logIndex: 3, exchangeAddress: EXCHANGE, ...step }, () => CLEO);
    expect(salesOf(transactionSales, () => CLEO)).toEqual([]);
  });

  test("a mint on the way is not part of the sale, and nothing moved is nothing sold", () => {
    expect(replay([hop(ANNE, BEN, 1n), hop(zeroAddress, BEN, 9n), window(zeroAddress)])).toEqual([
      "Anne → Ben: 1 crane 1 for 1000 ETH by exchange",
    ]);
    expect(replay([window(zeroAddress)])).toEqual([]);
  });

  test("what the sale mints is the seller's, and what is free is not sold", () => {
    expect(replay([hop(zeroAddress, BEN, 9n), window(zeroAddress)])).toEqual([
      "Anne → Ben: 1 crane 9 for 1000 ETH by exchange",
    ]);
    expect(replay([hop(ANNE, BEN, 1n), window(null, 0n)])).toEqual([]);
  });

  test("of a token of which no units move none is sold", () => {
    expect(replay([hop(ANNE, BEN, 1n), hop(ANNE, BEN, 7n, 0n, PLATES), window(zeroAddress)])).toEqual([
      "Anne → Ben: 1 crane 1 for 1000 ETH by exchange",
    ]);
    expect(replay([hop(ANNE, BEN, 7n, 0n, PLATES), window(zeroAddress)])).toEqual([]);
  });

  test("of two orders with a hash each, or none, sold is what went from one party to the other, or to whom is known", () => {
    const either: Log = {
      step: {
        kind: "window",
        match: {
          logIndex: 0,
          seller: null,
          buyer: null,
          maker: ANNE,
          taker: BEN,
          price: 1000n,
          currency: zeroAddress,
          isOffer: null,
        },
      },
    };
    for (const [from, to, seller, buyer] of [
      [ANNE, BEN, "Anne", "Ben"],
      [BEN, ANNE, "Ben", "Anne"],
      [zeroAddress, BEN, "Anne", "Ben"],
      [zeroAddress, ANNE, "Ben", "Anne"],
      [ANNE, CREATOR, "Anne", "creator"],
      [CREATOR, ANNE, "creator", "Anne"],
      [BEN, CREATOR, "Ben", "creator"],
      [CREATOR, BEN, "creator", "Ben"],
    ] as const)
      expect(replay([hop(CREATOR, MARKET, 2n), hop(from, to, 1n), either])).toEqual([
        `${seller} → ${buyer}: 1 crane 1 for 1000 ETH by exchange`,
      ]);
  });

  test("of any number of tokens that are said to move before a match it sold the last thousand at most", () => {
    const range = Array.from({ length: 10_000 }, (_, tokenId) => BigInt(tokenId));
    const minted: Log = {
      hops: range.map((tokenId) => ({ from: zeroAddress, to: BEN, tokenId, quantity: 1n, contractAddress: CRANES })),
    };
    const sold = replayRows([minted, window(zeroAddress)]).map(({ tokenId }) => tokenId);
    expect(sold).toEqual(range.slice(-1_000));
  });

  test("units that went the same way add up, to no more than any token can have", () => {
    const moved = (quantity: bigint) => Array.from({ length: 10 }, () => hop(ANNE, BEN, 7n, quantity, PLATES));
    const quantities = (logs: Log[]) => replayRows([...logs, window(zeroAddress)]).map(({ quantity }) => quantity);
    expect(quantities(moved(3n))).toEqual([30n]);
    expect(quantities(moved(2n ** 256n - 1n))).toEqual([2n ** 256n - 1n]);
  });

  test("without a currency there is no price, and several tokens are a bundle", () => {
    expect(replay([hop(ANNE, BEN, 1n), window(null)])).toEqual([
      "Anne → Ben: 1 crane 1 for ? ? by exchange, unknown currency",
    ]);
    expect(replay([hop(ANNE, BEN, 1n), hop(ANNE, BEN, 2n), window(zeroAddress)])).toEqual([
      "Anne → Ben: 1 crane 1 for 500 ETH by exchange, bundle",
      "Anne → Ben: 1 crane 2 for 500 ETH by exchange, bundle",
    ]);
  });
});

test("of what a transaction claims to move no more is remembered than any block has room for", () => {
  const transactionSales = createTransactionSales();
  const range = Array.from({ length: 10_000 }, (_, tokenId) => ({
    from: ANNE,
    to: BEN,
    tokenId: BigInt(tokenId),
    quantity: 1n,
    contractAddress: CRANES,
  }));
  for (let logIndex = 0; logIndex < 11; logIndex++)
    addHops(
      transactionSales,
      range.map((hop) => ({ ...hop, logIndex })),
      () => ANNE,
    );
  expect(transactionSales.hops).toHaveLength(MAX_TRANSACTION_HOPS);
});
