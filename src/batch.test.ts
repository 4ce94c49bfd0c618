import * as fc from "fast-check";
import { decodeAbiParameters, encodeAbiParameters, type Hex, parseAbiParameters } from "viem";
import { expect, test } from "vitest";
import { readBatch } from "./batch.ts";

const ARRAYS = parseAbiParameters("uint256[], uint256[]");

const array = fc.array(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), { maxLength: 20 });

test("reads what any encoder writes", () => {
  fc.assert(
    fc.property(array, array, (ids, values) => {
      expect(readBatch(encodeAbiParameters(ARRAYS, [ids, values]))).toEqual({ ids, values });
    }),
  );
});

test("reads broken data where another decoder does, and as that one does", () => {
  const small = fc.array(fc.bigInt({ min: 0n, max: 400n }), { minLength: 0, maxLength: 16 });
  fc.assert(
    fc.property(small, fc.integer({ min: 0, max: 32 }), (words, cut) => {
      const text = words.map((word) => word.toString(16).padStart(64, "0")).join("");
      const data: Hex = `0x${text.slice(0, Math.max(0, text.length - cut * 2))}`;
      let expected: { ids: readonly bigint[]; values: readonly bigint[] } | undefined;
      try {
        const [ids, values] = decodeAbiParameters(ARRAYS, data);
        expected = { ids, values };
      } catch {
        expected = undefined;
      }
      expect(readBatch(data)).toEqual(expected);
    }),
    { numRuns: 2_000 },
  );
});

test("reads nothing where offsets or lengths point beyond the data", () => {
  const word = (value: bigint) => value.toString(16).padStart(64, "0");
  const dataOf = (...words: bigint[]): Hex => `0x${words.map(word).join("")}`;
  const max = 2n ** 256n - 1n;
  expect(readBatch("0x")).toBeUndefined();
  expect(readBatch(dataOf(64n))).toBeUndefined();
  expect(readBatch(dataOf(max, max))).toBeUndefined();
  expect(readBatch(dataOf(2n ** 53n, 64n, 0n))).toBeUndefined();
  expect(readBatch(dataOf(64n, 64n, max))).toBeUndefined();
  expect(readBatch(dataOf(64n, 64n, 2n ** 53n, 1n))).toBeUndefined();
  expect(readBatch(dataOf(64n, 64n, 2n, 1n))).toBeUndefined();
  expect(readBatch(dataOf(64n, 64n, 1n, 7n))).toEqual({ ids: [7n], values: [7n] });
  expect(readBatch(dataOf(64n, 64n, 0n))).toEqual({ ids: [], values: [] });
});

test("reads arrays that lie in the same place up to the length to which Ponder delivers them", () => {
  const data = (length: number): Hex =>
    `0x${[64, 64, length, ...Array(length).fill(1)].map((word: number) => word.toString(16).padStart(64, "0")).join("")}`;
  expect(readBatch(data(8_192))?.ids).toHaveLength(8_192);
  expect(readBatch(data(8_193))).toBeUndefined();
});
