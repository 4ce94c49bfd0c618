import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import postgres from "postgres";
import { afterAll, beforeAll, expect, test } from "vitest";
import { toBytes } from "../offchain/bytea.ts";
import { findFreePort } from "../indexer/free-port.ts";
import { isFollowed } from "../offchain/network.ts";
import { withDatabase } from "../postgres/pool.ts";
import { startCommand } from "../test/command.ts";
import { countWaiting, createReadableDatabase, type TestDatabase } from "../test/database.ts";
import { serveCalls } from "../test/node-server.ts";
import { serveOrigin } from "../test/origin.ts";
import { startRpcProxy } from "../test/rpc-proxy.ts";
import { serveRpc } from "../test/rpc-server.ts";
import { address, CHAIN_ID, mint } from "../test/tokens.ts";

let database: TestDatabase;
let rpc: Awaited<ReturnType<typeof serveRpc>>;

beforeAll(async () => {
  database = await createReadableDatabase();
  const named = (name: string) => (functionName: string) => (functionName === "name" ? name : undefined);
  rpc = await serveRpc({ [address(1)]: named("Alpha"), [address(2)]: named("Beta"), [address(3)]: named("Gamma") });
});
afterAll(async () => {
  await rpc.close();
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
});

test("a node of another chain than the last indexer followed has the worker wait for the next one", async () => {
  await report(1);
  const sql = postgres(database.url, { max: 1 });
  await sql`update offchain.network set state = 'stalled', reason = 'The indexer was stopped'`;
  const worker = start({ MAINNET_RPC_URL: rpc.url });
  const line = `worker: mainnet: the indexer can't be used yet: it follows chain 1, not ${CHAIN_ID}\n`;
  await expect.poll(() => worker.output()).toBe(line);
  await report(CHAIN_ID);
  await expect.poll(async () => (await sql`delete from offchain.contract_watermark returning 1`).length).toBe(1);
  await worker.stop();
  expect(await worker.ended).toBe(0);
  await sql.end();
});

test("a network is followed while somebody reports that it is", async () => {
  await report(CHAIN_ID);
  const sql = postgres(database.url, { max: 1 });
  expect(await isFollowed(sql, { network: "mainnet" })).toBe(true);
  for (const away of ["-1 hour", "1 hour"]) {
    await sql`update offchain.network set reported_at = now() + ${away}::interval`;
    expect(await isFollowed(sql, { network: "mainnet" })).toBe(false);
  }
  await sql`update offchain.network set reported_at = now(), state = 'stalled'`;
  expect(await isFollowed(sql, { network: "mainnet" })).toBe(false);
  expect(await isFollowed(sql, { network: "testnet" })).toBe(false);
  await sql.end();
});

test("a node of another chain than MAINNET_CHAIN_ID's ends it with one line, whatever the indexer follows", async () => {
  const url = `http://127.0.0.1:9,${rpc.url}/secret`;
  for (const followed of [1, CHAIN_ID]) {
    await report(followed);
    const worker = start({ MAINNET_RPC_URL: url, MAINNET_CHAIN_ID: "1" });
    expect(await worker.ended).toBe(1);
    expect(worker.output()).toMatch(
      /^MAINNET_CHAIN_ID is 1, but MAINNET_RPC_URL 127\.0\.0\.1:\d+ answers for chain 31337\. Expected the same\.\n$/,
    );
  }
});

test("a node that turns out later to be of another chain is not asked, and the others are", async () => {
  await report(CHAIN_ID);
  const port = await findFreePort();
  const worker = start({ MAINNET_RPC_URL: `http://127.0.0.1:${port},${rpc.url}` });
  const sql = postgres(database.url, { max: 1 });
  const countWatermarks = async () => (await sql`select from offchain.contract_watermark`).length;
  await expect.poll(countWatermarks).toBe(1);
  // The nodes have been asked for their chain by then.
  await sleep(1000);
  const answer = JSON.stringify({ jsonrpc: "2.0", id: 0, result: "0x5" });
  const other = createServer((_, response) => response.end(answer)).listen(port, "127.0.0.1");

  await mint(sql, { contract: address(1), tokens: [1], block: 1 });
  await sql`update offchain.network set indexed_block = 1`;
  const names = () => sql`select name from offchain.contract_metadata`;
  await expect.poll(names).toEqual([{ name: "Alpha" }]);
  expect(worker.output()).toBe(
    `worker: mainnet: The indexer follows chain ${CHAIN_ID}, but MAINNET_RPC_URL 127.0.0.1:${port} answers for chain 5. ` +
      "Expected the same; it is not asked.\n",
  );
  await worker.stop();
  expect(await worker.ended).toBe(0);
  other.close().closeAllConnections();
  await sql.end();
});

/** Until the worker that was started has begun. */
async function untilConnected(): Promise<void> {
  const sql = postgres(database.url, { max: 1 });
  const countSessions = async () =>
    (await sql`select from pg_stat_activity where datname = current_database() and application_name = 'worker'`).length;
  await expect.poll(countSessions).toBeGreaterThan(0);
  await sql.end();
}

