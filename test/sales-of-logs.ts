import { type Abi, decodeEventLog, type Hex, toEventSelector, zeroAddress } from "viem";
import { BLUR_V1_ADDRESS, BLUR_V2_ADDRESS, blurV1Abi, blurV2Abi } from "../abis/blur.ts";
import { ELEMENT_ADDRESSES, elementAbi } from "../abis/element.ts";
import { erc1155Abi } from "../abis/erc1155.ts";
import { erc721Abi } from "../abis/erc721.ts";
import { FOUNDATION_ADDRESS, foundationAbi } from "../abis/foundation.ts";
import { LOOKSRARE_V1_ADDRESS, LOOKSRARE_V2_ADDRESS, looksrareV1Abi, looksrareV2Abi } from "../abis/looksrare.ts";
import {
  PAYMENT_PROCESSOR_V1_ADDRESSES,
  PAYMENT_PROCESSOR_V2_ADDRESS,
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
import { findCurrency, WYVERN_ADDRESSES, wyvernAbi } from "../abis/wyvern.ts";
import { X2Y2_ADDRESS, x2y2Abi } from "../abis/x2y2.ts";
import { ZERO_EX_ADDRESSES, zeroExAbi } from "../abis/zeroex.ts";
import { ZORA_ADDRESSES, ZORA_RESERVE_AUCTION_ADDRESSES, zoraAbi, zoraReserveAuctionAbi } from "../abis/zora.ts";
import { saleOfExecution, saleOfMatch, saleOfPacked } from "../src/blur.ts";
import { saleOf1155, saleOf721 } from "../src/element.ts";
import { saleOf } from "../src/foundation.ts";
import { saleOfV1, salesOfV2 } from "../src/looksrare.ts";
import * as paymentProcessor from "../src/payment-processor.ts";
import { type Hop, priceOf, type Sale } from "../src/sale.ts";
import type { SettledSale } from "../src/settle.ts";
import { saleOf as saleOfSuperRare } from "../src/superrare.ts";
import { addHops, addStep, newTransactionSales, type SaleChange, type StepContent } from "../src/transaction-sales.ts";
import { readMatch } from "../src/wyvern.ts";
import { salesOfInventory } from "../src/x2y2.ts";
import { salesOfOrder } from "../src/zeroex.ts";
import { saleOfAsk, saleOfOffer, saleOf as saleOfZora } from "../src/zora.ts";

/** A log as receipts have it. */
export type ReceiptLog = { address: Hex; topics: Hex[]; data: Hex; logIndex: Hex };

export type Call = { from: Hex; to: Hex | null; input: Hex };

// eslint-disable-next-line typescript/no-explicit-any
type Args = any;
type Place = { logIndex: number; exchangeAddress: Hex; call: Call };

const sales = (...list: Sale[]): StepContent => ({ kind: "sales", sales: list });
const offer = (sale: Sale): StepContent => ({ kind: "offer", sale });

const { listFills, saleOfV2: saleOfProcessorV2, salesOfV1: salesOfProcessorV1 } = paymentProcessor;

/** What several tokens at once were bought for from one seller or from several. */
const swept = ({ seller, ...args }: Args, place: Place) => {
  const fills = listFills({ ...args, sellers: args.sellers ?? args.tokenIds.map(() => seller) });
  return sales(...salesOfProcessorV1(args, { fills, isOffer: false }, place));
};

/** What the handlers of `src/` do with each event, without Ponder around it. */
const EXCHANGES: [string[], Abi, Record<string, (args: Args, place: Place) => StepContent>][] = [
  [
    SEAPORT_ADDRESSES,
    seaportAbi,
    {
      OrderFulfilled: (args, { logIndex }) => ({ kind: "fill", fill: { ...args, logIndex } }),
      OrdersMatched: ({ orderHashes }) => ({ kind: "match", orderHashes }),
    },
  ],
  [[BLUR_V1_ADDRESS], blurV1Abi, { OrdersMatched: (args, place) => sales(saleOfMatch(args, place)) }],
  [
    [BLUR_V2_ADDRESS],
    blurV2Abi,
    {
      Execution721Packed: (args, place) => sales(saleOfPacked(args, place)),
      Execution721TakerFeePacked: (args, place) => sales(saleOfPacked(args, place)),
      Execution721MakerFeePacked: (args, place) => sales(saleOfPacked(args, place)),
      Execution: (args, place) => sales(saleOfExecution(args, place)),
    },
  ],
  [
    [LOOKSRARE_V1_ADDRESS],
    looksrareV1Abi,
    {
      TakerBid: (args, place) => sales(saleOfV1(args, { isListing: true }, place)),
      TakerAsk: (args, place) => sales(saleOfV1(args, { isListing: false }, place)),
    },
  ],
  [
    [LOOKSRARE_V2_ADDRESS],
    looksrareV2Abi,
    {
      TakerBid: (args, place) =>
        sales(...salesOfV2(args, { seller: args.feeRecipients[0], buyer: args.bidRecipient, isOffer: false }, place)),
      TakerAsk: (args, place) =>
        sales(...salesOfV2(args, { seller: args.askUser, buyer: args.bidUser, isOffer: true }, place)),
    },
  ],
  [[X2Y2_ADDRESS], x2y2Abi, { EvInventory: (args, place) => sales(...salesOfInventory(args, { bid: null }, place)) }],
  [
    WYVERN_ADDRESSES,
    wyvernAbi,
    {
      OrdersMatched: (args, { call, ...place }) => ({
        kind: "window",
        match: readMatch(args, { ...place, currency: findCurrency(call, place.exchangeAddress) }),
      }),
    },
  ],
  [
    ZORA_ADDRESSES,
    zoraAbi,
    {
      AskFilled: (args, place) => sales(saleOfAsk(args, place)),
      OfferFilled: (args, place) => sales(saleOfOffer(args, place)),
    },
  ],
  [
    [FOUNDATION_ADDRESS],
    foundationAbi,
    {
      BuyPriceAccepted: (args, place) =>
        sales(saleOf(args, { ...args, contractAddress: args.nftContract, isOffer: false }, place)),
      OfferAccepted: (args, place) =>
        sales(saleOf(args, { ...args, contractAddress: args.nftContract, isOffer: true }, place)),
    },
  ],
  [
    ZORA_RESERVE_AUCTION_ADDRESSES[1]!,
    zoraReserveAuctionAbi,
    {
      AuctionEnded: ({ auction, ...args }, place) => {
        const price = priceOf(auction.highestBid, zeroAddress);
        return sales(
          saleOfZora(args, { seller: auction.seller, buyer: auction.highestBidder, price, isOffer: false }, place),
        );
      },
    },
  ],
  [
    PAYMENT_PROCESSOR_V1_ADDRESSES[1]!,
    paymentProcessorV1Abi,
    {
      BuySingleListing: ({ seller, tokenId, amount: quantity, salePrice: price, ...args }, place) => {
        const fills = [{ seller, tokenId, quantity, price }];
        const isOffer = args.paymentCoin === zeroAddress ? false : null;
        return sales(...salesOfProcessorV1(args, { fills, isOffer }, place));
      },
      BuyBundledListingERC721: swept,
      BuyBundledListingERC1155: swept,
      SweepCollectionERC721: swept,
      SweepCollectionERC1155: swept,
    },
  ],
  [
    [PAYMENT_PROCESSOR_V2_ADDRESS],
    paymentProcessorV2Abi,
    {
      BuyListingERC721: (args, place) => sales(saleOfProcessorV2({ ...args, amount: 1n }, { isOffer: false }, place)),
      BuyListingERC1155: (args, place) => sales(saleOfProcessorV2(args, { isOffer: false }, place)),
      AcceptOfferERC721: (args, place) => sales(saleOfProcessorV2({ ...args, amount: 1n }, { isOffer: true }, place)),
      AcceptOfferERC1155: (args, place) => sales(saleOfProcessorV2(args, { isOffer: true }, place)),
    },
  ],
  [
    ELEMENT_ADDRESSES[1]!,
    elementAbi,
    {
      ERC721SellOrderFilled: (args, place) => sales(saleOf721(args, { isOffer: false }, place)),
      ERC721BuyOrderFilled: (args, place) => offer(saleOf721(args, { isOffer: true }, place)),
      ERC1155SellOrderFilled: (args, place) => sales(saleOf1155(args, { isOffer: false }, place)),
      ERC1155BuyOrderFilled: (args, place) => offer(saleOf1155(args, { isOffer: true }, place)),
    },
  ],
  [
    SUPER_RARE_ADDRESSES[1]!,
    superRareAbi,
    {
      Sold: (args, place) => {
        const terms = { seller: args._seller, buyer: args._buyer, currency: zeroAddress, isOffer: false };
        return sales(saleOfSuperRare(args, terms, place));
      },
      AcceptBid: (args, place) => {
        const terms = { seller: args._seller, buyer: args._bidder, currency: zeroAddress, isOffer: true };
        return sales(saleOfSuperRare(args, terms, place));
      },
    },
  ],
  [
    SUPER_RARE_BAZAAR_ADDRESSES[1]!,
    superRareBazaarAbi,
    {
      Sold: (args, place) => {
        const terms = { seller: args._seller, buyer: args._buyer, currency: args._currencyAddress, isOffer: false };
        return sales(saleOfSuperRare(args, terms, place));
      },
      AcceptOffer: (args, place) => {
        const terms = { seller: args._seller, buyer: args._bidder, currency: args._currencyAddress, isOffer: true };
        return sales(saleOfSuperRare(args, terms, place));
      },
      AuctionSettled: (args, place) => {
        const terms = { seller: args._seller, buyer: args._bidder, currency: args._currencyAddress, isOffer: false };
        return sales(saleOfSuperRare({ ...args, _originContract: args._contractAddress }, terms, place));
      },
    },
  ],
  [
    ZERO_EX_ADDRESSES[1]!,
    zeroExAbi,
    {
      ERC721OrderFilled: (args, place) => {
        const item = { contractAddress: args.erc721Token, tokenId: args.erc721TokenId, quantity: 1n };
        return sales(...salesOfOrder(args, { item, amount: args.erc20TokenAmount }, place));
      },
      ERC1155OrderFilled: (args, place) => {
        const { erc1155Token: contractAddress, erc1155TokenId: tokenId, erc1155FillAmount: quantity } = args;
        const item = { contractAddress, tokenId, quantity };
        return sales(...salesOfOrder(args, { item, amount: args.erc20FillAmount }, place));
      },
    },
  ],
];

/** The sales of one transaction, its logs taken in order one by one as the indexer takes them. */
export function salesOfLogs(logs: readonly ReceiptLog[], call: Call): SettledSale[] {
  const transactionSales = newTransactionSales();
  const rows = new Map<string, SettledSale>();
  const write = (changes: SaleChange[]) => {
    for (const { before, after } of changes) {
      const { logIndex, batchIndex } = (after ?? before)!;
      const key = `${logIndex}-${batchIndex}`;
      if ((before !== undefined) !== rows.has(key)) throw new Error(`Row ${key} is not as the change has it.`);
      if (after) rows.set(key, after);
      else rows.delete(key);
    }
  };
  for (const log of logs) {
    const hops = readHops(log);
    if (hops.length > 0) write(addHops(transactionSales, hops, () => call.from));
    const step = readStep(log, call);
    const place = { logIndex: Number(log.logIndex), exchangeAddress: log.address };
    if (step) write(addStep(transactionSales, { ...place, ...step }, () => call.from));
  }
  return [...rows.values()].toSorted((a, b) => a.logIndex - b.logIndex || a.batchIndex - b.batchIndex);
}

function readStep(log: ReceiptLog, call: Call): StepContent | undefined {
  const found = EXCHANGES.find(([addresses, abi]) => addresses.includes(log.address) && hasEvent(abi, log));
  const event = found && decode(found[1], log);
  const place = { logIndex: Number(log.logIndex), exchangeAddress: log.address, call };
  return event && found[2][event.name]?.(event.args, place);
}

const hasEvent = (abi: Abi, { topics }: ReceiptLog) =>
  abi.some((item) => item.type === "event" && toEventSelector(item) === topics[0]);

/** Movements of ERC-721 and ERC-1155 tokens. */
export function readHops(log: ReceiptLog): Hop[] {
  const place = { logIndex: Number(log.logIndex), contractAddress: log.address };
  if (log.topics.length !== 4) return [];
  const event = [erc721Abi, erc1155Abi].filter((abi) => hasEvent(abi, log)).map((abi) => decode(abi, log))[0];
  if (!event) return [];
  const { from, to } = event.args;
  if (event.name === "Transfer") return [{ ...place, from, to, tokenId: event.args.tokenId, quantity: 1n }];
  if (event.name === "TransferSingle")
    return [{ ...place, from, to, tokenId: event.args.id, quantity: event.args.value }];
  const { ids, values } = event.args as { ids: bigint[]; values: bigint[] };
  return ids.map((tokenId, index) => ({ ...place, from, to, tokenId, quantity: values[index]! }));
}

const TRANSFER = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";

/** What an account paid of an ERC-20 currency in a transaction, computed from raw words. */
export function outflowOf(account: Hex, currency: Hex, logs: readonly Omit<ReceiptLog, "logIndex">[]): bigint {
  return logs
    .filter(({ address, topics }) => address === currency && topics[0] === TRANSFER && topics.length === 3)
    .filter(({ topics }) => `0x${topics[1]!.slice(26)}` === account)
    .reduce((sum, { data }) => sum + BigInt(data), 0n);
}

function decode(abi: Abi, { topics, data }: ReceiptLog): { name: string; args: Args } {
  const { eventName, args } = decodeEventLog({ abi, topics: topics as [Hex, ...Hex[]], data });
  return { name: eventName!, args: lowerCase(args) };
}

/** viem writes addresses with a checksum, Ponder in lower case. */
function lowerCase(value: unknown): unknown {
  if (typeof value === "string" && /^0x[0-9a-fA-F]{40}$/.test(value)) return value.toLowerCase();
  if (Array.isArray(value)) return value.map(lowerCase);
  if (typeof value === "object" && value !== null)
    return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, lowerCase(part)]));
  return value;
}
