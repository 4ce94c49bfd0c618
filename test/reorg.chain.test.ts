import { setTimeout as sleep } from "node:timers/promises";
import type { Hex } from "viem";
import { beforeAll, describe, expect, test } from "vitest";
import { withConnection } from "../postgres/pool.ts";
import { abandonDeployments } from "../indexer/deployment.ts";
import { type Contract, startChain, type TestChain } from "./chain.ts";
import { startCommand } from "./command.ts";
import { createTestDatabase, type TestDatabase } from "./database.ts";
import { FINALITY } from "./finality.ts";
import { readFreshRows } from "./fresh-index.ts";
import { type Indexer, startIndexer } from "./indexer.ts";
import { computeExpected } from "./log-oracle.ts";
import { readAllRows, readTables } from "./onchain-tables.ts";
import { closeAfterAll } from "./opened.ts";
import { createRandom, randomLogs, randomPunkLogs } from "./random-logs.ts";
import { type RpcProxy, startRpcProxy } from "./rpc-proxy.ts";
import { compile } from "./solidity.ts";
import { startWorker } from "./worker.ts";

const { Emitter, Postcard } = compile("Emitter", "Postcard");
const { opened } = closeAfterAll();

// What has a chain of its own waits most of its time, beside the others; what has one in common goes one by one.
const ONE_BY_ONE = { concurrent: false };

/** For what connects each time that it asks. */
const SELDOM = { interval: 200 };

/** A chain with two contracts that write any logs, one of them known as a CryptoPunks market, and 40 blocks of history. */
async function startWorld(seed: number, { timestamp }: { timestamp?: number } = {}) {
  const chain = opened(await startChain({ timestamp }));
  const random = createRandom(seed);
  const tokens = await chain.deploy(Emitter);
  const market = await chain.deploy(Emitter);
  const mineRandom = async (blocks: number, emitters: Contract[] = [tokens]) => {
    for (let block = 0; block < blocks; block++) {
      const logs = randomLogs(random, { accounts: chain.accounts, count: 3 });
      const punkLogs = randomPunkLogs(random, { accounts: chain.accounts, count: 2 });
      await chain.mine(...emitters.map((to) => ({ to, name: "write", args: [logs] })), {
        to: market,
        name: "write",
        args: [punkLogs],
      });
    }
  };
  await mineRandom(8);
  await chain.mineEmpty(FINALITY + 2);
  const env = { CRYPTOPUNKS_ADDRESSES: market.address };
  const expected = () => computeExpected(chain, { punkMarkets: [market.address] });
  return { chain, mineRandom, env, expected };
}

/** Replaces the last `depth` blocks by others, and goes one further. */
async function reorganize(
  chain: TestChain,
  { depth, lose, win }: { depth: number; lose: () => Promise<void>; win: () => Promise<void> },
): Promise<{ lostAt: number; fork: () => Promise<void> }> {
  const before = await chain.head();
  const snapshot = await chain.request<Hex>("evm_snapshot");
  await lose();
  const lostAt = await chain.head();
  expect(lostAt - before).toBe(depth);
  return {
    lostAt,
    fork: async () => {
      await chain.request("evm_revert", snapshot);
      await win();
      expect(await chain.head()).toBeGreaterThan(lostAt);
    },
  };
}

const createDatabase = async () => opened(await createTestDatabase());

/** The schemas in which a Ponder writes. */
const listFollowed = (databaseUrl: string) =>
  withConnection(databaseUrl, async (sql) => {
    const rows = await sql<{ schema: string }[]>`
      select distinct replace(application_name, '_internal', '') as schema
      from pg_stat_activity
      where datname = current_database()
        and application_name like 'onchain\\_%\\_internal'
    `;
    return rows.map(({ schema }) => schema);
  });

