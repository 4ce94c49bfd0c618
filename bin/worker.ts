import postgres from "postgres";
import { NETWORKS, readConfigOrExit, type Network } from "../config.ts";
import { createCallReader } from "../offchain/call.ts";
import { enqueueContracts } from "../offchain/contract-watermark.ts";
import { readDueContracts } from "../offchain/contract-worker.ts";
import { migrate } from "../offchain/migrate.ts";
import { isMissingTable, listIndexedNetworks } from "../offchain/network.ts";
import { createRpc } from "../offchain/rpc.ts";
import { stopSignal } from "./process.ts";

/** How often new blocks and due work are looked for. */
const POLL_MS = 1000;

const config = readConfigOrExit();
if (!config.databaseUrl) fail("DATABASE_URL is not set. Expected a URL like postgres://user:password@host:5432/name.");
if (!config.networks.mainnet) fail("MAINNET_RPC_URL is not set. Expected one or more URLs, comma-separated.");
const isVerbose = !["silent", "fatal", "error", "warn"].includes(config.logLevel);

const sql = postgres(config.databaseUrl, { max: 8, onnotice: () => {}, connection: { application_name: "worker" } });
const readers = new Map(
  NETWORKS.flatMap((network) => {
    const rpcUrls = config.networks[network]?.rpcUrls;
    return rpcUrls ? [[network, createCallReader(createRpc({ urls: rpcUrls }))] as const] : [];
  }),
);

const stopping = stopSignal();

await waitForDatabase();
await Promise.all([...readers.keys()].map(runNetwork));
await sql.end({ timeout: 5 });
process.exit(0);

async function waitForDatabase(): Promise<void> {
  for (let attempt = 0; !stopping.aborted; attempt++) {
    try {
      await migrate(sql);
      return;
    } catch (error) {
      if (attempt % 10 === 0) console.error(`worker: the database can't be used yet: ${messageOf(error)}`);
      await pause();
    }
  }
}

/** One network until the end: a fault is said and waited out, never the end of the worker. */
async function runNetwork(network: Network): Promise<void> {
  const readCalls = readers.get(network)!;
  let said = "";
  while (!stopping.aborted) {
    try {
      const indexed = (await listIndexedNetworks(sql)).find((row) => row.network === network);
      if (indexed) {
        const { chain_id: chainId } = indexed;
        await enqueueContracts(sql, indexed);
        const count = await readDueContracts(sql, { readCalls, network, chainId });
        if (count > 0 && isVerbose) console.log(`worker: ${network}: asked ${count} contracts for their names`);
        said = "";
      }
    } catch (error) {
      const message = isMissingTable(error) ? "waiting for the indexer's tables" : messageOf(error);
      if (message !== said) console.error(`worker: ${network}: ${message}`);
      said = message;
    }
    await pause();
  }
}

function pause(): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      stopping.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, POLL_MS);
    stopping.addEventListener("abort", done);
    if (stopping.aborted) done();
  });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function fail(message: string): never {
  console.error(message);
  process.exit(1);
}
