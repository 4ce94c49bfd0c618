import { setTimeout as sleep } from "node:timers/promises";
import { type BlockHeader, fetchHeaders } from "./block-header.ts";
import { BadLogError, readLogAnswer } from "./log-answer.ts";
import { createRawMatcher } from "./log-query.ts";
import { createLogTable } from "./log-table.ts";
import type { RawRange } from "./raw-range.ts";
import { askBatch } from "../rpc/batch.ts";
import { sortAnswers } from "../rpc/rpc-answer.ts";
import { isUnforeseen, TooLargeError } from "../rpc/rpc-error.ts";
import type { AskOptions, RpcPool } from "../rpc/rpc-pool.ts";
import { quantityOf } from "../rpc/rpc-post.ts";
import type { LogFilter } from "../wanted.ts";

/** So many blocks before a node's first logs are looked at. */
const LOOKED_AT = 20;

/**
 * So many of them must have a bloom that isn't empty, and no logs. Single blooms may say too much: those of zkSync Era, of
 * Cronos in its first months.
 */
const EVIDENCE = 3;
const MOST_EVIDENCE = 5;

/** A bloom that says nothing: no bit is set, or every one. */
const NO_EVIDENCE = /^0x(0+|f+)$/;

/** Thrown where a node has thrown logs away. */
export class PrunedError extends Error {}

/** Where there are other nodes, a silent one isn't waited for longer. */
const LOOK_TIMEOUT_MS = 20_000;

/**
 * Nodes that throw away the receipts of old blocks still have their headers, and many answer for their logs as if there
 * were none, or as if none had the topics. So the last blocks before the first logs that a node gave are looked at.
 *
 * @returns the first block from which on the node is known to have logs; `known` is what was known of that before
 *
 * @throws PrunedError where it has none of blocks whose blooms name some, or has wanted ones that it didn't give
 *
 * @throws BadLogError where it doesn't say, and there is another node
 */
export async function findFirstKept(
  pool: RpcPool,
  raw: RawRange,
  { filter, known }: { filter: LogFilter; known: number },
): Promise<number> {
  const first = raw.table.numbers.reduce((least, number) => Math.min(least, number), Infinity);
  const end = Math.min(raw.toBlock, first - 1);
  if (end >= known || end < raw.fromBlock) return Math.min(known, first);
  const looking = lookBefore(pool, raw, { filter, end });
  if (pool.isAlone(raw.node)) return (await looking) ?? first;
  const isLate = sleep(LOOK_TIMEOUT_MS, undefined, { ref: false }).then(() => {
    throw new BadLogError(`It doesn't say whether it has logs of blocks before ${end + 1}.`);
  });
  return (await Promise.race([looking, isLate])) ?? first;
}

/** The first of the last blocks up to `end` of which the node has logs. Undefined where too few of them tell. */
async function lookBefore(
  pool: RpcPool,
  { node, fromBlock }: RawRange,
  { filter, end }: { filter: LogFilter; end: number },
): Promise<number | undefined> {
  const start = Math.max(fromBlock, end - LOOKED_AT + 1);
  const options = { order: fromBlock, only: node };
  const numbers = Array.from({ length: end - start + 1 }, (_, at) => start + at);
  const headers = await fetchHeaders(pool, numbers, options);
  const named = headers.filter(({ logsBloom }) => !NO_EVIDENCE.test(logsBloom)).slice(-MOST_EVIDENCE);
  if (named.length < EVIDENCE) return undefined;
  const counts = await Promise.all(named.map((block) => countLogs(pool, block, { filter, options })));
  const kept = named.find((_, at) => counts[at] !== 0);
  if (kept) return kept.number;
  const blocks = `${named[0]!.number} to ${end}`;
  throw new PrunedError(`${node.host}: It has no logs of blocks ${blocks}, though their blooms name some.`);
}

/**
 * How many logs the node has of a block, whatever their topics. Undefined where it doesn't say: it gives no logs without
 * topics, or not as many, or fails at them twice.
 *
 * @throws PrunedError where it has wanted ones, which it didn't give when it was asked for them
 */
async function countLogs(
  pool: RpcPool,
  { number }: BlockHeader,
  { filter, options }: { filter: LogFilter; options: AskOptions },
): Promise<number | undefined> {
  const isWanted = createRawMatcher(filter);
  const block = quantityOf(number);
  const calls = [{ method: "eth_getLogs", params: [{ fromBlock: block, toBlock: block }] }];
  let failures = 0;
  return pool.ask(options, async (node, post) => {
    try {
      return await askBatch(node, { calls, post, failures }, (bytes) => {
        let isMissing = false;
        const answers = readLogAnswer(createLogTable(16), {
          bytes,
          isWanted: (log) => {
            isMissing ||= isWanted(log);
            return false;
          },
        });
        if (isMissing) throw new PrunedError(`${node.host}: Its logs of block ${number} aren't found by their topics.`);
        return sortAnswers(answers, 1)[0] ?? 0;
      });
    } catch (error) {
      if (error instanceof TooLargeError || (isUnforeseen(error) && ++failures === 2)) return undefined;
      throw error;
    }
  });
}
