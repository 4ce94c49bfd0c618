import { setTimeout as sleep } from "node:timers/promises";
import { zeroAddress } from "viem";
import { expect, test } from "vitest";
import { startChain } from "./chain.ts";
import { createTestDatabase } from "./database.ts";
import { startIndexer } from "./indexer.ts";
import { closeAfterAll } from "./opened.ts";
import { transferLog } from "./raw-log.ts";
import { startRpcProxy } from "./rpc-proxy.ts";
import { compile } from "./solidity.ts";

const { opened } = closeAfterAll();

/** A short chain, the node that is asked for it, and its index at the head. */
async function startLive(env: Record<string, string>) {
  const chain = opened(await startChain());
  const node = opened(await startRpcProxy(chain.rpcUrl));
  const database = opened(await createTestDatabase());
  await chain.mineEmpty(3);
  const indexer = opened(startIndexer({ databaseUrl: database.url, rpcUrl: node.url, env }));
  await indexer.waitUntilLive(await chain.head());
  return { chain, node, indexer };
}

test("a head is asked for with its transactions once, however long it stays the head", async () => {
  const { chain, node, indexer } = await startLive({});
  const untilLookedAt = async (times: number) => {
    const { head = 0 } = node.counts();
    await expect.poll(() => node.counts().head).toBeGreaterThan(head + times);
  };

  await untilLookedAt(5);
  node.resetCounts();
  await untilLookedAt(5);
  expect(node.counts().wholeHead).toBeUndefined();
  for (let blocks = 1; blocks <= 3; blocks++) {
    await chain.mineEmpty(1);
    await indexer.waitUntilLive(await chain.head());
    await untilLookedAt(5);
    expect(node.counts().wholeHead).toBe(blocks);
  }
});

test("POLL_INTERVAL says how often the head is asked for", async () => {
  const { node } = await startLive({ POLL_INTERVAL: "10000" });
  node.resetCounts();
  await sleep(4_000);
  // By Ponder, and by the process that watches it.
  expect(node.counts().head ?? 0).toBeLessThanOrEqual(2);
});

test("the rows that a block's logs ask for are read together", async () => {
  const { chain, indexer } = await startLive({ LOG_LEVEL: "debug" });
  const emitter = await chain.deploy(compile("Emitter").Emitter);
  // It learns from the first block what logs ask for.
  for (const first of [0, 20]) {
    const logs = Array.from({ length: 20 }, (_, n) => transferLog(zeroAddress, emitter.address, BigInt(first + n)));
    await chain.mine({ to: emitter, name: "write", args: [logs] });
    await indexer.waitUntilLive(await chain.head());
  }
  expect(indexer.output()).toMatch(/Pre-queried database rows .*table=token row_count=0 /);
});
