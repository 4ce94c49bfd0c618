import { zstdCompressSync, zstdDecompressSync } from "node:zlib";
import * as fc from "fast-check";
import type { Hex } from "viem";
import { expect, test } from "vitest";
import { type ChainLog, logAt, type LogColumns } from "../chain-log.ts";
import { ChunkError, decodeChunk, encodeChunk } from "../keep/chunk.ts";
import { readVarint } from "../keep/varint.ts";
import { JsonError } from "../json-scan.ts";
import { BadLogError, readLogAnswer } from "./log-answer.ts";
import { appendLogs, columnsOf, createLogTable } from "./log-table.ts";

const hex = (bytes: number) => fc.uint8Array({ minLength: bytes, maxLength: bytes }).map(toHex);
const toHex = (bytes: Uint8Array): Hex => `0x${Buffer.from(bytes).toString("hex")}`;
/** Most words are numbers and addresses, and many repeat. */
const word = fc.oneof(
  fc.constantFrom<Hex>(`0x${"0".repeat(64)}`, `0x${"f".repeat(64)}`),
  fc.nat(300).map((value): Hex => `0x${value.toString(16).padStart(64, "0")}`),
  hex(32),
);
const address = fc.oneof(
  hex(20),
  fc.nat(3).map((value): Hex => `0x${String(value).repeat(40)}`),
);

const log = fc.record({
  topics: fc.array(word, { maxLength: 4 }),
  words: fc.array(word, { maxLength: 12 }),
  tail: fc.uint8Array({ maxLength: 31 }),
  address,
  isNextTransaction: fc.boolean(),
  isNextBlock: fc.boolean(),
  gap: fc.nat(300),
});

/** Logs of a chain, in order. There are so many that all memory has to grow. */
const chainLogs = fc
  .record({
    logs: fc.array(log, { minLength: 1, maxLength: 40 }),
    repeats: fc.constantFrom(1, 1, 1, 60),
    first: fc.nat(2 ** 40),
  })
  .map(({ logs, repeats, first }) => {
    let [blockNumber, transaction, logIndex] = [first, 0, 0];
    const numbered = (value: number): Hex => `0x${value.toString(16).padStart(64, "0")}`;
    return Array.from({ length: repeats }, () => logs)
      .flat()
      .map(({ topics, words, tail, address, ...next }): ChainLog => {
        if (next.isNextBlock) {
          blockNumber += next.gap + 1;
          logIndex = 0;
        }
        if (next.isNextBlock || next.isNextTransaction) transaction++;
        logIndex += next.gap + 1;
        return {
          blockNumber,
          timestamp: blockNumber * 2,
          blockHash: numbered(blockNumber),
          transactionHash: numbered(transaction + 10 ** 9),
          logIndex,
          address,
          topics,
          data: `0x${words.map((each) => each.slice(2)).join("")}${Buffer.from(tail).toString("hex")}`,
          sender: null,
          note: null,
        };
      });
  });

/** An answer as nodes write it: keys in any order and others among them, with spaces and capitals. */
function answerOf(logs: ChainLog[], { seed = 0, spaces = "" } = {}): Buffer {
  const items = logs.map((each, at) => {
    const fields = {
      address: each.address,
      topics: each.topics,
      data: each.data,
      blockNumber: `0x${each.blockNumber.toString(16)}`,
      transactionHash: each.transactionHash.toUpperCase().replace("0X", "0x"),
      blockHash: each.blockHash,
      logIndex: `0x${each.logIndex.toString(16)}`,
      blockTimestamp: `0x${each.timestamp.toString(16)}`,
      removed: false,
      extra: { "nested]": ['a "quoted" }', { deep: [1, null, true] }], data: "0xzz" },
    };
    const entries = Object.entries(fields);
    const turn = (seed + at) % entries.length;
    return Object.fromEntries([...entries.slice(turn), ...entries.slice(0, turn)]);
  });
  return Buffer.from(JSON.stringify({ jsonrpc: "2.0", result: items, id: 7 }, undefined, spaces));
}

function read(bytes: Uint8Array): LogColumns {
  const table = createLogTable(16);
  readLogAnswer(table, { bytes, isWanted: () => true });
  // As their headers say.
  table.timestamps = table.numbers.map((number) => number * 2);
  return columnsOf(table);
}

const listOf = (logs: LogColumns) => Array.from({ length: logs.count }, (_, at) => logAt(logs, at));

test("logs are what an answer says, however it is written", () => {
  fc.assert(
    fc.property(chainLogs, fc.nat(), fc.constantFrom("", " ", "\n\t"), (logs, seed, spaces) => {
      expect(listOf(read(answerOf(logs, { seed, spaces })))).toEqual(logs);
    }),
  );
});

