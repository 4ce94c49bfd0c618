import { type AbiEvent, type Hex, toEventSelector } from "viem";
import type { Source } from "../../sources.ts";
import type { Handler } from "../../src/define.ts";
import { definitions } from "../../src/definitions.ts";
import type { ChainLog, LogColumns } from "../chain-log.ts";
import { readOrderFulfilled, wantOrder } from "./order-fulfilled.ts";
import type { Want } from "./row-store.ts";
import type { Addresses } from "../word.ts";

const { decodeEventLog } = (await import(
  new URL("utils/decodeEventLog.js", import.meta.resolve("ponder")).href
)) as DecoderModule;
type DecoderModule = {
  decodeEventLog: (options: { abiItem: AbiEvent; topics: readonly Hex[]; data: Hex }) => unknown;
};

/** One event of one source, and what it does. */
export type Match = {
  /** As in "Erc721:Transfer". */
  name: string;
  handle: Handler;
  /** The only row that it asks for, where that can be told without running it. */
  wants: ((logs: LogColumns, log: number) => Want | undefined) | undefined;
  /** The transaction's other logs say something about it. */
  isTrade: boolean;
  /** The arguments in an array, or undefined where Ponder wouldn't deliver the log. */
  decode: (log: ChainLog) => readonly [unknown] | undefined;
  /** The arguments out of the columns, or undefined where they are to be decoded. The definition must look at nothing else. */
  read: ((logs: LogColumns, log: number, addresses: Addresses) => unknown) | undefined;
};

/** For what comes so often that decoding it takes long. */
const READERS: Record<string, Match["read"]> = { "Seaport:OrderFulfilled": readOrderFulfilled };

/** For what comes so often that trying it takes long. */
const WANTS: Record<string, Match["wants"]> = { "Seaport:OrderFulfilled": wantOrder };

/** What a log means, by its first topic and its address. */
export type Dispatch = (topic: Hex, address: Hex) => readonly Match[];

/** Finds what Ponder would call for a log, in its order. */
export function createDispatch(sources: readonly Source[]): Dispatch {
  const byTopic = new Map<Hex, { match: Match; addresses: ReadonlySet<Hex> | undefined }[]>();
  for (const { name, abi, addresses, needsSender } of sources) {
    const { handlers } = definitions[name]!;
    for (const event of abi.filter((item): item is AbiEvent => item.type === "event")) {
      const handle = handlers[event.name];
      if (!handle) continue;
      const topic = toEventSelector(event);
      const matches = byTopic.get(topic) ?? [];
      byTopic.set(topic, matches);
      const fullName = `${name}:${event.name}`;
      matches.push({
        match: {
          name: fullName,
          handle: handle as Handler,
          wants: WANTS[fullName],
          isTrade: needsSender,
          decode: event.name === "TransferBatch" ? decodeBatch : createDecoder(event),
          read: READERS[fullName],
        },
        addresses: addresses === "*" ? undefined : new Set(addresses),
      });
    }
  }
  return (topic, address) =>
    (byTopic.get(topic) ?? []).flatMap(({ match, addresses }) => (!addresses || addresses.has(address) ? [match] : []));
}

/** By Ponder's own function. */
function createDecoder(event: AbiEvent): Match["decode"] {
  // Where an array is cut off, it leaves its copy of the interface changed: such a copy is thrown away.
  let abiItem = structuredClone(event);
  return ({ topics, data }) => {
    try {
      return [decodeEventLog({ abiItem, topics, data })];
    } catch {
      abiItem = structuredClone(event);
      return undefined;
    }
  };
}

/** The definition reads the arrays out of the data itself: see `src/batch.ts`. */
function decodeBatch({ topics }: ChainLog): readonly [unknown] | undefined {
  if (topics.length < 4) return undefined;
  const [operator, from, to] = topics.slice(1).map((topic) => `0x${topic.slice(26)}`);
  return [{ operator, from, to }];
}
