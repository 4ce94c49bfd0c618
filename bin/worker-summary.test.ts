import { expect, test } from "vitest";
import { createWorkerSummary } from "./worker-summary.ts";

test("failures are told by their causes where there are any, the most frequent first", () => {
  const summary = createWorkerSummary();
  expect(summary.next(30)).toBeUndefined();
  const failures = ["http_404", ...Array.from({ length: 14 }, () => "revert")];
  for (const failure of [...failures, ...Array.from({ length: 368 }, () => undefined)]) summary.count(failure);
  expect(summary.next(30)).toBe("worker  383 tokens in 30 s; failed: 14 revert, 1 http_404");
  summary.count(undefined);
  expect(summary.next(30)).toBe("worker  1 token in 30 s");
});
