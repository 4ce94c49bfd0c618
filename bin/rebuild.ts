/**
 * `npm run rebuild [-- --refetch]`: builds all on-chain tables anew beside the ones that readers see, which they go on
 * seeing until the new ones are complete. An indexer that runs does the work; otherwise this process does.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import type { Sql } from "postgres";
import { type Config, ConfigError, NETWORKS, type Network, readConfigOrExit } from "../config.ts";
import { readMark } from "../history/load/staging.ts";
import { dropChainData } from "../indexer/chain-data.ts";
import {
  type Deployment,
  ensureDeployment,
  findNewest,
  findPublished,
  fingerprintOf,
  historySchemaOf,
} from "../indexer/deployment.ts";
import { isFollowed } from "../indexer/lock.ts";
import { followNetwork } from "../indexer/network.ts";
import { readPosition } from "../indexer/network-report.ts";
import { type Chain, checkRpc } from "../indexer/rpc.ts";
import { migrate } from "../offchain/migrate.ts";
import { createPool } from "../pool.ts";
import { openDatabase } from "./database.ts";
import { exitWith, stopSignal } from "./process.ts";

const PROGRESS_EVERY_MS = 5_000;
const config = readConfigOrExit();
const signal = stopSignal();
const log = (line: string) => console.log(line);
try {
  const values = readOptions();
  const database = await openDatabase(config, { isOwner: false });
  const sql = createPool(database.url, { max: 8 });
  await migrate(sql);
  const rebuilds = NETWORKS.map((network) => rebuild(sql, { network, databaseUrl: database.url, ...values }));
  const results = await Promise.all(rebuilds);
  if (!results.includes(true)) throw new ConfigError("There is nothing to rebuild: no network was ever indexed here.");
  await sql.end({ timeout: 5 });
  await database.close();
  process.exit(0);
} catch (error) {
  exitWith(error);
}

type Options = { network: Network; databaseUrl: string; refetch: boolean };

function readOptions(): { refetch: boolean } {
  try {
    return parseArgs({ options: { refetch: { type: "boolean", default: false } } }).values;
  } catch (error) {
    throw new ConfigError(`${error instanceof Error ? error.message : String(error)}. Expected nothing or --refetch.`);
  }
}

/** Whether there was something to rebuild. */
async function rebuild(sql: Sql, { network, databaseUrl, refetch }: Options): Promise<boolean> {
  const settings = config.networks[network];
  const last = await findNewest(sql, { network });
  if (!settings && !last) return false;
  const chain = settings
    ? await checkRpc(network.toUpperCase(), settings)
    : { chainId: last!.chain_id, genesisHash: last!.genesis_hash };
  const fingerprint = settings ? fingerprintOf(config, { network, chainId: chain.chainId }) : last!.fingerprint;
  if (!settings && !(await isFollowed(sql, { network, fingerprint })))
    throw new ConfigError("The demo is not running. Expected npm start beside this, or MAINNET_RPC_URL.");

  if (refetch) await dropChainData(sql, chain);
  const deployment = await ensureDeployment(sql, { network, chain, fingerprint, isNewGeneration: true });
  log(`${network}  rebuilds into ${deployment.schema_name}`);
  const done = new AbortController();
  // Both: whoever follows also drops what nobody reads any more.
  await Promise.all([
    watch(sql, deployment).finally(() => done.abort()),
    settings && follow(sql, { config, network, chain, databaseUrl, deployment, done }),
  ]);
  log(`${network}  rebuilt: readers see ${deployment.schema_name}`);
  return true;
}

async function follow(
  sql: Sql,
  options: {
    config: Config;
    network: Network;
    chain: Chain;
    databaseUrl: string;
    deployment: Deployment;
    done: AbortController;
  },
): Promise<void> {
  const { deployment, done, ...rest } = options;
  await followNetwork(sql, {
    ...rest,
    untilPublished: deployment,
    signal: AbortSignal.any([signal, done.signal]),
    log: () => {},
  });
  if (signal.aborted) process.exit(130);
}

/** Settles when readers see the deployment, whoever built it. */
async function watch(sql: Sql, deployment: Deployment): Promise<void> {
  for (let saidAt = 0; ; await sleep(500)) {
    const published = await findPublished(sql, deployment);
    if (published?.schema_name === deployment.schema_name) return;
    if (Date.now() - saidAt < PROGRESS_EVERY_MS) continue;
    const block = await findBlock(sql, deployment);
    if (block !== undefined) log(`${deployment.network}  at block ${block.toLocaleString("en-US")}`);
    saidAt = Date.now();
  }
}

/** How far it is, in history or behind it. Undefined before there is anything. */
async function findBlock(sql: Sql, deployment: Deployment): Promise<number | undefined> {
  const position = await readPosition(sql, deployment);
  if (position) return position.indexedBlock;
  // Its tables are made in between, and taken over.
  const mark = await readMark(sql, { schemaName: historySchemaOf(deployment) }).catch(() => undefined);
  return mark && mark.nextBlock - 1;
}
