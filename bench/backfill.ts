/** Building the tables of a generated chain from genesis: ours, plain Ponder, and what it costs at least. */
import { type Chain, prepareChain, startReplay } from "./chain.ts";
import { type BenchPostgres, listTableSizes, settle, startBenchPostgres } from "./database.ts";
import { type BenchOptions, type Figure, formatNumber, type Goal, median, sizeOf } from "./figure.ts";
import { verify } from "./oracle.ts";
import { cpuSecondsOf, watchMemory } from "./process-tree.ts";
import { lowerBound, ourCold, ourRebuild, ponderManyUrls, ponderOneUrl, ponderWarm, type System } from "./systems.ts";

const DENSE_LOGS_PER_BLOCK = 250;
/** What real NFT chains look like. */
const SPARSE_LOGS_PER_BLOCK = 20;
/** The sparse chain is so much shorter than the dense one. */
const SPARSE_SHARE = 5;

/** One system's run. Times are from the start of its process until readers get complete tables. */
export type Run = {
  wallSeconds: number;
  /** Of the system's processes and Postgres together. */
  cpuSeconds: number;
  postgresCpuSeconds: number;
  /** Of the system's processes; Postgres is not among them. */
  peakMemoryBytes: number;
  tableBytes: number;
};

/** The runs of all systems on one chain, in the order of their rounds. */
type ChainRuns = { label: string; chain: Chain; runs: Map<System, Run[]> };

/** Each list of systems shares a database, which is empty for the first. */
type Plan = { logs: number; logsPerBlock: number; label: string; databases: System[][] };

/** Slow, and in no ratio: it shows why the goals are against 25 URLs. */
const RUN_ONCE = new Set([ponderOneUrl]);

/** The backfill's figures. @throws WrongResultError when any run's tables differ from the generator's own state */
export async function benchBackfill({ logs, runs }: BenchOptions): Promise<Figure[]> {
  const server = await startBenchPostgres();
  try {
    const results: ChainRuns[] = [];
    for (const plan of createPlans(logs)) results.push(await runPlan(server, plan, { runs }));
    return [...listRatios(results), ...results.flatMap(listRuns)];
  } finally {
    await server.stop();
  }
}

/** The smallest chain takes all systems. How time and memory grow is in `history.ts`. */
function createPlans([base = 0]: number[]): Plan[] {
  const sparse = Math.ceil(base / SPARSE_SHARE);
  return [
    {
      label: sizeOf(base),
      logs: base,
      logsPerBlock: DENSE_LOGS_PER_BLOCK,
      databases: [[lowerBound], [ponderManyUrls, ponderWarm], [ponderOneUrl], [ourCold, ourRebuild]],
    },
    {
      label: `sparse ${sizeOf(sparse)}`,
      logs: sparse,
      logsPerBlock: SPARSE_LOGS_PER_BLOCK,
      databases: [[lowerBound], [ponderManyUrls], [ponderOneUrl], [ourCold]],
    },
  ];
}

// ------------------------------------------------------------------------------------------------ running

/** All systems once, then all again: what changes on the machine meanwhile meets all of them. */
async function runPlan(server: BenchPostgres, plan: Plan, { runs }: { runs: number }): Promise<ChainRuns> {
  const chain = await prepareChain(plan);
  const replay = await startReplay(chain);
  const result: ChainRuns = { label: plan.label, chain, runs: new Map() };
  const isRun = (system: System, round: number) => round === 1 || !RUN_ONCE.has(system);

  for (let round = 1; round <= runs; round++) {
    for (const systems of plan.databases.map((list) => list.filter((system) => isRun(system, round)))) {
      const database = await server.createDatabase();
      for (const system of systems) {
        const name = `${plan.label}, run ${round} of ${runs}: ${system.name}`;
        process.stdout.write(`${name} …`);
        await settle(database.sql);
        const run = await measure(system, { name, chain, rpcUrl: replay.url, server, database });
        console.log(` ${formatNumber(run.wallSeconds)} s wall, ${formatNumber(run.cpuSeconds)} s CPU, correct`);
        result.runs.set(system, [...(result.runs.get(system) ?? []), run]);
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
    rpcUrl,
    server,
    database: { url, sql },
  }: {
    name: string;
    chain: Chain;
    rpcUrl: string;
    server: BenchPostgres;
    database: Awaited<ReturnType<BenchPostgres["createDatabase"]>>;
  },
): Promise<Run> {
  const postgresBefore = cpuSecondsOf(server.pid);
  const started = await system.start({ databaseUrl: url, sql, rpcUrl, chainId: chain.meta.chainId });
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
  const tableBytes = sizes.reduce((sum, { bytes }) => sum + bytes, 0);
  return { wallSeconds, cpuSeconds, postgresCpuSeconds, peakMemoryBytes, tableBytes };
}

// ------------------------------------------------------------------------------------------------ figures

function listRatios(results: ChainRuns[]): Figure[] {
  const [base, sparse] = results;
  if (!base || !sparse) return [];
  const figures: Figure[] = [
    ...compare(base, ourCold, ponderManyUrls, { atMost: 1 }),
    ...compare(sparse, ourCold, ponderManyUrls, { atMost: 1 }),
    ...compare(base, ourRebuild, ponderWarm, { atMost: 1.25 }),
    ...compare(base, ourCold, lowerBound),
  ];
  figures.push({
    figure: `disk per transfer, tables and indexes, ${base.label}`,
    value: medianOf(base.runs.get(ourCold), "tableBytes") / base.chain.meta.expected.event.rows / 1000,
    unit: "kB",
    goal: { atMost: 0.7 },
  });
  return figures.filter(({ value }) => !Number.isNaN(value));
}

/** Wall and CPU of one system as a multiple of another's. */
function compare({ label, runs }: ChainRuns, system: System, other: System, goal?: Goal): Figure[] {
  const name = `${system.name} / ${other.name}, ${label}`;
  const of = (key: "wallSeconds" | "cpuSeconds") => medianOf(runs.get(system), key) / medianOf(runs.get(other), key);
  return [ratio(`${name}, wall`, of("wallSeconds"), goal), ratio(`${name}, CPU`, of("cpuSeconds"))];
}

function ratio(figure: string, value: number, goal?: Goal): Figure {
  return { figure, value, unit: "×", ...(goal && { goal }) };
}

/** What lies behind the ratios: each system's wall time, and the rest in words. */
function listRuns({ label, chain, runs }: ChainRuns): Figure[] {
  return [...runs].map(([system, list]) => {
    const of = (key: keyof Run) => medianOf(list, key);
    const walls = list.map((run) => run.wallSeconds);
    return {
      figure: `${system.name}, ${label}`,
      value: of("wallSeconds"),
      unit: "s",
      detail: [
        `${formatNumber(Math.min(...walls))}–${formatNumber(Math.max(...walls))} s`,
        `${Math.round(chain.meta.logs / of("wallSeconds")).toLocaleString("en-US")} logs/s`,
        `CPU ${formatNumber(of("cpuSeconds"))} s (Postgres ${formatNumber(of("postgresCpuSeconds"))})`,
        `peak ${formatNumber(of("peakMemoryBytes") / 1e9)} GB`,
        `tables ${formatNumber(of("tableBytes") / 1e6)} MB`,
      ].join(" · "),
    };
  });
}

function medianOf(runs: Run[] = [], key: keyof Run): number {
  return median(runs.map((run) => run[key]));
}