describe.concurrent("of one chain, one after the other:", () => {
  let world: Awaited<ReturnType<typeof startWorld>>;
  let database: TestDatabase;
  let proxy: RpcProxy;
  let indexer: Indexer;
  const start = () => opened(startIndexer({ databaseUrl: database.url, rpcUrl: proxy.url, env: world.env }));

  /** The last block that is known to be final. */
  const readNoted = () =>
    withConnection(database.url, async (sql) => {
      const [row] = await sql`select max(finalized_block)::float8 as block from offchain.deployment`;
      return row!.block as number;
    });

  beforeAll(async () => {
    [world, database] = await Promise.all([startWorld(1), createDatabase()]);
    proxy = opened(await startRpcProxy(world.chain.rpcUrl));
    indexer = start();
    await indexer.waitUntilLive(await world.chain.head());
  });

  test.for([1, 2, 7, FINALITY - 1])(
    "a reorg of %d blocks leaves what the winning chain says",
    ONE_BY_ONE,
    async (depth) => {
      const { chain, mineRandom, expected } = world;
      const { lostAt, fork } = await reorganize(chain, {
        depth,
        lose: async () => {
          const busy = depth > 10 ? 6 : depth;
          await mineRandom(busy);
          if (depth > busy) {
            // A contract that never was, after all, and blocks in which nothing happened.
            const emitter = await chain.deploy(Emitter);
            await mineRandom(3, [emitter]);
            await chain.mineEmpty(depth - busy - 4);
          }
        },
        win: async () => {
          await mineRandom(Math.min(depth, 4));
          await chain.mineEmpty(depth + 2 - Math.min(depth, 4));
        },
      });
      await indexer.waitUntilLive(lostAt);
      const lost = await readTables(database.url);
      await fork();
      await indexer.waitUntilLive(await chain.head());
      const won = await expected();
      expect(await readTables(database.url)).toEqual(won);
      expect(lost).not.toEqual(won);
    },
  );

  test("a reorg waits for no reader, and no reader for it", ONE_BY_ONE, async () => {
    const { chain, mineRandom } = world;
    const { lostAt, fork } = await reorganize(chain, {
      depth: 2,
      lose: () => mineRandom(2),
      win: () => mineRandom(3),
    });
    await indexer.waitUntilLive(lostAt);
    const head = await withConnection(database.url, (sql) =>
      sql.begin(async (tx) => {
        await tx`select from onchain_mainnet.token_event limit 1`;
        await fork();
        await indexer.waitUntilLive(await chain.head());
        const [row] = await tx`select max(block_number)::int as block from onchain_mainnet.token_event`;
        return row!.block as number;
      }),
    );
    expect(head).toBe(await chain.head());
  });

  test("a node that is some blocks behind for a moment takes no rows away", ONE_BY_ONE, async ({ expect }) => {
    const { chain, mineRandom, expected } = world;
    await mineRandom(4);
    const head = await chain.head();
    await indexer.waitUntilLive(head);
    proxy.set({ head: head - 2 });
    proxy.resetCounts();
    // Long enough for some polls.
    await expect.poll(() => proxy.counts().head).toBeGreaterThan(6);
    const tables = await readTables(database.url);
    proxy.set({ head: undefined });
    expect(tables).toEqual(await expected());
    await mineRandom(1);
    await indexer.waitUntilLive(await chain.head());
    expect(await readTables(database.url)).toEqual(await expected());
  });

  test("a node that falls far behind and catches up leaves the tables right", ONE_BY_ONE, async () => {
    const { chain, mineRandom, expected } = world;
    await mineRandom(5);
    await chain.mineEmpty(FINALITY + 10);
    const head = await chain.head();
    await indexer.waitUntilLive(head);
    proxy.set({ head: head - FINALITY - 20 });
    // Long enough for some polls.
    await sleep(4_000);
    proxy.set({ head: undefined });
    await mineRandom(3);
    await indexer.waitUntilLive(await chain.head());
    expect(await readTables(database.url)).toEqual(await expected());
  });

  test(
    "a branch whose blocks no backend knows by their hashes, and then a reorg, leave what the winning chain says",
    ONE_BY_ONE,
    async ({ expect }) => {
      const { chain, mineRandom, expected } = world;
      const other = opened(await startChain());
      await other.request("anvil_loadState", await chain.request<Hex>("anvil_dumpState", true));
      await chain.mineEmpty(1);
      const snapshot = await chain.request<Hex>("evm_snapshot");
      await mineRandom(1);
      await indexer.waitUntilLive(await chain.head());

      // As high, and two blocks of it are others.
      await other.mineEmpty(2);
      proxy.resetCounts();
      proxy.set({ target: other.rpcUrl, lacksHashes: true });
      await expect.poll(() => proxy.counts().eth_getBlockByHash).toBeGreaterThan(0);

      await chain.request("evm_revert", snapshot);
      await chain.mineEmpty(2);
      proxy.set({ target: chain.rpcUrl, lacksHashes: false });
      await indexer.waitUntilLive(await chain.head());
      expect(await readTables(database.url)).toEqual(await expected());
    },
  );

  test("a reorg while the indexer is down is found at the next start", ONE_BY_ONE, async () => {
    const { chain, mineRandom, expected } = world;
    const { lostAt, fork } = await reorganize(chain, {
      depth: 20,
      lose: async () => {
        await mineRandom(6);
        await chain.mineEmpty(14);
      },
      win: async () => {
        await mineRandom(5);
        // So far that what lost would by now be final.
        await chain.mineEmpty(FINALITY + 20);
      },
    });
    await indexer.waitUntilLive(lostAt);
    await indexer.kill();
    await fork();
    indexer = start();
    await indexer.waitUntilLive(await chain.head());
    expect(await readTables(database.url)).toEqual(await expected());
  });

  test(
    "a chain that a reorg left shorter while the indexer is down is followed at the next start",
    ONE_BY_ONE,
    async () => {
      const { chain, mineRandom, expected } = world;
      await indexer.stop();
      const snapshot = await chain.request<Hex>("evm_snapshot");
      await mineRandom(6);
      // What is final is counted from this head.
      indexer = start();
      await indexer.waitUntilLive(await chain.head());
      await indexer.kill();
      await chain.request("evm_revert", snapshot);
      await mineRandom(2);
      indexer = start();
      await indexer.waitUntilLive(await chain.head());
      expect(await readTables(database.url)).toEqual(await expected());
    },
  );

  test("the tables are those of an index that never saw the blocks that lost", ONE_BY_ONE, async () => {
    const { chain, env } = world;
    const fresh = await readFreshRows({ rpcUrl: chain.rpcUrl, head: await chain.head(), env });
    expect(await readAllRows(database.url)).toEqual(fresh);
  });

  test(
    "a reorg deeper than what was final is built anew by itself, also by the next indexer",
    ONE_BY_ONE,
    async ({ expect }) => {
      const { chain, mineRandom, expected } = world;
      const { lostAt, fork } = await reorganize(chain, {
        depth: FINALITY * 3,
        // Nothing is kept of those that are final.
        lose: async () => {
          await chain.mineEmpty(FINALITY * 3 - 6);
          await mineRandom(6);
        },
        win: async () => {
          await mineRandom(9);
          await chain.mineEmpty(FINALITY * 3 - 4);
        },
      });
      await indexer.waitUntilLive(lostAt);
      await expect.poll(readNoted, SELDOM).toBeGreaterThan(lostAt - FINALITY * 3);
      const [old] = await listFollowed(database.url);
      expect(old).toBeDefined();
      await fork();
      const countDeployments = () =>
        withConnection(database.url, async (sql) => (await sql`select from offchain.deployment`).length);
      await expect.poll(countDeployments, SELDOM).toBe(2);
      await indexer.kill();
      await expect.poll(() => listFollowed(database.url), SELDOM).toEqual([]);

      indexer = start();
      const done = new AbortController();
      const watch = async () => {
        const seen = new Set<string>();
        for (; !done.signal.aborted; await sleep(200))
          for (const schema of await listFollowed(database.url)) seen.add(schema);
        return [...seen];
      };
      const followed = watch();
      const head = await chain.head();
      await indexer.waitUntil(({ indexed_block }) => indexed_block >= head);
      await indexer.waitUntilLive(head);
      done.abort();
      const schemas = await followed;
      expect(schemas).toHaveLength(1);
      expect(schemas).not.toContain(old);
      expect(await readTables(database.url)).toEqual(await expected());
    },
  );

  test("and one while the indexer is down, out of which it would go on", ONE_BY_ONE, async ({ expect }) => {
    const { chain, mineRandom, expected } = world;
    const { lostAt, fork } = await reorganize(chain, {
      depth: FINALITY * 3,
      lose: async () => {
        await mineRandom(6);
        await chain.mineEmpty(FINALITY * 3 - 6);
      },
      win: async () => {
        await mineRandom(9);
        await chain.mineEmpty(FINALITY * 3);
        // Final as soon as Ponder starts.
        await mineRandom(5);
        await chain.mineEmpty(FINALITY + 5);
      },
    });
    await indexer.waitUntilLive(lostAt);
    await expect.poll(readNoted, SELDOM).toBeGreaterThan(lostAt - FINALITY * 3 + 6);
    await indexer.kill();
    await fork();
    indexer = start();
    await indexer.waitUntilLive(await chain.head());
    expect(await readTables(database.url)).toEqual(await expected());
  });

  /** The configuration changes with the first of them. */
  const startAnew = ({ chain, env }: typeof world) =>
    opened(
      startIndexer({ databaseUrl: database.url, rpcUrl: chain.rpcUrl, env: { ...env, MAINNET_START_BLOCK: "1" } }),
    );

  test(
    "a chain that began anew under the same id is indexed anew, also with another configuration",
    ONE_BY_ONE,
    async () => {
      // Ponder keeps that these blocks said nothing: more of them than the other chain has.
      await world.chain.mineEmpty(FINALITY * 3);
      await indexer.waitUntilLive(await world.chain.head());
      await indexer.stop();
      const other = await startWorld(5, { timestamp: 1_720_000_000 });
      const next = startAnew(other);
      await next.waitUntilLive(await other.chain.head());
      await next.stop();
      expect(await readTables(database.url)).toEqual(await other.expected());
    },
  );

  test("and once more with the same", ONE_BY_ONE, async () => {
    const other = await startWorld(4, { timestamp: 1_710_000_000 });
    await other.mineRandom(3);
    const next = startAnew(other);
    await next.waitUntilLive(await other.chain.head());
    await next.stop();
    expect(await readTables(database.url)).toEqual(await other.expected());
    const deployments = await withConnection(database.url, (sql) => sql`select schema_name from offchain.deployment`);
    expect(deployments).toHaveLength(1);
  });
});

