import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { tableShapes } from "../history/load/onchain-schema.ts";
import type { Deployment } from "../indexer/deployment.ts";
import { publish } from "../indexer/publication.ts";
import { createOnchainTables } from "../test/database.ts";
import { createTestApi, inserter, MAINNET_ID, type TestApi } from "../test/api.ts";
import { ALICE, APES, BOB, seed } from "../test/seed.ts";

let t: TestApi;

beforeAll(async () => {
  t = await createTestApi();
  await seed(t.sql);
  await t.sql`
    insert into offchain.deployment (schema_name, network, chain_id, fingerprint, generation, genesis_hash)
    select schema_name, 'mainnet', ${MAINNET_ID}, schema_name, 1, ''
    from unnest(${["deployment_old", "deployment_new"]}::text[]) as schema_name
  `;
});
afterAll(() => t.stop());

/** Publishes a deployment as the indexer does. */
const takeOver = (schema_name: string) =>
  publish(t.sql, { schema_name, network: "mainnet" } as Deployment, { isComplete: false });

test("readers go on while another deployment takes over, and then read from it", async () => {
  await t.sql.unsafe("alter schema onchain_mainnet rename to deployment_old");
  await takeOver("deployment_old");
  await createOnchainTables(t.sql, "deployment_new");
  for (const { name } of tableShapes.values())
    await t.sql.unsafe(`insert into deployment_new.${name} select * from deployment_old.${name}`);
  await t.sql.unsafe(`update deployment_new.token set owner = '\\x${BOB.slice(2)}' where token_id = 1`);
  await t.api.refresh();

  const paths = [
    `/v1/tokens/${APES}`,
    `/v1/tokens/${APES}/1`,
    `/v1/owners/${ALICE}/all`,
    `/v1/events/${APES}`,
    "/v1/contracts",
    `/orderbook/token/${APES}/1`,
    `/orderbook/tokens/collection/${APES}`,
    `/marketplace/portfolio/${ALICE}`,
    `/marketplace/collections/${APES}/${MAINNET_ID}/tokens`,
  ];
  const statuses = new Set<number>();
  const state = { isOver: false };
  const readers = Array.from({ length: paths.length }, async (_, n) => {
    while (!state.isOver) statuses.add((await t.get(paths[n] as string)).status);
  });
  try {
    for (let round = 0; round < 10; round += 1) {
      await sleep(20);
      await takeOver("deployment_new");
      expect((await t.get(`/v1/tokens/${APES}/1`)).body.result.owner).toBe(BOB);
      await sleep(20);
      await takeOver("deployment_old");
      expect((await t.get(`/v1/tokens/${APES}/1`)).body.result.owner).toBe(ALICE);
    }
  } finally {
    state.isOver = true;
  }
  await Promise.all(readers);
  expect([...statuses]).toEqual([200]);
});

test("an answer that met a takeover is tried again, whichever it is", async () => {
  await t.sql.unsafe(`
    create sequence offchain.look;
    create table offchain.takeover (code text);
    insert into offchain.takeover values (null);
    create function offchain.is_there() returns boolean language plpgsql as $$
      begin
        if nextval('offchain.look') = 1 then
          raise 'Another deployment takes over.' using errcode = (select code from offchain.takeover);
        end if;
        return true;
      end
    $$;
    create or replace view onchain_mainnet.token as select * from deployment_old.token where offchain.is_there();
    create or replace view onchain_mainnet.contract as select * from deployment_old.contract where offchain.is_there();
  `);
  const paths = [
    `/v1/tokens/${APES}`,
    `/v1/owners/${ALICE}/tokens`,
    `/orderbook/token/${APES}/1`,
    `/orderbook/tokens/${ALICE}`,
    `/marketplace/collections/${APES}/${MAINNET_ID}`,
  ];
  for (const code of ["42P01", "XX000", "40P01", "0A000"]) {
    await t.sql`update offchain.takeover set code = ${code}`;
    for (const path of paths) {
      await t.sql`alter sequence offchain.look restart`;
      expect((await t.get(path)).status, `${code} ${path}`).toBe(200);
      const [look] = await t.sql<{ last_value: string }[]>`select last_value from offchain.look`;
      expect(Number(look?.last_value), path).toBeGreaterThan(1);
    }
  }
});

test("rows that come later are in the answers at once", async () => {
  await takeOver("deployment_new");
  await t.sql.unsafe("alter schema deployment_new rename to onchain_later");
  await t.sql.unsafe("alter schema onchain_mainnet rename to onchain_views");
  await t.sql.unsafe("alter schema onchain_later rename to onchain_mainnet");
  await inserter(t.sql).token(APES, 555, { owner: BOB });
  expect((await t.get(`/v1/tokens/${APES}/555`)).body.result.owner).toBe(BOB);
});
