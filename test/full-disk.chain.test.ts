import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { withConnection } from "../postgres/pool.ts";
import { startChain } from "./chain.ts";
import { createTestDatabase } from "./database.ts";
import { startIndexer } from "./indexer.ts";
import { closeAfterAll } from "./opened.ts";
import { compile } from "./solidity.ts";

const { opened } = closeAfterAll();

test("a disk of Postgres that is full is the reason from the first write that fails until one doesn't", async () => {
  const chain = opened(await startChain());
  const deed = await chain.deploy(compile("Deed").Deed);
  const mineToken = async () => chain.mine({ to: deed, name: "mint", args: [chain.accounts[0], await chain.head()] });
  await mineToken();
  await chain.mineEmpty(40);
  const database = opened(await createTestDatabase());
  const indexer = opened(startIndexer({ databaseUrl: database.url, rpcUrl: chain.rpcUrl }));
  await indexer.waitUntilLive(await chain.head());

  await withConnection(database.url, async (sql) => {
    const [deployment] = await sql<{ schema_name: string }[]>`select schema_name from offchain.deployment`;
    const table = sql(`${deployment!.schema_name}.token_event`);
    // As Postgres says it.
    await sql`
      create function full_disk() returns trigger language plpgsql as $$
        begin
          raise exception 'could not extend file "base/5/16402": No space left on device' using errcode = 'disk_full';
        end
      $$
    `;
    await sql`create trigger full_disk before insert on ${table} execute function full_disk()`;
    await mineToken();
    await indexer.waitUntil(({ state }) => state === "stalled");
    const seen = new Set<string>();
    // Ponder is started again meanwhile, and tries again.
    for (const deadline = Date.now() + 6000; Date.now() < deadline; await sleep(100)) {
      const [{ state, reason }] = await sql<[{ state: string; reason: string | null }]>`
        select state, reason from offchain.network
      `;
      seen.add(`${state}: ${reason?.split(": ").at(-1)}`);
    }
    expect([...seen]).toEqual(["stalled: No space left on device"]);
    await sql`drop trigger full_disk on ${table}`;
  });
  const { reason } = await indexer.waitUntilLive(await chain.head());
  expect(reason).toBeNull();
});
