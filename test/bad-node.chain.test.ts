import { setTimeout as sleep } from "node:timers/promises";
import type { Hex } from "viem";
import { test } from "vitest";
import { withConnection } from "../postgres/pool.ts";
import { startChain } from "./chain.ts";
import { createTestDatabase } from "./database.ts";
import { FINALITY } from "./finality.ts";
import { startIndexer } from "./indexer.ts";
import { computeExpected } from "./log-oracle.ts";
import { readTables } from "./onchain-tables.ts";
import { closeAfterAll } from "./opened.ts";
import { listChildren } from "./process.ts";
import { startRpcProxy } from "./rpc-proxy.ts";
import { compile } from "./solidity.ts";

const { opened } = closeAfterAll();

/** As VeChain's proxy does: a log has no place. */
const placeless = (logs: unknown[]) =>
  logs.map((log) => Object.assign({}, log, { logIndex: "0x0", transactionIndex: "0x0" }));

/** A chain with a contract that has minted tokens, a block each, behind a node that may behave badly. */
async function startWorld({ tokens }: { tokens: number }) {
  const chain = opened(await startChain());
  const node = opened(await startRpcProxy(chain.rpcUrl));
  const deed = await chain.deploy(compile("Deed").Deed);
  let id = 0;
  const mintTogether = async (count: number) =>
    chain.mine(...Array.from({ length: count }, () => ({ to: deed, name: "mint", args: [chain.accounts[0], ++id] })));
  const mint = async (count: number) => {
    for (let minted = 0; minted < count; minted++) await mintTogether(1);
  };
  await mint(tokens);
  const database = opened(await createTestDatabase());
  const start = (rpcUrl = node.url) => opened(startIndexer({ databaseUrl: database.url, rpcUrl }));
  /** Its tables, and what they must be. */
  const readBoth = async () => ({ tables: await readTables(database.url), expected: await computeExpected(chain) });
  return { chain, node, mint, mintTogether, database, start, readBoth };
}

test.concurrent("logs without a place that became final while nobody followed the chain are there, of whatever event", async ({
  expect,
}) => {
  const { chain, node, mint, start, readBoth } = await startWorld({ tokens: 5 });
  const edition = await chain.deploy(compile("Edition").Edition);
  const first = start();
  await first.waitUntilLive(await chain.head());
  await first.stop();
  await chain.mine(
    { to: edition, name: "mint", args: [chain.accounts[0], 1, 2] },
    { to: edition, name: "mintBatch", args: [chain.accounts[0], [3, 4], [5, 6]] },
  );
  await mint(1);
  await chain.mineEmpty(100);
  node.set({ bendsRanges: placeless });
  await start().waitUntilLive(await chain.head());
  const { tables, expected } = await readBoth();
  expect(tables).toEqual(expected);
});

test.concurrent("no logs are believed only of a backend that has the block, whatever its bloom says, come in any order and any number, and may have no place", async ({
  expect,
}) => {
  const { chain, node, mint, mintTogether, start, readBoth } = await startWorld({ tokens: 40 });
  const indexer = start();
  await indexer.waitUntilLive(await chain.head());
  node.set({ blooms: "full", lagsWithLogs: true });
  node.resetCounts();
  await mint(1);
  await expect.poll(() => node.counts().logsOfBlock ?? 0).toBeGreaterThan(0);
  node.set({ lagsWithLogs: false });
  await mint(1);
  await indexer.waitUntilLive(await chain.head());

  node.set({ blooms: "right", bendsLogs: (logs) => logs.toReversed() });
  await mintTogether(3);
  await indexer.waitUntilLive(await chain.head());

  node.set({ bendsLogs: undefined, maxLogsOfBlock: 2 });
  await mintTogether(5);
  await indexer.waitUntilLive(await chain.head());

  node.set({ maxLogsOfBlock: Infinity, bendsLogs: placeless });
  await mintTogether(3);
  await indexer.waitUntilLive(await chain.head());
  const { tables, expected } = await readBoth();
  expect(tables).toEqual(expected);
});

