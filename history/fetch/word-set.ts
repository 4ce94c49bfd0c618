import { WORD_BYTES } from "../word.ts";

/** A set of 32-byte words, numbered in the order in which they were first added. */
export type WordSet = {
  bytes: Buffer;
  /** The same memory as 32-bit integers. */
  ints: Int32Array;
  count: number;
  /** A hash table with linear probing: the word's number plus one, 0 where free. At most half of it is used. */
  slots: Int32Array;
};

const INTS_PER_WORD = 8;

/** An empty set with room for so many words. It grows. */
export function createWordSet(capacity: number): WordSet {
  const memory = new ArrayBuffer(capacity * WORD_BYTES);
  const slots = new Int32Array(2 ** Math.ceil(Math.log2(capacity * 2)));
  return { bytes: Buffer.from(memory), ints: new Int32Array(memory), count: 0, slots };
}

/** Makes room for one more word. Returns the index at which to write its 32 bytes. `internWord` adds it then. */
export function reserveWord(set: WordSet): number {
  if ((set.count + 1) * WORD_BYTES > set.bytes.length) {
    const memory = new ArrayBuffer(set.bytes.length * 2);
    const bytes = Buffer.from(memory);
    set.bytes.copy(bytes);
    set.bytes = bytes;
    set.ints = new Int32Array(memory);
  }
  if ((set.count + 1) * 2 > set.slots.length) {
    set.slots = new Int32Array(set.slots.length * 2);
    for (let word = 0; word < set.count; word++) set.slots[findSlot(set, word)] = word + 1;
  }
  return set.count * WORD_BYTES;
}

/** Writes a word of `source` (`intsOf`) where `internWord` expects it. */
export function copyWord(set: WordSet, source: Int32Array, word: number): void {
  const start = reserveWord(set) / 4;
  // Read only now, because making room may have replaced it. A loop over eight numbers is faster than a call.
  const { ints } = set;
  for (let place = 0, from = word * INTS_PER_WORD; place < INTS_PER_WORD; place++)
    ints[start + place] = source[from + place]!;
}

/** A buffer of words as integers for `copyWord`: a view, or a copy where it isn't aligned. */
export function intsOf(words: Buffer): Int32Array {
  const { buffer, byteOffset, length } = words.byteOffset % 4 === 0 ? words : Uint8Array.from(words);
  return new Int32Array(buffer, byteOffset, length / 4);
}

/** Adds the word that was written at `reserveWord`. Returns its number, or that of an equal word. */
export function internWord(set: WordSet): number {
  const slot = findSlot(set, set.count);
  const found = set.slots[slot]!;
  if (found > 0) return found - 1;
  set.slots[slot] = ++set.count;
  return set.count - 1;
}

/** Like `internWord`, but compares with word `last` first: words that come in runs need no search. */
export function internNear(set: WordSet, last: number): number {
  return last >= 0 && isEqual(set.ints, last, set.count) ? last : internWord(set);
}

/** The slot of an equal word, or the free slot for this word. */
function findSlot({ ints, slots }: WordSet, word: number): number {
  const mask = slots.length - 1;
  let hash = 0;
  for (let at = word * INTS_PER_WORD, end = at + INTS_PER_WORD; at < end; at++) {
    hash = Math.imul(hash ^ ints[at]!, 0x9e3779b1);
    hash ^= hash >>> 15;
  }
  let slot = hash & mask;
  while (slots[slot]! > 0 && !isEqual(ints, slots[slot]! - 1, word)) slot = (slot + 1) & mask;
  return slot;
}

function isEqual(ints: Int32Array, one: number, other: number): boolean {
  let a = one * INTS_PER_WORD;
  let b = other * INTS_PER_WORD;
  // From the end, because words differ there most often.
  for (let left = INTS_PER_WORD - 1; left >= 0; left--) if (ints[a + left] !== ints[b + left]) return false;
  return true;
}
