import { expect, test } from "vitest";
import { summaryOf } from "./worker-summary.ts";

test("failures are told of where there are any", () => {
  expect(summaryOf({ tokens: 383, failures: 14, seconds: 30 })).toBe(
    "worker  383 tokens in 30 s; 14 failed and will be tried again",
  );
  expect(summaryOf({ tokens: 1, failures: 0, seconds: 30 })).toBe("worker  1 token in 30 s");
});
