import type { Hex } from "viem";
import { findCurrency } from "../abis/wyvern.ts";
import type { NoteOf } from "../src/define.ts";
import type { ChainLog } from "./chain-log.ts";
import type { NoteName } from "./wanted.ts";
import { type BlockLog, findPayment, topicsOfPayment } from "./wyvern-payment.ts";

/** How a note is worked out, from the call of the log's transaction or, where that says nothing, from other logs. */
type TransactionNote = {
  ofCall: NoteOf;
  /** Of the logs to ask the log's block for. They are to be with the log itself. */
  topicsOf: (log: ChainLog) => Hex[][];
  /** `after`: index of the log with such a note before it in its transaction, or -1. */
  ofLogs: (log: ChainLog, logs: readonly BlockLog[], place: { after: number }) => Hex | null;
};

/** A note that is worked out in another way needs another name: what is kept stands under it. */
export const TRANSACTION_NOTES: Record<NoteName, TransactionNote> = {
  "wyvern payment": { ofCall: findCurrency, topicsOf: topicsOfPayment, ofLogs: findPayment },
};
