import { setTimeout as sleep } from "node:timers/promises";
import type { Sql } from "postgres";
import { fetchHeaders } from "../fetch/block-header.ts";
import { deleteChunksFrom, type KeptFilter, readChunk } from "./chunk-store.ts";
import type { RpcPool } from "../rpc/rpc-pool.ts";
import { hexAt, WORD_BYTES } from "../word.ts";

/** If no node answers in time, what is kept is used unchecked. */
const CHECK_TIMEOUT_MS = 2_000;

/** A block by which a range shows whether it still belongs to the chain. */
type Mark = { fromBlock: number; number: number; hash: string };

/**
 * Deletes what is kept of blocks that the chain has replaced since, and takes it out of `kept`. Returns the first
 * replaced block, undefined where there is none.
 */
export async function dropReplaced(
  sql: Sql,
  pool: RpcPool,
  { kept, toBlock }: { kept: KeptFilter; toBlock: number },
): Promise<number | undefined> {
  const marks = await listMarks(sql, { kept, toBlock });
  const isOfChain = async ({ number, hash }: Mark) => {
    const [header] = await fetchHeaders(pool, [number], { order: 0 });
    return header!.hash === hash;
  };
  const last = marks.at(-1);
  if (!last || (await withTimeout(isOfChain(last))) !== false) return undefined;
  let [good, bad] = [-1, marks.length - 1];
  while (bad - good > 1) {
    const middle = Math.floor((good + bad) / 2);
    if (await isOfChain(marks[middle]!)) good = middle;
    else bad = middle;
  }
  const from = marks[bad]!.fromBlock;
  await deleteChunksFrom(sql, { filterId: kept.filterId, fromBlock: from });
  kept.ranges = kept.ranges.filter((range) => range.fromBlock < from);
  return from;
}

async function listMarks(
  sql: Sql,
  { kept: { filterId, ranges }, toBlock }: { kept: KeptFilter; toBlock: number },
): Promise<Mark[]> {
  const marks = ranges
    .filter((range) => range.toBlock <= toBlock)
    .map((range) => ({ fromBlock: range.fromBlock, number: range.toBlock, hash: range.lastBlockHash }));
  // The last block of the next range may not exist any more.
  const next = ranges[marks.length];
  if (!next || next.fromBlock > toBlock) return marks;
  const blocks = (await readChunk(sql, { ...next, filterId }))?.logs.blocks;
  const at = blocks?.numbers.subarray(0, blocks.count).findLastIndex((number) => number <= toBlock) ?? -1;
  if (!blocks || at < 0) return marks;
  const hash = hexAt(blocks.hashes, at * WORD_BYTES);
  return [...marks, { fromBlock: next.fromBlock, number: blocks.numbers[at]!, hash }];
}

function withTimeout<T>(promise: Promise<T>): Promise<T | undefined> {
  promise.catch(() => {});
  return Promise.race([promise, sleep(CHECK_TIMEOUT_MS, undefined, { ref: false })]);
}
