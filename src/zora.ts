import type { Hex } from "viem";
import { priceOf, type Sale } from "./sale.ts";

type Place = { logIndex: number; exchange: Hex };
type Token = { tokenContract: Hex; tokenId: bigint };
type Sold = { seller: Hex; buyer: Hex; price: bigint; currency: Hex; isOffer: boolean };

/** A Zora ask that was taken. Fees come out of its price. */
export function saleOfAsk(
  { buyer, ask, ...token }: Token & { buyer: Hex; ask: { seller: Hex; askCurrency: Hex; askPrice: bigint } },
  place: Place,
): Sale {
  const terms = { price: ask.askPrice, currency: ask.askCurrency, isOffer: false };
  return saleOf(token, { seller: ask.seller, buyer, ...terms }, place);
}

/** A Zora offer that was accepted: the taker sells to its maker. */
export function saleOfOffer(
  { taker, offer, ...token }: Token & { taker: Hex; offer: { maker: Hex; currency: Hex; amount: bigint } },
  place: Place,
): Sale {
  const terms = { price: offer.amount, currency: offer.currency, isOffer: true };
  return saleOf(token, { seller: taker, buyer: offer.maker, ...terms }, place);
}

function saleOf(
  { tokenContract, tokenId }: Token,
  { seller, buyer, price, currency, isOffer }: Sold,
  { logIndex, exchange }: Place,
): Sale {
  return {
    ...priceOf(price, currency),
    logIndex,
    batchIndex: 0,
    exchange: "zora",
    contractAddress: tokenContract,
    tokenId,
    quantity: 1n,
    seller,
    buyer,
    broker: exchange,
    isOffer,
  };
}
