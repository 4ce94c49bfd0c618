import type { Hex } from "viem";
import { ADDRESS_BYTES, hexAt, WORD_BYTES } from "./word.ts";

/** Which chain logs are of: its genesis block tells it from one that began anew under the same id. */
export type Chain = { chainId: number; genesisHash: string };

/**
 * A log as the chain has it, lower case hex, timestamp in Unix seconds. `sender` is who signed the transaction: known
 * where a source asks for it and it can matter, else null.
 */
export type ChainLog = {
  blockNumber: number;
  timestamp: number;
  blockHash: Hex;
  transactionHash: Hex;
  logIndex: number;
  address: Hex;
  topics: Hex[];
  data: Hex;
  sender: Hex | null;
  /** What is known of the log beside itself: `TRANSACTION_NOTES`. */
  note: Hex | null;
};

/**
 * All logs of the wanted sources in [fromBlock, toBlock], in order of (block, log index). Chunks follow each other
 * without gap or overlap and never split a block.
 */
export type Chunk = { fromBlock: number; toBlock: number; logs: LogColumns };

/**
 * Logs by column, in order of (block, log index). What repeats is there once: `blocks`, `transactions`, `addresses` and
 * the 32-byte `words` of topics and data are looked up by the numbers in the columns, so that what is worked out of a
 * word (an address, a decimal) can be kept by its number while the chunk lasts.
 */
export type LogColumns = {
  count: number;
  /** Of each log: place in `blocks`. Never falls. */
  blockOf: Uint32Array;
  /** Of each log: place in `transactions`. */
  transactionOf: Uint32Array;
  logIndexOf: Uint32Array;
  /** Of each log: place in `addresses`. */
  addressOf: Uint32Array;
  /** Of each log: how many of its words are topics; they come first. */
  topicCountOf: Uint8Array;
  /** Of each log, and one more: where its words begin in `wordOf`. */
  wordStartOf: Uint32Array;
  /** Topics, then whole words of data: places in `words`. */
  wordOf: Uint32Array;
  /** What data has beyond whole words, in hex without 0x, by the log's place. Most chunks have none. */
  tails: Map<number, string>;
  /** Notes by the log's place, of logs of sources that take any. Missing: none has one. */
  notes?: Map<number, Hex>;
  blocks: { count: number; numbers: Float64Array; timestamps: Float64Array; hashes: Buffer };
  /** Hashes of 32 bytes. Senders of 20 bytes; not asked for where `hasSender` is 0. */
  transactions: { count: number; hashes: Buffer; senders: Buffer; hasSender: Uint8Array };
  addresses: Hex[];
  /** 32 bytes each. */
  words: Buffer;
};

/** One log of the columns, whole. For what is rare: the columns are faster. */
export function logAt(logs: LogColumns, index: number): ChainLog {
  const block = logs.blockOf[index]!;
  const transaction = logs.transactionOf[index]!;
  const start = logs.wordStartOf[index]!;
  const end = logs.wordStartOf[index + 1]!;
  const dataStart = start + logs.topicCountOf[index]!;
  const topics: Hex[] = [];
  for (let at = start; at < dataStart; at++) topics.push(`0x${wordAt(logs, logs.wordOf[at]!)}`);
  let data = "";
  for (let at = dataStart; at < end; at++) data += wordAt(logs, logs.wordOf[at]!);
  return {
    blockNumber: logs.blocks.numbers[block]!,
    timestamp: logs.blocks.timestamps[block]!,
    blockHash: hexAt(logs.blocks.hashes, block * WORD_BYTES),
    transactionHash: hexAt(logs.transactions.hashes, transaction * WORD_BYTES),
    logIndex: logs.logIndexOf[index]!,
    address: logs.addresses[logs.addressOf[index]!]!,
    topics,
    data: `0x${data}${logs.tails.get(index) ?? ""}`,
    sender: senderOf(logs, transaction),
    note: logs.notes?.get(index) ?? null,
  };
}

/**
 * Who signed a transaction, by its place in `transactions`.
 *
 * @throws Error where nobody has asked: `addTransactionParts` and `src/settle.ts` don't agree about where it matters
 */
export function signerOf(logs: LogColumns, transaction: number): Hex {
  const sender = senderOf(logs, transaction);
  if (sender) return sender;
  const hash = hexAt(logs.transactions.hashes, transaction * WORD_BYTES);
  throw new Error(`Who signed transaction ${hash} is needed. Expected it to have been asked for.`);
}

function senderOf({ transactions: { senders, hasSender } }: LogColumns, transaction: number): Hex | null {
  return hasSender[transaction] ? hexAt(senders, transaction * ADDRESS_BYTES, ADDRESS_BYTES) : null;
}

/** A word in 64 hex digits without 0x. */
export function wordAt({ words }: LogColumns, word: number): string {
  return words.toString("hex", word * WORD_BYTES, (word + 1) * WORD_BYTES);
}
