import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect, test } from "vitest";
import { startChain } from "./chain.ts";
import { createTestDatabase } from "./database.ts";
import { startIndexer } from "./indexer.ts";
import { computeExpected } from "./log-oracle.ts";
import { readTables } from "./onchain-tables.ts";
import { createRandom, randomLogs } from "./random-logs.ts";
import { startRpcProxy } from "./rpc-proxy.ts";
import { compile } from "./solidity.ts";

const closing: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const close of closing.toReversed()) await close();
});

test("of two nodes, either may go away and come back while blocks are mined", async () => {
  const chain = await startChain();
  closing.push(chain.stop);
  const emitter = await chain.deploy(compile("Emitter").Emitter);
  const random = createRandom(7);
  const mineLogs = async () =>
    chain.mine({ to: emitter, name: "write", args: [randomLogs(random, { accounts: chain.accounts, count: 5 })] });
  for (let block = 0; block < 5; block++) await mineLogs();
  await chain.mineEmpty(35);
  const nodes = [await startRpcProxy(chain.rpcUrl), await startRpcProxy(chain.rpcUrl)] as const;
  for (const node of nodes) closing.push(node.stop);
  const database = await createTestDatabase();
  closing.push(database.drop);
  const indexer = startIndexer({ databaseUrl: database.url, rpcUrl: nodes.map(({ url }) => url).join(",") });
  closing.push(indexer.stop);
  await indexer.waitUntilLive(await chain.head());

  const [first, second] = nodes;
  for (const [gone, left] of [
    [first, second],
    [second, first],
  ] as const) {
    gone.set({ isDown: true });
    left.resetCounts();
    await mineLogs();
    await indexer.waitUntilLive(await chain.head());
    expect(Object.keys(left.counts()).length).toBeGreaterThan(0);
    gone.set({ isDown: false });
  }
  expect(await readTables(database.url)).toEqual(await computeExpected(chain));
}, 200_000);

// These wait most of their time, beside each other.
test.concurrent("a node that is silent, or far behind, doesn't hold up what the other one knows", async ({
  expect,
}) => {
  const chain = await startChain();
  closing.push(chain.stop);
  const emitter = await chain.deploy(compile("Emitter").Emitter);
  const random = createRandom(10);
  const mineLogs = async () =>
    chain.mine({ to: emitter, name: "write", args: [randomLogs(random, { accounts: chain.accounts, count: 5 })] });
  await mineLogs();
  await chain.mineEmpty(60);
  for (let block = 0; block < 5; block++) await mineLogs();
  const nodes = [await startRpcProxy(chain.rpcUrl), await startRpcProxy(chain.rpcUrl)] as const;
  for (const node of nodes) closing.push(node.stop);
  const rpcUrl = nodes.map(({ url }) => url).join(",");
  for (const behaviour of [{ isSilent: true }, { isSilent: false, head: 2 }]) {
    nodes[0].set(behaviour);
    const database = await createTestDatabase();
    closing.push(database.drop);
    const indexer = startIndexer({ databaseUrl: database.url, rpcUrl });
    closing.push(indexer.stop);
    await indexer.waitUntilLive(await chain.head());
    await mineLogs();
    await indexer.waitUntilLive(await chain.head());
    expect(await readTables(database.url)).toEqual(await computeExpected(chain));
    await indexer.stop();
  }
}, 300_000);

test.concurrent("a node that was down at the start and is of another chain, which is longer, isn't asked", async ({
  expect,
}) => {
  const chain = await startChain();
  closing.push(chain.stop);
  const other = await startChain({ chainId: 31_338, timestamp: 1_500_000_000 });
  closing.push(other.stop);
  const emitter = await chain.deploy(compile("Emitter").Emitter);
  const random = createRandom(12);
  await chain.mineEmpty(40);
  await other.mineEmpty(200);
  const nodes = [await startRpcProxy(chain.rpcUrl), await startRpcProxy(other.rpcUrl)] as const;
  for (const node of nodes) closing.push(node.stop);
  nodes[1].set({ isDown: true });
  const database = await createTestDatabase();
  closing.push(database.drop);
  const indexer = startIndexer({ databaseUrl: database.url, rpcUrl: nodes.map(({ url }) => url).join(",") });
  closing.push(indexer.stop);
  await indexer.waitUntilLive(await chain.head());

  nodes[1].resetCounts();
  nodes[1].set({ isDown: false });
  await expect.poll(() => nodes[1].counts().eth_chainId, { timeout: 20_000 }).toBeGreaterThan(0);
  for (let block = 0; block < 20; block++) {
    const logs = randomLogs(random, { accounts: chain.accounts, count: 5 });
    await chain.mine({ to: emitter, name: "write", args: [logs] });
    await sleep(200);
  }
  await indexer.waitUntilLive(await chain.head());
  expect(await readTables(database.url)).toEqual(await computeExpected(chain));
}, 200_000);

