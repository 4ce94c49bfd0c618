import { fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import postgres from "postgres";
import { expect, test } from "vitest";
import { createTestDatabase } from "../test/database.ts";

test("it waits for a database that isn't there yet, says that once, and goes on when it is", async () => {
  const database = await createTestDatabase();
  const admin = postgres(database.url, { max: 1, onnotice: () => {} });
  const name = `made_later_${process.pid}`;
  const url = new URL(database.url);
  url.pathname = `/${name}`;
  const worker = fork("bin/worker.ts", {
    cwd: `${import.meta.dirname}/..`,
    silent: true,
    env: { PATH: process.env.PATH, DATABASE_URL: url.href, MAINNET_RPC_URL: "http://127.0.0.1:1" },
  });
  let said = "";
  for (const stream of [worker.stdout, worker.stderr]) stream?.on("data", (data: Buffer) => (said += data.toString()));
  await expect.poll(() => said, { timeout: 20_000 }).not.toBe("");
  // Longer than it waits between two looks.
  await sleep(2500);
  expect(said).toBe(`worker: the database can't be used yet: database "${name}" does not exist\n`);

  await admin`create database ${admin(name)}`;
  const sql = postgres(url.href, { max: 1, onnotice: () => {} });
  await expect
    .poll(
      () =>
        sql`select from offchain.migration`.then(
          ({ count }) => count,
          () => 0,
        ),
      { timeout: 20_000 },
    )
    .toBeGreaterThan(0);
  await sql.end();
  const exited = once(worker, "exit");
  worker.kill("SIGTERM");
  expect(await exited).toEqual([0, null]);
  await admin`drop database ${admin(name)} with (force)`;
  await admin.end();
  await database.drop();
});
