import type { Hex } from "viem";
import { zoraAbi } from "../abis/zora.ts";
import { define } from "./define.ts";
import { placeOfSale, recordSales, type SalePlace } from "./sale-log.ts";
import { firstOther, type Price, priceOf, type Sale } from "./sale.ts";
import { closeAsk } from "./zora-ask.ts";

/** Asks and offers that were filled. */
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
type Sold = {
  seller: Hex;
  buyer: Hex;
  price: Price;
  isOffer: boolean;
  /** Who brought both together, and that part of the price which is his. */
  found?: { finder: Hex; findersFeeBps: number };
};

type Ask = { seller: Hex; askCurrency: Hex; askPrice: bigint; findersFeeBps: number };
type Offer = { maker: Hex; currency: Hex; amount: bigint; findersFeeBps: number };

/** The sale of a filled ask. Fees come out of its price. */
function saleOfAsk(
  { buyer, finder, ask, ...token }: Token & { buyer: Hex; finder: Hex; ask: Ask },
  place: SalePlace,
): Sale {
  const { seller, askCurrency, askPrice, findersFeeBps } = ask;
  const price = priceOf(askPrice, askCurrency);
  return saleOf(token, { seller, buyer, price, isOffer: false, found: { finder, findersFeeBps } }, place);
}

/** The sale of an accepted offer. The taker is the seller. */
function saleOfOffer(
  { taker, finder, offer, ...token }: Token & { taker: Hex; finder: Hex; offer: Offer },
  place: SalePlace,
): Sale {
  const { maker: buyer, currency, amount, findersFeeBps } = offer;
  const price = priceOf(amount, currency);
  return saleOf(token, { seller: taker, buyer, price, isOffer: true, found: { finder, findersFeeBps } }, place);
}

/** A sale of one token at any of Zora's markets. */
export function saleOf(
  { tokenContract, tokenId }: Token,
  { seller, buyer, price, isOffer, found }: Sold,
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
    broker: firstOther(found?.findersFeeBps ? [found.finder] : [], { except: [seller], otherwise: exchangeAddress }),
    isOffer,
  };
}
