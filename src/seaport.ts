import { type Hex, zeroAddress } from "viem";
import { isNft } from "../abis/seaport-order.ts";
import { firstOther, type Item, keyOfToken, noPrice, type Price, priceOf, type Sale, splitPrice } from "./sale.ts";

/** Reads sales from Seaport's logs alone. Source: the Seaport documentation and contracts, versions 1.1 to 1.6. */

/** What moved of an item of an offer. `itemType`: 0 is the chain's own currency, 1 ERC-20, 2 ERC-721, 3 ERC-1155. */
export type SpentItem = { itemType: number; token: Hex; identifier: bigint; amount: bigint };
/** What moved of an item of a consideration, and to whom. */
export type ReceivedItem = SpentItem & { recipient: Hex };

/** One OrderFulfilled. Its items have the amounts that really moved, and the contracts whose tokens did. */
export type Fill = {
  logIndex: number;
  orderHash: Hex;
  offerer: Hex;
  recipient: Hex;
  offer: readonly SpentItem[];
  consideration: readonly ReceivedItem[];
};

/** The arguments of an OrderFulfilled as a fill. */
export const fillOf = (
  { orderHash, offerer, recipient, offer, consideration }: Omit<Fill, "logIndex">,
  { logIndex }: { logIndex: number },
): Fill => ({ logIndex, orderHash, offerer, recipient, offer, consideration });

type Nft = Item & { recipient: Hex };
type Coin = { currency: Hex; amount: bigint; recipient: Hex };

/** The sales of an order that was filled by itself: a listing bought, an offer accepted, a barter. */
export function salesOfFill(fill: Fill, { exchangeAddress }: { exchangeAddress: Hex }): Sale[] {
  const { offered, paid, wanted, asked } = sidesOf(fill);
  const { offerer, recipient } = fill;
  const shared = { fill, exchangeAddress, fees: asked };

  if (offered.length === 0) {
    const price = priceOffered({ paid, asked }, { bidder: offerer });
    return createSales(wanted, price, { ...shared, seller: recipient, isOffer: true });
  }
  if (isReturned(offered, wanted)) {
    // A private listing asks for its own token, too: the recipient of that is the buyer.
    const takers = new Map(wanted.toReversed().map((nft) => [keyOfToken(nft), nft.recipient]));
    const items = offered.map((nft) => ({ ...nft, recipient: takers.get(keyOfToken(nft)) ?? recipient }));
    return createSales(items, priceAsked({ paid, asked }), { ...shared, seller: offerer, isOffer: false });
  }
  const given = offered.map((nft) => ({ ...nft, recipient }));
  const firstIndex = given.length;
  return [
    ...createSales(given, noPrice("barter"), { ...shared, seller: offerer, isOffer: false }),
    ...createSales(wanted, noPrice("barter"), { ...shared, seller: recipient, isOffer: true, firstIndex }),
  ];
}

/**
 * The sales of orders that were filled against each other: one for each token offered, split where several orders buy
 * units of it. A bidder's order has the full price; the order that answers it shows what is left after fees.
 */
