import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cpuMsOf } from "../../test/cpu.ts";
import type { Attribute } from "./attribute.ts";
import type { Json } from "./json.ts";
import { parseJson } from "./json-parser.ts";
import { emptyNormalized, isDocument, isEmpty, normalize, type Normalized } from "./normalize.ts";
import { MAX_NORMALIZED_BYTES, writeFitting } from "./normalized-size.ts";

const FIXTURES = join(import.meta.dirname, "fixtures");
const BASE = "https://base.example/metadata/1.json";
const cases = readdirSync(FIXTURES)
  .filter((file) => file.endsWith(".raw"))
  .map((file) => file.slice(0, -4));

/** A document as it is stored. */
const store = (json: Json): Normalized => JSON.parse(writeFitting(normalize(json, { base: BASE }))) as Normalized;

/** The expectation of a fixture has only the fields that aren't empty. */
test.each(cases)("fixture %s", (name) => {
  const raw = readFileSync(join(FIXTURES, `${name}.raw`), "utf8");
  const expected = JSON.parse(readFileSync(join(FIXTURES, `${name}.expected.json`), "utf8")) as object;
  const json = parseJson(raw);
  expect(store(json)).toEqual({ ...emptyNormalized(), ...expected });
  expect(isDocument(json)).toBe(true);
});

const KEYS = [
  ..."name title description image image_url properties media attributes traits animation_url video".split(" "),
  ..."external_url youtube_url background_color image_data image_key value trait_type url display_type __proto__".split(
    " ",
  ),
];

/** Random documents with known keys, and anything as their values. */
const { document } = fc.letrec<{ document: object; value: unknown }>((tie) => ({
  document: fc.dictionary(fc.oneof(fc.constantFrom(...KEYS), fc.string()), tie("value"), { maxKeys: 8 }),
  value: fc.oneof(
    { maxDepth: 4 },
    fc.oneof(
      fc.string({ unit: "binary" }),
      fc.webUrl(),
      fc.double(),
      fc.bigInt().map(Number),
      fc.boolean(),
      fc.constant(null),
    ),
    fc.array(tie("value"), { maxLength: 4 }),
    tie("document"),
  ),
}));

const toJson = (value: unknown): Json => parseJson(JSON.stringify(value));

describe("for any document", () => {
  test("never throws, and has exactly the specification's shape", () => {
    fc.assert(
      fc.property(fc.oneof(document, fc.jsonValue()), (value) => {
        const normalized = store(toJson(value));
        expect(Object.keys(normalized)).toEqual(Object.keys(emptyNormalized()));
        const { attributes, properties, ...texts } = normalized;
        expect(Object.values(texts).every((text) => typeof text === "string")).toBe(true);
        expect(attributes.map((attribute) => Object.keys(attribute).join())).toEqual(
          attributes.map(() => "display_type,trait_type,value"),
        );
        expect((properties ?? []).map((property) => Object.keys(property).join())).toEqual(
          (properties ?? []).map(() => "name,value,type,description"),
        );
        const text = JSON.stringify(normalized);
        expect(text).not.toMatch(/\\u0000|\\ud[89a-f]/i);
      }),
      { numRuns: 2000 },
    );
  });

  test("is the same when done again to its own result", () => {
    fc.assert(
      fc.property(document, (value) => {
        const once = store(toJson(value));
        // The keys that belong to us are empty until media is known.
        expect(store(toJson(once))).toEqual(once);
      }),
      { numRuns: 2000 },
    );
  });

  test("no attribute is lost", () => {
    const attribute = fc.record({
      trait_type: fc.string({ unit: "grapheme" }),
      value: fc.oneof(fc.string({ unit: "grapheme" }), fc.integer(), fc.boolean()),
    });
    const others = fc.constantFrom<unknown>(null, {}, [], "", [[]]);
    fc.assert(
      fc.property(fc.array(attribute), fc.array(others), fc.boolean(), (attributes, noise, isString) => {
        const list = [...attributes, ...noise];
        const source = { name: "a", attributes: isString ? JSON.stringify(list) : list };
        const found = store(toJson(source)).attributes.map(({ trait_type, value }) => `${trait_type}|${value}`);
        const expected = attributes.map(({ trait_type, value }) => `${trait_type}|${value}`);
        expect(new Set(found)).toEqual(new Set(expected));
      }),
      { numRuns: 500 },
    );
  });
});

