import { type Hex, zeroAddress } from "viem";
import type { Hop, Sale } from "./sale.ts";

/** What the sales of one token in one transaction come to: who had it first and last, by how it moved. */

/** What an exchange's log says of a sale. */
export type SteppedSale = { sale: Sale; exchangeAddress: Hex };

/** A sale with people in it. */
export type SettledSale = Sale & { seller: Hex; buyer: Hex };

/** Who signed the transaction. It is asked for only where a token moves on, or has moved before: see `settleToken`. */
export type Signer = () => Hex;

/**
 * Sales of one token in one transaction times its hops, up to which each sale is looked for among the hops. All of it is
 * done again with each log that says more, so that without a limit a block of cheap units of one token takes minutes.
 * Beyond it a sale is what its exchange's log says: a hundred units that are sold one by one still have their people.
 */
export const MAX_SALES_TIMES_HOPS = 20_000;

/**
 * The sales of one token, each with the people at the ends of its way. A sale without a transfer of its token isn't one
 * yet, unless the exchange may keep the token, and one for nothing is a gift, unless that is its share of a bundle. Of a
 * token that moved once, its transfer says all: nobody asks for the signer. Of more sales and hops than are looked through,
 * those are left whose logs know both people.
 */
export function settleToken(
  sales: readonly SteppedSale[],
  { hops, signer }: { hops: readonly Hop[]; signer: Signer },
): SettledSale[] {
  const ordered = sales
    .filter(({ sale }) => sale.quantity > 0n && (sale.price !== 0n || sale.note === "bundle"))
    .toSorted((a, b) => comparePlaces(a.sale, b.sale));
  if (sales.length * hops.length > MAX_SALES_TIMES_HOPS) return ordered.map(({ sale }) => sale).filter(isNamed);
  const carriers = findCarriers(ordered, hops);
  const carried = new Set(carriers);
  const settled: SettledSale[] = [];
  for (const [index, { sale, exchangeAddress }] of ordered.entries()) {
    const { holder = exchangeAddress } = sale;
    const hop = carriers[index];
    if (!hop) {
      if (sale.isInEscrow && isNamed(sale)) settled.push(sale);
      continue;
    }
    const way = { hops, hop, isFree: (one: Hop) => !carried.has(one) && one.quantity >= sale.quantity, signer };
    // Held by the market while it is for sale, or made for the buyer: only the exchange knows who sells.
    const isOfSeller = hop.from !== zeroAddress && hop.from !== holder;
    // Routers take orders. Whoever made this one trades for himself, wherever he has the token from or puts it.
    const isMakerSelling = sale.isOffer === false && hop.from === sale.seller;
    const isMakerBuying = sale.isOffer === true && hop.to === sale.buyer;
    const seller = (isOfSeller && !isMakerSelling) || !sale.seller ? firstHolder(way) : sale.seller;
    settled.push({ ...sale, seller, buyer: isMakerBuying ? hop.to : lastHolder(way) });
  }
  return settled;
}

const isNamed = (sale: Sale): sale is SettledSale => sale.seller !== null && sale.buyer !== null;

/** The transfers that carry sales of one token. */
export function findCarriers(sales: readonly SteppedSale[], hops: readonly Hop[]): (Hop | undefined)[] {
  const carried = new Set<Hop>();
  return sales.map((sale) => {
    const hop = findCarrier(sale, { hops, carried });
    if (hop) carried.add(hop);
    return hop;
  });
}

/**
 * The transfer that carries a sale: from its seller to its buyer, as far as the log knows them. Where there is none, whoever
 * made the order is at its end: the price is his.
 */
function findCarrier(
  { sale, exchangeAddress }: SteppedSale,
  { hops, carried }: { hops: readonly Hop[]; carried: ReadonlySet<Hop> },
): Hop | undefined {
  let best: Hop | undefined;
  let bestScore = -1;
  for (const hop of hops) {
    const { seller, buyer, holder = exchangeAddress } = sale;
    if (sale.isInEscrow && (hop.from !== holder || hop.to !== buyer)) continue;
    const isFromSeller = !seller || hop.from === seller || hop.from === zeroAddress || hop.from === holder;
    const isToBuyer = !buyer || hop.to === buyer;
    if (!isFromSeller && !isToBuyer) continue;
    const isOfMaker = sale.isOffer === false ? isFromSeller : isToBuyer;
    const score =
      (isFromSeller && isToBuyer ? 8 : 0) +
      (carried.has(hop) ? 0 : 4) +
      (isOfMaker ? 2 : 0) +
      (hop.quantity === sale.quantity ? 1 : 0);
    if (score > bestScore) [best, bestScore] = [hop, score];
  }
  return best;
}

/** The transfer that carries a sale, and those of the same token around it that may go on with its way. */
type Way = { hops: readonly Hop[]; hop: Hop; isFree: (hop: Hop) => boolean; signer: Signer };

/** Who had it in the end: routers pass on what they buy. Whoever signed the transaction buys for himself. */
function lastHolder({ hops, hop, isFree, signer }: Way): Hex {
  let last = hop.to;
  for (let index = hops.indexOf(hop) + 1; index < hops.length; index++) {
    const one = hops[index]!;
    if (isFree(one) && one.from === last && isOther(one.to, last) && last !== signer()) last = one.to;
  }
  return last;
}

/** Who had it at first: routers take what they sell from somebody. */
function firstHolder({ hops, hop, isFree, signer }: Way): Hex {
  let first = hop.from;
  for (let index = hops.indexOf(hop) - 1; index >= 0; index--) {
    const one = hops[index]!;
    if (isFree(one) && one.to === first && isOther(one.from, first) && first !== signer()) first = one.from;
  }
  return first;
}

/** Somebody else: what is sent to oneself stays where it is. */
const isOther = (address: Hex, holder: Hex) => address !== zeroAddress && address !== holder;

/** In the order of the chain. */
export const comparePlaces = (a: Sale, b: Sale) => a.logIndex - b.logIndex || a.batchIndex - b.batchIndex;
