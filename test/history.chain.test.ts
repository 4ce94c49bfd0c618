import { setTimeout as sleep } from "node:timers/promises";
import type { Hex } from "viem";
import { beforeAll, describe, expect, test } from "vitest";
import { withConnection } from "../postgres/pool.ts";
import { ownQueries, verify } from "../bench/oracle.ts";
import { type Contract, startChain, type TestChain } from "./chain.ts";
import { createTestDatabase } from "./database.ts";
import { FINALITY } from "./finality.ts";
import { type Indexer, startIndexer } from "./indexer.ts";
import { computeExpected } from "./log-oracle.ts";
import { readAllRows, readTables } from "./onchain-tables.ts";
import { closeAfterAll } from "./opened.ts";
import { listDescendants } from "./process.ts";
import { createRandom, randomLogs, randomPunkLogs } from "./random-logs.ts";
import { hasReplayTools, startReplay } from "./replay.ts";
import { startRpcProxy } from "./rpc-proxy.ts";
import { deployMarkets, playScenario, SCENARIO_CONTRACTS } from "./scenario.ts";
import { compile } from "./solidity.ts";

const { closing, opened } = closeAfterAll();

const createDatabase = async () => opened(await createTestDatabase());

const start = (options: Parameters<typeof startIndexer>[0]): Indexer => opened(startIndexer(options));

/** Where the newest deployment's history ends. */
const readBoundary = (databaseUrl: string) =>
  withConnection(databaseUrl, async (sql) => {
    const [row] = await sql<{ history_block: number; is_loaded: boolean }[]>`
      select
        history_block::float8,
        history_loaded_at is not null as is_loaded
      from offchain.deployment
      order by created_at desc
      limit 1
    `;
    return row!;
  });

/** What exchanges said in the transactions that were handled last: no reader sees it. */
const readSteps = (databaseUrl: string) =>
  withConnection(databaseUrl, async (sql) => {
    const [{ schema_name } = { schema_name: "" }] = await sql<{ schema_name: string }[]>`
      select schema_name
      from offchain.deployment
      order by created_at desc
      limit 1
    `;
    const steps = await sql<{ row: string }[]>`
      select t::text as row
      from ${sql(`${schema_name}.sale_step`)} t
      order by 1
    `;
    expect(steps.length).toBeGreaterThan(0);
    return steps.map(({ row }) => row);
  });

describe("wherever history ends", () => {
  let chain: TestChain;
  let head: number;
  let addresses: Hex[];
  let env: Record<string, string>;
  let expected: Awaited<ReturnType<typeof computeExpected>>;
  const rows: Record<string, string[]>[] = [];
  let write: (blocks: number) => Promise<void>;
  /** Of the chain, at the second block behind the latest history. */
  let snapshot: string;
  /** Follows on from there, when the others are done. */
  let last: { indexer: Indexer; databaseUrl: string };

  beforeAll(async () => {
    chain = await startChain();
    closing.push(chain.stop);
    const artifacts = compile(...SCENARIO_CONTRACTS);
    const markets = await deployMarkets(chain, artifacts);
    const emitters = [await chain.deploy(artifacts.Emitter), await chain.deploy(artifacts.Emitter)];
    const punks = await chain.deploy(artifacts.Emitter);
    // As many as a log may have are another test's matter: live they take a while.
    await playScenario(chain, artifacts, markets, { rangeTokens: 100n });
    const random = createRandom(61);
    const { accounts } = chain;
    write = async (blocks) => {
      for (let block = 0; block < blocks; block++)
        await chain.mine(
          ...emitters.map((to) => ({ to, name: "write", args: [randomLogs(random, { accounts, count: 6 })] })),
          { to: punks, name: "write", args: [randomPunkLogs(random, { accounts, count: 3 })] },
        );
    };
    await write(31);
    snapshot = await chain.request("evm_snapshot");
    await write(FINALITY - 1);
    head = await chain.head();
    addresses = [markets.market.address, markets.firstMarket.address, punks.address];
    env = { CRYPTOPUNKS_ADDRESSES: addresses.join(",") };
    expected = await computeExpected(chain, { punkMarkets: addresses });
  });

  // None at all, then in the scenario's blocks and among the random ones: every one of them has logs. Two beside each
  // other, each with a long way to go live and then one with a short way.
  describe.concurrent.for([{ boundaries: [-1, 50] }, { boundaries: [20, Infinity] }])(
    "with boundaries $boundaries",
    ({ boundaries }) => {
      test.for(boundaries)(
        "at block %d or as late as can be, the tables are what the raw logs say",
        { concurrent: false },
        async (wanted) => {
          const boundary = Math.min(wanted, head - FINALITY - 1);
          const database = await createDatabase();
          const proxy = opened(await startRpcProxy(chain.rpcUrl));
          proxy.set({ head: boundary === -1 ? FINALITY - 5 : boundary + FINALITY + 1 });
          const indexer = start({ databaseUrl: database.url, rpcUrl: proxy.url, env });
          await indexer.waitUntil(({ state }) => state === "live");
          expect(await readBoundary(database.url)).toEqual({ history_block: boundary, is_loaded: boundary !== -1 });
          proxy.set({ head: undefined });
          await indexer.waitUntilLive(head);
          if (wanted === Infinity) last = { indexer, databaseUrl: database.url };
          else await indexer.stop();
          expect(await readTables(database.url)).toEqual(expected);
          rows.push({ ...(await readAllRows(database.url)), sale_step: await readSteps(database.url) });
          expect(rows.at(-1)).toEqual(rows[0]);
        },
      );
    },
  );

  test("a reorg of the first blocks after history leaves what the winning chain says", async () => {
    const { indexer, databaseUrl } = last;
    const { history_block } = await readBoundary(databaseUrl);
    await chain.request("evm_revert", snapshot);
    // All that is not final is replaced, so what was history stays, and nothing else does.
    expect((await chain.head()) - history_block).toBe(2);
    await write(FINALITY + 3);
    await indexer.waitUntilLive(await chain.head());
    await indexer.stop();
    const won = await computeExpected(chain, { punkMarkets: addresses });
    expect(await readTables(databaseUrl)).toEqual(won);
    expect(expected).not.toEqual(won);
  });
});

