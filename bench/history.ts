/**
 * What history costs: cold, on a sparse chain far away, once more out of what is kept, and as it grows. Rows of the
 * table can be run alone: `npm run bench -- history --rows cold,sparse`.
 */
import type { Sql } from "postgres";
import { measure, type Run } from "./backfill.ts";
import { type Chain, prepareChain, startReplay } from "./chain.ts";
import { copyRows } from "./copy-rows.ts";
import { type BenchPostgres, listTableSizes, settle, startBenchPostgres } from "./database.ts";
import { type BenchOptions, type Figure, formatNumber, type Goal, median, sizeOf } from "./figure.ts";
import { lowerBound, ourCold, ourRebuild, ponderManyUrls, type System } from "./systems.ts";

const HISTORY_ROWS = ["cold", "ponder", "sparse", "rebuild", "growth"] as const;
type RowName = (typeof HISTORY_ROWS)[number];

const DENSE_LOGS_PER_BLOCK = 250;
/** What real NFT chains look like. */
const SPARSE_LOGS_PER_BLOCK = 20;
/** To a provider across a continent. */
const SPARSE_LATENCY_MS = 50;
/** The largest chain is so many times as long as the one of the other figures. */
const GROWTH = 5;

const GOALS = {
  coldOfLowerBound: 2,
  coldOfPonder: 0.15,
  sparseOfLowerBound: 4,
  requestsPerBlock: 0.1,
  rebuildOfCopy: 6,
  growth: 1.1,
  memoryBytes: 700e6,
  disk: 1.4,
};

/** A run of ours says more: what is kept, and what was asked. */
type HistoryRun = Run & { keptBytes: number; requests: number };

/** All runs of a chain, by what was run. */
type ChainRuns = { label: string; chain: Chain; runs: Map<string, HistoryRun[]>; copySeconds: number[] };

/** The figures of `history/`. @throws WrongResultError when any run's tables differ from the generator's own state */
export async function benchHistory({ logs, runs, rows }: BenchOptions): Promise<Figure[]> {
  const wanted = new Set<string>(rows ?? HISTORY_ROWS);
  const isWanted = (...names: RowName[]) => names.some((name) => wanted.has(name));
  for (const row of wanted)
    if (!HISTORY_ROWS.some((name) => name === row))
      throw new Error(`There is no row "${row}". Expected ${HISTORY_ROWS.join(", ")}.`);
  const [small = 0, large = small] = logs;
  const server = await startBenchPostgres();
  try {
    const run = (plan: Omit<Plan, "runs">) => runPlan(server, { ...plan, runs });
    const dense = { logsPerBlock: DENSE_LOGS_PER_BLOCK, latencyMs: 0 };
    const main = isWanted("cold", "ponder", "rebuild")
      ? await run({
          ...dense,
          logs: large,
          systems: [
            ...(isWanted("cold") ? [[lowerBound]] : []),
            isWanted("rebuild") ? [ourCold, ourRebuild] : [ourCold],
            ...(isWanted("ponder") ? [[ponderManyUrls]] : []),
          ],
        })
      : undefined;
    const sparse = isWanted("sparse")
      ? await run({
          logs: small,
          logsPerBlock: SPARSE_LOGS_PER_BLOCK,
          latencyMs: SPARSE_LATENCY_MS,
          systems: [[lowerBound], [ourCold]],
        })
      : undefined;
    const grown = isWanted("growth") && large > small;
    const first = grown ? await run({ ...dense, logs: small, systems: [[ourCold]] }) : undefined;
    const last = grown ? await run({ ...dense, logs: large * GROWTH, systems: [[ourCold]] }) : undefined;

    const results = [main, sparse, first, last].filter((result) => result !== undefined);
    return [
      ...(main ? listMainFigures(main) : []),
      ...(sparse ? listSparseFigures(sparse) : []),
      ...(first && last ? [compareGrowth(first, last)] : []),
      ...results.flatMap(listMemory),
      ...results.flatMap(listRuns),
    ];
  } finally {
    await server.stop();
  }
}

// ------------------------------------------------------------------------------------------------ running

/** Each list of systems shares a database, which is empty for the first. */
type Plan = { logs: number; logsPerBlock: number; latencyMs: number; runs: number; systems: System[][] };

/** All systems once, then all again: what changes on the machine meanwhile meets all of them. */
async function runPlan(server: BenchPostgres, { runs, systems, latencyMs, ...size }: Plan): Promise<ChainRuns> {
  const chain = await prepareChain(size);
  const replay = await startReplay(chain, { latencyMs });
  const label = `${size.logsPerBlock === SPARSE_LOGS_PER_BLOCK ? "sparse " : ""}${sizeOf(size.logs)}`;
  const result: ChainRuns = { label, chain, runs: new Map(), copySeconds: [] };
  for (let round = 1; round <= runs; round++) {
    for (const list of systems) {
      const database = await server.createDatabase();
      for (const system of list) {
        const name = `${label}, run ${round} of ${runs}: ${system.name}`;
        process.stdout.write(`${name} …`);
        await settle(database.sql);
        await fetch(`${replay.url}/reset`);
        const run = await measure(system, { name, chain, rpcUrl: replay.url, server, database });
        const requests = await countRequests(replay.url);
        const keptBytes = await countKept(database.sql);
        result.runs.set(system.name, [...(result.runs.get(system.name) ?? []), { ...run, requests, keptBytes }]);
        console.log(` ${formatNumber(run.wallSeconds)} s wall, ${formatNumber(run.cpuSeconds)} s CPU, correct`);
        if (system !== ourRebuild) continue;
        const seconds = await copyRows(database.sql, { schemaName: await system.findSchema(database.sql) });
        console.log(`${label}, run ${round} of ${runs}: COPY of the same rows … ${formatNumber(seconds)} s wall`);
        result.copySeconds.push(seconds);
      }
      await database.drop();
    }
  }
  await replay.stop();
  return result;
}

