import {
  type Abi,
  type AbiEvent,
  encodeAbiParameters,
  encodeEventTopics,
  encodeFunctionData,
  type Hex,
  numberToHex,
  parseAbiParameters,
  zeroAddress,
  zeroHash,
} from "viem";
import { describe, expect, test } from "vitest";
import { BLUR_POOL_ADDRESS, BLUR_V1_ADDRESS, BLUR_V2_ADDRESS, blurV1Abi, blurV2Abi } from "../abis/blur.ts";
import { ELEMENT_ADDRESSES, elementAbi } from "../abis/element.ts";
import { erc1155Abi } from "../abis/erc1155.ts";
import { erc721Abi, erc721DraftAbi } from "../abis/erc721.ts";
import { FOUNDATION_ADDRESS, foundationAbi } from "../abis/foundation.ts";
import { LOOKSRARE_V1_ADDRESS, LOOKSRARE_V2_ADDRESS, looksrareV1Abi, looksrareV2Abi } from "../abis/looksrare.ts";
import {
  PAYMENT_PROCESSOR_V1_ADDRESSES,
  paymentProcessorV1Abi,
  paymentProcessorV2Abi,
} from "../abis/payment-processor.ts";
import { SEAPORT_ADDRESSES, seaportAbi } from "../abis/seaport.ts";
import {
  SUPER_RARE_ADDRESSES,
  SUPER_RARE_BAZAAR_ADDRESSES,
  superRareAbi,
  superRareBazaarAbi,
} from "../abis/superrare.ts";
import { WYVERN_ADDRESSES, wyvernAbi } from "../abis/wyvern.ts";
import { X2Y2_ADDRESS, x2y2Abi } from "../abis/x2y2.ts";
import { ZERO_EX_ADDRESSES, zeroExAbi } from "../abis/zeroex.ts";
import {
  ZORA_ADDRESSES,
  ZORA_AUCTION_HOUSE_ADDRESSES,
  ZORA_RESERVE_AUCTION_ADDRESSES,
  zoraAbi,
  zoraAuctionHouseAbi,
  zoraReserveAuctionAbi,
} from "../abis/zora.ts";
import { type Call, type ReceiptLog, salesOfLogs, salesOfTransactions } from "../test/sales-of-logs.ts";
import { salesOfInventory } from "./x2y2.ts";

const account = (byte: string): Hex => `0x${byte.repeat(20)}`;
const [ANNE, BEN, SENDER, CREATOR] = ["aa", "bb", "ee", "c0"].map(account) as [Hex, Hex, Hex, Hex];
const [WETH, CRANES, PLATES, STRATEGY] = ["57", "71", "15", "5a"].map(account) as [Hex, Hex, Hex, Hex];
const HASH: Hex = `0x${"ab".repeat(32)}`;

/** A log as the contract at `address` writes it. */
function logOf(address: string, abi: Abi, eventName: string, args: Record<string, unknown>): ReceiptLog {
  const event = abi.find((item): item is AbiEvent => item.type === "event" && item.name === eventName)!;
  const plain = event.inputs.filter(({ indexed }) => !indexed);
  return {
    address: address as Hex,
    topics: encodeEventTopics({ abi: [event], eventName, args }) as Hex[],
    data: encodeAbiParameters(
      plain,
      plain.map(({ name }) => args[name!]),
    ),
    logIndex: "0x0",
  };
}

const moved = (from: Hex, to: Hex, tokenId: bigint) => logOf(CRANES, erc721Abi, "Transfer", { from, to, tokenId });
const movedUnits = (from: Hex, to: Hex, id: bigint, value: bigint) =>
  logOf(PLATES, erc1155Abi, "TransferSingle", { operator: SENDER, from, to, id, value });

const numbered = (logs: ReceiptLog[]) => logs.map((log, index) => ({ ...log, logIndex: numberToHex(index) }));
const transaction: Call = { from: SENDER, to: null, input: "0x" };

/**
 * The sales of these logs in one transaction: who, to whom, what, how much, in what, at which exchange, by which order.
 */
async function sell(logs: ReceiptLog[], call: Partial<Call> = {}) {
  const rows = await salesOfLogs(numbered(logs), { ...transaction, ...call });
  // Part of the event's id: the only sale of a log is at its first place.
  const only = rows.filter((row) => rows.every((other) => other === row || other.log_index !== row.log_index));
  expect(only.map(({ batch_index }) => batch_index)).toEqual(only.map(() => 0));
  return rows.map((row) => ({
    seller: row.from_address,
    buyer: row.to_address,
    tokenId: row.token_id,
    quantity: row.quantity,
    price: row.price,
    currency: row.currency_address,
    broker: row.broker,
    isOffer: row.is_offer,
    ...(row.price_note && { note: row.price_note }),
  }));
}

/** The sales of transactions, a block each. */
const listSaleRows = (transactions: ReceiptLog[][]) =>
  salesOfTransactions(transactions.map((logs) => ({ logs: numbered(logs), call: transaction })));

const sale = {
  seller: ANNE,
  buyer: BEN,
  tokenId: 1n,
  quantity: 1n,
  price: 1000n,
  currency: zeroAddress,
  isOffer: false,
};

test("Seaport: tokens of OpenSea's shared storefront move under another address than they are sold", async () => {
  const soldAt = async (chainId: number, storefront: Hex) => {
    const item = { itemType: 3, token: "0xa604060890923ff400e8c6f5290461a83aedacec", identifier: 9n, amount: 1n };
    const coin = { itemType: 0, token: zeroAddress, identifier: 0n, amount: 1000n, recipient: ANNE };
    const filled = logOf(SEAPORT_ADDRESSES[0]!, seaportAbi, "OrderFulfilled", {
      orderHash: HASH,
      offerer: ANNE,
      zone: zeroAddress,
      recipient: BEN,
      offer: [item],
      consideration: [coin],
    });
    const logs = numbered([filled, { ...movedUnits(ANNE, BEN, 9n, 1n), address: storefront }]);
    return salesOfLogs(logs, transaction, { chainId });
  };
  const [ethereums, polygons]: Hex[] = [
    "0x495f947276749ce646f68ac8c248420045cb7b5e",
    "0x2953399124f0cbb46d2cbacd8a89cf0599974963",
  ];
  expect(await soldAt(1, ethereums!)).toMatchObject([{ contract_address: ethereums, token_id: 9n, price: 1000n }]);
  expect(await soldAt(137, polygons!)).toMatchObject([{ contract_address: polygons, token_id: 9n, price: 1000n }]);
});

