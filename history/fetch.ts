import type { LogColumns } from "./chain-log.ts";
import { type BlockHeader, fetchHeaders } from "./block-header.ts";
import { JsonError } from "./json-scan.ts";
import { BadLogError, NO_TIMESTAMP, readLogAnswer } from "./log-answer.ts";
import { callsOf, createRawMatcher, type QueryForm } from "./log-query.ts";
import { appendLogs, columnsOf, createLogTable, type LogTable } from "./log-table.ts";
import {
  blocksFor,
  createLimits,
  createPlan,
  learnDensity,
  learnRefusal,
  learnSuccess,
  type NodeLimits,
} from "./range-size.ts";
import {
  BatchError,
  NodeError,
  type RpcCall,
  type RpcNode,
  type RpcPool,
  sortAnswers,
  TooLargeError,
} from "./rpc-pool.ts";
import { addTransactionParts } from "./transaction.ts";
import type { LogFilter } from "./wanted.ts";

/** Ranges that are worked on at once. */
const MAX_LANES = 8;

/** Logs that wait for one before them: further ranges are not begun meanwhile. */
const MAX_WAITING_LOGS = 60_000;

/** All logs of a filter in some blocks, in order, and the header of the last block. */
export type FetchedRange = { fromBlock: number; toBlock: number; logs: LogColumns; lastHeader: BlockHeader };

type Range = { fromBlock: number; toBlock: number };

/** What a node answered for a range. */
type RawRange = Range & { node: RpcNode; table: LogTable; bytes: number; count: number };

/** Fetches all logs of a filter from `fromBlock` to `toBlock`, several ranges at once; they come in order. */
export async function* fetchLogs(
  pool: RpcPool,
  {
    filter,
    fromBlock,
    toBlock,
    forms,
    signal,
    onProblem,
  }: Range & {
    filter: LogFilter;
    forms: Map<RpcNode, QueryForm>;
    signal: AbortSignal;
    onProblem: (line: string) => void;
  },
): AsyncGenerator<FetchedRange> {
  const isWanted = createRawMatcher(filter);
  const plan = createPlan();
  const limits = new Map<RpcNode, NodeLimits>(pool.nodes.map((node) => [node, createLimits()]));
  /** What nobody works on, in order. */
  const open: Range[] = [{ fromBlock, toBlock }];
  const fetched = new Map<number, FetchedRange>();
  const state = { next: fromBlock, waitingLogs: 0, isStopped: false, failure: undefined as unknown };
  let changed = Promise.withResolvers<void>();
  const announce = () => {
    changed.resolve();
    changed = Promise.withResolvers();
  };

  const take = (node: RpcNode): Range | undefined => {
    const range = state.isStopped ? undefined : open.shift();
    if (!range) return undefined;
    const end = range.fromBlock + blocksFor(plan, limits.get(node)!) - 1;
    if (end >= range.toBlock) return range;
    open.unshift({ fromBlock: end + 1, toBlock: range.toBlock });
    return { fromBlock: range.fromBlock, toBlock: end };
  };
  const giveBack = (...ranges: Range[]) => {
    open.push(...ranges);
    open.sort((a, b) => a.fromBlock - b.fromBlock);
    announce();
  };

  /** Takes a range that suits the node and asks for it. Undefined: it was refused, and is open again in parts. */
  const askNext = async (node: RpcNode, post: (calls: RpcCall[]) => Promise<Buffer>): Promise<RawRange | undefined> => {
    const planned = plan.blocks;
    const range = take(node);
    if (!range) return undefined;
    const blocks = range.toBlock - range.fromBlock + 1;
    try {
      const raw = await askFor(node, { range, post, filter, isWanted, form: forms.get(node) ?? "topic" });
      learnSuccess(limits.get(node)!, blocks);
      learnDensity(plan, { blocks, bytes: raw.bytes, logs: raw.count, planned });
      return raw;
    } catch (error) {
      const isSmallest = blocks === 1;
      const tooLarge = asTooLarge(error, node);
      if (!tooLarge || isSmallest) {
        giveBack(range);
        if (error instanceof TooLargeError)
          throw new NodeError(`It refuses a single block: ${error.message}`, { cause: error });
        throw error;
      }
      const first = learnRefusal(limits.get(node)!, { ...range, error: tooLarge });
      const end = range.fromBlock + first;
      giveBack({ ...range, toBlock: end - 1 }, { ...range, fromBlock: end });
      // A node that was silent for too long is left alone for a moment as well.
      if (error instanceof NodeError) throw error;
      return undefined;
    }
  };

  const lane = async () => {
    while (!state.isStopped && state.next <= toBlock) {
      const [first] = open;
      const mustWait = first === undefined || (state.waitingLogs > MAX_WAITING_LOGS && first.fromBlock > state.next);
      if (mustWait) {
        await changed.promise;
        continue;
      }
      const raw = await pool.ask({ order: first.fromBlock }, askNext);
      if (raw) {
        try {
          const range = await completeRange(pool, raw, filter);
          state.waitingLogs += range.logs.count;
          fetched.set(range.fromBlock, range);
        } catch (error) {
          if (!(error instanceof BadLogError)) throw error;
          onProblem(`${raw.node.host}: ${error.message} Blocks ${raw.fromBlock} to ${raw.toBlock} are fetched again.`);
          giveBack(raw);
        }
      }
      announce();
    }
  };

  signal.addEventListener("abort", announce);
  const lanes = Array.from({ length: MAX_LANES }, () =>
    lane().catch((error: unknown) => {
      state.failure ??= error;
      announce();
    }),
  );
  try {
    while (state.next <= toBlock) {
      signal.throwIfAborted();
      if (state.failure) throw state.failure;
      const range = fetched.get(state.next);
      if (!range) {
        await changed.promise;
        continue;
      }
      fetched.delete(state.next);
      state.next = range.toBlock + 1;
      state.waitingLogs -= range.logs.count;
      announce();
      yield range;
    }
  } finally {
    state.isStopped = true;
    signal.removeEventListener("abort", announce);
    announce();
    if (!signal.aborted) await Promise.all(lanes);
  }
}

