import type { Hex } from "viem";
import type { LogColumns } from "../chain-log.ts";
import { release } from "../release.ts";
import { copyWord, createWordSet, internNear, internWord, intsOf, reserveWord, type WordSet } from "./word-set.ts";
import { ADDRESS_AT, ADDRESS_BYTES, hexAt, WORD_BYTES } from "../word.ts";

/** Logs that are being collected, in columns that grow. `columnsOf` makes `LogColumns` of it. */
export type LogTable = {
  count: number;
  blockOf: Uint32Array;
  transactionOf: Uint32Array;
  /** As the answer tells it, or `UNKNOWN_INDEX`. Not known of logs that were appended. */
  transactionIndexOf: Int32Array;
  logIndexOf: Uint32Array;
  addressOf: Uint32Array;
  topicCountOf: Uint8Array;
  wordStartOf: Uint32Array;
  wordCount: number;
  wordOf: Uint32Array;
  tails: Map<number, string>;
  notes: Map<number, Hex>;
  blocks: WordSet;
  numbers: number[];
  /** As the logs tell it, or `UNKNOWN_TIME`, until the block's header is read. */
  timestamps: number[];
  blockPlaces: Map<number, number>;
  /** Numbers of blocks of which one answer has two logs with one index, one after the other. */
  doubled: Set<number>;
  transactions: WordSet;
  senders: Map<number, string>;
  /** Padded with zeros on the left to 32 bytes. */
  addresses: WordSet;
  words: WordSet;
};

/** The time of a block whose logs don't tell it. */
export const UNKNOWN_TIME = -1;

/** The index of a transaction that its logs don't tell. */
export const UNKNOWN_INDEX = -1;

/** An empty table with room for about so many logs. It grows. */
export function createLogTable(capacity = 1024): LogTable {
  return {
    count: 0,
    blockOf: new Uint32Array(capacity),
    transactionOf: new Uint32Array(capacity),
    transactionIndexOf: new Int32Array(capacity),
    logIndexOf: new Uint32Array(capacity),
    addressOf: new Uint32Array(capacity),
    topicCountOf: new Uint8Array(capacity),
    wordStartOf: new Uint32Array(capacity + 1),
    wordCount: 0,
    wordOf: new Uint32Array(capacity * 5),
    tails: new Map(),
    notes: new Map(),
    blocks: createWordSet(64),
    numbers: [],
    timestamps: [],
    blockPlaces: new Map(),
    doubled: new Set(),
    transactions: createWordSet(capacity),
    senders: new Map(),
    addresses: createWordSet(64),
    words: createWordSet(capacity),
  };
}

/** Makes room for one more log with so many words. */
export function reserveLog(table: LogTable, words: number): void {
  if (table.count === table.blockOf.length) {
    const capacity = table.count * 2;
    table.blockOf = grown(table.blockOf, capacity);
    table.transactionOf = grown(table.transactionOf, capacity);
    table.transactionIndexOf = grown(table.transactionIndexOf, capacity);
    table.logIndexOf = grown(table.logIndexOf, capacity);
    table.addressOf = grown(table.addressOf, capacity);
    table.topicCountOf = grown(table.topicCountOf, capacity);
    table.wordStartOf = grown(table.wordStartOf, capacity + 1);
  }
  if (table.wordCount + words > table.wordOf.length)
    table.wordOf = grown(table.wordOf, Math.max(table.wordOf.length * 2, table.wordCount + words));
}

/**
 * Returns the index of the block whose hash was written at `reserveWord(table.blocks)`, and adds the block if it is
 * new. Undefined where the table has the block with another hash.
 */
export function placeBlock(table: LogTable, blockNumber: number, timestamp: number): number | undefined {
  const { blocks, numbers, timestamps, blockPlaces } = table;
  const known = blockPlaces.get(blockNumber);
  const place = internNear(blocks, known ?? -1);
  if (known !== undefined) return place === known ? known : undefined;
  // Two blocks can't have one hash.
  if (place < numbers.length) return undefined;
  numbers.push(blockNumber);
  timestamps.push(timestamp);
  blockPlaces.set(blockNumber, place);
  return place;
}

/** Removes the logs from index `count` on. `wordCount`: how many words belong to the logs before. */
export function dropLogs(table: LogTable, { count, wordCount }: Pick<LogTable, "count" | "wordCount">): void {
  Object.assign(table, { count, wordCount });
  for (const log of table.tails.keys()) if (log >= count) table.tails.delete(log);
}

/**
 * Appends those logs of `source` whose indexes are in `places`, in that order. Their blocks must fit those of the
 * table.
 */
export function appendLogs(table: LogTable, source: LogColumns, places: Iterable<number>): void {
  const append = createAppender(table, source);
  for (const log of places) append(log);
}