test.concurrent("a contract that is added later costs its own history only, and a rebuild costs none", async ({
  expect,
}) => {
  const chain = opened(await startChain());
  const { Emitter } = compile("Emitter");
  const emitters = [await chain.deploy(Emitter), await chain.deploy(Emitter)] as [Contract, Contract];
  const random = createRandom(63);
  for (let block = 0; block < 30; block++)
    await chain.mine(
      ...emitters.map((to) => ({
        to,
        name: "write",
        args: [randomLogs(random, { accounts: chain.accounts, count: 5 })],
      })),
    );
  await chain.mineEmpty(FINALITY + 10);
  const head = await chain.head();
  const proxy = opened(await startRpcProxy(chain.rpcUrl));
  const database = await createDatabase();
  const [first, second] = emitters.map(({ address }) => address);
  const index = async (contracts: string) => {
    proxy.resetCounts();
    const indexer = start({ databaseUrl: database.url, rpcUrl: proxy.url, env: { MAINNET_CONTRACTS: contracts } });
    await indexer.waitUntilLive(head);
    await indexer.stop();
    const { history_block } = await readBoundary(database.url);
    // What Ponder asks comes after.
    return proxy.logFilters().filter(({ fromBlock }) => Number(fromBlock) <= history_block);
  };
  const addressesOf = (filters: { address?: string | string[] }[]) =>
    new Set(filters.flatMap(({ address }) => address));

  expect(addressesOf(await index(first!))).toContain(first);
  const added = addressesOf(await index(`${first},${second}`));
  expect(added).toContain(second);
  expect(added).not.toContain(first);
  expect(added).not.toContain(undefined);
  expect(await readTables(database.url)).toEqual(await computeExpected(chain));
  expect(await index(second!)).toEqual([]);
});

if (!hasReplayTools)
  console.log("history.chain.test.ts: kill -9 is skipped: the generated chain's tools are not here.");

test.skipIf(!hasReplayTools)(
  "killed at 20 random moments, it goes on where it was and ends with the right rows",
  async () => {
    const replay = opened(await startReplay({ logs: 30_000, latencyMs: 30 }));
    const database = await createDatabase();
    const random = createRandom(64);
    const positions: number[] = [];
    for (let kill = 1; kill <= 20; kill++) {
      const indexer = start({ databaseUrl: database.url, rpcUrl: replay.url });
      // On a slow machine none of them would come so far.
      if (kill === 6) await untilFixed(database.url);
      await sleep(500 + random() * 2_500);
      for (const pid of listDescendants(indexer.pid)) killIfThere(pid);
      await indexer.kill();
      positions.push(await historyBlock(database.url));
    }
    const fresh = await createDatabase();
    await Promise.all(
      [database, fresh].map(async ({ url }) => {
        const indexer = start({ databaseUrl: url, rpcUrl: replay.url });
        await indexer.waitUntilLive(replay.lastBlock);
        await indexer.stop();
      }),
    );
    // Fixed by the first that came so far.
    expect(new Set(positions.filter((block) => block !== -1)).size).toBe(1);
    const verified = withConnection(database.url, (sql) =>
      verify(sql, { name: "The index", queries: ownQueries("onchain_mainnet"), expected: replay.expected }),
    );
    await expect(verified).resolves.toBeUndefined();
    expect(await readAllRows(database.url)).toEqual(await readAllRows(fresh.url));
  },
);

/** The last block of the deployment's history; -1 where it isn't fixed yet. */
const historyBlock = async (databaseUrl: string) =>
  (await readBoundary(databaseUrl).catch(() => undefined))?.history_block ?? -1;

async function untilFixed(databaseUrl: string): Promise<void> {
  while ((await historyBlock(databaseUrl)) === -1) await sleep(50);
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It ended by itself a moment ago.
  }
}
