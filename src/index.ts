import { ponder } from "ponder:registry";
import type { Handler, Log, NoteOf } from "./define.ts";
import { definitions } from "./definitions.ts";
import { contextOfLog, type PonderContext } from "./ponder-store.ts";

/** Registers every handler of the definitions with Ponder, and brings Ponder's events into the definitions' shape. */

type PonderEvent = {
  args: unknown;
  block: { number: bigint; timestamp: bigint; hash: Log["data"] };
  log: { address: Log["data"]; logIndex: number; topics: Log["topics"]; data: Log["data"] };
  transaction: { hash: Log["data"]; from: Log["data"]; to: Log["data"] | null; input: Log["data"] };
};

type On = (name: string, run: (arrival: { event: PonderEvent; context: PonderContext }) => Promise<void>) => void;

for (const [name, { handlers, noteOf }] of Object.entries(definitions))
  for (const [eventName, handle] of Object.entries(handlers))
    (ponder.on as unknown as On)(`${name}:${eventName}`, ({ event, context }) =>
      (handle as Handler)(logOf(event, noteOf), contextOfLog(context, event.transaction.from)),
    );

function logOf({ args, block, log, transaction }: PonderEvent, noteOf: NoteOf | undefined): Log {
  return {
    place: {
      contractAddress: log.address,
      blockNumber: Number(block.number),
      logIndex: log.logIndex,
      timestamp: Number(block.timestamp),
      blockHash: block.hash,
      transactionHash: transaction.hash,
    },
    args,
    topics: log.topics,
    data: log.data,
    note: noteOf?.(transaction, log.address) ?? null,
  };
}
