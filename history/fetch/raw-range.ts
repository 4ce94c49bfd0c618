import type { Hex } from "viem";
import { askBatch } from "../rpc/batch.ts";
import { BadLogError, readLogAnswer } from "./log-answer.ts";
import { createRawMatcher, logCallsOf, type QueryForm } from "./log-query.ts";
import { createLogTable, dropLogs, type LogTable } from "./log-table.ts";
import { askForReceipts } from "./receipts.ts";
import { release } from "../release.ts";
import { sortAnswers } from "../rpc/rpc-answer.ts";
import { AddressesError, BatchError, isUnforeseen, NodeError, TooLargeError } from "../rpc/rpc-error.ts";
import type { RpcNode } from "../rpc/rpc-pool.ts";
import { quantityOf, type RpcCall } from "../rpc/rpc-post.ts";
import type { LogFilter } from "../wanted.ts";
import { WORD_BYTES } from "../word.ts";

/** Blocks from first to last, both included. */
export type BlockRange = { fromBlock: number; toBlock: number };

/** A node's answer for a range: the wanted logs as they came, its size, and how many logs each call brought. */
export type RawRange = BlockRange & { node: RpcNode; table: LogTable; bytes: number; counts: number[] };

const ROUND_COUNT = 500;

/** Asks a node for the logs of a range. @throws NodeError, TooLargeError */
export async function askForRange(node: RpcNode, options: AskForRangeOptions): Promise<RawRange> {
  const { filter, form, fromBlock, toBlock } = options;
  for (;;) {
    const calls = logCallsOf(filter, { form, fromBlock, toBlock, maxAddresses: node.maxAddresses });
    try {
      return await askAll(node, calls, options);
    } catch (error) {
      const most = Math.max(...calls.map(countAddresses));
      if (!(error instanceof AddressesError) || most <= 1) throw error;
      node.maxAddresses = Math.min(node.maxAddresses, Math.floor(most / 2));
    }
  }
}

function countAddresses({ params: [query] }: RpcCall): number {
  return (query as { address?: unknown[] }).address?.length ?? 0;
}

/** @throws NodeError, TooLargeError, AddressesError */
async function askAll(
  node: RpcNode,
  calls: RpcCall[],
  { fromBlock, toBlock, post, filter, isNearEnd }: AskForRangeOptions,
): Promise<RawRange> {
  const isWanted = createRawMatcher(filter);
  const table = createLogTable(4096);
  const raw: RawRange = { fromBlock, toBlock, node, table, bytes: 0, counts: [] };
  const findInReceipts = () =>
    askForReceipts(node, table, { number: fromBlock, isWanted, post }).catch((error: unknown) => {
      if (!(error instanceof TooLargeError || isUnforeseen(error))) throw error;
    });
  let atOnce = calls.length;
  let end = isNearEnd ? [{ method: "eth_getBlockByNumber", params: [quantityOf(toBlock), false] }] : [];
  while (raw.counts.length < calls.length) {
    if (node.batchSize === 1) end = [];
    const most = Math.min(atOnce, node.batchSize - end.length);
    const part = calls.slice(raw.counts.length, raw.counts.length + most);
    const asked = [...part, ...end];
    const { count, wordCount } = table;
    try {
      const counts = await askBatch(node, { calls: asked, post, failures: node.failuresInARow }, (bytes) => {
        const answers = readLogAnswer(table, {
          bytes,
          isWithBlock: end.length > 0,
          isWanted: (log) => {
            if (log.blockNumber < fromBlock || log.blockNumber > toBlock)
              throw new BadLogError(`A log of block ${log.blockNumber} is outside of what was asked for.`);
            return isWanted(log);
          },
        });
        const sorted = sortAnswers(answers, asked.length);
        const ends = sorted.splice(part.length);
        if (sorted.includes(undefined)) throw new NodeError("It answers null.");
        if (ends.includes(undefined)) throw new NodeError(`It doesn't have block ${toBlock}.`);
        if (sorted.includes(-1)) throw new NodeError("It answers with no list of logs.");
        raw.bytes += bytes.length;
        release(bytes);
        return sorted as number[];
      });
      raw.counts.push(...counts);
    } catch (error) {
      // These logs will come again, and doubles would look as if tokens moved more than once.
      dropLogs(table, { count, wordCount });
      if (error instanceof BadLogError) throw new NodeError(error.message, { cause: error });
      if (error instanceof TooLargeError && fromBlock === toBlock) {
        // A block can be split no further. Several calls can still be sent one by one, and a query be taken apart.
        atOnce = Math.max(1, Math.floor(part.length / 2));
        end = [];
        if (asked.length > 1) continue;
        const halves = halvesOf(part[0]!);
        const count = halves ? undefined : await findInReceipts();
        if (halves) calls.splice(raw.counts.length, 1, ...halves);
        else if (count !== undefined) raw.counts.push(count);
        else throw new NodeError(`It refuses block ${fromBlock} by itself: ${error.message}`, { cause: error });
        continue;
      }
      // Sends fewer calls at once, as many as `askBatch` has found out.
      if (!(error instanceof BatchError) || asked.length === 1) throw error;
    }
  }
  // What is cut without a word in a single block isn't more in parts.
  if (fromBlock === toBlock && raw.counts.some(isRound)) await findInReceipts();
  return raw;
}

