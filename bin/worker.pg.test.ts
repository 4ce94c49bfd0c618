import { setTimeout as sleep } from "node:timers/promises";
import postgres from "postgres";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createMigratedDatabase, type TestDatabase } from "../test/database.ts";
import { startCommand } from "../test/indexer.ts";
import { serveRpc } from "../test/rpc-server.ts";
import { CHAIN_ID } from "../test/tokens.ts";

let database: TestDatabase;
let rpc: Awaited<ReturnType<typeof serveRpc>>;

beforeAll(async () => {
  database = await createMigratedDatabase();
  rpc = await serveRpc({});
});
afterAll(async () => {
  rpc.close();
  await database.drop();
});

const start = (env: Record<string, string>) =>
  startCommand("worker", { env: { DATABASE_URL: database.url, LOG_LEVEL: "warn", ...env } });

async function report(chainId: number): Promise<void> {
  const sql = postgres(database.url, { max: 1 });
  await sql`delete from offchain.network`;
  await sql`insert into offchain.network (name, chain_id, indexed_block) values ('mainnet', ${chainId}, 0)`;
  await sql.end();
}

test("a node of another chain than the indexer's ends it with one line", async () => {
  await report(1);
  const url = `http://127.0.0.1:9,${rpc.url}/secret`;
  const worker = start({ MAINNET_RPC_URL: url });
  expect(await worker.ended).toBe(1);
  expect(worker.output()).toMatch(
    /^The indexer follows chain 1, but MAINNET_RPC_URL 127\.0\.0\.1:\d+ answers for chain 31337\. Expected the same\.\n$/,
  );
  const configured = start({ MAINNET_RPC_URL: url, MAINNET_CHAIN_ID: "1" });
  expect(await configured.ended).toBe(1);
  expect(configured.output()).toMatch(
    /^MAINNET_CHAIN_ID is 1, but MAINNET_RPC_URL 127\.0\.0\.1:\d+ answers for chain 31337\. Expected the same\.\n$/,
  );
});

test("what an indexer said of another chain before is waited out", async () => {
  await report(1);
  const worker = start({ MAINNET_RPC_URL: rpc.url, MAINNET_CHAIN_ID: String(CHAIN_ID) });
  await sleep(2500);
  await report(CHAIN_ID);
  await sleep(2500);
  await worker.stop();
  expect(await worker.ended).toBe(0);
  expect(worker.output()).toBe("");
});

test("it waits for a database that isn't there yet, says that once, and goes on when it is", async () => {
  const admin = postgres(database.url, { max: 1 });
  const name = `made_later_${process.pid}`;
  const url = new URL(database.url);
  url.pathname = `/${name}`;
  const worker = start({ DATABASE_URL: url.href, MAINNET_RPC_URL: rpc.url });
  await expect.poll(() => worker.output(), { timeout: 20_000 }).not.toBe("");
  // Longer than it waits between two looks.
  await sleep(2500);
  expect(worker.output()).toBe(`worker: the database can't be used yet: database "${name}" does not exist\n`);
  await admin`create database ${admin(name)}`;
  const sql = postgres(url.href, { max: 1 });
  const hasTables = () => sql`select from offchain.migration limit 1`.then(Boolean, () => false);
  await expect.poll(hasTables, { timeout: 20_000 }).toBe(true);
  await sql.end();
  await worker.stop();
  expect(await worker.ended).toBe(0);
  await admin`drop database ${admin(name)} with (force)`;
  await admin.end();
});

test("a node that can't be reached keeps it from nothing", async () => {
  await report(CHAIN_ID);
  const worker = start({ MAINNET_RPC_URL: "http://127.0.0.1:9" });
  await sleep(3000);
  await worker.stop();
  expect(await worker.ended).toBe(0);
});
