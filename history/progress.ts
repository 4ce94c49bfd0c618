import type { Chunk } from "./chain-log.ts";
import type { HistoryProgress } from "./process.ts";

/**
 * What follows once all logs are read (tokens, ownerships, indexes): seconds by log where they come faster than they can
 * be taken in, as measured on two cores, and as a share of the time that taking them in took.
 */
const SHARE_AFTER = 0.75;

/** The speed is that of the last so many milliseconds. */
const SPEED_MS = 15_000;

type Sample = { at: number; block: number; logs: number; busyMs: number };

/** How far a load is, by what passes by. */
export type Progress = {
  /** Logs come from this block on. */
  begin: (fromBlock: number) => void;
  /** Passes chunks on. One is in when the next is asked for. */
  count: (chunks: AsyncIterable<Chunk>) => AsyncGenerator<Chunk>;
  /** All logs are in, and what is made of them isn't. */
  finishLogs: () => void;
  read: () => HistoryProgress;
};

export function createProgress({ startBlock, toBlock }: { startBlock: number; toBlock: number }): Progress {
  const startedAt = performance.now();
  let last: Sample = { at: startedAt, block: startBlock, logs: 0, busyMs: 0 };
  let samples = [last];
  let first = last;
  let logsDoneAt: number | undefined;

  const take = (sample: Sample) => {
    last = sample;
    samples.push(sample);
    // The oldest one that is young enough, but for the one before it.
    while (samples.length > 2 && samples[1]!.at < sample.at - SPEED_MS) samples.shift();
  };

  /** What of the time remains, in milliseconds: reading the rest of the blocks, and what follows. */
  const estimate = (now: number): { readMs: number; afterMs: number } | undefined => {
    const blocks = last.block - first.block;
    if (blocks === 0) return undefined;
    const whole = (toBlock + 1 - first.block) / blocks;
    const afterMs = SHARE_AFTER * last.busyMs * whole;
    if (logsDoneAt !== undefined) return { readMs: 0, afterMs: Math.max(0, afterMs - (now - logsDoneAt)) };
    const [oldest] = samples;
    const msPerBlock = (last.at - oldest!.at) / Math.max(1, last.block - oldest!.block);
    return { readMs: Math.max(0, (toBlock + 1 - last.block) * msPerBlock - (now - last.at)), afterMs };
  };

  return {
    begin: (fromBlock) => {
      last = first = { at: performance.now(), block: fromBlock, logs: 0, busyMs: 0 };
      samples = [last];
      logsDoneAt = undefined;
    },
    count: async function* (chunks) {
      for await (const chunk of chunks) {
        const begunAt = performance.now();
        yield chunk;
        const at = performance.now();
        const { logs, busyMs } = last;
        take({ at, block: chunk.toBlock + 1, logs: logs + chunk.logs.count, busyMs: busyMs + at - begunAt });
      }
    },
    finishLogs: () => (logsDoneAt ??= performance.now()),
    read: () => {
      const now = performance.now();
      const rest = estimate(now);
      const [oldest] = samples;
      const seconds = (now - oldest!.at) / 1000;
      const leftMs = rest && rest.readMs + rest.afterMs;
      const doneMs = now - startedAt;
      return {
        block: Math.max(startBlock, last.block - 1),
        progress: leftMs === undefined ? 0 : doneMs / (doneMs + leftMs),
        logsPerSecond: logsDoneAt === undefined && seconds > 0 ? (last.logs - oldest!.logs) / seconds : 0,
        etaSeconds: leftMs === undefined ? null : leftMs / 1000,
      };
    },
  };
}