describe("LooksRare", () => {
  const args = {
    orderHash: HASH,
    orderNonce: 1n,
    strategy: STRATEGY,
    currency: WETH,
    collection: CRANES,
    tokenId: 1n,
    amount: 1n,
    price: 1000n,
  };
  const paid = { ...sale, currency: WETH, broker: LOOKSRARE_V1_ADDRESS };

  test("v1: the maker of a listing sells, the maker of an offer buys", async () => {
    const bid = logOf(LOOKSRARE_V1_ADDRESS, looksrareV1Abi, "TakerBid", { ...args, maker: ANNE, taker: BEN });
    const ask = logOf(LOOKSRARE_V1_ADDRESS, looksrareV1Abi, "TakerAsk", { ...args, maker: BEN, taker: ANNE });
    expect(await sell([moved(ANNE, BEN, 1n), bid])).toEqual([paid]);
    expect(await sell([moved(ANNE, BEN, 1n), ask])).toEqual([{ ...paid, isOffer: true }]);
  });

  test("v1: of an ERC-721 token one is sold, whatever amount its order has", async () => {
    const [router, order] = [STRATEGY, { ...args, amount: 5n, maker: ANNE }];
    const bid = logOf(LOOKSRARE_V1_ADDRESS, looksrareV1Abi, "TakerBid", { ...order, taker: router });
    expect(await sell([moved(ANNE, router, 1n), bid, moved(router, BEN, 1n)])).toEqual([paid]);
    const units = logOf(LOOKSRARE_V1_ADDRESS, looksrareV1Abi, "TakerBid", { ...order, collection: PLATES, taker: BEN });
    expect(await sell([movedUnits(ANNE, BEN, 1n, 1n), movedUnits(ANNE, BEN, 1n, 5n), units])).toEqual([
      { ...paid, quantity: 5n },
    ]);
  });

  const v2 = {
    nonceInvalidationParameters: { orderHash: HASH, orderNonce: 1n, isNonceInvalidated: true },
    strategyId: 0n,
    currency: zeroAddress,
    collection: CRANES,
    itemIds: [1n],
    amounts: [1n],
    feeAmounts: [900n, 95n, 5n],
  };

  test("v2: the price is all parts of what was paid; the recipient has the token, whoever pays", async () => {
    const bid = logOf(LOOKSRARE_V2_ADDRESS, looksrareV2Abi, "TakerBid", {
      ...v2,
      bidUser: SENDER,
      bidRecipient: BEN,
      feeRecipients: [ANNE, CREATOR],
    });
    const ask = logOf(LOOKSRARE_V2_ADDRESS, looksrareV2Abi, "TakerAsk", {
      ...v2,
      askUser: ANNE,
      bidUser: BEN,
      feeRecipients: [SENDER, zeroAddress],
    });
    expect(await sell([moved(ANNE, BEN, 1n), bid])).toEqual([{ ...sale, broker: CREATOR }]);
    expect(await sell([moved(ANNE, BEN, 1n), ask])).toEqual([{ ...sale, broker: LOOKSRARE_V2_ADDRESS, isOffer: true }]);
  });

  test("v2: a creator who gets nothing is no broker", async () => {
    const bid = logOf(LOOKSRARE_V2_ADDRESS, looksrareV2Abi, "TakerBid", {
      ...v2,
      bidUser: BEN,
      bidRecipient: BEN,
      feeRecipients: [ANNE, CREATOR],
      feeAmounts: [995n, 0n, 5n],
    });
    expect(await sell([moved(ANNE, BEN, 1n), bid])).toEqual([{ ...sale, broker: LOOKSRARE_V2_ADDRESS }]);
  });

  test("v2: several ids share one price", async () => {
    const bundle = {
      ...v2,
      itemIds: [1n, 2n],
      amounts: [1n, 1n],
      bidUser: BEN,
      bidRecipient: BEN,
      feeRecipients: [ANNE, zeroAddress],
    };
    const log = logOf(LOOKSRARE_V2_ADDRESS, looksrareV2Abi, "TakerBid", bundle);
    expect(
      (await sell([moved(ANNE, BEN, 1n), moved(ANNE, BEN, 2n), log])).map(({ price, note }) => [price, note]),
    ).toEqual([
      [500n, "bundle"],
      [500n, "bundle"],
    ]);
    const none = logOf(LOOKSRARE_V2_ADDRESS, looksrareV2Abi, "TakerBid", { ...bundle, amounts: [0n, 0n] });
    expect(await sell([moved(ANNE, BEN, 1n), moved(ANNE, BEN, 2n), none])).toEqual([]);
  });
});

