import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, rm, symlink } from "node:fs/promises";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import postgres from "postgres";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { readConfig } from "../config.ts";
import { findFreePort } from "../indexer/free-port.ts";
import { withDatabase } from "../postgres/pool.ts";
import { startChain } from "../test/chain.ts";
import { startCommand } from "../test/command.ts";
import { createEmptyDatabase, type TestDatabase } from "../test/database.ts";
import { address } from "../test/tokens.ts";
import { runCommand } from "./command.ts";
import { withLock } from "./file-lock.ts";
import { takeOwnerLock } from "./owner-lock.ts";
import { startPostgres } from "./postgres.ts";

let database: TestDatabase;

beforeAll(async () => {
  database = await createEmptyDatabase();
});
afterAll(async () => {
  await database.drop();
});

/** What a command ends with, and what it printed. */
async function runToEnd(...started: Parameters<typeof startCommand>): Promise<[code: number | string, output: string]> {
  const command = startCommand(...started);
  return [await command.ended, command.output()];
}

async function run(name: string, ...args: string[]): Promise<string> {
  const [code, output] = await runToEnd(name, { env: { DATABASE_URL: database.url }, args });
  expect(code, output).toBe(0);
  return output;
}

test("where DATABASE_URL is all that is set, commands work on that database and make no other", async () => {
  expect(await run("collections", "list")).toBe("ADDRESS  VERIFIED\n");
  await run("keys", "create", "alone");
  await run("collections", "verify", address(1));
  expect(await run("keys", "list")).toContain("alone");
  expect(await run("collections", "list")).toMatch(
    new RegExp(`^ADDRESS +VERIFIED\\n${address(1)}  \\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ\\n$`),
  );

  const sql = postgres(database.url, { max: 1 });
  expect(await sql`select name from offchain.api_key`).toMatchObject([{ name: "alone" }]);
  expect(await sql`select from offchain.verified_collection`).toHaveLength(1);
  expect(await sql`select from pg_database where datname = 'nft_index_demo'`).toEqual([]);
  await sql.end();
});

test.skipIf(!existsSync("/dev/full"))("what can't be printed is told, and a key that nobody saw is none", async () => {
  const own = await createEmptyDatabase();
  const node = `"${process.execPath}" "${join(import.meta.dirname, "keys.ts")}"`;
  const { PATH } = process.env;
  const shell = (script: string) =>
    spawnSync("bash", ["--norc", "-c", script], { env: { PATH, DATABASE_URL: own.url } });
  const told = ({ status, stdout, stderr }: ReturnType<typeof shell>) => [status, String(stdout), String(stderr)];
  try {
    const unwritten = "Standard output can't be written (ENOSPC: no space left on device, write).\n";
    const uncreated = "The key can't be printed, and wasn't created.\n";
    expect(told(shell(`${node} list >/dev/full`))).toEqual([1, "", unwritten]);
    expect(told(shell(`${node} create lost >/dev/full`))).toEqual([1, "", unwritten + uncreated]);
    // Who reads is gone before there is anything, as a program that failed.
    expect(told(shell(`set -o pipefail; ${node} create lost | exec true`))).toEqual([1, "", uncreated]);
    // Who has read enough has missed nothing.
    expect(told(shell(`set -o pipefail; ${node} list | exec true`))).toEqual([0, "", ""]);
    expect(told(shell(`${node} list`))).toEqual([0, "PREFIX  NAME  CREATED  LAST USED  REQUESTS  STATE\n", ""]);
  } finally {
    await own.drop();
  }
});

test("the list of keys gives the terminal no orders, whoever named them", async () => {
  await run("keys", "create", "\u202Eme\u2028not \u2066you");
  expect(await run("keys", "list")).toMatch(/^nft_\w{8}  +me not  you +\d{4}-\S+Z +- +0 +active$/m);
});

test("what the database refuses is told in one line, and a fault of ours with its stack", async () => {
  const told = vi.spyOn(console, "error").mockImplementation(() => {});
  const fault = new TypeError("Cannot read properties of undefined");
  try {
    const config = readConfig({ DATABASE_URL: database.url });
    await runCommand(config, async (sql) => void (await sql`select from nowhere`));
    expect([process.exitCode, told.mock.lastCall]).toEqual([
      1,
      ['The database can\'t be used: relation "nowhere" does not exist'],
    ]);
    process.exitCode = undefined;
    await runCommand(config, () => Promise.reject(fault));
    expect([process.exitCode, told.mock.lastCall]).toEqual([1, [fault]]);
  } finally {
    process.exitCode = undefined;
    told.mockRestore();
  }
});

