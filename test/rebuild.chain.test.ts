import { setTimeout as sleep } from "node:timers/promises";
import postgres from "postgres";
import type { Hex } from "viem";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { withConnection } from "../postgres/pool.ts";
import { startChain } from "./chain.ts";
import { type Command, startCommand } from "./command.ts";
import { createTestDatabase } from "./database.ts";
import { FINALITY } from "./finality.ts";
import { type Indexer, startIndexer, WAIT_TIMEOUT_MS } from "./indexer.ts";
import { computeExpected } from "./log-oracle.ts";
import { readAllRows, readTables } from "./onchain-tables.ts";
import { closeAfterAll } from "./opened.ts";
import { createRandom, randomLogs } from "./random-logs.ts";
import { startRpcProxy } from "./rpc-proxy.ts";
import { compile } from "./solidity.ts";

const BLOCKS = 12;
/** Between two reads, so that readers leave the cores to what they watch. */
const READ_PAUSE_MS = 2;

const { opened } = closeAfterAll();

/** All tests have it in common, one after the other. */
let w: Awaited<ReturnType<typeof startWorld>>;
beforeAll(async () => {
  w = await startWorld();
});

/** A chain whose two contracts write any logs, and an index of it that an indexer built and left. */
async function startWorld() {
  const [chain, database] = await Promise.all([startChain(), createTestDatabase()]);
  opened(chain);
  opened(database);
  const proxy = opened(await startRpcProxy(chain.rpcUrl));
  const { Emitter } = compile("Emitter");
  const emitters = [await chain.deploy(Emitter), await chain.deploy(Emitter)];
  const random = createRandom(7);

  async function mineRandom(blocks: number): Promise<void> {
    for (let block = 0; block < blocks; block++) {
      const logs = () => randomLogs(random, { accounts: chain.accounts, count: 10 });
      await chain.mine(...emitters.map((to) => ({ to, name: "write", args: [logs()] })));
    }
  }

  function start(env: Record<string, string> = {}): Indexer {
    return opened(startIndexer({ databaseUrl: database.url, rpcUrl: proxy.url, env }));
  }

  /** Starts an indexer, which is stopped once it has come to the head. */
  async function catchUp(env: Record<string, string> = {}): Promise<void> {
    const indexer = start(env);
    await indexer.waitUntilLive(await chain.head());
    // The tables of before go at the indexer's next steps.
    await vi.waitFor(listSchemas, { timeout: WAIT_TIMEOUT_MS });
    await indexer.stop();
  }

  function beginRebuild({ rpcUrl = proxy.url, args = [] }: { rpcUrl?: string; args?: string[] } = {}): Command {
    const env = { DATABASE_URL: database.url, MAINNET_RPC_URL: rpcUrl };
    return opened(startCommand("rebuild", { env, args }));
  }

  /** Runs `npm run rebuild` to its end. @throws Error with what it printed where it fails */
  async function rebuild(...args: string[]): Promise<Command> {
    const command = beginRebuild({ args });
    const code = await command.ended;
    if (code !== 0) throw new Error(`The rebuild ended with ${code}:\n${command.output()}`);
    return command;
  }

  /** Reads as the API does, all the time and on several connections, until `work` is done. Every count of events seen. */
  async function watchReaders(work: () => Promise<unknown>): Promise<number[]> {
    const sql = postgres(database.url, { max: 3, onnotice: () => {} });
    const done = new AbortController();
    const read = async () => {
      const counts: number[] = [];
      for (; !done.signal.aborted; await sleep(READ_PAUSE_MS)) {
        const [row] = await sql<{ count: number }[]>`select count(*)::int as count from onchain_mainnet.token_event`;
        counts.push(row!.count);
      }
      return counts;
    };
    const readers = [read(), read(), read()];
    try {
      await work();
    } finally {
      done.abort();
    }
    const counts = await Promise.all(readers);
    await sql.end();
    for (const seen of counts) expect(seen).toEqual(seen.toSorted((a, b) => a - b));
    return [...new Set(counts.flat())].toSorted((a, b) => a - b);
  }

  const listSchemas = () =>
    withConnection(database.url, async (sql) => {
      const rows = await sql<{ name: string }[]>`
        select nspname as name
        from pg_namespace
        where nspname like 'onchain\\_mainnet\\_%'
      `;
      const deployments = await sql<{ name: string }[]>`select schema_name as name from offchain.deployment`;
      expect(rows.map(({ name }) => name)).toEqual(deployments.map(({ name }) => name));
      return rows.map(({ name }) => name);
    });

  /** As in a database that has only `offchain` of a backup. */
  const loseTables = () =>
    withConnection(database.url, async (sql) => {
      const schemas = await sql<{ name: string }[]>`
        select nspname as name
        from pg_namespace
        where nspname like 'onchain\\_%' or nspname = 'ponder_sync'
      `;
      for (const { name } of schemas) await sql`drop schema ${sql(name)} cascade`;
      await sql`truncate offchain.kept_log_chunk cascade`;
    });

  await mineRandom(BLOCKS);
  await chain.mineEmpty(FINALITY + 5);
  await catchUp();
  const built = await readAllRows(database.url);
  return {
    chain,
    proxy,
    database,
    emitters,
    built,
    mineRandom,
    start,
    catchUp,
    beginRebuild,
    rebuild,
    watchReaders,
    listSchemas,
    loseTables,
  };
}

