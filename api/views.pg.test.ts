import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createOnchainTables } from "../test/database.ts";
import { createTestApi, inserter, type TestApi } from "../test/api.ts";
import { ALICE, APES, BOB, seed } from "../test/seed.ts";

const TABLES = ["contract", "token", "ownership", "token_event", "skipped_log"];

let t: TestApi;

beforeAll(async () => {
  t = await createTestApi();
  await seed(t.sql);
});
afterAll(() => t.stop());

/**
 * Publishes a deployment as the indexer does: views of its tables, replaced in one transaction. Of two that wait for
 * each other's locks Postgres ends one, a reader or the publisher: either tries again.
 */
async function publish(schemaName: string): Promise<void> {
  for (;;) {
    try {
      await t.sql.begin(async (sql) => {
        for (const table of TABLES) {
          await sql.unsafe(`drop view if exists onchain_mainnet.${table}`);
          await sql.unsafe(`create view onchain_mainnet.${table} as select * from ${schemaName}.${table}`);
        }
      });
      return;
    } catch (error) {
      if ((error as { code?: string }).code !== "40P01") throw error;
    }
  }
}

test("readers go on while another deployment takes over, and then read from it", async () => {
  await t.sql.unsafe("alter schema onchain_mainnet rename to deployment_old");
  await t.sql.unsafe("create schema onchain_mainnet");
  await publish("deployment_old");
  await createOnchainTables(t.sql, "deployment_new");
  for (const table of TABLES)
    await t.sql.unsafe(`insert into deployment_new.${table} select * from deployment_old.${table}`);
  await t.sql.unsafe(`update deployment_new.token set owner = '\\x${BOB.slice(2)}' where token_id = 1`);
  await t.api.refresh();

  const paths = [
    `/v1/tokens/${APES}`,
    `/v1/tokens/${APES}/1`,
    `/v1/owners/${ALICE}/all`,
    `/v1/events/${APES}`,
    "/v1/contracts",
  ];
  const statuses = new Set<number>();
  const state = { isOver: false };
  const readers = Array.from({ length: 6 }, async (_, n) => {
    while (!state.isOver) statuses.add((await t.get(paths[n % paths.length] as string)).status);
  });
  try {
    for (let round = 0; round < 2; round += 1) {
      await sleep(300);
      await publish("deployment_new");
      expect((await t.get(`/v1/tokens/${APES}/1`)).body.result.owner).toBe(BOB);
      await sleep(300);
      await publish("deployment_old");
      expect((await t.get(`/v1/tokens/${APES}/1`)).body.result.owner).toBe(ALICE);
    }
  } finally {
    state.isOver = true;
  }
  await Promise.all(readers);
  // A reader that Postgres kept waiting for two deadlocks in a row is told to come again: never a fault of ours.
  expect([...statuses].filter((status) => status !== 503)).toEqual([200]);
});

test("rows that come later are in the answers at once", async () => {
  await publish("deployment_new");
  await t.sql.unsafe("alter schema deployment_new rename to onchain_later");
  await t.sql.unsafe("alter schema onchain_mainnet rename to onchain_views");
  await t.sql.unsafe("alter schema onchain_later rename to onchain_mainnet");
  await inserter(t.sql).token(APES, 555, { owner: BOB });
  expect((await t.get(`/v1/tokens/${APES}/555`)).body.result.owner).toBe(BOB);
});
