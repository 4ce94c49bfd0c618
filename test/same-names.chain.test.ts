import { type Hex, zeroAddress } from "viem";
import { expect, test } from "vitest";
import { withConnection } from "../postgres/pool.ts";
import { startChain } from "./chain.ts";
import { createTestDatabase } from "./database.ts";
import { readFreshRows } from "./fresh-index.ts";
import { startIndexer } from "./indexer.ts";
import { readAllRows } from "./onchain-tables.ts";
import { closeAfterAll } from "./opened.ts";
import { singleLog } from "./raw-log.ts";
import { compile } from "./solidity.ts";

const { opened } = closeAfterAll();

test("tables of others with the names of ours are left alone, though a database looks for temporary ones last", async () => {
  const chain = opened(await startChain());
  const emitter = await chain.deploy(compile("Emitter").Emitter);
  const [holder, other] = chain.accounts as [Hex, Hex];
  // More rows of a table than Ponder changes one by one.
  const move = async (from: Hex, to: Hex) => {
    const logs = Array.from({ length: 30 }, (_, id) => singleLog(from, to, BigInt(id), 1n));
    await chain.mine({ to: emitter, name: "write", args: [logs] });
  };
  await chain.mineEmpty(40);
  await move(zeroAddress, holder);

  const database = opened(await createTestDatabase());
  await withConnection(database.url, async (sql) => {
    await sql.unsafe(`alter database ${database.name} set search_path = public, pg_temp`);
    for (const table of ["token", "ownership", "contract"])
      await sql.unsafe(`create table public.${table} as select 'theirs' as content`);
  });
  const indexer = opened(startIndexer({ databaseUrl: database.url, rpcUrl: chain.rpcUrl }));
  await indexer.waitUntilLive(await chain.head());
  await move(holder, other);
  const head = await chain.head();
  await indexer.waitUntilLive(head);
  expect(await readAllRows(database.url)).toEqual(await readFreshRows({ rpcUrl: chain.rpcUrl, head }));
  await indexer.stop();
  await withConnection(database.url, async (sql) => {
    const theirs = await sql`select from public.token, public.ownership, public.contract`;
    expect(theirs).toHaveLength(1);
  });
});
