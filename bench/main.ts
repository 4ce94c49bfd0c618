/**
 * The benchmarks: `npm run bench`, or some of them by name, `npm run bench -- backfill live`.
 *
 *   --logs 100000,1000000   sizes of the generated chains; `--logs 100000` leaves the long figures out
 *   --runs 3                runs of each, of which the median counts
 *   --rows cold,sparse      of history's figures only these: cold, ponder, sparse, rebuild, growth
 *
 * Exits with 1 when results are wrong or a benchmark fails; a missed goal is only marked.
 */
import { cpus, totalmem } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { exit, exitWithHelp } from "../bin/process.ts";
import { startBenchPostgres } from "./database.ts";
import { type BenchOptions, type Figure, formatFigures, formatNumber } from "./figure.ts";

type Benchmark = (options: BenchOptions) => Promise<Figure[]>;

/** Name, which is its file's, and the function that the file exports. */
const BENCHMARKS = {
  backfill: "benchBackfill",
  history: "benchHistory",
  exchange: "benchExchange",
  live: "benchLive",
  api: "benchApi",
  market: "benchMarket",
  metadata: "benchMetadata",
  explorer: "benchExplorer",
};
type Name = keyof typeof BENCHMARKS;

exitWithHelp(
  `Expected: npm run bench -- [NAME ...] [--logs COUNT,...] [--runs COUNT] [--rows NAME,...]. Names: ${Object.keys(BENCHMARKS).join(", ")}.`,
);
const { names, options } = readArguments();
if (process.platform !== "linux") exit("The benchmarks read CPU time and memory from /proc: they run on Linux only.");
process.once("SIGINT", () => process.exit(130));
process.once("SIGTERM", () => process.exit(143));

const startedAt = Date.now();
const results: { name: Name; figures: Figure[] }[] = [];
const failures: string[] = [];
for (const name of names) {
  console.log(`\n── ${name} ──`);
  try {
    const benchmark = await loadBenchmark(name);
    results.push({ name, figures: await benchmark(options) });
  } catch (error) {
    failures.push(`${name}: ${error instanceof Error ? error.message : String(error)}`);
    console.error(`\n${error instanceof Error ? error.stack : String(error)}`);
  }
}

console.log(`\n${await describeMachine()}`);
for (const { name, figures } of results) console.log(`\n── ${name} ──\n${formatFigures(figures)}`);
console.log(`\n${formatNumber((Date.now() - startedAt) / 60_000)} minutes.`);
for (const failure of failures) console.error(`FAILED ${failure.split("\n")[0]}`);
process.exit(failures.length > 0 ? 1 : 0);

function readArguments(): { names: Name[]; options: BenchOptions } {
  const all = Object.keys(BENCHMARKS) as Name[];
  const { values, positionals } = parse();
  const numbers = (name: string, text: string) =>
    text.split(",").map((part) => {
      if (/^[1-9]\d*$/.test(part)) return Number(part);
      return exit(`--${name} "${text}" is invalid. Expected a whole number from 1.`);
    });
  for (const name of positionals) {
    if (!all.some((one) => one === name)) exit(`There is no benchmark "${name}". Expected ${all.join(", ")}.`);
  }
  const [runs = 3] = numbers("runs", values.runs);
  return {
    names: positionals.length > 0 ? (positionals as Name[]) : all,
    options: { logs: numbers("logs", values.logs).toSorted((a, b) => a - b), runs, rows: values.rows?.split(",") },
  };
}

function parse() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        logs: { type: "string", default: "100000,1000000" },
        runs: { type: "string", default: "3" },
        rows: { type: "string" },
      },
    });
  } catch (error) {
    return exit(
      `${error instanceof Error ? error.message : String(error)}. Expected names of benchmarks, --logs, --runs or --rows.`,
    );
  }
}

async function loadBenchmark(name: Name): Promise<Benchmark> {
  const module = (await import(fileOf(name))) as Record<string, Benchmark | undefined>;
  const benchmark = module[BENCHMARKS[name]];
  if (!benchmark) throw new Error(`bench/${name}.ts doesn't export ${BENCHMARKS[name]}.`);
  return benchmark;
}

function fileOf(name: Name): string {
  return join(import.meta.dirname, `${name}.ts`);
}

async function describeMachine(): Promise<string> {
  const server = await startBenchPostgres();
  await server.stop();
  const [first] = cpus();
  return [
    `${cpus().length} cores (${first?.model.trim()})`,
    `${formatNumber(totalmem() / 2 ** 30)} GiB`,
    `Node ${process.versions.node}`,
    `Postgres ${server.version}, fsync on`,
  ].join(" · ");
}
