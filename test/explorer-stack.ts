import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import postgres, { type Sql } from "postgres";
import { findFreePort } from "../indexer/free-port.ts";
import { createRequest } from "./chain.ts";
import { type Command, startCommand } from "./command.ts";
import { createTestDatabase } from "./database.ts";
import { type Indexer, startIndexer, WAIT_TIMEOUT_MS } from "./indexer.ts";

/** Indexer, worker and API as processes of their own. */
export type ExplorerStack = {
  /** Where the API process serves its pages. */
  url: string;
  indexer: Indexer;
  worker: Command;
  /** Waits until all tokens up to now are indexed and their documents fetched or failed, and pages are served. */
  settle: () => Promise<void>;
  stop: () => Promise<void>;
};

/** A key that the API takes without a registration. */
export const STACK_KEY = "explorer-test-key";

/** What `npm start` runs beside a chain. `originHost`: of documents that are on this machine. */
export async function startExplorerStack({
  rpcUrl,
  originHost = "",
}: {
  rpcUrl: string;
  originHost?: string;
}): Promise<ExplorerStack> {
  const [database, dataDir, port] = await Promise.all([
    createTestDatabase(),
    mkdtemp(join(tmpdir(), "nft-index-explorer-")),
    findFreePort(),
  ]);
  const url = `http://127.0.0.1:${port}`;
  const env = {
    DATABASE_URL: database.url,
    DATA_DIR: dataDir,
    MAINNET_RPC_URL: rpcUrl,
    FETCH_ALLOW_HOSTS: originHost,
  };
  const indexer = startIndexer({ databaseUrl: database.url, rpcUrl });
  const worker = startCommand("worker", { env });
  const limits = { API_KEYS: STACK_KEY, RATE_LIMIT: "10000", RATE_BURST: "10000", LOG_LEVEL: "warn" };
  const api = startCommand("api", { env: { ...env, ...limits, PORT: String(port) } });

  const sql = postgres(database.url, { max: 1, onnotice: () => {} });
  const settle = async () => {
    const head = await createRequest(rpcUrl)<string>("eth_blockNumber").then(Number);
    await indexer.waitUntilLive(head);
    for (const deadline = Date.now() + WAIT_TIMEOUT_MS; Date.now() < deadline; await sleep(100))
      if ((await isWorkerDone(sql, { head })) && (await isServed(url))) return;
    throw new Error(`Worker and API did not get through. They printed:\n${worker.output()}\n${api.output()}`);
  };
  return {
    url,
    indexer,
    worker,
    settle,
    stop: async () => {
      await sql.end();
      await Promise.all([indexer.stop(), worker.stop(), api.stop()]);
      await Promise.all([database.drop(), rm(dataDir, { recursive: true, force: true })]);
    },
  };
}

const isServed = (url: string) =>
  fetch(`${url}/ready`).then(
    ({ ok }) => ok,
    () => false,
  );

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
