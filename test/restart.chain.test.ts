import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import postgres from "postgres";
import { expect, inject, test } from "vitest";
import { withConnection } from "../postgres/pool.ts";
import { startChain } from "./chain.ts";
import { createEmptyDatabase } from "./database.ts";
import { type Indexer, startIndexer, WAIT_TIMEOUT_MS } from "./indexer.ts";
import { closeAfterAll } from "./opened.ts";
import { listChildren } from "./process.ts";
import { startRpcProxy } from "./rpc-proxy.ts";
import { compile } from "./solidity.ts";

const { closing, opened } = closeAfterAll();

/** What readers are told and what they find, at one moment. */
type Look = { state: string; indexed_block: number; found_block: number };

test("a restart of the indexer, or of its Ponder alone, is told before readers notice it", async () => {
  const chain = opened(await startChain());
  const deed = await chain.deploy(compile("Deed").Deed);
  // A log in each block: the last one in the tables says how far they go.
  const mineTokens = async (count: number) => {
    for (let mined = 0; mined < count; mined++)
      await chain.mine({ to: deed, name: "mint", args: [chain.accounts[0], await chain.head()] });
  };
  await mineTokens(50);
  const database = opened(await createEmptyDatabase());
  const start = () => opened(startIndexer({ databaseUrl: database.url, rpcUrl: chain.rpcUrl }));
  const first = start();
  await first.waitUntilLive(await chain.head());

  /** Looks until it is live at a head that it hasn't seen yet; what was seen, in order. */
  const follow = async (): Promise<Look[]> => {
    const head = await chain.head();
    const looks: Look[] = [];
    await withConnection(database.url, async (sql) => {
      while (looks.at(-1)?.state !== "live" || looks.at(-1)?.indexed_block !== head) {
        const [look] = await sql<Look[]>`
          select
            state,
            indexed_block::float8,
            (select max(block_number) from onchain_mainnet.token_event)::float8 as found_block
          from offchain.network
        `;
        if (!isDeepStrictEqual(look, looks.at(-1))) looks.push(look!);
        await sleep(20);
      }
    });
    return looks;
  };
  const expectTold = async (looks: Look[], indexer: Indexer) => {
    const head = await chain.head();
    const missing = await withConnection(database.url, async (sql) => {
      const rows = await sql<{ number: number }[]>`
        select number
        from generate_series(2, ${head}::int) number
        where not exists (select from onchain_mainnet.token_event where block_number = number)
      `;
      return rows.map(({ number }) => number);
    });
    const seen = `seen: ${JSON.stringify(looks)}\nprinted: ${indexer.output()}`;
    expect(missing, seen).toEqual([]);
    const untrue = looks.filter(({ indexed_block, found_block }) => indexed_block > found_block);
    expect(untrue, seen).toEqual([]);
    // Which is what it is about.
    expect(Math.min(...looks.map(({ found_block }) => found_block)), seen).toBeLessThan(head - 20);
    expect(looks.at(-1), seen).toEqual({ state: "live", indexed_block: head, found_block: head });
  };

  await first.stop();
  await mineTokens(1);
  const second = start();
  await expectTold(await follow(), second);

  for (const child of listChildren(second.pid)) process.kill(child, "SIGKILL");
  await mineTokens(1);
  await expectTold(await follow(), second);
});

test("Ponder starts again at once though another one like it runs on another database of the server", async () => {
  const chain = opened(await startChain());
  const [database, other] = [await createEmptyDatabase(), await createEmptyDatabase()];
  closing.push(database.drop, other.drop);
  const indexer = opened(
    startIndexer({ databaseUrl: database.url, rpcUrl: chain.rpcUrl, env: { LOG_LEVEL: "debug" } }),
  );
  await indexer.waitUntilLive(await chain.head());
  const name = await withConnection(database.url, async (sql) => {
    const [deployment] = await sql<{ schema_name: string }[]>`select schema_name from offchain.deployment`;
    return `${deployment!.schema_name}_internal`;
  });
  const session = postgres(other.url, { max: 1, connection: { application_name: name } });
  closing.push(() => session.end());
  await session`select`;

  for (const child of listChildren(indexer.pid)) process.kill(child, "SIGKILL");
  await indexer.waitUntil(({ state }) => state !== "live");
  await chain.mineEmpty(1);
  await indexer.waitUntilLive(await chain.head());
  // Ponder says so before it waits for the mark of the killed one to be old.
  expect(indexer.output()).not.toContain("Schema is locked");
});

