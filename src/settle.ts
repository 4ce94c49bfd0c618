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
  const ways = ordered.map(({ sale, exchangeAddress }, index): Way => {
    const hop = carriers[index];
    const isLess = sale.isAtMost && hop && hop.quantity < sale.quantity;
    return { sale, exchangeAddress, hop, quantity: isLess ? hop.quantity : sale.quantity };
  });
  // The market held the token while it was for sale, or the token was minted for the buyer: only the log knows the
  // seller. Routers take orders, they don't make them: an order's maker trades for himself, wherever the token came from
  // before or goes afterwards.
  const isLogsSeller = ({ sale: { seller, isOffer, holder }, exchangeAddress, hop }: CarriedWay) =>
    seller !== null &&
    (hop.from === zeroAddress ||
      hop.from === (holder ?? exchangeAddress) ||
      (isOffer === false && hop.from === seller));
  const isLogsBuyer = ({ sale: { buyer, isOffer }, hop }: CarriedWay) => isOffer === true && hop.to === buyer;
  const carriedWays = ways.filter(isCarried);
  const carried = new Set(carriers);
  const firsts = findHolders(
    carriedWays.filter((way) => !isLogsSeller(way)),
    { hops, carried, signer, isForward: false },
  );
  const lasts = findHolders(
    carriedWays.filter((way) => !isLogsBuyer(way)),
    { hops, carried, signer, isForward: true },
  );
  return ways.flatMap((way): SettledSale[] => {
    const { sale, quantity } = way;
    if (!isCarried(way)) return sale.isInEscrow && isNamed(sale) ? [sale] : [];
    return [{ ...sale, quantity, seller: firsts.get(way) ?? sale.seller!, buyer: lasts.get(way) ?? way.hop.to }];
  });
}

/** A sale, how many units of it moved, and the transfer that carries it, if any. */
type Way = SteppedSale & { hop: Hop | undefined; quantity: bigint };
type CarriedWay = Way & { hop: Hop };

const isCarried = (way: Way): way is CarriedWay => way.hop !== undefined;

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
    if (!isToBuyer && (!isFromSeller || sale.isBuyersPrice)) continue;
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

/**
 * Who had the units of each sale in the end, or at first. Routers pass on what they buy, and get what they sell from
 * somebody; whoever signed the transaction trades for himself, unless he passes the token on to the buyer whom the log
 * names, as where he pays for a private listing. That buyer is a router where the signer has the token from him. A way
 * ends where it meets another sale: who sells on has bought for himself. Units go the ways of units that came before
 * them, each only once.
 */
function findHolders(
  ways: readonly CarriedWay[],
  options: { hops: readonly Hop[]; carried: ReadonlySet<Hop | undefined>; signer: Signer; isForward: boolean },
): Map<Way, Hex> {
  const { carried, signer, isForward } = options;
  const hops = isForward ? options.hops : options.hops.toReversed();
  const places = new Map(hops.map((hop, index) => [hop, index]));
  const left = hops.map(({ quantity }) => quantity);
  const holders = new Map<Way, Hex>();
  for (const way of ways.toSorted((a, b) => places.get(a.hop)! - places.get(b.hop)!)) {
    const { sale, hop, quantity } = way;
    let holder = isForward ? hop.to : hop.from;
    for (let index = places.get(hop)! + 1; index < hops.length; index++) {
      const one = hops[index]!;
      const [near, far] = isForward ? [one.from, one.to] : [one.to, one.from];
      if (near !== holder || !isOther(far, holder) || left[index]! < quantity) continue;
      const isOfAnother = carried.has(one);
      if (!isOfAnother && !(isForward && far === sale.buyer && hop.to !== far) && holder === signer()) continue;
      left[index]! -= quantity;
      if (isOfAnother) break;
      holder = far;
    }
    holders.set(way, holder);
  }
  return holders;
}

/** Whether `address` is another account than the holder. Minting and burning don't count. */
const isOther = (address: Hex, holder: Hex) => address !== zeroAddress && address !== holder;

/** Sorts sales in the order of the chain. */
export const comparePlaces = (a: Sale, b: Sale) => a.logIndex - b.logIndex || a.batchIndex - b.batchIndex;
