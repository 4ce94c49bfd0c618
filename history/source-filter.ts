import { type AbiEvent, toEventSelector } from "viem";
import type { Source } from "../sources.ts";
import { definitions } from "../src/definitions.ts";
import { TRANSACTION_NOTES } from "./transaction-note.ts";
import { type LogFilter, normalize, type NoteName, type WantedLogs } from "./wanted.ts";

/** The filter for all logs that the sources need. */
export function filterOfSources(sources: Source[]): LogFilter {
  const wanted = sources.flatMap(({ name, abi, addresses, needsSender }): WantedLogs[] => {
    const { noteOf } = definitions[name]!;
    const note = Object.entries(TRANSACTION_NOTES).find(([, { ofCall }]) => ofCall === noteOf)?.[0] as
      | NoteName
      | undefined;
    if (noteOf && !note) throw new Error(`${name} takes a note that TRANSACTION_NOTES doesn't have.`);
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
