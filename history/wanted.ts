import type { Hex } from "viem";

/**
 * Logs of some contracts (or of all, "*") with one of these first topics, and at least so many topics altogether.
 * `ofTransaction`: what is asked for of their transactions, too.
 */
export type WantedLogs = { addresses: Hex[] | "*"; topics: Hex[]; minTopics: number; ofTransaction: TransactionPart };

/** Nothing, who signed it where that can matter, or besides that what one of `TRANSACTION_NOTES` works out. */
export type TransactionPart = "" | "sender" | NoteName;
export type NoteName = "wyvern payment";

/** What is kept or fetched as one: the same logs for the same blocks. */
export type LogFilter = WantedLogs[];

/** A smallest part of a filter: one contract or all of them, one first topic. */
type Unit = { address: Hex | "*"; topic: Hex; minTopics: number; ofTransaction: TransactionPart };

/** The same filter always comes out as the same text, whatever the order it was written in. */
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

/** What of `wanted` none of `kept` has. What another version kept may have notes that this one doesn't know. */
export function missingOf(wanted: LogFilter, kept: LogFilter[]): LogFilter {
  const has = kept.map(createLookUp);
  return filterOf([...unitsOf(wanted)].filter((unit) => !has.some((covers) => covers(unit))));
}

/** The part of a filter that has notes which `wanted` hasn't: they say something else. */
export function otherNotesOf(filter: LogFilter, wanted: LogFilter): LogFilter {
  const isWanted = new Set(["", "sender", ...wanted.map(({ ofTransaction }) => ofTransaction)]);
  return filter.filter(({ ofTransaction }) => !isWanted.has(ofTransaction));
}

export type LogMatcher = (address: Hex, topic: Hex, topicCount: number) => boolean;

/** Whether a log is one of a filter's. Addresses and topics in lower case. */
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

/** Contracts of which the same is wanted stand together. */
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

/** What holds the other, too. @throws Error where neither does: no contract has two notes */
function moreOf(one: TransactionPart, other: TransactionPart): TransactionPart {
  if (holds(one, other)) return one;
  if (holds(other, one)) return other;
  throw new Error(`A log can't have the notes "${one}" and "${other}".`);
}

/** With each note comes who signed. */
function holds(part: TransactionPart, other: TransactionPart): boolean {
  return part === other || other === "" || (other === "sender" && part !== "");
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