test.each(["start", "indexer", "worker", "api"])("npm run %s takes no arguments", async (name) => {
  const ended = await runToEnd(name, { env: { DATABASE_URL: database.url }, args: ["--port", "4000"] });
  expect(ended).toEqual([1, 'Argument "--port" is unknown. Expected none: what is set is in the environment.\n']);
});

test.each([
  ["start", "--help", "Expected no arguments: what can be set is in the environment, as the README says."],
  ["worker", "-h", "Expected no arguments: what can be set is in the environment, as the README says."],
  ["rebuild", "--help", "Expected: npm run rebuild | npm run rebuild -- --refetch"],
  ["keys", "--help", "Expected: npm run keys -- create NAME | list | revoke PREFIX"],
  ["collections", "-h", "Expected: npm run collections -- verify ADDRESS | unverify ADDRESS | list"],
  ["metadata", "--help", "Expected: npm run metadata -- explain CONTRACT ID | refresh CONTRACT [ID] | retry"],
])("npm run %s says what it takes where that is asked for, whatever is set", async (name, argument, line) => {
  expect(await runToEnd(name, { env: { DATABASE_URL: "none" }, args: [argument] })).toEqual([0, `${line}\n`]);
});

test.each(["start", "indexer"])(
  "npm run %s reports of a network whose node says no more than its chain",
  async (name) => {
    const own = await createEmptyDatabase();
    const dataDir = await mkdtemp(join(tmpdir(), "nft-index-"));
    const port = String(await findFreePort());
    const node = createHttpServer((request, response) => {
      request.on("data", (body: Buffer) => {
        const { id, method, params } = JSON.parse(body.toString()) as {
          id: number;
          method: string;
          params?: unknown[];
        };
        if (method === "eth_chainId") response.end(JSON.stringify({ jsonrpc: "2.0", id, result: "0x7" }));
        if (params?.[0] === "0x0") response.end(JSON.stringify({ jsonrpc: "2.0", id, result: null }));
      });
    }).listen(0, "127.0.0.1");
    await once(node, "listening");
    const env = {
      DATABASE_URL: own.url,
      DATA_DIR: dataDir,
      PORT: port,
      MAINNET_RPC_URL: `http://127.0.0.1:${(node.address() as AddressInfo).port}`,
    };
    const parts = name === "start" ? [name] : [name, "api"];
    const commands = parts.map((part) => startCommand(part, { env }));
    const ask = (path: string) => fetch(`http://127.0.0.1:${port}${path}`);
    const readNetworks = async () => ((await (await ask("/status")).json()) as { networks: object }).networks;
    try {
      await expect.poll(() => readNetworks().catch(() => ({}))).toHaveProperty("mainnet");
      expect(await readNetworks()).toEqual({
        mainnet: expect.objectContaining({
          chain_id: 7,
          state: "backfill",
          head_block: 0,
          indexed_block: 0,
          progress: 0,
        }),
      });
      expect((await ask("/testnet/v1/contracts")).status).toBe(404);
    } finally {
      node.close();
      node.closeAllConnections();
      await Promise.all(commands.map((command) => (name === "start" ? command.stop() : command.kill())));
      await own.drop();
      await rm(dataDir, { recursive: true });
    }
  },
);

test("npm run indexer ends with one line where it loses the database while it starts", async () => {
  const chain = await startChain();
  await run("keys", "list");
  const [holder, watcher] = [postgres(database.url, { max: 1 }), postgres(database.url, { max: 1 })];
  try {
    const command = await holder.begin(async (tx) => {
      await tx`lock table offchain.migration`;
      const started = startCommand("indexer", { env: { DATABASE_URL: database.url, MAINNET_RPC_URL: chain.rpcUrl } });
      const cutOff = () => watcher`
        select pg_terminate_backend(pid)
        from pg_stat_activity
        where
          datname = current_database()
          and wait_event_type = 'Lock'
      `;
      await expect.poll(async () => (await cutOff()).length).toBe(1);
      return started;
    });
    expect(await command.ended).toBe(1);
    expect(command.output()).toMatch(/^The database was lost \(.+\)\. Started again, all goes on where it was\.\n$/);
  } finally {
    await Promise.all([holder.end(), watcher.end(), chain.stop()]);
  }
});

