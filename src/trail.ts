import { type Hex, zeroAddress } from "viem";
import { type Fill, salesOfFill, salesOfMatch } from "./seaport.ts";
import { type Hop, keyOfToken, type Sale } from "./sale.ts";
import { goodsOf, type WyvernMatch } from "./wyvern.ts";

/**
 * What one transaction has said so far of sales and of the tokens that move in it.
 *
 * An exchange's log comes before or after the transfers that carry its sale, may be one part of a match, and names the
 * contract that called the exchange where people buy through one. So a sale is what all logs of its transaction say
 * together, worked out anew for a token with each log that says more of it.
 */
export type Trail = {
  hops: Hop[];
  /** From the first sale on: until then nobody asks. */
  hopsByToken: Map<string, Hop[]> | undefined;
  stepCount: number;
  salesByToken: Map<string, SteppedSale[]>;
  /** Fills that may yet turn out to be part of a match, by exchange. */
  openFills: Map<Hex, Fill[]>;
  lastWindow: Map<Hex, number>;
  /** What is in the tables now, by token. */
  settledByToken: Map<string, SettledSale[]>;
};

/** What an exchange's log says of a sale. */
export type Step = { logIndex: number; exchange: Hex } & StepContent;

/** Who signed the transaction. It is asked for only where a token moves on, or has moved before: see `settleToken`. */
export type Signer = () => Hex;

export type StepContent =
  | { kind: "sales"; sales: Sale[] }
  /** Seaport's OrderFulfilled. */
  | { kind: "fill"; fill: Fill }
  /** Seaport's OrdersMatched: these fills were one trade. */
  | { kind: "match"; orderHashes: readonly Hex[] }
  /** Wyvern's OrdersMatched: what moved since the last one is what was sold. */
  | { kind: "window"; match: WyvernMatch };

type SteppedSale = Sale & { exchangeAddress: Hex };

/** A sale with people in it. */
export type SettledSale = Sale & { seller: Hex; buyer: Hex };

/** What is to be done to the tables. */
export type SaleChange = { before: SettledSale | undefined; after: SettledSale | undefined };

/** Hops of one token in one transaction that count: a contract can write any number of them for next to nothing. */
const MAX_HOPS = 1_000;

export const newTrail = (): Trail => ({
  hops: [],
  hopsByToken: undefined,
  stepCount: 0,
  salesByToken: new Map(),
  openFills: new Map(),
  lastWindow: new Map(),
  settledByToken: new Map(),
});

/** Adds the movements of a log. Without sales in the transaction nothing comes of it. */
export function addHops(trail: Trail, movements: readonly Hop[], signer: Signer): SaleChange[] {
  return settle(trail, putHops(trail, movements), signer);
}

/** Adds an exchange's log. */
export function addStep(trail: Trail, step: Step, signer: Signer): SaleChange[] {
  return settle(trail, putStep(trail, step), signer);
}

/**
 * The sales of a transaction that was put in whole: the same that all changes come to where each log is added by itself.
 * What a log says is worked out once, not with each log after it.
 */
export function salesOf({ salesByToken, hopsByToken }: Trail, signer: Signer): SettledSale[] {
  return [...salesByToken].flatMap(([key, sales]) => settleToken(sales, { hops: hopsByToken?.get(key) ?? [], signer }));
}

/** Puts the movements of a log in. Returns the tokens of whose sales they may say more. */
export function putHops(trail: Trail, movements: readonly Hop[]): string[] {
  for (const movement of movements) trail.hops.push(movement);
  if (!trail.hopsByToken) return [];
  return movements.filter((movement) => indexHop(trail.hopsByToken!, movement)).map(keyOfToken);
}

/** Puts an exchange's log in. Returns the tokens of whose sales it says more. */
export function putStep(trail: Trail, step: Step): Set<string> {
  trail.stepCount++;
  if (!trail.hopsByToken) {
    trail.hopsByToken = new Map();
    for (const hop of trail.hops) indexHop(trail.hopsByToken, hop);
  }
  const keys = new Set<string>();
  const put = (sales: readonly Sale[]) => {
    for (const sale of sales) {
      const key = keyOfToken(sale);
      listAt(trail.salesByToken, key).push({ ...sale, exchangeAddress: step.exchange });
      keys.add(key);
    }
  };
  const remove = (fills: readonly Fill[]) => {
    const logIndexes = new Set(fills.map(({ logIndex }) => logIndex));
    for (const [key, sales] of trail.salesByToken) {
      const left = sales.filter(({ logIndex }) => !logIndexes.has(logIndex));
      if (left.length === sales.length) continue;
      trail.salesByToken.set(key, left);
      keys.add(key);
    }
  };

  switch (step.kind) {
    case "sales":
      put(step.sales);
      break;
    case "fill": {
      const open = listAt(trail.openFills, step.exchange);
      open.push(step.fill);
      // Version 1.1 has no OrdersMatched: nobody as the recipient marks a match.
      if (step.fill.recipient !== zeroAddress) put(salesOfFill(step.fill, step));
      else {
        const matched = open.filter(({ recipient }) => recipient === zeroAddress);
        remove(matched);
        put(salesOfMatch(matched, step));
      }
      break;
    }
    case "match": {
      const fills = takeFills(listAt(trail.openFills, step.exchange), step.orderHashes);
      remove(fills);
      put(salesOfMatch(fills, step));
      break;
    }
    case "window": {
      const from = trail.lastWindow.get(step.exchange) ?? -1;
      trail.lastWindow.set(step.exchange, step.logIndex);
      put(
        goodsOf(
          trail.hops.filter(({ logIndex }) => logIndex > from && logIndex < step.logIndex),
          step,
        ),
      );
    }
  }
  return keys;
}

