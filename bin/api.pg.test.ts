import { type ChildProcess, fork } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import postgres from "postgres";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { createReadableDatabase, createEmptyDatabase, type TestDatabase } from "../test/database.ts";
import { WAIT_TIMEOUT_MS } from "../test/indexer.ts";
import { findFreePort } from "../indexer/free-port.ts";
import { migrate } from "../offchain/migrate.ts";
import { withDatabase } from "../postgres/pool.ts";
import { serveRpc } from "../test/rpc-server.ts";
import { CHAIN_ID } from "../test/tokens.ts";

let database: TestDatabase;
const children: ChildProcess[] = [];

beforeAll(async () => {
  database = await createEmptyDatabase();
});
afterAll(async () => {
  for (const child of children) child.kill("SIGKILL");
  await database.drop();
});

function start(env: Record<string, string>, { cwd = `${import.meta.dirname}/..` } = {}) {
  const child = fork(`${import.meta.dirname}/api.ts`, {
    cwd,
    silent: true,
    env: { PATH: process.env.PATH, ...env },
  });
  children.push(child);
  let stderr = "";
  let stdout = "";
  child.stderr?.on("data", (data: Buffer) => (stderr += data.toString()));
  child.stdout?.on("data", (data: Buffer) => (stdout += data.toString()));
  const exited = once(child, "exit").then(([code]) => ({ code: code as number, stderr, stdout }));
  return { child, exited };
}

const untilUp = (port: number) =>
  vi.waitUntil(
    () =>
      fetch(`http://127.0.0.1:${port}/health`).then(
        ({ ok }) => ok,
        () => false,
      ),
    { timeout: WAIT_TIMEOUT_MS, interval: 100 },
  );

test("a bad start is one line and code 1", async () => {
  const blocker = createServer().listen(0, "127.0.0.1");
  await once(blocker, "listening");
  const { port } = blocker.address() as { port: number };
  for (const [env, message] of [
    [{}, /^DATABASE_URL is not set\. .*\n$/],
    [{ DATABASE_URL: database.url, PORT: "x" }, /^PORT is "x"\. .*\n$/],
    [{ DATABASE_URL: database.url, PORT: String(port) }, new RegExp(`^PORT ${port} is taken .*\n$`)],
  ] as [Record<string, string>, RegExp][]) {
    const { code, stderr } = await start(env).exited;
    expect([code, message.test(stderr) || stderr]).toEqual([1, true]);
  }
  blocker.close();
});

test("a node of another chain than is set ends it with one line, and one that can't be reached doesn't", async () => {
  const rpc = await serveRpc({});
  const urls = (network: string) => ({
    [`${network}_RPC_URL`]: `http://127.0.0.1:9,${rpc.url}/secret`,
    [`${network}_CHAIN_ID`]: "1",
  });
  for (const network of ["MAINNET", "TESTNET"]) {
    const env = { DATABASE_URL: database.url, PORT: String(await findFreePort()), ...urls(network) };
    const { code, stderr } = await start(env).exited;
    expect(code).toBe(1);
    expect(stderr).toMatch(
      new RegExp(
        `^${network}_CHAIN_ID is 1, but ${network}_RPC_URL 127\\.0\\.0\\.1:\\d+ answers for chain ${CHAIN_ID}\\. Expected the same\\.\n$`,
      ),
    );
  }
  await rpc.close();
  const port = await findFreePort();
  const silent = { MAINNET_RPC_URL: "http://127.0.0.1:9", MAINNET_CHAIN_ID: "1" };
  const { child, exited } = start({ DATABASE_URL: database.url, PORT: String(port), ...silent });
  await untilUp(port);
  child.kill("SIGTERM");
  expect((await exited).code).toBe(0);
});