describe("X2Y2", () => {
  const pairs = parseAbiParameters("(address,uint256)[]");
  const triples = parseAbiParameters("(address,uint256,uint256)[]");
  const inventory = (op: number, { maker, taker, data }: { maker: Hex; taker: Hex; data: Hex }) => ({
    itemHash: HASH,
    maker,
    taker,
    orderSalt: 0n,
    settleSalt: 0n,
    intent: 1n,
    delegateType: 1n,
    deadline: 0n,
    currency: zeroAddress,
    dataMask: "0x",
    item: { price: 10n, data },
    detail: {
      op,
      orderIdx: 0n,
      itemIdx: 0n,
      price: 1000n,
      itemHash: HASH,
      executionDelegate: STRATEGY,
      dataReplacement: "0x",
      bidIncentivePct: 0n,
      aucMinIncrementPct: 0n,
      aucIncDurationSecs: 0n,
      fees: [{ percentage: 5_000n, to: CREATOR }],
    },
  });
  const one = encodeAbiParameters(pairs, [[[CRANES, 1n]]]);
  const log = (op: number, parties: { maker: Hex; taker: Hex; data: Hex }) =>
    logOf(X2Y2_ADDRESS, x2y2Abi, "EvInventory", inventory(op, parties));

  test("the price is the settled one, not the item's; who sells depends on the operation", async () => {
    const expected = { ...sale, broker: CREATOR };
    expect(await sell([moved(ANNE, BEN, 1n), log(1, { maker: ANNE, taker: BEN, data: one })])).toEqual([expected]);
    expect(await sell([moved(ANNE, BEN, 1n), log(2, { maker: BEN, taker: ANNE, data: one })])).toEqual([
      { ...expected, isOffer: true },
    ]);
  });

  test("who is named for a fee of nothing is no broker", async () => {
    const args = inventory(1, { maker: ANNE, taker: BEN, data: one });
    const fees = [{ percentage: 0n, to: STRATEGY }, ...args.detail.fees];
    const sold = logOf(X2Y2_ADDRESS, x2y2Abi, "EvInventory", { ...args, detail: { ...args.detail, fees } });
    expect(await sell([moved(ANNE, BEN, 1n), sold])).toEqual([{ ...sale, broker: CREATOR }]);
  });

  test("a cancellation, a bid and a refund are no sales, nor is what isn't a list of tokens", async () => {
    for (const op of [3, 4, 6, 7])
      expect(await sell([moved(ANNE, BEN, 1n), log(op, { maker: ANNE, taker: BEN, data: one })])).toEqual([]);
    expect(await sell([moved(ANNE, BEN, 1n), log(1, { maker: ANNE, taker: BEN, data: "0x1234" })])).toEqual([]);
  });

  test("units of an ERC-1155 token", async () => {
    const data = encodeAbiParameters(triples, [[[PLATES, 7n, 5n]]]);
    expect(await sell([movedUnits(ANNE, BEN, 7n, 5n), log(1, { maker: ANNE, taker: BEN, data })])).toEqual([
      { ...sale, tokenId: 7n, quantity: 5n, broker: CREATOR },
    ]);
  });

  test("an auction is won by the last bid, whoever settles it", () => {
    const args = inventory(5, { maker: ANNE, taker: SENDER, data: one });
    const place = { logIndex: 1, exchangeAddress: X2Y2_ADDRESS as Hex };
    expect(salesOfInventory(args, { bid: { bidder: BEN, amount: 70n } }, place)).toMatchObject([
      { seller: ANNE, buyer: BEN, price: 70n, note: null, isOffer: false },
    ]);
    expect(salesOfInventory(args, { bid: null }, place)).toMatchObject([
      { seller: ANNE, buyer: null, price: null, note: "unknown bid" },
    ]);
  });

  test("an auction's bids stand in transactions before the one that ends it", async () => {
    const bidBy = (taker: Hex) => log(4, { maker: ANNE, taker, data: one });
    const ended = [moved(ANNE, BEN, 1n), log(5, { maker: ANNE, taker: SENDER, data: one })];
    const expected = { from_address: ANNE, to_address: BEN, price: 1000n, price_note: null, marketplace: "x2y2" };
    expect(await listSaleRows([[bidBy(CREATOR)], [bidBy(BEN)], ended])).toMatchObject([expected]);
    // Its delegate has held the token since the first of them.
    const held = [
      [moved(ANNE, STRATEGY, 1n), bidBy(BEN)],
      [moved(STRATEGY, BEN, 1n), ended[1]!],
    ];
    expect(await listSaleRows(held)).toMatchObject([expected]);
    expect(await listSaleRows([held[1]!])).toMatchObject([{ ...expected, price: null, price_note: "unknown bid" }]);
  });
});

describe("Blur", () => {
  const order = (trader: Hex, tokenId: bigint) => ({
    trader,
    side: 0,
    matchingPolicy: STRATEGY,
    collection: CRANES,
    tokenId,
    amount: 3n,
    paymentToken: BLUR_POOL_ADDRESS,
    price: 1000n,
    listingTime: 0n,
    expirationTime: 0n,
    fees: [{ rate: 50, recipient: CREATOR }],
    salt: 0n,
    extraParams: "0x",
  });

  test("v1: the token is the seller's, who bids on a collection names none, and one unit moves", async () => {
    const buy = { ...order(BEN, 0n), fees: [] };
    const args = { maker: BEN, taker: ANNE, sell: order(ANNE, 1n), sellHash: HASH, buy, buyHash: HASH };
    expect(await sell([moved(ANNE, BEN, 1n), logOf(BLUR_V1_ADDRESS, blurV1Abi, "OrdersMatched", args)])).toEqual([
      { ...sale, currency: BLUR_POOL_ADDRESS, broker: CREATOR, isOffer: true },
    ]);
    const listed = { ...args, maker: ANNE, taker: BEN };
    expect(
      await sell([moved(ANNE, BEN, 1n), logOf(BLUR_V1_ADDRESS, blurV1Abi, "OrdersMatched", listed)]),
    ).toMatchObject([{ seller: ANNE, buyer: BEN, isOffer: false }]);
  });

  test("v1: fees of the buyer's order are on top of the price", async () => {
    const args = { maker: BEN, taker: ANNE, sell: order(ANNE, 1n), sellHash: HASH, buy: order(BEN, 0n), buyHash: HASH };
    expect(await sell([moved(ANNE, BEN, 1n), logOf(BLUR_V1_ADDRESS, blurV1Abi, "OrdersMatched", args)])).toMatchObject([
      { price: 1000n, note: "fees on top" },
    ]);
  });

  const word = (high: bigint, middle: bigint, low: Hex, shift: bigint) =>
    (high << shift) | (middle << 160n) | BigInt(low);
  const packed = (trader: Hex, orderType: bigint) => ({
    orderHash: HASH,
    tokenIdListingIndexTrader: word(1n, 9n, trader, 168n),
    collectionPriceSide: word(orderType, 1000n, CRANES, 248n),
  });

  test("v2: an ask is paid in ether, a bid out of the pool; the other side is in the transfer", async () => {
    const ask = logOf(BLUR_V2_ADDRESS, blurV2Abi, "Execution721Packed", packed(ANNE, 0n));
    const bid = logOf(BLUR_V2_ADDRESS, blurV2Abi, "Execution721MakerFeePacked", {
      ...packed(BEN, 1n),
      makerFeeRecipientRate: (50n << 160n) | BigInt(CREATOR),
    });
    expect(await sell([moved(ANNE, BEN, 1n), ask])).toEqual([{ ...sale, broker: BLUR_V2_ADDRESS }]);
    expect(await sell([moved(ANNE, BEN, 1n), bid])).toEqual([
      { ...sale, currency: BLUR_POOL_ADDRESS, note: "fees on top", broker: CREATOR, isOffer: true },
    ]);
  });

  test("v2: what the buyer of an ask or of a bid pays beside the price is on top, what the seller pays is in it", async () => {
    const fee = (50n << 160n) | BigInt(CREATOR);
    const noteOf = async (orderType: bigint, fee: "Taker" | "Maker", args: Record<string, bigint>) => {
      const trader = orderType === 0n ? ANNE : BEN;
      const log = logOf(BLUR_V2_ADDRESS, blurV2Abi, `Execution721${fee}FeePacked`, {
        ...packed(trader, orderType),
        ...args,
      });
      return (await sell([moved(ANNE, BEN, 1n), log])).map(({ price, note }) => [price, note]);
    };
    const [onTop, whole] = [[[1000n, "fees on top"]], [[1000n, undefined]]];
    expect(await noteOf(0n, "Taker", { takerFeeRecipientRate: fee })).toEqual(onTop);
    expect(await noteOf(0n, "Maker", { makerFeeRecipientRate: fee })).toEqual(whole);
    expect(await noteOf(1n, "Taker", { takerFeeRecipientRate: fee })).toEqual(whole);
    expect(await noteOf(1n, "Maker", { makerFeeRecipientRate: fee })).toEqual(onTop);
  });

  test("v2: many tokens at once, each with its own buyer", async () => {
    const bidOf = (trader: Hex, tokenId: bigint) =>
      logOf(BLUR_V2_ADDRESS, blurV2Abi, "Execution721Packed", {
        ...packed(trader, 1n),
        tokenIdListingIndexTrader: word(tokenId, 0n, trader, 168n),
      });
    const logs = [moved(ANNE, BEN, 1n), moved(ANNE, CREATOR, 2n), bidOf(BEN, 1n), bidOf(CREATOR, 2n)];
    expect((await sell(logs)).map(({ buyer, tokenId }) => [buyer, tokenId])).toEqual([
      [BEN, 1n],
      [CREATOR, 2n],
    ]);
  });

  test("v2: units of an ERC-1155 token for one price", async () => {
    const none = { recipient: zeroAddress, rate: 0 };
    const execution = logOf(BLUR_V2_ADDRESS, blurV2Abi, "Execution", {
      transfer: { trader: ANNE, id: 7n, amount: 5n, collection: PLATES, assetType: 1 },
      orderHash: HASH,
      listingIndex: 0n,
      price: 1000n,
      makerFee: none,
      fees: { protocolFee: none, takerFee: none },
      orderType: 0,
    });
    expect(await sell([movedUnits(ANNE, BEN, 7n, 5n), execution])).toEqual([
      { ...sale, tokenId: 7n, quantity: 5n, broker: BLUR_V2_ADDRESS },
    ]);
  });

  test("who is named for a fee of nothing is no broker", async () => {
    const nothing = { recipient: STRATEGY, rate: 0 };
    const execute = (protocolRate: number) =>
      logOf(BLUR_V2_ADDRESS, blurV2Abi, "Execution", {
        transfer: { trader: ANNE, id: 7n, amount: 5n, collection: PLATES, assetType: 1 },
        orderHash: HASH,
        listingIndex: 0n,
        price: 1000n,
        makerFee: nothing,
        fees: { protocolFee: { recipient: CREATOR, rate: protocolRate }, takerFee: nothing },
        orderType: 0,
      });
    const brokerOf = async (log: ReceiptLog) => (await sell([movedUnits(ANNE, BEN, 7n, 5n), log]))[0]!.broker;
    expect(await brokerOf(execute(50))).toBe(CREATOR);
    expect(await brokerOf(execute(0))).toBe(BLUR_V2_ADDRESS);
  });
});