test.concurrent("a chain that begins anew beside the indexer is indexed anew, and once only", async ({ expect }) => {
  const [before, after, database] = await Promise.all([
    startWorld(7),
    startWorld(8, { timestamp: 1_730_000_000 }),
    createDatabase(),
  ]);
  // The other chain is too short for any block that was final.
  await before.chain.mineEmpty(FINALITY * 3);
  const node = opened(await startRpcProxy(before.chain.rpcUrl));
  const start = () => opened(startIndexer({ databaseUrl: database.url, rpcUrl: node.url, env: before.env }));
  const indexer = start();
  await indexer.waitUntilLive(await before.chain.head());
  node.set({ target: after.chain.rpcUrl });
  const head = await after.chain.head();
  await indexer.waitUntil(({ state, indexed_block }) => state === "live" && indexed_block === head);
  expect(await readTables(database.url)).toEqual(await after.expected());

  const built = await listFollowed(database.url);
  await indexer.stop();
  const next = start();
  await next.waitUntilLive(head);
  expect(await listFollowed(database.url)).toEqual(built);
});

test.concurrent("a chain that is set back below what was final is told, and rebuilt as it is by the command that is named", async ({
  expect,
}) => {
  const [{ chain, mineRandom, env, expected }, database] = await Promise.all([startWorld(13), createDatabase()]);
  const snapshot = await chain.request<Hex>("evm_snapshot");
  await mineRandom(6);
  await chain.mineEmpty(FINALITY * 2);
  const indexer = opened(startIndexer({ databaseUrl: database.url, rpcUrl: chain.rpcUrl, env }));
  await indexer.waitUntilLive(await chain.head());
  await chain.request("evm_revert", snapshot);
  await mineRandom(3);
  const head = await chain.head();
  const { reason } = await indexer.waitUntil(({ state }) => state === "stalled");
  expect(reason).toMatch(`The chain is at block ${head}, and block`);
  expect(reason).toMatch("npm run rebuild -- --refetch");
  const settings = { ...env, DATABASE_URL: database.url, MAINNET_RPC_URL: chain.rpcUrl };
  expect(await opened(startCommand("rebuild", { env: settings, args: ["--refetch"] })).ended).toBe(0);
  await mineRandom(2);
  await indexer.waitUntilLive(await chain.head());
  expect(await readTables(database.url)).toEqual(await expected());
});

