import { Buffer } from "node:buffer";
import type { Hex } from "viem";
import type { LogColumns } from "./chain-log.ts";

/** Decodes 32-byte words. */

/** Bytes of a word, and of a hash. */
export const WORD_BYTES = 32;
/** Bytes of an address. */
export const ADDRESS_BYTES = 20;

/** The index in a word at which an address begins. */
export const ADDRESS_AT = 12;

/** The number in a word, -1 where it has more than 32 bits. `at`: an index in `wordOf`. */
export function smallWord({ words, wordOf }: LogColumns, at: number): number {
  const start = wordOf[at]! * WORD_BYTES;
  for (let place = start; place < start + 28; place += 4) if (words.readInt32LE(place) !== 0) return -1;
  return words.readUInt32BE(start + 28);
}

/** So many bytes from `start` on as 0x hex. Without a size, a word. */
export const hexAt = (bytes: Buffer, start: number, size: number = WORD_BYTES): Hex =>
  `0x${bytes.toString("hex", start, start + size)}`;

/** The bytes of 0x hex. */
export const bytesOf = (hex: Hex): Buffer => Buffer.from(hex.slice(2), "hex");

/** Returns the address in a chunk's word, by the word's index. */
export type Addresses = (word: number) => Hex;

/** Decodes each address only once: most come again and again, and equal strings that are one object compare faster. */
export function createAddresses({ words }: LogColumns): Addresses {
  // An array, because a sale asks for a dozen words, and look-ups in a map were a sixth of what sales cost this thread.
  const known: (Hex | undefined)[] = [];
  known.length = words.length / WORD_BYTES;
  return (word) => (known[word] ??= hexAt(words, word * WORD_BYTES + ADDRESS_AT, ADDRESS_BYTES));
}

/** Decodes an unsigned integer of 32 bytes. Most are small: those are read without the detour of a hex string. */
export function bigintAt(bytes: Buffer, start: number): bigint {
  for (let place = start; place < start + 24; place += 4)
    if (bytes.readInt32LE(place) !== 0) return BigInt(hexAt(bytes, start));
  const high = bytes.readUInt32BE(start + 24);
  const low = bytes.readUInt32BE(start + 28);
  return high < 2 ** 21 ? BigInt(high * 2 ** 32 + low) : (BigInt(high) << 32n) | BigInt(low);
}
