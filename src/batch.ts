import type { Hex } from "viem";

/**
 * The arrays of a TransferBatch, read from the log's data and not from Ponder's arguments: Ponder's decoder (0.17.7)
 * changes its own copy of the ABI when an array is cut off, and takes the arrays of every TransferBatch after it, of
 * whatever contract, for single numbers. One broken log would stop the index for good.
 */

const WORD_BYTES = 32;

/** Ponder delivers no log with more words to read than its data has, plus so many: neither do we read it. */
const EXTRA_WORDS = 8_193;

/**
 * Reads the two `uint256[]` of a TransferBatch. Undefined where they are not there as they should be; whether Ponder
 * delivers such a log depends on the logs before it, so it must leave no trace.
 */
export function readBatch(data: Hex): { ids: bigint[]; values: bigint[] } | undefined {
  const bytes = Math.floor((data.length - 2) / 2);
  const ids = findArray(data, { bytes, head: 0 });
  const values = findArray(data, { bytes, head: WORD_BYTES });
  if (!ids || !values) return undefined;
  if (4 + ids.length + values.length > Math.floor(bytes / WORD_BYTES) + EXTRA_WORDS) return undefined;
  return { ids: readWords(data, ids), values: readWords(data, values) };
}

type Slice = { start: number; length: number };

/** Where the elements of the array lie whose offset stands at byte `head`. */
function findArray(data: Hex, { bytes, head }: { bytes: number; head: number }): Slice | undefined {
  if (head + WORD_BYTES > bytes) return undefined;
  const offset = readWord(data, head);
  if (offset > BigInt(bytes - WORD_BYTES)) return undefined;
  const start = Number(offset) + WORD_BYTES;
  const length = readWord(data, Number(offset));
  if (length > BigInt(Math.floor((bytes - start) / WORD_BYTES))) return undefined;
  return { start, length: Number(length) };
}

function readWords(data: Hex, { start, length }: Slice): bigint[] {
  return Array.from({ length }, (_, index) => readWord(data, start + index * WORD_BYTES));
}

function readWord(data: Hex, at: number): bigint {
  return BigInt(`0x${data.slice(2 + at * 2, 2 + (at + WORD_BYTES) * 2)}`);
}