describe("Zora", () => {
  const [asks, , offers] = ZORA_ADDRESSES as [string, string, string];
  const ask = {
    seller: ANNE,
    sellerFundsRecipient: ANNE,
    askCurrency: zeroAddress,
    findersFeeBps: 100,
    askPrice: 1000n,
  };
  const offer = { maker: BEN, currency: WETH, findersFeeBps: 100, amount: 1000n };
  const token = { tokenContract: CRANES, tokenId: 1n, finder: zeroAddress };
  const fillAsk = (args: object) => logOf(asks, zoraAbi, "AskFilled", { ...token, buyer: BEN, ask, ...args });
  const fillOffer = (args: object) =>
    logOf(offers, zoraAbi, "OfferFilled", { ...token, id: 1n, taker: ANNE, offer, ...args });

  test("an ask's seller sells, an offer's maker buys", async () => {
    expect(await sell([moved(ANNE, BEN, 1n), fillAsk({})])).toEqual([{ ...sale, broker: asks }]);
    expect(await sell([moved(ANNE, BEN, 1n), fillOffer({})])).toEqual([
      { ...sale, currency: WETH, broker: offers, isOffer: true },
    ]);
  });

  test("the broker is the finder, where he gets a fee", async () => {
    const found = { finder: CREATOR };
    expect(await sell([moved(ANNE, BEN, 1n), fillAsk(found)])).toMatchObject([{ broker: CREATOR }]);
    expect(await sell([moved(ANNE, BEN, 1n), fillOffer(found)])).toMatchObject([{ broker: CREATOR }]);
    const unpaid = { ...found, ask: { ...ask, findersFeeBps: 0 } };
    expect(await sell([moved(ANNE, BEN, 1n), fillAsk(unpaid)])).toMatchObject([{ broker: asks }]);
    expect(await sell([moved(ANNE, BEN, 1n), fillOffer({ finder: ANNE })])).toMatchObject([{ broker: offers }]);
  });
});

test("Foundation: the price is the sum of its parts, and the seller isn't the market that held the token", async () => {
  const args = {
    nftContract: CRANES,
    tokenId: 1n,
    seller: ANNE,
    buyer: BEN,
    totalFees: 7n,
    creatorRev: 93n,
    sellerRev: 900n,
  };
  const held = moved(FOUNDATION_ADDRESS, BEN, 1n);
  const expected = { ...sale, broker: FOUNDATION_ADDRESS };
  expect(await sell([held, logOf(FOUNDATION_ADDRESS, foundationAbi, "BuyPriceAccepted", args)])).toEqual([expected]);
  expect(await sell([moved(ANNE, BEN, 1n), logOf(FOUNDATION_ADDRESS, foundationAbi, "OfferAccepted", args)])).toEqual([
    { ...expected, isOffer: true },
  ]);
  // As its market had them until 2022.
  const agreed = logOf(FOUNDATION_ADDRESS, foundationAbi, "PrivateSaleFinalized", { ...args, deadline: 9n });
  expect(await sell([moved(ANNE, BEN, 1n), agreed])).toEqual([expected]);
});

test("Foundation: what an auction sold was said when it began", async () => {
  const created = logOf(FOUNDATION_ADDRESS, foundationAbi, "ReserveAuctionCreated", {
    seller: ANNE,
    nftContract: CRANES,
    tokenId: 1n,
    duration: 1n,
    extensionDuration: 1n,
    reservePrice: 5n,
    auctionId: 7n,
  });
  const finalized = (auctionId: bigint) =>
    logOf(FOUNDATION_ADDRESS, foundationAbi, "ReserveAuctionFinalized", {
      auctionId,
      seller: ANNE,
      bidder: BEN,
      totalFees: 50n,
      creatorRev: 100n,
      sellerRev: 850n,
    });
  const won = { from_address: ANNE, to_address: BEN, token_id: 1n, price: 1000n, is_offer: false };
  expect(await listSaleRows([[created], [moved(FOUNDATION_ADDRESS, BEN, 1n), finalized(7n)]])).toMatchObject([won]);
  // The market may keep it for the buyer.
  const escrowed = [moved(ANNE, FOUNDATION_ADDRESS, 1n), created];
  expect(await listSaleRows([escrowed, [finalized(7n)]])).toMatchObject([won]);
  // A contract of which nothing is indexed.
  expect(await listSaleRows([[created], [finalized(7n)]])).toEqual([]);
  // Of one that began before the first block indexed nobody knows what was sold.
  expect(await listSaleRows([[created], [moved(FOUNDATION_ADDRESS, BEN, 1n), finalized(8n)]])).toEqual([]);
});

