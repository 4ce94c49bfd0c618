import * as fc from "fast-check";
import { expect, test } from "vitest";
import { createPage, MAX_BODY_BYTES, writePage } from "./page.ts";

type Item = { id: number; text: string };
const encode = (key: (string | number)[]) => `c${"x".repeat(Number(key[0]) % 7)}${key[0]}`;
const keyOf = ({ id }: Item) => [id];
const write = (item: Item) => [Buffer.from(JSON.stringify(item))];
const page = (rows: Item[], limit = 250) => writePage(rows, { limit, keyOf, encode, write }).toString();
const parse = (body: string) => JSON.parse(body) as { cursor: string | null; result: Item[] };

/** The largest page, found by trying each size, as the definition says. */
function largest(rows: Item[], limit: number): { cursor: string | null; result: Item[] } {
  for (let count = Math.min(rows.length, limit); count > 0; count -= 1) {
    const cursor = count < rows.length ? encode([rows[count - 1]?.id ?? 0]) : null;
    const body = { cursor, result: rows.slice(0, count) };
    if (count === 1 || Buffer.byteLength(JSON.stringify(body)) <= MAX_BODY_BYTES) return body;
  }
  return { cursor: null, result: [] };
}

test("a page is the largest that fits, to the byte", () => {
  const text = fc.oneof(
    fc.integer({ min: 0, max: 400_000 }).map((length) => "a".repeat(length)),
    fc.integer({ min: 0, max: 60_000 }).map((length) => "ü€\u{1f600}".repeat(length)),
    fc.string({ maxLength: 50 }),
  );
  fc.assert(
    fc.property(fc.array(text, { maxLength: 8 }), fc.integer({ min: 1, max: 8 }), (texts, limit) => {
      const rows = texts.map((value, id) => ({ id, text: value })).slice(0, limit + 1);
      expect(parse(page(rows, limit))).toEqual(largest(rows, limit));
    }),
    { numRuns: 150 },
  );
});

test("a body of exactly the cap is whole, and one byte more ends it early", () => {
  const rest = Buffer.byteLength(
    page([
      { id: 1, text: "" },
      { id: 2, text: "" },
    ]),
  );
  const fill = (more: number) =>
    page([
      { id: 1, text: "é".repeat(1000) },
      { id: 2, text: "b".repeat(MAX_BODY_BYTES - rest - 2000 + more) },
    ]);
  expect(Buffer.byteLength(fill(0))).toBe(MAX_BODY_BYTES);
  expect(parse(fill(0))).toMatchObject({ cursor: null, result: [{ id: 1 }, { id: 2 }] });
  expect(parse(fill(1)).result).toHaveLength(1);
  expect(parse(fill(1)).cursor).toBe(encode([1]));
});

test("a body is whole where it ends with the memory that it was given at first", () => {
  for (let length = 261_010; length < 261_040; length += 1) {
    const text = "a".repeat(length);
    expect(page([{ id: 1, text }])).toBe(`{"cursor":null,"result":[{"id":1,"text":"${text}"}]}`);
  }
});

test("an item over the cap is a page of its own", () => {
  const large = "x".repeat(MAX_BODY_BYTES);
  expect(
    parse(
      page([
        { id: 1, text: large },
        { id: 2, text: "" },
      ]),
    ),
  ).toMatchObject({ cursor: encode([1]), result: [{ id: 1 }] });
  expect(parse(page([{ id: 1, text: large }]))).toMatchObject({ cursor: null, result: [{ id: 1 }] });
  expect(
    parse(
      page([
        { id: 1, text: "" },
        { id: 2, text: large },
      ]),
    ).result,
  ).toHaveLength(1);
});

test("an empty list is a page", () => {
  expect(page([])).toBe('{"cursor":null,"result":[]}');
});

test("groups hold the items that are next to each other, within the cap", () => {
  const rows = [3, 3, 5, 5, 5, 8].map((group, id) => ({
    id,
    group,
    text: "x".repeat(id === 4 ? MAX_BODY_BYTES - 187 : 10),
  }));
  const groups = new Map(
    rows.map(({ group }) => [group, { head: Buffer.from(`{"group":${group},"items":[`), tail: "]}" }]),
  );
  const grouped = (limit: number, taken = rows) => {
    const writing = createPage({ limit });
    for (const { id, text, group } of taken) writing.add([JSON.stringify({ id, text })], groups.get(group));
    return writing.finish(({ item }) => encode([(JSON.parse(item.toString()) as Item).id])).toString();
  };
  const small = grouped(4);
  expect(JSON.parse(small)).toMatchObject({
    cursor: encode([3]),
    result: [
      { group: 3, items: [{ id: 0 }, { id: 1 }] },
      { group: 5, items: [{ id: 2 }, { id: 3 }] },
    ],
  });
  const counts = new Set<number>();
  // From rows that fit completely, to rows of which the largest doesn't.
  for (let cut = 100; cut > 0; cut -= 1) {
    const taken = rows.map((row) => (row.id === 4 ? { ...row, text: row.text.slice(0, -cut) } : row));
    const body = grouped(6, taken);
    const count = (JSON.parse(body) as { result: { items: unknown[] }[] }).result.flatMap(({ items }) => items).length;
    expect(Buffer.byteLength(body)).toBeLessThanOrEqual(MAX_BODY_BYTES);
    counts.add(count);
  }
  expect([...counts]).toEqual([6, 5, 4]);
});
