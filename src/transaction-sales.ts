import { type Hex, zeroAddress } from "viem";
import { MAX_TRANSACTION_HOPS } from "./limits.ts";
import { type Hop, keyOfToken, type Sale } from "./sale.ts";
import { type Fill, salesOfFill, salesOfMatch } from "./seaport.ts";
import {
  comparePlaces,
  findCarriers,
  MAX_SALES_TIMES_HOPS,
  type SettledSale,
  settleToken,
  type Signer,
  type SteppedSale,
} from "./settle.ts";
import { salesOfWindow, type WyvernMatch } from "./wyvern.ts";

/**
 * All that the logs of one transaction have said so far of sales and of the tokens that move in it.
 *
 * An exchange's log may come before or after the transfers that carry its sale, may be only one part of a match, and
 * names the contract that called the exchange where people buy through one. So a sale follows from all logs of its
 * transaction together. A token's sales are worked out anew with each log that says more of them.
 */
export type TransactionSales = {
  hops: Hop[];
  /** Undefined until the first step: without sales nobody needs it. */
  hopsByToken: Map<string, Hop[]> | undefined;
  stepCount: number;
  salesByToken: Map<string, SteppedSale[]>;
  /** Seaport fills that may still turn out to be part of a match. */
  openFills: { exchangeAddress: Hex; fill: Fill }[];
  /** The log index of the last Wyvern match: the next one's window begins behind it. */
  windowEnd: number;
  /**
   * The sales last written to the tables, by token. Undefined where they are worked out once, for the whole transaction
   * (`salesOf`).
   */
  settledByToken: Map<string, SettledSale[]> | undefined;
};

/** What one exchange's log says of sales. */
export type Step = { logIndex: number; exchangeAddress: Hex } & StepContent;

/** The content of a step, by kind. */
export type StepContent =
  | { kind: "sales"; sales: Sale[] }
  /**
   * An offer was accepted. If the log right before it sold a listing by the same transfer, the two were matched and are
   * one trade.
   */
  | { kind: "offer"; sale: Sale }
  /** Seaport's OrderFulfilled. */
  | { kind: "fill"; fill: Fill }
  /** Seaport's OrdersMatched: these fills were one trade. */
  | { kind: "match"; orderHashes: readonly Hex[] }
  /** Wyvern's OrdersMatched: it sold what moved since the one before it. */
  | { kind: "window"; match: WyvernMatch };

/** A change to the sales in the tables: `before` is replaced by `after`. Undefined: there is no such row. */
export type SaleChange = { before: SettledSale | undefined; after: SettledSale | undefined };

/**
 * How many hops of one token in one transaction count, and how many before a Wyvern match: each may be a sale. A contract
 * can log any number of them for next to nothing.
 */
const MAX_HOPS = 1_000;

/**
 * How many orders are taken for one match where no log says which belong together. All of them are paired up anew with
 * each order, so there is a limit. It is more than anybody matches; orders beyond it count as another match.
 */
const MAX_MATCHED = 200;

/** A transaction before its first log. */
export const createTransactionSales = (): TransactionSales => ({
  hops: [],
  hopsByToken: undefined,
  stepCount: 0,
  salesByToken: new Map(),
  openFills: [],
  windowEnd: -1,
  settledByToken: undefined,
});

/** Adds the movements of a log and returns how sales change by them. Nothing changes where nothing was sold. */
export function addHops(transactionSales: TransactionSales, movements: readonly Hop[], signer: Signer): SaleChange[] {
  const keys = new Set<string>();
  putHops(transactionSales, movements, (key) => keys.add(key));
  return settle(transactionSales, keys, signer);
}

/** Adds an exchange's log and returns how sales change by it. */
export function addStep(transactionSales: TransactionSales, step: Step, signer: Signer): SaleChange[] {
  return settle(transactionSales, putStep(transactionSales, step), signer);
}

/**
 * The sales of a transaction all of whose logs were put in by `putHops` and `putStep`. They are the same as those that
 * the changes of `addHops` and `addStep` lead to, but are worked out once and not with each log.
 */
export function salesOf({ salesByToken, hopsByToken }: TransactionSales, signer: Signer): SettledSale[] {
  const settled: SettledSale[] = [];
  for (const [key, sales] of salesByToken)
    for (const sale of settleToken(sales, { hops: hopsByToken?.get(key) ?? [], signer })) settled.push(sale);
  return settled;
}