/** Two queries for what one asks for: each for half of its topics, or else of its contracts. Undefined: it has one each. */
function halvesOf({ method, params: [query] }: RpcCall): RpcCall[] | undefined {
  const { address = [], topics } = query as LogQuery;
  const [first, ...places] = topics;
  const callWith = (changes: Partial<LogQuery>) => ({ method, params: [{ ...(query as LogQuery), ...changes }] });
  if (first.length > 1) return splitInTwo(first).map((some) => callWith({ topics: [some, ...places] }));
  return address.length > 1 ? splitInTwo(address).map((some) => callWith({ address: some })) : undefined;
}
type LogQuery = { address?: Hex[]; topics: [Hex[], ...null[]] };

function splitInTwo<T>(list: T[]): T[][] {
  const middle = Math.ceil(list.length / 2);
  return [list.slice(0, middle), list.slice(middle)];
}

/** Which logs of a range to ask for. `post` sends calls to the node, as in `RpcPool.ask`. */
type AskForRangeOptions = BlockRange & {
  post: (calls: RpcCall[]) => Promise<Buffer>;
  filter: LogFilter;
  form: QueryForm;
  /**
   * Asks for the range's last block, too, in the same batch, because behind one URL each request may reach another node:
   * one that doesn't have the block yet gives the logs up to its own head, and doesn't say so.
   */
  isNearEnd?: boolean;
};

/** Whether a number of logs is one at which providers cut answers short. */
export function isRound(count: number): boolean {
  return count > 0 && count % ROUND_COUNT === 0;
}

/**
 * The indexes of the logs in the order of the chain, each log once. Undefined where they are so already.
 *
 * @throws BadLogError where two logs have one place
 */
export function orderOf(table: LogTable): number[] | undefined {
  const { count, blockOf, logIndexOf, numbers } = table;
  const compare = (a: number, b: number) => compareLogs(table, a, b);
  let isSorted = true;
  for (let log = 1; log < count && isSorted; log++) isSorted = compare(log - 1, log) < 0;
  if (isSorted) return undefined;
  const places = Array.from({ length: count }, (_, log) => log).toSorted(compare);
  return places.filter((log, at) => {
    if (at === 0 || compare(places[at - 1]!, log) !== 0) return true;
    // Two of the calls brought the same log.
    if (contentOf(table, places[at - 1]!) === contentOf(table, log)) return false;
    throw new BadLogError(`Block ${numbers[blockOf[log]!]} has two logs ${logIndexOf[log]}.`);
  });
}

/** Compares the places of two logs in the chain, by their indexes. */
export const compareLogs = ({ numbers, blockOf, logIndexOf }: LogTable, a: number, b: number): number =>
  numbers[blockOf[a]!]! - numbers[blockOf[b]!]! || logIndexOf[a]! - logIndexOf[b]!;

/** All of a log that nodes must agree on, as text, by the log's place (`placeOf`). */
export function contentsOf(table: LogTable, { fromBlock, toBlock }: BlockRange): Map<string, string> {
  const contents = new Map<string, string>();
  for (let log = 0; log < table.count; log++) {
    const number = table.numbers[table.blockOf[log]!]!;
    if (number >= fromBlock && number <= toBlock) contents.set(placeOf(table, log), contentOf(table, log));
  }
  return contents;
}

/** The place of a log in the chain, the key of `contentsOf`. Two calls may have brought the same log. */
export function placeOf({ numbers, blockOf, logIndexOf }: LogTable, log: number): string {
  return `${numbers[blockOf[log]!]} ${logIndexOf[log]}`;
}

/** The block of a log's place. */
export const blockOf = (place: string) => Number(place.split(" ")[0]);

/** All of a log but its index, as text. */
export function contentOf(table: LogTable, log: number): string {
  const { blocks, transactions, addresses, words, wordOf, wordStartOf, topicCountOf, tails } = table;
  const hex = (bytes: Buffer, place: number) => bytes.toString("hex", place * WORD_BYTES, (place + 1) * WORD_BYTES);
  return [
    hex(blocks.bytes, table.blockOf[log]!),
    hex(transactions.bytes, table.transactionOf[log]!),
    hex(addresses.bytes, table.addressOf[log]!),
    topicCountOf[log],
    ...Array.from(wordOf.subarray(wordStartOf[log], wordStartOf[log + 1]), (word) => hex(words.bytes, word)),
    tails.get(log) ?? "",
  ].join(" ");
}
