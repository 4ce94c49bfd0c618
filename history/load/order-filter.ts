import type { Buffer } from "node:buffer";
import type { Hex } from "viem";

/** 48 bits of an order's hash. Two orders that have them in common are taken for one that is named twice. */
export type OrderMark = number;

/**
 * Tells of most orders that no log has named them, without asking Postgres: nearly all are filled once, by the log that
 * is the first to name them. It is a Bloom filter, so that an order may seem to have been named that wasn't.
 */
export type OrderFilter = {
  /** Notes that an order is named. Returns whether it may have been before: false only where it wasn't. */
  note: (mark: OrderMark) => boolean;
};

/** The last bytes of a hash, which make its mark. */
const MARK_BYTES = 6;

/** The mark of the hash that stands in `words` at `at`. */
export const markAt = (words: Buffer, at: number): OrderMark => words.readUIntBE(at + 32 - MARK_BYTES, MARK_BYTES);

/** The mark of a hash. */
export const markOf = (orderHash: Hex): OrderMark => Number.parseInt(orderHash.slice(-2 * MARK_BYTES), 16);

/** 32 MB. Of ten million orders one in 190 is looked up in vain, of a hundred million one in four. */
const BITS = 2 ** 28;
/** The second bit of a mark is that of its upper part. */
const UPPER = 2 ** (8 * MARK_BYTES) / BITS;

/** @param isEmpty whether the tables have no orders. Otherwise each seems to be there */
export function createOrderFilter({ isEmpty }: { isEmpty: boolean }): OrderFilter {
  const words = new Int32Array(BITS / 32);
  if (!isEmpty) words.fill(-1);
  const set = (bit: number) => {
    const before = words[bit >>> 5]!;
    words[bit >>> 5] = before | (1 << (bit & 31));
    return (before & (1 << (bit & 31))) !== 0;
  };
  return {
    note: (mark) => {
      // Hashes are random already.
      const isLowerKnown = set(mark % BITS);
      return set(Math.floor(mark / UPPER)) && isLowerKnown;
    },
  };
}
