import type { Hex } from "viem";
import type { Fill, ReceivedItem, SpentItem } from "../../src/seaport.ts";
import type { LogColumns } from "../chain-log.ts";
import type { Want } from "./row-store.ts";
import { type Addresses, bigintAt, hexAt, smallWord, WORD_BYTES } from "../word.ts";

/** The arguments of Seaport's OrderFulfilled, as Ponder decodes them. */
type OrderFulfilled = Omit<Fill, "logIndex"> & { zone: Hex };

const HEAD_WORDS = 4;
const SPENT_WORDS = 4;
const RECEIVED_WORDS = 5;

/**
 * Reads an OrderFulfilled, the most frequent log of exchanges, directly from the columns. That takes half the work of
 * turning it into hex and decoding the hex. Undefined where its words aren't laid out as every Seaport writes them, one
 * array after the other and nothing else: then Ponder's decoder has to read the log.
 */
export function readOrderFulfilled(logs: LogColumns, log: number, addresses: Addresses): OrderFulfilled | undefined {
  const { words, wordOf, wordStartOf } = logs;
  if (logs.topicCountOf[log] !== 3 || logs.tails.has(log)) return undefined;
  const topics = wordStartOf[log]!;
  const end = wordStartOf[log + 1]!;
  const data = topics + 3;
  const offer = findArray(logs, { data, end, head: data + 2, at: data + HEAD_WORDS, size: SPENT_WORDS });
  if (!offer) return undefined;
  const consideration = findArray(logs, { data, end, head: data + 3, at: offer.end, size: RECEIVED_WORDS });
  if (consideration?.end !== end) return undefined;

  const items = { offer: [] as SpentItem[], consideration: [] as ReceivedItem[] };
  for (let at = offer.first; at < offer.end; at += SPENT_WORDS) items.offer.push(readItem(logs, at, addresses));
  for (let at = consideration.first; at < end; at += RECEIVED_WORDS)
    items.consideration.push({ ...readItem(logs, at, addresses), recipient: addresses(wordOf[at + 4]!) });
  // An item type that is no small number: Ponder's decoder decides whether it is valid.
  if (items.offer.some(isOdd) || items.consideration.some(isOdd)) return undefined;
  return {
    offerer: addresses(wordOf[topics + 1]!),
    zone: addresses(wordOf[topics + 2]!),
    orderHash: hexAt(words, wordOf[data]! * WORD_BYTES),
    recipient: addresses(wordOf[data + 1]!),
    ...items,
  };
}

const readItem = (logs: LogColumns, at: number, addresses: Addresses): SpentItem => ({
  itemType: smallWord(logs, at),
  token: addresses(logs.wordOf[at + 1]!),
  identifier: bigintAt(logs.words, logs.wordOf[at + 2]! * WORD_BYTES),
  amount: bigintAt(logs.words, logs.wordOf[at + 3]! * WORD_BYTES),
});

const isOdd = ({ itemType }: SpentItem) => itemType < 0;

/** The place in `wordOf` of the order's hash, which is the first word behind three topics. */
export const hashPlaceOf = ({ wordStartOf }: LogColumns, log: number): number => wordStartOf[log]! + 3;

/** The order's row, which `settleOrder` reads. Undefined where the log has no word for the order's hash. */
export function wantOrder(logs: LogColumns, log: number): Want | undefined {
  const hash = hashPlaceOf(logs, log);
  if (logs.topicCountOf[log] !== 3 || hash === logs.wordStartOf[log + 1]) return undefined;
  const exchange_address = logs.addresses[logs.addressOf[log]!]!;
  const order_hash = hexAt(logs.words, logs.wordOf[hash]! * WORD_BYTES);
  return { table: "tradeOrder", key: { exchange_address, order_hash } };
}

type Place = {
  data: number;
  end: number;
  /** Place of the array's offset. */
  head: number;
  /** Place where the array's length must be. */
  at: number;
  /** Words of each item. */
  size: number;
};

/** Where the first item of an array begins and the last one ends, as places in `wordOf`. */
function findArray(logs: LogColumns, { data, end, head, at, size }: Place): { first: number; end: number } | undefined {
  if (at >= end || smallWord(logs, head) !== (at - data) * WORD_BYTES) return undefined;
  const count = smallWord(logs, at);
  const first = at + 1;
  return count < 0 || first + count * size > end ? undefined : { first, end: first + count * size };
}
