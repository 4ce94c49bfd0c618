import type { Buffer } from "node:buffer";
import type { Hex } from "viem";
import type { LogColumns } from "../chain-log.ts";

/** What stands in the 32 bytes of a word. */

export const WORD = 32;

/** Where an address begins in a word. */
export const ADDRESS_AT = 12;

const ADDRESS = 20;

/** The number in a word, -1 where it has more than 32 bits. `at` is its place in `wordOf`. */
export function smallWord({ words, wordOf }: LogColumns, at: number): number {
  const start = wordOf[at]! * WORD;
  for (let place = start; place < start + 28; place += 4) if (words.readInt32LE(place) !== 0) return -1;
  return words.readUInt32BE(start + 28);
}

export const hexAt = (bytes: Buffer, start: number, size: number = WORD): Hex =>
  `0x${bytes.toString("hex", start, start + size)}`;

/** @param start where the address begins */
export const addressAt = (bytes: Buffer, start: number): Hex => hexAt(bytes, start, ADDRESS);

/** Most numbers are small: those need no text to be made of them. */
export function bigintAt(bytes: Buffer, start: number): bigint {
  for (let place = start; place < start + 24; place += 4)
    if (bytes.readInt32LE(place) !== 0) return BigInt(hexAt(bytes, start));
  return bytes.readBigUInt64BE(start + 24);
}
