import { setTimeout as sleep } from "node:timers/promises";
import type { ReservedSql, Sql } from "postgres";
import type { Config, Network } from "../config.ts";
import {
  createIndexes,
  type Deployment,
  ensureDeployment,
  findDeployment,
  findPublished,
  fingerprintOf,
  hasTables,
  pruneDeployments,
  publish,
} from "./deployment.ts";
import { followHead, type Head } from "./head.ts";
import {
  countSkippedLogs,
  formatReport,
  type NetworkReport,
  type Position,
  readPosition,
  writeReport,
} from "./network-report.ts";
import { type PonderRunner, runPonder } from "./ponder-runner.ts";
import { type Chain, createRpcClient } from "./rpc.ts";

const TICK_MS = 1_000;
const LINE_EVERY_MS = 5_000;
const LIVE_LINE_EVERY_MS = 60_000;
const COUNT_SKIPPED_EVERY_MS = 10_000;

/** Nodes that don't answer for so long stall the network. */
const HEAD_PATIENCE_MS = 10_000;

/** A head that moves on for so long without us stalls it too. */
const PROGRESS_PATIENCE_MS = 60_000;

/** Why following a network ended without being asked to. */
export type Outcome = "stopped" | "published" | "superseded";

type Options = {
  config: Config;
  network: Network;
  chain: Chain;
  databaseUrl: string;
  signal: AbortSignal;
  /** Ends when this deployment is what readers see. Undefined: never. */
  untilPublished?: Deployment;
  log: (line: string) => void;
};

/**
 * Follows one network: keeps Ponder running on the newest deployment of this version (and on the published one while
 * the newest is still being built), publishes, prunes, reports. One process at a time does so; others stand by.
 */
export async function followNetwork(sql: Sql, options: Options): Promise<Outcome> {
  const { config, network, chain, signal, log } = options;
  const fingerprint = fingerprintOf(config, { network, chain });
  await ensureDeployment(sql, { network, chain, fingerprint, isNewGeneration: false });
  const head = followHead(createRpcClient(config.networks[network]!.rpcUrls), { signal });

  while (!signal.aborted) {
    const lock = await sql.reserve();
    const runners = new Map<string, PonderRunner>();
    try {
      if (!(await acquireLock(lock, { name: `${network}:${fingerprint}`, signal, log, network }))) break;
      return await followLocked({ ...options, sql, lock, runners, fingerprint, head });
    } catch (error) {
      if (signal.aborted) break;
      log(`${network}  ${(error as Error).message}. Tries again`);
      await sleep(TICK_MS);
    } finally {
      await Promise.all(runners.values().map((runner) => runner.stop()));
      lock.release();
    }
  }
  return "stopped";
}

/** Waits for the lock that says who follows. It goes with its connection, so a killed holder holds nothing. */
async function acquireLock(
  lock: ReservedSql,
  { name, signal, log, network }: { name: string; signal: AbortSignal; log: (line: string) => void; network: Network },
): Promise<boolean> {
  for (let attempt = 0; !signal.aborted; attempt++) {
    const [row] = await lock<{ acquired: boolean }[]>`
      select pg_try_advisory_lock(hashtextextended(${name}, 0)) as acquired
    `;
    if (row?.acquired) return true;
    // A moment's patience: the connection of a killed process is noticed a little later.
    if (attempt === 5) log(`${network}  another indexer follows this network; standing by`);
    await sleep(TICK_MS, undefined, { signal }).catch(() => {});
  }
  return false;
}

type LockedOptions = Options & {
  sql: Sql;
  lock: ReservedSql;
  runners: Map<string, PonderRunner>;
  fingerprint: string;
  head: Readonly<Head>;
};

async function followLocked(options: LockedOptions): Promise<Outcome> {
  const { sql, lock, network, signal, runners, fingerprint, databaseUrl, config, log, untilPublished } = options;
  const startedAt = Date.now();
  const report = createReporter(options);
  let publishing: Promise<void> | undefined;
  let publishError: Error | undefined;
  let previewed: string | undefined;

  while (!signal.aborted) {
    // On the connection of the lock: where it is gone, this throws, and somebody else may have the lock now.
    await lock`select 1`;
    const newest = (await findDeployment(sql, { network, fingerprint }))!;
    const published = await findPublished(sql, { network });
    if (published && published.fingerprint !== fingerprint && published.published_at!.getTime() > startedAt) {
      log(`${network}  another version has taken over; this one ends`);
      return "superseded";
    }
    if (untilPublished && published?.schema_name === untilPublished.schema_name) return "published";

    const wanted = new Map([[newest.schema_name, newest]]);
    if (published?.fingerprint === fingerprint) wanted.set(published.schema_name, published);
    for (const [name, runner] of runners) {
      if (wanted.has(name)) continue;
      await runner.stop();
      runners.delete(name);
    }
    for (const [name, deployment] of wanted) {
      if (runners.has(name)) continue;
      const onFailure = (reason: string) => log(`${network}  ${reason}`);
      runners.set(name, runPonder(sql, { deployment, databaseUrl, logLevel: config.logLevel, onFailure }));
    }

    if (await hasTables(sql, newest)) {
      const position = await readPosition(sql, newest);
      // Before anything was complete, readers may watch it grow.
      if (!published && previewed !== newest.schema_name) {
        await publish(sql, newest, { isComplete: false });
        previewed = newest.schema_name;
      }
      if (publishError) throw publishError;
      if (position?.isReady && published?.schema_name !== newest.schema_name && !publishing) {
        publishing = complete(sql, newest)
          .catch((error: Error) => {
            // A reader that kept us waiting: next time. Anything else is a fault.
            if (!/lock timeout/.test(error.message)) publishError = error;
          })
          .finally(() => (publishing = undefined));
      }
      await report({ newest, visible: published ?? newest, newestPosition: position });
    }
    await sleep(TICK_MS, undefined, { signal }).catch(() => {});
  }
  await publishing;
  return "stopped";
}

