import type { Hex } from "viem";
import type { LogPlace } from "../src/movement.ts";
import { ADDRESS_BYTES, hexAt, WORD_BYTES } from "./word.ts";

/** A chain. The hash of its genesis block tells it from an earlier chain that had the same id. */
export type Chain = { chainId: number; genesisHash: string };

/**
 * One log: hex in lower case, timestamp in Unix seconds. `sender` is who signed the transaction, null where nobody
 * needed to ask for it.
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
  /** What was found out about the log's transaction: see `TRANSACTION_NOTES`. */
  note: Hex | null;
};

/**
 * All logs of a filter in [fromBlock, toBlock], in order of (block, log index). Chunks follow each other without gap or
 * overlap and never split a block.
 */
export type Chunk = { fromBlock: number; toBlock: number; logs: LogColumns };

/**
 * Logs by column, in order of (block, log index). What repeats is stored once: columns have indexes into `blocks`,
 * `transactions`, `addresses` and `words` (the 32-byte words of topics and data). So what was decoded from a word, an
 * address for example, can be remembered by the word's index as long as the chunk lasts.
 */
export type LogColumns = {
  count: number;
  /** For each log its index in `blocks`, ascending. */
  blockOf: Uint32Array;
  /** For each log its index in `transactions`. */
  transactionOf: Uint32Array;
  logIndexOf: Uint32Array;
  /** For each log its index in `addresses`. */
  addressOf: Uint32Array;
  /** For each log how many of its words are topics. Topics come before data. */
  topicCountOf: Uint8Array;
  /** For each log where its words begin in `wordOf`, and at the end one more entry. */
  wordStartOf: Uint32Array;
  /** The words of all logs, topics and then whole words of data, as indexes in `words`. */
  wordOf: Uint32Array;
  /** The rest of data beyond whole words, in hex without 0x, by the log's index. Most chunks have none. */
  tails: Map<number, string>;
  /** Notes by the log's index. Missing where no log has one. */
  notes?: Map<number, Hex>;
  blocks: { count: number; numbers: Float64Array; timestamps: Float64Array; hashes: Buffer };
  /** Hashes of 32 bytes, senders of 20 bytes. A sender is known only where `hasSender` is 1. */
  transactions: { count: number; hashes: Buffer; senders: Buffer; hasSender: Uint8Array };
  addresses: Hex[];
  /** 32 bytes for each word. */
  words: Buffer;
};

/** One log as an object. Slow: where there are many logs, read the columns. */
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

/** Where one log stands. */
export function placeAt(logs: LogColumns, index: number): LogPlace {
  const block = logs.blockOf[index]!;
  return {
    contractAddress: logs.addresses[logs.addressOf[index]!]!,
    blockNumber: logs.blocks.numbers[block]!,
    logIndex: logs.logIndexOf[index]!,
    timestamp: logs.blocks.timestamps[block]!,
    blockHash: hexAt(logs.blocks.hashes, block * WORD_BYTES),
    transactionHash: hexAt(logs.transactions.hashes, logs.transactionOf[index]! * WORD_BYTES),
  };
}

/**
 * Who signed a transaction, by its index in `transactions`.
 *
 * @throws Error where the sender wasn't asked for: then `addTransactionParts` and `src/settle.ts` don't agree about
 * when it is needed
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

/** A word as 64 hex digits without 0x. */
export function wordAt({ words }: LogColumns, word: number): string {
  return words.toString("hex", word * WORD_BYTES, (word + 1) * WORD_BYTES);
}