test.concurrent("a node that lags at a start is followed, and waited for where it lacks what was final", async ({
  expect,
}) => {
  const { chain, node, mint, database, start } = await startWorld({ tokens: 60 });
  node.set({ bendsBlock: (block) => ({ ...block, timestamp: "0x65537000" }) });
  for (let started = 0; started < 2; started++) {
    const indexer = start();
    await indexer.waitUntilLive(await chain.head());
    await indexer.stop();
    await mint(started < 1 ? 5 : 0);
  }
  const head = await chain.head();
  node.set({ head: head - 3 });
  const lagging = start();
  await lagging.waitUntilLive(head - 3);
  await lagging.stop();
  node.set({ head: head - FINALITY - 1 });
  const indexer = start();
  const problem = await indexer.waitUntil(({ reason }) => reason !== null && !reason.includes("stopped"));
  expect(problem.reason).toMatch(
    `The chain is at block ${head - FINALITY - 1}, and block ${head - FINALITY} was final`,
  );
  node.set({ head: undefined });
  await indexer.waitUntilLive(head);
  // The times are this node's alone.
  const { tokens } = await readTables(database.url);
  expect(tokens).toHaveLength(65);
});

test.concurrent("what a reorg took back isn't told as indexed until the new blocks are", async ({ expect }) => {
  const { chain, node, mint, database, start, readBoth } = await startWorld({ tokens: 40 });
  const indexer = start();
  await indexer.waitUntilLive(await chain.head());
  const kept = await chain.head();
  const snapshot = await chain.request<Hex>("evm_snapshot");
  await mint(3);
  await indexer.waitUntilLive(await chain.head());
  node.set({ isSilent: true });
  await chain.request("evm_revert", snapshot);
  await mint(4);
  const blocks = await Promise.all(
    [1, 2, 3].map((above) =>
      chain.request<{ hash: Hex }>("eth_getBlockByNumber", `0x${(kept + above).toString(16)}`, false),
    ),
  );
  node.set({ isSilent: false, lacksLogsOf: blocks.map(({ hash }) => hash) });

  const look = async () =>
    withConnection(database.url, async (sql) => {
      const [row] = await sql<{ indexed: number; found: number }[]>`
        select
          indexed_block::float8 as indexed,
          (select max(block_number) from onchain_mainnet.token_event)::float8 as found
        from offchain.network
      `;
      return row!;
    });
  await expect.poll(look, { interval: 200 }).toEqual({ indexed: kept, found: kept });
  node.set({ lacksLogsOf: [] });
  await indexer.waitUntilLive(await chain.head());
  const { tables, expected } = await readBoth();
  expect(tables).toEqual(expected);
});

test.concurrent("a Ponder whose indexer has lost the lock unawares writes no more beside the next one", async ({
  expect,
}) => {
  const { chain, node, mint, database, start, readBoth } = await startWorld({ tokens: 40 });
  const first = start(chain.rpcUrl);
  await first.waitUntilLive(await chain.head());
  await mint(5);
  await first.waitUntilLive(await chain.head());
  // The second one's node lags with the logs of ranges, so that it takes a while to catch up.
  const headOfLogs = (await chain.head()) - 35;
  node.set({ headOfLogs });
  const second = start();
  await expect.poll(second.output).toContain("standing by");

  // What a partition does: sessions are lost, and the indexer notices that later than its Ponder.
  process.kill(first.pid, "SIGSTOP");
  await withConnection(
    database.url,
    (sql) => sql`
      select pg_terminate_backend(pid)
      from pg_stat_activity session
      where
        datname = current_database()
        and pid <> pg_backend_pid()
        and (
          starts_with(application_name, 'onchain')
          or exists (select from pg_locks held where held.pid = session.pid and locktype = 'advisory' and granted)
        )
    `,
  );
  await expect.poll(() => listChildren(second.pid).length).toBeGreaterThan(0);
  await expect.poll(() => node.logFilters().some(({ toBlock }) => Number(toBlock) > headOfLogs)).toBe(true);
  await mint(2);
  await sleep(3000);
  process.kill(first.pid, "SIGCONT");
  await first.stop();
  node.set({ headOfLogs: undefined });
  await second.waitUntilLive(await chain.head());
  const { tables, expected } = await readBoth();
  expect(tables).toEqual(expected);
});
