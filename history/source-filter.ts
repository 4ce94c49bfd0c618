import { type AbiEvent, type Hex, toEventSelector } from "viem";
import { findCurrency } from "../abis/wyvern.ts";
import type { Source } from "../sources.ts";
import type { ChainLog } from "./chain-log.ts";
import { type LogFilter, normalize, type NoteName, type WantedLogs } from "./wanted.ts";
import { type BlockLog, findPayment, topicsOfPayment } from "./wyvern-payment.ts";

/** How a note is worked out, from the call of the log's transaction or, where that says nothing, from other logs. */
type TransactionNote = {
  ofCall: NonNullable<Source["noteOf"]>;
  /** Of the logs to ask the log's block for. They are to be with the log itself. */
  topicsOf: (log: ChainLog) => Hex[][];
  /** `after`: index of the log with such a note before it in its transaction, or -1. */
  ofLogs: (log: ChainLog, logs: readonly BlockLog[], place: { after: number }) => Hex | null;
};

/** A note that is worked out in another way needs another name: what is kept stands under it. */
export const TRANSACTION_NOTES: Record<NoteName, TransactionNote> = {
  "wyvern payment": { ofCall: findCurrency, topicsOf: topicsOfPayment, ofLogs: findPayment },
};

/** What sources ask of a chain. */
export function filterOfSources(sources: Source[]): LogFilter {
  const wanted = sources.flatMap(({ abi, addresses, needsSender, noteOf }): WantedLogs[] => {
    const note = Object.entries(TRANSACTION_NOTES).find(([, { ofCall }]) => ofCall === noteOf)?.[0] as
      | NoteName
      | undefined;
    if (noteOf && !note) throw new Error("A source takes a note that TRANSACTION_NOTES doesn't have.");
    const events = abi.filter((item): item is AbiEvent => item.type === "event");
    return events.map((event) => ({
      addresses,
      topics: [toEventSelector(event)],
      // A log with fewer topics than the event has indexed arguments can't be decoded.
      minTopics: 1 + event.inputs.filter(({ indexed }) => indexed).length,
      ofTransaction: note ?? (needsSender ? "sender" : ""),
    }));
  });
  return normalize(wanted);
}