async function countRequests(url: string): Promise<number> {
  const response = await fetch(`${url}/stats`);
  return ((await response.json()) as { http: number }).http;
}

/** Bytes of what is kept of a chain: ours, and what Ponder keeps of its head. */
async function countKept(sql: Sql): Promise<number> {
  const own = await listTableSizes(sql, { schemaName: "offchain" });
  const ponders = await listTableSizes(sql, { schemaName: "ponder_sync" });
  const kept = [...own.filter(({ name }) => name.startsWith("kept_log")), ...ponders];
  return kept.reduce((sum, { bytes }) => sum + bytes, 0);
}

// ------------------------------------------------------------------------------------------------ figures

function listMainFigures(result: ChainRuns): Figure[] {
  const { label, chain, copySeconds } = result;
  const ours = medianOf(result, ourCold, "wallSeconds");
  const bytes = medianOf(result, ourCold, "tableBytes") + medianOf(result, ourCold, "keptBytes");
  return [
    ratio(`cold / lower bound, ${label}`, ours / medianOf(result, lowerBound, "wallSeconds"), {
      atMost: GOALS.coldOfLowerBound,
    }),
    ratio(`cold / plain Ponder with 25 URLs, ${label}`, ours / medianOf(result, ponderManyUrls, "wallSeconds"), {
      atMost: GOALS.coldOfPonder,
    }),
    {
      ...ratio(
        `rebuild from kept logs / COPY of the same rows, ${label}`,
        medianOf(result, ourRebuild, "wallSeconds") / median(copySeconds),
        { atMost: GOALS.rebuildOfCopy },
      ),
      detail: `${formatNumber(median(copySeconds))} s for the COPY with primary keys`,
    },
    {
      ...ratio(`disk / plain text tables, ${label}`, bytes / medianOf(result, lowerBound, "tableBytes"), {
        atMost: GOALS.disk,
      }),
      detail: [
        `${formatNumber(bytes / chain.meta.logs)} bytes a log`,
        `of them kept ${formatNumber(medianOf(result, ourCold, "keptBytes") / chain.meta.logs)}`,
        `plain text ${formatNumber(medianOf(result, lowerBound, "tableBytes") / chain.meta.logs)}`,
      ].join(" · "),
    },
  ].filter(({ value }) => !Number.isNaN(value));
}

function listSparseFigures(result: ChainRuns): Figure[] {
  const ours = medianOf(result, ourCold, "wallSeconds");
  return [
    ratio(
      `cold / lower bound, ${result.label}, one URL, ${SPARSE_LATENCY_MS} ms`,
      ours / medianOf(result, lowerBound, "wallSeconds"),
      { atMost: GOALS.sparseOfLowerBound },
    ),
    {
      figure: `HTTP requests per block with logs, ${result.label}`,
      value: medianOf(result, ourCold, "requests") / result.chain.meta.lastEventBlock,
      unit: "",
      goal: { atMost: GOALS.requestsPerBlock },
      detail: `${formatNumber(medianOf(result, ourCold, "requests"))} requests, ${formatNumber(medianOf(result, lowerBound, "requests"))} of the lower bound`,
    },
  ];
}

function compareGrowth(first: ChainRuns, last: ChainRuns): Figure {
  const perLog = (result: ChainRuns) => medianOf(result, ourCold, "wallSeconds") / result.chain.meta.logs;
  return ratio(`time per log, ${last.label} / ${first.label}`, perLog(last) / perLog(first), {
    atMost: GOALS.growth,
  });
}

function listMemory(result: ChainRuns): Figure[] {
  const all = [ourCold, ourRebuild].flatMap((system) => result.runs.get(system.name) ?? []);
  return [
    {
      figure: `peak memory of the indexer, ${result.label}`,
      value: Math.max(...all.map(({ peakMemoryBytes }) => peakMemoryBytes)) / 1e6,
      unit: "MB",
      goal: { atMost: GOALS.memoryBytes / 1e6 },
    },
  ];
}

/** What lies behind the ratios. */
function listRuns(result: ChainRuns): Figure[] {
  return [...result.runs].map(([name, list]) => {
    const of = (key: keyof HistoryRun) => median(list.map((run) => run[key]));
    const walls = list.map((run) => run.wallSeconds);
    return {
      figure: `${name}, ${result.label}`,
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

function ratio(figure: string, value: number, goal: Goal): Figure {
  return { figure, value, unit: "×", goal };
}

function medianOf({ runs }: ChainRuns, system: System, key: keyof HistoryRun): number {
  return median((runs.get(system.name) ?? []).map((run) => run[key]));
}