/** Takes the fills of a match out: the last ones with these hashes in this order. */
function takeFills(open: Fill[], orderHashes: readonly Hex[]): Fill[] {
  const hashes = orderHashes.filter((hash) => open.some(({ orderHash }) => orderHash === hash));
  const taken: Fill[] = [];
  for (let index = open.length - 1; index >= 0 && hashes.length > 0; index--) {
    if (open[index]!.orderHash !== hashes.at(-1)) continue;
    hashes.pop();
    taken.unshift(...open.splice(index, 1));
  }
  return taken;
}

/** Works out the sales of these tokens and says what differs from before. */
function settle(trail: Trail, keys: Iterable<string>, signer: Signer): SaleChange[] {
  return [...new Set(keys)].flatMap((key) => {
    const sales = trail.salesByToken.get(key);
    if (!sales) return [];
    const before = trail.settledByToken.get(key) ?? [];
    const after = settleToken(sales, { hops: trail.hopsByToken!.get(key) ?? [], signer });
    trail.settledByToken.set(key, after);
    const left = before.filter((sale) => !after.some((one) => isSamePlace(one, sale)));
    return [
      ...left.map((sale) => ({ before: sale, after: undefined })),
      ...after
        .map((sale) => ({ before: before.find((one) => isSamePlace(one, sale)), after: sale }))
        .filter(({ before, after }) => !before || !isSameSale(before, after)),
    ];
  });
}

/**
 * The sales of one token, each with the people at the ends of its way. A sale without a transfer of its token isn't one
 * yet, unless the exchange may keep the token, and one for nothing is a gift. Of a token that moved once, its transfer
 * says all: nobody asks for the signer.
 */
function settleToken(
  sales: readonly SteppedSale[],
  { hops, signer }: { hops: readonly Hop[]; signer: Signer },
): SettledSale[] {
  const ordered = sales
    .filter(({ price }) => price !== 0n)
    .toSorted((a, b) => a.logIndex - b.logIndex || a.batchIndex - b.batchIndex);
  const carried = new Set<Hop>();
  const carriers = ordered.map((sale) => {
    const hop = findCarrier(sale, { hops, carried });
    if (hop) carried.add(hop);
    return hop;
  });
  return ordered.flatMap(({ exchangeAddress, ...sale }, index) => {
    const hop = carriers[index];
    if (!hop) return sale.isInEscrow && sale.seller && sale.buyer ? [sale as SettledSale] : [];
    const place = hops.indexOf(hop);
    const isFree = (one: Hop) => !carried.has(one) && one.quantity >= sale.quantity;
    // Held by the market while it is for sale, or made for the buyer: only the exchange knows who sells.
    const isOfSeller = hop.from !== zeroAddress && hop.from !== exchangeAddress;
    const before = hops.slice(0, place).filter(isFree).toReversed();
    const seller = isOfSeller || !sale.seller ? firstHolder(hop.from, before, signer) : sale.seller;
    return [{ ...sale, seller, buyer: lastHolder(hop.to, hops.slice(place + 1).filter(isFree), signer) }];
  });
}

/** The transfer that carries a sale: from its seller to its buyer, as far as the log knows them. */
function findCarrier(
  sale: SteppedSale,
  { hops, carried }: { hops: readonly Hop[]; carried: ReadonlySet<Hop> },
): Hop | undefined {
  let best: { hop: Hop; score: number } | undefined;
  for (const hop of hops) {
    if (sale.isInEscrow && (hop.from !== sale.exchangeAddress || hop.to !== sale.buyer)) continue;
    const isFromSeller = !sale.seller || [sale.seller, zeroAddress, sale.exchangeAddress].includes(hop.from);
    const isToBuyer = !sale.buyer || hop.to === sale.buyer;
    if (!isFromSeller && !isToBuyer) continue;
    const score =
      (isFromSeller && isToBuyer ? 4 : 0) + (carried.has(hop) ? 0 : 2) + (hop.quantity === sale.quantity ? 1 : 0);
    if (!best || score > best.score) best = { hop, score };
  }
  return best?.hop;
}

/** Who had it in the end: routers pass on what they buy. Whoever signed the transaction buys for himself. */
function lastHolder(holder: Hex, hops: readonly Hop[], signer: Signer): Hex {
  let last = holder;
  for (const { from, to } of hops) if (from === last && isOther(to, last) && last !== signer()) last = to;
  return last;
}

/** Who had it at first: routers take what they sell from somebody. `hops` from the last to the first. */
function firstHolder(holder: Hex, hops: readonly Hop[], signer: Signer): Hex {
  let first = holder;
  for (const { from, to } of hops) if (to === first && isOther(from, first) && first !== signer()) first = from;
  return first;
}

/** Somebody else: what is sent to oneself stays where it is. */
const isOther = (address: Hex, holder: Hex) => address !== zeroAddress && address !== holder;

function indexHop(hopsByToken: Map<string, Hop[]>, hop: Hop): boolean {
  const hops = listAt(hopsByToken, keyOfToken(hop));
  if (hops.length >= MAX_HOPS) return false;
  hops.push(hop);
  return true;
}

function listAt<K, V>(map: Map<K, V[]>, key: K): V[] {
  const list = map.get(key) ?? [];
  if (list.length === 0) map.set(key, list);
  return list;
}

const isSamePlace = (a: Sale, b: Sale) => a.logIndex === b.logIndex && a.batchIndex === b.batchIndex;

const isSameSale = (a: SettledSale, b: SettledSale) =>
  (Object.keys(a) as (keyof SettledSale)[]).every((name) => a[name] === b[name]);
