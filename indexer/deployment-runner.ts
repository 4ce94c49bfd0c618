import { once } from "node:events";
import type { Sql } from "postgres";
import type { LogLevel } from "../config.ts";
import type { HistoryProgress } from "../history/load/progress.ts";
import { untilEnded } from "./child-process.ts";
import { type Deployment, historySchemaOf } from "./deployment.ts";
import type { FinalityWatch } from "./finality.ts";
import { findFreePort } from "./free-port.ts";
import { startHistory } from "./history-process.ts";
import { keepRunning, type Work } from "./keeper.ts";
import { readPosition } from "./ponder/ponder-position.ts";
import { startPonder } from "./ponder/ponder-process.ts";
import { createPonderSync } from "./ponder/ponder-sync-schema.ts";
import { takeBackNotes, widenNumbers } from "./ponder/ponder-tables.ts";

/**
 * How long before the end of the load Ponder is started, as a multiple of the time that the history process took to
 * start: Ponder takes 3 to 4 s until it asks for history's tables, where that process took 0.5 s. Both depend on the
 * machine alike.
 */
const PONDER_START_FACTOR = 8;

/** A history of so few blocks is loaded before Ponder has started: it needn't be waited for. */
const SHORT_HISTORY_BLOCKS = 100;

/** Why a Ponder that is far behind is ended. */
const CATCH_UP = "far behind";

/** Keeps one deployment's tables being built and followed, for ever: first the history engine, then Ponder. */
export type DeploymentRunner = {
  /** Why it isn't running now, or can't succeed. */
  failure: () => string | undefined;
  /** What has held history up since its last progress, or what Ponder complains of. */
  problem: () => string | undefined;
  /** Whether Ponder runs. What the Ponder before it had noted is taken back by then. */
  isRunning: () => boolean;
  /** How far history is. Undefined before it is begun, and where it was loaded before. */
  history: () => HistoryProgress | undefined;
  /** Logs that Ponder handled since the last call, by second. */
  readRate: () => Promise<number>;
  /** Ends the Ponder that runs, if one does; another one is started. */
  restart: (reason: string) => void;
  /** Has another Ponder go on, which is no failure: at its start it takes blocks by ranges. */
  catchUp: () => void;
  stop: () => Promise<void>;
};

type Options = {
  deployment: Deployment;
  startBlock: number;
  databaseUrl: string;
  rpcUrl: string;
  finality: FinalityWatch;
  logLevel: LogLevel;
  onFailure: (reason: string) => void;
  /** A line about a problem despite which it goes on. */
  onProblem: (line: string) => void;
};

/** Starts what a deployment needs whose history is fixed (`fixHistory`), and again after each failure. */
export function runDeployment(
  sql: Sql,
  { deployment, startBlock, databaseUrl, rpcUrl, finality, logLevel, onFailure, onProblem }: Options,
): DeploymentRunner {
  const { network, chain_id: chainId, schema_name: schemaName, history_block, history_loaded_at } = deployment;
  const historyBlock = history_block!;
  const hasHistory = historyBlock >= startBlock;
  const isShort = historyBlock - startBlock < SHORT_HISTORY_BLOCKS;
  let isLoaded = !hasHistory || history_loaded_at !== null;
  let progress: HistoryProgress | undefined;
  let historyProblem: string | undefined;
  let startSeconds: number | undefined;
  const waiting = new EventTarget();
  let running: ReturnType<typeof startPonder> | undefined;
  let restarting = new AbortController();
  let counted = { logs: 0, at: performance.now() };

  const history = keepRunning(
    async ({ signal, onStart }) => {
      if (isLoaded) return undefined;
      const startedAt = performance.now();
      const child = startHistory({
        network,
        chainId,
        databaseUrl,
        schemaName,
        onProgress: (reported) => {
          if (reported.block !== progress?.block) historyProblem = undefined;
          progress = reported;
          startSeconds ??= (performance.now() - startedAt) / 1000;
          onStart();
          waiting.dispatchEvent(new Event("progress"));
        },
        onProblem: (line) => {
          historyProblem = line;
          onProblem(line);
        },
      });
      const reason = await untilEnded(child, signal);
      historyProblem = undefined;
      isLoaded = reason === undefined && !signal.aborted;
      progress = isLoaded ? { block: historyBlock, progress: 1, logsPerSecond: 0, etaSeconds: 0 } : undefined;
      waiting.dispatchEvent(new Event("progress"));
      return reason;
    },
    { onFailure },
  );

  /** Ponder is started shortly before the load ends and not sooner: while it waits, it holds a transaction open. */
  const isPonderDue = () => {
    if (isLoaded || isShort) return true;
    return progress?.etaSeconds != null && progress.etaSeconds < PONDER_START_FACTOR * startSeconds!;
  };
  const untilPonderIsDue = async (signal: AbortSignal) => {
    while (!isPonderDue() && !signal.aborted) await once(waiting, "progress", { signal }).catch(() => {});
  };

  const runPonder: Work = async ({ signal, onStart }) => {
    await untilPonderIsDue(signal);
    await createPonderSync(sql);
    await finality.untilKept(signal);
    restarting = new AbortController();
    const leaving = AbortSignal.any([signal, finality.signal(), restarting.signal]);
    await takeBackNotes(sql, deployment);
    await widenNumbers(sql, deployment);
    const finalizedBlock = (await readPosition(sql, deployment))?.finalizedBlock ?? 0;
    const port = await findFreePort();
    counted = { logs: 0, at: performance.now() };
    if (signal.aborted) return "stopped";
    const child = startPonder({
      network,
      chainId,
      databaseUrl,
      rpcUrl,
      schemaName,
      historySchema: hasHistory ? historySchemaOf(deployment) : undefined,
      firstBlock: historyBlock + 1,
      finalizedBlock,
      port,
      logLevel,
    });
    onStart();
    running = child;
    const reason = await untilEnded(child, leaving);
    running = undefined;
    return finality.problem() ?? (restarting.signal.aborted ? String(restarting.signal.reason) : reason);
  };
  const ponder = keepRunning(
    async (options) => {
      for (;;) {
        const reason = await runPonder(options);
        if (reason !== CATCH_UP || options.signal.aborted) return reason;
      }
    },
    { onFailure },
  );

  return {
    failure: () => finality.problem() ?? history.failure() ?? ponder.failure(),
    problem: () => historyProblem ?? running?.problem(),
    isRunning: () => running !== undefined,
    history: () => progress,
    readRate: async () => {
      const logs = await running?.countEvents();
      // Else all that were ever handled would count as those of the next seconds.
      if (logs === undefined) return 0;
      const seconds = (performance.now() - counted.at) / 1000;
      const rate = logs > counted.logs && seconds > 0 ? (logs - counted.logs) / seconds : 0;
      counted = { logs, at: performance.now() };
      return rate;
    },
    restart: (reason) => restarting.abort(reason),
    catchUp: () => restarting.abort(CATCH_UP),
    stop: async () => void (await Promise.all([history.stop(), ponder.stop()])),
  };
}