test("a kept chunk is the same logs again", () => {
  fc.assert(
    fc.property(chainLogs, fc.array(fc.tuple(fc.nat(), hex(20))), fc.array(fc.nat()), (logs, senders, mixed) => {
      const columns = read(answerOf(logs));
      // Their times and indexes are in no order.
      for (const [at, number] of mixed.entries()) {
        columns.blocks.timestamps[at % columns.blocks.count] = number;
        columns.transactionOf[at % columns.count] = number % columns.transactions.count;
      }
      columns.transactions.senders = Buffer.from(new ArrayBuffer(columns.transactions.count * 20));
      columns.notes = new Map();
      for (const [at, sender] of senders) {
        columns.transactions.hasSender[at % columns.transactions.count] = 1;
        columns.transactions.senders.write(sender.slice(2), (at % columns.transactions.count) * 20, "hex");
        columns.notes.set(at % columns.count, sender);
      }
      const chunk = {
        fromBlock: Math.max(0, logs[0]!.blockNumber - 1),
        toBlock: logs.at(-1)!.blockNumber + 5,
        logs: columns,
      };
      const { logs: decoded, ...range } = decodeChunk(encodeChunk(chunk));
      expect(range).toEqual({ fromBlock: chunk.fromBlock, toBlock: chunk.toBlock });
      expect(listOf(decoded)).toEqual(listOf(columns));
    }),
  );
});

test("logs that are put together out of parts are the same logs", () => {
  fc.assert(
    fc.property(chainLogs, fc.array(fc.nat()), (logs, cuts) => {
      const columns = read(answerOf(logs));
      const bounds = [0, ...cuts.map((cut) => cut % (logs.length + 1)), logs.length].toSorted((a, b) => a - b);
      const table = createLogTable(1);
      for (const [at, start] of bounds.entries()) {
        const part = createLogTable(1);
        appendLogs(
          part,
          columns,
          Array.from({ length: (bounds[at + 1] ?? start) - start }, (_, place) => start + place),
        );
        const partColumns = columnsOf(part);
        appendLogs(table, partColumns, partColumns.blockOf.keys());
      }
      const whole = columnsOf(table);
      expect(listOf(whole)).toEqual(logs);
      // What repeats is stored once.
      expect(whole.transactions.count).toBe(new Set(logs.map(({ transactionHash }) => transactionHash)).size);
      expect(whole.blocks.count).toBe(new Set(logs.map(({ blockHash }) => blockHash)).size);
    }),
  );
});

test("an answer that is cut off anywhere is noticed", () => {
  fc.assert(
    fc.property(chainLogs, fc.nat(), (logs, at) => {
      const bytes = answerOf(logs);
      expect(() => read(bytes.subarray(0, at % bytes.length))).toThrow(JsonError);
    }),
  );
});

test.each([
  ["a digit that is none", (text: string) => text.replace(/"data":"0x/, '"data":"0xg0'), BadLogError],
  ["a hash that is too short", (text: string) => text.replace(/"blockHash":"0x../, '"blockHash":"0x'), JsonError],
  ["no block", (text: string) => text.replace(/"blockNumber":"[^"]*"/, '"blockNumber":null'), JsonError],
  ["no place", (text: string) => text.replace(/"logIndex":"[^"]*",/, ""), JsonError],
  ["removed", (text: string) => text.replace('"removed":false', '"removed":true'), BadLogError],
])("a log with %s is refused", (_, spoil, expected) => {
  const log: ChainLog = {
    blockNumber: 5,
    timestamp: 10,
    logIndex: 3,
    blockHash: `0x${"1".repeat(64)}`,
    transactionHash: `0x${"2".repeat(64)}`,
    address: `0x${"3".repeat(40)}`,
    topics: [`0x${"4".repeat(64)}`],
    data: `0x${"5".repeat(64)}`,
    sender: null,
    note: null,
  };
  const text = answerOf([log]).toString();
  expect(spoil(text)).not.toBe(text);
  expect(() => read(Buffer.from(spoil(text)))).toThrow(expected);
});

test("a kept chunk that is damaged is never read as another one", () => {
  const logs = fc.sample(chainLogs, { numRuns: 1, seed: 1 })[0]!;
  const content = encodeChunk({ fromBlock: 0, toBlock: 2 ** 45, logs: read(answerOf(logs)) });
  for (const length of [0, 1, 20, content.length - 1])
    expect(() => decodeChunk(content.subarray(0, length))).toThrow(ChunkError);
  const bytes = zstdDecompressSync(content);
  expect(() => decodeChunk(zstdCompressSync(Buffer.concat([bytes, Buffer.alloc(1)])))).toThrow(ChunkError);
  // The layout number follows the sizes of all streams.
  const sizes = { bytes, at: 0 };
  for (let left = readVarint(sizes); left > 0; left -= 1) readVarint(sizes);
  bytes[sizes.at]! += 1;
  expect(() => decodeChunk(zstdCompressSync(bytes))).toThrow(ChunkError);
});
