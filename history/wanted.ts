import type { Hex } from "viem";

/**
 * Logs of some contracts ("*": of all) that have one of these first topics and at least `minTopics` topics.
 * `ofTransaction`: what else is needed of their transactions.
 */
export type WantedLogs = { addresses: Hex[] | "*"; topics: Hex[]; minTopics: number; ofTransaction: TransactionPart };

/**
 * What is needed of a log's transaction: nothing, who signed it (where that can matter), or a note and who signed it.
 */
export type TransactionPart = "" | "sender" | NoteName;
/** The name of a note of `TRANSACTION_NOTES`. */
export type NoteName = "wyvern payment";

/** Logs that are fetched and kept together. */
export type LogFilter = WantedLogs[];

/** The smallest part of a filter: one contract or all, and one first topic. */
type Unit = { address: Hex | "*"; topic: Hex; minTopics: number; ofTransaction: TransactionPart };

/** A filter in its normal form: filters for the same logs are the same text as JSON. */
export function normalize(filter: LogFilter): LogFilter {
  const units = new Map<string, Unit>();
  for (const unit of unitsOf(filter)) {
    const key = `${unit.address} ${unit.topic}`;
    const known = units.get(key);
    const minTopics = Math.min(unit.minTopics, known?.minTopics ?? unit.minTopics);
    units.set(key, { ...unit, minTopics, ofTransaction: moreOf(unit.ofTransaction, known?.ofTransaction ?? "") });
  }
  return filterOf([...units.values()]);
}

/**
 * The part of `wanted` that none of `kept` has. What another version kept may have notes that this one doesn't know.
 */
export function missingOf(wanted: LogFilter, kept: LogFilter[]): LogFilter {
  const has = kept.map(createLookUp);
  return filterOf([...unitsOf(wanted)].filter((unit) => !has.some((covers) => covers(unit))));
}

/** The part of a filter that has notes which nothing in `wanted` asks for. Those notes would mean something else. */
export function otherNotesOf(filter: LogFilter, wanted: LogFilter): LogFilter {
  const isWanted = new Set(["", "sender", ...wanted.map(({ ofTransaction }) => ofTransaction)]);
  return filter.filter(({ ofTransaction }) => !isWanted.has(ofTransaction));
}

/** Tells whether a log is wanted, by its contract, its first topic and how many topics it has. */
export type LogMatcher = (address: Hex, topic: Hex, topicCount: number) => boolean;

/** Tells whether a log belongs to a filter. Addresses and topics are in lower case. */
export function createMatcher(filter: LogFilter): LogMatcher {
  const fewest = new Map<string, number>();
  for (const { address, topic, minTopics } of unitsOf(filter)) {
    const key = address === "*" ? topic : address + topic;
    fewest.set(key, Math.min(fewest.get(key) ?? minTopics, minTopics));
  }
  return (address, topic, topicCount) =>
    topicCount >= (fewest.get(topic) ?? Infinity) || topicCount >= (fewest.get(address + topic) ?? Infinity);
}

function* unitsOf(filter: LogFilter): Generator<Unit> {
  for (const { addresses, topics, minTopics, ofTransaction } of filter)
    for (const address of addresses === "*" ? (["*"] as const) : addresses)
      for (const topic of topics) yield { address, topic, minTopics, ofTransaction };
}

/** Joins units into as few parts as possible: contracts that need the same are in one part. */
function filterOf(units: Unit[]): LogFilter {
  const ofAddress = Map.groupBy(units, ({ address }) => address);
  const alike = new Map<string, { addresses: Hex[]; part: Omit<WantedLogs, "addresses"> }>();
  const all: WantedLogs[] = [];
  for (const [address, list] of [...ofAddress].toSorted(([a], [b]) => compare(a, b))) {
    const shapes = Map.groupBy(list, ({ minTopics, ofTransaction }) => `${minTopics} ${ofTransaction}`);
    for (const [shape, same] of [...shapes].toSorted(([a], [b]) => compare(a, b))) {
      const topics = [...new Set(same.map(({ topic }) => topic))].toSorted(compare);
      const [{ minTopics, ofTransaction }] = same as [Unit];
      const part = { topics, minTopics, ofTransaction };
      if (address === "*") {
        all.push({ addresses: "*", ...part });
        continue;
      }
      const key = `${shape} ${topics.join()}`;
      const group = alike.get(key);
      if (group) group.addresses.push(address);
      else alike.set(key, { addresses: [address], part });
    }
  }
  return [...all, ...alike.values().map(({ addresses, part }) => ({ addresses, ...part }))];
}

function createLookUp(kept: LogFilter): (unit: Unit) => boolean {
  const units = Map.groupBy(unitsOf(kept), ({ address, topic }) => `${address} ${topic}`);
  const isIn = ({ minTopics, ofTransaction }: Unit, key: string) =>
    units.get(key)?.some((unit) => unit.minTopics <= minTopics && holds(unit.ofTransaction, ofTransaction));
  return (unit) => isIn(unit, `* ${unit.topic}`) === true || isIn(unit, `${unit.address} ${unit.topic}`) === true;
}

/** The one of two that includes the other. @throws Error where neither does: no contract has two notes */
function moreOf(one: TransactionPart, other: TransactionPart): TransactionPart {
  if (holds(one, other)) return one;
  if (holds(other, one)) return other;
  throw new Error(`A log can't have the notes "${one}" and "${other}".`);
}

/** Whether `part` includes `other`. A note includes who signed. */
function holds(part: TransactionPart, other: TransactionPart): boolean {
  return part === other || other === "" || (other === "sender" && part !== "");
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
