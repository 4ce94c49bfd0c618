/** How far the load of a deployment's history is. */
export type HistoryProgress = {
  /** The last block whose logs are in. */
  block: number;
  /** Of all the work, from 0 to 1. */
  progress: number;
  logsPerSecond: number;
  /** Null before there is anything to go by. */
  etaSeconds: number | null;
};

/** How far a load is, and how long it will take. */
export type Progress = {
  /** Says again how long it will take, by the clock. */
  report: () => void;
  /** All logs up to the block are in, so many in all; `cpuSeconds` of this thread went into those that were read now. */
  readLogs: (state: { block: number; logCount: number; cpuSeconds: number }) => void;
  /** Of what comes after the last log, this share is done. */
  finishPart: (share: number) => void;
};

type Options = {
  fromBlock: number;
  toBlock: number;
  /** Logs that were in before. */
  logCount: number;
  onProgress: (progress: HistoryProgress) => void;
  /** Seconds, of a clock that only goes forward. */
  now?: () => number;
};

/**
 * Tokens, ownerships and indexes take so many times as long as what this thread has calculated for their logs: 3.3 to
 * 3.8 times at a million, and, as sorts no longer fit into memory, 5.3 to 6.2 times at five million. Unlike the time that
 * reading took, that doesn't depend on the nodes.
 */
const restPerCpuSecond = (logCount: number) => Math.min(6, 3.5 + Math.max(0, Math.log2(logCount / 1e6)));

/** What was read by then. */
type Mark = { at: number; block: number; logCount: number };

/** @param options.fromBlock the first that is read now, which after a restart isn't the first of all */
export function createProgress({ fromBlock, toBlock, logCount, onProgress, now = clock }: Options): Progress {
  const start: Mark = { at: now(), block: fromBlock - 1, logCount };
  let last = start;
  /** From the middle of the time on: the first chunks come slowly, and what a chain did long ago says little. */
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
      // Of the next blocks about as much is expected as of those.
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
