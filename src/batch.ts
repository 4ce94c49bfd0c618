import type { Hex } from "viem";

/**
 * Reads the arrays of a TransferBatch from the log's data, for history and behind Ponder alike: both must leave out the
 * same logs. What Ponder itself (0.17.7) did with an array that is cut off is in `indexer/ponder/patches/log.ts`.
 */

const WORD_BYTES = 32;

/** Ponder delivers no log whose arrays have more words than its data, plus so many. We leave out the same logs. */
const EXTRA_WORDS = 8_193;

/**
 * Reads the two `uint256[]` of a TransferBatch. Undefined where the data is malformed: such a log must leave no trace,
 * because Ponder doesn't deliver it.
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

/** The place of an array's elements. `head`: the byte at which the array's offset stands. */
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
