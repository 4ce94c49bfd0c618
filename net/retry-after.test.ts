import { expect, test } from "vitest";
import { readRetryAfter } from "./retry-after.ts";

test("Retry-After is seconds or a date, and other numbers are no years", () => {
  expect(readRetryAfter("120")).toBe(120);
  expect(readRetryAfter(["7", "9"])).toBe(7);
  const inTwoMinutes = readRetryAfter(new Date(Date.now() + 120_000).toUTCString());
  expect(inTwoMinutes).toBeGreaterThan(110);
  expect(inTwoMinutes).toBeLessThanOrEqual(120);
  expect(readRetryAfter("Wed, 21 Oct 2015 07:28:00 GMT")).toBe(0);
  for (const nonsense of ["soon", "-3600", "1.5", "1e9", "", undefined])
    expect(readRetryAfter(nonsense)).toBeUndefined();
});
