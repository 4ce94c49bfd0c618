import type { Sql } from "postgres";
import type { PublicClient } from "viem";
import type { Config, Network } from "../config.ts";
import type { Chain } from "../history/chain-log.ts";
import type { NetworkReport } from "../offchain/network.ts";
import type { Deployment } from "./deployment.ts";
import type { DeploymentRunner } from "./deployment-runner.ts";
import type { Head } from "./head.ts";
import { countSkippedLogs, formatReport, type Log, writeReport } from "./network-report.ts";
import { type Position, readPosition } from "./ponder/ponder-position.ts";
import { createProgressWatch } from "./progress-watch.ts";

const LINE_EVERY_MS = 5_000;
const QUIET_LINE_EVERY_MS = 60_000;
const REPORT_EVERY_MS = 900;
const RATE_EVERY_MS = 3_000;
const COUNT_SKIPPED_EVERY_MS = 10_000;

type ReporterOptions = {
  network: Network;
  chain: Chain;
  config: Config;
  client: PublicClient;
  head: Readonly<Head>;
  runners: ReadonlyMap<string, DeploymentRunner>;
  fingerprint: string;
  log: Log;
};

/** `newest` is being built or followed, `visible` is what readers see: mostly the same. */
type ReportInput = { newest: Deployment; visible: Deployment; newestPosition: Position | undefined };

/**
 * Makes the function that tells the database, and now and then the terminal, how far we are. What hangs, or is far
 * behind, is started again.
 */
export function createReporter(sql: Sql, options: ReporterOptions) {
  const { network, chain, config, client, head, runners, fingerprint, log } = options;
  const { startBlock, endBlock } = config.networks[network]!;
  const firstTimestamp = readFirstTimestamp(client, { startBlock });
  let skipped = { count: 0, at: -Infinity };
  let line: { at: number } & Partial<NetworkReport> = { at: 0 };
  let rate = 0;
  let ratedAt = -Infinity;
  let reportedAt = -Infinity;
  const look = createProgressWatch({ startBlock, endBlock, fingerprint });
  const followed = (deployment: Deployment, position: Position | undefined) => {
    const isRunning = runners.get(deployment.schema_name)?.isRunning() === true;
    return { deployment, position, isRunning };
  };

  return async ({ newest, visible, newestPosition }: ReportInput): Promise<void> => {
    // Monotonic: if the clock were set back, there would be no report for as long.
    const now = performance.now();
    if (now - reportedAt < REPORT_EVERY_MS) return;
    reportedAt = now;
    const position = visible === newest ? newestPosition : await readPosition(sql, visible);
    const runner = runners.get(newest.schema_name);
    const history = newestPosition ? undefined : runner?.history();
    // Now and then only: its metrics cost Ponder milliseconds.
    if (!history && now - ratedAt > RATE_EVERY_MS) {
      rate = rate * 0.5 + ((await runner?.readRate()) ?? 0) * 0.5;
      ratedAt = now;
    }
    if (position && now - skipped.at > COUNT_SKIPPED_EVERY_MS)
      skipped = { count: await countSkippedLogs(sql, visible), at: now };

    const { isComplete, progress, etaSeconds, reason, isHung, isFarBehind, reached } = look({
      now,
      head,
      newest: followed(newest, newestPosition),
      visible: followed(visible, position),
      history,
      failure: runner?.failure(),
      problem: runner?.problem(),
    });
    // Ponder goes on until the last block is final, and indexes nothing of the ones after it.
    const indexedBlock = Math.min(position?.indexedBlock ?? 0, endBlock ?? Infinity);
    // While no node answers, the chain is taken to go on: else it would be no second behind, however long that lasts.
    const silentSeconds = head.error === undefined ? 0 : Math.floor((now - head.answeredAt) / 1000);
    const headTimestamp = Math.max(head.timestamp, position?.indexedTimestamp ?? 0) + silentSeconds;
    const isWhole = endBlock !== undefined && indexedBlock >= endBlock;
    const report: NetworkReport = {
      name: network,
      chain_id: chain.chainId,
      state: reason ? "stalled" : isComplete ? "live" : "backfill",
      reason: reason ?? null,
      head_block: Math.max(head.block, indexedBlock),
      indexed_block: indexedBlock,
      finalized_block: position?.finalizedBlock ?? 0,
      head_timestamp: headTimestamp,
      // Where nothing is indexed yet, the time of the first block; where all is, that of the head.
      indexed_timestamp: isWhole ? headTimestamp : position?.indexedTimestamp || (firstTimestamp() ?? headTimestamp),
      progress,
      logs_per_second: Math.round((history?.logsPerSecond ?? rate) * 10) / 10,
      eta_seconds: etaSeconds,
      skipped_logs: skipped.count,
      reorgs: head.reorgs,
    };
    await writeReport(sql, report);
    if (isHung) runner?.restart(`Ponder hung at block ${reached}`);
    if (isFarBehind) {
      log("info", `${network}  far behind at block ${reached} of ${head.block}; begins anew, which is faster`);
      runner?.catchUp();
    }

    // What is stalled for days says so now and then, and another reason soon.
    const isMoving = report.state === "backfill" || report.reason !== line.reason;
    const interval = isMoving ? LINE_EVERY_MS : QUIET_LINE_EVERY_MS;
    if (report.state !== line.state || now - line.at > interval) {
      const block = isComplete ? indexedBlock : reached;
      log(reason ? "error" : "info", formatReport(report, { block }));
      line = { ...report, at: now };
    }
  };
}

/** The time of the start block, asked for until a node tells it. */
function readFirstTimestamp(client: PublicClient, { startBlock }: { startBlock: number }): () => number | undefined {
  let timestamp: number | undefined;
  let isAsking = false;
  return () => {
    if (timestamp === undefined && !isAsking) {
      isAsking = true;
      // Ethereum's block 0 has the time 0.
      client
        .getBlock({ blockNumber: BigInt(Math.max(1, startBlock)) })
        .then((block) => (timestamp = Number(block.timestamp)))
        .catch(() => {})
        .finally(() => (isAsking = false));
    }
    return timestamp;
  };
}