test("npm run indexer names variables that nothing reads", async () => {
  const env = { DATABASE_URL: database.url, MAINNET_RPC_URL: "http://127.0.0.1:9", MAINNET_CONTRACT: "0x" };
  const [code, output] = await runToEnd("indexer", { env, isByNpm: true });
  expect(code).toBe(1);
  expect(output).toMatch(
    /\nMAINNET_CONTRACT is set, but nothing reads it\. Expected .*\nMAINNET_RPC_URL is unreachable .*\n$/,
  );
});

test.each([
  ["keys", ["create", " "], "name is empty. Expected 1 to 100 characters."],
  ["keys", ["create", "--name"], "Expected: npm run keys -- create NAME | list | revoke PREFIX"],
  ["collections", ["verify", "0x12"], 'Address "0x12" is invalid. Expected 0x and 40 hex digits.'],
])("npm run %s says of an argument what the API would", async (name, args, line) => {
  expect(await runToEnd(name, { env: { DATABASE_URL: database.url }, args })).toEqual([1, `${line}\n`]);
});

test("a role that may not make our tables ends a part with one line", async () => {
  const role = `weak_${randomBytes(4).toString("hex")}`;
  const sql = postgres(database.url, { max: 1 });
  await sql.unsafe(`create role ${role} login password 'weak'`);
  const url = new URL(database.url);
  [url.username, url.password] = [role, "weak"];
  try {
    const [code, output] = await runToEnd("rebuild", { env: { DATABASE_URL: url.href } });
    expect(code).toBe(1);
    expect(output).toMatch(/^DATABASE_URL \S+ can't be used \(permission denied for database \w+\)\. Expected .*\n$/);
  } finally {
    await sql.unsafe(`drop role ${role}`);
    await sql.end();
  }
});

test("a role that may make no temporary tables, which later blocks need, is refused with what it takes", async () => {
  const { name, url, drop } = await createEmptyDatabase();
  const role = `bare_${randomBytes(4).toString("hex")}`;
  const sql = postgres(url, { max: 1 });
  await sql.unsafe(`create role ${role} login password 'bare'`);
  await sql.unsafe(`revoke all on database ${name} from public`);
  await sql.unsafe(`grant connect, create on database ${name} to ${role}`);
  const own = new URL(url);
  [own.username, own.password] = [role, "bare"];
  const env = { DATABASE_URL: own.href };
  try {
    const line = `DATABASE_URL ${own.host}/${name} has a role that may make no temporary tables. Expected one that may, as by: grant temporary on database ${name} to ${role}.\n`;
    expect(await runToEnd("rebuild", { env })).toEqual([1, line]);
    // As it says.
    await sql.unsafe(`grant temporary on database ${name} to ${role}`);
    expect((await runToEnd("rebuild", { env }))[1]).not.toContain("temporary");
  } finally {
    await sql.unsafe(`drop owned by ${role}`);
    await sql.unsafe(`drop role ${role}`);
    await sql.end();
    await drop();
  }
});

/** What every pooler passes on of a session's settings. */
const POOLED = new Set(["user", "database", "client_encoding", "application_name"]);

/** What PgBouncer makes of our sessions in each of its modes, as it comes and told to ignore settings. */
async function startPooler(databaseUrl: string, { isIgnoring }: { isIgnoring: boolean }) {
  const { hostname, port } = new URL(databaseUrl);
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname).on("error", () => {});
    client
      .on("error", () => {})
      .once("data", (message) => {
        const parts = message.subarray(8).toString().split("\0");
        const settings = parts.flatMap((name, place) =>
          place % 2 === 0 && name !== "" ? [[name, parts[place + 1]!]] : [],
        );
        const unknown = settings.find(([name]) => !POOLED.has(name!));
        if (unknown && !isIgnoring)
          return void client.end(toMessage("E", `SFATAL\0C08P01\0Munsupported startup parameter: ${unknown[0]}\0\0`));
        const known = settings.filter(([name]) => POOLED.has(name!)).map((setting) => `${setting.join("\0")}\0`);
        upstream.write(toMessage("", `${message.subarray(4, 8).toString()}${known.join("")}\0`));
        client.pipe(upstream).pipe(client);
      });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const url = new URL(databaseUrl);
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url: url.href, close: () => server.close() };
}
function toMessage(type: string, content: string): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(4 + Buffer.byteLength(content));
  return Buffer.concat([Buffer.from(type), length, Buffer.from(content)]);
}

