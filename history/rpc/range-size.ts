import type { TooLargeError } from "./rpc-error.ts";

/** JSON that one request should bring: enough that requests don't count, little enough to have several in memory. */
const TARGET_BYTES = 3 * 2 ** 20;

const FIRST_BLOCKS = 50;
const MAX_BLOCKS = 1_000_000;
/** A range is at most so many times as long as the one that was planned when it was last known how much there is. */
const GROWTH = 4;

/** A limit that was found by failing may have been of that range only: after so many answers a little more is tried. */
const SUCCESSES_BEFORE_MORE = 8;
const MORE = 1.25;

/** How many blocks should be asked for at once, of all nodes. */
export type RangePlan = { blocks: number; logsPerBlock: number };

/** What one node gives at once, as far as its errors have told. */
export type NodeLimits = { maxBlocks: number; isSaid: boolean; successes: number; maxLogs: number };

export function createPlan(): RangePlan {
  return { blocks: FIRST_BLOCKS, logsPerBlock: 0 };
}

export function createLimits(): NodeLimits {
  return { maxBlocks: Infinity, isSaid: false, successes: 0, maxLogs: Infinity };
}

/** Blocks that a node is asked for next. */
export function blocksFor(plan: RangePlan, { maxBlocks, maxLogs }: NodeLimits): number {
  // Some room, because the next blocks may have more logs than the last ones.
  const byLogs = plan.logsPerBlock > 0 ? (maxLogs * 0.7) / plan.logsPerBlock : Infinity;
  return Math.max(1, Math.floor(Math.min(plan.blocks, maxBlocks, byLogs)));
}

/** An answer came: the next range should bring as much as is good. `planned`: `plan.blocks` when it was asked for. */
export function learnDensity(
  plan: RangePlan,
  { blocks, bytes, logs, planned }: { blocks: number; bytes: number; logs: number; planned: number },
): void {
  const fitting = (TARGET_BYTES / Math.max(1, bytes)) * blocks;
  plan.blocks = Math.max(1, Math.min(fitting, planned * GROWTH, MAX_BLOCKS));
  plan.logsPerBlock = logs / blocks;
}

/** A range of so many blocks was given. */
export function learnSuccess(limits: NodeLimits, blocks: number): void {
  if (limits.isSaid || blocks < limits.maxBlocks * 0.9) return;
  if (++limits.successes < SUCCESSES_BEFORE_MORE) return;
  limits.successes = 0;
  limits.maxBlocks = Math.ceil(limits.maxBlocks * MORE);
}

/** A range was refused. Returns how many of its blocks to ask for instead. */
export function learnRefusal(
  limits: NodeLimits,
  { fromBlock, toBlock, error }: { fromBlock: number; toBlock: number; error: TooLargeError },
): number {
  const blocks = toBlock - fromBlock + 1;
  const { maxBlocks, maxLogs, upTo } = error;
  const half = Math.max(1, Math.floor(blocks / 2));
  limits.successes = 0;
  if (maxLogs !== undefined) limits.maxLogs = Math.min(limits.maxLogs, maxLogs);
  if (maxBlocks !== undefined && maxBlocks < blocks) {
    limits.maxBlocks = Math.min(limits.maxBlocks, maxBlocks);
    limits.isSaid = true;
    return limits.maxBlocks;
  }
  const suggested = upTo === undefined ? 0 : upTo - fromBlock + 1;
  if (suggested > 0 && suggested < blocks) return suggested;
  // What it said didn't help, or it said nothing.
  if (maxLogs === undefined) {
    limits.maxBlocks = half;
    limits.isSaid = false;
  }
  return half;
}

/** An answer was wrong: less is asked for, as far as these numbers of its logs look as if it was cut short. */
export function learnCut(limits: NodeLimits, counts: number[]): void {
  limits.maxLogs = Math.min(limits.maxLogs, ...counts);
}
