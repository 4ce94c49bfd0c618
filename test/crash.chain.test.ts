import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ownQueries, verify } from "../bench/oracle.ts";
import { createTestDatabase, type TestDatabase } from "./database.ts";
import { type Indexer, isRunning, listChildren, startIndexer } from "./indexer.ts";
import { readAllRows, withSql } from "./onchain-tables.ts";
import { hasReplayTools, type Replay, startReplay } from "./replay.ts";

/** How long a process may outlive the one that it belongs to: it may be in the middle of a long calculation. */
const ORPHAN_MS = 15_000;

if (!hasReplayTools) console.log("crash.chain.test.ts is skipped: the generated chain's tools are not here.");

describe.skipIf(!hasReplayTools)("in the middle of a backfill", () => {
  let replay: Replay;
  let database: TestDatabase;
  const closing: (() => Promise<void>)[] = [];

  beforeAll(async () => {
    replay = await startReplay({ logs: 20_000, latencyMs: 50 });
    database = await createTestDatabase();
  });

  afterAll(async () => {
    for (const close of closing.toReversed()) await close();
    await database?.drop();
    await replay?.stop();
  });

  function start(databaseUrl = database.url): Indexer {
    const indexer = startIndexer({ databaseUrl, rpcUrl: replay.url });
    closing.push(indexer.kill);
    return indexer;
  }

  let indexed = 0;

  /** Waits until the backfill has gone on by so many blocks, and is not yet done. */
  async function waitForProgress(indexer: Indexer): Promise<void> {
    const { indexed_block, state } = await indexer.waitUntil((status) => status.indexed_block > indexed + 30);
    expect(state).not.toBe("live");
    expect(indexed_block).toBeLessThan(replay.lastBlock);
    indexed = indexed_block;
  }

  async function waitUntilGone(pids: number[]): Promise<number[]> {
    for (const deadline = Date.now() + ORPHAN_MS; Date.now() < deadline; await sleep(50))
      if (!pids.some((pid) => isRunning(pid))) break;
    return pids.filter((pid) => isRunning(pid));
  }

  test("kill -9 of all its processes", async () => {
    const indexer = start();
    await waitForProgress(indexer);
    const children = listChildren(indexer.pid);
    expect(children).toHaveLength(1);
    for (const pid of children) process.kill(pid, "SIGKILL");
    await indexer.kill();
  });

  test("kill -9 of the parent alone: its child ends too", async () => {
    const indexer = start();
    await waitForProgress(indexer);
    const children = listChildren(indexer.pid);
    expect(children).toHaveLength(1);
    await indexer.kill();
    expect(await waitUntilGone(children)).toEqual([]);
  });

  test("kill -9 of the child alone: the parent starts another one", async () => {
    const indexer = start();
    await waitForProgress(indexer);
    const [child] = listChildren(indexer.pid);
    process.kill(child!, "SIGKILL");
    await waitForProgress(indexer);
    expect(indexer.output()).toContain("SIGKILL");
    expect(listChildren(indexer.pid)).not.toContain(child);
    await indexer.kill();
  });

  test("the loss of all its connections to Postgres", async () => {
    const indexer = start();
    await waitForProgress(indexer);
    await withSql(
      database.url,
      (sql) => sql`
        select pg_terminate_backend(pid)
        from pg_stat_activity
        where datname = current_database()
          and pid <> pg_backend_pid()
      `,
    );
    await indexer.waitUntilLive(replay.lastBlock);
    await indexer.stop();
    expect(await indexer.ended).toBe(0);
  });

  test("leave the tables that the generator says", async () => {
    const verified = withSql(database.url, (sql) =>
      verify(sql, { name: "The index", queries: ownQueries("onchain_mainnet"), expected: replay.expected }),
    );
    await expect(verified).resolves.toBeUndefined();
  });

  test("leave the tables of an index that was never interrupted", async () => {
    const fresh = await createTestDatabase();
    closing.push(fresh.drop);
    const indexer = start(fresh.url);
    await indexer.waitUntilLive(replay.lastBlock);
    await indexer.stop();
    expect(await readAllRows(database.url)).toEqual(await readAllRows(fresh.url));
  });
});
