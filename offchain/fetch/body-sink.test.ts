import { setImmediate } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { createBodySinks } from "./body-sink.ts";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** Bytes of memory in use, in the heap and outside. What a collection finds unused is given back in later turns. */
async function held(): Promise<number> {
  for (let turn = 0; turn < 3; turn++) {
    collect();
    await setImmediate();
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

test("a body takes the memory of its bytes, in however small pieces it comes", async () => {
  // So much that it doesn't count what else this process does meanwhile.
  const text = `"${"0123456789".repeat(250_000)}"`;
  const bytes = Buffer.from(text);
  const sink = createBodySinks()("example.com:443");
  const before = await held();
  for (const byte of bytes) void sink.write(Buffer.from([byte]));
  expect((await held()) - before).toBeLessThan(4 * text.length);
  expect(sink.bytes().toString()).toBe(text);
});

test("a body is whole, of whatever pieces", () => {
  const sink = createBodySinks()("example.com:443");
  const pieces = ["{", '"a":', "1".repeat(5000), "", "2", "3".repeat(70_000), "}"];
  for (const piece of pieces) void sink.write(Buffer.from(piece));
  expect(sink.bytes().toString()).toBe(pieces.join(""));
});
