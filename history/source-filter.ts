import { type AbiEvent, toEventSelector } from "viem";
import { findCurrency } from "../abis/wyvern.ts";
import type { Source } from "../sources.ts";
import { type LogFilter, normalize, type NoteName, type WantedLogs } from "./wanted.ts";

/** A note that is worked out in another way needs another name: what is kept stands under it. */
export const TRANSACTION_NOTES: Record<NoteName, NonNullable<Source["noteOf"]>> = { "wyvern currency": findCurrency };

/** What sources ask of a chain. */
export function filterOfSources(sources: Source[]): LogFilter {
  const wanted = sources.flatMap(({ abi, addresses, needsSender, noteOf }): WantedLogs[] => {
    const note = Object.entries(TRANSACTION_NOTES).find(([, take]) => take === noteOf)?.[0] as NoteName | undefined;
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
