import type { Hex } from "viem";
import { zoraAbi } from "../abis/zora.ts";
import { define } from "./define.ts";
import { placeOfSale, recordSales, type SalePlace } from "./sale-log.ts";
import { type Price, priceOf, type Sale } from "./sale.ts";
import { closeAsk } from "./zora-ask.ts";

export const zora = define(zoraAbi, {
  async AskFilled(log, context) {
    await closeAsk(context, log.place, log.args, { isTaken: true });
    await recordSales(context, log, [saleOfAsk(log.args, placeOfSale(log))]);
  },

  async OfferFilled(log, context) {
    await recordSales(context, log, [saleOfOffer(log.args, placeOfSale(log))]);
  },
});

type Token = { tokenContract: Hex; tokenId: bigint };
type Sold = { seller: Hex; buyer: Hex; price: Price; isOffer: boolean };

/** The sale of a filled ask. Fees come out of its price. */
export function saleOfAsk(
  { buyer, ask, ...token }: Token & { buyer: Hex; ask: { seller: Hex; askCurrency: Hex; askPrice: bigint } },
  place: SalePlace,
): Sale {
  const price = priceOf(ask.askPrice, ask.askCurrency);
  return saleOf(token, { seller: ask.seller, buyer, price, isOffer: false }, place);
}

/** The sale of an accepted offer. The taker is the seller. */
export function saleOfOffer(
  { taker, offer, ...token }: Token & { taker: Hex; offer: { maker: Hex; currency: Hex; amount: bigint } },
  place: SalePlace,
): Sale {
  const price = priceOf(offer.amount, offer.currency);
  return saleOf(token, { seller: taker, buyer: offer.maker, price, isOffer: true }, place);
}

/** A sale of one token at any of Zora's markets. */
export function saleOf(
  { tokenContract, tokenId }: Token,
  { seller, buyer, price, isOffer }: Sold,
  { logIndex, exchangeAddress }: SalePlace,
): Sale {
  return {
    ...price,
    logIndex,
    batchIndex: 0,
    marketplace: "zora",
    contractAddress: tokenContract,
    tokenId,
    quantity: 1n,
    seller,
    buyer,
    broker: exchangeAddress,
    isOffer,
  };
}
