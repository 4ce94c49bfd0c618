import { expect, test } from "vitest";
import { startChain } from "./chain.ts";
import { createTestDatabase } from "./database.ts";
import { startIndexer } from "./indexer.ts";
import { closeAfterAll } from "./opened.ts";
import { startRpcProxy } from "./rpc-proxy.ts";

const { closing } = closeAfterAll();

test("a head is asked for with its transactions once, however long it stays the head", async () => {
  const chain = await startChain();
  closing.push(chain.stop);
  const node = await startRpcProxy(chain.rpcUrl);
  closing.push(node.stop);
  const database = await createTestDatabase();
  closing.push(database.drop);
  await chain.mineEmpty(3);
  const indexer = startIndexer({ databaseUrl: database.url, rpcUrl: node.url });
  closing.push(indexer.stop);
  await indexer.waitUntilLive(await chain.head());
  const untilLookedAt = async (times: number) => {
    const { eth_getBlockByNumber: before = 0 } = node.counts();
    await expect.poll(() => node.counts().eth_getBlockByNumber, { timeout: 60_000 }).toBeGreaterThan(before + times);
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
