/** How long a mined block takes until the API answers from it: real node, real indexer, real API process. */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { FROM_BUNDLE } from "../indexer/child-process.ts";
import { findFreePort } from "../indexer/free-port.ts";
import { type Anvil, startAnvil } from "../demo/anvil.ts";
import { createRequest } from "../test/chain.ts";
import { waitUntilReady } from "./api-harness.ts";
import { type BenchDatabase, startBenchPostgres } from "./database.ts";
import { type BenchOptions, type Figure, median, percentile, WrongResultError } from "./figure.ts";
import { MINTS_PER_CALL, minterBytecode } from "./minter.ts";
import { type BenchProcess, startProcess } from "./process.ts";
import { environmentOf, ourCold } from "./systems.ts";

const BLOCKS = 60;
/** Blocks before the measured ones, so that all processes have run their code. */
const WARM_UP_BLOCKS = 5;
const BLOCK_INTERVAL_MS = 1_000;
const POLL_MS = 20;
/** After which a block that isn't answered from is lost. */
const LOST_AFTER_MS = 30_000;

const API_ENTRY = join(import.meta.dirname, "../bin/api.ts");
const API_KEY = "benchmark-key";

type Minter = { request: ReturnType<typeof createRequest>; sender: string; address: string };
type MinedBlock = { lastTokenId: number; minedAt: number };

/** The live figure. @throws WrongResultError when an event is lost or doubled */
export async function benchLive({ runs }: Pick<BenchOptions, "runs">): Promise<Figure[]> {
  const server = await startBenchPostgres();
  const results: { delays: number[]; share: number }[] = [];
  try {
    for (let run = 1; run <= runs; run++) {
      process.stdout.write(`${BLOCKS} blocks of ${MINTS_PER_CALL} mints, one a second, run ${run} of ${runs} …`);
      const database = await server.createDatabase();
      const delays = await measureDelays(database);
      await database.drop();
      results.push({ delays, share: percentile(delays, 0.95) });
      console.log(` median ${Math.round(median(delays))} ms, 95 % ${Math.round(percentile(delays, 0.95))} ms, correct`);
    }
  } finally {
    await server.stop();
  }
  const name = `mined → in the API's answers, ${MINTS_PER_CALL} events a block`;
  const all = results.flatMap(({ delays }) => delays);
  return [
    {
      figure: `${name}, 95 %`,
      value: median(results.map(({ share }) => share)) / 1000,
      unit: "s",
      goal: { atMost: 2 },
      detail: `slowest of ${all.length} blocks ${Math.round(Math.max(...all))} ms`,
    },
    { figure: `${name}, median`, value: median(all) / 1000, unit: "s" },
  ];
}

async function measureDelays(database: BenchDatabase): Promise<number[]> {
  const anvil = await startAnvil({ port: 0, timestamp: BigInt(Math.floor(Date.now() / 1000) - 3600), accounts: 1 });
  const started: BenchProcess[] = [];
  try {
    const minter = await deployMinter(anvil);
    await mineBlock(minter);

    const options = { databaseUrl: database.url, sql: database.sql, rpcUrl: anvil.rpcUrl, chainId: 31_337 };
    const indexer = await ourCold.start(options);
    started.push(indexer);
    await ourCold.waitUntilReady(indexer, database.sql);
    const port = await findFreePort();
    const env = {
      PORT: String(port),
      HOST: "127.0.0.1",
      API_KEYS: API_KEY,
      RATE_LIMIT: "100000",
      RATE_BURST: "100000",
    };
    const api = startProcess({
      name: "api",
      args: [...FROM_BUNDLE, API_ENTRY],
      env: { ...environmentOf(options), ...env },
    });
    started.push(api);
    const apiUrl = `http://127.0.0.1:${port}`;
    await Promise.race([api.died, waitUntilReady(apiUrl)]);

    const delays = await Promise.race([indexer.died, api.died, mineAndWatch(minter, { apiUrl })]);
    await verifyEvents(database, { schemaName: await ourCold.findSchema(database.sql) });
    return delays;
  } finally {
    await Promise.all(started.map((one) => one.stop()));
    await anvil.stop();
  }
}