describe("size", () => {
  const sizeOf = (value: object) => Buffer.byteLength(JSON.stringify(value));

  test("long texts are cut at a character's boundary, short ones stay", () => {
    const normalized = store(
      toJson({ name: "n", description: "😀".repeat(100_000), image: "https://a.example/1.png" }),
    );
    expect(sizeOf(normalized)).toBeLessThan(MAX_NORMALIZED_BYTES);
    expect(normalized).toMatchObject({ name: "n", image: "https://a.example/1.png" });
    expect(normalized.description).toMatch(/^(?:😀){30000,}$/u);
  });

  test("five megabytes of attributes are normalized in 240 MB, and what is repeated counts once", async () => {
    const module = (name: string) => JSON.stringify(new URL(name, import.meta.url).href);
    const code = `
      const { parentPort } = require("node:worker_threads");
      const text = '{"attributes":[' + "1,".repeat(2_500_000) + '{"Hat":"red"},1]}';
      Promise.all([import(${module("./json-parser.ts")}), import(${module("./normalize.ts")})])
        .then(([{ parseJson }, { normalize }]) => parentPort.postMessage(normalize(parseJson(text)).attributes));
    `;
    const worker = new Worker(code, { eval: true, resourceLimits: { maxOldGenerationSizeMb: 240 } });
    const [attributes] = (await once(worker, "message")) as [Attribute[]];
    expect(attributes).toEqual([
      { display_type: null, trait_type: "", value: "1" },
      { display_type: null, trait_type: "Hat", value: "red" },
    ]);
    await worker.terminate();
  });

  test("many attributes stay as long as there is room", () => {
    const attributes = Array.from({ length: 50_000 }, (_, i): Attribute => ({
      display_type: null,
      trait_type: `t${i}`,
      value: "v".repeat(40),
    }));
    const normalized = store(toJson({ name: "n", attributes }));
    expect(sizeOf(normalized)).toBeLessThan(256_000);
    expect(normalized.attributes.length).toBeGreaterThan(1000);
    expect(normalized.attributes[0]).toEqual(attributes[0]);
  });

  test("attributes go before a link is cut, which would lead nowhere then", () => {
    const image = `https://a.example/${"i".repeat(1000)}.png`;
    const attributes = Array.from({ length: 5000 }, (_, i) => ({ trait_type: `trait ${i}`, value: "v".repeat(100) }));
    const normalized = store(toJson({ name: "n".repeat(300_000), image, attributes }));
    expect(sizeOf(normalized)).toBeLessThan(MAX_NORMALIZED_BYTES);
    expect(sizeOf(normalized)).toBeGreaterThan(MAX_NORMALIZED_BYTES * 0.95);
    expect(normalized).toMatchObject({ image, name: "n".repeat(2048) });
    expect(normalized.attributes[0]).toEqual({ display_type: null, trait_type: "trait 0", value: "v".repeat(64) });
  });

  test("a text in an attribute is cut as the document's own are", () => {
    const attributes = [{ trait_type: "t", value: "é".repeat(400_000) }];
    const normalized = store(toJson({ name: "n", attributes }));
    expect(normalized.attributes[0]!.value).toBe("é".repeat(65_536));
  });

  test.each(["properties", "attributes", "traits"])("180,000 %s take no longer than reading them", (key) => {
    const numbers = Array.from({ length: 180_000 }, (_, i) => 100_000 + i);
    let normalized = store(toJson({}));
    const cpuMs = cpuMsOf(() => (normalized = store(toJson({ name: "x", [key]: numbers }))));
    // It takes a tenth of this, and took seconds when all was written anew for each length tried.
    expect(cpuMs).toBeLessThan(3000);
    expect(sizeOf(normalized)).toBeLessThan(MAX_NORMALIZED_BYTES);
    expect(normalized.attributes.length).toBeGreaterThan(2000);
    expect(normalized.attributes[0]).toEqual({ display_type: null, trait_type: "", value: "100000" });
  });
});

describe("answers that are no document", () => {
  test.each([
    '{"message":"not found"}',
    '{"detail":"Not Found"}',
    '{"error":"nope"}',
    '{"title":"Not Found","status":404}',
    '{"statusCode":500,"error":"Internal","description":"oops"}',
    "{}",
    "[]",
    "7",
    '"text"',
    "null",
  ])("%s", (raw) => {
    expect(isDocument(parseJson(raw))).toBe(false);
  });

  test.each([
    '{"name":"Sword","status":"active"}',
    '{"name":"x","error":null}',
    '{"name":"x","error":"","errors":[]}',
    '{"image":"x","message":"hello"}',
  ])("but %s is one", (raw) => {
    expect(isDocument(parseJson(raw))).toBe(true);
  });

  test("a document may be empty", () => {
    expect(isEmpty(normalize(parseJson('{"name":"","image":null,"external_url":"https://a.example"}')))).toBe(true);
    expect(isEmpty(normalize(parseJson('{"attributes":["a"]}')))).toBe(false);
  });
});
