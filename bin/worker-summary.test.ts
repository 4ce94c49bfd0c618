import { expect, test } from "vitest";
import { summaryOf } from "./worker-summary.ts";

test("failures are told by their causes where there are any, the most frequent first", () => {
  const failures = new Map([
    ["http_404", 1],
    ["revert", 14],
  ]);
  expect(summaryOf({ tokens: 383, failures, seconds: 30 })).toBe(
    "worker  383 tokens in 30 s; failed: 14 revert, 1 http_404",
  );
  expect(summaryOf({ tokens: 1, failures: new Map(), seconds: 30 })).toBe("worker  1 token in 30 s");
});