/** Appends logs of `source`, one with each call. What repeats in them is looked up in the table only once. */
export function createAppender(table: LogTable, source: LogColumns): (log: number) => void {
  const blockPlaces = new Int32Array(source.blocks.count).fill(-1);
  const transactionPlaces = new Int32Array(source.transactions.count).fill(-1);
  const addressPlaces = new Int32Array(source.addresses.length).fill(-1);
  const wordPlaces = new Int32Array(source.words.length / WORD_BYTES).fill(-1);
  const words = intsOf(source.words);
  const blockHashes = intsOf(source.blocks.hashes);
  const transactionHashes = intsOf(source.transactions.hashes);
  const appendBlock = (block: number) => {
    copyWord(table.blocks, blockHashes, block);
    const place = placeBlock(table, source.blocks.numbers[block]!, source.blocks.timestamps[block]!);
    if (place === undefined) throw new Error(`Block ${source.blocks.numbers[block]} has two hashes.`);
    return place;
  };
  const appendTransaction = (transaction: number) => {
    const { senders, hasSender } = source.transactions;
    copyWord(table.transactions, transactionHashes, transaction);
    const place = internWord(table.transactions);
    if (hasSender[transaction])
      table.senders.set(place, senders.toString("hex", transaction * ADDRESS_BYTES, (transaction + 1) * ADDRESS_BYTES));
    return place;
  };
  const appendAddress = (address: number) => internAddress(table, source.addresses[address]!);

  return (log) => {
    const start = source.wordStartOf[log]!;
    const end = source.wordStartOf[log + 1]!;
    reserveLog(table, end - start);
    const at = table.count;
    table.blockOf[at] = mapped(blockPlaces, source.blockOf[log]!, appendBlock);
    table.transactionOf[at] = mapped(transactionPlaces, source.transactionOf[log]!, appendTransaction);
    table.addressOf[at] = mapped(addressPlaces, source.addressOf[log]!, appendAddress);
    table.logIndexOf[at] = source.logIndexOf[log]!;
    table.topicCountOf[at] = source.topicCountOf[log]!;
    let next = table.wordCount;
    for (let from = start; from < end; from++) {
      const word = source.wordOf[from]!;
      let place = wordPlaces[word]!;
      if (place < 0) {
        copyWord(table.words, words, word);
        place = wordPlaces[word] = internWord(table.words);
      }
      table.wordOf[next++] = place;
    }
    table.wordCount = next;
    const tail = source.tails.get(log);
    if (tail !== undefined) table.tails.set(at, tail);
    const note = source.notes?.get(log);
    if (note !== undefined) table.notes.set(at, note);
    table.count = at + 1;
    table.wordStartOf[at + 1] = next;
  };
}

/** Adds what `source` knows of a log's transaction to the table's last log, which is the same log. */
export function addKnownParts(table: LogTable, { transactionOf, transactions, notes }: LogColumns, log: number) {
  const at = table.count - 1;
  const transaction = transactionOf[log]!;
  const { senders, hasSender } = transactions;
  if (hasSender[transaction])
    table.senders.set(
      table.transactionOf[at]!,
      senders.toString("hex", transaction * ADDRESS_BYTES, (transaction + 1) * ADDRESS_BYTES),
    );
  const note = notes?.get(log);
  if (note !== undefined) table.notes.set(at, note);
}

/** The columns of a table, cut to size. They share its memory, so the table must not be used after that. */
export function columnsOf(table: LogTable): LogColumns {
  const { count, numbers, blocks, transactions, addresses, words, senders } = table;
  const hasSender = new Uint8Array(transactions.count);
  const senderBytes = Buffer.from(new ArrayBuffer(senders.size > 0 ? transactions.count * ADDRESS_BYTES : 0));
  for (const [transaction, sender] of senders) {
    hasSender[transaction] = 1;
    senderBytes.write(sender, transaction * ADDRESS_BYTES, "hex");
  }
  const columns: LogColumns = {
    count,
    blockOf: table.blockOf.slice(0, count),
    transactionOf: table.transactionOf.slice(0, count),
    logIndexOf: table.logIndexOf.slice(0, count),
    addressOf: table.addressOf.slice(0, count),
    topicCountOf: table.topicCountOf.slice(0, count),
    wordStartOf: table.wordStartOf.slice(0, count + 1),
    wordOf: table.wordOf.slice(0, table.wordCount),
    tails: table.tails,
    notes: table.notes,
    blocks: {
      count: numbers.length,
      numbers: Float64Array.from(numbers),
      timestamps: Float64Array.from(table.timestamps),
      hashes: bytesOf(blocks),
    },
    transactions: { count: transactions.count, hashes: bytesOf(transactions), senders: senderBytes, hasSender },
    addresses: Array.from({ length: addresses.count }, (_, place): Hex =>
      hexAt(addresses.bytes, place * WORD_BYTES + ADDRESS_AT, ADDRESS_BYTES),
    ),
    words: bytesOf(words),
  };
  const { blockOf, transactionOf, logIndexOf, addressOf, topicCountOf, wordStartOf, wordOf } = table;
  release(blockOf, transactionOf, logIndexOf, addressOf, topicCountOf, wordStartOf, wordOf);
  for (const set of [blocks, transactions, addresses, words]) release(set.bytes, set.slots);
  return columns;
}

function internAddress(table: LogTable, address: Hex): number {
  const at = reserveWord(table.addresses);
  table.addresses.bytes.fill(0, at, at + ADDRESS_AT);
  table.addresses.bytes.write(address.slice(2), at + ADDRESS_AT, "hex");
  return internWord(table.addresses);
}

function mapped(places: Int32Array, key: number, make: (key: number) => number): number {
  const known = places[key]!;
  return known >= 0 ? known : (places[key] = make(key));
}

function bytesOf({ bytes, count }: WordSet): Buffer {
  return Buffer.from(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + count * WORD_BYTES) as ArrayBuffer);
}

function grown<T extends Uint32Array | Int32Array | Uint8Array>(column: T, length: number): T {
  const next = new (column.constructor as new (length: number) => T)(length);
  next.set(column);
  return next;
}
