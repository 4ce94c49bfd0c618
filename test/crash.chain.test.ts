import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { withConnection } from "../postgres/pool.ts";
import { ownQueries, verify } from "../bench/oracle.ts";
import { createTestDatabase, type TestDatabase } from "./database.ts";
import { readFreshRows } from "./fresh-index.ts";
import { type Indexer, startIndexer, WAIT_TIMEOUT_MS } from "./indexer.ts";
import { readAllRows } from "./onchain-tables.ts";
import { isRunning, listChildren, listDescendants } from "./process.ts";
import { hasReplayTools, type Replay, startReplay } from "./replay.ts";

/** How long a process may outlive the one that it belongs to: it may be in the middle of a long calculation. */
const ORPHAN_MS = 60_000;

if (!hasReplayTools) console.log("crash.chain.test.ts is skipped: the generated chain's tools are not here.");

describe.skipIf(!hasReplayTools)("while history is loaded", () => {
  let replay: Replay;
  let database: TestDatabase;
  const closing: (() => Promise<void>)[] = [];

  beforeAll(async () => {
    // So that fetching takes some seconds, and what is fetched is kept in ten parts: each test leaves some to the next.
    replay = await startReplay({ logs: 160_000, latencyMs: 50, maxBlockRange: 50 });
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

  /** Waits until more of the chain is kept than was, and not all is loaded. */
  async function waitForProgress(indexer: Indexer): Promise<void> {
    const before = await countKept();
    const { state } = await indexer.waitUntil(() => true);
    expect(state).not.toBe("live");
    for (const deadline = Date.now() + WAIT_TIMEOUT_MS; (await countKept()) === before; await sleep(10))
      if (Date.now() > deadline) throw new Error(`Nothing more was fetched. It printed:\n${indexer.output()}`);
    expect(await isLoaded()).toBe(false);
  }

  async function waitUntilGone(pids: number[]): Promise<number[]> {
    for (const deadline = Date.now() + ORPHAN_MS; Date.now() < deadline; await sleep(50))
      if (!pids.some((pid) => isRunning(pid))) break;
    return pids.filter((pid) => isRunning(pid));
  }

  const countKept = () =>
    withConnection(database.url, async (sql) => {
      const [row] = await sql<{ count: number }[]>`
        select coalesce(sum(log_count), 0)::float8 as count
        from offchain.kept_log_chunk
      `.catch(() => [{ count: 0 }]);
      return row!.count;
    });

  const isLoaded = () =>
    withConnection(database.url, async (sql) => {
      const [row] = await sql<{ is_loaded: boolean }[]>`
        select bool_or(history_loaded_at is not null) as is_loaded from offchain.deployment
      `;
      return row!.is_loaded;
    });

  test("kill -9 of all its processes", async () => {
    const indexer = start();
    await waitForProgress(indexer);
    const pids = [indexer.pid, ...listDescendants(indexer.pid)];
    for (const pid of pids) process.kill(pid, "SIGKILL");
    expect(await indexer.ended).toBe("SIGKILL");
    expect(await waitUntilGone(pids)).toEqual([]);
  });

  test("kill -9 of the parent alone: its children end too", async () => {
    const indexer = start();
    await waitForProgress(indexer);
    const children = listChildren(indexer.pid);
    expect(children.length).toBeGreaterThan(0);
    await indexer.kill();
    expect(await waitUntilGone(children)).toEqual([]);
  });

  test("kill -9 of its children alone: the parent starts others", async () => {
    const indexer = start();
    await waitForProgress(indexer);
    const children = listChildren(indexer.pid);
    for (const child of children) process.kill(child, "SIGKILL");
    await waitForProgress(indexer);
    expect(indexer.output()).toContain("SIGKILL");
    for (const child of listChildren(indexer.pid)) expect(children).not.toContain(child);
    await indexer.kill();
  });

  test("the loss of all its connections to Postgres", async () => {
    const indexer = start();
    await waitForProgress(indexer);
    await withConnection(
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
    const verified = withConnection(database.url, (sql) =>
      verify(sql, { name: "The index", queries: ownQueries("onchain_mainnet"), expected: replay.expected }),
    );
    await expect(verified).resolves.toBeUndefined();
  });

  test("leave the tables of an index that was never interrupted", async () => {
    const fresh = await readFreshRows({ rpcUrl: replay.url, head: replay.lastBlock });
    expect(await readAllRows(database.url)).toEqual(fresh);
  });
});
