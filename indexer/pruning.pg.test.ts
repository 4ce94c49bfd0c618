import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeEach, expect, test, vi } from "vitest";
import { readConfig } from "../config.ts";
import { createPool } from "../postgres/pool.ts";
import { createTestDatabase, useDatabase } from "../test/database.ts";
import { type Deployment, findBySchema } from "./deployment.ts";
import { acquireLock } from "./lock.ts";
import { createPruning } from "./pruning.ts";

const config = readConfig({ DATA_DIR: "/nonexistent" });
const { database, sql } = await useDatabase(createTestDatabase, { max: 3 });

beforeEach(async () => {
  for (const name of await listSchemas()) await sql`drop schema ${sql(name)} cascade`;
  await sql`delete from offchain.deployment`;
  vi.useFakeTimers({ toFake: ["performance"] });
});
afterAll(async () => {
  vi.useRealTimers();
});

const pass = (minutes: number) => vi.advanceTimersByTime(minutes * 60_000);

/** A deployment of a version, made so many minutes ago, with a table. */
async function create(fingerprint: string, minutesAgo: number): Promise<Deployment> {
  const schema_name = `onchain_mainnet_${fingerprint}_1`;
  await sql`create schema ${sql(schema_name)}`;
  await sql`create table ${sql(`${schema_name}.token`)} ()`;
  await sql`
    insert into offchain.deployment (schema_name, network, chain_id, fingerprint, generation, genesis_hash, created_at)
    values (${schema_name}, 'mainnet', 1, ${fingerprint}, 1, '', now() - ${minutesAgo} * interval '1 minute')
  `;
  return (await findBySchema(sql, schema_name))!;
}

/** The same, and readers see it since then. */
async function createPublished(fingerprint: string, minutesAgo: number): Promise<Deployment> {
  const { schema_name } = await create(fingerprint, minutesAgo);
  await sql`update offchain.deployment set published_at = created_at where schema_name = ${schema_name}`;
  return (await findBySchema(sql, schema_name))!;
}

async function listSchemas(): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select nspname as name
    from pg_namespace
    where nspname like 'onchain\\_%'
    order by nspname
  `;
  return rows.map(({ name }) => name);
}

test("tables that somebody read when they were to be dropped are dropped later", async () => {
  const [old, published] = [await create("old", 10), await createPublished("new", 5)];
  const prune = createPruning(sql, { config });
  await sql.begin(async (tx) => {
    await tx`select from ${tx(`${old.schema_name}.token`)}`;
    await prune(published);
    expect(await listSchemas()).toEqual([published.schema_name, old.schema_name]);
  });
  pass(1);
  await prune(published);
  expect(await listSchemas()).toHaveLength(2);
  pass(5);
  await prune(published);
  expect(await listSchemas()).toEqual([published.schema_name]);
  expect(await findBySchema(sql, old.schema_name)).toBeUndefined();
});

test("what another version began is dropped when nobody has followed it for an hour", async () => {
  const [published, begun] = [await createPublished("a", 10), await create("b", 5)];
  const prune = createPruning(sql, { config });
  const follower = createPool(database.url, { max: 1 });
  const signal = new AbortController().signal;
  await acquireLock(follower, { network: "mainnet", fingerprint: "b", signal, log: () => {} });
  for (let at = 0; at < 24; at++) {
    await prune(published);
    pass(5);
  }
  expect(await listSchemas()).toHaveLength(2);
  await follower.end();
  await sleep(100);
  for (let at = 0; at < 12; at++) {
    await prune(published);
    expect(await listSchemas()).toEqual([published.schema_name, begun.schema_name]);
    pass(5);
  }
  await prune(published);
  expect(await listSchemas()).toEqual([published.schema_name]);
});

test("what was published since isn't dropped for being older", async () => {
  const [old, published] = [await create("old", 10), await createPublished("new", 5)];
  await sql`update offchain.deployment set published_at = now() where schema_name = ${old.schema_name}`;
  await createPruning(sql, { config })(published);
  expect(await listSchemas()).toEqual([published.schema_name, old.schema_name]);
});
