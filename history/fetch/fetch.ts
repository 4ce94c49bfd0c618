import { completeRange, type FetchedRange } from "./complete-range.ts";
import { createLinkCheck } from "./link-check.ts";
import { BadLogError } from "./log-answer.ts";
import type { QueryForm } from "./log-query.ts";
import { type AskedRange, createOpenRanges } from "./open-ranges.ts";
import { PrunedError } from "./pruned.ts";
import { askForRange, type BlockRange } from "./raw-range.ts";
import type { RpcNode, RpcPool } from "../rpc/rpc-pool.ts";
import type { NodeRecord } from "./verify.ts";
import type { LogFilter } from "../wanted.ts";

/** How many ranges are worked on at once. */
const MAX_LANES = 8;

/** While more logs than this wait for a range before them, no further ranges are begun. */
const MAX_WAITING_LOGS = 60_000;

/** Of so many of the last blocks a node may lack some: they were final by what another one knew. */
const LAST_BLOCKS = 10_000;

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
  const fetched = new Map<number, FetchedRange>();
  const state = { next: fromBlock, failure: undefined as unknown };
  let changed = Promise.withResolvers<void>();
  const announce = () => {
    changed.resolve();
    changed = Promise.withResolvers();
  };
  const open = createOpenRanges(pool.nodes, { range: { fromBlock, toBlock }, onOpen: announce });

  const waitingLogs = () => fetched.values().reduce((sum, { logs }) => sum + logs.count, 0);

  /** Checks what a node answered. Undefined where it is to be fetched again. */
  const complete = async (raw: AskedRange): Promise<FetchedRange | undefined> => {
    try {
      return await completeRange(pool, raw, verifying);
    } catch (error) {
      if (error instanceof PrunedError && !pool.isAlone(raw.node)) {
        raw.node.isUntrusted = true;
        onProblem(`${error.message} It is asked only where there is no other.`);
        open.reopen(raw);
        return undefined;
      }
      if (!(error instanceof BadLogError)) throw error;
      onProblem(`${raw.node.host}: ${error.message} Blocks ${raw.fromBlock} to ${raw.toBlock} are fetched again.`);
      pool.blame(raw.node);
      open.cut(raw);
      return undefined;
    }
  };

  const lane = async () => {
    while (!open.isClosed() && state.next <= toBlock) {
      const first = open.first();
      const mustWait = first === undefined || (first.fromBlock > state.next && waitingLogs() > MAX_WAITING_LOGS);
      if (mustWait) {
        await changed.promise;
        continue;
      }
      const raw = await pool.ask({ order: first.fromBlock }, (node, post) =>
        open.askNext(node, (range) => {
          const isNearEnd = range.toBlock > toBlock - LAST_BLOCKS;
          return askForRange(node, { ...range, post, filter, form: forms.get(node) ?? "topic", isNearEnd });
        }),
      );
      const range = raw && (await complete(raw));
      if (range) fetched.set(range.fromBlock, range);
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
        open.reopen(range);
        continue;
      }
      state.next = range.toBlock + 1;
      announce();
      yield range;
    }
  } finally {
    open.close();
    signal.removeEventListener("abort", announce);
    announce();
  }
}
