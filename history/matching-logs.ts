import { type LogColumns, wordAt } from "./chain-log.ts";
import type { LogMatcher } from "./wanted.ts";

/** The indexes of the logs in a range of blocks that match, in order. */
export function listMatching(
  logs: LogColumns,
  { fromBlock, toBlock, matches }: { fromBlock: number; toBlock: number; matches: LogMatcher },
): number[] {
  const { count, blockOf, blocks, addressOf, addresses, wordOf, wordStartOf, topicCountOf } = logs;
  const known = new Map<number, boolean>();
  const places: number[] = [];
  for (let log = 0; log < count; log++) {
    const number = blocks.numbers[blockOf[log]!]!;
    if (number < fromBlock || number > toBlock || topicCountOf[log] === 0) continue;
    const topic = wordOf[wordStartOf[log]!]!;
    // A chunk has few contracts and topics, so each combination is matched once.
    const key = (topic * addresses.length + addressOf[log]!) * 5 + topicCountOf[log]!;
    let isMatch = known.get(key);
    if (isMatch === undefined) {
      isMatch = matches(addresses[addressOf[log]!]!, `0x${wordAt(logs, topic)}`, topicCountOf[log]!);
      known.set(key, isMatch);
    }
    if (isMatch) places.push(log);
  }
  return places;
}