export function salesOfMatch(fills: readonly Fill[], { exchangeAddress }: { exchangeAddress: Hex }): Sale[] {
  const orders = fills.map((fill) => ({ ...sidesOf(fill), fill }));
  const pairs = pairUp(orders);
  const sold = [...Map.groupBy(pairs, ({ selling }) => selling)];
  const own = new Map(sold.flatMap(([selling, its]) => pricesAsked(selling, its)));
  const bought = [...Map.groupBy(pairs, ({ buying }) => buying)];
  const rests = restsOf(orders);
  const prices = new Map(bought.flatMap(([buying, its]) => pricesPaid(buying, its, { own, rests })));
  const counts = new Map<Order, number>();
  return pairs.flatMap((pair) => {
    const { selling, buying, nft, buyer } = pair;
    const batchIndex = counts.get(selling) ?? 0;
    counts.set(selling, batchIndex + 1);
    const isAnswered = buying !== undefined && buying !== selling;
    // What the bidder gets back of his own money is no fee.
    const ofOffer = isAnswered ? buying.asked.filter(({ recipient }) => recipient !== buying.fill.offerer) : [];
    const ofListing = selling.asked;
    // Whoever matches two orders answers one of them with his own, and gets the rest of the money. Otherwise the maker of
    // an order names fees, and whoever answers it names none.
    const isAnswer = ({ fill }: Order) => fill.offerer === fill.recipient;
    const byFees = ofOffer.length > 0 || (ofListing.length > 1 ? false : null);
    // An order that offers the chain's own currency is no maker's: whoever matches pays it.
    const isAccepted = isAnswered && !buying.paid.some(({ currency }) => currency === zeroAddress);
    const isOffer = isAccepted && (isAnswer(selling) === isAnswer(buying) ? byFees : isAnswer(selling));
    const price = prices.get(pair)!;
    const fees = [...ofOffer, ...ofListing];
    const seller = selling.fill.offerer;
    const isBuyersPrice = isAnswered && buying.paid.length > 0;
    const options = {
      fill: selling.fill,
      exchangeAddress,
      seller,
      fees,
      isOffer,
      isBuyersPrice,
      firstIndex: batchIndex,
    };
    return createSales([{ ...nft, recipient: buyer }], price, options);
  });
}

/**
 * How many units of its token a fill took off its order. A listing offers the token, an offer asks for it. An order
 * whose terms we can read has only one such item, the first: others are gifts that whoever filled it added behind.
 */
export function countUnits({ offer, consideration }: Fill): bigint {
  return (offer.find(isNft) ?? consideration.find(isNft))?.amount ?? 0n;
}

/**
 * A fill with what a listing asked for, without what its buyer added for others. Where the listing's terms are known,
 * that is the money in its currency and, of a private listing, its own token. Where they aren't, no log tells what was
 * added, and all is returned.
 */
export function withoutTips(
  fill: Fill,
  order: { side: string | null; currency_address: Hex | null; taker: Hex | null } | null,
): Fill {
  if (order?.side !== "listing") return fill;
  const again = order.taker === null ? undefined : fill.consideration.find(isNft);
  const consideration = fill.consideration.filter((item) =>
    isNft(item) ? item === again : toCoin(item, item.recipient).currency === order.currency_address,
  );
  return { ...fill, consideration };
}

/** Units of one token that go from an order which offers them to one which asks for them, if any does. */
type Pair = { selling: Order; buying: Order | undefined; nft: Item; buyer: Hex };

/** An order of a match, with its items sorted by side. */
type Order = Sides & { fill: Fill };

function pairUp(orders: readonly Order[]): Pair[] {
  const wants = orders.flatMap((order) => order.wanted.map((nft) => ({ order, nft, left: nft.quantity })));
  const wantsByToken = Map.groupBy(wants, ({ nft }) => keyOfToken(nft));
  // How many orders that ask for a token, in their order, have all of their units already.
  const metByToken = new Map<string, number>();
  return orders.flatMap((selling) =>
    selling.offered.flatMap((nft) => {
      const pairs: Pair[] = [];
      let left = nft.quantity;
      const key = keyOfToken(nft);
      const open = wantsByToken.get(key) ?? [];
      let met = metByToken.get(key) ?? 0;
      for (; met < open.length; met++) {
        const want = open[met]!;
        const quantity = left < want.left ? left : want.left;
        if (quantity > 0n)
          pairs.push({ selling, buying: want.order, nft: { ...nft, quantity }, buyer: want.nft.recipient });
        left -= quantity;
        want.left -= quantity;
        if (want.left > 0n) break;
      }
      metByToken.set(key, met);
      // What no order asks for goes to whoever is named for the rest. Version 1.1 names nobody: the fill that asks for
      // it is still to come.
      const { recipient } = selling.fill;
      if (left > 0n && recipient !== zeroAddress)
        pairs.push({ selling, buying: undefined, nft: { ...nft, quantity: left }, buyer: recipient });
      return pairs;
    }),
  );
}

