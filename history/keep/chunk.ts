import { zstdCompressSync, zstdDecompressSync } from "node:zlib";
import type { Hex } from "viem";
import type { Chunk, LogColumns } from "../chain-log.ts";
import { type Bytes, createBytes, type Reader, readVarint, takeBytes, writeAll, writeVarint } from "./varint.ts";
import { ADDRESS_BYTES, WORD_BYTES } from "../word.ts";

/** The first byte of a kept chunk. Another layout needs another number. */
const LAYOUT = 1;

/**
 * Words have a stream for each place in a log, because words at the same place are alike. The last one has all further
 * words.
 */
const PLACES = 8;

/** Thrown where bytes are no chunk. */
export class ChunkError extends Error {}

/**
 * Encodes a chunk for keeping, in about 35 bytes a log. Each column is a stream of its own, what repeats is stored
 * once, leading zeros are left out, and all of it is compressed together.
 */
export function encodeChunk({ fromBlock, toBlock, logs }: Chunk): Buffer {
  const head = createBytes();
  for (const number of [LAYOUT, fromBlock, toBlock - fromBlock, logs.count]) writeVarint(head, number);
  const { blocks, transactions, addresses } = logs;
  for (const number of [blocks.count, transactions.count, addresses.length, logs.words.length / WORD_BYTES])
    writeVarint(head, number);

  const perBlock = createBytes();
  for (let block = 0, number = fromBlock, time = 0; block < blocks.count; block++) {
    writeVarint(perBlock, blocks.numbers[block]! - number);
    // Time may go back: that happens only on test chains, but they can be kept.
    const step = blocks.timestamps[block]! - time;
    writeVarint(perBlock, step < 0 ? -step * 2 - 1 : step * 2);
    number = blocks.numbers[block]!;
    time = blocks.timestamps[block]!;
  }

  const hashes = createBytes();
  writeAll(hashes, blocks.hashes);
  writeAll(hashes, transactions.hashes);
  writeAll(hashes, transactions.hasSender);
  for (let place = 0; place < transactions.count; place++)
    if (transactions.hasSender[place])
      writeAll(hashes, transactions.senders.subarray(place * ADDRESS_BYTES, (place + 1) * ADDRESS_BYTES));
  writeAll(hashes, Buffer.from(addresses.map((address) => address.slice(2)).join(""), "hex"));

  const streams = [head, perBlock, hashes, ...encodeLogs(logs), ...encodeWords(logs.words)];
  const sizes = createBytes();
  writeVarint(sizes, streams.length);
  for (const stream of streams) writeVarint(sizes, stream.length);
  const parts = [sizes, ...streams].map(({ bytes, length }) => bytes.subarray(0, length));
  return zstdCompressSync(Buffer.concat(parts));
}

/** @throws ChunkError where the bytes are no chunk, or one of another layout */
export function decodeChunk(content: Uint8Array): Chunk {
  try {
    return decode(zstdDecompressSync(content));
  } catch (error) {
    if (error instanceof ChunkError) throw error;
    throw new ChunkError("The bytes of a kept chunk can't be read.", { cause: error });
  }
}

function encodeLogs(logs: LogColumns): Bytes[] {
  const places = createBytes();
  const shapes = createBytes();
  const extras = createBytes();
  const words = Array.from({ length: PLACES }, createBytes);
  const last = { block: 0, transaction: 0, logIndex: -1 };
  let nextWord = 0;
  for (let log = 0; log < logs.count; log++) {
    const block = logs.blockOf[log]!;
    const transaction = logs.transactionOf[log]!;
    const logIndex = logs.logIndexOf[log]!;
    if (block !== last.block) last.logIndex = -1;
    writeVarint(places, block - last.block);
    // It is nearly always the same transaction, or the next one.
    writeVarint(places, transaction >= last.transaction ? (transaction - last.transaction) * 2 : transaction * 2 + 1);
    writeVarint(places, logIndex - last.logIndex - 1);
    Object.assign(last, { block, transaction, logIndex });
    const start = logs.wordStartOf[log]!;
    const end = logs.wordStartOf[log + 1]!;
    const tail = logs.tails.get(log);
    writeVarint(shapes, logs.addressOf[log]!);
    writeVarint(shapes, logs.topicCountOf[log]!);
    const note = logs.notes?.get(log);
    writeVarint(shapes, (end - start) * 4 + (tail === undefined ? 0 : 1) + (note === undefined ? 0 : 2));
    for (let at = start; at < end; at++) {
      const word = logs.wordOf[at]!;
      writeVarint(words[Math.min(at - start, PLACES - 1)]!, word === nextWord ? 0 : word + 1);
      if (word === nextWord) nextWord++;
    }
    if (tail !== undefined) writeHex(extras, tail);
    if (note !== undefined) writeHex(extras, note.slice(2));
  }
  return [places, shapes, extras, ...words];
}

function writeHex(target: Bytes, digits: string): void {
  writeVarint(target, digits.length / 2);
  writeAll(target, Buffer.from(digits, "hex"));
}

function readHex(source: Reader): string {
  return takeBytes(source, readVarint(source)).toString("hex");
}

/** Two streams: how many bytes each word has without its leading zeros, and those bytes. */
function encodeWords(words: Buffer): [Bytes, Bytes] {
  const sizes = createBytes();
  const contents = createBytes();
  for (let start = 0; start < words.length; start += WORD_BYTES) {
    let first = start;
    while (first < start + WORD_BYTES && words[first] === 0) first++;
    writeVarint(sizes, start + WORD_BYTES - first);
    writeAll(contents, words.subarray(first, start + WORD_BYTES));
  }
  return [sizes, contents];
}

