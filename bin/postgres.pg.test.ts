import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, expect, test, vi } from "vitest";
import { createPool } from "../pool.ts";
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

async function start(): Promise<EmbeddedPostgres> {
  const server = await startPostgres({ directory, isDurable: false });
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

test("a server that was killed is started again at the same address", async () => {
  const server = await start();
  const [pid] = (await readFile(join(directory, "postgres/postmaster.pid"), "utf8")).split("\n");
  process.kill(Number(pid), "SIGKILL");
  await vi.waitUntil(async () => !(await server.isRunning()));
  await server.restart();
  expect(await ask(server)).toBe(1);
});

test("a password that a crash left empty, and a half-made folder, are made anew", async () => {
  await writeFile(join(directory, "postgres.password"), "");
  expect(await ask(await start())).toBe(1);
  expect((await readFile(join(directory, "postgres.password"), "utf8")).length).toBeGreaterThan(20);
  expect(existsSync(join(directory, "postgres.new"))).toBe(false);
});