/** Indexes first, so that no reader ever scans a table that is complete. */
async function complete(sql: Sql, deployment: Deployment): Promise<void> {
  await createIndexes(sql, deployment);
  await publish(sql, deployment, { isComplete: true });
  await pruneDeployments(sql, deployment);
}

type ReportInput = { newest: Deployment; visible: Deployment; newestPosition: Position | undefined };

/** Makes the function that tells the database, and now and then the terminal, how far we are. */
function createReporter({ sql, network, chain, config, head, runners, fingerprint, log }: LockedOptions) {
  const { startBlock, endBlock } = config.networks[network]!;
  let skipped = { count: 0, at: 0 };
  let line = { at: 0, state: "" };
  let advance = { block: -1, at: Date.now() };
  let rate = 0;
  let pace: { block: number; at: number } | undefined;

  return async ({ newest, visible, newestPosition }: ReportInput): Promise<void> => {
    const now = Date.now();
    const position = visible === newest ? newestPosition : await readPosition(sql, visible);
    const runner = runners.get(newest.schema_name);
    rate = rate * 0.7 + ((await runner?.readRate()) ?? 0) * 0.3;
    if (now - skipped.at > COUNT_SKIPPED_EVERY_MS) skipped = { count: await countSkippedLogs(sql, visible), at: now };

    const indexedBlock = position?.indexedBlock ?? 0;
    if (indexedBlock !== advance.block || indexedBlock >= head.block) advance = { block: indexedBlock, at: now };

    const isComplete =
      visible.published_at !== null && visible.fingerprint === fingerprint && position?.isReady === true;
    const target = Math.min(head.block, endBlock ?? head.block);
    const built = (newestPosition?.indexedBlock ?? startBlock) - startBlock;
    pace ??= newestPosition && { block: newestPosition.indexedBlock, at: now };
    const progress = isComplete ? 1 : Math.min(0.999, Math.max(0, built / Math.max(1, target - startBlock)));
    const seconds = pace ? (now - pace.at) / 1000 : 0;
    const speed = pace && seconds > 3 ? ((newestPosition?.indexedBlock ?? 0) - pace.block) / seconds : 0;

    const reason = stallReason();
    const report: NetworkReport = {
      name: network,
      chain_id: chain.chainId,
      state: reason ? "stalled" : isComplete ? "live" : "backfill",
      reason: reason ?? null,
      head_block: Math.max(head.block, indexedBlock),
      indexed_block: indexedBlock,
      finalized_block: position?.finalizedBlock ?? 0,
      head_timestamp: Math.max(head.timestamp, position?.indexedTimestamp ?? 0),
      indexed_timestamp: position?.indexedTimestamp ?? 0,
      progress,
      logs_per_second: Math.round(rate * 10) / 10,
      eta_seconds: isComplete || speed <= 0 ? null : Math.round((target - startBlock - built) / speed),
      skipped_logs: skipped.count,
    };
    await writeReport(sql, report);

    const interval = report.state === "live" ? LIVE_LINE_EVERY_MS : LINE_EVERY_MS;
    if (report.state !== line.state || now - line.at > interval) {
      log(formatReport(report));
      line = { at: now, state: report.state };
    }

    function stallReason(): string | undefined {
      const failure = runner?.failure();
      if (failure) return failure;
      if (head.error && now - head.answeredAt > HEAD_PATIENCE_MS) return `RPC doesn't answer: ${head.error}`;
      const isBehind = head.block > indexedBlock && (endBlock === undefined || indexedBlock < endBlock);
      if (isComplete && isBehind && now - advance.at > PROGRESS_PATIENCE_MS)
        return `No block indexed for ${Math.round((now - advance.at) / 1000)} s`;
      return undefined;
    }
  };
}