test.each([
  [false, "unsupported startup parameter: tcp_keepalives_idle"],
  [true, "settings of a session don't reach Postgres"],
])("a pooler is told as one, told to ignore settings or not: %s", async (isIgnoring, why) => {
  const pooler = await startPooler(database.url, { isIgnoring });
  try {
    const { host, pathname } = new URL(pooler.url);
    const line = `DATABASE_URL ${host}${pathname} is a pooler (${why}). Expected Postgres itself: our sessions hold settings and locks.\n`;
    const env = { DATABASE_URL: pooler.url, MAINNET_RPC_URL: "http://127.0.0.1:9" };
    for (const name of ["indexer", "rebuild"]) expect(await runToEnd(name, { env })).toEqual([1, line]);
    const worker = startCommand("worker", { env });
    await expect.poll(() => worker.output()).toBe(`worker: the database can't be used yet: ${line}`);
    await worker.stop();
    const ofApi = { ...env, DATABASE_READ_URL: pooler.url, PORT: String(await findFreePort()) };
    const api = startCommand("api", { env: ofApi });
    for (const name of ["DATABASE_URL", "DATABASE_READ_URL"])
      await expect.poll(() => api.output()).toContain(`"${name} ${host}${pathname} is a pooler (${why})`);
    await api.stop();
  } finally {
    pooler.close();
  }
});

test("a database that not all parts can work with ends a part with one line that says what it takes", async () => {
  const suffix = randomBytes(4).toString("hex");
  const [name, role] = [`latin_${suffix}`, `hasty_${suffix}`];
  const sql = postgres(database.url, { max: 1 });
  const expectLine = async (url: string, line: RegExp) => {
    const [code, output] = await runToEnd("rebuild", { env: { DATABASE_URL: url } });
    expect(code).toBe(1);
    expect(output).toMatch(line);
  };
  await sql.unsafe(`create database ${name} template template0 encoding 'LATIN1' locale 'C'`);
  await sql.unsafe(`create role ${role} superuser login password 'hasty'`);
  try {
    await expectLine(
      withDatabase(database.url, name),
      /^DATABASE_URL \S+ has the encoding LATIN1\. Expected UTF8, as by: create database NAME template template0 encoding 'UTF8' locale 'C'\.\n$/,
    );
    const several = new URL(database.url);
    several.hostname = `${several.hostname},localhost`;
    await expectLine(
      several.href,
      /^DATABASE_URL \S+,\S+ are several hosts\. Expected one: Ponder connects to no more\.\n$/,
    );
    const [timeout] = await sql`select from pg_settings where name = 'transaction_timeout'`;
    if (!timeout) return;
    await sql.unsafe(`alter role ${role} set transaction_timeout = '20s'`);
    const own = new URL(database.url);
    [own.username, own.password] = [role, "hasty"];
    await expectLine(
      own.href,
      /^DATABASE_URL \S+ ends each transaction after 20s\. .* alter role hasty_\w+ set transaction_timeout = 0\.\n$/,
    );
  } finally {
    await sql.unsafe(`drop database ${name}`);
    await sql.unsafe(`drop role ${role}`);
    await sql.end();
  }
});

test("what a newer version has changed is left alone, and each part says so in one line", async () => {
  const newer = await createEmptyDatabase();
  const sql = postgres(newer.url, { max: 1 });
  try {
    const env = { DATABASE_URL: newer.url };
    expect((await runToEnd("keys", { env, args: ["create", "kept"] }))[0]).toBe(0);
    await sql`insert into offchain.migration (name) values ('999-later.sql')`;
    const line =
      "A newer version has changed our tables in this database (999-later.sql). Expected that version, or a backup from before it.\n";
    expect(await runToEnd("keys", { env, args: ["create", "other"] })).toEqual([1, line]);
    expect(await runToEnd("rebuild", { env })).toEqual([1, line]);
    const worker = startCommand("worker", { env: { ...env, MAINNET_RPC_URL: "http://127.0.0.1:9" } });
    await expect.poll(() => worker.output()).toBe(`worker: the database can't be used yet: ${line}`);
    await worker.stop();
    expect(await sql`select name from offchain.api_key`).toMatchObject([{ name: "kept" }]);
  } finally {
    await sql.end();
    await newer.drop();
  }
});

