import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { startChain } from "./chain.ts";
import { createTestDatabase } from "./database.ts";
import { startIndexer } from "./indexer.ts";
import { computeExpected } from "./log-oracle.ts";
import { readTables } from "./onchain-tables.ts";
import { closeAfterAll } from "./opened.ts";
import { listChildren } from "./process.ts";
import { createRandom, randomLogs } from "./random-logs.ts";
import { startRpcProxy } from "./rpc-proxy.ts";
import { compile } from "./solidity.ts";

const START_BLOCK = 5;

/** At the head Ponder takes 50 blocks at a time, so with slow answers it is more than 1,000 behind for half a minute. */
const MANY_BLOCKS = 3_000;
const SLOW_MS = 1_000;

/** Longer than from one look at Ponder's speed to the next, and its patience with Ponder. */
const LOOK_MS = 5_000;

const { opened } = closeAfterAll();

test("a network is behind by what is to be read: all of it before anything can be, and nothing beyond the last block", async () => {
  const chain = opened(await startChain());
  await chain.mineEmpty(START_BLOCK);
  const timeOf = async (block: string) =>
    Number((await chain.request<{ timestamp: string }>("eth_getBlockByNumber", block, false)).timestamp);
  const firstTimestamp = await timeOf(`0x${START_BLOCK.toString(16)}`);
  await chain.request("evm_increaseTime", 100_000);
  await chain.mineEmpty(40);
  const endBlock = await chain.head();
  const node = opened(await startRpcProxy(chain.rpcUrl));
  const database = opened(await createTestDatabase());

  // Slow enough to be seen.
  node.set({ delayMs: SLOW_MS });
  const env = { MAINNET_START_BLOCK: String(START_BLOCK), MAINNET_END_BLOCK: String(endBlock) };
  const indexer = opened(startIndexer({ databaseUrl: database.url, rpcUrl: node.url, env }));
  const begun = await indexer.waitUntil(
    ({ head_timestamp, indexed_timestamp }) => indexed_timestamp > 0 && indexed_timestamp < head_timestamp,
  );
  expect(begun).toMatchObject({ state: "backfill", indexed_block: 0, indexed_timestamp: firstTimestamp });
  node.set({ delayMs: 0 });
  await indexer.waitUntilLive(endBlock);

  await chain.request("evm_increaseTime", 100_000);
  await chain.mineEmpty(3);
  const ended = await indexer.waitUntil(({ head_block }) => head_block >= endBlock + 3);
  expect(ended).toMatchObject({ state: "live", indexed_block: endBlock, indexed_timestamp: ended.head_timestamp });
  expect(ended.head_timestamp).toBe(await timeOf("latest"));
});

test("an index that a node leaves far behind, as one that was still syncing, goes on by ranges", async () => {
  const { Emitter } = compile("Emitter");
  const chain = opened(await startChain());
  const emitter = await chain.deploy(Emitter);
  const random = createRandom(3);
  const mineLogs = () =>
    chain.mine({ to: emitter, name: "write", args: [randomLogs(random, { accounts: chain.accounts, count: 4 })] });
  const node = opened(await startRpcProxy(chain.rpcUrl));
  const database = opened(await createTestDatabase());
  const indexer = opened(startIndexer({ databaseUrl: database.url, rpcUrl: node.url }));
  const head = await chain.head();
  await indexer.waitUntilLive(head);

  node.set({ head });
  for (let part = 0; part < 5; part++) {
    await mineLogs();
    await chain.mineEmpty(MANY_BLOCKS / 5);
  }
  await mineLogs();
  node.set({ head: undefined, delayMs: SLOW_MS });
  const { reason } = await indexer.waitUntil(({ state }) => state !== "live");
  expect(reason).toBeNull();
  node.set({ delayMs: 0 });
  await indexer.waitUntilLive(await chain.head());
  expect(indexer.output()).toMatch(/^mainnet {2}far behind at block \d+ of \d+; begins anew, which is faster$/m);
  // It asks for each block that it takes at the head.
  expect(node.counts().eth_getBlockByNumber).toBeLessThan(MANY_BLOCKS);
  expect(await readTables(database.url)).toEqual(await computeExpected(chain));
});

test("a Ponder that answers again after a while hasn't handled all logs again", async () => {
  const { Emitter } = compile("Emitter");
  const chain = opened(await startChain());
  const emitter = await chain.deploy(Emitter);
  const database = opened(await createTestDatabase());
  const indexer = opened(startIndexer({ databaseUrl: database.url, rpcUrl: chain.rpcUrl }));
  await indexer.waitUntilLive(await chain.head());
  const logs = randomLogs(createRandom(4), { accounts: chain.accounts, count: 200 });
  await chain.mine({ to: emitter, name: "write", args: [logs] });
  const { logs_per_second: speed } = await indexer.waitUntil(({ logs_per_second }) => logs_per_second > 0);
  await indexer.waitUntil(({ logs_per_second }) => logs_per_second < speed / 16);

  const ponder = listChildren(indexer.pid);
  for (const pid of ponder) process.kill(pid, "SIGSTOP");
  await sleep(LOOK_MS);
  for (const pid of ponder) process.kill(pid, "SIGCONT");
  const speeds: number[] = [];
  for (const end = performance.now() + LOOK_MS; performance.now() < end; await sleep(500))
    speeds.push((await indexer.waitUntil(() => true)).logs_per_second);
  expect(Math.max(...speeds)).toBeLessThan(speed / 8);
});