function decode(bytes: Buffer): Chunk {
  const sizes: Reader = { bytes, at: 0 };
  const lengths = Array.from({ length: readVarint(sizes) }, () => readVarint(sizes));
  let { at } = sizes;
  const streams = lengths.map((length): Reader => {
    const stream = { bytes: bytes.subarray(at, at + length), at: 0 };
    at += length;
    return stream;
  });
  const [head, perBlock, hashes, places, shapes, extras, ...rest] = streams as [
    Reader,
    Reader,
    Reader,
    Reader,
    Reader,
    Reader,
    ...Reader[],
  ];
  const wordPlaces = rest.slice(0, PLACES);
  const [wordSizes, wordContents] = rest.slice(PLACES) as [Reader, Reader];
  if (at !== bytes.length || !wordContents || readVarint(head) !== LAYOUT)
    throw new ChunkError("A kept chunk is not of the layout that this version reads.");

  const fromBlock = readVarint(head);
  const toBlock = fromBlock + readVarint(head);
  const [count, blockCount, transactionCount, addressCount, wordCount] = Array.from({ length: 5 }, () =>
    readVarint(head),
  ) as [number, number, number, number, number];

  const blocks = decodeBlocks(perBlock, hashes, { fromBlock, count: blockCount });
  const transactions = decodeTransactions(hashes, transactionCount);
  const addresses = Array.from(
    { length: addressCount },
    (): Hex => `0x${takeBytes(hashes, ADDRESS_BYTES).toString("hex")}`,
  );

  const logs: LogColumns = {
    count,
    blockOf: new Uint32Array(count),
    transactionOf: new Uint32Array(count),
    logIndexOf: new Uint32Array(count),
    addressOf: new Uint32Array(count),
    topicCountOf: new Uint8Array(count),
    wordStartOf: new Uint32Array(count + 1),
    wordOf: new Uint32Array(wordPlaces.reduce((sum, { bytes }) => sum + bytes.length, 0)),
    tails: new Map(),
    notes: new Map(),
    blocks,
    transactions,
    addresses,
    words: decodeWords(wordSizes, wordContents, wordCount),
  };
  decodeLogs(logs, { places, shapes, extras, words: wordPlaces });
  return { fromBlock, toBlock, logs };
}

function decodeBlocks(
  perBlock: Reader,
  hashes: Reader,
  { fromBlock, count }: { fromBlock: number; count: number },
): LogColumns["blocks"] {
  const numbers = new Float64Array(count);
  const timestamps = new Float64Array(count);
  for (let block = 0, number = fromBlock, time = 0; block < count; block++) {
    numbers[block] = number += readVarint(perBlock);
    const step = readVarint(perBlock);
    timestamps[block] = time += step % 2 === 1 ? -(step + 1) / 2 : step / 2;
  }
  return { count, numbers, timestamps, hashes: takeBytes(hashes, count * WORD_BYTES) };
}

/** Fills the columns of logs out of what `encodeLogs` has written of them. */
function decodeLogs(
  logs: LogColumns,
  { places, shapes, extras, words }: { places: Reader; shapes: Reader; extras: Reader; words: Reader[] },
): void {
  let [block, transaction, logIndex, nextWord, wordAt] = [0, 0, -1, 0, 0];
  for (let log = 0; log < logs.count; log++) {
    const blockStep = readVarint(places);
    if (blockStep > 0) logIndex = -1;
    block += blockStep;
    const step = readVarint(places);
    transaction = step % 2 === 1 ? (step - 1) / 2 : transaction + step / 2;
    logIndex += readVarint(places) + 1;
    logs.blockOf[log] = block;
    logs.transactionOf[log] = transaction;
    logs.logIndexOf[log] = logIndex;
    logs.addressOf[log] = readVarint(shapes);
    logs.topicCountOf[log] = readVarint(shapes);
    const shape = readVarint(shapes);
    const size = shape >>> 2;
    for (let place = 0; place < size; place++) {
      const word = readVarint(words[place < PLACES ? place : PLACES - 1]!);
      logs.wordOf[wordAt++] = word === 0 ? nextWord++ : word - 1;
    }
    logs.wordStartOf[log + 1] = wordAt;
    if (shape & 1) logs.tails.set(log, readHex(extras));
    if (shape & 2) logs.notes!.set(log, `0x${readHex(extras)}`);
  }
  logs.wordOf = logs.wordOf.slice(0, wordAt);
}

function decodeTransactions(from: Reader, count: number): LogColumns["transactions"] {
  const hashes = takeBytes(from, count * WORD_BYTES);
  const hasSender = Uint8Array.from(takeBytes(from, count));
  const isAny = hasSender.includes(1);
  const senders = Buffer.from(new ArrayBuffer(isAny ? count * ADDRESS_BYTES : 0));
  for (let place = 0; place < count; place++)
    if (hasSender[place]) takeBytes(from, ADDRESS_BYTES).copy(senders, place * ADDRESS_BYTES);
  return { count, hashes, senders, hasSender };
}

function decodeWords(sizes: Reader, contents: Reader, count: number): Buffer {
  const words = Buffer.from(new ArrayBuffer(count * WORD_BYTES));
  const { bytes } = contents;
  let { at } = contents;
  for (let end = WORD_BYTES; end <= words.length; end += WORD_BYTES) {
    const size = readVarint(sizes);
    for (let place = end - size; place < end; place++) words[place] = bytes[at++]!;
  }
  return words;
}
