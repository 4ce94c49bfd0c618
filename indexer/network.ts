import { setTimeout as sleep } from "node:timers/promises";
import type { Sql } from "postgres";
import type { PublicClient } from "viem";
import { createPool } from "../postgres/pool.ts";
import { UNREAD_ANSWER } from "../postgres/session.ts";
import type { Config, Network } from "../config.ts";
import type { Chain } from "../history/chain-log.ts";
import { createLogThrottle } from "../offchain/log-throttle.ts";
import { fixHistory } from "./boundary.ts";
import {
  abandonDeployments,
  type Deployment,
  ensureDeployment,
  findDeployment,
  findPublished,
  isOfChain,
  listOfOtherChains,
} from "./deployment.ts";
import { type DeploymentRunner, runDeployment } from "./deployment-runner.ts";
import { fingerprintOf } from "./fingerprint.ts";
import { watchFinality } from "./finality.ts";
import { followHead, type Head } from "./head.ts";
import { acquireLock, type Lock } from "./lock.ts";
import { type Log, markStalled, markStopped } from "./network-report.ts";
import { readPosition } from "./ponder/ponder-position.ts";
import { lastPublication } from "./publication.ts";
import { createPublisher } from "./publisher.ts";
import { createReporter } from "./reporter.ts";
import { createRpcClient, needsFailover, readGenesisHash } from "./rpc/rpc-client.ts";
import { shortMessage } from "./rpc/viem-error.ts";

const TICK_MS = 1_000;

/** While a deployment is being built, so that it is published as soon as Ponder is done. */
const BUILDING_TICK_MS = 250;

const SUPERSEDED_ADVICE =
  "Expected the same version and variables on every machine: started again, it takes over in turn";

/** How following a network ended. */
type Outcome = "stopped" | "superseded";

type Options = {
  config: Config;
  network: Network;
  chain: Chain;
  databaseUrl: string;
  signal: AbortSignal;
  /** Following ends when readers see this deployment. Undefined: never. */
  untilPublished?: Deployment;
  log: Log;
};

/**
 * Follows one network: keeps Ponder running on the newest deployment of this version (and on the published one while
 * the newest is still being built), publishes, prunes, reports. One process at a time does so; others stand by.
 */
export async function followNetwork(sql: Sql, options: Options): Promise<Outcome> {
  const { config, network, chain } = options;
  const fingerprint = fingerprintOf(config, { network, chainId: chain.chainId });
  const startedAt = await readClock(sql, { network });
  const { rpcUrls } = config.networks[network]!;
  const onOther = (host: string, chainId: number) => {
    const problem = `${network.toUpperCase()}_RPC_URL ${host} answers for chain ${chainId}`;
    options.log("error", `${network}  ${problem}. Expected ${chain.chainId}, as of the others; it is not asked`);
  };
  // Imported where it is needed only: it brings undici, 0.2 s of CPU.
  const failover = needsFailover(rpcUrls)
    ? await (await import("./rpc/rpc-failover.ts")).startRpcFailover(rpcUrls, { ...chain, onOther })
    : undefined;
  const rpcUrl = failover?.url ?? rpcUrls[0]!;
  // The nodes too, for their own words where all of them fail.
  const client = createRpcClient([...new Set([rpcUrl, ...rpcUrls])], chain);
  const polling = new AbortController();
  const head = followHead(client, { pollIntervalMs: config.pollIntervalMs, signal: polling.signal });
  try {
    return await followWhenFree(sql, { ...options, fingerprint, startedAt, client, head, rpcUrl });
  } finally {
    polling.abort();
    await failover?.close();
  }
}

type FollowOptions = Options & {
  fingerprint: string;
  /** Read once, however often the lock is lost. A version that was published since then has taken over. */
  startedAt: Date;
  client: PublicClient;
  head: Readonly<Head>;
  /** The URL that Ponder asks: the node's, or that of the failover for several. */
  rpcUrl: string;
};

/** Takes the network's lock as soon as nobody else has it, and again where it is lost. */
async function followWhenFree(sql: Sql, options: FollowOptions): Promise<Outcome> {
  const { network, databaseUrl, signal, fingerprint, log } = options;
  // While nothing can be written, all is begun anew and fails again once a second.
  const mayLog = createLogThrottle();
  const say = (line: string) => {
    if (mayLog(line)) log("error", `${network}  ${line}`);
  };
  while (!signal.aborted) {
    // A pool of its own, whose one session holds the lock: it never ends by age, and Postgres ends it if we are gone while
    // an answer is under way.
    const connection = createPool(databaseUrl, { max: 1, max_lifetime: null, connection: UNREAD_ANSWER });
    const runners = new Map<string, DeploymentRunner>();
    try {
      const lock = await acquireLock(connection, { network, fingerprint, signal, log });
      if (!lock) break;
      const chain = await readChain(options);
      const outcome = await followLocked({ ...options, chain, sql, lock, runners, say });
      if (outcome) return outcome;
    } catch (error) {
      if (signal.aborted) break;
      say(`${(error as Error).message.replace(/\.$/, "")}. Tries again`);
      await sleep(TICK_MS);
    } finally {
      await Promise.all(runners.values().map((runner) => runner.stop()));
      await connection.end({ timeout: 1 });
    }
  }
  return "stopped";
}

/** The chain by its genesis block of now: it may have begun anew since the start. */
async function readChain({ client, chain }: FollowOptions): Promise<Chain> {
  return { ...chain, genesisHash: (await readGenesisHash(client)) ?? chain.genesisHash };
}