/** Mines a block each second and asks the API all the time what the newest event is. */
async function mineAndWatch(minter: Minter, { apiUrl }: { apiUrl: string }): Promise<number[]> {
  const waiting: MinedBlock[] = [];
  const delays: number[] = [];
  const mining = (async () => {
    const startedAt = performance.now();
    for (let block = 0; block < WARM_UP_BLOCKS + BLOCKS; block++) {
      await sleep(Math.max(0, startedAt + block * BLOCK_INTERVAL_MS - performance.now()));
      // One block was mined before the indexer was started.
      const lastTokenId = (block + 2) * MINTS_PER_CALL - 1;
      waiting.push({ lastTokenId, minedAt: await mineBlock(minter) });
    }
  })();
  const failed = mining.then(() => new Promise<never>(() => {}));

  while (delays.length < WARM_UP_BLOCKS + BLOCKS) {
    const newest = await Promise.race([findNewestTokenId(apiUrl, minter), failed]);
    const seenAt = performance.now();
    while (waiting[0] && waiting[0].lastTokenId <= newest) delays.push(seenAt - waiting.shift()!.minedAt);
    if (waiting[0] && seenAt - waiting[0].minedAt > LOST_AFTER_MS)
      throw new WrongResultError(
        `Token ${waiting[0].lastTokenId} is not in the API's answers after ${LOST_AFTER_MS} ms.`,
      );
    await sleep(POLL_MS);
  }
  return delays.slice(WARM_UP_BLOCKS);
}

/** -1 while the contract has no event in the answers. */
async function findNewestTokenId(apiUrl: string, { address }: Minter): Promise<number> {
  const response = await fetch(`${apiUrl}/v1/events/${address}?limit=1`, { headers: { "x-api-key": API_KEY } });
  if (response.status === 404) return -1;
  if (!response.ok) throw new Error(`The API answered ${response.status}: ${await response.text()}`);
  const { result } = (await response.json()) as { result: { token_id: string }[] };
  return Number(result[0]?.token_id ?? -1);
}

/** Each mint is one event and one token. */
async function verifyEvents({ sql }: BenchDatabase, { schemaName }: { schemaName: string }): Promise<void> {
  const expected = (1 + WARM_UP_BLOCKS + BLOCKS) * MINTS_PER_CALL;
  const [found] = await sql<{ events: number; tokens: number }[]>`
    select
      (select count(*)::int from ${sql(`${schemaName}.token_event`)}) as events,
      (select count(distinct token_id)::int from ${sql(`${schemaName}.token`)}) as tokens
  `;
  if (found?.events !== expected || found.tokens !== expected)
    throw new WrongResultError(`There are ${found?.events} events, ${found?.tokens} tokens. Expected ${expected}.`);
}

// ------------------------------------------------------------------------------------------------ the node

async function deployMinter({ rpcUrl }: Anvil): Promise<Minter> {
  const request = createRequest(rpcUrl);
  const [sender = ""] = await request<string[]>("eth_accounts");
  const hash = await request("eth_sendTransaction", { from: sender, data: minterBytecode(), gas: "0x7a120" });
  await request("evm_mine");
  const receipt = await request<{ contractAddress: string }>("eth_getTransactionReceipt", hash);
  return { request, sender, address: receipt.contractAddress };
}

/** Mines one block of mints. Returns when it was asked for, by performance.now(). */
async function mineBlock({ request, sender, address }: Minter): Promise<number> {
  await request("eth_sendTransaction", { from: sender, to: address, gas: "0x7a1200" });
  const minedAt = performance.now();
  await request("evm_mine");
  return minedAt;
}
