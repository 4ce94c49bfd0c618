import {
  decodeHex,
  keysOf,
  OPEN_LIST,
  peek,
  readHexStart,
  readQuantity,
  type Scan,
  scanList,
  scanObject,
  scanString,
  skipValue,
  takeQuantity,
  unexpected,
} from "../json-scan.ts";
import { type LogTable, placeBlock, reserveLog, UNKNOWN_INDEX, UNKNOWN_TIME } from "./log-table.ts";
import { type Answer, readAnswers } from "../rpc/rpc-answer.ts";
import { internNear, internWord, reserveWord } from "./word-set.ts";
import { ADDRESS_AT } from "../word.ts";

/** Thrown where a log can't belong to the chain: a block with two hashes, bytes that aren't hex, a pending log. */
export class BadLogError extends Error {}

const FIELDS = keysOf(
  "topics",
  "data",
  "address",
  "blockNumber",
  "transactionHash",
  "logIndex",
  "blockHash",
  "removed",
  "blockTimestamp",
  "transactionIndex",
);

/** The largest number of topics of a log. */
const MAX_TOPICS = 4;

/**
 * Reads a JSON-RPC answer to eth_getLogs, or a batch of them. Adds the logs that `isWanted` keeps to the table, in
 * order. Returns how many logs each answer had, -1 of a block that was asked for beside them (`isWithBlock`), also where
 * the chain has skipped it.
 *
 * @throws JsonError where the answer is cut off
 *
 * @throws BadLogError
 */
export function readLogAnswer(
  table: LogTable,
  {
    bytes,
    isWanted,
    isWithBlock = false,
  }: { bytes: Uint8Array; isWanted: (log: RawLog) => boolean; isWithBlock?: boolean },
): Answer<number>[] {
  const log = createRawLog(bytes);
  const readResult = (scan: Scan) => {
    if (isWithBlock && peek(scan) !== OPEN_LIST) {
      skipValue(scan);
      return -1;
    }
    let count = 0;
    let [lastBlock, lastIndex] = [-1, -1];
    scanList(scan, () => {
      readLog(scan, log);
      count++;
      if (!isWanted(log)) return;
      if (log.blockNumber === lastBlock && log.logIndex === lastIndex) table.doubled.add(lastBlock);
      [lastBlock, lastIndex] = [log.blockNumber, log.logIndex];
      addLog(table, log);
    });
    return count;
  };
  return readAnswers(bytes, readResult, isWithBlock ? { skipped: -1 } : {});
}

/** The places of a log's fields in an answer. */
export type RawLog = {
  bytes: Uint8Array;
  blockNumber: number;
  /** Of its block, where the node says it. */
  timestamp: number;
  logIndex: number;
  /** Of its transaction, where the node says it. */
  transactionIndex: number;
  topicCount: number;
  /** For each topic its first byte and the one after its last, without 0x. */
  topics: Int32Array;
  dataStart: number;
  dataEnd: number;
  addressStart: number;
  blockHashStart: number;
  transactionHashStart: number;
};

/** A log that `readLog` sets. One is enough for all logs of an answer, whose bytes these are. */
export function createRawLog(bytes: Uint8Array): RawLog {
  return {
    bytes,
    blockNumber: 0,
    timestamp: UNKNOWN_TIME,
    logIndex: 0,
    transactionIndex: UNKNOWN_INDEX,
    topicCount: 0,
    topics: new Int32Array(MAX_TOPICS),
    dataStart: 0,
    dataEnd: 0,
    addressStart: 0,
    blockHashStart: 0,
    transactionHashStart: 0,
  };
}

