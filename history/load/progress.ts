/** How far the load of a deployment's history is. */
export type HistoryProgress = {
  /** The last block whose logs are in. */
  block: number;
  /** Share of all the work that is done, from 0 to 1. */
  progress: number;
  logsPerSecond: number;
  /** Null before it can be estimated. */
  etaSeconds: number | null;
};

/** How far a load is, and how long it will take. */
export type Progress = {
  /** Reports the remaining time again, as of now. */
  report: () => void;
  /**
   * All logs up to the block are in, `logCount` in total. `cpuSeconds`: CPU time of this thread for those of this run.
   */
  readLogs: (state: { block: number; logCount: number; cpuSeconds: number }) => void;
  /** Notes the share that is done of the work after the last log. */
  finishPart: (share: number) => void;
};

type Options = {
  fromBlock: number;
  toBlock: number;
  /** Logs that were in before this run. */
  logCount: number;
  onProgress: (progress: HistoryProgress) => void;
  /** Seconds, of a clock that only goes forward. */
  now?: () => number;
};

/**
 * Making tokens, ownerships and indexes takes so many times the CPU time that this thread spent on their logs: 3.3 to
 * 3.8 times for a million logs, and 5.3 to 6.2 times for five million, because sorts no longer fit into memory. Unlike
 * the time of reading logs, CPU time doesn't depend on the nodes.
 */
const restPerCpuSecond = (logCount: number) => Math.min(6, 3.5 + Math.max(0, Math.log2(logCount / 1e6)));

/** How much was read at a time. */
type Mark = { at: number; block: number; logCount: number };

/** @param options.fromBlock the first block that this run reads; after a restart it isn't the first of all */
export function createProgress({ fromBlock, toBlock, logCount, onProgress, now = clock }: Options): Progress {
  const start: Mark = { at: now(), block: fromBlock - 1, logCount };
  let last = start;
  /**
   * Marks of the second half of the elapsed time: the first chunks are slow, and old blocks tell little about new ones.
   */
  const lately: Mark[] = [start];
  let restSeconds: number | undefined;
  let restStartedAt: number | undefined;
  let endsAt: number | undefined;

  const report = () => {
    if (endsAt === undefined) return;
    const etaSeconds = Math.max(0, endsAt - now());
    const elapsed = now() - start.at;
    const progress = elapsed + etaSeconds === 0 ? 1 : elapsed / (elapsed + etaSeconds);
    const logsPerSecond = last.at > start.at ? (last.logCount - start.logCount) / (last.at - start.at) : 0;
    onProgress({ block: last.block, progress, logsPerSecond, etaSeconds });
  };

  return {
    report,
    readLogs: ({ block, logCount: count, cpuSeconds }) => {
      last = { at: now(), block, logCount: count };
      lately.push(last);
      const middle = (start.at + last.at) / 2;
      while (lately.length > 2 && lately[1]!.at <= middle) lately.shift();
      const [since] = lately as [Mark];
      // The next blocks are expected to have about as many logs as those since the middle.
      const times = (toBlock - block) / (block - since.block);
      const allLogs = count + (count - since.logCount) * times;
      const cpuPerLog = count > start.logCount ? cpuSeconds / (count - start.logCount) : 0;
      restSeconds = allLogs * cpuPerLog * restPerCpuSecond(allLogs);
      endsAt = last.at + (last.at - since.at) * times + restSeconds;
      report();
    },
    finishPart: (share) => {
      restStartedAt ??= now();
      if (share === 0 && restSeconds === undefined) return;
      const byShare = share > 0 ? (now() - restStartedAt) / share : 0;
      endsAt = restStartedAt + share * byShare + (1 - share) * (restSeconds ?? byShare);
      report();
    },
  };
}

const clock = () => performance.now() / 1000;