test.concurrent("what Ponder can't take of a node is the reason that the network stalls", async ({ expect }) => {
  const chain = await startChain();
  closing.push(chain.stop);
  const emitter = await chain.deploy(compile("Emitter").Emitter);
  await chain.mineEmpty(40);
  const logs = randomLogs(createRandom(11), { accounts: chain.accounts, count: 5 });
  await chain.mine({ to: emitter, name: "write", args: [logs] });
  const node = await startRpcProxy(chain.rpcUrl);
  closing.push(node.stop);
  node.set({ lagsWithLogs: true });
  const database = await createTestDatabase();
  closing.push(database.drop);
  const indexer = startIndexer({ databaseUrl: database.url, rpcUrl: node.url });
  closing.push(indexer.stop);
  const { reason, eta_seconds } = await indexer.waitUntil(({ state }) => state === "stalled");
  expect(reason).toContain("RpcProviderError");
  expect(eta_seconds).toBeNull();

  node.set({ lagsWithLogs: false });
  const healed = await indexer.waitUntilLive(await chain.head());
  expect(healed.reason).toBeNull();
}, 200_000);

test("a node that wants a password is followed, alone and beside one that refuses ours", async () => {
  const chain = await startChain();
  closing.push(chain.stop);
  const nodes = [await startRpcProxy(chain.rpcUrl), await startRpcProxy(chain.rpcUrl)] as const;
  for (const node of nodes) closing.push(node.stop);
  const [guarded, refusing] = nodes;
  guarded.set({ authorization: `Basic ${Buffer.from(":p@ss").toString("base64")}` });
  refusing.set({ authorization: "Basic of somebody else" });
  const url = guarded.url.replace("//", "//:p%40ss@");
  await chain.mineEmpty(40);
  for (const rpcUrl of [url, `${refusing.url},${url}`]) {
    const database = await createTestDatabase();
    closing.push(database.drop);
    const indexer = startIndexer({ databaseUrl: database.url, rpcUrl });
    closing.push(indexer.stop);
    await indexer.waitUntilLive(await chain.head());
    await chain.mineEmpty(1);
    const { reason } = await indexer.waitUntilLive(await chain.head());
    expect(reason).toBeNull();
    await indexer.stop();
  }
}, 200_000);

test("a head whose logs a backend doesn't know yet is asked for again, though no other block comes", async () => {
  const chain = await startChain();
  closing.push(chain.stop);
  const emitter = await chain.deploy(compile("Emitter").Emitter);
  const random = createRandom(8);
  await chain.mineEmpty(40);
  const node = await startRpcProxy(chain.rpcUrl);
  closing.push(node.stop);
  const database = await createTestDatabase();
  closing.push(database.drop);
  const indexer = startIndexer({ databaseUrl: database.url, rpcUrl: node.url });
  closing.push(indexer.stop);
  await indexer.waitUntilLive(await chain.head());

  node.resetCounts();
  node.set({ lagsWithLogs: true });
  const logs = randomLogs(random, { accounts: chain.accounts, count: 5 });
  await chain.mine({ to: emitter, name: "write", args: [logs] });
  await expect.poll(() => node.counts().logsOfBlock, { timeout: 20_000 }).toBeGreaterThan(0);
  node.set({ lagsWithLogs: false });
  await indexer.waitUntilLive(await chain.head());
  expect(await readTables(database.url)).toEqual(await computeExpected(chain));
}, 200_000);

test("a chain whose blooms have every bit set is followed through blocks with and without logs", async () => {
  const chain = await startChain();
  closing.push(chain.stop);
  const emitter = await chain.deploy(compile("Emitter").Emitter);
  const random = createRandom(9);
  await chain.mineEmpty(40);
  const node = await startRpcProxy(chain.rpcUrl);
  closing.push(node.stop);
  node.set({ hasFullBlooms: true });
  const database = await createTestDatabase();
  closing.push(database.drop);
  const indexer = startIndexer({ databaseUrl: database.url, rpcUrl: node.url });
  closing.push(indexer.stop);
  await indexer.waitUntilLive(await chain.head());

  const logs = randomLogs(random, { accounts: chain.accounts, count: 5 });
  await chain.mine({ to: emitter, name: "write", args: [logs] });
  await chain.mineEmpty(2);
  await indexer.waitUntilLive(await chain.head());
  expect(await readTables(database.url)).toEqual(await computeExpected(chain));
}, 200_000);