/** The prices of what one order sold: its asking price, split by units. */
function pricesAsked({ offered, paid, wanted, asked }: Order, pairs: readonly Pair[]): PairPrice[] {
  return shareOut(isReturned(offered, wanted) ? priceAsked({ paid, asked }) : noPrice("barter"), pairs);
}

/** Money of one currency that nobody asks for in a match, and how many orders offer any. */
type Rest = { amount: bigint; payers: number };

function restsOf(orders: readonly Order[]): ReadonlyMap<Hex, Rest> {
  const rests = new Map<Hex, Rest>();
  const add = (currency: Hex, amount: bigint, payers: number) => {
    const rest = rests.get(currency) ?? { amount: 0n, payers: 0 };
    rests.set(currency, { amount: rest.amount + amount, payers: rest.payers + payers });
  };
  for (const { paid, asked } of orders) {
    for (const { currency, amount } of paid) add(currency, amount, 0);
    for (const { currency, amount } of asked) add(currency, -amount, 0);
    for (const currency of new Set(paid.map((coin) => coin.currency))) add(currency, 0n, 1);
  }
  return rests;
}

/** The prices of what one order bought. `own`: the prices that the sellers asked. */
function pricesPaid(
  buying: Order | undefined,
  pairs: readonly Pair[],
  { own, rests }: { own: ReadonlyMap<Pair, Price>; rests: ReadonlyMap<Hex, Rest> },
): PairPrice[] {
  const asked = pairs.map((pair): PairPrice => [pair, own.get(pair)!]);
  if (!buying || pairs.every(({ selling }) => selling === buying)) return asked;
  const { paid, offered } = buying;
  if (offered.length > 0) return shareOut(noPrice("barter"), pairs);
  if (paid.length === 0) return asked;
  const total = withoutRest(buying, priceOffered(buying, { bidder: buying.fill.offerer }), rests);
  // Several listings bought with one order: where their asking prices add up to what it pays, each has its own price.
  const parts = new Set(pairs.map(({ selling }) => selling)).size > 1 ? asked.map(([, price]) => price) : [];
  const isExact =
    parts.length > 0 &&
    parts.every(({ price, currency }) => price !== null && currency === total.currency) &&
    parts.reduce((sum, { price }) => sum + price!, 0n) === total.price;
  return isExact ? asked : shareOut(total, pairs);
}

/** What nobody asks for goes to whoever is named for the rest, and version 1.1 leaves it where it is: a bidder's own isn't paid. */
function withoutRest({ fill }: Order, total: Price, rests: ReadonlyMap<Hex, Rest>): Price {
  const { offerer, recipient } = fill;
  const rest = total.currency && rests.get(total.currency);
  if (!rest || rest.amount <= 0n || (recipient !== offerer && recipient !== zeroAddress)) return total;
  // Whose of several offers it is, no log says.
  return rest.payers === 1 ? priceOf(total.price! - rest.amount, total.currency!) : noPrice("unknown bid");
}

type PairPrice = readonly [Pair, Price];

/** Splits one price among pairs, by units. */
function shareOut(total: Price, pairs: readonly Pair[]): PairPrice[] {
  const shares = splitPrice(
    total,
    pairs.map(({ nft }) => nft),
  );
  return pairs.map((pair, index) => [pair, shares[index]!]);
}

type SaleOptions = {
  fill: Fill;
  exchangeAddress: Hex;
  seller: Hex;
  fees: readonly Coin[];
  isOffer: Sale["isOffer"];
  isBuyersPrice?: boolean;
  /** The batch index of the first sale. */
  firstIndex?: number;
};

