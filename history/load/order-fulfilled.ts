import type { Hex } from "viem";
import type { Fill } from "../../src/seaport.ts";
import type { LogColumns } from "../chain-log.ts";
import { ADDRESS_AT, addressAt, bigintAt, hexAt, smallWord, WORD } from "./word.ts";

/** The arguments of Seaport's OrderFulfilled, as Ponder decodes them. */
type OrderFulfilled = Omit<Fill, "logIndex"> & { zone: Hex };

const HEAD_WORDS = 4;
const SPENT_WORDS = 4;
const RECEIVED_WORDS = 5;

/**
 * Reads an OrderFulfilled, the log that exchanges write most, straight out of the columns: half of the work of making hex
 * of it and decoding that. Undefined where its words don't lie as every Seaport writes them, one array behind the other
 * and nothing else: such a log is left to Ponder's decoder.
 */
export function readOrderFulfilled(logs: LogColumns, log: number): OrderFulfilled | undefined {
  const { words, wordOf, wordStartOf } = logs;
  if (logs.topicCountOf[log] !== 3 || logs.tails.has(log)) return undefined;
  const topics = wordStartOf[log]!;
  const end = wordStartOf[log + 1]!;
  const data = topics + 3;
  const offer = findArray(logs, { data, end, head: data + 2, at: data + HEAD_WORDS, size: SPENT_WORDS });
  if (!offer) return undefined;
  const consideration = findArray(logs, { data, end, head: data + 3, at: offer.end, size: RECEIVED_WORDS });
  if (consideration?.end !== end) return undefined;

  const startOf = (at: number) => wordOf[at]! * WORD;
  const addressOf = (at: number) => addressAt(words, startOf(at) + ADDRESS_AT);
  const itemAt = (at: number) => ({
    itemType: smallWord(logs, at),
    token: addressOf(at + 1),
    identifier: bigintAt(words, startOf(at + 2)),
    amount: bigintAt(words, startOf(at + 3)),
  });
  const items = {
    offer: offer.items.map(itemAt),
    consideration: consideration.items.map((at) => ({ ...itemAt(at), recipient: addressOf(at + 4) })),
  };
  // Larger than any type of item: Ponder's decoder says whether it may be.
  if ([...items.offer, ...items.consideration].some(({ itemType }) => itemType < 0)) return undefined;
  return {
    offerer: addressOf(topics + 1),
    zone: addressOf(topics + 2),
    orderHash: hexAt(words, startOf(data)),
    recipient: addressOf(data + 1),
    ...items,
  };
}

type Place = {
  data: number;
  end: number;
  /** Where its offset stands. */
  head: number;
  /** Where its length must be. */
  at: number;
  /** Words of each item. */
  size: number;
};

/** Where the items of an array begin, and where it ends. Places are those in `wordOf`. */
function findArray(
  logs: LogColumns,
  { data, end, head, at, size }: Place,
): { items: number[]; end: number } | undefined {
  if (at >= end || smallWord(logs, head) !== (at - data) * WORD) return undefined;
  const count = smallWord(logs, at);
  const first = at + 1;
  if (count < 0 || first + count * size > end) return undefined;
  return { items: Array.from({ length: count }, (_, item) => first + item * size), end: first + count * size };
}