/** Reads the log at the scan into `log`. @throws JsonError, BadLogError */
export function readLog(scan: Scan, log: RawLog): void {
  let seen = 0;
  log.timestamp = UNKNOWN_TIME;
  log.transactionIndex = UNKNOWN_INDEX;
  log.topicCount = 0;
  scanObject(scan, FIELDS, (key) => {
    seen |= 1 << key;
    switch (key) {
      case 0:
        return scanList(scan, () => {
          if (log.topicCount === MAX_TOPICS) throw new BadLogError("A log has more than four topics.");
          log.topics[log.topicCount++] = readHexStart(scan, 64);
        });
      case 1:
        scanString(scan);
        if (scan.end - scan.start < 2 || (scan.end - scan.start) % 2 !== 0) throw unexpected(scan);
        log.dataStart = scan.start + 2;
        log.dataEnd = scan.end;
        return;
      case 2:
        log.addressStart = readHexStart(scan, 40);
        return;
      case 3:
        scanString(scan);
        log.blockNumber = readQuantity(scan);
        return;
      case 4:
        log.transactionHashStart = readHexStart(scan, 64);
        return;
      case 5:
        scanString(scan);
        log.logIndex = readQuantity(scan);
        return;
      case 6:
        log.blockHashStart = readHexStart(scan, 64);
        return;
      case 7:
        // The letter t of "true".
        if (peek(scan) === 0x74) throw new BadLogError("A log is marked as removed.");
        return skipValue(scan);
      case 8:
        // Some nodes write a number, which isn't read: the header has it, too.
        log.timestamp = takeQuantity(scan) ?? UNKNOWN_TIME;
        return;
      default:
        log.transactionIndex = takeQuantity(scan) ?? UNKNOWN_INDEX;
    }
  });
  // Every log of a block has the first seven fields.
  if ((seen & 0x7f) !== 0x7f) throw unexpected(scan);
}

/** Adds a log to a table. @throws BadLogError where its block has another hash there, or its bytes aren't hex */
export function addLog(table: LogTable, log: RawLog): void {
  const { bytes, topicCount, topics, dataStart, dataEnd } = log;
  const dataWords = Math.floor((dataEnd - dataStart) / 64);
  reserveLog(table, topicCount + dataWords);
  const at = table.count;

  readWord(bytes, log.blockHashStart, table.blocks);
  const block = placeBlock(table, log.blockNumber, log.timestamp);
  if (block === undefined) throw new BadLogError(`Block ${log.blockNumber} has another hash than its neighbour.`);
  table.blockOf[at] = block;

  readWord(bytes, log.transactionHashStart, table.transactions);
  table.transactionOf[at] = internNear(table.transactions, at > 0 ? table.transactionOf[at - 1]! : -1);

  const padding = reserveWord(table.addresses);
  table.addresses.ints.fill(0, padding / 4, padding / 4 + 3);
  const { addressStart: start } = log;
  const out = padding + ADDRESS_AT;
  if (!decodeHex(bytes, { start, end: start + 40, to: table.addresses.bytes, out })) throw noHex(log);
  table.addressOf[at] = internNear(table.addresses, at > 0 ? table.addressOf[at - 1]! : -1);

  table.transactionIndexOf[at] = log.transactionIndex;
  table.logIndexOf[at] = log.logIndex;
  table.topicCountOf[at] = topicCount;
  let next = table.wordCount;
  for (let topic = 0; topic < topicCount; topic++) {
    readWord(bytes, topics[topic]!, table.words);
    table.wordOf[next++] = internWord(table.words);
  }
  for (let word = 0; word < dataWords; word++) {
    readWord(bytes, dataStart + word * 64, table.words);
    table.wordOf[next++] = internWord(table.words);
  }
  table.wordCount = next;
  const tailStart = dataStart + dataWords * 64;
  if (tailStart < dataEnd) {
    const tail = Buffer.from(bytes.buffer, bytes.byteOffset + tailStart, dataEnd - tailStart);
    const text = tail.toString("latin1").toLowerCase();
    if (!/^[0-9a-f]*$/.test(text)) throw noHex(log);
    table.tails.set(at, text);
  }
  table.count = at + 1;
  table.wordStartOf[at + 1] = next;
}

/** Decodes 64 digits into the place of a set's next word. */
function readWord(bytes: Uint8Array, start: number, set: LogTable["words"]): void {
  const out = reserveWord(set);
  if (!decodeHex(bytes, { start, end: start + 64, to: set.bytes, out }))
    throw new BadLogError("A hash or a word of a log is not hex.");
}

function noHex({ blockNumber, logIndex }: RawLog): BadLogError {
  return new BadLogError(`Log ${logIndex} of block ${blockNumber} is not hex.`);
}