test("a command where nothing was ever started says so and makes nothing", async () => {
  const directory = await mkdtemp(join(tmpdir(), "nft-index-command-"));
  try {
    const [code, output] = await runToEnd("keys", { env: { DATA_DIR: directory }, args: ["list"] });
    expect(code).toBe(1);
    expect(output).toBe("Nothing was ever started here. Expected npm start, MAINNET_RPC_URL or DATABASE_URL.\n");
    expect(await readdir(directory)).toEqual([]);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});

test("a command that isn't told the node of the service asks for it", async () => {
  const directory = await mkdtemp(join(tmpdir(), "nft-index-command-"));
  try {
    const env = { DATA_DIR: directory };
    const told = { ...env, MAINNET_RPC_URL: "http://127.0.0.1:9" };
    expect((await runToEnd("keys", { env: told, args: ["create", "kept"] }))[0]).toBe(0);
    const line = `What was started in DATA_DIR ${directory} follows a chain, and no demo. Expected MAINNET_RPC_URL and its other variables here too.\n`;
    expect(await runToEnd("keys", { env, args: ["list"] })).toEqual([1, line]);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});

test("a command that fails leaves no Postgres of its own behind", async () => {
  const directory = await mkdtemp(join(tmpdir(), "nft-index-command-"));
  try {
    const env = { DATA_DIR: directory, MAINNET_RPC_URL: "http://127.0.0.1:9" };
    const [code, output] = await runToEnd("rebuild", { env });
    expect(code).toBe(1);
    expect(output).toMatch(/^MAINNET_RPC_URL is unreachable .*\n$/);
    expect(existsSync(join(directory, "postgres/PG_VERSION"))).toBe(true);
    expect(existsSync(join(directory, "postgres/postmaster.pid"))).toBe(false);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});

test("a command that is told to end leaves no Postgres of its own behind", async () => {
  const directory = await mkdtemp(join(tmpdir(), "nft-index-command-"));
  const pidFile = join(directory, "postgres/postmaster.pid");
  try {
    const env = { DATA_DIR: directory, MAINNET_RPC_URL: "http://127.0.0.1:9" };
    const command = startCommand("keys", { env, args: ["list"], isOfTerminal: true });
    await expect.poll(() => existsSync(pidFile)).toBe(true);
    // It can't stop its Postgres before this is released: it is still to do so.
    await withLock(join(directory, "postgres.changing"), async () => {
      process.kill(-command.pid, "SIGINT");
    });
    expect(await command.ended, command.output()).toBe(130);
    expect(existsSync(pidFile)).toBe(false);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});

test("a disk without room is told with the file that it has none for", async () => {
  const directory = await mkdtemp(join(tmpdir(), "nft-index-full-"));
  try {
    await symlink("/dev/full", join(directory, "postgres.password.new"));
    const env = { DATA_DIR: directory, PORT: String(await findFreePort()) };
    expect(await runToEnd("start", { env })).toEqual([
      1,
      `${directory}/postgres.password can't be written (ENOSPC: no space left on device, write). Expected a disk that has room.\n`,
    ]);
  } finally {
    await rm(directory, { recursive: true });
  }
});

test("while a demo runs on the server of DATABASE_URL, they work on the demo's", async () => {
  // A server of its own: the commands of tests that run beside this one would find the demo, too.
  const directory = await mkdtemp(join(tmpdir(), "nft-index-server-"));
  const server = await startPostgres({ directory, isDurable: false });
  try {
    const url = server.tcpUrlOf("postgres");
    const demo = withDatabase(url, "nft_index_demo");
    const [admin, sql] = [postgres(url, { max: 1 }), postgres(demo, { max: 1 })];
    await admin`create database nft_index_demo`;
    const release = await takeOwnerLock(demo, { where: "DATABASE_URL", onLost: () => {} });
    const [code, output] = await runToEnd("keys", { env: { DATABASE_URL: url }, args: ["create", "of the demo"] });
    expect(code, output).toBe(0);
    expect(await sql`select name from offchain.api_key`).toMatchObject([{ name: "of the demo" }]);
    await Promise.all([release(), admin.end(), sql.end()]);
  } finally {
    await server.stop();
    await rm(directory, { recursive: true });
  }
});