describe("Wyvern", () => {
  const [older, exchange] = WYVERN_ADDRESSES as [Hex, Hex];
  const log = (args: { buyHash: Hex; sellHash: Hex; maker: Hex; taker: Hex }, address = exchange) =>
    logOf(address, wyvernAbi, "OrdersMatched", { ...args, price: 1000n, metadata: zeroHash });
  const listing = log({ buyHash: zeroHash, sellHash: HASH, maker: ANNE, taker: BEN });
  const offer = log({ buyHash: HASH, sellHash: zeroHash, maker: BEN, taker: ANNE });
  const callWith = (paymentToken: Hex) => {
    const addresses = Array.from({ length: 14 }, () => STRATEGY);
    addresses[6] = addresses[13] = paymentToken;
    const input = encodeFunctionData({
      abi: wyvernAbi,
      functionName: "atomicMatch_",
      args: [
        addresses as never,
        Array.from({ length: 18 }, () => 0n) as never,
        Array.from({ length: 8 }, () => 0) as never,
        "0x",
        "0x",
        "0x",
        "0x",
        "0x",
        "0x",
        [0, 0],
        Array.from({ length: 5 }, () => zeroHash) as never,
      ],
    });
    return { to: exchange, input };
  };

  test("the currency is in the call", async () => {
    expect(callWith(WETH).input.slice(0, 10)).toBe("0xab834bab");
    expect(await sell([moved(ANNE, BEN, 1n), listing], callWith(zeroAddress))).toEqual([{ ...sale, broker: exchange }]);
    expect(await sell([moved(ANNE, BEN, 1n), offer], callWith(WETH))).toEqual([
      { ...sale, currency: WETH, broker: exchange, isOffer: true },
    ]);
  });

  test.each([
    ["with", HASH],
    ["without", zeroHash],
  ])("two orders %s a hash don't say which of them was taken", async (_, hash) => {
    const both = log({ buyHash: hash, sellHash: hash, maker: ANNE, taker: BEN });
    const added = [moved(STRATEGY, BEN, 2n), moved(STRATEGY, ANNE, 3n)];
    expect(await sell([moved(ANNE, BEN, 1n), ...added, both], callWith(zeroAddress))).toMatchObject([
      { seller: ANNE, tokenId: 1n, isOffer: null },
    ]);
  });

  /** LooksRare's log of Anne's crane. */
  const takenElsewhere = (taker: Hex) =>
    logOf(LOOKSRARE_V1_ADDRESS, looksrareV1Abi, "TakerBid", {
      orderHash: HASH,
      orderNonce: 1n,
      maker: ANNE,
      taker,
      strategy: STRATEGY,
      currency: WETH,
      collection: CRANES,
      tokenId: 1n,
      amount: 1n,
      price: 700n,
    });

  test("what another exchange or the version before sold in the same transaction is theirs", async () => {
    const taken = takenElsewhere(BEN);
    const others = { ...sale, price: 700n, currency: WETH, broker: LOOKSRARE_V1_ADDRESS };
    const own = { ...sale, tokenId: 2n, broker: exchange };
    const [first, second] = [moved(ANNE, BEN, 1n), moved(ANNE, BEN, 2n)];
    expect(await sell([first, taken, second, listing], callWith(zeroAddress))).toEqual([others, own]);
    expect(await sell([taken, first, second, listing], callWith(zeroAddress))).toEqual([others, own]);
    // Bought there and sold on here.
    const onward = log({ buyHash: HASH, sellHash: zeroHash, maker: CREATOR, taker: BEN });
    expect(await sell([first, taken, moved(BEN, CREATOR, 1n), onward], callWith(WETH))).toEqual([
      others,
      { ...sale, seller: BEN, buyer: CREATOR, currency: WETH, broker: exchange, isOffer: true },
    ]);
    const before = log({ buyHash: zeroHash, sellHash: HASH, maker: ANNE, taker: BEN }, older);
    expect(await sell([first, before, second, listing], callWith(zeroAddress))).toEqual([
      { ...sale, price: null, currency: null, note: "unknown currency", broker: older },
      own,
    ]);
  });

  test("what it sells of a contract that isn't indexed is no other token that moved before", async () => {
    const router = SENDER;
    const early = logOf(PLATES, erc721DraftAbi, "Transfer", { from: ANNE, to: router, tokenId: 9n });
    const sold = log({ buyHash: zeroHash, sellHash: HASH, maker: ANNE, taker: router });
    const taken = takenElsewhere(router);
    const others = { ...sale, buyer: router, price: 700n, currency: WETH, broker: LOOKSRARE_V1_ADDRESS };
    const direct = callWith(zeroAddress);
    // Bought elsewhere by the router, in an exchange's words or in a pool's.
    expect(await sell([moved(ANNE, router, 1n), taken, early, sold], direct)).toEqual([others]);
    expect(await sell([moved(CREATOR, router, 1n), early, sold], direct)).toEqual([]);
    // Out of somebody's treasury.
    expect(await sell([early, moved(CREATOR, router, 1n), sold], direct)).toEqual([
      { ...sale, seller: CREATOR, buyer: router, broker: exchange },
    ]);
  });

  test("called by a contract, the sale has no price and says why", async () => {
    expect(await sell([moved(ANNE, BEN, 1n), listing], { to: STRATEGY })).toEqual([
      { ...sale, price: null, currency: null, note: "unknown currency", broker: exchange },
    ]);
  });
});

test("what others write in an exchange's words is nothing", async () => {
  const args = {
    nftContract: CRANES,
    tokenId: 1n,
    seller: ANNE,
    buyer: BEN,
    totalFees: 7n,
    creatorRev: 93n,
    sellerRev: 900n,
  };
  expect(await sell([moved(ANNE, BEN, 1n), logOf(STRATEGY, foundationAbi, "BuyPriceAccepted", args)])).toEqual([]);
});

