import { cp, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Sql } from "postgres";
import { findFreePort } from "../indexer/free-port.ts";
import { isMissingTable } from "../offchain/network.ts";
import { BENCH_DIRECTORY } from "./database.ts";
import { type CanonicalQueries, ownQueries, plainQueries } from "./oracle.ts";
import { type BenchProcess, startProcess } from "./process.ts";

const REPOSITORY = join(import.meta.dirname, "..");
const READY_POLL_MS = 40;
const READY_TIMEOUT_MS = 3_600_000;
/** Plain Ponder starts at 20 requests a second for each URL and has no setting for it; this many lift the limit. */
const MANY_URLS = 25;

type StartOptions = { databaseUrl: string; sql: Sql; rpcUrl: string; chainId: number };

/** A way to build the four tables of a chain. */
export type System = {
  name: string;
  /** Slow, and in no ratio: one run shows what it costs. */
  isRunOnce?: boolean;
  /** Starts it on a database as the step before left it. */
  start: (options: StartOptions) => Promise<BenchProcess>;
  /** Resolves when its tables are complete and readers get them. */
  waitUntilReady: (started: BenchProcess, sql: Sql) => Promise<void>;
  /** Where its tables are. */
  findSchema: (sql: Sql) => Promise<string>;
  queries: (schemaName: string) => CanonicalQueries;
};

/** Hand-written, without a cache: see `lower-bound.ts`. */
export const lowerBound: System = {
  name: "lower bound",
  start: async ({ databaseUrl, rpcUrl }) =>
    startProcess({
      name: "lower bound",
      args: ["--max-old-space-size=8192", join(import.meta.dirname, "lower-bound.ts")],
      env: { DATABASE_URL: databaseUrl, RPC_URL: rpcUrl },
    }),
  waitUntilReady: async (started) => void (await started.waitForLine("ready")),
  findSchema: async () => "public",
  queries: plainQueries,
};

/** Plain Ponder at its best: it asks each URL so often and no more at first, and all 25 are one node. */
export const ponderManyUrls = plainPonder({ name: "plain Ponder, 25 URLs", schemaName: "cold", urls: MANY_URLS });
/** Shows why the goals are against 25 URLs. */
export const ponderOneUrl: System = {
  ...plainPonder({ name: "plain Ponder, one URL", schemaName: "cold", urls: 1 }),
  isRunOnce: true,
};
/** On a database where another Ponder has filled its cache. */
export const ponderWarm = plainPonder({ name: "plain Ponder, warm", schemaName: "warm", urls: MANY_URLS });

/** Our indexer with one URL, on an empty database. */
export const ourCold = ourIndexer({ name: "ours, cold", start: startOurs });
/** Our tables once more, out of the chain data that a cold run has fetched. */
export const ourRebuild = ourIndexer({ name: "ours, rebuild", start: rebuildOurs });

// ------------------------------------------------------------------------------------------------ ours

async function startOurs(options: StartOptions): Promise<BenchProcess> {
  return startProcess({ name: "indexer", args: [join(REPOSITORY, "bin/indexer.ts")], env: environmentOf(options) });
}

async function rebuildOurs(options: StartOptions): Promise<BenchProcess> {
  return startProcess({ name: "rebuild", args: [join(REPOSITORY, "bin/rebuild.ts")], env: environmentOf(options) });
}

/** The variables of our processes. The empty ones keep a `.env` file of the repository out. */
export function environmentOf({
  databaseUrl,
  rpcUrl,
}: {
  databaseUrl: string;
  rpcUrl: string;
}): Record<string, string> {
  return {
    DATABASE_URL: databaseUrl,
    DATABASE_READ_URL: "",
    DATA_DIR: join(BENCH_DIRECTORY, "data"),
    MAINNET_RPC_URL: rpcUrl,
    MAINNET_CHAIN_ID: "",
    MAINNET_START_BLOCK: "",
    MAINNET_END_BLOCK: "",
    MAINNET_CONTRACTS: "*",
    TESTNET_RPC_URL: "",
    LOG_LEVEL: "warn",
    PONDER_TELEMETRY_DISABLED: "1",
  };
}

function ourIndexer({ name, start }: Pick<System, "name" | "start">): System {
  const listPublished = (sql: Sql) =>
    sql<{ schema_name: string }[]>`
      select schema_name
      from offchain.deployment
      where published_at is not null
      order by published_at desc
    `.catch(tolerateMissing);

  let publishedBefore = new Set<string>();
  const findNew = async (sql: Sql) =>
    (await listPublished(sql)).find(({ schema_name }) => !publishedBefore.has(schema_name))?.schema_name;
  return {
    name,
    start: async (options) => {
      publishedBefore = new Set((await listPublished(options.sql)).map(({ schema_name }) => schema_name));
      return start(options);
    },
    waitUntilReady: (started, sql) => pollUntil(started, async () => (await findNew(sql)) !== undefined),
    findSchema: async (sql) => (await findNew(sql)) ?? "",
    queries: ownQueries,
  };
}

// ------------------------------------------------------------------------------------------------ plain Ponder

function plainPonder({ name, schemaName, urls }: { name: string; schemaName: string; urls: number }): System {
  return {
    name,
    start: async ({ databaseUrl, rpcUrl, chainId }) => {
      const root = join(BENCH_DIRECTORY, "ponder-app");
      await rm(root, { recursive: true, force: true });
      // A copy, because Ponder writes a file of types into its root, where our own types would see it.
      await cp(join(import.meta.dirname, "ponder-app"), root, { recursive: true });
      const port = String(await findFreePort());
      return startProcess({
        name,
        args: [
          join(REPOSITORY, "node_modules/ponder/dist/esm/bin/ponder.js"),
          "start",
          `--root=${root}`,
          `--schema=${schemaName}`,
          `--port=${port}`,
          "--log-level=warn",
        ],
        env: {
          DATABASE_URL: databaseUrl,
          BENCH_CHAIN_ID: String(chainId),
          BENCH_RPC_URLS: Array.from({ length: urls }, (_, index) => `${rpcUrl}/?url=${index}`).join(","),
          PONDER_TELEMETRY_DISABLED: "1",
          NODE_ENV: "production",
        },
      });
    },
    waitUntilReady: (started, sql) =>
      pollUntil(started, async () => {
        const [app] = await sql<{ is_ready: string }[]>`
          select value ->> 'is_ready' as is_ready
          from ${sql(schemaName)}._ponder_meta
          where key = 'app'
        `.catch(tolerateMissing);
        return app?.is_ready === "1";
      }),
    findSchema: async () => schemaName,
    queries: plainQueries,
  };
}

// ------------------------------------------------------------------------------------------------ waiting

async function pollUntil(started: BenchProcess, isReady: () => Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + READY_TIMEOUT_MS; Date.now() < deadline; await sleep(READY_POLL_MS)) {
    if (await Promise.race([started.died, isReady()])) return;
  }
  throw new Error(`It is not ready after ${READY_TIMEOUT_MS / 60_000} minutes.`);
}

/** Before a system has made its tables there is nothing in them. */
function tolerateMissing(error: unknown): never[] {
  if (isMissingTable(error)) return [];
  throw error;
}
