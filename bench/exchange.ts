/** What exchanges cost: a backfill of a chain on which one log in ten is a sale, and of the same chain where it is none. */
import { join } from "node:path";
import type { Sql } from "postgres";
import { SEAPORT_VERSIONS } from "../abis/seaport.ts";
import { prepareChain, startReplay } from "./chain.ts";
import { type BenchPostgres, startBenchPostgres } from "./database.ts";
import { type ExchangeChain, prepareExchangeChain } from "./exchange-chain.ts";
import { type BenchOptions, type Figure, formatNumber, median, sizeOf, WrongResultError } from "./figure.ts";
import { DENSE_LOGS_PER_BLOCK, measure, type Run } from "./run.ts";
import { ourCold } from "./systems.ts";

const SEAPORT = Object.keys(SEAPORT_VERSIONS).find((address) => SEAPORT_VERSIONS[address] === "1.6")!;
/** Nobody's: its logs are not asked for. */
const STRANGER = `0x${"57".repeat(20)}`;
const MOST = 1.15;

type Chains = Record<"sold" | "moved", ExchangeChain>;
type Runs = Record<keyof Chains, Run[]>;

/** For each size: what the start of all processes takes hides some of the cost on a short chain. */
export async function benchExchange({ logs, runs }: BenchOptions): Promise<Figure[]> {
  const figures: Figure[] = [];
  const server = await startBenchPostgres();
  try {
    for (const size of logs) {
      const plain = await prepareChain({ logs: size, logsPerBlock: DENSE_LOGS_PER_BLOCK });
      const chains = {
        sold: await prepareExchangeChain(plain, { exchange: SEAPORT as `0x${string}` }),
        moved: await prepareExchangeChain(plain, { exchange: STRANGER as `0x${string}` }),
      };
      const results: Runs = { sold: [], moved: [] };
      for (let round = 1; round <= runs; round += 1) {
        // Each begins every second round: what the machine warms up to, or slows down to, meets both.
        for (const name of round % 2 === 0 ? (["sold", "moved"] as const) : (["moved", "sold"] as const)) {
          const run = await runChain(server, { name, chain: chains[name] });
          console.log(
            `${sizeOf(size)}, ${name}, run ${round} of ${runs}: ${formatNumber(run.wallSeconds)} s wall, ${formatNumber(run.cpuSeconds)} s CPU, correct`,
          );
          results[name].push(run);
        }
      }
      figures.push(...compare(size, { chains, results }));
    }
  } finally {
    await server.stop();
  }
  return figures;
}

async function runChain(
  server: BenchPostgres,
  { name, chain }: { name: keyof Chains; chain: ExchangeChain },
): Promise<Run> {
  const replay = await startReplay(chain, { script: join(import.meta.dirname, "exchange-replay.ts") });
  const database = await server.createDatabase();
  const run = await measure(ourCold, { name, chain, replayUrl: replay.url, server, database });
  const found = await countSales(database.sql, { schemaName: await ourCold.findSchema(database.sql) });
  const expected = name === "sold" ? chain.sales : 0;
  if (found !== expected) throw new WrongResultError(`${name} has ${found} sales with a price, expected ${expected}.`);
  await replay.stop();
  await database.drop();
  return run;
}

function compare(size: number, { chains, results }: { chains: Chains; results: Runs }): Figure[] {
  const of = (name: keyof Chains, key: "wallSeconds" | "cpuSeconds") => median(results[name].map((run) => run[key]));
  const ratio = (figure: string, key: "wallSeconds" | "cpuSeconds"): Figure => ({
    figure,
    value: of("sold", key) / of("moved", key),
    unit: "×",
    goal: { atMost: MOST },
    detail: `${formatNumber(of("sold", key))} s with ${chains.sold.sales} sales among ${chains.sold.meta.logs} logs, ${formatNumber(of("moved", key))} s where nobody asks for them`,
  });
  return [
    ratio(`backfill with sales / without, ${sizeOf(size)}, wall`, "wallSeconds"),
    ratio("  the same, CPU", "cpuSeconds"),
  ];
}

async function countSales(sql: Sql, { schemaName }: { schemaName: string }): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::float8 as count
    from ${sql(`${schemaName}.token_event`)}
    where
      event_type = 'sale'
      and price > 0
  `;
  return row?.count ?? 0;
}
