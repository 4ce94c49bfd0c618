import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import postgres, { type Sql } from "postgres";
import { findFreePort } from "../indexer/free-port.ts";
import { type DemoChain, startDemoChain } from "../demo/chain.ts";
import { createRequest } from "./chain.ts";
import { createTestDatabase } from "./database.ts";
import { type Command, type Indexer, startCommand, startIndexer } from "./indexer.ts";

export type ExplorerStack = {
  /** Where the API process serves its pages. */
  url: string;
  chain: DemoChain;
  indexer: Indexer;
  worker: Command;
  /** Waits until all tokens up to now are indexed and their documents fetched or failed. */
  settle: () => Promise<void>;
  stop: () => Promise<void>;
};

/** A key that the API takes without a registration. */
export const STACK_KEY = "explorer-test-key";
const SETTLE_TIMEOUT_MS = 60_000;

/** The demo, its parts as `npm start` runs them. Nothing is mined but by the test. */
export async function startExplorerStack(): Promise<ExplorerStack> {
  const [chain, database, dataDir, port] = await Promise.all([
    startDemoChain(),
    createTestDatabase(),
    mkdtemp(join(tmpdir(), "nft-index-explorer-")),
    findFreePort(),
  ]);
  const url = `http://127.0.0.1:${port}`;
  const env = {
    DATABASE_URL: database.url,
    DATA_DIR: dataDir,
    MAINNET_RPC_URL: chain.rpcUrl,
    FETCH_ALLOW_HOSTS: chain.originHost,
  };
  const indexer = startIndexer({ databaseUrl: database.url, rpcUrl: chain.rpcUrl });
  const worker = startCommand("worker", { env });
  const limits = { API_KEYS: STACK_KEY, RATE_LIMIT: "10000", RATE_BURST: "10000", LOG_LEVEL: "warn" };
  const api = startCommand("api", { env: { ...env, ...limits, PORT: String(port) } });

  const sql = postgres(database.url, { max: 1, onnotice: () => {} });
  const settle = async () => {
    const head = await createRequest(chain.rpcUrl)<string>("eth_blockNumber").then(Number);
    await indexer.waitUntilLive(head);
    for (const deadline = Date.now() + SETTLE_TIMEOUT_MS; Date.now() < deadline; await sleep(100))
      if (await isWorkerDone(sql, { head })) return;
    throw new Error(`The worker did not get through. It printed:\n${worker.output()}\n${api.output()}`);
  };
  return {
    url,
    chain,
    indexer,
    worker,
    settle,
    stop: async () => {
      await sql.end();
      await Promise.all([indexer.stop(), worker.stop(), api.stop()]);
      await Promise.all([chain.stop(), database.drop(), rm(dataDir, { recursive: true, force: true })]);
    },
  };
}

/** Whether every token up to a block was tried, and all media of what was fetched; the contracts' own too. */
async function isWorkerDone(sql: Sql, { head }: { head: number }): Promise<boolean> {
  const [row] = await sql<[{ is_done: boolean }]>`
    select
      exists (select from offchain.token_watermark where block_number >= ${head})
      and exists (select from offchain.contract_watermark where block_number >= ${head})
      and not exists (
        select
        from offchain.token_metadata
        where
          turn is not null
          or (normalized is null and error_code is null)
          or (media_due_at is not null and media_error_code is null)
      )
      and not exists (
        select
        from offchain.contract_metadata
        where
          (due_at is not null and error_code is null)
          or (uri_due_at is not null and uri_error_code is null)
      ) as is_done
  `;
  return row.is_done;
}
