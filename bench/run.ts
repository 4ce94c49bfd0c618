/** Runs of systems that build the tables of a generated chain from genesis. */
import type { Sql } from "postgres";
import { type Chain, prepareChain, startReplay } from "./chain.ts";
import { type BenchDatabase, type BenchPostgres, listTableSizes, settle } from "./database.ts";
import { type Figure, formatNumber, type Goal, median, sizeOf } from "./figure.ts";
import { verify } from "./oracle.ts";
import { cpuSecondsOf, watchMemory } from "./process-tree.ts";
import type { System } from "./systems.ts";

/** So many logs in a block that blocks hardly count. */
export const DENSE_LOGS_PER_BLOCK = 250;
/** What real NFT chains look like. */
export const SPARSE_LOGS_PER_BLOCK = 20;

/** One system's run. Times are from the start of its process until readers get complete tables. */
export type Run = {
  wallSeconds: number;
  /** Of the system's processes and Postgres together. */
  cpuSeconds: number;
  postgresCpuSeconds: number;
  /** Of the system's processes; Postgres is not among them. */
  peakMemoryBytes: number;
  tableBytes: number;
  /** What is kept of the chain beside the tables: ours, and what Ponder keeps. */
  keptBytes: number;
  /** HTTP requests to the node. */
  requests: number;
};

/** The runs of all systems on one chain, in the order of their rounds. */
export type ChainRuns = { label: string; chain: Chain; runs: Map<System, Run[]> };

type Plan = {
  logs: number;
  logsPerBlock: number;
  latencyMs?: number;
  /** Each list of systems shares a database, which is empty for the first. */
  databases: System[][];
  runs: number;
  /** Called after each run with its tables still there. */
  onRun?: (system: System, database: BenchDatabase) => Promise<void>;
};

/** All systems once, then all again: what changes on the machine meanwhile meets all of them. */
export async function runPlan(
  server: BenchPostgres,
  { logs, logsPerBlock, latencyMs = 0, databases, runs, onRun }: Plan,
): Promise<ChainRuns> {
  const chain = await prepareChain({ logs, logsPerBlock });
  const replay = await startReplay(chain, { latencyMs });
  const label = `${logsPerBlock === SPARSE_LOGS_PER_BLOCK ? "sparse " : ""}${sizeOf(logs)}`;
  const result: ChainRuns = { label, chain, runs: new Map() };
  for (let round = 1; round <= runs; round++) {
    for (const systems of databases.map((list) => list.filter(({ isRunOnce }) => round === 1 || !isRunOnce))) {
      const database = await server.createDatabase();
      for (const system of systems) {
        const name = `${label}, run ${round} of ${runs}: ${system.name}`;
        process.stdout.write(`${name} …`);
        const run = await measure(system, { name, chain, replayUrl: replay.url, server, database });
        console.log(` ${formatNumber(run.wallSeconds)} s wall, ${formatNumber(run.cpuSeconds)} s CPU, correct`);
        result.runs.set(system, [...(result.runs.get(system) ?? []), run]);
        await onRun?.(system, database);
      }
      await database.drop();
    }
  }
  await replay.stop();
  return result;
}

/** Runs a system once and looks whether its tables are right. @throws WrongResultError where they aren't */
export async function measure(
  system: System,
  {
    name,
    chain,
    replayUrl,
    server,
    database: { url, sql },
  }: { name: string; chain: Chain; replayUrl: string; server: BenchPostgres; database: BenchDatabase },
): Promise<Run> {
  await settle(sql);
  await fetch(`${replayUrl}/reset`);
  const postgresBefore = cpuSecondsOf(server.pid);
  const started = await system.start({ databaseUrl: url, sql, rpcUrl: replayUrl, chainId: chain.meta.chainId });
  const memory = watchMemory(started.pid);
  await system.waitUntilReady(started, sql);

  const wallSeconds = (performance.now() - started.startedAt) / 1000;
  const postgresCpuSeconds = cpuSecondsOf(server.pid) - postgresBefore;
  const cpuSeconds = cpuSecondsOf(started.pid) + postgresCpuSeconds;
  const peakMemoryBytes = memory.stop();
  const schemaName = await system.findSchema(sql);
  const sizes = await listTableSizes(sql, { schemaName });
  await started.stop();

  await verify(sql, { name, queries: system.queries(schemaName), expected: chain.meta.expected });
  return {
    wallSeconds,
    cpuSeconds,
    postgresCpuSeconds,
    peakMemoryBytes,
    tableBytes: sumBytes(sizes),
    keptBytes: await countKept(sql),
    requests: await countRequests(replayUrl),
  };
}

async function countRequests(replayUrl: string): Promise<number> {
  const response = await fetch(`${replayUrl}/stats`);
  return ((await response.json()) as { http: number }).http;
}

async function countKept(sql: Sql): Promise<number> {
  const own = await listTableSizes(sql, { schemaName: "offchain" });
  const ponders = await listTableSizes(sql, { schemaName: "ponder_sync" });
  return sumBytes([...own.filter(({ name }) => name.startsWith("kept_log")), ...ponders]);
}

const sumBytes = (sizes: readonly { bytes: number }[]) => sizes.reduce((sum, { bytes }) => sum + bytes, 0);

/** NaN where the system wasn't run. */
export const medianOf = ({ runs }: ChainRuns, system: System, key: keyof Run): number =>
  median((runs.get(system) ?? []).map((run) => run[key]));

/** A figure in the unit ×. */
export const ratio = (figure: string, value: number, goal?: Goal): Figure => ({
  figure,
  value,
  unit: "×",
  ...(goal && { goal }),
});

/** What lies behind the ratios: each system's wall time, and the rest in words. */
export function listRuns(result: ChainRuns): Figure[] {
  return [...result.runs].map(([system, list]) => {
    const of = (key: keyof Run) => medianOf(result, system, key);
    const walls = list.map((run) => run.wallSeconds);
    return {
      figure: `${system.name}, ${result.label}`,
      value: of("wallSeconds"),
      unit: "s",
      detail: [
        `${formatNumber(Math.min(...walls))}–${formatNumber(Math.max(...walls))} s`,
        `${Math.round(result.chain.meta.logs / of("wallSeconds")).toLocaleString("en-US")} logs/s`,
        `CPU ${formatNumber(of("cpuSeconds"))} s (Postgres ${formatNumber(of("postgresCpuSeconds"))})`,
        `peak ${formatNumber(of("peakMemoryBytes") / 1e6)} MB`,
        `tables ${formatNumber(of("tableBytes") / 1e6)} MB`,
        `kept ${formatNumber(of("keptBytes") / 1e6)} MB`,
        `${formatNumber(of("requests"))} requests`,
      ].join(" · "),
    };
  });
}