/** The sales of tokens for one total price, each to its token's recipient. */
function createSales(
  nfts: readonly Nft[],
  total: Price,
  { fill: { logIndex, offerer }, exchangeAddress, seller, fees, isOffer, isBuyersPrice, firstIndex = 0 }: SaleOptions,
): Sale[] {
  const prices = splitPrice(total, nfts);
  const recipients = fees.map(({ recipient }) => recipient);
  const broker = firstOther(recipients, { except: [seller, offerer], otherwise: exchangeAddress });
  return nfts.map((nft, index) => {
    const { price, currency, note } = prices[index]!;
    return {
      price,
      currency,
      note,
      logIndex,
      batchIndex: firstIndex + index,
      marketplace: "seaport" as const,
      contractAddress: nft.contractAddress,
      tokenId: nft.tokenId,
      quantity: nft.quantity,
      seller,
      buyer: nft.recipient,
      broker,
      isOffer,
      ...(isBuyersPrice && { isBuyersPrice }),
    };
  });
}

/**
 * An order's items. `offered`: tokens and `paid`: money that its maker gives; `wanted`: tokens and `asked`: money that
 * is given for them.
 */
type Sides = { offered: Nft[]; paid: Coin[]; wanted: Nft[]; asked: Coin[] };

function sidesOf({ offer, consideration }: Fill): Sides {
  const sides: Sides = { offered: [], paid: [], wanted: [], asked: [] };
  for (const item of offer.filter(isSome))
    if (isNft(item)) sides.offered.push(toNft(item, zeroAddress));
    else sides.paid.push(toCoin(item, zeroAddress));
  for (const item of consideration.filter(isSome))
    if (isNft(item)) sides.wanted.push(toNft(item, item.recipient));
    else sides.asked.push(toCoin(item, item.recipient));
  return sides;
}

/**
 * An item with an amount of 0 is no part of the trade: whoever fills an order may add any token or currency that way.
 */
const isSome = ({ amount }: SpentItem) => amount > 0n;

const toNft = ({ token, identifier, amount }: SpentItem, recipient: Hex): Nft => ({
  contractAddress: token,
  tokenId: identifier,
  quantity: amount,
  recipient,
});

const toCoin = ({ itemType, token, amount }: SpentItem, recipient: Hex): Coin => ({
  currency: itemType === 0 ? zeroAddress : token,
  amount,
  recipient,
});

/** The price that is asked for tokens. Where money is offered together with the tokens, there is no single price. */
const priceAsked = ({ paid, asked }: Pick<Sides, "paid" | "asked">): Price =>
  paid.length > 0 ? noPrice("several currencies") : sum(asked);

/**
 * The price that is offered for tokens: all that the bidder pays. What others get comes out of that, or out of the
 * seller's pocket. Only where the bidder himself gets back another currency, there is no single price.
 */
function priceOffered({ paid, asked }: Pick<Sides, "paid" | "asked">, { bidder }: { bidder: Hex }): Price {
  const isPaidBack = asked.some(({ currency, recipient }) => recipient === bidder && currency !== paid[0]?.currency);
  return paid.length > 0 && isPaidBack ? noPrice("several currencies") : sum(paid);
}

function sum(coins: readonly Coin[]): Price {
  const [first] = coins;
  if (!first) return priceOf(0n, zeroAddress);
  if (!isOneCurrency(coins)) return noPrice("several currencies");
  return priceOf(
    coins.reduce((total, { amount }) => total + amount, 0n),
    first.currency,
  );
}

const isOneCurrency = (coins: readonly Coin[]) => coins.every(({ currency }) => currency === coins[0]!.currency);

/** Whether an order asks for no other tokens than those that it offers. */
function isReturned(offered: readonly Nft[], wanted: readonly Nft[]): boolean {
  const keys = new Set(offered.map(keyOfToken));
  return wanted.every((nft) => keys.has(keyOfToken(nft)));
}
