import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { describeSamples, readSample, readSampleLines, samplePath } from "../../test/samples.ts";
import { parseDataUri } from "../uri/data-uri.ts";
import { parseJson } from "./json-parser.ts";
import { emptyNormalized, isDocument, normalize } from "./normalize.ts";

type Plain = { attributes?: { trait_type: string; value: unknown; display_type?: string }[]; [key: string]: unknown };
type Expected = {
  name: string | null;
  description: string | null;
  image: { uri: string } | null;
  attributes: { trait_type: string; value: string; display_type: string | null }[];
};

const textOf = (value: unknown) =>
  typeof value === "string" ? value : value === undefined || value === null ? "" : JSON.stringify(value);
const traitsOf = (document: Plain) =>
  (document.attributes ?? []).map(({ trait_type, value, display_type = null }) => ({
    display_type,
    trait_type,
    value: textOf(value),
  }));
const withoutRepetitions = <T>(values: T[]) => [
  ...new Map(values.map((value) => [JSON.stringify(value), value])).values(),
];

describeSamples("documents as collections served them", () => {
  const collections = readdirSync(samplePath("b_metadata/collections")).flatMap((collection) =>
    readdirSync(samplePath(`b_metadata/collections/${collection}`)).map(
      (file) => `b_metadata/collections/${collection}/${file}`,
    ),
  );

  test.each(collections)("%s agrees field by field", (path) => {
    const raw = readSample(path);
    const document = JSON.parse(raw) as Plain;
    expect(normalize(parseJson(raw))).toEqual({
      ...emptyNormalized(),
      name: textOf(document.name),
      description: textOf(document.description),
      image: textOf(document.image),
      animation_url: textOf(document.animation_url),
      external_url: textOf(document.external_url),
      attributes: withoutRepetitions(traitsOf(document)),
    });
  });

  test("1,000 loot bags as attribute maps: eight traits each", () => {
    const bags = JSON.parse(readSample("b_metadata/loot_bags_0001_1000.json")) as Record<
      string,
      Record<string, string>
    >[];
    expect(bags.length).toBe(1000);
    for (const bag of bags.map((entry) => Object.values(entry)[0]!)) {
      const { attributes } = normalize(parseJson(JSON.stringify({ name: "Bag", attributes: bag })));
      expect(Object.fromEntries(attributes.map(({ trait_type, value }) => [trait_type, value]))).toEqual(bag);
    }
  });

  test.each(readSampleLines<{ uri: string }>("b_metadata/data_uris.ndjson"))("data URI $uri.length", ({ uri }) => {
    const json = parseJson(parseDataUri(uri)!.texts.at(-1)!);
    expect(isDocument(json)).toBe(true);
    expect(normalize(json).name).not.toBe("");
  });

  test.each(
    readSampleLines<{ raw: string }>("b_metadata/embedded_in_tests.ndjson").map(({ raw }, i) => [i, raw] as const),
  )("document %i of other projects' tests", (_, raw) => {
    const json = parseJson(raw);
    const document = JSON.parse(raw) as Plain & { traits?: Plain["attributes"] };
    const normalized = normalize(json);
    expect(isDocument(json)).toBe(true);
    expect(normalized.name).toBe(textOf(document.name ?? document.title));
    const listed = document.attributes ?? document.traits;
    const expected = Array.isArray(listed) ? withoutRepetitions(traitsOf({ attributes: listed })).length : 0;
    expect(normalized.attributes.length).toBe(expected);
  });
});

describeSamples("pairs of raw documents and other systems' results", () => {
  test.each(readSampleLines<{ raw: string; token_id: string }>("b_metadata/provider_pairs.ndjson"))(
    "provider's token $token_id",
    ({ raw }) => {
      // The provider hands the document on, and adds only the supply.
      const document = JSON.parse(raw) as Plain;
      expect(normalize(parseJson(raw))).toMatchObject({
        name: textOf(document.name),
        image: textOf(document.image),
        description: textOf(document.description),
        attributes: withoutRepetitions(traitsOf(document)),
      });
    },
  );

  /**
   * Where our result differs from theirs, and why. Theirs has a program for each collection, which asks other services.
   */
  const DIFFERENCES: Record<string, Partial<Record<"name" | "description" | "image" | "attributes", string>>> = {
    test_autoglyphs_parser_parses_metadata: { attributes: "the symbol scheme is read from the contract's drawing" },
    test_default_catchall_parser_parses_metadata: { name: "a wrapped API answer, which both leave alone" },
    test_hashmasks_parser_parses_metadata: { name: "the mask's name is read from a contract" },
    test_zora_parser_parses_metadata: { image: "the contract's contentURI, not the document, has the image" },
    test_zora_parser_gen_parses_metadata: { image: "the contract's contentURI, not the document, has the image" },
  };

  test.each(readSampleLines<{ test: string; raw: Plain; expected: Expected }>("b_metadata/zora_offchain_pairs.ndjson"))(
    "$test",
    ({ test: name, raw, expected }) => {
      const normalized = normalize(parseJson(JSON.stringify(raw)));
      const differs = DIFFERENCES[name] ?? {};
      const theirs = {
        name: expected.name ?? "",
        description: expected.description ?? "",
        image: expected.image?.uri ?? "",
        attributes: expected.attributes.map(({ trait_type, value, display_type }) => ({
          display_type,
          trait_type,
          value,
        })),
      };
      const agreeing = Object.entries(theirs).filter(([field]) => !(field in differs));
      expect(normalized).toMatchObject(Object.fromEntries(agreeing));
    },
  );

  test.each(["0.json", "3.json"])("snapshot %s", (file) => {
    const { result } = JSON.parse(readSample(`b_metadata/zora_nft_metadata_snapshots/${file}`)) as {
      result: { name: string; description: string; imageURL: string; metadata: Plain; attributes: Plain["attributes"] };
    };
    const normalized = normalize(parseJson(JSON.stringify(result.metadata)));
    expect(normalized).toMatchObject({
      name: result.name,
      description: result.description,
      attributes: traitsOf(result.metadata),
    });
    expect(traitsOf(result)).toEqual(traitsOf(result.metadata));
  });
});
