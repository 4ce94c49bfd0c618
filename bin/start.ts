/** `npm start`: the whole service in one go, each part in a process of its own. */
import { join, relative } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { generateKey } from "../api/key/key.ts";
import { type Network, NETWORKS } from "../config.ts";
import { DEMO_CHAIN_ID } from "../demo/anvil.ts";
import { describeUnread, listUnknownNames, readConfigOrExit } from "../environment.ts";
import { deleteChain } from "../indexer/chain-data.ts";
import { markBegun, markStopped } from "../indexer/network-report.ts";
import { findChain, requireDifferentChains } from "../indexer/rpc/rpc-chain.ts";
import { hostOf } from "../net/node-address.ts";
import { withConnection } from "../postgres/pool.ts";
import { keepChild } from "./child.ts";
import { makeDataDir } from "./data-dir.ts";
import { openDatabase } from "./database.ts";
import { prepareDatabase } from "./database-check.ts";
import { requireDemoSettings, startDemo } from "./demo.ts";
import { OWNER_SESSION } from "./owner-lock.ts";
import { requireFreePort } from "./port.ts";
import { exitWith, outliveReader, stopSignal, takeNoArguments } from "./process.ts";
import { readOrCreateSecret } from "./secret.ts";

const startedAt = Date.now();
takeNoArguments();
outliveReader();
const config = readConfigOrExit();
const signal = stopSignal();
const stops: (() => Promise<unknown>)[] = [];
let stopped: Promise<void> | undefined;
const log = (line: string) => console.log(line);
try {
  await start();
} catch (error) {
  await stopAll();
  exitWith(error);
}

async function start(): Promise<void> {
  describeUnread(process.env).forEach(log);
  if (!config.networks.testnet) sayUnusedTestnet();
  if (!config.networks.mainnet) requireDemoSettings({ log });
  await requireFreePort(config);
  const chainIds: Partial<Record<Network, number>> = config.networks.mainnet ? {} : { mainnet: DEMO_CHAIN_ID };
  for (const network of NETWORKS) {
    const settings = config.networks[network];
    if (settings) chainIds[network] = (await findChain(network.toUpperCase(), settings, { log })).chainId;
  }
  requireDifferentChains(chainIds);

  makeDataDir(config);
  const onLost = (line: string) => {
    console.error(line);
    void stopAndExit(1);
  };
  const database = await openDatabase(config, { log, onLost });
  stops.push(database.close);
  if (signal.aborted) return stopAndExit(0);
  await withConnection(database.url, async (sql) => {
    await prepareDatabase(sql, database);
    // The demo's next chain has the same id and other blocks.
    if (!config.networks.mainnet)
      await deleteChain(sql, { config, network: "mainnet", chainId: DEMO_CHAIN_ID, spared: OWNER_SESSION });
    // Else the last report of an indexer before this one would count as this one's.
    await markStopped(sql, { networks: NETWORKS, reason: "The indexer is starting" });
    // The API may answer before the indexer has reported.
    await markBegun(sql, chainIds);
  });

  const chain = config.networks.mainnet ? undefined : startDemo(config, { log });
  if (chain) stops.push(chain.stop);
  const demo = await chain?.ready;
  if (signal.aborted) return stopAndExit(0);
  // One key for whoever runs this service.
  const apiKey = readOrCreateSecret(join(config.dataDir, "api.key"), generateKey);
  const env = {
    DATABASE_URL: database.url,
    API_KEYS: [...config.apiKeys, apiKey].join(","),
    ...demo?.env,
  };
  const url = `http://${config.host.includes(":") ? `[${config.host}]` : config.host}:${config.port}`;
  printAddresses({ url, apiKey, databaseUrl: database.url, rpcHost: demo?.rpcHost });

  // Requests are logged on request only: this terminal belongs to the progress.
  const quiet = { LOG_LEVEL: process.env.LOG_LEVEL || "warn" };
  for (const part of [
    keepChild("bin/indexer.ts", env, { log }),
    keepChild("bin/worker.ts", { ...chainIdsOf(chainIds), ...env }, { log }),
    keepChild("bin/api.ts", { ...env, ...quiet }, { log }),
  ])
    stops.push(part.stop);

  void announceReady(url);
  void chain?.ended.then((reason) => {
    if (signal.aborted || stopped) return;
    console.error(`The demo chain ended with ${reason}. Start again for a new one.`);
    void stopAndExit(1);
  });
  signal.addEventListener("abort", () => void stopAndExit(0));
}

/** Chain ids for the worker: as long as the indexer's last report is of another chain, it waits. */
function chainIdsOf(chainIds: Partial<Record<Network, number>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(chainIds).map(([network, id]) => [`${network.toUpperCase()}_CHAIN_ID`, String(id)]),
  );
}

/** Says which settings are of a test network that isn't there: who forgot its node would wait for it. */
function sayUnusedTestnet(): void {
  const unread = new Set(["TESTNET_RPC_URL", ...listUnknownNames(process.env)]);
  const unused = Object.keys(process.env).filter(
    (name) => name.startsWith("TESTNET_") && !unread.has(name) && process.env[name]?.trim(),
  );
  if (unused.length > 0)
    log(`TESTNET_RPC_URL is not set: there is no test network, and no use for ${unused.join(", ")}.`);
}

function printAddresses(options: { url: string; apiKey: string; databaseUrl: string; rpcHost: string | undefined }) {
  const { url, apiKey, databaseUrl, rpcHost } = options;
  const { host, pathname, port } = new URL(databaseUrl);
  const path = relative(process.cwd(), config.dataDir) || ".";
  const folder = path.startsWith("..") ? config.dataDir : path;
  const chains = NETWORKS.flatMap((network) => {
    const hosts = config.networks[network]?.rpcUrls.map(hostOf).join(", ");
    return hosts ? [`${network} by ${hosts}`] : [];
  });
  if (rpcHost) chains.unshift(`demo on http://${rpcHost}, begun anew`);
  console.log(`
  Chain      ${chains.join("; ")}
  Database   ${config.databaseUrl ? `${decodeURIComponent(host)}${pathname}` : `127.0.0.1:${port}${pathname} (embedded, in ${folder})`}
  Explorer   ${url}/
  API        ${url}
  API key    ${apiKey}
  Status     ${url}/status
  Docs       ${url}/docs

  Try        curl -H 'x-api-key: ${apiKey}' '${url}/v1/contracts?limit=3'
`);
}

/** Prints one line when every network is live. */
async function announceReady(url: string): Promise<void> {
  while (!signal.aborted) {
    await sleep(500);
    try {
      const { networks } = (await (await fetch(`${url}/status`)).json()) as {
        networks: Record<string, { state: string }>;
      };
      const states = Object.values(networks ?? {}).map(({ state }) => state);
      if (states.length === 0 || states.some((state) => state !== "live")) continue;
      console.log(`Ready after ${Math.round((Date.now() - startedAt) / 1000)} s. Ctrl-C ends everything.`);
      return;
    } catch {
      // Not listening yet.
    }
  }
}

async function stopAndExit(code: number): Promise<never> {
  console.log("Stopping ...");
  await stopAll();
  process.exit(code);
}

/** All end at once, and the database once they have. Who asks a second time waits for the first. */
function stopAll(): Promise<void> {
  stopped ??= stopEach();
  return stopped;
}

async function stopEach(): Promise<void> {
  const [database, ...parts] = stops;
  const end = async (stop?: () => Promise<unknown>) => {
    await stop?.().catch((error: Error) => console.error(`Not all could be stopped: ${error.message}`));
  };
  await Promise.all(parts.map(end));
  await end(database);
}
