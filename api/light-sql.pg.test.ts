import postgres, { type Fragment, type Sql } from "postgres";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createMigratedDatabase, type TestDatabase } from "../test/database.ts";
import { lightSql } from "./light-sql.ts";

let database: TestDatabase;
let sql: Sql;
const sent: { text: string; parameters: unknown[] }[] = [];

beforeAll(async () => {
  database = await createMigratedDatabase();
  const debug = (_: number, text: string, parameters: unknown[]) => void sent.push({ text, parameters });
  sql = postgres(database.url, { max: 1, fetch_types: false, onnotice: () => {}, debug });
});
afterAll(async () => {
  await sql.end();
  await database.drop();
});

/** Pieces in pieces, a value twice, bytes, null, an empty piece and a text that is none of ours. */
function statement(on: Sql) {
  const isBelow = (column: Fragment, most: number) => on`${column} < ${most}::int`;
  return on<{ n: number; bytes: Buffer; nothing: null }[]>`
    select
      ${on.unsafe("n")},
      ${Buffer.from("00ff", "hex")}::bytea as bytes,
      ${null}::text as nothing
    from generate_series(${1}::int, ${9}::int) as n
    where
      ${isBelow(on`n`, 4)}
      and ${isBelow(on`n`, 4)}
      ${on``}
    order by n
  `;
}

test("sends what the driver would send, and answers the same", async () => {
  const expected = await statement(sql);
  const rows = await statement(lightSql(sql));
  expect([...rows]).toEqual([...expected]);
  expect(rows.map(({ n }) => n)).toEqual([1, 2, 3]);
  expect(sent.at(-1)).toEqual(sent.at(-2));
});

test("a statement that Postgres refuses is refused as by the driver", async () => {
  await expect(lightSql(sql)`select 1 / ${0}::int`).rejects.toMatchObject({ code: "22012" });
});
