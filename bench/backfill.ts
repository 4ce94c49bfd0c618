/** Building the tables of a generated chain from genesis: ours, plain Ponder, and what it costs at least. */
import { startBenchPostgres } from "./database.ts";
import type { BenchOptions, Figure, Goal } from "./figure.ts";
import {
  type ChainRuns,
  DENSE_LOGS_PER_BLOCK,
  listRuns,
  medianOf,
  ratio,
  runPlan,
  SPARSE_LOGS_PER_BLOCK,
} from "./run.ts";
import { lowerBound, ourCold, ourRebuild, ponderManyUrls, ponderOneUrl, ponderWarm, type System } from "./systems.ts";

/** The sparse chain is so much shorter than the dense one. */
const SPARSE_SHARE = 5;

/**
 * The backfill's figures, of the smallest chain. How time and memory grow is in `history.ts`.
 *
 * @throws WrongResultError when any run's tables differ from the generator's own state
 */
export async function benchBackfill({ logs: [logs = 0], runs }: BenchOptions): Promise<Figure[]> {
  const server = await startBenchPostgres();
  try {
    const dense = await runPlan(server, {
      logs,
      logsPerBlock: DENSE_LOGS_PER_BLOCK,
      databases: [[lowerBound], [ponderManyUrls, ponderWarm], [ponderOneUrl], [ourCold, ourRebuild]],
      runs,
    });
    const sparse = await runPlan(server, {
      logs: Math.ceil(logs / SPARSE_SHARE),
      logsPerBlock: SPARSE_LOGS_PER_BLOCK,
      databases: [[lowerBound], [ponderManyUrls], [ponderOneUrl], [ourCold]],
      runs,
    });
    return [
      ...compare(dense, ourCold, ponderManyUrls, { atMost: 1 }),
      ...compare(sparse, ourCold, ponderManyUrls, { atMost: 1 }),
      ...compare(dense, ourRebuild, ponderWarm, { atMost: 1.25 }),
      ...compare(dense, ourCold, lowerBound),
      {
        figure: `disk per transfer, tables and indexes, ${dense.label}`,
        value: medianOf(dense, ourCold, "tableBytes") / dense.chain.meta.expected.event.rows / 1000,
        unit: "kB",
        goal: { atMost: 0.7 },
      },
      ...[dense, sparse].flatMap(listRuns),
    ];
  } finally {
    await server.stop();
  }
}

/** Wall and CPU of one system as a multiple of another's. */
function compare(result: ChainRuns, system: System, other: System, goal?: Goal): Figure[] {
  const name = `${system.name} / ${other.name}, ${result.label}`;
  const of = (key: "wallSeconds" | "cpuSeconds") => medianOf(result, system, key) / medianOf(result, other, key);
  return [ratio(`${name}, wall`, of("wallSeconds"), goal), ratio(`${name}, CPU`, of("cpuSeconds"))];
}
