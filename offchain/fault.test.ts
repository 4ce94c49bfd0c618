import { afterEach, expect, test, vi } from "vitest";
import { tellFault } from "./fault.ts";

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

test("the same fault of many tokens is told once a minute", () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  const told = vi.spyOn(console, "error").mockReturnValue();
  const full = (file: string) => Object.assign(new Error(`no space left, ${file}`), { code: "ENOSPC" });
  for (const file of ["a", "b", "c"]) tellFault("can't store media", full(file));
  tellFault("can't store metadata", full("d"));
  tellFault("can't store media", "the database system is starting up");
  const keys = ["a", "b"].map((digit) => digit.repeat(64));
  for (const key of keys) tellFault("can't store media", `The S3 store answered 503 to HEAD ${key}.png.`);
  expect(told.mock.calls).toEqual([
    ["worker: can't store media: no space left, a"],
    ["worker: can't store metadata: no space left, d"],
    ["worker: can't store media: the database system is starting up"],
    [`worker: can't store media: The S3 store answered 503 to HEAD ${keys[0]}.png.`],
  ]);
  vi.advanceTimersByTime(60_000);
  tellFault("can't store media", full("e"));
  expect(told).toHaveBeenLastCalledWith("worker: can't store media: no space left, e");
});
