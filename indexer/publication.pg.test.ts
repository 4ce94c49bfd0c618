import postgres, { type Sql } from "postgres";
import { expect, test } from "vitest";
import { readConfig } from "../config.ts";
import { createOnchainTables, createTestDatabase } from "../test/database.ts";
import { type Deployment, findBySchema, findPublished } from "./deployment.ts";
import { isBusy, isShown, publish } from "./publication.ts";
import { createPublisher } from "./publisher.ts";

/** A deployment of a version of its own. */
async function create(sql: Sql, schema_name: string): Promise<Deployment> {
  await createOnchainTables(sql, schema_name);
  await sql`
    insert into offchain.deployment (schema_name, network, chain_id, fingerprint, generation, genesis_hash)
    values (${schema_name}, 'mainnet', 1, ${schema_name}, 1, '')
  `;
  return (await findBySchema(sql, schema_name))!;
}

test("what an older version's tables lack is null or empty to the readers of this one", async () => {
  const database = await createTestDatabase();
  const sql = postgres(database.url, { max: 1, onnotice: () => {} });
  const older = await create(sql, "older");
  await sql`insert into older.approval values (1, 0, '\\x01', '\\x02', '\\x03', true)`;
  await sql`alter table older.approval drop column owner`;
  await sql`alter table older.approval add column gone text default 'kept'`;
  await sql`drop table older.raised_counter`;

  await publish(sql, older, { isComplete: false });
  const approvals = await sql`select * from onchain_mainnet.approval`;
  expect([...approvals]).toEqual([
    {
      block_number: "1",
      log_index: 0,
      contract_address: Buffer.from([1]),
      owner: null,
      operator: Buffer.from([3]),
      is_approved: true,
      gone: "kept",
    },
  ]);
  expect([...(await sql`select counter, maker from onchain_mainnet.raised_counter`)]).toEqual([]);

  await sql.end();
  await database.drop();
});

test("of versions that are complete at once, readers see the one that is published last", async () => {
  const database = await createTestDatabase();
  const sql = postgres(database.url, { max: 8, onnotice: () => {} });
  const names = ["one", "two", "three", "four"];
  const deployments: Deployment[] = [];
  for (const name of names) {
    deployments.push(await create(sql, name));
    await sql`insert into ${sql(name)}.skipped_log values (1, 0, ${Buffer.from(name)}, '')`;
  }
  await Promise.all(deployments.map((deployment) => publish(sql, deployment, { isComplete: true })));
  const [row] = await sql<{ address: Buffer }[]>`
    select contract_address as address from onchain_mainnet.skipped_log
  `;
  const published = await findPublished(sql, { network: "mainnet" });
  expect(row!.address.toString()).toBe(published!.schema_name);

  // One that was dropped meanwhile would leave them nothing.
  await sql`delete from offchain.deployment where schema_name = 'one'`;
  await expect(publish(sql, deployments[0]!, { isComplete: true })).rejects.toThrow("one was dropped before");
  expect(await sql`select from onchain_mainnet.skipped_log`).toHaveLength(1);

  await sql.end();
  await database.drop();
});

test("readers see the published tables again where a chain that was followed in between had its preview", async () => {
  const database = await createTestDatabase();
  const sql = postgres(database.url, { max: 4, onnotice: () => {} });
  const [own, other] = [await create(sql, "own"), await create(sql, "other")];
  await publish(sql, own, { isComplete: true });
  await publish(sql, other, { isComplete: false });
  expect([await isShown(sql, own), await isShown(sql, other)]).toEqual([false, true]);

  const head = { isKnown: true, block: 0, timestamp: 0, reorgs: 0, answeredAt: 0, error: undefined };
  const publisher = createPublisher(sql, { config: readConfig({}), head, endBlock: undefined, say: () => {} });
  const published = await findPublished(sql, own);
  await publisher.step({ newest: published!, published, position: undefined });
  await publisher.settled();
  expect([await isShown(sql, own), await isShown(sql, other)]).toEqual([true, false]);

  await sql.end();
  await database.drop();
});

test("tables are published beside whoever reads those before, which are put aside and dropped the next time", async () => {
  const database = await createTestDatabase();
  const sql = postgres(database.url, { max: 8, onnotice: () => {} });
  const deployment = await create(sql, "one");
  await publish(sql, deployment, { isComplete: false });
  const reader = await sql.reserve();
  await reader`begin`;
  await reader`select from onchain_mainnet.token`;
  await publish(sql, deployment, { isComplete: true });
  expect(await findPublished(sql, { network: "mainnet" })).toMatchObject({ schema_name: "one" });
  const schemas = async () => {
    const rows = await sql<{ name: string }[]>`
      select nspname as name from pg_namespace where starts_with(nspname, 'onchain_mainnet') order by name
    `;
    return rows.map(({ name }) => name);
  };
  expect(await schemas()).toEqual(["onchain_mainnet", "onchain_mainnet_last"]);
  await expect(publish(sql, deployment, { isComplete: true })).rejects.toSatisfy(isBusy);

  await reader`commit`;
  reader.release();
  await publish(sql, deployment, { isComplete: true });
  expect(await schemas()).toEqual(["onchain_mainnet"]);

  await sql.end();
  await database.drop();
});