test("a .env that can't be read is one line and code 1, and one that can goes behind the environment", async () => {
  const cwd = await mkdtemp(join(tmpdir(), "nft-index-env-"));
  try {
    await writeFile(join(cwd, ".env"), 'DATABASE_URL=none\nPORT="0" # none\n');
    expect((await start({ PORT: "x" }, { cwd }).exited).stderr).toMatch(/^PORT is "x"\. .*\n$/);
    expect((await start({}, { cwd }).exited).stderr).toMatch(/^PORT is "0"\. .*\n$/);
    await writeFile(join(cwd, ".env"), "\uFEFFPORT=1e3\r\nDATABASE_URL=none\r\n");
    expect((await start({}, { cwd }).exited).stderr).toMatch(/^PORT is "1e3"\. .*\n$/);
    await rm(join(cwd, ".env"));
    await mkdir(join(cwd, ".env"));
    const { code, stderr } = await start({}, { cwd }).exited;
    expect(code).toBe(1);
    expect(stderr).toBe(
      ".env can't be read (EISDIR: illegal operation on a directory, read). Expected a file that this user may read, or none.\n",
    );
  } finally {
    await rm(cwd, { recursive: true });
  }
});

test.each(["SIGTERM", "SIGINT", "SIGHUP", "disconnect"] as const)(
  "%s ends it with code 0, and its log is JSON",
  async (reason) => {
    const port = await findFreePort();
    const { child, exited } = start({ DATABASE_URL: database.url, PORT: String(port), API_KEYS: "secret-key-1" });
    await untilUp(port);
    const answer = await fetch(`http://127.0.0.1:${port}/v1/contracts`, { headers: { "x-api-key": "secret-key-1" } });
    expect(answer.status).toBe(503);
    if (reason === "disconnect") child.disconnect();
    else {
      child.kill(reason);
      await sleep(10);
      child.kill(reason);
    }
    const { code, stdout } = await exited;
    expect(code).toBe(0);
    const lines = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines.find(({ path }) => path === "/v1/contracts")).toMatchObject({ method: "GET", status: 503 });
    expect(stdout).not.toContain("secret-key-1");
  },
);

test("it ends without a word where whoever started it is gone before it listens", async () => {
  const { child, exited } = start({ DATABASE_URL: database.url, PORT: String(await findFreePort()) });
  child.disconnect();
  expect(await exited).toEqual({ code: 0, stderr: "", stdout: "" });
});

test("it comes up without its database and says so", async () => {
  const port = await findFreePort();
  const { child, exited } = start({ DATABASE_URL: "postgres://nobody@127.0.0.1:1/none", PORT: String(port) });
  await untilUp(port);
  expect((await fetch(`http://127.0.0.1:${port}/ready`)).status).toBe(503);
  child.kill("SIGTERM");
  expect((await exited).code).toBe(0);
});

test("it says once why it can't read, and answers as soon as its role may", async () => {
  const sql = postgres(database.url, { max: 1, onnotice: () => {} });
  await migrate(sql);
  const role = `reader_${randomBytes(4).toString("hex")}`;
  await sql.unsafe(`create role ${role} login password 'reads'`);
  const readUrl = new URL(database.url);
  [readUrl.username, readUrl.password] = [role, "reads"];
  const port = await findFreePort();
  const { child, exited } = start({
    DATABASE_URL: database.url,
    DATABASE_READ_URL: readUrl.href,
    PORT: String(port),
  });
  try {
    await untilUp(port);
    const messageOf = async () => {
      const response = await fetch(`http://127.0.0.1:${port}/ready`);
      return ((await response.json()) as { message: string }).message;
    };
    // Longer than between two looks.
    await sleep(2500);
    expect(await messageOf()).toBe("The database is unreachable.");
    await sql.unsafe(`grant pg_read_all_data to ${role}`);
    await expect.poll(messageOf).toBe("Nothing is indexed yet.");
    child.kill("SIGTERM");
    const { stdout } = await exited;
    expect(stdout.match(/"the database is unreachable","error":"permission denied for schema offchain"/g)).toHaveLength(
      1,
    );
  } finally {
    child.kill("SIGKILL");
    await exited;
    await sql.unsafe(`drop role ${role}`);
    await sql.end();
  }
});

