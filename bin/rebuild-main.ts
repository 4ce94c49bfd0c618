/**
 * Builds all on-chain tables anew beside the ones that readers see, which they go on seeing until the new ones are
 * complete. An indexer that runs does the work; otherwise this process does. `rebuild.ts` starts it.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import type { Sql } from "postgres";
import { ConfigError, type Network, NETWORKS } from "../config.ts";
import { readConfigOrExit } from "../environment.ts";
import type { Chain } from "../history/chain-log.ts";
import { readMark } from "../history/load/staging.ts";
import { dropChainData } from "../indexer/chain-data.ts";
import {
  type Deployment,
  ensureDeployment,
  findNewest,
  findPublished,
  historySchemaOf,
} from "../indexer/deployment.ts";
import { fingerprintOf } from "../indexer/fingerprint.ts";
import { giveLoadToOwner } from "../indexer/load-directory.ts";
import { isLocked } from "../indexer/lock.ts";
import { followNetwork } from "../indexer/network.ts";
import type { Log } from "../indexer/network-report.ts";
import { readPosition } from "../indexer/ponder/ponder-position.ts";
import { checkRpc } from "../indexer/rpc/rpc-chain.ts";
import { createPool } from "../postgres/pool.ts";
import { findDatabase } from "./database.ts";
import { prepareDatabase } from "./database-check.ts";
import { exitWith, exitWithHelp, outliveReader, stopSignal } from "./process.ts";

const PROGRESS_EVERY_MS = 5_000;

exitWithHelp("Expected: npm run rebuild | npm run rebuild -- --refetch");
outliveReader();
const config = readConfigOrExit();
const signal = stopSignal();
const log = (line: string) => console.log(line);
try {
  const values = readOptions();
  const database = await findDatabase(config);
  try {
    await rebuildAll(database.url, values);
  } finally {
    await database.close();
  }
} catch (error) {
  exitWith(error);
}
process.exit(signal.aborted ? 130 : 0);

async function rebuildAll(databaseUrl: string, values: { refetch: boolean }): Promise<void> {
  const sql = createPool(databaseUrl, { max: 8 });
  await prepareDatabase(sql, { url: databaseUrl });
  const plans = (await Promise.all(NETWORKS.map((network) => plan(sql, network)))).filter((one) => one !== undefined);
  if (plans.length === 0) throw new ConfigError("There is nothing to rebuild: no network was ever indexed here.");
  await Promise.all(plans.map((one) => rebuild(sql, one, { databaseUrl, ...values })));
  await sql.end({ timeout: 5 });
}

function readOptions(): { refetch: boolean } {
  try {
    return parseArgs({ options: { refetch: { type: "boolean", default: false } } }).values;
  } catch (error) {
    throw new ConfigError(`${error instanceof Error ? error.message : String(error)}. Expected nothing or --refetch.`);
  }
}

/** What is to be rebuilt of a network. `isOurs`: this process may do the work, as it knows a node. */
type Plan = { network: Network; chain: Chain; fingerprint: string; isOurs: boolean };

/**
 * Undefined where the network was never indexed here, or isn't configured any more: where this process knows no main
 * network, that is what the indexer says.
 *
 * @throws ConfigError where only another process knows a node, and none follows
 */
async function plan(sql: Sql, network: Network): Promise<Plan | undefined> {
  const settings = config.networks[network];
  if (settings) {
    const chain = await checkRpc(network.toUpperCase(), settings, { log });
    return { network, chain, fingerprint: fingerprintOf(config, { network, chainId: chain.chainId }), isOurs: true };
  }
  if (config.networks.mainnet || !(await isReported(sql, network))) return undefined;
  const last = await findNewest(sql, { network });
  if (!last) return undefined;
  const { chain_id: chainId, genesis_hash: genesisHash, fingerprint } = last;
  if (!(await isLocked(sql, { network, fingerprint })))
    throw new ConfigError("No indexer runs. Expected npm start beside this, or MAINNET_RPC_URL.");
  return { network, chain: { chainId, genesisHash }, fingerprint, isOurs: false };
}

/** An indexer that starts forgets the networks that it doesn't follow. */
async function isReported(sql: Sql, network: Network): Promise<boolean> {
  const rows = await sql`select from offchain.network where name = ${network}`;
  return rows.length > 0;
}

async function rebuild(
  sql: Sql,
  { network, chain, fingerprint, isOurs }: Plan,
  { databaseUrl, refetch }: { databaseUrl: string; refetch: boolean },
): Promise<void> {
  if (refetch) await dropChainData(sql, chain);
  const deployment = await ensureDeployment(sql, { network, chain, fingerprint, isNewGeneration: true });
  log(`${network}  rebuilds into ${deployment.schema_name}`);
  const done = new AbortController();
  const ended = AbortSignal.any([signal, done.signal]);
  const logErrors: Log = (level, line) => level === "error" && log(line);
  const options = { config, network, chain, databaseUrl, untilPublished: deployment, signal: ended, log: logErrors };
  // Both: whoever follows also drops what nobody reads any more.
  const [isSeen] = await Promise.all([
    watch(sql, deployment, ended).finally(() => done.abort()),
    isOurs && follow(sql, options).finally(() => done.abort()),
  ]);
  if (isSeen) log(`${network}  rebuilt: readers see ${deployment.schema_name}`);
  else log(`${network}  left before it was complete: an indexer goes on with it, one that runs or the next npm start`);
}

/** Does the work. What is left of it belongs to whoever goes on with it. */
async function follow(sql: Sql, options: FollowOptions): Promise<void> {
  try {
    await followNetwork(sql, options);
  } finally {
    await giveLoadToOwner(config, options.untilPublished);
  }
}
type FollowOptions = Parameters<typeof followNetwork>[1] & { untilPublished: Deployment };

/**
 * Whether readers see the deployment: settles when they do, whoever built it, or at a signal.
 *
 * @throws ConfigError where nobody builds it any more
 */
async function watch(sql: Sql, deployment: Deployment, ended: AbortSignal): Promise<boolean> {
  const { network, schema_name } = deployment;
  for (let saidAt = -Infinity; ; await sleep(500, undefined, { signal: ended }).catch(() => {})) {
    // What has ended may have published it at last.
    const isLast = ended.aborted;
    const published = await findPublished(sql, deployment);
    if (published?.schema_name === schema_name) return true;
    if (signal.aborted) return false;
    const newest = await findNewest(sql, { network });
    if (newest?.schema_name !== schema_name || isLast)
      throw new ConfigError(`${network}  another rebuild or version was begun meanwhile; this one ends.`);
    if (performance.now() - saidAt < PROGRESS_EVERY_MS) continue;
    const block = await findBlock(sql, deployment);
    if (block !== undefined) log(`${network}  at block ${block.toLocaleString("en-US")}`);
    saidAt = performance.now();
  }
}

/** How far it is, in history or behind it. Undefined before there is anything. */
async function findBlock(sql: Sql, deployment: Deployment): Promise<number | undefined> {
  const position = await readPosition(sql, deployment);
  if (position) return position.indexedBlock;
  // Its tables are made in between, and taken over.
  const mark = await readMark(sql, { schemaName: historySchemaOf(deployment) }).catch(() => undefined);
  return mark && mark.nextBlock > 0 ? mark.nextBlock - 1 : undefined;
}