/** @throws NodeError, TooLargeError */
async function askFor(
  node: RpcNode,
  {
    range,
    post,
    filter,
    isWanted,
    form,
  }: {
    range: Range;
    post: (calls: RpcCall[]) => Promise<Buffer>;
    filter: LogFilter;
    isWanted: ReturnType<typeof createRawMatcher>;
    form: QueryForm;
  },
): Promise<RawRange> {
  const calls = callsOf(filter, { form, ...range });
  const table = createLogTable(4096);
  const raw: RawRange = { ...range, node, table, bytes: 0, count: 0 };
  for (let at = 0; at < calls.length;) {
    const part = calls.slice(at, at + node.batchSize);
    const bytes = await post(part);
    try {
      const answers = readLogAnswer(table, {
        bytes,
        isWanted: (log) => {
          if (log.blockNumber < range.fromBlock || log.blockNumber > range.toBlock)
            throw new BadLogError(`A log of block ${log.blockNumber} is outside of what was asked for.`);
          return isWanted(log);
        },
      });
      const counts = sortAnswers(answers, part.length);
      if (counts.includes(undefined)) throw new NodeError("It answers null.");
      raw.count += counts.reduce<number>((sum, count) => sum + count!, 0);
    } catch (error) {
      if (error instanceof JsonError || error instanceof BadLogError)
        throw new NodeError(error.message, { cause: error });
      if (!(error instanceof BatchError) || part.length === 1) throw error;
      node.batchSize = Math.max(1, Math.floor(part.length / 2));
      continue;
    }
    raw.bytes += bytes.length;
    at += part.length;
  }
  return raw;
}

/** Adds what the answer doesn't say, and checks it against the headers. @throws BadLogError where they don't fit */
async function completeRange(
  pool: RpcPool,
  { node, table, fromBlock, toBlock }: RawRange,
  filter: LogFilter,
): Promise<FetchedRange> {
  const order = orderOf(table);
  const timeless = table.numbers.filter((_, block) => table.timestamps[block] === NO_TIMESTAMP);
  const numbers = [...new Set([...timeless, toBlock])].toSorted((a, b) => a - b);
  const headers = await fetchHeaders(pool, numbers, { order: fromBlock, avoid: node });
  for (const header of headers) {
    const block = table.blockPlaces.get(header.number);
    if (block === undefined) continue;
    const hash = `0x${table.blocks.bytes.toString("hex", block * 32, block * 32 + 32)}`;
    if (hash !== header.hash) throw new BadLogError(`Block ${header.number} has the hash ${header.hash}, not ${hash}.`);
    const timestamp = table.timestamps[block]!;
    if (timestamp !== NO_TIMESTAMP && timestamp !== header.timestamp)
      throw new BadLogError(`Block ${header.number} has the time ${header.timestamp}, not ${timestamp}.`);
    table.timestamps[block] = header.timestamp;
  }
  const columns = columnsOf(table);
  await addTransactionParts(pool, columns, { order: fromBlock, filter });
  const lastHeader = headers.at(-1)!;
  if (!order) return { fromBlock, toBlock, logs: columns, lastHeader };
  const sorted = createLogTable(columns.count + 1);
  appendLogs(sorted, columns, order);
  return { fromBlock, toBlock, logs: columnsOf(sorted), lastHeader };
}

/** The places of the logs in the order of the chain, each log once. Undefined: they are. */
function orderOf(table: LogTable): number[] | undefined {
  const { count, blockOf, logIndexOf, numbers } = table;
  const compare = (a: number, b: number) =>
    numbers[blockOf[a]!]! - numbers[blockOf[b]!]! || logIndexOf[a]! - logIndexOf[b]!;
  let isSorted = true;
  for (let log = 1; log < count && isSorted; log++) isSorted = compare(log - 1, log) < 0;
  if (isSorted) return undefined;
  const places = Array.from({ length: count }, (_, log) => log).toSorted(compare);
  return places.filter((log, at) => {
    if (at === 0 || compare(places[at - 1]!, log) !== 0) return true;
    if (isSameLog(table, places[at - 1]!, log)) return false;
    throw new BadLogError(`Block ${numbers[blockOf[log]!]} has two logs ${logIndexOf[log]}.`);
  });
}

function isSameLog(table: LogTable, a: number, b: number): boolean {
  const { addressOf, transactionOf, wordStartOf, wordOf, tails } = table;
  const wordsAt = (log: number) => wordOf.subarray(wordStartOf[log], wordStartOf[log + 1]).join();
  return (
    addressOf[a] === addressOf[b] &&
    transactionOf[a] === transactionOf[b] &&
    wordsAt(a) === wordsAt(b) &&
    tails.get(a) === tails.get(b)
  );
}

/** What a smaller range may help against: time that ran out, too, and what nobody foresaw when it comes again. */
function asTooLarge(error: unknown, { failuresInARow }: RpcNode): TooLargeError | undefined {
  if (error instanceof TooLargeError) return error;
  if (!(error instanceof NodeError)) return undefined;
  const isAgain = error.isAnswer && !error.isRateLimit && failuresInARow > 1;
  return error.isTimeout || isAgain ? new TooLargeError(error.message) : undefined;
}