describe("Payment Processor, version 1", () => {
  const [, exchange] = PAYMENT_PROCESSOR_V1_ADDRESSES[1] as [string, string];
  const terms = { marketplace: CREATOR, tokenAddress: CRANES, paymentCoin: zeroAddress, buyer: BEN };
  const log = (name: string, args: Record<string, unknown>) => logOf(exchange, paymentProcessorV1Abi, name, args);
  const single = { ...terms, seller: ANNE, tokenId: 1n, amount: 1n, salePrice: 1000n };
  const paid = { ...sale, broker: CREATOR };

  test("the marketplace is the broker; paid in coins, nobody says whether it was an offer", async () => {
    expect(await sell([moved(ANNE, BEN, 1n), log("BuySingleListing", single)])).toEqual([paid]);
    expect(await sell([moved(ANNE, BEN, 1n), log("BuySingleListing", { ...single, paymentCoin: WETH })])).toEqual([
      { ...paid, currency: WETH, isOffer: null },
    ]);
    for (const marketplace of [zeroAddress, ANNE])
      expect(await sell([moved(ANNE, BEN, 1n), log("BuySingleListing", { ...single, marketplace })])).toEqual([
        { ...paid, broker: exchange },
      ]);
  });

  test("units of an ERC-1155 token for one price, for somebody else than who called", async () => {
    const units = { ...single, tokenAddress: PLATES, tokenId: 7n, amount: 5n };
    expect(await sell([movedUnits(ANNE, BEN, 7n, 5n), log("BuySingleListing", units)])).toEqual([
      { ...paid, tokenId: 7n, quantity: 5n },
    ]);
  });

  test("a sweep has a seller and a price for each token, and none for what couldn't be handed over", async () => {
    const sweep = {
      ...terms,
      unsuccessfulFills: [false, true, false],
      sellers: [ANNE, ANNE, CREATOR],
      tokenIds: [1n, 2n, 3n],
      salePrices: [300n, 400n, 500n],
    };
    const swept = [
      { ...paid, price: 300n },
      { ...paid, seller: CREATOR, tokenId: 3n, price: 500n, broker: exchange },
    ];
    const hops = [moved(ANNE, BEN, 1n), moved(CREATOR, BEN, 3n)];
    expect(await sell([...hops, log("SweepCollectionERC721", sweep)])).toEqual(swept);
    // Also where it moves otherwise.
    expect(await sell([...hops, moved(ANNE, BEN, 2n), log("SweepCollectionERC721", sweep)])).toEqual(swept);
  });

  test("a sweep of the same ERC-1155 token from several sellers", async () => {
    const sweep = {
      ...terms,
      tokenAddress: PLATES,
      unsuccessfulFills: [false, false],
      sellers: [ANNE, SENDER],
      tokenIds: [7n, 7n],
      amounts: [2n, 3n],
      salePrices: [200n, 330n],
    };
    const hops = [movedUnits(ANNE, BEN, 7n, 2n), movedUnits(SENDER, BEN, 7n, 3n)];
    expect(await sell([...hops, log("SweepCollectionERC1155", sweep)])).toEqual([
      { ...paid, tokenId: 7n, quantity: 2n, price: 200n },
      { ...paid, seller: SENDER, tokenId: 7n, quantity: 3n, price: 330n },
    ]);
  });

  test("a bundle has the prices that its seller signed", async () => {
    const bundle = {
      ...terms,
      seller: ANNE,
      unsuccessfulFills: [false, false],
      tokenIds: [1n, 2n],
      salePrices: [1n, 9n],
    };
    expect(await sell([moved(ANNE, BEN, 1n), moved(ANNE, BEN, 2n), log("BuyBundledListingERC721", bundle)])).toEqual([
      { ...paid, price: 1n },
      { ...paid, tokenId: 2n, price: 9n },
    ]);
    const units = { ...bundle, tokenAddress: PLATES, amounts: [4n, 5n] };
    const hops = [movedUnits(ANNE, BEN, 1n, 4n), movedUnits(ANNE, BEN, 2n, 5n)];
    expect(await sell([...hops, log("BuyBundledListingERC1155", units)])).toEqual([
      { ...paid, quantity: 4n, price: 1n },
      { ...paid, tokenId: 2n, quantity: 5n, price: 9n },
    ]);
  });

  test("arrays that don't belong together sell what has all of its parts", async () => {
    const sweep = { ...terms, unsuccessfulFills: [false], sellers: [ANNE], tokenIds: [1n, 2n], salePrices: [300n] };
    expect(await sell([moved(ANNE, BEN, 1n), moved(ANNE, BEN, 2n), log("SweepCollectionERC721", sweep)])).toEqual([
      { ...paid, price: 300n },
    ]);
  });
});

describe.each([
  ["2.0.0", "0x9a1d00bed7cd04bcda516d721a596eb22aac6834"],
  ["2.0.1", "0x9a1d001670c8b17f8b7900e8d7a41e785b3f0515"],
  ["3.0.0", "0x9a1d00000000fc540e2000560054812452eb5366"],
])("Payment Processor, version %s", (_version, exchange) => {
  const terms = { tokenAddress: CRANES, beneficiary: BEN, paymentCoin: WETH, tokenId: 1n, salePrice: 1000n };
  const log = (name: string, args: Record<string, unknown>) =>
    logOf(exchange, paymentProcessorV2Abi, name, { ...terms, ...args });
  const paid = { ...sale, currency: WETH, broker: exchange };
  const listed = { ...paid, note: "fees on top" };

  test("the beneficiary has the token, whoever buys it; who takes a listing may pay fees on top", async () => {
    const bought = log("BuyListingERC721", { buyer: SENDER, seller: ANNE });
    const accepted = log("AcceptOfferERC721", { buyer: SENDER, seller: ANNE });
    expect(await sell([moved(ANNE, BEN, 1n), bought])).toEqual([listed]);
    expect(await sell([moved(ANNE, BEN, 1n), accepted])).toEqual([{ ...paid, isOffer: true }]);
    const native = log("BuyListingERC721", { buyer: BEN, seller: ANNE, paymentCoin: zeroAddress });
    expect(await sell([moved(ANNE, BEN, 1n), native])).toEqual([{ ...listed, currency: zeroAddress }]);
  });

  test("units of an ERC-1155 token for one price", async () => {
    const units = { tokenAddress: PLATES, tokenId: 7n, amount: 5n, buyer: BEN, seller: ANNE };
    const hop = movedUnits(ANNE, BEN, 7n, 5n);
    expect(await sell([hop, log("BuyListingERC1155", units)])).toEqual([{ ...listed, tokenId: 7n, quantity: 5n }]);
    expect(await sell([hop, log("AcceptOfferERC1155", units)])).toEqual([
      { ...paid, tokenId: 7n, quantity: 5n, isOffer: true },
    ]);
  });

  test("a router buys and passes on; one that sells has it of somebody", async () => {
    const bought = log("BuyListingERC721", { buyer: STRATEGY, beneficiary: STRATEGY, seller: ANNE });
    expect(await sell([moved(ANNE, STRATEGY, 1n), bought, moved(STRATEGY, BEN, 1n)])).toEqual([listed]);
    const accepted = log("AcceptOfferERC721", { buyer: BEN, seller: STRATEGY });
    expect(await sell([moved(ANNE, STRATEGY, 1n), moved(STRATEGY, BEN, 1n), accepted])).toEqual([
      { ...paid, isOffer: true },
    ]);
  });

  test("bought and sold on in one transaction", async () => {
    const bought = log("BuyListingERC721", { buyer: BEN, seller: ANNE });
    const accepted = log("AcceptOfferERC721", { seller: BEN, buyer: CREATOR, beneficiary: CREATOR, salePrice: 1200n });
    expect(await sell([moved(ANNE, BEN, 1n), bought, moved(BEN, CREATOR, 1n), accepted])).toEqual([
      listed,
      { ...paid, seller: BEN, buyer: CREATOR, price: 1200n, isOffer: true },
    ]);
  });

  test("for nothing, or without a transfer, it is no sale", async () => {
    const parties = { buyer: BEN, seller: ANNE };
    expect(await sell([moved(ANNE, BEN, 1n), log("BuyListingERC721", { ...parties, salePrice: 0n })])).toEqual([]);
    expect(await sell([moved(ANNE, BEN, 2n), log("BuyListingERC721", parties)])).toEqual([]);
  });
});

