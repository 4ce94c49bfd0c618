import { readFileSync } from "node:fs";
import { expect, inject, test, vi } from "vitest";
import { createPool, withConnection } from "../postgres/pool.ts";
import { startChain } from "./chain.ts";
import { createTestDatabase } from "./database.ts";
import { startIndexer, WAIT_TIMEOUT_MS } from "./indexer.ts";
import { closeAfterAll } from "./opened.ts";

const { closing } = closeAfterAll();

/** State of a connection in what the kernel tells of all. */
const ESTABLISHED = "01";

const portOf = (address: string) => Number.parseInt(address.split(":")[1]!, 16);

/**
 * What the kernel waits for on each connection to a port, by the other side's port, and for how many seconds: 2 is its next
 * look at whether the other side lives.
 */
function readTimers(port: number): Map<number, { kind: number; seconds: number }> {
  const rows = ["tcp", "tcp6"].flatMap((file) => readFileSync(`/proc/net/${file}`, "utf8").split("\n").slice(1));
  return new Map(
    rows
      .map((row) => row.trim().split(/\s+/))
      // Connections to other servers may have the same port on the other side, and so may one that is over.
      .filter(([, local, , state]) => state === ESTABLISHED && portOf(local!) === port)
      .map(([, , remote, , , timer]) => {
        const [kind, ticks] = timer!.split(":").map((part) => Number.parseInt(part, 16));
        return [portOf(remote!), { kind: kind!, seconds: ticks! / 100 }];
      }),
  );
}

test("Postgres looks every few seconds whether the indexer's machine is there", async () => {
  const [chain, database] = [await startChain(), await createTestDatabase()];
  closing.push(chain.stop, database.drop);
  await chain.mineEmpty(40);
  const indexer = startIndexer({ databaseUrl: database.url, rpcUrl: chain.rpcUrl });
  closing.push(indexer.stop);
  await indexer.waitUntilLive(await chain.head());
  await withConnection(database.url, async (sql) => {
    // While something is on its way the kernel waits for that first.
    await vi.waitFor(async () => {
      const sessions = await sql<{ name: string; port: number }[]>`
        select
          application_name as name,
          client_port as port
        from pg_stat_activity
        where datname = current_database()
          and client_port is not null
          and pid <> pg_backend_pid()
      `;
      const names = sessions.map(({ name }) => name.replace(/^onchain_.*_\d+_/, ""));
      expect(names).toEqual(expect.arrayContaining(["postgres.js", "user", "internal"]));
      const timers = readTimers(Number(new URL(database.url).port));
      const found = sessions.map(({ name, port }) => ({ name, ...timers.get(port) }));
      expect(found.filter(({ kind, seconds = Infinity }) => kind !== 2 || seconds > 10)).toEqual([]);
    }, WAIT_TIMEOUT_MS);
  });
});

test("a Unix socket takes the same settings", async () => {
  const sql = createPool(inject("postgresSocketUrl"), { max: 1 });
  expect([...(await sql`select current_setting('tcp_keepalives_idle') as idle`)]).toEqual([{ idle: "0" }]);
  // As Ponder does.
  await sql`set tcp_user_timeout = 25000`;
  await sql.end();
});