describe("where no indexer runs", () => {
  /** That the tables are as they were, and all that there is, without a query for logs that the cache has. */
  async function expectFromCache(): Promise<void> {
    expect(w.proxy.counts().eth_getLogs ?? 0).toBe(0);
    // But for the blocks that are not final, each by its hash: those are never in the cache.
    expect(w.proxy.counts().logsOfBlock ?? 0).toBeLessThanOrEqual(FINALITY);
    expect(await readAllRows(w.database.url)).toEqual(w.built);
  }

  test("a rebuild out of the cache gives identical tables, and asks the node for no logs", async () => {
    const [first] = await w.listSchemas();
    w.proxy.resetCounts();
    const counts = await w.watchReaders(() => w.rebuild());
    expect(counts).toEqual([w.built.token_event.length]);
    await expectFromCache();
    const [second, ...others] = await w.listSchemas();
    expect(second).not.toBe(first);
    expect(others).toEqual([]);
  });

  test("--refetch asks the node for everything again", async () => {
    w.proxy.resetCounts();
    const counts = await w.watchReaders(() => w.rebuild("--refetch"));
    expect(counts).toEqual([w.built.token_event.length]);
    expect(w.proxy.counts().eth_getLogs).toBeGreaterThan(0);
    expect(await readAllRows(w.database.url)).toEqual(w.built);
  });

  test("a rebuild goes on though nobody reads what it says", async () => {
    const [before] = await w.listSchemas();
    const rebuild = w.beginRebuild();
    rebuild.leave();
    expect(await rebuild.ended).toBe(0);
    const [after, ...others] = await w.listSchemas();
    expect(after).not.toBe(before);
    expect(others).toEqual([]);
  });

  // For all tests from here on.
  test("where the database's clock was set back, what is begun later is later all the same", async () => {
    const [before] = await w.listSchemas();
    await withConnection(
      w.database.url,
      (sql) => sql`
        update offchain.deployment
        set
          created_at = now() + interval '5 hours',
          published_at = now() + interval '5 hours'
      `,
    );
    await w.rebuild();
    const [after, ...others] = await w.listSchemas();
    expect(after).not.toBe(before);
    expect(others).toEqual([]);
    expect(await readAllRows(w.database.url)).toEqual(w.built);
    await w.catchUp({ MAINNET_START_BLOCK: "1" });
    expect(await readAllRows(w.database.url)).toEqual(w.built);
    await w.rebuild();
  });

  test("tables that a backup knows nothing of, which was put back beside them, stand in no one's way and are dropped", async () => {
    const [left] = await w.listSchemas();
    await withConnection(w.database.url, (sql) => sql`delete from offchain.deployment`);
    // The next one begins at another block: Ponder refuses tables that were begun at this one.
    await w.chain.mineEmpty(1);
    await w.rebuild();
    expect(await readAllRows(w.database.url)).toEqual(w.built);
    const [made, ...others] = await w.listSchemas();
    expect(made).not.toBe(left);
    expect(others).toEqual([]);
  });

  test("tables that were begun anew before a backup was put back beside them stand in no one's way and are dropped", async () => {
    /** As an empty database. */
    const lose = async () => {
      await w.loseTables();
      await withConnection(w.database.url, (sql) => sql`delete from offchain.deployment`);
    };
    await lose();
    await w.catchUp();
    await withConnection(w.database.url, (sql) => sql`create table offchain.backup as table offchain.deployment`);
    await lose();
    // The next one begins at another block: Ponder refuses tables that were begun at this one.
    await w.chain.mineEmpty(1);
    await w.catchUp();
    const [left] = await w.listSchemas();
    await withConnection(w.database.url, async (sql) => {
      await sql`delete from offchain.deployment`;
      await sql`insert into offchain.deployment table offchain.backup`;
      await sql`drop table offchain.backup`;
    });
    await w.catchUp();
    expect(await readAllRows(w.database.url)).toEqual(w.built);
    const [made, ...others] = await w.listSchemas();
    expect(made).not.toBe(left);
    expect(others).toEqual([]);
  });

  test("a rebuild that another one overtakes ends, and says so; a network that is no longer configured is left out", async () => {
    const gone = { network: "testnet", schema_name: "onchain_testnet_gone_1" };
    await withConnection(w.database.url, async (sql) => {
      await sql`
        insert into offchain.deployment
        select (jsonb_populate_record(deployment, ${sql.json(gone)})).*
        from offchain.deployment
      `;
      // It would be done before the other one has begun, if its node said anything more.
      const node = opened(await startRpcProxy(w.chain.rpcUrl));
      const first = w.beginRebuild({ rpcUrl: node.url });
      await expect.poll(() => first.output()).toMatch(/rebuilds into/);
      node.set({ isSilent: true });
      w.proxy.resetCounts();
      await w.rebuild();
      expect(await first.ended).toBe(1);
      expect(first.output()).toContain("mainnet  another rebuild or version was begun meanwhile; this one ends.\n");
      await sql`delete from offchain.deployment where network = 'testnet'`;
    });
    await expectFromCache();
    expect(await w.listSchemas()).toHaveLength(1);
  });

  test("a rebuild that is told to end says who goes on with it, and the next start does", async () => {
    const node = opened(await startRpcProxy(w.chain.rpcUrl));
    const rebuild = w.beginRebuild({ rpcUrl: node.url });
    await expect.poll(() => rebuild.output()).toMatch(/rebuilds into/);
    node.set({ isSilent: true });
    await rebuild.stop();
    expect(await rebuild.ended).toBe(130);
    const said =
      "mainnet  left before it was complete: an indexer goes on with it, one that runs or the next npm start\n";
    expect(rebuild.output()).toContain(said);
    const [, begun] = /rebuilds into (\w+)/.exec(rebuild.output())!;
    await w.catchUp();
    expect(await w.listSchemas()).toEqual([begun]);
    expect(await readAllRows(w.database.url)).toEqual(w.built);
  });
});

