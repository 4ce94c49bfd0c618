import { expect, inject, test } from "vitest";
import { createPool } from "./pool.ts";

test.each([
  ["postgresSocketUrl", true],
  ["postgresUrl", false],
] as const)("%s: whether it is a Unix socket: %s", async (name, isSocket) => {
  const sql = createPool(inject(name), { max: 1 });
  const rows = await sql`select inet_server_addr() is null as is_socket, repeat('é', 100000) as text`;
  expect(rows).toEqual([{ is_socket: isSocket, text: "é".repeat(100_000) }]);
  await sql.end();
});

test("a socket that isn't there is an error", async () => {
  const sql = createPool("postgres://nobody@%2Fnowhere%2Fat%20all:1/x", { max: 1 });
  await expect(sql`select 1`).rejects.toMatchObject({ code: "ENOENT", address: "/nowhere/at all/.s.PGSQL.1" });
  await sql.end();
});
