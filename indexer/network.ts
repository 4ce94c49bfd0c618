import { setTimeout as sleep } from "node:timers/promises";
import type { Sql } from "postgres";
import { createPool } from "../bin/database.ts";
import type { Config, Network } from "../config.ts";
import {
  createIndexes,
  type Deployment,
  ensureDeployment,
  findDeployment,
  findPublished,
  fingerprintOf,
  hasTables,
  isOfChain,
  pruneDeployments,
  publish,
} from "./deployment.ts";
import { followHead, type Head } from "./head.ts";
import { readPosition } from "./network-report.ts";
import { type PonderRunner, runPonder } from "./ponder-runner.ts";
import { createReporter } from "./reporter.ts";
import { type Chain, createRpcClient } from "./rpc.ts";

const TICK_MS = 1_000;

/** While a deployment is being built: readers shouldn't wait for us once Ponder is done. */
const BUILDING_TICK_MS = 250;

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
  const { config, network, chain, databaseUrl, signal, log } = options;
  const fingerprint = fingerprintOf(config, { network, chainId: chain.chainId });
  await ensureDeployment(sql, { network, chain, fingerprint, isNewGeneration: false });
  const head = followHead(createRpcClient(config.networks[network]!.rpcUrls), { signal });

  while (!signal.aborted) {
    // A pool of one and not a connection reserved from the other pool: postgres.js 3.4.9 ends the process when a query
    // meets a reserved connection that is lost.
    const connection = createPool(databaseUrl, { max: 1, max_lifetime: 0 });
    const runners = new Map<string, PonderRunner>();
    try {
      const lock = await acquireLock(connection, { network, fingerprint, signal, log });
      if (!lock) break;
      return await followLocked({ ...options, sql, lock, runners, fingerprint, head });
    } catch (error) {
      if (signal.aborted) break;
      log(`${network}  ${(error as Error).message}. Tries again`);
      await sleep(TICK_MS);
    } finally {
      await Promise.all(runners.values().map((runner) => runner.stop()));
      await connection.end({ timeout: 1 });
    }
  }
  return "stopped";
}

/** Whether some process follows the network with this version now. */
export async function isFollowed(sql: Sql, version: Version): Promise<boolean> {
  const [row] = await sql<{ acquired: boolean }[]>`
    select pg_try_advisory_xact_lock(hashtextextended(${lockName(version)}, 0)) as acquired
  `;
  return !row?.acquired;
}

/** The network's lock, as long as the session that took it lives. */
type Lock = { check: () => Promise<void> };

/** Waits for the lock that says who follows. It goes with its session, so a killed holder holds nothing. */
async function acquireLock(
  connection: Sql,
  { network, fingerprint, signal, log }: Version & Pick<Options, "signal" | "log">,
): Promise<Lock | undefined> {
  for (let attempt = 0; !signal.aborted; attempt++) {
    const [row] = await connection<{ acquired: boolean; session: number }[]>`
      select
        pg_try_advisory_lock(hashtextextended(${lockName({ network, fingerprint })}, 0)) as acquired,
        pg_backend_pid() as session
    `;
    if (row?.acquired) return { check: () => checkSession(connection, row) };
    // A moment's patience: the connection of a killed process is noticed a little later.
    if (attempt === 5) log(`${network}  another indexer follows this network; standing by`);
    await sleep(TICK_MS, undefined, { signal }).catch(() => {});
  }
  return undefined;
}

/** A lost connection is replaced by a new one without a word, and the lock is gone: somebody else may have it now. */
async function checkSession(connection: Sql, { session }: { session: number }): Promise<void> {
  const [row] = await connection<{ session: number }[]>`select pg_backend_pid() as session`;
  if (row?.session !== session) throw new Error("The connection to Postgres was lost");
}

type Version = { network: Network; fingerprint: string };
const lockName = ({ network, fingerprint }: Version) => `${network}:${fingerprint}`;

type LockedOptions = Options & {
  sql: Sql;
  lock: Lock;
  runners: Map<string, PonderRunner>;
  fingerprint: string;
  head: Readonly<Head>;
};

async function followLocked(options: LockedOptions): Promise<Outcome> {
  const { sql, lock, network, signal, runners, fingerprint, databaseUrl, config, chain, head, log } = options;
  const { untilPublished } = options;
  const startedAt = Date.now();
  const report = createReporter(sql, options);
  let publishing: Promise<void> | undefined;
  let publishError: Error | undefined;
  let previewed: string | undefined;

  while (!signal.aborted) {
    await lock.check();
    const newest = (await findDeployment(sql, { network, fingerprint }))!;
    const last = await findPublished(sql, { network });
    // What readers see of a chain that is gone is replaced as soon as there is anything of this one.
    const published = last && isOfChain(last, chain) ? last : undefined;
    if (published && published.fingerprint !== fingerprint && published.published_at!.getTime() > startedAt) {
      log(`${network}  another version has taken over; this one ends`);
      return "superseded";
    }
    if (untilPublished && published?.schema_name === untilPublished.schema_name) return "published";

    const wanted = new Map([[newest.schema_name, newest]]);
    if (published?.fingerprint === fingerprint && !untilPublished) wanted.set(published.schema_name, published);
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
      const isCaughtUp = () =>
        hasCaughtUp(sql, { newest, published, head, endBlock: config.networks[network]!.endBlock });
      if (published?.schema_name !== newest.schema_name && !publishing && (await isCaughtUp())) {
        publishing = complete(sql, newest, { isCaughtUp })
          .catch((error: Error) => {
            // A reader that kept us waiting: next time. Anything else is a fault.
            if (!/lock timeout/.test(error.message)) publishError = error;
          })
          .finally(() => (publishing = undefined));
      }
      await report({ newest, visible: published ?? newest, newestPosition: position });
    }
    const isPublished = published?.schema_name === newest.schema_name;
    await sleep(isPublished ? TICK_MS : BUILDING_TICK_MS, undefined, { signal }).catch(() => {});
  }
  await publishing;
  return "stopped";
}

/** Indexes first, so that no reader ever scans a table that is complete; the chain may have gone on meanwhile. */
async function complete(
  sql: Sql,
  deployment: Deployment,
  { isCaughtUp }: { isCaughtUp: () => Promise<boolean> },
): Promise<void> {
  await createIndexes(sql, deployment);
  if (!(await isCaughtUp())) return;
  await publish(sql, deployment, { isComplete: true });
  await pruneDeployments(sql, deployment);
}

/**
 * Whether readers lose nothing when the newest deployment takes over. Ponder says that it is ready when the final blocks
 * are done: the published one has the blocks above them, too.
 */
async function hasCaughtUp(
  sql: Sql,
  {
    newest,
    published,
    head,
    endBlock = Infinity,
  }: {
    newest: Deployment;
    published: Deployment | undefined;
    head: Readonly<Head>;
    endBlock: number | undefined;
  },
): Promise<boolean> {
  const seen = published && (await readPosition(sql, published));
  const position = await readPosition(sql, newest);
  return position?.isReady === true && position.indexedBlock >= Math.min(seen?.indexedBlock ?? 0, head.block, endBlock);
}
