import { beforeEach, expect, test } from "vitest";
import { createTestDatabase, useDatabase } from "../../test/database.ts";
import { prunePonderSync, requirePonderSync } from "./ponder-sync.ts";

const HOUR = 3600;
const TABLES = ["logs", "transactions", "transaction_receipts", "traces"];

const { sql } = await useDatabase(createTestDatabase, { max: 2 });

/** Blocks 1 to 3000 of two chains, one an hour, with a log and a transaction each. */
beforeEach(async () => {
  await sql`drop schema if exists ponder_sync cascade`;
  await sql`delete from offchain.deployment`;
  await sql`create schema ponder_sync`;
  await sql`
    create table ponder_sync.blocks as
    select chain_id, number::bigint, number * ${HOUR}::bigint as timestamp
    from generate_series(1, 3000) number
    cross join generate_series(1::bigint, 2) chain_id
  `;
  for (const table of TABLES)
    await sql`create table ${sql(`ponder_sync.${table}`)} as select chain_id, number as block_number from ponder_sync.blocks`;
  await sql`create table ponder_sync.intervals as select 1::bigint as chain_id`;
});

/** A deployment of chain 1. `safe`: where its Ponder begins again; undefined before it has begun. */
async function deploy(name: string, { historyBlock, safe }: { historyBlock: number | null; safe?: number }) {
  const schema_name = `onchain_mainnet_${name}`;
  await sql`
    insert into offchain.deployment (schema_name, network, chain_id, fingerprint, generation, genesis_hash, history_block)
    values (${schema_name}, 'mainnet', 1, ${name}, 1, '', ${historyBlock})
  `;
  await sql`drop schema if exists ${sql(schema_name)} cascade`;
  if (safe === undefined) return;
  await sql`create schema ${sql(schema_name)}`;
  const checkpoint = `${"0".repeat(26)}${String(safe).padStart(16, "0")}${"9".repeat(33)}`;
  await sql`create table ${sql(`${schema_name}._ponder_checkpoint`)} as select ${checkpoint}::text as safe_checkpoint`;
}

async function pruneAll(): Promise<number> {
  let steps = 1;
  while (!(await prunePonderSync(sql, { chainId: 1 })).isDone) steps++;
  return steps;
}

/** The first block of chain 1 that is kept, which is the same in all tables. */
async function readFirst(): Promise<number> {
  const [{ number }] = await sql<[{ number: number }]>`
    select min(number)::int as number from ponder_sync.blocks where chain_id = 1
  `;
  for (const table of TABLES)
    expect(
      await sql`select min(block_number)::int as number from ${sql(`ponder_sync.${table}`)} where chain_id = 1`,
    ).toEqual([{ number }]);
  return number;
}

test("blocks go some at a time that no deployment reads again, but for those of the last hours", async () => {
  await deploy("seen", { historyBlock: 0, safe: 2900 });
  expect(await pruneAll()).toBe(3);
  expect(await readFirst()).toBe(2894);
  await deploy("new", { historyBlock: 2500 });
  await sql`update offchain.deployment set chain_id = 2 where fingerprint = 'seen'`;
  await pruneAll();
  expect(await readFirst()).toBe(2894);
  const [other] = await sql`select min(number)::int as number from ponder_sync.blocks where chain_id = 2`;
  expect(other).toEqual({ number: 1 });
});

test("what a deployment that is being built will read is kept", async () => {
  await deploy("seen", { historyBlock: 0, safe: 2900 });
  await deploy("new", { historyBlock: null });
  await pruneAll();
  expect(await readFirst()).toBe(1);
  await sql`update offchain.deployment set history_block = 1999 where fingerprint = 'new'`;
  await pruneAll();
  expect(await readFirst()).toBe(1994);
});

test("a deployment that begins before what is kept has all of its chain fetched anew", async () => {
  await deploy("seen", { historyBlock: 0, safe: 2900 });
  await pruneAll();
  const count = async () => (await sql`select from ponder_sync.intervals`).length;
  await requirePonderSync(sql, { chainId: 1, firstBlock: 2894 });
  expect(await count()).toBe(1);
  await requirePonderSync(sql, { chainId: 1, firstBlock: 2893 });
  expect(await count()).toBe(0);
  expect(await sql`select from ponder_sync.blocks where chain_id = 1`).toHaveLength(0);
  expect(await sql`select from ponder_sync.blocks where chain_id = 2`).toHaveLength(3000);
});

test("before Ponder has made its tables there is nothing to do", async () => {
  await sql`drop schema ponder_sync cascade`;
  await deploy("new", { historyBlock: null });
  await requirePonderSync(sql, { chainId: 1, firstBlock: 1 });
  expect(await prunePonderSync(sql, { chainId: 1 })).toEqual({ isDone: true });
});
