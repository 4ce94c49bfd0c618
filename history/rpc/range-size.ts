import type { TooLargeError } from "./rpc-error.ts";

/**
 * How many bytes of JSON a request should bring: so many that requests don't count, so few that several fit in memory.
 */
const TARGET_BYTES = 3 * 2 ** 20;

const FIRST_BLOCKS = 50;
const MAX_BLOCKS = 1_000_000;
/** A range is at most so many times as long as the range from which its density of logs was learned. */
const GROWTH = 4;

/** A limit learned from failures may have been only of that range: after so many successes it is raised by `MORE`. */
const SUCCESSES_BEFORE_MORE = 8;
const MORE = 1.25;

/** How many blocks to ask for at once, for all nodes together. */
type RangePlan = { blocks: number; logsPerBlock: number };

/** How much a node gives at once, as learned from its errors. `isSaid`: the node itself has named `maxBlocks`. */
export type NodeLimits = { maxBlocks: number; isSaid: boolean; successes: number; maxLogs: number };

/** A plan before the first answer. */
export function createPlan(): RangePlan {
  return { blocks: FIRST_BLOCKS, logsPerBlock: 0 };
}

/** The limits of a node that hasn't refused anything yet. */
export function createLimits(): NodeLimits {
  return { maxBlocks: Infinity, isSaid: false, successes: 0, maxLogs: Infinity };
}

/** How many blocks to ask this node for next. */
export function blocksFor(plan: RangePlan, { maxBlocks, maxLogs }: NodeLimits): number {
  // 0.7: some room, because the next blocks may have more logs than the last ones.
  const byLogs = plan.logsPerBlock > 0 ? (maxLogs * 0.7) / plan.logsPerBlock : Infinity;
  return Math.max(1, Math.floor(Math.min(plan.blocks, maxBlocks, byLogs)));
}

/** Plans the size of the next ranges by an answer. `planned`: `plan.blocks` at the time of the request. */
export function learnDensity(
  plan: RangePlan,
  { blocks, bytes, logs, planned }: { blocks: number; bytes: number; logs: number; planned: number },
): void {
  const fitting = (TARGET_BYTES / Math.max(1, bytes)) * blocks;
  plan.blocks = Math.max(1, Math.min(fitting, planned * GROWTH, MAX_BLOCKS));
  plan.logsPerBlock = logs / blocks;
}

/** Notes that a node has given a range of so many blocks. */
export function learnSuccess(limits: NodeLimits, blocks: number): void {
  if (limits.isSaid || blocks < limits.maxBlocks * 0.9) return;
  if (++limits.successes < SUCCESSES_BEFORE_MORE) return;
  limits.successes = 0;
  limits.maxBlocks = Math.ceil(limits.maxBlocks * MORE);
}

/** Notes that a node has refused a range. Returns how many of its blocks to ask for instead. */
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
  // The node named no limit, or one that doesn't help.
  if (maxLogs === undefined) {
    limits.maxBlocks = half;
    limits.isSaid = false;
  }
  return half;
}

/** Notes that an answer seems to be cut short. `counts`: numbers of logs at which it may have been cut. */
export function learnCut(limits: NodeLimits, counts: number[]): void {
  limits.maxLogs = Math.min(limits.maxLogs, ...counts);
}
