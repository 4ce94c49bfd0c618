import type { Hop } from "../../src/sale.ts";
import { BATCH, type Plan, TRANSFER } from "./plan.ts";
import { bigintAt, smallWord, WORD_BYTES } from "../word.ts";

/** How many hops a log has that goes a short way. */
export const countHops = ({ chunk: { logs }, wayOf }: Plan, log: number): number =>
  wayOf[log] === BATCH ? smallWord(logs, logs.wordStartOf[log]! + 6) : 1;

/** Reads the hops of a log that goes a short way from the columns. */
export function readHops(plan: Plan, log: number): Hop[] {
  const { wayOf, addressesInWords } = plan;
  const { logs } = plan.chunk;
  const { words, wordOf, wordStartOf } = logs;
  const topics = wordStartOf[log]!;
  const data = topics + 4;
  const way = wayOf[log]!;
  const from = way === TRANSFER ? topics + 1 : topics + 2;
  const hopOf = (id: number, quantity: number): Hop => ({
    logIndex: logs.logIndexOf[log]!,
    contractAddress: logs.addresses[logs.addressOf[log]!]!,
    tokenId: bigintAt(words, wordOf[id]! * WORD_BYTES),
    from: addressesInWords(wordOf[from]!),
    to: addressesInWords(wordOf[from + 1]!),
    quantity: quantity < 0 ? 1n : bigintAt(words, wordOf[quantity]! * WORD_BYTES),
  });
  if (way === TRANSFER) return [hopOf(topics + 3, -1)];
  if (way !== BATCH) return [hopOf(data, data + 1)];
  const count = countHops(plan, log);
  return Array.from({ length: count }, (_, index) => hopOf(data + 3 + index, data + 4 + count + index));
}
