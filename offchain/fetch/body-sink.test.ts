import { expect, test } from "vitest";
import { readMemoryUsage } from "../../test/memory-usage.ts";
import { createBodySinks } from "./body-sink.ts";

/** Bytes in the heap and outside. */
async function held(): Promise<number> {
  const { heapUsed, arrayBuffers } = await readMemoryUsage();
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
