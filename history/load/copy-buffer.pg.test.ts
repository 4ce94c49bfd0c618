import * as fc from "fast-check";
import postgres from "postgres";
import { numberToHex } from "viem";
import { expect, test } from "vitest";
import { createEmptyDatabase } from "../../test/database.ts";
import { copyInto } from "./copy.ts";
import {
  createCopyBuffer,
  putColumnCount,
  putInt4,
  putNumeric,
  putRow,
  putWordNumeric,
  reserve,
} from "./copy-buffer.ts";
import type { Column } from "./onchain-schema.ts";

const number = fc.oneof(
  fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
  fc.bigInt({ min: 0n, max: 20_000n }),
  fc.integer({ min: 0, max: 77 }).map((zeros) => 10n ** BigInt(zeros)),
  fc.integer({ min: 0, max: 255 }).map((bits) => 2n ** BigInt(bits)),
  fc.integer({ min: 0, max: 255 }).map((bits) => 2n ** BigInt(bits) - 1n),
);

test("Postgres reads every number as it was meant", async () => {
  const database = await createEmptyDatabase();
  const sql = postgres(database.url, { max: 1 });
  const numbers = fc.sample(number, { numRuns: 20_000, seed: 1 });
  await sql`create table number (place int, by_word numeric(78), by_value numeric(78))`;
  await copyInto(sql, "number", async (write) => {
    const out = createCopyBuffer();
    for (const [place, value] of numbers.entries()) {
      reserve(out, 200);
      putColumnCount(out, 3);
      putInt4(out, place);
      putWordNumeric(out, Buffer.from(numberToHex(value, { size: 32 }).slice(2), "hex"), 0);
      putNumeric(out, value);
    }
    await write(out.bytes.subarray(0, out.length));
  });
  const rows = await sql<{ by_word: string; by_value: string }[]>`select by_word, by_value from number order by place`;
  expect(rows.map(({ by_word }) => by_word)).toEqual(numbers.map(String));
  expect(rows.map(({ by_value }) => by_value)).toEqual(numbers.map(String));
  await sql.end();
  await database.drop();
});

test("Postgres reads every kind of column as it was meant, and what is left out as null", async () => {
  const database = await createEmptyDatabase();
  const sql = postgres(database.url, { max: 1 });
  const columns: Column[] = (["bytea", "text", "int4", "int8", "numeric", "boolean"] as const).map((type) => ({
    name: type,
    type,
    isNullable: true,
  }));
  await sql`create table kind (bytea bytea, text text, int4 int4, int8 int8, "numeric" numeric, "boolean" bool)`;
  const rows = [
    {
      bytea: "0x00ff",
      text: "Äpfel\n\\N",
      int4: 2 ** 31 - 1,
      int8: Number.MAX_SAFE_INTEGER,
      numeric: 0n,
      boolean: true,
    },
    { bytea: "0x", text: "", int4: 0, int8: 2 ** 32, numeric: 10n ** 77n, boolean: false },
    {},
  ];
  await copyInto(sql, "kind", async (write) => {
    const out = createCopyBuffer(8);
    for (const row of rows) putRow(out, columns, row);
    await write(out.bytes.subarray(0, out.length));
  });
  expect([...(await sql`select bytea::text, text, int4, int8::text, "numeric"::text, "boolean" from kind`)]).toEqual([
    { bytea: "\\x00ff", text: "Äpfel\n\\N", int4: 2147483647, int8: "9007199254740991", numeric: "0", boolean: true },
    { bytea: "\\x", text: "", int4: 0, int8: "4294967296", numeric: `1${"0".repeat(77)}`, boolean: false },
    { bytea: null, text: null, int4: null, int8: null, numeric: null, boolean: null },
  ]);
  await sql.end();
  await database.drop();
});
