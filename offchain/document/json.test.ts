import * as fc from "fast-check";
import { expect, test } from "vitest";
import { cpuMsOf } from "../../test/cpu.ts";
import { describeSamples, readSampleLines } from "../../test/samples.ts";
import { decodeText } from "../text.ts";
import { type Json, stringifyJson } from "./json.ts";
import { JsonError, parseJson } from "./json-parser.ts";

const PIECES = [
  "{",
  "}",
  "[",
  "]",
  '"',
  "'",
  ",",
  ":",
  "\\",
  "/",
  "*",
  "u",
  "0",
  "-",
  "1.",
  "e",
  " ",
  "\n",
  "\0",
  "null",
];

/** A value as JSON.parse returns it, to compare with. */
function toPlain(value: Json): unknown {
  if (Array.isArray(value)) return value.map(toPlain);
  if (value instanceof Map) return Object.fromEntries([...value].map(([key, member]) => [key, toPlain(member)]));
  return typeof value === "object" && value !== null ? Number(value.digits) : value;
}

/** The error that `parseJson` throws if it isn't a JsonError. */
function faultOf(text: string): unknown {
  try {
    parseJson(text);
    return undefined;
  } catch (error) {
    return error instanceof JsonError ? undefined : error;
  }
}

test("reads what JSON.parse reads, and writes it so that it reads the same again", () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 6 }), (text) => {
      const parsed = parseJson(text);
      const expected: unknown = JSON.parse(text);
      expect(toPlain(parsed)).toEqual(expected);
      expect(JSON.parse(stringifyJson(parsed))).toEqual(expected);
    }),
    { numRuns: 500 },
  );
});

test("keeps the digits of numbers", () => {
  const text = "[115792089237316195423570985008687907853269984665640564039457584007913129639935,1.50,-0,1E+2,1e400]";
  expect(stringifyJson(parseJson(text))).toBe(text);
});

test.each([
  ["a byte order mark", '\ufeff{"a":1}', '{"a":1}'],
  ["trailing commas", '{"a":[1,2,],}', '{"a":[1,2]}'],
  ["comments", '/* x */{"a":1 // y\n}', '{"a":1}'],
  ["single quotes", `{'a':'it\\'s "x"'}`, '{"a":"it\'s \\"x\\""}'],
  ["bare keys", "{a: 1, $b-c: 2}", '{"a":1,"$b-c":2}'],
  ["NaN and Infinity", "[NaN,-Infinity]", "[null,null]"],
  ["Python's words", "[True,False,None]", "[true,false,null]"],
  ["line breaks in strings", '{"a":"one\ntwo\tthree"}', '{"a":"one\\ntwo\\tthree"}'],
  ["unknown escapes", String.raw`{"a":"\x\'"}`, `{"a":"x'"}`],
  ["numbers in other forms", "[+1,.5,007,0x1F]", "[+1,.5,007,0x1F]"],
  ["a NUL at the end", '{"a":1}\0\0', '{"a":1}'],
])("takes %s", (_, text, expected) => {
  expect(stringifyJson(parseJson(text))).toBe(expected);
  expect(() => JSON.parse(text) as unknown).toThrow(SyntaxError);
});

test.each(["", "{", '{"a"', "[1 2]", "nope", '{"a":1}}', "<html>", '"open'])("refuses %s", (text) => {
  expect(() => parseJson(text)).toThrow(JsonError);
});

test("a key is only a key", () => {
  const parsed = parseJson('{"__proto__":{"polluted":true},"constructor":1}');
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  expect(parsed).toEqual(
    new Map<string, Json>([
      ["__proto__", new Map([["polluted", true]])],
      ["constructor", { digits: "1" }],
    ]),
  );
});

test("100,000 levels are refused at once, in either reading", () => {
  const texts = ["[".repeat(100_000), '{"a":'.repeat(100_000), "[".repeat(100_000) + "]".repeat(100_000)];
  const cpuMs = cpuMsOf(() => {
    for (const text of texts) expect(() => parseJson(text)).toThrow(/Nested deeper/);
  });
  expect(cpuMs).toBeLessThan(500);
});

test("more objects than a document has are refused, in either reading", () => {
  for (const piece of ["{}", "[]", "{'a':[]}"]) {
    const list = (count: number) => `[${Array.from({ length: count }, () => piece).join(",")}]`;
    expect(parseJson(list(70_000))).toHaveLength(70_000);
    expect(() => parseJson(list(160_000))).toThrow(/More than 150000 objects/);
  }
});

test("NUL and half characters don't come through", () => {
  expect(parseJson(String.raw`"a\u0000b\ud800c\udc00\ud83d\ude00"`)).toBe("abc😀");
});

test("never throws anything but JsonError", () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...PIECES) }), (text) => {
      expect(faultOf(text)).toBeUndefined();
    }),
    { numRuns: 3000 },
  );
});

describeSamples("JSON test suite", () => {
  type Case = { name: string; must: string; base64: string };
  // Text that isn't UTF-8 is read as Latin-1 before it is parsed, and is valid then.
  const isUtf8 = (bytes: Buffer) => Buffer.from(bytes.toString("utf8")).equals(bytes);
  const cases = readSampleLines<Case>("c_bad_input/json_test_suite.ndjson").map((line) => ({
    ...line,
    bytes: Buffer.from(line.base64, "base64"),
  }));

  test.each(cases.filter(({ must, bytes }) => must === "accept" && isUtf8(bytes)))("accepts $name", ({ bytes }) => {
    expect(toPlain(parseJson(decodeText(bytes)))).toEqual(JSON.parse(decodeText(bytes)));
  });

  test.each(cases)("survives $name", ({ bytes }) => {
    expect(faultOf(decodeText(bytes))).toBeUndefined();
  });
});