/** Puts in the movements of a log. `onToken` gets the keys of tokens whose sales they may change. */
export function putHops(
  transactionSales: TransactionSales,
  movements: readonly Hop[],
  onToken?: (key: string) => void,
): void {
  for (const hop of movements) {
    if (transactionSales.hops.length === MAX_TRANSACTION_HOPS) return;
    transactionSales.hops.push(hop);
    const key = transactionSales.hopsByToken && indexHop(transactionSales.hopsByToken, hop);
    if (key && onToken && !wasCrowded(transactionSales, key)) onToken(key);
  }
}

/** Puts in an exchange's log. Returns the keys of tokens whose sales it changes. */
export function putStep(transactionSales: TransactionSales, step: Step): Set<string> {
  transactionSales.stepCount++;
  if (!transactionSales.hopsByToken) {
    transactionSales.hopsByToken = new Map();
    for (const hop of transactionSales.hops) indexHop(transactionSales.hopsByToken, hop);
  }
  const keys = new Set<string>();
  const put = (sales: readonly Sale[]) => {
    for (const sale of sales) {
      const key = keyOfToken(sale);
      append(transactionSales.salesByToken, key, { sale, exchangeAddress: step.exchangeAddress });
      keys.add(key);
    }
  };
  const remove = (fills: readonly Fill[]) => {
    const logIndexes = new Set(fills.map(({ logIndex }) => logIndex));
    for (const [key, sales] of transactionSales.salesByToken) {
      const left = sales.filter(({ sale }) => !logIndexes.has(sale.logIndex));
      if (left.length === sales.length) continue;
      transactionSales.salesByToken.set(key, left);
      keys.add(key);
    }
  };

  switch (step.kind) {
    case "sales":
      put(step.sales);
      break;
    case "offer": {
      const key = keyOfToken(step.sale);
      const others = transactionSales.salesByToken.get(key)?.filter((other) => !isMatchOf(other, step));
      if (others) transactionSales.salesByToken.set(key, others);
      put([step.sale]);
      break;
    }
    case "fill": {
      transactionSales.openFills.push({ exchangeAddress: step.exchangeAddress, fill: step.fill });
      // Version 1.1 has no OrdersMatched: an order without a recipient is part of a match.
      if (step.fill.recipient !== zeroAddress) put(salesOfFill(step.fill, step));
      else {
        const matched = openFillsOf(transactionSales, step.exchangeAddress).filter(
          ({ recipient }) => recipient === zeroAddress,
        );
        remove(matched);
        put(salesOfMatch(matched, step));
        if (matched.length === MAX_MATCHED) closeFills(transactionSales, matched);
      }
      break;
    }
    case "match": {
      const fills = takeFills(transactionSales, step);
      remove(fills);
      put(salesOfMatch(fills, step));
      break;
    }
    case "window": {
      const hops = transactionSales.hops
        .filter(({ logIndex }) => logIndex > transactionSales.windowEnd && logIndex < step.logIndex)
        .slice(-MAX_HOPS);
      transactionSales.windowEnd = step.logIndex;
      put(salesOfWindow(hops, { ...step, soldElsewhere: listSoldElsewhere(transactionSales, hops, step) }));
    }
  }
  return keys;
}

/** Whether a listing and an offer are one trade: both name the same people, and nothing moved between their logs. */
const isMatchOf = ({ sale, exchangeAddress }: SteppedSale, offer: Step & { kind: "offer" }) =>
  exchangeAddress === offer.exchangeAddress &&
  sale.logIndex === offer.logIndex - 1 &&
  sale.seller === offer.sale.seller &&
  sale.buyer === offer.sale.buyer;

const openFillsOf = ({ openFills }: TransactionSales, exchangeAddress: Hex): Fill[] =>
  openFills.filter((open) => open.exchangeAddress === exchangeAddress).map(({ fill }) => fill);

function closeFills(transactionSales: TransactionSales, fills: readonly Fill[]): void {
  const closed = new Set(fills);
  transactionSales.openFills = transactionSales.openFills.filter(({ fill }) => !closed.has(fill));
}

