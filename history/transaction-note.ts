import type { Hex } from "viem";
import { findCurrency } from "../abis/wyvern.ts";
import type { NoteOf } from "../src/define.ts";
import type { ChainLog } from "./chain-log.ts";
import type { NoteName } from "./wanted.ts";
import { type BlockLog, findPayment, topicsOfPayment } from "./wyvern-payment.ts";

/** How a note is found: from the call of the log's transaction or, where that doesn't tell, from other logs. */
type TransactionNote = {
  ofCall: NoteOf;
  /** The topics of the logs of its block to ask for. They must match the log itself, too. */
  topicsOf: (log: ChainLog) => Hex[][];
  /** `after`: the index of the log before it in its transaction that has such a note, or -1. */
  ofLogs: (log: ChainLog, logs: readonly BlockLog[], place: { after: number }) => Hex | null;
};

/** All notes by name. The name is stored with kept logs: a note that is found in another way needs a new name. */
export const TRANSACTION_NOTES: Record<NoteName, TransactionNote> = {
  "wyvern payment": { ofCall: findCurrency, topicsOf: topicsOfPayment, ofLogs: findPayment },
};
