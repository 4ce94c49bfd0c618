/**
 * What history costs: cold, on a sparse chain far away, once more out of what is kept, and as it grows. Rows of the
 * table can be run alone: `npm run bench -- history --rows cold,sparse`.
 */
import { copyRows } from "./copy-rows.ts";
import { type BenchDatabase, startBenchPostgres } from "./database.ts";
import { type BenchOptions, type Figure, formatNumber, median } from "./figure.ts";
import {
  type ChainRuns,
  DENSE_LOGS_PER_BLOCK,
  listRuns,
  medianOf,
  ratio,
  runPlan,
  SPARSE_LOGS_PER_BLOCK,
} from "./run.ts";
import { lowerBound, ourCold, ourRebuild, ponderManyUrls, type System } from "./systems.ts";

const HISTORY_ROWS = ["cold", "ponder", "sparse", "rebuild", "growth"] as const;
type RowName = (typeof HISTORY_ROWS)[number];

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
    const copySeconds: number[] = [];
    const copyAgain = async (system: System, { sql }: BenchDatabase) => {
      if (system !== ourRebuild) return;
      const seconds = await copyRows(sql, { schemaName: await system.findSchema(sql) });
      console.log(`  COPY of the same rows … ${formatNumber(seconds)} s wall`);
      copySeconds.push(seconds);
    };
    const dense = { logsPerBlock: DENSE_LOGS_PER_BLOCK, runs };
    const main = isWanted("cold", "ponder", "rebuild")
      ? await runPlan(server, {
          ...dense,
          logs: large,
          onRun: copyAgain,
          databases: [
            ...(isWanted("cold") ? [[lowerBound]] : []),
            isWanted("rebuild") ? [ourCold, ourRebuild] : [ourCold],
            ...(isWanted("ponder") ? [[ponderManyUrls]] : []),
          ],
        })
      : undefined;
    const sparse = isWanted("sparse")
      ? await runPlan(server, {
          logs: small,
          logsPerBlock: SPARSE_LOGS_PER_BLOCK,
          latencyMs: SPARSE_LATENCY_MS,
          runs,
          databases: [[lowerBound], [ourCold]],
        })
      : undefined;
    const grown = isWanted("growth") && large > small;
    const first = grown ? await runPlan(server, { ...dense, logs: small, databases: [[ourCold]] }) : undefined;
    const last = grown ? await runPlan(server, { ...dense, logs: large * GROWTH, databases: [[ourCold]] }) : undefined;

    const results = [main, sparse, first, last].filter((result) => result !== undefined);
    return [
      ...(main ? listMainFigures(main, copySeconds) : []),
      ...(sparse ? listSparseFigures(sparse) : []),
      ...(first && last ? [compareGrowth(first, last)] : []),
      ...results.flatMap(listMemory),
      ...results.flatMap(listRuns),
    ];
  } finally {
    await server.stop();
  }
}

/** `copySeconds`: of each rebuild's rows, as a COPY. */
function listMainFigures(result: ChainRuns, copySeconds: number[]): Figure[] {
  const { label, chain } = result;
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
  const all = [ourCold, ourRebuild].flatMap((system) => result.runs.get(system) ?? []);
  return [
    {
      figure: `peak memory of the indexer, ${result.label}`,
      value: Math.max(...all.map(({ peakMemoryBytes }) => peakMemoryBytes)) / 1e6,
      unit: "MB",
      goal: { atMost: GOALS.memoryBytes / 1e6 },
    },
  ];
}
