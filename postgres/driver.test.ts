import { expect, test } from "vitest";
import { readMemoryUsage } from "../test/memory-usage.ts";
import "./driver.ts";

type Queue = { length: number; push: (item: string) => void; shift: () => string; remove: (item: string) => unknown };

const TURNS = 5_000_000;
/** A fifth of what a place for each turn would take. */
const MOST_BYTES = 8_000_000;

test("a queue of the driver that never runs empty gives back what is in it in turn, and keeps no place of what was", async () => {
  const url = new URL("queue.js", import.meta.resolve("postgres")).href;
  const { default: createQueue } = (await import(url)) as { default: () => Queue };
  const queue = createQueue();
  for (const item of ["a", "b", "c"]) queue.push(item);
  const { heapUsed: before } = await readMemoryUsage();
  for (let turn = 0; turn < TURNS; turn++) queue.push(queue.shift());
  expect((await readMemoryUsage()).heapUsed - before).toBeLessThan(MOST_BYTES);
  queue.remove("a");
  expect([queue.length, queue.shift(), queue.shift(), queue.length]).toEqual([2, "c", "b", 0]);
});
