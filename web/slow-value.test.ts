import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Log } from "../api/log.ts";
import { createSlowValues } from "./slow-value.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "performance"] }));
afterEach(() => void vi.useRealTimers());

/** The values that are given while a search of a second goes on, twice after it, and once they are old. */
async function askFor(settle: () => number, log = vi.fn<Log>()) {
  const values = createSlowValues<number>({ log });
  const find = vi.fn(async () => {
    await new Promise((resolve) => setTimeout(resolve, 1000));
    return settle();
  });
  const ask = async (waitMs: number) => {
    await vi.advanceTimersByTimeAsync(waitMs);
    const asked = values("key", find);
    await vi.advanceTimersByTimeAsync(20);
    return { value: await asked, searches: find.mock.calls.length };
  };
  return [await ask(1), await ask(500), await ask(500), await ask(15_000), await ask(10_000)];
}

test("a value is looked for once, and again when it is old", async () => {
  expect(await askFor(() => 7)).toEqual([
    { value: undefined, searches: 1 },
    { value: undefined, searches: 1 },
    { value: 7, searches: 1 },
    { value: 7, searches: 1 },
    { value: 7, searches: 2 },
  ]);
});

test("that it can't be found is known for as long", async () => {
  const failing = () => {
    throw Object.assign(new Error("canceling statement due to statement timeout"), { code: "57014" });
  };
  const log = vi.fn<Log>();
  expect(await askFor(failing, log)).toEqual([
    { value: undefined, searches: 1 },
    { value: undefined, searches: 1 },
    { value: null, searches: 1 },
    { value: null, searches: 1 },
    { value: null, searches: 2 },
  ]);
  expect(log).not.toHaveBeenCalled();
});

test("a failure that isn't for lack of time is logged", async () => {
  const log = vi.fn<Log>();
  const failing = () => {
    throw new TypeError("Nobody expected that.");
  };
  expect((await askFor(failing, log)).at(-1)).toEqual({ value: null, searches: 2 });
  expect(log).toHaveBeenCalledWith(
    "error",
    "slow value failed",
    expect.objectContaining({ error: "Nobody expected that." }),
  );
});