test("the last final block isn't taken for indexed before its logs are there", async () => {
  const chain = opened(await startChain());
  const node = opened(await startRpcProxy(chain.rpcUrl));
  const deed = await chain.deploy(compile("Deed").Deed);
  const mintOne = async () => chain.mine({ to: deed, name: "mint", args: [chain.accounts[0], await chain.head()] });
  for (let minted = 0; minted < 40; minted++) await mintOne();
  const database = opened(await createEmptyDatabase());
  const start = () => opened(startIndexer({ databaseUrl: database.url, rpcUrl: node.url }));
  // The second start finds a block that is final since the first one, and keeps its logs.
  let lastFinal = 0;
  for (let started = 0; started < 2; started++) {
    const indexer = start();
    lastFinal = (await indexer.waitUntilLive(await chain.head())).finalized_block;
    await indexer.stop();
    await mintOne();
  }

  // The third one has those, and the logs of the block that is final since then it can't have.
  node.set({ headOfLogs: lastFinal });
  node.resetCounts();
  const stuck = start();
  await expect.poll(() => node.logFilters().length, { timeout: WAIT_TIMEOUT_MS }).toBeGreaterThan(0);
  // Until what it has could be in the tables.
  await sleep(3000);
  await stuck.kill();
  node.set({ headOfLogs: undefined });

  await start().waitUntilLive(await chain.head());
  const tokens = await withConnection(database.url, (sql) => sql`select from onchain_mainnet.token`);
  expect(tokens).toHaveLength(42);
});

test("the numbers that Ponder gives to changes of rows don't end", async () => {
  const chain = opened(await startChain());
  const deed = await chain.deploy(compile("Deed").Deed);
  const mint = async () => chain.mine({ to: deed, name: "mint", args: [chain.accounts[0], await chain.head()] });
  await mint();
  const database = opened(await createEmptyDatabase());
  const indexer = opened(startIndexer({ databaseUrl: database.url, rpcUrl: chain.rpcUrl }));
  await indexer.waitUntilLive(await chain.head());

  const lastNumber = () =>
    withConnection(database.url, async (sql) => {
      const [sequence] = await sql<{ name: string; number: number }[]>`
        select
          format('%I.%I', schemaname, sequencename) as name,
          last_value::float8 as number
        from pg_sequences
        where sequencename = 'operation_id'
      `;
      return sequence!;
    });
  await mint();
  await indexer.waitUntilLive(await chain.head());
  const { name } = await lastNumber();
  await withConnection(database.url, (sql) => sql`select setval(${name}::regclass, ${2 ** 31 - 2})`);
  for (let mined = 0; mined < 3; mined++) await mint();
  await indexer.waitUntilLive(await chain.head());
  expect((await lastNumber()).number).toBeGreaterThan(2 ** 31);
  const tokens = await withConnection(database.url, (sql) => sql`select from onchain_mainnet.token`);
  expect(tokens).toHaveLength(5);
});

test("a database that takes no connections is told once, and gone on with when it does", async () => {
  const chain = opened(await startChain());
  const database = opened(await createEmptyDatabase());
  const indexer = opened(startIndexer({ databaseUrl: database.url, rpcUrl: chain.rpcUrl }));
  await indexer.waitUntilLive(await chain.head());

  await withConnection(inject("postgresUrl"), async (sql) => {
    const allow = (isAllowed: boolean) =>
      sql`alter database ${sql(database.name)} with allow_connections ${sql.unsafe(String(isAllowed))}`;
    await allow(false);
    await sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${database.name}`;
    const countTold = () => indexer.output().match(/ not currently accepting connections\. Tries again$/gm)?.length;
    await expect.poll(countTold, { timeout: WAIT_TIMEOUT_MS }).toBe(1);
    // It tries once a second, as soon as Ponder has ended.
    await sleep(8_000);
    expect(countTold()).toBe(1);
    await allow(true);
  });
  await chain.mineEmpty(1);
  await indexer.waitUntilLive(await chain.head());
});
