import { Buffer } from "node:buffer";
import { zeroAddress } from "viem";
import { NATIVE_TYPE } from "../../abis/seaport-order.ts";
import { type CopyBuffer, fieldOf, putBoolean, putBytes, putField, putNull, putWordNumeric } from "./copy-buffer.ts";
import { createMovementView } from "../fold/movement-record.ts";
import { MAX_TRANSACTION_HOPS } from "../../src/limits.ts";
import { countHops, hopPlaceOf } from "./hops.ts";
import { ASKED_WORDS, ITEM, type PlainFill } from "./plain-fill.ts";
import { BATCH, type Plan } from "./plan.ts";
import { putMoveColumns, SEAPORT } from "./recorder.ts";
import { ADDRESS_AT, ADDRESS_BYTES, smallWord, WORD_BYTES } from "../word.ts";

/**
 * The sale of a plain fill whose token moved once in its transaction, between the two people whom the fill names. Its
 * row is the one that `src/seaport.ts` and `src/settle.ts` lead to, made in a fifth of their time.
 */
type PlainSale = { fill: PlainFill; /** The log that moved the token. */ carrier: number };

/** Each fill is compared with each log that moves a token. */
const MAX_FILLS_TIMES_LOGS = 10_000;

const SALE = fieldOf("sale");
const view = createMovementView();
const NATIVE = Buffer.alloc(ADDRESS_BYTES);

/**
 * The sales of a transaction, by its fills. Undefined where one of them isn't plain: then it takes all logs together to
 * tell them.
 *
 * @param moved the logs of the transaction that move tokens, all of which go a short way
 */
export function findPlainSales(
  plan: Plan,
  fills: readonly PlainFill[],
  moved: readonly number[],
): PlainSale[] | undefined {
  const { wordOf, addresses, addressOf } = plan.chunk.logs;
  if (fills.length * moved.length > MAX_FILLS_TIMES_LOGS) return undefined;
  // Of those beyond the limit nothing is known to `src/settle.ts`.
  if (moved.reduce((sum, log) => sum + countHops(plan, log), 0) > MAX_TRANSACTION_HOPS) return undefined;
  const sales: PlainSale[] = [];
  for (const fill of fills) {
    const { isListing, token, maker, recipient } = fill;
    const contractAddress = plan.addressesInWords(wordOf[token + ITEM.contract]!);
    const id = wordOf[token + ITEM.id];
    const mayMove = (log: number) => plan.wayOf[log] === BATCH || wordOf[hopPlaceOf(plan, log).id] === id;
    const [carrier, another] = moved.filter((log) => mayMove(log) && addresses[addressOf[log]!] === contractAddress);
    if (carrier === undefined || another !== undefined || plan.wayOf[carrier] === BATCH) return undefined;
    const { from } = hopPlaceOf(plan, carrier);
    // Who sells to himself has a transfer to himself, as in `src/settle.ts`: one to somebody else is of another sale.
    const isBetween = isListing
      ? wordOf[from] === wordOf[maker] && (wordOf[maker] !== wordOf[recipient] || wordOf[from + 1] === wordOf[maker])
      : wordOf[from] === wordOf[recipient] && wordOf[from + 1] === wordOf[token + ITEM.recipient];
    if (!isBetween) return undefined;
    sales.push({ fill, carrier });
  }
  return sales;
}

/** Puts a sale's row of `token_event`. */
export function putPlainSale(events: CopyBuffer, plan: Plan, { fill, carrier }: PlainSale): void {
  const { logs } = plan.chunk;
  const { words, wordOf, blocks, transactions } = logs;
  const { log, isListing, token, coin } = fill;
  const { from } = hopPlaceOf(plan, carrier);
  const block = logs.blockOf[log]!;
  const addressStart = (at: number) => wordOf[at]! * WORD_BYTES + ADDRESS_AT;
  const exchangeStart = logs.addressOf[log]! * ADDRESS_BYTES;
  const broker = findBroker(plan, fill);
  const putAddress = (at: number) => putBytes(events, words, addressStart(at), addressStart(at) + ADDRESS_BYTES);

  view.blockNumber = blocks.numbers[block]!;
  view.logIndex = logs.logIndexOf[log]!;
  view.timestamp = blocks.timestamps[block]!;
  view.idBytes = view.fromBytes = view.toBytes = view.quantityBytes = words;
  view.idStart = wordOf[token + ITEM.id]! * WORD_BYTES;
  view.fromStart = addressStart(from);
  view.toStart = addressStart(from + 1);
  view.quantityStart = wordOf[token + ITEM.amount]! * WORD_BYTES;
  view.hashBytes = transactions.hashes;
  view.hashStart = logs.transactionOf[log]! * WORD_BYTES;
  putMoveColumns(events, view, { type: SALE, addresses: words, contractStart: addressStart(token + ITEM.contract) });
  putWordNumeric(events, priceOf(plan, fill), 0);
  if (smallWord(logs, coin) === NATIVE_TYPE) putBytes(events, NATIVE, 0, ADDRESS_BYTES);
  else putAddress(coin + ITEM.contract);
  putNull(events);
  putField(events, SEAPORT);
  if (broker === undefined) putBytes(events, plan.addresses, exchangeStart, exchangeStart + ADDRESS_BYTES);
  else putAddress(broker);
  putBoolean(events, !isListing);
}

/** The price as a word, which lasts until the next call: of a listing the sum that it asks for, of an offer what it pays. */
function priceOf({ chunk: { logs } }: Plan, { isListing, coin, end }: PlainFill): Buffer {
  const { words, wordOf } = logs;
  price.fill(0);
  for (let item = coin; item < (isListing ? end : coin + 1); item += ASKED_WORDS) {
    const start = wordOf[item + ITEM.amount]! * WORD_BYTES;
    for (let place = WORD_BYTES - 1, carry = 0; place >= 0; place--) {
      const digit = price[place]! + words[start + place]! + carry;
      price[place] = digit;
      carry = digit >>> 8;
    }
  }
  return price;
}

const price = Buffer.alloc(WORD_BYTES);

/** The place of the first who is paid and is neither the seller nor the order's maker. */
function findBroker({ chunk: { logs }, addressesInWords }: Plan, fill: PlainFill): number | undefined {
  const addressAt = (at: number) => addressesInWords(logs.wordOf[at]!);
  const maker = addressAt(fill.maker);
  const seller = fill.isListing ? maker : addressAt(fill.recipient);
  for (let item = fill.asked; item < fill.end; item += ASKED_WORDS) {
    const recipient = addressAt(item + ITEM.recipient);
    if (recipient !== zeroAddress && recipient !== seller && recipient !== maker) return item + ITEM.recipient;
  }
  return undefined;
}
