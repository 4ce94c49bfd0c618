import { decodeAbiParameters, type Hex, size } from "viem";
import { x2y2Abi } from "../abis/x2y2.ts";
import { define } from "./define.ts";
import { placeOfSale, recordSales, type SalePlace } from "./sale-log.ts";
import { firstOther, type Item, noPrice, priceOf, type Sale, splitPrice } from "./sale.ts";

/** Values of `op` in X2Y2's EvInventory: what happened to the order. */
const SELL_OFFER_TAKEN = 1;
const BUY_OFFER_TAKEN = 2;
const AUCTION_BID = 4;
const AUCTION_COMPLETED = 5;

/** Sales on X2Y2, auctions included: their winner and price are those of the last bid. */
export const x2y2 = define(x2y2Abi, {
  async EvInventory(log, context) {
    const { itemHash: item_hash, taker: bidder, detail } = log.args;
    if (detail.op === AUCTION_BID) {
      const bid = { bidder, amount: detail.price };
      await context.store.upsert("x2y2Bid", { item_hash, ...bid }, bid);
      return;
    }
    const bid = detail.op === AUCTION_COMPLETED ? await context.store.find("x2y2Bid", { item_hash }) : null;
    await recordSales(context, log, salesOfInventory(log.args, { bid }, placeOfSale(log)));
  },
});

const WORD = 32;
const token721 = [{ type: "tuple[]", components: [{ type: "address" }, { type: "uint256" }] }] as const;
const token1155 = [
  { type: "tuple[]", components: [{ type: "address" }, { type: "uint256" }, { type: "uint256" }] },
] as const;

type Inventory = {
  maker: Hex;
  taker: Hex;
  currency: Hex;
  item: { data: Hex };
  detail: { op: number; price: bigint; executionDelegate: Hex; fees: readonly { percentage: bigint; to: Hex }[] };
};

/**
 * The sales of an EvInventory, of one token or several. `bid`: the last bid of an auction, null where none was seen.
 */
export function salesOfInventory(
  { maker, taker, currency, item, detail }: Inventory,
  { bid }: { bid: { bidder: Hex; amount: bigint } | null },
  { logIndex, exchangeAddress }: SalePlace,
): Sale[] {
  const { op, price, executionDelegate, fees } = detail;
  if (op !== SELL_OFFER_TAKEN && op !== BUY_OFFER_TAKEN && op !== AUCTION_COMPLETED) return [];
  const seller = op === BUY_OFFER_TAKEN ? taker : maker;
  // The log of a completed auction names as taker whoever settled it: the winner and the price are in the last bid.
  const auctioned = bid ? priceOf(bid.amount, currency) : noPrice("unknown bid");
  const total = op === AUCTION_COMPLETED ? auctioned : priceOf(price, currency);
  const buyer = op === SELL_OFFER_TAKEN ? taker : op === BUY_OFFER_TAKEN ? maker : (bid?.bidder ?? null);
  const items = readItems(item.data);
  const recipients = fees.filter(({ percentage }) => percentage > 0n).map(({ to }) => to);
  return splitPrice(total, items).map((part, batchIndex) => ({
    ...part,
    ...items[batchIndex]!,
    logIndex,
    batchIndex,
    marketplace: "x2y2",
    seller,
    buyer,
    broker: firstOther(recipients, { except: [seller], otherwise: exchangeAddress }),
    isOffer: op === BUY_OFFER_TAKEN,
    // It has the token from the first bid on.
    ...(op === AUCTION_COMPLETED && { holder: executionDelegate }),
  }));
}

/**
 * The items that are sold: pairs of contract and id, or for ERC-1155 triples with an amount. The length tells which.
 */
function readItems(data: Hex): Item[] {
  try {
    const [pairs] = decodeAbiParameters(token721, data);
    const words = (size(data) - 2 * WORD) / WORD;
    if (words === 2 * pairs.length) return pairs.map(([address, tokenId]) => itemOf(address, tokenId, 1n));
    const [triples] = decodeAbiParameters(token1155, data);
    if (words === 3 * triples.length)
      return triples.map(([address, tokenId, amount]) => itemOf(address, tokenId, amount));
  } catch {
    // Not what X2Y2 writes for tokens: nothing is known of what was sold.
  }
  return [];
}

const itemOf = (address: Hex, tokenId: bigint, quantity: bigint): Item => ({
  contractAddress: address.toLowerCase() as Hex,
  tokenId,
  quantity,
});
