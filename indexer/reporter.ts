import type { Sql } from "postgres";
import type { PublicClient } from "viem";
import type { Config, Network } from "../config.ts";
import type { Chain } from "../history/chain-log.ts";
import type { NetworkReport } from "../offchain/network.ts";
import type { Deployment } from "./deployment.ts";
import type { DeploymentRunner } from "./deployment-runner.ts";
import type { Head } from "./head.ts";
import {
  countSkippedLogs,
  formatReport,
  type Log,
  type Position,
  readPosition,
  writeReport,
} from "./network-report.ts";

const LINE_EVERY_MS = 5_000;
const LIVE_LINE_EVERY_MS = 60_000;
const REPORT_EVERY_MS = 900;
const RATE_EVERY_MS = 3_000;
const COUNT_SKIPPED_EVERY_MS = 10_000;

/** Nodes that don't answer for so long stall the network. */
const HEAD_PATIENCE_MS = 10_000;

/** From the end of history until readers get its tables: Ponder takes them over and adds the blocks above. */
const HANDOVER_SECONDS = 2;

/** A head that moves on for so long without us stalls it too. */
const PROGRESS_PATIENCE_MS = 60_000;

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

/** Makes the function that tells the database, and now and then the terminal, how far we are. */
export function createReporter(sql: Sql, options: ReporterOptions) {
  const { network, chain, config, client, head, runners, fingerprint, log } = options;
  const { startBlock, endBlock } = config.networks[network]!;
  const firstTimestamp = readFirstTimestamp(client, { startBlock });
  let skipped = { count: 0, at: -Infinity };
  let line = { at: 0, state: "" };
  let advance = { block: -1, at: performance.now() };
  let furthest = { schemaName: "", block: -1, at: 0 };
  /** What ended it since it was never further than now. */
  let lastFailure: string | undefined;
  let rate = 0;
  let ratedAt = -Infinity;
  let reportedAt = -Infinity;
  let hasCaughtUp = false;
  let wasRunning = false;
  let pace: { block: number; at: number } | undefined;

  return async ({ newest, visible, newestPosition }: ReportInput): Promise<void> => {
    // Which nobody sets back: there would be no report until the clock is where it was.
    const now = performance.now();
    if (now - reportedAt < REPORT_EVERY_MS) return;
    reportedAt = now;
    const position = visible === newest ? newestPosition : await readPosition(sql, visible);
    const runner = runners.get(newest.schema_name);
    const history = newestPosition ? undefined : runner?.history();
    // Making its metrics costs Ponder milliseconds.
    if (!history && now - ratedAt > RATE_EVERY_MS) {
      rate = rate * 0.5 + ((await runner?.readRate()) ?? 0) * 0.5;
      ratedAt = now;
    }
    if (position && now - skipped.at > COUNT_SKIPPED_EVERY_MS)
      skipped = { count: await countSkippedLogs(sql, visible), at: now };

    const indexedBlock = position?.indexedBlock ?? 0;
    if (indexedBlock !== advance.block || indexedBlock >= head.block) advance = { block: indexedBlock, at: now };

    const reached = newestPosition?.indexedBlock ?? history?.block ?? 0;
    if (newest.schema_name !== furthest.schemaName || reached > furthest.block) {
      furthest = { schemaName: newest.schema_name, block: reached, at: now };
      lastFailure = undefined;
    }
    lastFailure = runner?.failure() ?? lastFailure;

    const target = Math.min(head.block, endBlock ?? head.block);
    const isRunning = runners.get(visible.schema_name)?.isRunning() === true;
    // Ponder is ready where all that is final is in; the blocks since then follow within seconds. One that was started
    // since the position was read hasn't said so: the one before it had.
    if (!isRunning || !wasRunning || !position?.isReady) hasCaughtUp = false;
    else if (head.isKnown && indexedBlock >= target) hasCaughtUp = true;
    wasRunning = isRunning;
    const isComplete = visible.published_at !== null && visible.fingerprint === fingerprint && hasCaughtUp;
    const blocks = Math.max(1, target - startBlock);
    const loaded = history && startBlock + history.progress * (newest.history_block! - startBlock);
    const built = (newestPosition?.indexedBlock ?? loaded ?? startBlock) - startBlock;
    // Of one that is started again: it does the blocks since the last final one sooner than new ones come.
    if (!runner?.isRunning()) pace = undefined;
    pace ??= newestPosition && { block: newestPosition.indexedBlock, at: now };
    const progress = isComplete ? 1 : Math.min(0.999, Math.max(0, built / blocks));
    const seconds = pace ? (now - pace.at) / 1000 : 0;
    const speed = pace && seconds > 3 ? ((newestPosition?.indexedBlock ?? 0) - pace.block) / seconds : 0;

    const reason = stallReason();
    const headTimestamp = Math.max(head.timestamp, position?.indexedTimestamp ?? 0);
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
      // Behind by all that is to be read, where nothing is, and by nothing where all is.
      indexed_timestamp: isWhole ? headTimestamp : position?.indexedTimestamp || (firstTimestamp() ?? headTimestamp),
      progress,
      logs_per_second: Math.round((history?.logsPerSecond ?? rate) * 10) / 10,
      eta_seconds: isComplete || reason ? null : secondsLeft(),
      skipped_logs: skipped.count,
      reorgs: head.reorgs,
    };
    await writeReport(sql, report);

    const interval = report.state === "live" ? LIVE_LINE_EVERY_MS : LINE_EVERY_MS;
    if (report.state !== line.state || now - line.at > interval) {
      const block = isComplete ? indexedBlock : reached;
      log(reason ? "error" : "info", formatReport(report, { block }));
      line = { at: now, state: report.state };
    }

    function secondsLeft(): number | null {
      if (history) return history.etaSeconds === null ? null : Math.round(history.etaSeconds + HANDOVER_SECONDS);
      return speed > 0 ? Math.round((target - startBlock - built) / speed) : null;
    }

    function stallReason(): string | undefined {
      const failure = runner?.failure();
      if (failure) return failure;
      if (head.error && now - head.answeredAt > HEAD_PATIENCE_MS) return `RPC doesn't answer: ${head.error}`;
      // It runs, and fails again before it comes to anything: on a full disk after some minutes each time. Or it goes on
      // asking for blocks that nodes don't give, or not as they can be taken.
      const words = lastFailure ?? runner?.problem();
      if (words && !isComplete && now - furthest.at > PROGRESS_PATIENCE_MS) return words;
      const isBehind = head.block > indexedBlock && (endBlock === undefined || indexedBlock < endBlock);
      if (isComplete && isBehind && now - advance.at > PROGRESS_PATIENCE_MS)
        return `No block indexed for ${Math.round((now - advance.at) / 1000)} s`;
      return undefined;
    }
  };
}

/** The time of the first block that is indexed, asked for until a node tells it. */
function readFirstTimestamp(client: PublicClient, { startBlock }: { startBlock: number }): () => number | undefined {
  let timestamp: number | undefined;
  let isAsking = false;
  return () => {
    if (timestamp === undefined && !isAsking) {
      isAsking = true;
      // Ethereum's block 0 is of 1970.
      client
        .getBlock({ blockNumber: BigInt(Math.max(1, startBlock)) })
        .then((block) => (timestamp = Number(block.timestamp)))
        .catch(() => {})
        .finally(() => (isAsking = false));
    }
    return timestamp;
  };
}