describe("Element", () => {
  const [exchange] = ELEMENT_ADDRESSES[1] as [string];
  const NATIVE = `0x${"ee".repeat(20)}`;
  const terms = { orderHash: HASH, nonce: 1n, erc20Token: WETH, fees: [{ recipient: CREATOR, amount: 50n }] };
  const crane = { ...terms, erc721Token: CRANES, erc721TokenId: 1n, erc20TokenAmount: 1000n };
  const plates = { ...terms, erc1155Token: PLATES, erc1155TokenId: 7n, erc1155FillAmount: 5n, erc20FillAmount: 1000n };
  const log = (name: string, args: Record<string, unknown>) => logOf(exchange, elementAbi, name, args);
  const paid = { ...sale, currency: WETH, broker: CREATOR };

  test("the amount has the fees in it; the chain's own currency has an address of its own", async () => {
    const sold = log("ERC721SellOrderFilled", { ...crane, maker: ANNE, taker: BEN, erc20Token: NATIVE });
    const taken = log("ERC721BuyOrderFilled", { ...crane, maker: BEN, taker: ANNE, fees: [] });
    expect(await sell([moved(ANNE, BEN, 1n), sold])).toEqual([{ ...paid, currency: zeroAddress }]);
    expect(await sell([moved(ANNE, BEN, 1n), taken])).toEqual([{ ...paid, broker: exchange, isOffer: true }]);
  });

  test("the broker is the first who gets a fee: the platform is named though it takes none", async () => {
    const fees = [{ recipient: STRATEGY, amount: 0n }, ...terms.fees];
    const sold = log("ERC721SellOrderFilled", { ...crane, maker: ANNE, taker: BEN, fees });
    expect(await sell([moved(ANNE, BEN, 1n), sold])).toEqual([paid]);
  });

  test("units of an ERC-1155 token for one amount, and those of another fill for another", async () => {
    const sold = log("ERC1155SellOrderFilled", { ...plates, maker: ANNE, taker: BEN });
    const taken = log("ERC1155BuyOrderFilled", { ...plates, maker: BEN, taker: ANNE, erc20FillAmount: 900n });
    const hop = movedUnits(ANNE, BEN, 7n, 5n);
    // The second one isn't the other side of the first: units moved for it, too.
    expect(await sell([hop, sold, hop, taken])).toEqual([
      { ...paid, tokenId: 7n, quantity: 5n },
      { ...paid, tokenId: 7n, quantity: 5n, price: 900n, isOffer: true },
    ]);
  });

  test("two orders that are matched are one trade, at what the buyer pays", async () => {
    const sold = log("ERC721SellOrderFilled", { ...crane, maker: ANNE, taker: BEN, erc20Token: NATIVE });
    const taken = log("ERC721BuyOrderFilled", { ...crane, maker: BEN, taker: ANNE, erc20TokenAmount: 1100n });
    const matched = { ...paid, price: 1100n, isOffer: true };
    expect(await sell([moved(ANNE, BEN, 1n), sold, taken])).toEqual([matched]);
    const of = (id: bigint) => ({ erc721TokenId: id });
    const [soldNext, takenNext] = [
      log("ERC721SellOrderFilled", { ...crane, ...of(2n), maker: CREATOR, taker: BEN }),
      log("ERC721BuyOrderFilled", { ...crane, ...of(2n), maker: BEN, taker: CREATOR, erc20TokenAmount: 1200n }),
    ];
    expect(await sell([moved(ANNE, BEN, 1n), sold, taken, moved(CREATOR, BEN, 2n), soldNext, takenNext])).toEqual([
      matched,
      { ...matched, seller: CREATOR, tokenId: 2n, price: 1200n, broker: exchange },
    ]);
  });

  test("a token that is sent to it to be sold is the sender's", async () => {
    const taken = log("ERC721BuyOrderFilled", { ...crane, maker: BEN, taker: ANNE });
    expect(await sell([moved(ANNE, exchange as Hex, 1n), moved(exchange as Hex, BEN, 1n), taken])).toEqual([
      { ...paid, isOffer: true },
    ]);
  });
});

describe("SuperRare", () => {
  const [market, older] = SUPER_RARE_ADDRESSES[1] as [string, string];
  const [bazaar] = SUPER_RARE_BAZAAR_ADDRESSES[1] as [string];
  const token = { _originContract: CRANES, _tokenId: 1n, _amount: 1000n };
  const paid = { ...sale, note: "fees on top" };

  test("its markets are paid in ether", async () => {
    for (const broker of [market, older]) {
      const sold = logOf(broker, superRareAbi, "Sold", { ...token, _buyer: BEN, _seller: ANNE });
      const taken = logOf(broker, superRareAbi, "AcceptBid", { ...token, _bidder: BEN, _seller: ANNE });
      expect(await sell([moved(ANNE, BEN, 1n), sold])).toEqual([{ ...paid, broker }]);
      expect(await sell([moved(ANNE, BEN, 1n), taken])).toEqual([{ ...paid, broker, isOffer: true }]);
    }
  });

  test("the Bazaar names the currency, and sells what it holds where it was auctioned", async () => {
    const log = (name: string, args: Record<string, unknown>) => logOf(bazaar, superRareBazaarAbi, name, args);
    const terms = { ...token, _seller: ANNE, _currencyAddress: WETH };
    const expected = { ...paid, currency: WETH, broker: bazaar };
    expect(await sell([moved(ANNE, BEN, 1n), log("Sold", { ...terms, _buyer: BEN })])).toEqual([expected]);
    const accepted = log("AcceptOffer", { ...terms, _bidder: BEN, _splitAddresses: [ANNE], _splitRatios: [100] });
    expect(await sell([moved(ANNE, BEN, 1n), accepted])).toEqual([{ ...expected, isOffer: true }]);
    const auction = { _contractAddress: CRANES, _tokenId: 1n, _seller: ANNE, _currencyAddress: WETH };
    const settled = log("AuctionSettled", { ...auction, _bidder: BEN, _amount: 1000n });
    expect(await sell([moved(bazaar as Hex, BEN, 1n), settled])).toEqual([expected]);
    // Nobody bid: it goes back.
    const back = log("AuctionSettled", { ...auction, _bidder: zeroAddress, _amount: 0n });
    expect(await sell([moved(bazaar as Hex, ANNE, 1n), back])).toEqual([]);
  });

  test("one market doesn't speak for the other", async () => {
    const sold = logOf(bazaar, superRareAbi, "Sold", { ...token, _buyer: BEN, _seller: ANNE });
    expect(await sell([moved(ANNE, BEN, 1n), sold])).toEqual([]);
  });
});

