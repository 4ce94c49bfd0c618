import * as fc from "fast-check";
import { expect, test } from "vitest";
import { describeSamples, readSampleLines } from "../../test/samples.ts";
import { isDataUri, parseDataUri } from "./data-uri.ts";

const JSON_TEXT = '{"name":"a"}';
const BASE64 = Buffer.from(JSON_TEXT).toString("base64");

test.each([
  ["base64", `data:application/json;base64,${BASE64}`, "application/json"],
  ["no media type", `data:,${JSON_TEXT}`, ""],
  ["no media type but base64", `data:;base64,${BASE64}`, ""],
  [";utf8", `data:application/json;utf8,${JSON_TEXT}`, "application/json"],
  [";charset=utf-8", `data:application/json;charset=utf-8,${JSON_TEXT}`, "application/json"],
  [";ascii", `data:application/json;ascii,${JSON_TEXT}`, "application/json"],
  ["text/plain", `data:text/plain,${JSON_TEXT}`, "text/plain"],
  ["base64 before the charset", `data:application/json;base64;charset=utf-8,${BASE64}`, "application/json"],
  ["spaces and capitals", ` DATA:Application/JSON; Base64 ,${BASE64}`, "application/json"],
  ["base64 without padding", `data:application/json;base64,${BASE64.replaceAll("=", "")}`, "application/json"],
  [
    "base64 with white space",
    `data:application/json;base64,${BASE64.slice(0, 5)}\n ${BASE64.slice(5)}`,
    "application/json",
  ],
  ["percent-encoded base64", `data:application/json;base64,${encodeURIComponent(BASE64)}`, "application/json"],
  ["base64 that isn't", `data:application/json;base64,${JSON_TEXT}`, "application/json"],
])("reads %s", (_, uri, mimeType) => {
  expect(isDataUri(uri)).toBe(true);
  expect(parseDataUri(uri)).toMatchObject({ mimeType, texts: [JSON_TEXT] });
});

test("reads the URL-safe alphabet", () => {
  const bytes = Buffer.from([0xfb, 0xff, 0xfe, 0x3e, 0x3f]);
  expect(parseDataUri(`data:;base64,${bytes.toString("base64url")}`)?.bytes).toEqual(bytes);
});

test("text is tried as it is, then percent-decoded where it can be", () => {
  expect(parseDataUri("data:application/json,%7B%22name%22%3A%22100%%22%7D")?.texts).toEqual([
    "%7B%22name%22%3A%22100%%22%7D",
    '{"name":"100%"}',
  ]);
});

test("a # of a colour is part of the data", () => {
  const uri = 'data:image/svg+xml;utf8,<svg><rect fill="#ff0000"/></svg>';
  expect(parseDataUri(uri)?.bytes.toString()).toBe('<svg><rect fill="#ff0000"/></svg>');
  expect(parseDataUri("data:image/svg+xml,%3Csvg fill='%23fff' width='50%'/%3E")?.bytes.toString()).toBe(
    "<svg fill='#fff' width='50%'/>",
  );
});

test("bytes of a charset come out as its characters", () => {
  expect(parseDataUri("data:text/plain;charset=iso-8859-1,caf%E9")?.texts).toContain("café");
  expect(parseDataUri("data:text/plain,caf%C3%A9 é")?.texts).toContain("café é");
});

test("one without a comma is none", () => {
  expect(parseDataUri("data:application/json;base64")).toBeUndefined();
});

test("any bytes survive base64 and any text survives encoding", () => {
  fc.assert(
    fc.property(fc.uint8Array(), (bytes) => {
      expect(parseDataUri(`data:x/y;base64,${Buffer.from(bytes).toString("base64")}`)?.bytes).toEqual(
        Buffer.from(bytes),
      );
    }),
  );
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (text) => {
      expect(parseDataUri(`data:x/y,${encodeURIComponent(text)}`)?.bytes.toString()).toBe(text);
    }),
  );
});

describeSamples("samples", () => {
  type UrlCase = { url: string; body_bytes: number[]; invalid: boolean };
  // The standard wants base64 as the last parameter, but contracts have it anywhere.
  const DIFFERS = ["data:x;base64;x,WA", "data:;base64;,WA"];
  const urls = readSampleLines<UrlCase>("c_bad_input/data_url_parse.ndjson");
  const bases = readSampleLines<{ base64: string; bytes: number[] | null }>("c_bad_input/forgiving_base64.ndjson");

  test.each(urls.filter(({ invalid, url }) => !invalid && !DIFFERS.includes(url)))(
    "bytes of $url",
    ({ url, body_bytes }) => {
      expect(parseDataUri(url)?.bytes).toEqual(Buffer.from(body_bytes));
    },
  );

  test.each(bases.filter(({ bytes }) => bytes !== null))("base64 $base64", ({ base64, bytes }) => {
    expect(parseDataUri(`data:;base64,${base64}`)?.bytes).toEqual(Buffer.from(bytes!));
  });

  test("what a browser refuses comes out as something: forgiving is the point", () => {
    for (const url of urls.map((line) => line.url)) expect(() => parseDataUri(url)).not.toThrow();
    for (const { base64 } of bases) expect(parseDataUri(`data:;base64,${base64}`)?.bytes).toBeInstanceOf(Buffer);
    for (const url of DIFFERS) expect(parseDataUri(url)?.bytes.toString()).toBe("X");
  });

  test("documents in data URIs of real contracts", () => {
    const names = readSampleLines<{ uri: string }>("b_metadata/data_uris.ndjson").map(({ uri }) => {
      const document = JSON.parse(parseDataUri(uri)!.texts.at(-1)!) as { name: string };
      return document.name;
    });
    expect(names).toEqual(["Bag #345", "Noun 35", "test", "Dungeon #7585"]);
  });
});
