import {
  blocksFor,
  createLimits,
  createPlan,
  learnCut,
  learnDensity,
  learnRefusal,
  learnSuccess,
  type NodeLimits,
} from "../rpc/range-size.ts";
import { type BlockRange, isRound, type RawRange } from "./raw-range.ts";
import { isUnforeseen, NodeError, TooLargeError } from "../rpc/rpc-error.ts";
import type { RpcNode } from "../rpc/rpc-pool.ts";

/**
 * A range of blocks that is still to be fetched. `isDoubted`: answers for it differed, so the next one is compared
 * again. `refusals`: how often nodes refused it with an error that we don't know.
 */
type OpenRange = BlockRange & { isDoubted: boolean; refusals: number };

/** A node's answer for an open range. */
export type AskedRange = RawRange & OpenRange;

/** The ranges of blocks on which nobody works, and how much of them to ask each node for at once. */
type OpenRanges = {
  first: () => BlockRange | undefined;
  /**
   * Takes of the first range what suits the node, and asks for it. Undefined: there was none, or it was refused and its
   * parts are open again.
   */
  askNext: (node: RpcNode, ask: (range: BlockRange) => Promise<RawRange>) => Promise<AskedRange | undefined>;
  /** Has a range fetched again, and compared. */
  reopen: (range: BlockRange) => void;
  /** Has a range fetched again in two halves, after an answer that lacked logs or was no list of them. */
  cut: (raw: RawRange) => void;
  /** Gives nothing out any more. */
  close: () => void;
  isClosed: () => boolean;
};

/** Creates the ranges of `range`. `onOpen` is called when some are open again. */
export function createOpenRanges(
  nodes: readonly RpcNode[],
  { range: all, onOpen }: { range: BlockRange; onOpen: () => void },
): OpenRanges {
  const plan = createPlan();
  const limits = new Map<RpcNode, NodeLimits>(nodes.map((node) => [node, createLimits()]));
  /** In order. */
  const open: OpenRange[] = [{ ...all, isDoubted: false, refusals: 0 }];
  let isClosed = false;

  function take(node: RpcNode): OpenRange | undefined {
    const range = isClosed ? undefined : open.shift();
    if (!range) return undefined;
    const end = range.fromBlock + blocksFor(plan, limits.get(node)!) - 1;
    if (end >= range.toBlock) return range;
    open.unshift({ ...range, fromBlock: end + 1 });
    return { ...range, toBlock: end };
  }

  function giveBack(...ranges: OpenRange[]): void {
    open.push(...ranges);
    open.sort((a, b) => a.fromBlock - b.fromBlock);
    onOpen();
  }

  return {
    first: () => open[0],
    async askNext(node, ask) {
      const planned = plan.blocks;
      const range = take(node);
      if (!range) return undefined;
      const blocks = range.toBlock - range.fromBlock + 1;
      try {
        const raw = await ask(range);
        const logs = raw.counts.reduce((sum, count) => sum + count, 0);
        learnSuccess(limits.get(node)!, blocks);
        learnDensity(plan, { blocks, bytes: raw.bytes, logs, planned });
        return { ...range, ...raw };
      } catch (error) {
        const tooLarge = blocks === 1 ? undefined : asTooLarge(error, range);
        if (!tooLarge) {
          giveBack({ ...range, refusals: range.refusals + (isUnforeseen(error) ? 1 : 0) });
          throw error;
        }
        const first = learnRefusal(limits.get(node)!, { ...range, error: tooLarge });
        const end = range.fromBlock + first;
        giveBack({ ...range, toBlock: end - 1, refusals: 0 }, { ...range, fromBlock: end, refusals: 0 });
        // A node that timed out rests, too.
        if (error instanceof NodeError) throw error;
        return undefined;
      }
    },
    reopen: ({ fromBlock, toBlock }) => giveBack({ fromBlock, toBlock, isDoubted: true, refusals: 0 }),
    cut(raw) {
      learnCut(limits.get(raw.node)!, raw.counts.filter(isRound));
      giveBack(...halvesOf(raw));
    },
    close: () => void (isClosed = true),
    isClosed: () => isClosed,
  };
}

/** Halves a range. Doubted ranges get smaller until it is clear which logs are missing. */
function halvesOf({ fromBlock, toBlock }: BlockRange): OpenRange[] {
  const middle = Math.floor((fromBlock + toBlock) / 2);
  const halves =
    fromBlock === toBlock
      ? [{ fromBlock, toBlock }]
      : [
          { fromBlock, toBlock: middle },
          { fromBlock: middle + 1, toBlock },
        ];
  return halves.map((half) => ({ ...half, isDoubted: true, refusals: 0 }));
}

/**
 * The error as one that a smaller range may help against, also where it is a timeout or comes repeatedly and is
 * unknown.
 */
function asTooLarge(error: unknown, { refusals }: OpenRange): TooLargeError | undefined {
  if (error instanceof TooLargeError) return error;
  if (!(error instanceof NodeError)) return undefined;
  return error.isTimeout || (refusals > 0 && isUnforeseen(error)) ? new TooLargeError(error.message) : undefined;
}
