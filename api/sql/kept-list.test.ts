import { afterEach, expect, test } from "vitest";
import { createKeptLists } from "./kept-list.ts";

const now = performance.now.bind(performance);
afterEach(() => void (performance.now = now));

test.each([
  { what: "hold nothing", weight: 0, lists: 110_000 },
  { what: "hold much", weight: 500_000, lists: 5 },
])("of many lists that $what the oldest is dropped, however long it took to make", async ({ weight, lists }) => {
  let ms = 0;
  performance.now = () => ms;
  const getList = createKeptLists<null>({ sizeOf: () => 5000, weightOf: () => weight });
  const made: number[] = [];
  const ask = (n: number) =>
    getList(String(n), async () => {
      made.push(n);
      ms += n === 0 ? 1e9 : 1;
      return null;
    });
  for (let n = 0; n < lists; n++) await ask(n);
  made.length = 0;
  for (const n of [lists - 1, lists - 2, 0]) await ask(n);
  expect(made).toEqual([0]);
});
