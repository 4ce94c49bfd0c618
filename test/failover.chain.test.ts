import { setTimeout as sleep } from "node:timers/promises";
import { type Hex, numberToHex } from "viem";
import { beforeAll, describe, expect, test } from "vitest";
import { startChain } from "./chain.ts";
import { createTestDatabase } from "./database.ts";
import { startIndexer } from "./indexer.ts";
import { computeExpected } from "./log-oracle.ts";
import { readTables } from "./onchain-tables.ts";
import { closeAfterAll } from "./opened.ts";
import { createRandom, randomLogs } from "./random-logs.ts";
import { type RpcProxy, startRpcProxy } from "./rpc-proxy.ts";
import { compile } from "./solidity.ts";

const { opened } = closeAfterAll();

// What has an indexer in common goes one by one. Others may begin meanwhile: what is polled wants its own test's `expect`.
const ONE_BY_ONE = { concurrent: false };

/** A chain with a contract that writes any logs, and nodes of it. */
async function startWorld(seed: number) {
  const chain = opened(await startChain());
  const emitter = await chain.deploy(compile("Emitter").Emitter);
  const random = createRandom(seed);
  const write = () => ({
    to: emitter,
    name: "write",
    args: [randomLogs(random, { accounts: chain.accounts, count: 5 })],
  });
  const mineLogs = async (transactions = 1) => chain.mine(...Array.from({ length: transactions }, write));
  const startNode = async (of = chain) => opened(await startRpcProxy(of.rpcUrl));
  return { chain, mineLogs, startNode };
}

/** An indexer on a database of its own. */
async function follow(...rpcUrls: string[]) {
  const database = opened(await createTestDatabase());
  return { database, indexer: opened(startIndexer({ databaseUrl: database.url, rpcUrl: rpcUrls.join(",") })) };
}

// All wait most of their time, beside each other; first what waits longest.
test.concurrent("what Ponder or history can't take of a node is the reason that the network stalls", async ({
  expect,
}) => {
  const { chain, mineLogs, startNode } = await startWorld(11);
  for (let block = 0; block < 5; block++) await mineLogs();
  await chain.mineEmpty(40);
  await mineLogs();
  const cases = [
    [{ lagsWithLogs: true }, { lagsWithLogs: false }, "up to which logs are wanted, isn't there yet", 1],
    [{ hasNoLogs: true }, { hasNoLogs: false }, "It answers null.", 0],
    [{ isPruned: true }, { isPruned: false }, "It has no logs of blocks", 0],
  ] as const;
  await Promise.all(
    cases.map(async ([bad, good, words, firstBlock]) => {
      const node = await startNode();
      node.set(bad);
      const { indexer } = await follow(node.url);
      // The minute begins when it comes no further.
      await indexer.waitUntil(({ indexed_block }) => indexed_block >= firstBlock);
      const { reason, eta_seconds } = await indexer.waitUntil(({ state }) => state === "stalled");
      expect(reason).toContain(words);
      expect(eta_seconds).toBeNull();

      node.set(good);
      const healed = await indexer.waitUntilLive(await chain.head());
      expect(healed.reason).toBeNull();
      await indexer.stop();
    }),
  );
});

describe.concurrent("of three nodes, one of which is of another, longer chain and down at the start,", () => {
  let world: Awaited<ReturnType<typeof startWorld>>;
  let nodes: [RpcProxy, RpcProxy, RpcProxy];
  let followed: Awaited<ReturnType<typeof follow>>;

  beforeAll(async () => {
    world = await startWorld(7);
    const { chain, mineLogs, startNode } = world;
    const other = opened(await startChain({ chainId: 31_338, timestamp: 1_500_000_000 }));
    for (let block = 0; block < 5; block++) await mineLogs();
    await chain.mineEmpty(35);
    await other.mineEmpty(200);
    nodes = [await startNode(), await startNode(), await startNode(other)];
    nodes[2].set({ isDown: true });
    followed = await follow(...nodes.map(({ url }) => url));
    await followed.indexer.waitUntilLive(await chain.head());
  });

  test("either of the others may go away and come back while blocks are mined", ONE_BY_ONE, async () => {
    const { chain, mineLogs } = world;
    const { database, indexer } = followed;
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
  });

  test("that one isn't asked when it is there, not even while no other answers", ONE_BY_ONE, async ({ expect }) => {
    const { chain, mineLogs } = world;
    const { database, indexer } = followed;
    const [first, second, foreign] = nodes;
    foreign.resetCounts();
    for (const node of [first, second]) node.set({ isDown: true });
    foreign.set({ isDown: false });
    await expect.poll(() => foreign.counts().eth_chainId).toBeGreaterThan(0);
    // All who want to know the head have asked for it by then.
    await sleep(5000);
    for (const node of [first, second]) node.set({ isDown: false });
    for (let block = 0; block < 20; block++) {
      await mineLogs();
      await sleep(200);
    }
    await indexer.waitUntilLive(await chain.head());
    expect(await readTables(database.url)).toEqual(await computeExpected(chain));
    expect(Object.keys(foreign.counts())).toEqual(["eth_chainId"]);
    const { host } = new URL(foreign.url);
    expect(indexer.output().split(`MAINNET_RPC_URL ${host} answers for chain 31338. Expected 31337`)).toHaveLength(2);
    await indexer.stop();
  });
});