test.concurrent("what another version has noticed of a reorg of final blocks counts for this one", async ({
  expect,
}) => {
  const [{ chain, mineRandom, env, expected }, database] = await Promise.all([startWorld(9), createDatabase()]);
  const { fork } = await reorganize(chain, {
    depth: FINALITY * 2,
    lose: async () => {
      await mineRandom(6);
      await chain.mineEmpty(FINALITY * 2 - 6);
    },
    win: async () => {
      await mineRandom(9);
      await chain.mineEmpty(FINALITY * 2);
    },
  });
  const indexer = opened(startIndexer({ databaseUrl: database.url, rpcUrl: chain.rpcUrl, env }));
  await indexer.waitUntilLive(await chain.head());
  await fork();
  await withConnection(database.url, (sql) => abandonDeployments(sql, { chainId: 31_337, genesisHash: "" }));
  const listPublished = () =>
    withConnection(database.url, async (sql) => {
      const rows = await sql<{ generation: number }[]>`
        select generation
        from offchain.deployment
        where published_at is not null
      `;
      return rows.map(({ generation }) => generation);
    });
  await expect.poll(listPublished, SELDOM).toEqual([2]);
  await indexer.waitUntilLive(await chain.head());
  expect(await readTables(database.url)).toEqual(await expected());
});

