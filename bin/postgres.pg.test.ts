import { execFileSync } from "node:child_process";
import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeEach, expect, test } from "vitest";
import { createPool } from "../postgres/pool.ts";
import { type EmbeddedPostgres, startPostgres } from "./postgres.ts";

const folders: string[] = [];
const started: EmbeddedPostgres[] = [];
let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "nft-index-postgres-"));
  folders.push(directory);
});
afterEach(async () => {
  for (const server of started.splice(0)) await server.stop();
});
afterAll(async () => {
  for (const folder of folders) await rm(folder, { recursive: true, force: true });
});

async function start(path = directory): Promise<EmbeddedPostgres> {
  const server = await startPostgres({ directory: path, isDurable: false });
  started.push(server);
  return server;
}

async function ask(server: EmbeddedPostgres): Promise<number | undefined> {
  const sql = createPool(server.urlOf("postgres"), { max: 1 });
  try {
    const [row] = await sql<{ one: number }[]>`select 1 as one`;
    return row?.one;
  } finally {
    await sql.end({ timeout: 1 });
  }
}

test("three starts at once on an empty folder share one server, which the last of them stops", async () => {
  const [first, second, third] = await Promise.all([start(), start(), start()]);
  expect(new Set([first, second, third].map(({ urlOf }) => urlOf("postgres"))).size).toBe(1);
  await first.stop();
  await second.stop();
  expect(await ask(third)).toBe(1);
  await third.stop();
  expect(await third.isRunning()).toBe(false);
});

test("a server that was killed is started again at the same address, for those too who come meanwhile", async () => {
  const server = await start();
  const [pid] = (await readFile(join(directory, "postgres/postmaster.pid"), "utf8")).split("\n");
  process.kill(Number(pid), "SIGKILL");
  await expect.poll(server.isRunning).toBe(false);
  const other = start();
  await sleep(1_000);
  await server.restart();
  expect(await ask(server)).toBe(1);
  expect((await other).urlOf("postgres")).toBe(server.urlOf("postgres"));
});

test("one that can't be seen from here, as that of another container, is left alone", async () => {
  const server = await start();
  const file = join(directory, "postgres/postmaster.pid");
  const mark = await readFile(file, "utf8");
  // What its number means there means something else here.
  const foreign = mark.replace(/^\d+/, String(process.pid));
  await writeFile(file, foreign);
  await expect(start()).rejects.toThrow("is in use, but can't be seen from here");
  expect(await readFile(file, "utf8")).toBe(foreign);
  await writeFile(file, mark);
  expect(await ask(server)).toBe(1);
});

test("a log that has become large is put aside, and the server goes on in it", async () => {
  const server = await start();
  const log = join(directory, "postgres/server.log");
  await server.rotateLog();
  await expect(stat(`${log}.1`)).rejects.toThrow("ENOENT");
  await appendFile(log, `${"x".repeat(1023)}\n`.repeat(16 * 1024));
  await server.rotateLog();
  expect((await stat(`${log}.1`)).size).toBeGreaterThan(16 * 2 ** 20);
  const sql = createPool(server.urlOf("postgres"), { max: 1 });
  await expect(sql`select 1 / 0`).rejects.toThrow("division by zero");
  await sql.end();
  const text = await readFile(log, "utf8");
  expect(text).toContain("division by zero");
  expect(text.length).toBeLessThan(1000);
});

test("where it doesn't start, that is what is told, not what it said when it last ended", async () => {
  const server = await start();
  await server.stop();
  await rm(join(directory, "postgres/PG_VERSION"));
  await expect(start()).rejects.toThrow(
    /^Postgres did not start in \S+:\npg_ctl: directory "\S+" is not a database cluster directory$/,
  );
});

test.runIf(process.getuid?.() === 0)("root runs it as who owns its data, like the user of a service", async () => {
  const server = await start();
  await server.stop();
  const data = join(directory, "postgres");
  // Of nobody whose name the system knows.
  const owner = 54_321;
  execFileSync("chown", ["-R", String(owner), data]);
  expect(await ask(await start())).toBe(1);
  const [pid] = (await readFile(join(data, "postmaster.pid"), "utf8")).split("\n");
  expect((await stat(`/proc/${pid}`)).uid).toBe(owner);
});

test("a folder that is reached by a link has the server that runs there", async () => {
  const server = await start();
  const link = `${directory}-link`;
  folders.push(link);
  await symlink(directory, link);
  expect((await start(link)).urlOf("postgres")).toBe(server.urlOf("postgres"));
});

test("a folder may have any name but one that a shell takes for something else, which is said", async () => {
  expect(await ask(await start(join(directory, "it's a folder; 日本 %2F &(b)")))).toBe(1);
  for (const sign of ['"', "$", "`", "\n"])
    await expect(start(join(directory, `a${sign}b`))).rejects.toThrow(
      /^Postgres can't be started in ".*"\. Expected a path without ", \$, ` and line breaks\.$/,
    );
});

test("a password that a crash left empty, and a half-made folder, are made anew", async () => {
  await writeFile(join(directory, "postgres.password"), "");
  await mkdir(join(directory, "postgres.new-1", "base"), { recursive: true });
  expect(await ask(await start())).toBe(1);
  expect((await readFile(join(directory, "postgres.password"), "utf8")).length).toBeGreaterThan(20);
  expect((await readdir(directory)).filter((name) => name.startsWith("postgres.new"))).toEqual([]);
});
