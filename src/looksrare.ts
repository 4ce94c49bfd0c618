import type { Hex } from "viem";
import { looksrareV1Abi, looksrareV2Abi } from "../abis/looksrare.ts";
import { define } from "./define.ts";
import { placeOfSale, recordSales, type SalePlace } from "./sale-log.ts";
import { firstOther, priceOf, type Sale, splitPrice } from "./sale.ts";

/** Both versions of LooksRare. TakerBid: a listing was bought. TakerAsk: an offer was accepted. */

/** The first version's sales: one token each. */
export const looksrareV1 = define(looksrareV1Abi, {
  async TakerBid(log, context) {
    await recordSales(context, log, [saleOfV1(log.args, { isOffer: false }, placeOfSale(log))]);
  },

  async TakerAsk(log, context) {
    await recordSales(context, log, [saleOfV1(log.args, { isOffer: true }, placeOfSale(log))]);
  },
});

/** The second version's sales: one or several tokens of a collection each. */
export const looksrareV2 = define(looksrareV2Abi, {
  async TakerBid(log, context) {
    const { feeRecipients, bidRecipient: buyer } = log.args;
    await recordSales(
      context,
      log,
      salesOfV2(log.args, { seller: feeRecipients[0], buyer, isOffer: false }, placeOfSale(log)),
    );
  },

  async TakerAsk(log, context) {
    const { askUser: seller, bidUser: buyer } = log.args;
    await recordSales(context, log, salesOfV2(log.args, { seller, buyer, isOffer: true }, placeOfSale(log)));
  },
});

type ArgsV1 = {
  taker: Hex;
  maker: Hex;
  currency: Hex;
  collection: Hex;
  tokenId: bigint;
  amount: bigint;
  price: bigint;
};

/** Version 1. The price is for all units, fees included. It takes any amount for an ERC-721 token, of which it moves one. */
function saleOfV1(args: ArgsV1, { isOffer }: { isOffer: boolean }, { logIndex, exchangeAddress }: SalePlace): Sale {
  return {
    ...priceOf(args.price, args.currency),
    logIndex,
    batchIndex: 0,
    marketplace: "looksrare",
    contractAddress: args.collection,
    tokenId: args.tokenId,
    quantity: args.amount,
    isAtMost: true,
    seller: isOffer ? args.taker : args.maker,
    buyer: isOffer ? args.maker : args.taker,
    broker: exchangeAddress,
    isOffer,
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

/** Version 2. The price is what seller, creator and protocol get together, split among the tokens. */
function salesOfV2(
  args: ArgsV2,
  { seller, buyer, isOffer }: { seller: Hex; buyer: Hex; isOffer: boolean },
  { logIndex, exchangeAddress }: SalePlace,
): Sale[] {
  const { collection: contractAddress, itemIds, amounts, feeRecipients, feeAmounts } = args;
  const items = itemIds.map((tokenId, index) => ({ contractAddress, tokenId, quantity: amounts[index] ?? 1n }));
  const total = priceOf(feeAmounts[0] + feeAmounts[1] + feeAmounts[2], args.currency);
  return splitPrice(total, items).map((price, batchIndex) => ({
    ...price,
    ...items[batchIndex]!,
    logIndex,
    batchIndex,
    marketplace: "looksrare",
    seller,
    buyer,
    // The first part is the seller's. The creator is named also where he gets nothing.
    broker: firstOther(feeAmounts[1] > 0n ? [feeRecipients[1]] : [], { except: [seller], otherwise: exchangeAddress }),
    isOffer,
  }));
}
