import * as fc from "fast-check";
import { expect, test } from "vitest";
import { hexOf } from "../../test/api.ts";
import { createTestDatabase, useDatabase } from "../../test/database.ts";
import { textJson, tokenIdHex } from "./item.ts";

const { sql } = await useDatabase(createTestDatabase, { max: 1 });

test("Postgres writes any token id in hex", async () => {
  const edges = [0n, 1n, 15n, 16n].concat(
    [60n, 63n, 64n, 120n, 128n, 180n, 240n, 256n].flatMap((bits) => [2n ** bits - 1n, 2n ** bits, 2n ** bits + 1n]),
  );
  const ids = edges
    .filter((id) => id < 2n ** 256n)
    .concat(fc.sample(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), 300))
    .concat(fc.sample(fc.bigInt({ min: 0n, max: 2n ** 70n }), 300));
  const rows = await sql.unsafe<{ hex: string }[]>(
    `select ${tokenIdHex("id")} as hex from unnest($1::text[]::numeric[]) with ordinality as list (id, place) order by place`,
    [ids.map(String)],
  );
  expect(rows.map(({ hex }) => hex)).toEqual(ids.map(hexOf));
});

test("Postgres writes any text as JSON", async () => {
  const texts = fc
    .sample(fc.string({ unit: "binary", maxLength: 40 }), 300)
    .filter((text) => !text.includes("\0"))
    .concat('"', "\\", "\n\r\t\b\f\u0001\u001f\u007f\u2028", "");
  const rows = await sql.unsafe<{ json: string }[]>(
    `select ${textJson("value")} as json from unnest($1::text[]) with ordinality as list (value, place) order by place`,
    [texts],
  );
  expect(rows.map(({ json }) => JSON.parse(json) as unknown)).toEqual(texts);
});
