import type { LogColumns } from "../chain-log.ts";
import { BadLogError } from "./log-answer.ts";
import { createRawMatcher } from "./log-query.ts";
import { appendLogs, columnsOf, createLogTable, type LogTable, UNKNOWN_INDEX } from "./log-table.ts";
import { blockOf, compareLogs, contentOf, placeOf, type RawRange } from "./raw-range.ts";
import { askForReceipts } from "./receipts.ts";
import { NodeError, TooLargeError } from "../rpc/rpc-error.ts";
import type { RpcPool } from "../rpc/rpc-pool.ts";
import type { LogFilter } from "../wanted.ts";

/** After so many refusals of a block's receipts nobody gives them. Single ones may be of a node that can't just now. */
const REFUSALS_BELIEVED = 3;

/**
 * The logs of an answer, in blocks whose logs a node has numbered twice, or not in the order of their transactions, as
 * the receipts have them: Erigon at times, VeChain's proxy, and what came before Polygon zkEVM's eighth fork count them
 * by the transaction. Where the receipts of a block are refused three times they are left as they are.
 *
 * @throws BadLogError where the receipts lack some
 */
export async function numberLogs(
  pool: RpcPool,
  answer: RawRange,
  { filter }: { filter: LogFilter },
): Promise<LogTable> {
  const doubted = findDoubted(answer.table);
  if (doubted.size === 0) return answer.table;
  return withLogs(answer, await fetchLogsOf(pool, doubted, { filter, order: answer.fromBlock }));
}

/**
 * Answers of which the first and the others number the same logs of some of these blocks differently, with the logs that
 * the receipts have there: each would be one of the first and one of the others.
 *
 * @throws BadLogError where receipts aren't given, or lack some
 */
export async function numberAlike(
  pool: RpcPool,
  answers: RawRange[],
  { blocks, filter }: { blocks: number[]; filter: LogFilter },
): Promise<RawRange[]> {
  const [own, ...theirs] = answers.map((answer) => listPlaces(answer, new Set(blocks)));
  const differing = new Set<number>();
  for (const [content, places] of theirs.flatMap((one) => [...one])) {
    const known = own!.get(content);
    if (known && !places.isSubsetOf(known) && !known.isSubsetOf(places)) differing.add(blockOf([...places][0]!));
  }
  if (differing.size === 0) return answers;
  const told = await fetchLogsOf(pool, differing, { filter, order: answers[0]!.fromBlock });
  const untold = [...differing.difference(told)];
  if (untold.length > 0)
    throw new BadLogError(`Another node numbers logs of block ${untold[0]} differently, and gives no receipts.`);
  return answers.map((answer) => ({ ...answer, table: withLogs(answer, told) }));
}

/** The places of each log of some blocks, by its content. */
function listPlaces({ table }: RawRange, blocks: Set<number>): Map<string, Set<string>> {
  const places = new Map<string, Set<string>>();
  for (let log = 0; log < table.count; log++) {
    if (!blocks.has(table.numbers[table.blockOf[log]!]!)) continue;
    const content = contentOf(table, log);
    places.set(content, (places.get(content) ?? new Set()).add(placeOf(table, log)));
  }
  return places;
}

/** The logs of an answer, those of some blocks as the receipts have them. @throws BadLogError where these lack some */
function withLogs({ node, table, fromBlock, toBlock }: RawRange, told: Map<number, BlockLogs>): LogTable {
  const numbered = createLogTable(table.count);
  const kept: number[] = [];
  for (let log = 0; log < table.count; log++) {
    const number = table.numbers[table.blockOf[log]!]!;
    const { contents } = told.get(number) ?? {};
    if (!contents) kept.push(log);
    else if (!contents.has(contentOf(table, log)))
      throw new BadLogError(`The receipts of block ${number} lack a log of ${node.host}.`);
  }
  appendLogs(numbered, columnsOf(table), kept);
  for (const [number, { logs }] of told)
    if (number >= fromBlock && number <= toBlock) appendLogs(numbered, logs, logs.blockOf.keys());
  return numbered;
}

/** The numbers of blocks in which two logs have one index, or a later transaction has the lower one. */
function findDoubted(table: LogTable): Set<number> {
  const { count, numbers, blockOf, transactionIndexOf } = table;
  const isTurned = (before: number, log: number) =>
    blockOf[before] === blockOf[log] &&
    transactionIndexOf[log] !== UNKNOWN_INDEX &&
    transactionIndexOf[before]! > transactionIndexOf[log]!;
  let isClear = true;
  for (let log = 1; log < count && isClear; log++)
    isClear = compareLogs(table, log - 1, log) < 0 && !isTurned(log - 1, log);
  if (isClear) return table.doubled;
  const doubted = new Set(table.doubled);
  const places = placesOf(table).toSorted((a, b) => compareLogs(table, a, b));
  for (const [at, log] of places.entries()) {
    const before = places[at - 1];
    if (before === undefined) continue;
    // Two of the calls may have brought the same log.
    const isDoubled = compareLogs(table, before, log) === 0 && contentOf(table, before) !== contentOf(table, log);
    if (isDoubled || isTurned(before, log)) doubted.add(numbers[blockOf[log]!]!);
  }
  return doubted;
}

/** The wanted logs of a block, and what `contentOf` writes of them. */
type BlockLogs = { logs: LogColumns; contents: Set<string> };

/** The wanted logs of blocks out of their receipts, by the block's number. It lacks blocks whose receipts are refused. */
async function fetchLogsOf(
  pool: RpcPool,
  numbers: Iterable<number>,
  { filter, order }: { filter: LogFilter; order: number },
): Promise<Map<number, BlockLogs>> {
  const told = new Map<number, BlockLogs>();
  const fetched = Array.from(numbers, (number) => {
    let refusals = 0;
    return pool.ask({ order }, async (node, post) => {
      const table = createLogTable(64);
      const isWanted = createRawMatcher(filter);
      try {
        await askForReceipts(node, table, { number, isWanted, post });
      } catch (error) {
        const isRefused = error instanceof TooLargeError || (error instanceof NodeError && error.isRefusal);
        if (isRefused && ++refusals === REFUSALS_BELIEVED) return;
        throw isRefused ? new NodeError(error.message, { cause: error }) : error;
      }
      const contents = new Set(placesOf(table).map((log) => contentOf(table, log)));
      told.set(number, { contents, logs: columnsOf(table) });
    });
  });
  await Promise.all(fetched);
  return told;
}

const placesOf = ({ count }: LogTable) => Array.from({ length: count }, (_, log) => log);
