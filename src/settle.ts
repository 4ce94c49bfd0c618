import { type Hex, zeroAddress } from "viem";
import type { Hop, Sale } from "./sale.ts";

/** Works out who sold and who bought a token, from how the token moved within the transaction. */

/** A sale, and the contract whose log says so. */
export type SteppedSale = { sale: Sale; exchangeAddress: Hex };

/** A sale whose seller and buyer are known. */
export type SettledSale = Sale & { seller: Hex; buyer: Hex };

/** Returns who signed the transaction. Called only where a token moves more than once: see `settleToken`. */
export type Signer = () => Hex;

/**
 * The limit of a token's sales times its hops in one transaction, up to which the transfer of each sale is looked for.
 * That is done again with each log that says more, so that without a limit a block of cheap units of one token takes
 * minutes. Beyond it a sale has the people whom its exchange's log names. A hundred units that are sold one by one are
 * below it.
 */
export const MAX_SALES_TIMES_HOPS = 20_000;

/**
 * Settles the sales of one token: finds each sale's transfer, and the seller and buyer at the two ends of the token's
 * way. A sale without a transfer is left out (it may follow in a later log), unless the exchange may keep the token. A
 * sale for nothing is a gift and left out, unless 0 is its share of a bundle. `signer` isn't called for a token that
 * moved once. Beyond `MAX_SALES_TIMES_HOPS`, sales whose logs name both people are returned as they are.
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
    const quantity = sale.isAtMost && hop.quantity < sale.quantity ? hop.quantity : sale.quantity;
    const way = { sale, hops, hop, isFree: (one: Hop) => !carried.has(one) && one.quantity >= quantity, signer };
    // The market held the token while it was for sale, or the token was minted for the buyer: only the log knows the
    // seller.
    const isOfSeller = hop.from !== zeroAddress && hop.from !== holder;
    // Routers take orders, they don't make them: an order's maker trades for himself, wherever the token came from before
    // or goes afterwards.
    const isMakerSelling = sale.isOffer === false && hop.from === sale.seller;
    const isMakerBuying = sale.isOffer === true && hop.to === sale.buyer;
    const seller = (isOfSeller && !isMakerSelling) || !sale.seller ? firstHolder(way) : sale.seller;
    settled.push({ ...sale, quantity, seller, buyer: isMakerBuying ? hop.to : lastHolder(way) });
  }
  return settled;
}

const isNamed = (sale: Sale): sale is SettledSale => sale.seller !== null && sale.buyer !== null;

/** For each sale the transfer that carries it, undefined where there is none. */
export function findCarriers(sales: readonly SteppedSale[], hops: readonly Hop[]): (Hop | undefined)[] {
  const carried = new Set<Hop>();
  return sales.map((sale) => {
    const hop = findCarrier(sale, { hops, carried });
    if (hop) carried.add(hop);
    return hop;
  });
}

/**
 * The transfer that carries a sale: from its seller to its buyer, as far as the log names them. Where there is none,
 * one that the maker of the order gave or got: the price is his.
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
    // Seaport up to 1.5 moves nothing that somebody sells to himself in a match: what he trades with others isn't that.
    if (seller && seller === buyer && !(isFromSeller && isToBuyer)) continue;
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

/** A sale, the transfer that carries it, all transfers of the token, and which of them may continue the sale's way. */
type Way = { sale: Sale; hops: readonly Hop[]; hop: Hop; isFree: (hop: Hop) => boolean; signer: Signer };

/**
 * Who had the token in the end. Routers pass on what they buy; whoever signed the transaction buys for himself, unless
 * he passes the token on to the buyer whom the log names, as where he pays for a private listing.
 */
function lastHolder({ sale, hops, hop, isFree, signer }: Way): Hex {
  let last = hop.to;
  for (let index = hops.indexOf(hop) + 1; index < hops.length; index++) {
    const one = hops[index]!;
    const isNext = isFree(one) && one.from === last && isOther(one.to, last);
    if (isNext && (one.to === sale.buyer || last !== signer())) last = one.to;
  }
  return last;
}

/** Who had the token at first. Routers get what they sell from somebody. */
function firstHolder({ hops, hop, isFree, signer }: Way): Hex {
  let first = hop.from;
  for (let index = hops.indexOf(hop) - 1; index >= 0; index--) {
    const one = hops[index]!;
    if (isFree(one) && one.to === first && isOther(one.from, first) && first !== signer()) first = one.from;
  }
  return first;
}

/** Whether `address` is another account than the holder. Minting and burning don't count. */
const isOther = (address: Hex, holder: Hex) => address !== zeroAddress && address !== holder;

/** Sorts sales in the order of the chain. */
export const comparePlaces = (a: Sale, b: Sale) => a.logIndex - b.logIndex || a.batchIndex - b.batchIndex;
