import type { HistoryProgress } from "./process.ts";

/** How far a load is, and how long it will take. */
export type Progress = {
  /** Says again how long it will take, by the clock. */
  report: () => void;
  /** All logs up to the block are in, so many in all; `busySeconds` of that were not spent on waiting for them. */
  readLogs: (state: { block: number; logCount: number; busySeconds: number }) => void;
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

/** Tokens, ownerships and indexes take about as long as the logs did: 1.0 to 1.1 times, at 100,000 logs and at a million. */
const REST_PER_BUSY_SECOND = 1.05;

/** From this share on, what is left is reckoned from what was done, not from the logs. */
const RELIABLE_SHARE = 0.25;

/** @param options.fromBlock the first that is read now, which after a restart isn't the first of all */
export function createProgress({
  fromBlock,
  toBlock,
  logCount: logsBefore,
  onProgress,
  now = clock,
}: Options): Progress {
  const startedAt = now();
  const blocks = toBlock - fromBlock + 1;
  let block = fromBlock - 1;
  let logsPerSecond = 0;
  let busySeconds = 0;
  let restStartedAt: number | undefined;

  let endsAt: number | undefined;

  const report = () => {
    if (endsAt === undefined) return;
    const etaSeconds = Math.max(0, endsAt - now());
    const elapsed = now() - startedAt;
    const progress = elapsed + etaSeconds === 0 ? 1 : elapsed / (elapsed + etaSeconds);
    onProgress({ block, progress, logsPerSecond, etaSeconds });
  };

  return {
    report,
    readLogs: (state) => {
      ({ block, busySeconds } = state);
      const elapsed = now() - startedAt;
      logsPerSecond = elapsed > 0 ? (state.logCount - logsBefore) / elapsed : 0;
      const share = Math.max((block - fromBlock + 1) / blocks, Number.EPSILON);
      endsAt = startedAt + (elapsed + busySeconds * REST_PER_BUSY_SECOND) / share;
      report();
    },
    finishPart: (share) => {
      restStartedAt ??= now();
      const seconds = share >= RELIABLE_SHARE ? (now() - restStartedAt) / share : busySeconds * REST_PER_BUSY_SECOND;
      endsAt = restStartedAt + seconds;
      report();
    },
  };
}

const clock = () => performance.now() / 1000;