type LockedOptions = FollowOptions & {
  sql: Sql;
  lock: Lock;
  runners: Map<string, DeploymentRunner>;
  /** Tells what goes wrong. */
  say: (line: string) => void;
};

/** Undefined: to be begun anew. */
async function followLocked(options: LockedOptions): Promise<Outcome | undefined> {
  const { sql, lock, network, signal, runners, fingerprint, databaseUrl, config, chain, head, say } = options;
  const { untilPublished, client, rpcUrl, startedAt } = options;
  const { rpcUrls, startBlock, endBlock } = config.networks[network]!;
  const isReplacedBy = (published: Deployment | undefined) =>
    published !== undefined &&
    isOfChain(published, chain) &&
    published.fingerprint !== fingerprint &&
    published.published_at! > startedAt;
  // Only with the lock: while it was waited for, our deployment may have been dropped, as nobody followed it.
  if (!isReplacedBy(await findPublished(sql, { network })))
    await ensureDeployment(sql, { network, chain, fingerprint, isNewGeneration: false });
  const report = createReporter(sql, options);
  const publisher = createPublisher(sql, { config, head, endBlock, say });
  const finality = watchFinality(sql, { rpcUrls, chain });

  const start = (deployment: Deployment) => {
    const settings = { deployment, startBlock, databaseUrl, rpcUrl, finality, logLevel: config.logLevel };
    return runDeployment(sql, { ...settings, onFailure: say, onProblem: say });
  };
  const begin = async (deployment: Deployment): Promise<Deployment> => {
    try {
      return await fixHistory(sql, deployment, { client, startBlock, endBlock });
    } catch (error) {
      const reason = shortMessage(error);
      await markStalled(sql, { network, chainId: chain.chainId, reason });
      throw new Error(reason, { cause: error });
    }
  };

  while (!signal.aborted) {
    await lock.check();
    const found = await findDeployment(sql, { network, fingerprint });
    const last = await findPublished(sql, { network });
    // What is published of a chain that is gone is replaced as soon as there is anything of this one.
    const published = last && isOfChain(last, chain) ? last : undefined;
    // Our deployment was dropped by another version, or readers see that one.
    if (!found || isReplacedBy(published)) {
      say(`another version has taken over; this one ends. ${SUPERSEDED_ADVICE}`);
      return "superseded";
    }
    // Another version has noticed a deep reorg: ours was made of the blocks that are gone, too.
    if (found.is_abandoned) return undefined;
    // Not the published one alone: readers may see one that was never complete.
    for (const other of await listOfOtherChains(sql, { network, chainId: chain.chainId })) await publisher.hide(other);
    if (last?.chain_id === chain.chainId && last.fingerprint !== fingerprint) await publisher.adapt(last);
    const newest = found.history_block === null ? await begin(found) : found;
    if (untilPublished && published?.schema_name === untilPublished.schema_name) break;

    const wanted = new Map([[newest.schema_name, newest]]);
    const isKept = published?.fingerprint === fingerprint && !published.is_abandoned;
    if (isKept && !untilPublished) wanted.set(published.schema_name, published);
    await syncRunners(runners, wanted, start);

    const position = await readPosition(sql, newest);
    // Somebody has dropped them.
    if (newest.published_at && !position) throw new Error(`the tables of ${newest.schema_name} are gone`);
    if (finality.isGone(position)) {
      await abandonAfterDeepReorg(sql, options);
      return undefined;
    }
    await publisher.step({ newest, published, position });
    await report({ newest, visible: published ?? newest, newestPosition: position });
    const isPublished = published?.schema_name === newest.schema_name;
    await sleep(isPublished ? TICK_MS : BUILDING_TICK_MS, undefined, { signal }).catch(() => {});
  }
  await publisher.settled();
  // While we have the lock: whoever has it next reports, and drops, from then on.
  if (!untilPublished) await markStopped(sql, { networks: [network], reason: "The indexer was stopped" });
  else if ((await findPublished(sql, { network }))?.schema_name === untilPublished.schema_name)
    await publisher.dropOld(untilPublished);
  return "stopped";
}

/** Stops what is no longer wanted, and starts what is missing. */
async function syncRunners(
  runners: Map<string, DeploymentRunner>,
  wanted: Map<string, Deployment>,
  start: (deployment: Deployment) => DeploymentRunner,
): Promise<void> {
  for (const [name, runner] of runners) {
    if (wanted.has(name)) continue;
    await runner.stop();
    runners.delete(name);
  }
  for (const [name, deployment] of wanted) if (!runners.has(name)) runners.set(name, start(deployment));
}

/** Abandons all deployments of the chain. Readers see the last one until a new one is complete. */
async function abandonAfterDeepReorg(sql: Sql, { network, chain, runners, log }: LockedOptions): Promise<void> {
  log("error", `${network}  the chain has replaced blocks that were final; what they said is fetched and built anew`);
  await Promise.all(runners.values().map((runner) => runner.stop()));
  await abandonDeployments(sql, chain);
}

/** The time of Postgres, which all indexers share: whatever was published until now isn't later. */
async function readClock(sql: Sql, { network }: { network: Network }): Promise<Date> {
  const [row] = await sql<{ now: Date }[]>`
    select greatest(clock_timestamp(), ${lastPublication(sql, { network })}) as now
  `;
  return row!.now;
}