test.concurrent("the last block that is wanted is followed until it is final, and none after it is indexed", async ({
  expect,
}) => {
  const [{ chain, mineRandom, env, expected }, database] = await Promise.all([startWorld(6), createDatabase()]);
  const endBlock = (await chain.head()) + 2;
  const indexer = opened(
    startIndexer({
      databaseUrl: database.url,
      rpcUrl: chain.rpcUrl,
      env: { ...env, MAINNET_END_BLOCK: String(endBlock) },
    }),
  );
  await indexer.waitUntilLive(await chain.head());
  const snapshot = await chain.request<Hex>("evm_snapshot");
  await mineRandom(2);
  await indexer.waitUntilLive(endBlock);
  // Ponder asks for the head twice a second.
  await sleep(1_000);
  await chain.request("evm_revert", snapshot);
  await mineRandom(2);
  const won = await expected();
  await mineRandom(1);
  await expect.poll(() => readTables(database.url), SELDOM).toEqual(won);

  await chain.mineEmpty(FINALITY * 2);
  const { state, indexed_block } = await indexer.waitUntil(({ finalized_block }) => finalized_block >= endBlock);
  expect({ state, indexed_block }).toEqual({ state: "live", indexed_block: endBlock });
  await indexer.stop();
  expect(await readTables(database.url)).toEqual(won);
});

test.concurrent("tokens and contracts of the winning chain have its documents, and those that it lacks go once it is final", async ({
  expect,
}) => {
  const [chain, database] = await Promise.all([startChain(), createDatabase()]);
  opened(chain);
  const cards = await chain.deploy(Postcard, "Cards", "CARD", "");
  await chain.mineEmpty(FINALITY + 2);
  const indexer = opened(startIndexer({ databaseUrl: database.url, rpcUrl: chain.rpcUrl }));
  const worker = opened(await startWorker({ databaseUrl: database.url, rpcUrl: chain.rpcUrl }));
  const mint = (...names: string[]) => {
    const uris = names.map((name) => `data:application/json,{"name":"${name}"}`);
    return chain.mine({ to: cards, name: "mint", args: [chain.accounts[0], 1, uris] });
  };
  const readNames = () =>
    withConnection(database.url, async (sql) => {
      // The blocks before are looked at again once a minute: now, for the test.
      await sql`update offchain.token_watermark set rechecked_at = 'epoch'`;
      const rows =
        await sql`select normalized::json ->> 'name' as name from offchain.token_metadata order by contract_address, token_id`;
      return rows.map(({ name }) => name as string);
    });
  const readContracts = () =>
    withConnection(database.url, async (sql) => {
      const rows = await sql`select name, symbol, description from offchain.contract_metadata order by name`;
      return rows.map(({ name, symbol, description }) => [name, symbol, description] as string[]);
    });
  /** Another contract each time at the same address, which follows from how many transactions came before. */
  const deploySecond = async (name: string) => {
    const second = await chain.deploy(Postcard, name, `${name}S`, `data:application/json,{"description":"of ${name}"}`);
    await chain.mine({
      to: second,
      name: "mint",
      args: [chain.accounts[0], 1, [`data:application/json,{"name":"${name}"}`]],
    });
    return second.address;
  };
  await indexer.waitUntilLive(await chain.head());
  let lostAddress = "";
  const { fork } = await reorganize(chain, {
    depth: 3,
    lose: async () => {
      lostAddress = await deploySecond("LOSER");
      await mint("lost", "same", "lost too", "never");
      await expect.poll(readNames, SELDOM).toEqual(["lost", "same", "lost too", "never", "LOSER"]);
      await expect.poll(readContracts, SELDOM).toEqual([
        ["Cards", "CARD", ""],
        ["LOSER", "LOSERS", "of LOSER"],
      ]);
    },
    win: async () => {
      expect(await deploySecond("WINNER")).toBe(lostAddress);
      await mint("won", "same", "new");
      await chain.mineEmpty(2);
    },
  });
  await fork();
  await expect.poll(readNames, SELDOM).toEqual(["won", "same", "new", "never", "WINNER"]);
  await expect.poll(readContracts, SELDOM).toEqual([
    ["Cards", "CARD", ""],
    ["WINNER", "WINNERS", "of WINNER"],
  ]);
  // Ponder goes from one final block to another that far ahead.
  await chain.mineEmpty(FINALITY * 2);
  await expect.poll(readNames, SELDOM).toEqual(["won", "same", "new", "WINNER"]);
  const [count] = await withConnection(
    database.url,
    (sql) => sql`select sum(tokens)::int as tokens, sum(fetched)::int as fetched from offchain.metadata_count`,
  );
  expect(count).toEqual({ tokens: 4, fetched: 4 });
  await Promise.all([worker.stop(), indexer.stop()]);
});
