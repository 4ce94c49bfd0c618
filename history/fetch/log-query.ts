import type { Hex } from "viem";
import type { RawLog } from "./log-answer.ts";
import { quantityOf, type RpcCall } from "../rpc/rpc-post.ts";
import { createMatcher, type LogFilter } from "../wanted.ts";

/**
 * How all contracts are asked for logs with four topics. "positions" names a place for each topic: geth and what comes
 * of it leave out logs with fewer. "topic" names the first only, and gets the fungible tokens' Transfers, too: 98 of 100.
 */
export type QueryForm = "positions" | "topic";

type Range = { fromBlock: number; toBlock: number };

/** The calls that bring all logs of a filter in a range, and maybe others, each of `maxAddresses` contracts at most. */
export function logCallsOf(
  filter: LogFilter,
  { form, fromBlock, toBlock, maxAddresses }: Range & { form: QueryForm; maxAddresses: number },
): RpcCall[] {
  const ofAll = filter.filter(({ addresses }) => addresses === "*");
  const isWhole = ({ minTopics }: LogFilter[number]) => form === "positions" && minTopics > 1;
  // All that has to be complete in all its topics can be asked for together, by how many they are.
  const byPlaces = Map.groupBy(ofAll, (part) => (isWhole(part) ? part.minTopics : 1));
  const queries: { address?: Hex[]; topics: (Hex[] | null)[] }[] = [...byPlaces].map(([places, parts]) => ({
    topics: [topicsOf(parts), ...Array.from({ length: places - 1 }, () => null)],
  }));
  const ofSome = filter.filter(({ addresses }) => addresses !== "*");
  const addresses = [...new Set(ofSome.flatMap((part) => part.addresses as Hex[]))];
  for (let at = 0; at < addresses.length; at += maxAddresses) {
    const address = addresses.slice(at, at + maxAddresses);
    const parts = ofSome.filter((part) => address.some((one) => part.addresses.includes(one)));
    queries.push({ address, topics: [topicsOf(parts)] });
  }
  return queries.map((query) => ({
    method: "eth_getLogs",
    params: [{ fromBlock: quantityOf(fromBlock), toBlock: quantityOf(toBlock), ...query }],
  }));
}

/** Whether a form makes a difference. */
export function needsForm(filter: LogFilter): boolean {
  return filter.some(({ addresses, minTopics }) => addresses === "*" && minTopics > 1);
}

/** Whether a log of an answer is one of a filter's: works on its bytes, because there may be many that are not. */
export function createRawMatcher(filter: LogFilter): (log: RawLog) => boolean {
  const ofAll = filter.flatMap(({ addresses, topics, minTopics }) =>
    addresses === "*" ? topics.map((topic) => ({ digits: Buffer.from(topic.slice(2), "latin1"), minTopics })) : [],
  );
  const matches = createMatcher(filter);
  // An exchange's logs come one behind the other: what was said of one is said of the next.
  const last = { address: Buffer.alloc(40), topic: Buffer.alloc(64), topicCount: 0, isMatch: false };
  return ({ bytes, topicCount, topics, addressStart }) => {
    if (topicCount === 0) return false;
    const topicStart = topics[0]!;
    for (const { digits, minTopics } of ofAll)
      if (topicCount >= minTopics && isAt(bytes, topicStart, digits)) return true;
    if (
      topicCount === last.topicCount &&
      isAt(bytes, addressStart, last.address) &&
      isAt(bytes, topicStart, last.topic)
    )
      return last.isMatch;
    const [address, topic] = [textAt(bytes, addressStart, 40), textAt(bytes, topicStart, 64)];
    const isMatch = matches(`0x${address}`, `0x${topic}`, topicCount);
    last.address.write(address, "latin1");
    last.topic.write(topic, "latin1");
    Object.assign(last, { topicCount, isMatch });
    return isMatch;
  };
}

function topicsOf(parts: LogFilter): Hex[] {
  return [...new Set(parts.flatMap(({ topics }) => topics))];
}

function isAt(bytes: Uint8Array, start: number, digits: Uint8Array): boolean {
  for (let at = 0; at < digits.length; at++) if (bytes[start + at] !== digits[at]) return false;
  return true;
}

function textAt(bytes: Uint8Array, start: number, length: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, length)
    .toString("latin1")
    .toLowerCase();
}