test.concurrent("a node that is silent, or far behind, doesn't hold up what the other one knows", async ({
  expect,
}) => {
  const { chain, mineLogs, startNode } = await startWorld(10);
  await mineLogs();
  await chain.mineEmpty(60);
  for (let block = 0; block < 5; block++) await mineLogs();
  const nodes = [await startNode(), await startNode()] as const;
  const rpcUrl = nodes.map(({ url }) => url).join(",");
  for (const behaviour of [{ isSilent: true }, { isSilent: false, head: 2 }]) {
    nodes[0].set(behaviour);
    const { database, indexer } = await follow(rpcUrl);
    await indexer.waitUntilLive(await chain.head());
    await mineLogs();
    await indexer.waitUntilLive(await chain.head());
    expect(await readTables(database.url)).toEqual(await computeExpected(chain));
    await indexer.stop();
  }
});

test.concurrent("logs of a new block that one of two nodes leaves out are the other one's", async ({ expect }) => {
  const { chain, mineLogs, startNode } = await startWorld(14);
  const nodes = [await startNode(), await startNode()] as const;
  nodes[0].set({ bendsLogs: (logs) => logs.toSpliced(1, 1) });
  await mineLogs();
  await chain.mineEmpty(40);
  const { database, indexer } = await follow(...nodes.map(({ url }) => url));
  await indexer.waitUntilLive(await chain.head());
  // Whoever is asked first.
  for (let block = 0; block < 6; block++) {
    await mineLogs();
    await indexer.waitUntilLive(await chain.head());
  }
  expect(await readTables(database.url)).toEqual(await computeExpected(chain));
  await indexer.stop();
});

test.concurrent("a node that wants a password is followed, alone and beside one that refuses ours", async ({
  expect,
}) => {
  const { chain, startNode } = await startWorld(13);
  const nodes = [await startNode(), await startNode()] as const;
  const [guarded, refusing] = nodes;
  guarded.set({ authorization: `Basic ${Buffer.from(":p@ss").toString("base64")}` });
  refusing.set({ authorization: "Basic of somebody else" });
  const url = guarded.url.replace("//", "//:p%40ss@");
  await chain.mineEmpty(40);
  for (const rpcUrl of [url, `${refusing.url},${url}`]) {
    const { indexer } = await follow(rpcUrl);
    await indexer.waitUntilLive(await chain.head());
    await chain.mineEmpty(1);
    const { reason } = await indexer.waitUntilLive(await chain.head());
    expect(reason).toBeNull();
    await indexer.stop();
  }
});

