import type { Sql } from "postgres";
import { fetchHeaders } from "../fetch/block-header.ts";
import { deleteChunksFrom, type KeptFilter, type KeptRange } from "./chunk-store.ts";
import type { RpcPool } from "../fetch/rpc-pool.ts";

/** Without a node that answers, what is kept is used as it is. */
const CHECK_TIMEOUT_MS = 2_000;

/**
 * Deletes what is kept of blocks that the chain has replaced since, and takes it out of `kept`. Returns from which
 * block on, or undefined where all is still of this chain.
 */
export async function dropReplaced(
  sql: Sql,
  pool: RpcPool,
  { kept, toBlock }: { kept: KeptFilter; toBlock: number },
): Promise<number | undefined> {
  // Blocks above it may not exist any more.
  const ranges = kept.ranges.filter((range) => range.toBlock <= toBlock);
  const isOfChain = async ({ toBlock: number, lastBlockHash }: KeptRange) => {
    const [header] = await fetchHeaders(pool, [number], { order: 0 });
    return header!.hash === lastBlockHash;
  };
  const last = ranges.at(-1);
  if (!last || (await withTimeout(isOfChain(last))) !== false) return undefined;
  let [good, bad] = [-1, ranges.length - 1];
  while (bad - good > 1) {
    const middle = Math.floor((good + bad) / 2);
    if (await isOfChain(ranges[middle]!)) good = middle;
    else bad = middle;
  }
  const from = ranges[bad]!.fromBlock;
  await deleteChunksFrom(sql, { filterId: kept.filterId, fromBlock: from });
  kept.ranges = kept.ranges.filter((range) => range.fromBlock < from);
  return from;
}

async function withTimeout<T>(promise: Promise<T>): Promise<T | undefined> {
  const timeout = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => timeout.resolve(undefined), CHECK_TIMEOUT_MS);
  promise.catch(() => {});
  try {
    return await Promise.race([promise, timeout.promise]);
  } finally {
    clearTimeout(timer);
  }
}
