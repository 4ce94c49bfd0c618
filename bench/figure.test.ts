import { expect, test } from "vitest";
import { formatFigures, median, percentile } from "./figure.ts";

test("the median of an even number of values lies between the two in the middle", () => {
  expect([median([3, 1, 2]), median([4, 1, 3, 2]), median([])]).toEqual([2, 2.5, Number.NaN]);
});

test("a percentile is the smallest value that covers its share", () => {
  const values = Array.from({ length: 60 }, (_, index) => 60 - index);
  expect([percentile(values, 0.95), percentile(values, 0.5), percentile([7], 0.95)]).toEqual([57, 30, 7]);
});

test("the table aligns its columns and marks each goal", () => {
  expect(
    formatFigures([
      { figure: "ours / theirs", value: 1.2345, unit: "×", goal: { atMost: 1 } },
      { figure: "requests a second", value: 12_345.6, unit: "", goal: { atLeast: 1000 }, detail: "32 connections" },
      { figure: "ours", value: 0.01234, unit: "s" },
    ]),
  ).toMatchInlineSnapshot(`
    "figure                value  goal
    ours / theirs        1.23 ×  ≤ 1     MISSED
    requests a second    12,346  ≥ 1000  met     32 connections
    ours               0.0123 s"
  `);
});
