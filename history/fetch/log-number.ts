import { BadLogError } from "./log-answer.ts";
import { createRawMatcher } from "./log-query.ts";
import { appendLogs, columnsOf, createLogTable, type LogTable, UNKNOWN_INDEX } from "./log-table.ts";
import { compareLogs, contentOf, type RawRange } from "./raw-range.ts";
import { askForReceipts } from "./receipts.ts";
import type { RpcPool } from "../rpc/rpc-pool.ts";
import type { LogFilter } from "../wanted.ts";

/**
 * The logs of an answer, in blocks whose logs a node has numbered twice, or not in the order of their transactions, as
 * the receipts have them: Erigon at times, VeChain's proxy, and what came before Polygon zkEVM's eighth fork count them
 * by the transaction. Where no node gives receipts they are left as they are.
 *
 * @throws BadLogError where the receipts lack some
 */
export async function numberLogs(
  pool: RpcPool,
  { node, table, fromBlock }: RawRange,
  { filter }: { filter: LogFilter },
): Promise<LogTable> {
  const doubted = findDoubted(table);
  if (doubted.size === 0) return table;
  const found = await Promise.all(
    [...doubted].map(
      async (number) => [number, await fetchLogsOf(pool, number, { filter, order: fromBlock })] as const,
    ),
  );
  const tables = new Map(found.filter((one): one is [number, LogTable] => one[1] !== undefined));
  const numbered = createLogTable(table.count);
  const kept: number[] = [];
  const contents = new Map([...tables].map(([number, one]) => [number, new Set(listContents(one))]));
  for (let log = 0; log < table.count; log++) {
    const number = table.numbers[table.blockOf[log]!]!;
    const known = contents.get(number);
    if (!known) kept.push(log);
    else if (!known.has(contentOf(table, log)))
      throw new BadLogError(`The receipts of block ${number} lack a log of ${node.host}.`);
  }
  appendLogs(numbered, columnsOf(table), kept);
  for (const one of tables.values()) appendLogs(numbered, columnsOf(one), placesOf(one));
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

/** The wanted logs of a block out of its receipts. Undefined where a node doesn't give these. */
function fetchLogsOf(
  pool: RpcPool,
  number: number,
  { filter, order }: { filter: LogFilter; order: number },
): Promise<LogTable | undefined> {
  return pool.ask({ order }, async (node, post) => {
    const table = createLogTable(64);
    const isWanted = createRawMatcher(filter);
    return (await askForReceipts(node, table, { number, isWanted, post })) === undefined ? undefined : table;
  });
}

const placesOf = ({ count }: LogTable) => Array.from({ length: count }, (_, log) => log);
const listContents = (table: LogTable) => placesOf(table).map((log) => contentOf(table, log));
