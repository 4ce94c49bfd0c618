import { type Hex, zeroAddress, zeroHash } from "viem";
import { findCurrency, wyvernAbi } from "../abis/wyvern.ts";
import { define } from "./define.ts";
import { MAX_UINT256 } from "./limits.ts";
import { type Hop, keyOfToken, noPrice, priceOf, type Sale, splitPrice } from "./sale.ts";

/** Sales on Wyvern. What a match sold follows from what moved before it. */
export const wyvern = define(
  wyvernAbi,
  {
    async OrdersMatched(log, context) {
      const match = readMatch(log.args, { logIndex: log.place.logIndex, currency: log.note });
      await context.recordStep(log.place, { kind: "window", match });
    },
  },
  { noteOf: findCurrency },
);

/** Wyvern's OrdersMatched, which names no token, no side and no currency. Null: nothing else tells it either. */
export type WyvernMatch = {
  logIndex: number;
  seller: Hex | null;
  buyer: Hex | null;
  maker: Hex;
  taker: Hex;
  price: bigint;
  currency: Hex | null;
  isOffer: boolean | null;
};

type Window = { match: WyvernMatch; exchangeAddress: Hex; soldElsewhere: ReadonlySet<Hop | undefined> };

type MatchArgs = { buyHash: Hex; sellHash: Hex; maker: Hex; taker: Hex; price: bigint };

/**
 * Reads a match from its log. `currency`: from the transaction's call (`findCurrency`). Whoever calls needs no signed
 * order, so the order without a hash is the caller's, and the other one was there before.
 */
function readMatch(
  { buyHash, sellHash, maker, taker, price }: MatchArgs,
  { logIndex, currency }: { logIndex: number; currency: Hex | null },
): WyvernMatch {
  const isListing = buyHash === zeroHash && sellHash !== zeroHash;
  const isOffer = sellHash === zeroHash && buyHash !== zeroHash;
  return {
    logIndex,
    seller: isListing ? maker : isOffer ? taker : null,
    buyer: isListing ? taker : isOffer ? maker : null,
    maker,
    taker,
    price,
    currency,
    isOffer: isListing || isOffer ? isOffer : null,
  };
}

/**
 * The sales of a match: of the tokens that moved in its window, those that went from the seller to the buyer, or else
 * those that came from or went to one of them. Other movements are a token's own doing, a mint for example. What is
 * sold may also be minted by the sale. What other exchanges sold is left to them.
 */
export function salesOfWindow(hops: readonly Hop[], { match, exchangeAddress, soldElsewhere }: Window): Sale[] {
  const { seller, maker, taker } = match;
  const own = hops.filter((hop) => hop.quantity > 0n && !soldElsewhere.has(hop));
  // The goods may be of a contract that isn't indexed. Then what came to the taker before them, who may be a router, is
  // not: what isn't the maker's, nor minted, is sold only where it moved last.
  const isSold = ({ from, to, logIndex }: Hop) =>
    from === maker || to === maker || from === zeroAddress || logIndex === match.logIndex - 1;
  const tokens = [...Map.groupBy(hopsOf(match, own), keyOfToken).values()]
    .filter((ofToken) => ofToken.some(isSold))
    .map(joinHops);
  const total = match.currency ? priceOf(match.price, match.currency) : noPrice("unknown currency");
  const prices = splitPrice(match.price === 0n ? { ...total, price: 0n } : total, tokens);
  const minterFor = (to: Hex) => seller ?? (to === maker ? taker : to === taker ? maker : null);
  return tokens.map(({ contractAddress, tokenId, quantity, from, to }, batchIndex) => ({
    ...prices[batchIndex]!,
    logIndex: match.logIndex,
    batchIndex,
    marketplace: "wyvern",
    contractAddress,
    tokenId,
    quantity,
    seller: from === zeroAddress ? minterFor(to) : from,
    buyer: to,
    broker: exchangeAddress,
    isOffer: match.isOffer,
  }));
}

/** The hops from the seller to the buyer, or else those from or to one of them. */
function hopsOf({ seller, buyer, maker, taker }: WyvernMatch, hops: readonly Hop[]): readonly Hop[] {
  const isFromSeller = ({ from }: Hop) => (seller ? from === seller : from === maker || from === taker);
  const isToBuyer = ({ to }: Hop) => (buyer ? to === buyer : to === maker || to === taker);
  const direct = hops.filter((hop) => isFromSeller(hop) && isToBuyer(hop));
  return direct.length > 0 ? direct : hops.filter((hop) => isFromSeller(hop) || isToBuyer(hop));
}

/**
 * One token's hops as one. Hops between the same two accounts add up; others are taken for one way of several steps.
 */
function joinHops(hops: Hop[]): Hop {
  const [first, last] = [hops[0]!, hops.at(-1)!];
  const isOneWay = hops.every(({ from, to }) => from === first.from && to === first.to);
  if (isOneWay) {
    const sum = hops.reduce((total, { quantity }) => total + quantity, 0n);
    return { ...first, quantity: sum > MAX_UINT256 ? MAX_UINT256 : sum };
  }
  return { ...first, to: last.to };
}