test("the first request that is let in is answered", async () => {
  const indexed = await createReadableDatabase();
  const sql = postgres(indexed.url, { max: 1, onnotice: () => {} });
  await sql`insert into offchain.network (name, chain_id, state) values ('mainnet', 1, 'live')`;
  await sql.end();
  const port = await findFreePort();
  const { child, exited } = start({ DATABASE_URL: indexed.url, PORT: String(port) });
  const statusOf = () =>
    fetch(`http://127.0.0.1:${port}/ready`).then(
      ({ status }) => status,
      () => undefined,
    );
  let status;
  while ((status = await statusOf()) === undefined) await sleep(2);
  expect(status).toBe(200);
  child.kill("SIGTERM");
  await exited;
  await indexed.drop();
});

test("requests are told to come again while an upgrade changes our tables", async () => {
  const indexed = await createReadableDatabase();
  const sql = postgres(indexed.url, { max: 1, onnotice: () => {} });
  await sql`insert into offchain.network (name, chain_id, state) values ('mainnet', 1, 'live')`;
  const port = await findFreePort();
  const askReady = async () => {
    const response = await fetch(`http://127.0.0.1:${port}/ready`);
    return { ...((await response.json()) as object), status: response.status };
  };
  await sql.begin(async (tx) => {
    // As whoever changes them does until that is done.
    await tx`lock table offchain.migration`;
    start({ DATABASE_URL: indexed.url, PORT: String(port) });
    await untilUp(port);
    expect(await askReady()).toMatchObject({ status: 503, message: "The database is being brought up to date." });
  });
  await expect.poll(askReady).toMatchObject({ status: 200 });
  await sql.end();
  await indexed.drop();
});

test("requests are told to come again until a replica has the tables that an upgrade has changed", async () => {
  const [primary, replica] = [await createReadableDatabase(), await createReadableDatabase()];
  const sql = postgres(replica.url, { max: 1, onnotice: () => {} });
  await sql`insert into offchain.network (name, chain_id, state) values ('mainnet', 1, 'live')`;
  const [last] = await sql<{ name: string }[]>`
    delete from offchain.migration
    where name = (select max(name) from offchain.migration)
    returning name
  `;
  const port = await findFreePort();
  const { child, exited } = start({
    DATABASE_URL: primary.url,
    DATABASE_READ_URL: replica.url,
    PORT: String(port),
  });
  const askReady = async () => {
    const response = await fetch(`http://127.0.0.1:${port}/ready`);
    return { ...((await response.json()) as object), status: response.status };
  };
  await untilUp(port);
  // Longer than between two looks.
  await sleep(2500);
  expect(await askReady()).toMatchObject({ status: 503, message: "The database is being brought up to date." });
  await sql`insert into offchain.migration (name) values (${last!.name})`;
  await expect.poll(askReady).toMatchObject({ status: 200 });
  child.kill("SIGTERM");
  const { stdout } = await exited;
  expect(stdout.match(/DATABASE_READ_URL \S+ has the tables of an older version\./g)).toHaveLength(1);
  await sql.end();
  await Promise.all([primary.drop(), replica.drop()]);
});

test("it waits for a database that isn't there yet, and says that once", async () => {
  const port = await findFreePort();
  const url = withDatabase(database.url, "nobody_made_this_one");
  const { child, exited } = start({ DATABASE_URL: url, PORT: String(port) });
  await untilUp(port);
  // Longer than it waits between two looks.
  await sleep(2500);
  const headers = { "x-api-key": "of-somebody" };
  const answer = await fetch(`http://127.0.0.1:${port}/v1/contracts`, { headers });
  expect(answer.status).toBe(503);
  expect(await answer.json()).toEqual({ type: "api_error", message: "The database is unreachable." });
  child.kill("SIGTERM");
  const { stdout } = await exited;
  expect(stdout.match(/the database can't be used yet/g)).toHaveLength(1);
});
