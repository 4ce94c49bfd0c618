import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { followHead } from "../indexer/head.ts";
import { createRpcClient } from "../indexer/rpc/rpc-client.ts";
import { startChain, type TestChain } from "./chain.ts";

let chain: TestChain;
const stopping = new AbortController();

beforeAll(async () => {
  chain = await startChain();
});
afterAll(async () => {
  stopping.abort();
  await chain?.stop();
});

test("a head that is replaced counts as a reorg, whether the chain grew meanwhile or not; growth alone does not", async () => {
  await chain.mineEmpty(3);
  const head = followHead(createRpcClient([chain.rpcUrl]), { pollIntervalMs: 500, signal: stopping.signal });
  const reach = async (block: number) => {
    while (head.block !== block) await sleep(50);
  };
  await reach(3);
  await chain.mineEmpty(4);
  await reach(7);
  expect(head.reorgs).toBe(0);

  const fork = async ({ from, blocks }: { from: string; blocks: number }) => {
    await chain.request("evm_revert", from);
    // Another time, so that the same number is another block.
    await chain.request("evm_increaseTime", 1000);
    await chain.mineEmpty(blocks);
  };
  const first = await chain.request<string>("evm_snapshot");
  await chain.mineEmpty(2);
  await reach(9);
  await fork({ from: first, blocks: 5 });
  await reach(12);
  await expect.poll(() => head.reorgs).toBe(1);

  const second = await chain.request<string>("evm_snapshot");
  await chain.mineEmpty(1);
  await reach(13);
  await fork({ from: second, blocks: 1 });
  await expect.poll(() => head.reorgs).toBe(2);
  await chain.mineEmpty(3);
  await reach(16);
  expect(head.reorgs).toBe(2);
});