describe("beside indexers", () => {
  let indexer: Indexer;

  test("what another one left undone is done by the next: tables to be dropped, an index that lacks or was cut off", async () => {
    const before = await w.listSchemas();
    const left = {
      schema_name: "onchain_mainnet_left_1",
      fingerprint: "left",
      created_at: new Date(0),
      published_at: null,
    };
    await withConnection(w.database.url, async (sql) => {
      await sql`create schema ${sql(left.schema_name)}`;
      await sql`
        insert into offchain.deployment
        select (jsonb_populate_record(deployment, ${sql.json(left)})).*
        from offchain.deployment
      `;
      const [schema] = before;
      await sql`drop index ${sql(`${schema!}.token_event_sale`)}`;
      await sql`
        update pg_index
        set indisvalid = false
        where indexrelid = ${`${schema!}.token_owner`}::regclass
      `;
      indexer = w.start();
      await indexer.waitUntilLive(await w.chain.head());
      await vi.waitFor(
        async () => {
          const indexes = await sql`
            select c.relname
            from pg_index i
            join pg_class c on c.oid = i.indexrelid
            where indisvalid
              and c.relnamespace = ${schema!}::regnamespace
              and c.relname in ('token_event_sale', 'token_owner')
          `;
          expect(indexes).toHaveLength(2);
          expect(await w.listSchemas()).toEqual(before);
        },
        { timeout: WAIT_TIMEOUT_MS },
      );
    });
  });

  test("beside a running indexer, readers see each new block and never less than before", async () => {
    const [before] = await w.listSchemas();
    await w.watchReaders(async () => {
      const rebuilt = w.rebuild();
      await w.mineRandom(2);
      await indexer.waitUntilLive(await w.chain.head());
      await rebuilt;
      await w.mineRandom(1);
      await indexer.waitUntilLive(await w.chain.head());
    });
    const after = await w.listSchemas();
    expect(after).toHaveLength(1);
    expect(after).not.toEqual([before]);
    expect(await readTables(w.database.url)).toEqual(await computeExpected(w.chain));
  });

  test("what Ponder has kept of blocks that were final long ago goes, and nobody misses it", async () => {
    const { chain, database } = w;
    const readKept = () =>
      withConnection(database.url, async (sql) => {
        const rows = await sql<{ number: number }[]>`select number::int from ponder_sync.blocks order by number`;
        return rows.map(({ number }) => number);
      });
    const goesOn = async () => {
      await w.mineRandom(1);
      await indexer.waitUntilLive(await chain.head());
      expect(await readTables(database.url)).toEqual(await computeExpected(chain));
    };
    await w.mineRandom(3);
    const { timestamp } = await chain.request<{ timestamp: Hex }>("eth_getBlockByNumber", "latest", false);
    await chain.request("evm_setNextBlockTimestamp", Number(timestamp) + 7 * 3600);
    await w.mineRandom(3);
    const newest = await chain.head();
    await chain.mineEmpty(FINALITY * 2);
    await indexer.waitUntilLive(await chain.head());
    await indexer.waitUntil(({ finalized_block }) => finalized_block >= newest);
    const kept = await readKept();
    await indexer.stop();
    indexer = w.start();
    // Of what is older than six hours, the last one.
    await expect.poll(readKept).toEqual(kept.slice(-4));
    await goesOn();
    await indexer.kill();
    indexer = w.start();
    await goesOn();
    await w.rebuild();
    expect(await readTables(database.url)).toEqual(await computeExpected(chain));
  });

  test("an indexer that stood by ends without a word about what another one follows", async () => {
    const standby = w.start();
    await expect.poll(() => standby.output()).toMatch(/standing by/);
    // So that nothing of what it says is said over.
    process.kill(indexer.pid, "SIGSTOP");
    try {
      await standby.stop();
      const rows = await withConnection(w.database.url, (sql) => sql`select state from offchain.network`);
      expect(rows).toMatchObject([{ state: "live" }]);
    } finally {
      process.kill(indexer.pid, "SIGCONT");
    }
  });

  test("another configuration is built beside, takes over in one step, and the indexer with the old one ends", async () => {
    const [wanted] = w.emitters;
    const before = await readTables(w.database.url);
    const events = before.events.filter(({ contract_address }) => contract_address === wanted!.address);
    expect(events.length).toBeLessThan(before.events.length);

    const successor = w.start({ MAINNET_CONTRACTS: wanted!.address });
    const counts = new Set<number>();
    const sql = postgres(w.database.url, { max: 1, onnotice: () => {} });
    const ended = new AbortController();
    void indexer.ended.then(() => ended.abort());
    for (; !ended.signal.aborted; await sleep(READ_PAUSE_MS)) {
      const [row] = await sql<{ count: number }[]>`select count(*)::int as count from onchain_mainnet.token_event`;
      counts.add(row!.count);
    }
    await sql.end();
    await successor.waitUntilLive(await w.chain.head());
    expect([...counts]).toEqual([before.events.length, events.length]);
    expect((await readTables(w.database.url)).events).toEqual(events);
    expect(await w.listSchemas()).toHaveLength(1);
    // No 0: whoever keeps it running would start it again, and it would take over in turn.
    expect(await indexer.ended).toBe(20);
    expect(indexer.output()).toContain("another version has taken over");
    await successor.stop();
  });

  test("a database that was put back from a backup of `offchain` alone is built anew", async () => {
    const rows = await readAllRows(w.database.url);
    await w.loseTables();
    await withConnection(w.database.url, (sql) => sql`update offchain.network set state = 'backfill'`);
    indexer = w.start({ MAINNET_CONTRACTS: w.emitters[0]!.address });
    await indexer.waitUntilLive(await w.chain.head());
    expect(await readAllRows(w.database.url)).toEqual(rows);
  });

  test("tables that somebody drops, beside the indexer or before it starts, are built anew", async () => {
    const rows = await readAllRows(w.database.url);
    const drop = async () => {
      const [schema] = await w.listSchemas();
      await withConnection(w.database.url, (sql) => sql`drop schema ${sql(schema!)} cascade`);
      return schema!;
    };
    const expectAnew = () =>
      expect.poll(() => readAllRows(w.database.url).catch(() => undefined), { interval: 500 }).toEqual(rows);
    await drop();
    await expectAnew();
    await indexer.waitUntilLive(await w.chain.head());

    await indexer.stop();
    // As a Ponder leaves it that found nothing.
    const schema = await drop();
    await withConnection(w.database.url, (sql) => sql`create schema ${sql(schema)}`);
    indexer = w.start({ MAINNET_CONTRACTS: w.emitters[0]!.address });
    await indexer.waitUntilLive(await w.chain.head());
    await expectAnew();
    expect(await w.listSchemas()).toHaveLength(1);
  });
});