/** Takes the fills of a match out of the open ones: the last ones of its exchange with these hashes in this order. */
function takeFills(
  transactionSales: TransactionSales,
  { exchangeAddress, orderHashes }: { exchangeAddress: Hex; orderHashes: readonly Hex[] },
): Fill[] {
  const known = new Set(openFillsOf(transactionSales, exchangeAddress).map(({ orderHash }) => orderHash));
  const hashes = orderHashes.filter((hash) => known.has(hash));
  const taken: Fill[] = [];
  for (let index = transactionSales.openFills.length - 1; index >= 0 && hashes.length > 0; index--) {
    const open = transactionSales.openFills[index]!;
    if (open.exchangeAddress !== exchangeAddress || open.fill.orderHash !== hashes.at(-1)) continue;
    hashes.pop();
    transactionSales.openFills.splice(index, 1);
    taken.unshift(open.fill);
  }
  return taken;
}

/** Those of these hops that carry what other exchanges had sold before this log. */
function listSoldElsewhere(
  { salesByToken, hopsByToken }: TransactionSales,
  hops: readonly Hop[],
  { logIndex: end }: Step,
): ReadonlySet<Hop | undefined> {
  const sold = [...new Set(hops.map(keyOfToken))].flatMap((key) => {
    const sales = salesByToken.get(key)?.filter(({ sale }) => sale.marketplace !== "wyvern") ?? [];
    const ofToken = sales.length > 0 ? hopsByToken!.get(key)!.filter(({ logIndex }) => logIndex < end) : [];
    return sales.length * ofToken.length > MAX_SALES_TIMES_HOPS ? [] : findCarriers(sales, ofToken);
  });
  return new Set(sold);
}

/** Works out the sales of these tokens anew and returns what changes. */
function settle(transactionSales: TransactionSales, keys: ReadonlySet<string>, signer: Signer): SaleChange[] {
  const changes = [...keys].flatMap((key) => {
    const sales = transactionSales.salesByToken.get(key);
    if (!sales) return [];
    transactionSales.settledByToken ??= new Map();
    const before = transactionSales.settledByToken.get(key) ?? [];
    const after = settleToken(sales, { hops: transactionSales.hopsByToken!.get(key) ?? [], signer });
    transactionSales.settledByToken.set(key, after);
    return changesBetween(before, after);
  });
  // Removals first: a match may give one token's sale the place that another token's sale had.
  return changes.toSorted((a, b) => Number(isRemoval(b)) - Number(isRemoval(a)));
}

const isRemoval = ({ after }: SaleChange) => after === undefined;

/** What changes for one token. Both lists are in the order of the chain. */
function changesBetween(before: readonly SettledSale[], after: readonly SettledSale[]): SaleChange[] {
  const changes: SaleChange[] = [];
  let next = 0;
  for (const sale of after) {
    for (; next < before.length && comparePlaces(before[next]!, sale) < 0; next++)
      changes.push({ before: before[next], after: undefined });
    const old = next < before.length && comparePlaces(before[next]!, sale) === 0 ? before[next++] : undefined;
    if (!old || !isSameSale(old, sale)) changes.push({ before: old, after: sale });
  }
  for (; next < before.length; next++) changes.push({ before: before[next], after: undefined });
  return changes;
}

/** Adds a hop to its token's list. Returns the token's key, undefined where the token has `MAX_HOPS` already. */
function indexHop(hopsByToken: Map<string, Hop[]>, hop: Hop): string | undefined {
  const key = keyOfToken(hop);
  if ((hopsByToken.get(key)?.length ?? 0) >= MAX_HOPS) return undefined;
  append(hopsByToken, key, hop);
  return key;
}

/** Whether the token's sales times its hops were above the limit before its last hop: then that hop changes nothing. */
const wasCrowded = ({ salesByToken, hopsByToken }: TransactionSales, key: string) =>
  (salesByToken.get(key)?.length ?? 0) * (hopsByToken!.get(key)!.length - 1) > MAX_SALES_TIMES_HOPS;

function append<V>(map: Map<string, V[]>, key: string, value: V): void {
  const list = map.get(key);
  if (list) list.push(value);
  else map.set(key, [value]);
}

const isSameSale = (a: SettledSale, b: SettledSale) =>
  a === b || (Object.keys(a) as (keyof SettledSale)[]).every((name) => a[name] === b[name]);
