import type { Hex } from "viem";

/**
 * Tells of most orders that they aren't in the tables, without asking Postgres: nearly all are filled once, by the log
 * that is the first to name them. It is a Bloom filter, so that an order may seem to be there that isn't.
 */
export type OrderFilter = {
  add: (orderHash: Hex) => void;
  /** False only for an order that wasn't added. */
  mayHave: (orderHash: Hex) => boolean;
};

/** 32 MB. Of ten million orders one in 190 is looked up in vain, of a hundred million one in four. */
const BITS = 2 ** 28;

/** @param isEmpty whether the tables have no orders. Otherwise each seems to be there */
export function createOrderFilter({ isEmpty }: { isEmpty: boolean }): OrderFilter {
  const words = new Int32Array(BITS / 32);
  if (!isEmpty) words.fill(-1);
  // Hashes are random already.
  const bitsOf = (hash: Hex) => [hash.slice(-16, -8), hash.slice(-8)].map((part) => Number.parseInt(part, 16) % BITS);
  return {
    add: (hash) => {
      for (const bit of bitsOf(hash)) words[bit >>> 5]! |= 1 << (bit & 31);
    },
    mayHave: (hash) => bitsOf(hash).every((bit) => (words[bit >>> 5]! & (1 << (bit & 31))) !== 0),
  };
}
