import { expect, test } from "vitest";
import { createPool } from "../postgres/pool.ts";
import { createTestDatabase, useDatabase } from "../test/database.ts";
import { isOwned, OWNER_SESSION, takeOwnerLock } from "./owner-lock.ts";

const { database, sql } = await useDatabase(createTestDatabase, { max: 1 });
const lost: string[] = [];
const take = (onLost: (line: string) => void) => takeOwnerLock(database.url, { where: "DATABASE_URL", onLost });

async function cutOff(): Promise<void> {
  const rows = await sql`
    select pg_terminate_backend(pid)
    from pg_stat_activity
    where datname = current_database()
      and application_name = ${OWNER_SESSION}
  `;
  expect(rows).toHaveLength(1);
}

test("there is one owner at a time", async () => {
  const release = await take((line) => lost.push(line));
  expect(await isOwned(database.url)).toBe(true);
  await expect(take(() => {})).rejects.toThrow("DATABASE_URL is in use by another npm start.");
  await release();
  await expect.poll(() => isOwned(database.url)).toBe(false);
  expect(lost).toEqual([]);
});

test("an owner whose session was cut takes the lock again", async () => {
  const release = await take((line) => lost.push(line));
  await cutOff();
  await expect.poll(() => isOwned(database.url)).toBe(true);
  await expect(take(() => {})).rejects.toThrow("is in use by another npm start.");
  await release();
  expect(lost).toEqual([]);
});

test("an owner whose lock another one has by then says so", async () => {
  const release = await take((line) => lost.push(line));
  const other = createPool(database.url, { max: 1 });
  await cutOff();
  await other`select pg_advisory_lock(4027311002)`;
  await expect.poll(() => lost).toEqual(["DATABASE_URL was taken over by another npm start; this one ends."]);
  await release();
  await other.end();
});
