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

/** One event of one source, and its handler. */
export type Match = {
  /** As in "Erc721:Transfer". */
  name: string;
  handle: Handler;
  /** The only row that the handler reads, if that is known without running it. */
  wants: ((logs: LogColumns, log: number) => Want | undefined) | undefined;
  /** Whether the event is a trade, which the transaction's other logs tell more about. */
  isTrade: boolean;
  /** Returns the arguments in an array of one, or undefined where Ponder wouldn't deliver the log. */
  decode: (log: ChainLog) => readonly [unknown] | undefined;
  /**
   * Reads the arguments from the columns; undefined where `decode` has to do it. The definition must use nothing else
   * of the log.
   */
  read: ((logs: LogColumns, log: number, addresses: Addresses) => unknown) | undefined;
};

/** For events that are so frequent that decoding them takes long. */
const READERS: Record<string, Match["read"]> = { "Seaport:OrderFulfilled": readOrderFulfilled };

/** For events that are so frequent that a rehearsal of their handlers takes long. */
const WANTS: Record<string, Match["wants"]> = { "Seaport:OrderFulfilled": wantOrder };

/** Finds the matches of a log by its first topic and its address. */
export type Dispatch = (topic: Hex, address: Hex) => readonly Match[];

/** Finds the handlers that Ponder would call for a log, in Ponder's order. */
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

/** Decodes logs by Ponder's own function. */
function createDecoder(event: AbiEvent): Match["decode"] {
  // If a log's array is cut off, Ponder's function leaves its ABI item changed. So a new copy is made after each error.
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
