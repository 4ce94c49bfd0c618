import { completeRange, type FetchedRange } from "./complete-range.ts";
import { createLinkCheck } from "./link-check.ts";
import { BadLogError } from "./log-answer.ts";
import type { QueryForm } from "./log-query.ts";
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
import { PrunedError } from "./pruned.ts";
import { askForRange, type BlockRange, isRound, type RawRange } from "./raw-range.ts";
import { NodeError, TooLargeError } from "../rpc/rpc-error.ts";
import type { RpcNode, RpcPool } from "../rpc/rpc-pool.ts";
import type { RpcCall } from "../rpc/rpc-post.ts";
import type { NodeRecord } from "./verify.ts";
import type { LogFilter } from "../wanted.ts";

/** How many ranges are worked on at once. */
const MAX_LANES = 8;

/** While more logs than this wait for a range before them, no further ranges are begun. */
const MAX_WAITING_LOGS = 60_000;

type AskedRange = RawRange & OpenRange;

/**
 * A range of blocks that is still to be fetched. `isDoubted`: answers for it differed, so the next one is compared
 * again. `refusals`: how often nodes refused it with an error that we don't know.
 */
type OpenRange = BlockRange & { isDoubted: boolean; refusals: number };

/**
 * Fetches all logs of a filter from `fromBlock` to `toBlock`. Several ranges are fetched at once, and returned in
 * order.
 */
export async function* fetchLogs(
  pool: RpcPool,
  {
    filter,
    fromBlock,
    toBlock,
    forms,
    signal,
    onProblem,
  }: BlockRange & {
    filter: LogFilter;
    forms: Map<RpcNode, QueryForm>;
    signal: AbortSignal;
    onProblem: (line: string) => void;
  },
): AsyncGenerator<FetchedRange> {
  const verifying = { filter, forms, records: new Map<RpcNode, NodeRecord>(), onProblem };
  const plan = createPlan();
  const limits = new Map<RpcNode, NodeLimits>(pool.nodes.map((node) => [node, createLimits()]));
  /** Ranges on which nobody works, in order. */
  const open: OpenRange[] = [{ fromBlock, toBlock, isDoubted: false, refusals: 0 }];
  const fetched = new Map<number, FetchedRange>();
  const state = { next: fromBlock, isStopped: false, failure: undefined as unknown };
  let changed = Promise.withResolvers<void>();
  const announce = () => {
    changed.resolve();
    changed = Promise.withResolvers();
  };

  const waitingLogs = () => fetched.values().reduce((sum, { logs }) => sum + logs.count, 0);

  const take = (node: RpcNode): OpenRange | undefined => {
    const range = state.isStopped ? undefined : open.shift();
    if (!range) return undefined;
    const end = range.fromBlock + blocksFor(plan, limits.get(node)!) - 1;
    if (end >= range.toBlock) return range;
    open.unshift({ ...range, fromBlock: end + 1 });
    return { ...range, toBlock: end };
  };
  const giveBack = (...ranges: OpenRange[]) => {
    open.push(...ranges);
    open.sort((a, b) => a.fromBlock - b.fromBlock);
    announce();
  };

  /** Takes a range that suits the node and asks for it. Undefined: it was refused, and its parts are open again. */
  const askNext = async (
    node: RpcNode,
    post: (calls: RpcCall[]) => Promise<Buffer>,
  ): Promise<AskedRange | undefined> => {
    const planned = plan.blocks;
    const range = take(node);
    if (!range) return undefined;
    const blocks = range.toBlock - range.fromBlock + 1;
    try {
      const raw = await askForRange(node, { ...range, post, filter, form: forms.get(node) ?? "topic" });
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
  };

  const lane = async () => {
    while (!state.isStopped && state.next <= toBlock) {
      const [first] = open;
      const mustWait = first === undefined || (first.fromBlock > state.next && waitingLogs() > MAX_WAITING_LOGS);
      if (mustWait) {
        await changed.promise;
        continue;
      }
      const raw = await pool.ask({ order: first.fromBlock }, askNext);
      if (raw) {
        try {
          const range = await completeRange(pool, raw, verifying);
          fetched.set(range.fromBlock, range);
        } catch (error) {
          if (error instanceof PrunedError && !pool.isAlone(raw.node)) {
            raw.node.isUntrusted = true;
            onProblem(`${error.message} It is asked only where there is no other.`);
            giveBack({ fromBlock: raw.fromBlock, toBlock: raw.toBlock, isDoubted: true, refusals: 0 });
            continue;
          }
          if (!(error instanceof BadLogError)) throw error;
          onProblem(`${raw.node.host}: ${error.message} Blocks ${raw.fromBlock} to ${raw.toBlock} are fetched again.`);
          pool.blame(raw.node);
          learnCut(limits.get(raw.node)!, raw.counts.filter(isRound));
          giveBack(...halvesOf(raw));
        }
      }
      announce();
    }
  };

  signal.addEventListener("abort", announce);
  for (let count = 0; count < MAX_LANES; count++)
    lane().catch((error: unknown) => {
      state.failure ??= error;
      announce();
    });
  const isLinked = createLinkCheck(pool, { onProblem });
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
      if (!(await isLinked(range))) {
        giveBack({ fromBlock: range.fromBlock, toBlock: range.toBlock, isDoubted: true, refusals: 0 });
        continue;
      }
      state.next = range.toBlock + 1;
      announce();
      yield range;
    }
  } finally {
    state.isStopped = true;
    signal.removeEventListener("abort", announce);
    announce();
  }
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

function isUnforeseen(error: unknown): boolean {
  return error instanceof NodeError && error.isAnswer && !error.isRateLimit;
}
