import type { Hex } from "viem";
import { firstOther, priceOf, type Sale, splitPrice } from "./sale.ts";

/** LooksRare, both versions. TakerBid: a listing was bought. TakerAsk: an offer was accepted. */

type Place = { logIndex: number; exchange: Hex };

type ArgsV1 = {
  taker: Hex;
  maker: Hex;
  currency: Hex;
  collection: Hex;
  tokenId: bigint;
  amount: bigint;
  price: bigint;
};

/** Version 1. The price is for all units, fees included. */
export function saleOfV1(args: ArgsV1, { isListing }: { isListing: boolean }, { logIndex, exchange }: Place): Sale {
  return {
    ...priceOf(args.price, args.currency),
    logIndex,
    batchIndex: 0,
    exchange: "looksrare",
    contractAddress: args.collection,
    tokenId: args.tokenId,
    quantity: args.amount,
    seller: isListing ? args.maker : args.taker,
    buyer: isListing ? args.taker : args.maker,
    broker: exchange,
    isOffer: !isListing,
  };
}

type ArgsV2 = {
  currency: Hex;
  collection: Hex;
  itemIds: readonly bigint[];
  amounts: readonly bigint[];
  feeRecipients: readonly [Hex, Hex];
  feeAmounts: readonly [bigint, bigint, bigint];
};

/** Version 2. The price is what seller, creator and protocol get together; several ids share it. */
export function salesOfV2(
  args: ArgsV2,
  { seller, buyer, isOffer }: { seller: Hex; buyer: Hex; isOffer: boolean },
  { logIndex, exchange }: Place,
): Sale[] {
  const { collection: contractAddress, itemIds, amounts, feeRecipients, feeAmounts } = args;
  const items = itemIds.map((tokenId, index) => ({ contractAddress, tokenId, quantity: amounts[index] ?? 1n }));
  const total = priceOf(feeAmounts[0] + feeAmounts[1] + feeAmounts[2], args.currency);
  return splitPrice(total, items).map((price, batchIndex) => ({
    ...price,
    ...items[batchIndex]!,
    logIndex,
    batchIndex,
    exchange: "looksrare",
    seller,
    buyer,
    // The first recipient is who gets the seller's part.
    broker: firstOther([feeRecipients[1]], { except: [seller], otherwise: exchange }),
    isOffer,
  }));
}
