import type { Hop } from "../../src/sale.ts";
import { BATCH, type Plan, TRANSFER } from "./plan.ts";
import { bigintAt, smallWord, WORD_BYTES } from "../word.ts";

/** How many hops a log has that goes a short way. */
export const countHops = ({ chunk: { logs }, wayOf }: Plan, log: number): number =>
  wayOf[log] === BATCH ? smallWord(logs, logs.wordStartOf[log]! + 6) : 1;

/** Where a log that goes a short way has its sender, before its receiver, and its token, as places in `wordOf`. */
export function hopPlaceOf({ chunk: { logs }, wayOf }: Plan, log: number): { from: number; id: number } {
  const start = logs.wordStartOf[log]!;
  if (wayOf[log] === TRANSFER) return { from: start + 1, id: start + 3 };
  return { from: start + 2, id: start + (wayOf[log] === BATCH ? 7 : 4) };
}

/** Reads the hops of a log that goes a short way from the columns. */
export function readHops(plan: Plan, log: number): Hop[] {
  const { wayOf, addressesInWords } = plan;
  const { logs } = plan.chunk;
  const { words, wordOf } = logs;
  const way = wayOf[log]!;
  const { from, id: first } = hopPlaceOf(plan, log);
  const hopOf = (id: number, quantity: number): Hop => ({
    logIndex: logs.logIndexOf[log]!,
    contractAddress: logs.addresses[logs.addressOf[log]!]!,
    tokenId: bigintAt(words, wordOf[id]! * WORD_BYTES),
    from: addressesInWords(wordOf[from]!),
    to: addressesInWords(wordOf[from + 1]!),
    quantity: quantity < 0 ? 1n : bigintAt(words, wordOf[quantity]! * WORD_BYTES),
  });
  if (way === TRANSFER) return [hopOf(first, -1)];
  if (way !== BATCH) return [hopOf(first, first + 1)];
  const count = countHops(plan, log);
  return Array.from({ length: count }, (_, index) => hopOf(first + index, first + 1 + count + index));
}