test("Zora: an auction with a reserve sells what the market holds for the highest bid", async () => {
  const [broker] = ZORA_RESERVE_AUCTION_ADDRESSES[1] as [Hex];
  const auction = {
    seller: ANNE,
    reservePrice: 10n,
    sellerFundsRecipient: CREATOR,
    highestBid: 1000n,
    highestBidder: BEN,
    duration: 60,
    startTime: 0,
    firstBidTime: 1,
  };
  const ended = logOf(broker, zoraReserveAuctionAbi, "AuctionEnded", { tokenContract: CRANES, tokenId: 1n, auction });
  expect(await sell([moved(broker, BEN, 1n), ended])).toEqual([{ ...sale, broker }]);
});

test("Zora: the auction house's last bid is the price, of which its own tokens' creators have a share", async () => {
  const [house] = ZORA_AUCTION_HOUSE_ADDRESSES[1] as [Hex];
  const token = { tokenId: 1n, tokenContract: CRANES };
  const bid = (sender: Hex, { auctionId = 7n, value }: { auctionId?: bigint; value: bigint }) =>
    logOf(house, zoraAuctionHouseAbi, "AuctionBid", {
      ...token,
      auctionId,
      sender,
      value,
      firstBid: true,
      extended: false,
    });
  const ended = logOf(house, zoraAuctionHouseAbi, "AuctionEnded", {
    ...token,
    auctionId: 7n,
    tokenOwner: ANNE,
    curator: CREATOR,
    winner: BEN,
    amount: 765n,
    curatorFee: 85n,
    auctionCurrency: WETH,
  });
  const end = [moved(house, BEN, 1n), ended];
  const won = { from_address: ANNE, to_address: BEN, token_id: 1n, is_offer: false, broker: house };
  const bids = [[bid(SENDER, { value: 900n })], [bid(BEN, { value: 1000n })], [bid(BEN, { auctionId: 8n, value: 1n })]];
  expect(await listSaleRows([...bids, end])).toMatchObject([
    { ...won, price: 1000n, currency_address: WETH, price_note: null, marketplace: "zora" },
  ]);
  // Bid before the first block indexed.
  expect(await listSaleRows([end])).toMatchObject([
    { ...won, price: null, currency_address: null, price_note: "unknown bid" },
  ]);
});

describe("0x", () => {
  const [exchange] = ZERO_EX_ADDRESSES[1] as [string];
  const NATIVE = `0x${"ee".repeat(20)}`;
  const terms = { nonce: 1n, erc20Token: WETH, matcher: zeroAddress };
  const crane = { ...terms, erc721Token: CRANES, erc721TokenId: 1n, erc20TokenAmount: 1000n };
  const plates = { ...terms, erc1155Token: PLATES, erc1155TokenId: 7n, erc1155FillAmount: 5n, erc20FillAmount: 1000n };
  const log = (name: string, args: Record<string, unknown>) => logOf(exchange, zeroExAbi, name, args);
  const paid = { ...sale, currency: WETH, broker: exchange, note: "fees on top" };

  test("the direction says whether the maker sells", async () => {
    const sold = log("ERC721OrderFilled", { ...crane, direction: 0, maker: ANNE, taker: BEN, erc20Token: NATIVE });
    const taken = log("ERC721OrderFilled", { ...crane, direction: 1, maker: BEN, taker: ANNE });
    expect(await sell([moved(ANNE, BEN, 1n), sold])).toEqual([{ ...paid, currency: zeroAddress }]);
    expect(await sell([moved(ANNE, BEN, 1n), taken])).toEqual([{ ...paid, isOffer: true }]);
    const units = log("ERC1155OrderFilled", { ...plates, direction: 0, maker: ANNE, taker: BEN });
    expect(await sell([movedUnits(ANNE, BEN, 7n, 5n), units])).toEqual([{ ...paid, tokenId: 7n, quantity: 5n }]);
  });

  test("two orders that are matched are one trade, at what the buyer pays", async () => {
    const matched = { ...crane, matcher: SENDER };
    const sold = log("ERC721OrderFilled", { ...matched, direction: 0, maker: ANNE, taker: BEN });
    const taken = log("ERC721OrderFilled", {
      ...matched,
      direction: 1,
      maker: BEN,
      taker: ANNE,
      erc20TokenAmount: 1100n,
    });
    expect(await sell([moved(ANNE, BEN, 1n), sold, taken])).toEqual([{ ...paid, price: 1100n, isOffer: true }]);
  });
});

test("what others write in the words of exchanges that came later is nothing", async () => {
  const parties = { buyer: BEN, seller: ANNE };
  const terms = { tokenAddress: CRANES, beneficiary: BEN, paymentCoin: WETH, tokenId: 1n, salePrice: 1000n };
  const filled = { orderHash: HASH, nonce: 1n, erc20Token: WETH, fees: [], erc721Token: CRANES, erc721TokenId: 1n };
  const element = { ...filled, maker: ANNE, taker: BEN, erc20TokenAmount: 1000n };
  const logs = [
    logOf(STRATEGY, paymentProcessorV2Abi, "BuyListingERC721", { ...terms, ...parties }),
    logOf(STRATEGY, elementAbi, "ERC721SellOrderFilled", element),
    // Element's on another chain.
    logOf(ELEMENT_ADDRESSES[137]![0]!, elementAbi, "ERC721SellOrderFilled", element),
  ];
  expect(await sell([moved(ANNE, BEN, 1n), ...logs])).toEqual([]);
});
