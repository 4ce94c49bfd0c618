import type { Hex } from "viem";
import type { RawLog } from "./log-answer.ts";
import { quantityOf, type RpcCall } from "../rpc/rpc-post.ts";
import { createMatcher, type LogFilter } from "../wanted.ts";

/**
 * How all contracts are asked for logs with four topics. "positions" has an entry for each topic: geth and its
 * descendants then leave out logs with fewer topics. "topic" has only the first, and so also brings the Transfers of
 * fungible tokens, which are 98 of 100.
 */
export type QueryForm = "positions" | "topic";

type Range = { fromBlock: number; toBlock: number };

/**
 * The calls for all logs of a filter in a range, each with at most `maxAddresses` contracts. They may bring other logs,
 * too.
 */
export function logCallsOf(
  filter: LogFilter,
  { form, fromBlock, toBlock, maxAddresses }: Range & { form: QueryForm; maxAddresses: number },
): RpcCall[] {
  const ofAll = filter.filter(({ addresses }) => addresses === "*");
  const isWhole = ({ minTopics }: LogFilter[number]) => form === "positions" && minTopics > 1;
  // Parts that need the same number of topics are asked for together.
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

/** Whether the form of query makes a difference for a filter. */
export function needsForm(filter: LogFilter): boolean {
  return filter.some(({ addresses, minTopics }) => addresses === "*" && minTopics > 1);
}

/** Tells whether a log belongs to a filter by the bytes of the answer, because most logs of an answer may not. */
export function createRawMatcher(filter: LogFilter): (log: RawLog) => boolean {
  const ofAll = filter.flatMap(({ addresses, topics, minTopics }) =>
    addresses === "*" ? topics.map((topic) => ({ digits: Buffer.from(topic.slice(2), "latin1"), minTopics })) : [],
  );
  const matches = createMatcher(filter);
  // Logs of an exchange follow each other, so the result for the last log is often that for the next one.
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