describe.concurrent("a node alone", () => {
  let world: Awaited<ReturnType<typeof startWorld>>;
  let node: RpcProxy;
  let followed: Awaited<ReturnType<typeof follow>>;

  beforeAll(async () => {
    world = await startWorld(9);
    const { chain, mineLogs, startNode } = world;
    await mineLogs();
    await chain.mineEmpty(40);
    node = await startNode();
    node.set({ blooms: "full" });
    followed = await follow(node.url);
    await followed.indexer.waitUntilLive(await chain.head());
  });

  test("whose blooms say nothing is followed through blocks with and without logs", ONE_BY_ONE, async () => {
    const { chain, mineLogs } = world;
    const { database, indexer } = followed;
    for (const blooms of ["full", "null"] as const) {
      node.set({ blooms });
      await mineLogs();
      await chain.mineEmpty(2);
      await indexer.waitUntilLive(await chain.head());
    }
    expect(await readTables(database.url)).toEqual(await computeExpected(chain));
  });

  test("whose blooms lack logs is asked for those of every block", ONE_BY_ONE, async () => {
    const { chain, mineLogs } = world;
    const { database, indexer } = followed;
    // As where logs that the node makes up itself are in no bloom, and another contract's are.
    node.set({ blooms: "right", bendsBlock: (block) => ({ ...block, logsBloom: `0x${"0".repeat(511)}1` }) });
    await mineLogs();
    await chain.mineEmpty(1);
    await indexer.waitUntilLive(await chain.head());
    expect(await readTables(database.url)).toEqual(await computeExpected(chain));
  });

  test(
    "whose bloom of a block without transactions isn't empty is believed that it has no logs",
    ONE_BY_ONE,
    async () => {
      const { chain, mineLogs } = world;
      const { database, indexer } = followed;
      node.set({ bendsBlock: (block) => ({ ...block, logsBloom: `0xe${"f".repeat(511)}` }) });
      await chain.mineEmpty(1);
      await mineLogs();
      await indexer.waitUntilLive(await chain.head());
      node.set({ bendsBlock: undefined });
      expect(await readTables(database.url)).toEqual(await computeExpected(chain));
    },
  );

  test("whose blocks leave out the transactions of the chain itself has their logs", ONE_BY_ONE, async () => {
    const { chain, mineLogs } = world;
    const { database, indexer } = followed;
    node.set({ bendsBlock: (block) => ({ ...block, transactions: block.transactions.slice(1) }) });
    for (const transactions of [1, 2]) await mineLogs(transactions);
    await indexer.waitUntilLive(await chain.head());
    node.set({ bendsBlock: undefined });
    // Until Ponder keeps them as final.
    await mineLogs();
    await chain.mineEmpty(70);
    await indexer.waitUntilLive(await chain.head());
    expect(await readTables(database.url)).toEqual(await computeExpected(chain));
  });

  test(
    "of whose head a backend doesn't know the logs yet is asked for them again, though no other block comes",
    ONE_BY_ONE,
    async ({ expect }) => {
      const { chain, mineLogs } = world;
      const { database, indexer } = followed;
      node.set({ blooms: "right" });
      await mineLogs();
      await indexer.waitUntilLive(await chain.head());

      node.resetCounts();
      node.set({ lagsWithLogs: true });
      await mineLogs();
      await expect.poll(() => node.counts().logsOfBlock).toBeGreaterThan(0);
      node.set({ lagsWithLogs: false });
      await indexer.waitUntilLive(await chain.head());
      expect(await readTables(database.url)).toEqual(await computeExpected(chain));
    },
  );

  test(
    "whose backend for logs lags while Ponder catches up is asked until it has them",
    ONE_BY_ONE,
    async ({ expect }) => {
      const { chain, mineLogs } = world;
      const { database } = followed;
      await followed.indexer.stop();
      const headOfLogs = await chain.head();
      for (let block = 0; block < 5; block++) await mineLogs();
      await chain.mineEmpty(40);
      node.set({ headOfLogs });
      node.resetCounts();
      followed.indexer = opened(startIndexer({ databaseUrl: database.url, rpcUrl: node.url }));
      const isAsked = () => node.logFilters().some(({ toBlock }) => Number(toBlock) > headOfLogs);
      await expect.poll(isAsked).toBe(true);
      // Until what it says could be taken.
      await sleep(3000);
      node.set({ headOfLogs: undefined });
      await followed.indexer.waitUntilLive(await chain.head());
      expect(await readTables(database.url)).toEqual(await computeExpected(chain));
    },
  );

  test("that refuses ranges in words that Ponder doesn't know is asked for shorter ones", ONE_BY_ONE, async () => {
    const { chain, mineLogs } = world;
    const { database } = followed;
    await followed.indexer.stop();
    for (let block = 0; block < 5; block++) await mineLogs();
    await chain.mineEmpty(60);
    // Less than Ponder begins with.
    node.set({ maxBlocks: 20 });
    followed.indexer = opened(startIndexer({ databaseUrl: database.url, rpcUrl: node.url }));
    await followed.indexer.waitUntilLive(await chain.head());
    node.set({ maxBlocks: Infinity });
    expect(await readTables(database.url)).toEqual(await computeExpected(chain));
  });

  test(
    "of whose blocks one is gone before its logs are asked for is soon followed again",
    ONE_BY_ONE,
    async ({ expect }) => {
      const { chain, mineLogs } = world;
      const { database, indexer } = followed;
      const head = await chain.head();
      const snapshot = await chain.request<Hex>("evm_snapshot");
      // So that Ponder finds all of them at once.
      node.set({ head });
      for (let block = 0; block < 3; block++) await mineLogs();
      const { hash } = await chain.request<{ hash: Hex }>("eth_getBlockByNumber", numberToHex(head + 1), false);
      node.resetCounts();
      node.set({ head: undefined, lacksLogsOf: [hash] });
      await expect.poll(() => node.counts().logsOfBlock).toBeGreaterThan(3);
      await chain.request("evm_revert", snapshot);
      for (let block = 0; block < 4; block++) await mineLogs();
      const forkedAt = performance.now();
      await indexer.waitUntilLive(await chain.head());
      // All retries take 64 s.
      expect(performance.now() - forkedAt).toBeLessThan(45_000);
      expect(await readTables(database.url)).toEqual(await computeExpected(chain));
    },
  );

  test("that answers for another chain is named, and followed again when it answers for ours", ONE_BY_ONE, async () => {
    const { chain, mineLogs } = world;
    const { database, indexer } = followed;
    const other = opened(await startChain({ chainId: 31_338, timestamp: 1_500_000_000 }));
    await other.mineEmpty(200);
    node.set({ target: other.rpcUrl });
    const problem = `${new URL(node.url).host} answers for chain 31338. Expected 31337`;
    const { state } = await indexer.waitUntil(({ reason }) => reason === problem);
    expect(state).toBe("stalled");
    node.set({ target: chain.rpcUrl });
    await mineLogs();
    const status = await indexer.waitUntilLive(await chain.head());
    expect(status.reason).toBeNull();
    expect(await readTables(database.url)).toEqual(await computeExpected(chain));
    await indexer.stop();
  });
});
