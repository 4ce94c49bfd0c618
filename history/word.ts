import { Buffer } from "node:buffer";
import type { Hex } from "viem";
import type { LogColumns } from "./chain-log.ts";

/** What stands in the 32 bytes of a word. */

export const WORD_BYTES = 32;
export const ADDRESS_BYTES = 20;

/** Where an address begins in a word. */
export const ADDRESS_AT = 12;

/** The number in a word, -1 where it has more than 32 bits. `at` is its place in `wordOf`. */
export function smallWord({ words, wordOf }: LogColumns, at: number): number {
  const start = wordOf[at]! * WORD_BYTES;
  for (let place = start; place < start + 28; place += 4) if (words.readInt32LE(place) !== 0) return -1;
  return words.readUInt32BE(start + 28);
}

export const hexAt = (bytes: Buffer, start: number, size: number = WORD_BYTES): Hex =>
  `0x${bytes.toString("hex", start, start + size)}`;

export const bytesOf = (hex: Hex): Buffer => Buffer.from(hex.slice(2), "hex");

/** The addresses in a chunk's words, by the number of the word. */
export type Addresses = (word: number) => Hex;

/** Makes the text of an address once: most come again and again, and what is the same string is compared at once. */
export function createAddresses({ words }: LogColumns): Addresses {
  // A place for each word: a sale asks for a dozen, and a map's look-ups were a sixth of what sales cost this thread.
  const known: (Hex | undefined)[] = [];
  known.length = words.length / WORD_BYTES;
  return (word) => (known[word] ??= hexAt(words, word * WORD_BYTES + ADDRESS_AT, ADDRESS_BYTES));
}

/** Most numbers are small: those need no text to be made of them, and are made of one part. */
export function bigintAt(bytes: Buffer, start: number): bigint {
  for (let place = start; place < start + 24; place += 4)
    if (bytes.readInt32LE(place) !== 0) return BigInt(hexAt(bytes, start));
  const high = bytes.readUInt32BE(start + 24);
  const low = bytes.readUInt32BE(start + 28);
  return high < 2 ** 21 ? BigInt(high * 2 ** 32 + low) : (BigInt(high) << 32n) | BigInt(low);
}