test("what an indexer said of another chain before is waited out", async () => {
  await report(1);
  const worker = start({ MAINNET_RPC_URL: rpc.url, MAINNET_CHAIN_ID: String(CHAIN_ID) });
  await untilConnected();
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
  const url = withDatabase(database.url, name);
  const worker = start({ DATABASE_URL: url, MAINNET_RPC_URL: rpc.url });
  await expect.poll(() => worker.output()).not.toBe("");
  // Longer than it waits between two looks.
  await sleep(2500);
  expect(worker.output()).toMatch(
    new RegExp(
      `^worker: the database can't be used yet: DATABASE_URL \\S+ is unreachable \\(database "${name}" does not exist\\)\\. .*\n$`,
    ),
  );
  await admin`create database ${admin(name)}`;
  const sql = postgres(url, { max: 1 });
  const hasTables = () => sql`select from offchain.migration limit 1`.then(Boolean, () => false);
  await expect.poll(hasTables).toBe(true);
  await sql.end();
  await worker.stop();
  expect(await worker.ended).toBe(0);
  await admin`drop database ${admin(name)} with (force)`;
  await admin.end();
});

test("a node that can't be reached keeps it from nothing", async () => {
  await report(CHAIN_ID);
  const worker = start({ MAINNET_RPC_URL: "http://127.0.0.1:9" });
  await untilConnected();
  await sleep(1000);
  await worker.stop();
  expect(await worker.ended).toBe(0);
});

test("it ends in time though its database doesn't answer, and says so", async () => {
  await report(CHAIN_ID);
  const worker = start({ MAINNET_RPC_URL: rpc.url });
  await untilConnected();
  const sql = postgres(database.url, { max: 2 });
  await sql.begin(async (tx) => {
    await tx`lock table offchain.network`;
    await expect.poll(() => countWaiting(sql)).toBeGreaterThan(0);
    await worker.stop();
  });
  await sql.end();
  expect(await worker.ended).toBe(1);
  expect(worker.output()).toBe(
    "What is under way is given up: it isn't answered. Started again, all goes on where it was.\n",
  );
});

test("what was done since it last told is told at the end, with the time that it took", async () => {
  await report(CHAIN_ID);
  const sql = postgres(database.url, { max: 1 });
  await mint(sql, { contract: address(2), tokens: [1], block: 2 });
  await sql`update offchain.network set indexed_block = 2`;
  const began = performance.now();
  const worker = start({ MAINNET_RPC_URL: rpc.url, LOG_LEVEL: "info" });
  const bytes = toBytes(address(2));
  const countTried = async () =>
    (await sql`select from offchain.token_metadata where contract_address = ${bytes} and error_code is not null`)
      .length;
  await expect.poll(countTried).toBe(1);
  await worker.stop();
  expect(await worker.ended).toBe(0);
  const seconds = [...worker.output().matchAll(/^worker {2}\d+ tokens? in (\d+) s/gm)].map(([, count]) =>
    Number(count),
  );
  expect(seconds, worker.output()).toHaveLength(1);
  // It tells whole seconds, at least one.
  expect(seconds[0]).toBeLessThanOrEqual(Math.ceil((performance.now() - began) / 1000));
  await sql.end();
});

test("a media store that takes nothing is told at once with the variable, and keeps it from nothing", async () => {
  await report(CHAIN_ID);
  const origin = await serveOrigin((request, response) => {
    request.resume();
    response.writeHead(404).end("<Error><Code>NoSuchBucket</Code></Error>");
  });
  const worker = start({
    MAINNET_RPC_URL: rpc.url,
    MEDIA_STORE: "s3",
    S3_ENDPOINT: origin.url,
    S3_BUCKET: "slip",
    S3_ACCESS_KEY_ID: "key",
    S3_SECRET_ACCESS_KEY: "secret",
  });
  await untilConnected();
  // A HEAD and a PUT each time.
  await expect.poll(() => origin.requests.length).toBeGreaterThan(4);
  expect(worker.output()).toMatch(
    /^worker: the media store can't be used yet: The S3 store answered 404 NoSuchBucket to PUT \S+ Look at S3_BUCKET\.\n$/,
  );
  await worker.stop();
  expect(await worker.ended).toBe(0);
  await origin.close();
});

test("a node that is of another chain once it is back is not asked until it is of ours again", async () => {
  const node = await startRpcProxy(rpc.url);
  const other = await serveCalls(({ id, method }: { id: unknown; method: string }) => {
    const result = method === "eth_chainId" ? "0x5" : `0x${"0".repeat(128)}`;
    return { jsonrpc: "2.0", id, result };
  });
  await report(CHAIN_ID);
  const worker = start({ MAINNET_RPC_URL: node.url });
  const sql = postgres(database.url, { max: 1 });
  const nameOf = async (number: number) => {
    const bytes = toBytes(address(number));
    const rows = await sql`select name, attempts from offchain.contract_metadata where contract_address = ${bytes}`;
    return rows[0];
  };
  await mint(sql, { contract: address(2), tokens: [1], block: 2 });
  await sql`update offchain.network set indexed_block = 2`;
  await expect.poll(() => nameOf(2)).toMatchObject({ name: "Beta" });

  node.set({ isDown: true });
  await mint(sql, { contract: address(3), tokens: [1], block: 3 });
  await sql`update offchain.network set indexed_block = 3`;
  await expect.poll(async () => (await nameOf(3))?.attempts).toBeGreaterThan(0);
  node.set({ isDown: false, target: other.url });
  await sql`update offchain.contract_metadata set due_at = now() where name = ''`;
  await expect.poll(() => worker.output()).toContain("answers for chain 5. Expected the same; it is not asked.\n");
  expect(await nameOf(3)).toMatchObject({ name: "" });

  node.set({ target: rpc.url });
  await sql`update offchain.contract_metadata set due_at = now() where name = ''`;
  await expect.poll(() => nameOf(3)).toMatchObject({ name: "Gamma" });
  await worker.stop();
  await Promise.all([node.stop(), other.close(), sql.end()]);
});
