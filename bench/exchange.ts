/** What exchanges cost: a backfill of a chain on which one log in ten is a sale, and of the same chain where it is none. */
import { join } from "node:path";
import type { Sql } from "postgres";
import { SEAPORT_VERSIONS } from "../abis/seaport.ts";
import { measure, type Run } from "./backfill.ts";
import { prepareChain, startReplay } from "./chain.ts";
import { settle, startBenchPostgres } from "./database.ts";
import { type ExchangeChain, prepareExchangeChain } from "./exchange-chain.ts";
import { type BenchOptions, type Figure, formatNumber, median, WrongResultError } from "./figure.ts";
import { ourCold } from "./systems.ts";

const LOGS_PER_BLOCK = 250;
const SEAPORT = Object.keys(SEAPORT_VERSIONS).find((address) => SEAPORT_VERSIONS[address] === "1.6")!;
/** Nobody's: its logs are not asked for. */
const STRANGER = `0x${"57".repeat(20)}`;
const MOST = 1.15;

export async function benchExchange({ logs: [logs = 0], runs }: BenchOptions): Promise<Figure[]> {
  const plain = await prepareChain({ logs, logsPerBlock: LOGS_PER_BLOCK });
  const chains = {
    sold: await prepareExchangeChain(plain, { exchange: SEAPORT as `0x${string}` }),
    moved: await prepareExchangeChain(plain, { exchange: STRANGER as `0x${string}` }),
  };
  const results: Record<keyof typeof chains, Run[]> = { sold: [], moved: [] };
  const server = await startBenchPostgres();
  try {
    for (let round = 1; round <= runs; round += 1) {
      for (const [name, chain] of Object.entries(chains) as [keyof typeof chains, ExchangeChain][]) {
        const replay = await startReplay(chain, { script: join(import.meta.dirname, "exchange-replay.ts") });
        const database = await server.createDatabase();
        await settle(database.sql);
        const run = await measure(ourCold, { name, chain, rpcUrl: replay.url, server, database });
        const found = await countSales(database.sql, { schemaName: await ourCold.findSchema(database.sql) });
        const expected = name === "sold" ? chain.sales : 0;
        if (found !== expected)
          throw new WrongResultError(`${name} has ${found} sales with a price, expected ${expected}.`);
        console.log(
          `${name}, run ${round} of ${runs}: ${formatNumber(run.wallSeconds)} s wall, ${formatNumber(run.cpuSeconds)} s CPU, correct`,
        );
        results[name].push(run);
        await replay.stop();
        await database.drop();
      }
    }
  } finally {
    await server.stop();
  }
  const of = (runsOf: Run[], key: "wallSeconds" | "cpuSeconds") => median(runsOf.map((run) => run[key]));
  const ratio = (figure: string, key: "wallSeconds" | "cpuSeconds"): Figure => ({
    figure,
    value: of(results.sold, key) / of(results.moved, key),
    unit: "×",
    goal: { atMost: MOST },
    detail: `${formatNumber(of(results.sold, key))} s with ${chains.sold.sales} sales among ${chains.sold.meta.logs} logs, ${formatNumber(of(results.moved, key))} s where nobody asks for them`,
  });
  return [ratio("backfill with sales / without, wall", "wallSeconds"), ratio("the same, CPU", "cpuSeconds")];
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
