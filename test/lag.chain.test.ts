import { expect, test } from "vitest";
import { startChain } from "./chain.ts";
import { createTestDatabase } from "./database.ts";
import { startIndexer } from "./indexer.ts";
import { closeAfterAll } from "./opened.ts";
import { startRpcProxy } from "./rpc-proxy.ts";

const START_BLOCK = 5;

const { closing } = closeAfterAll();

test("a network is behind by what is to be read: all of it before anything can be, and nothing beyond the last block", async () => {
  const chain = await startChain();
  closing.push(chain.stop);
  await chain.mineEmpty(START_BLOCK);
  const timeOf = async (block: string) =>
    Number((await chain.request<{ timestamp: string }>("eth_getBlockByNumber", block, false)).timestamp);
  const firstTimestamp = await timeOf(`0x${START_BLOCK.toString(16)}`);
  await chain.request("evm_increaseTime", 100_000);
  await chain.mineEmpty(40);
  const endBlock = await chain.head();
  const node = await startRpcProxy(chain.rpcUrl);
  closing.push(node.stop);
  const database = await createTestDatabase();
  closing.push(database.drop);

  // Slow enough to be seen.
  node.set({ delayMs: 500 });
  const env = { MAINNET_START_BLOCK: String(START_BLOCK), MAINNET_END_BLOCK: String(endBlock) };
  const indexer = startIndexer({ databaseUrl: database.url, rpcUrl: node.url, env });
  closing.push(indexer.stop);
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
