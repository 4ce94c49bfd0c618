import { expect, test } from "vitest";
import { describeSamples, readSampleLines } from "../test/samples.ts";
import { charsetOf, mimeTypeOf } from "./content-type.ts";

test.each([
  ["text/html; charset=utf-8", "text/html", "utf-8"],
  ['IMAGE/SVG+XML ;Charset="windows-1251"', "image/svg+xml", "windows-1251"],
  ["application/json", "application/json", undefined],
  ["nonsense", "", undefined],
  [undefined, "", undefined],
])("%s", (contentType, mimeType, charset) => {
  expect([mimeTypeOf(contentType), charsetOf(contentType)]).toEqual([mimeType, charset]);
});

describeSamples("samples", () => {
  type TypeCase = { input: string; output: string | null; encoding?: string | null };
  const cases = readSampleLines<TypeCase>("c_bad_input/mime_type_parse.ndjson");
  const essenceOf = (type: string | null) => (type ?? "").split(";")[0];

  test("types come out as a browser has them, but for white space at their end", () => {
    const others = cases.filter(({ input, output }) => mimeTypeOf(input) !== essenceOf(output));
    expect(others.map(({ input }) => encodeURI(input))).toMatchInlineSnapshot(`
      [
        "x/x%0B",
      ]
    `);
  });

  test("charsets come out as a browser has them, but for dirt that it takes for part of the name", () => {
    const isSame = ({ input, encoding }: TypeCase) => (charsetOf(input)?.toUpperCase() ?? null) === encoding;
    const others = cases.filter((each) => each.encoding !== undefined && !isSame(each));
    expect(others.map(({ input }) => encodeURI(input))).toMatchInlineSnapshot(`
      [
        "text/html;charset=();charset=GBK",
        "text/html;charset%20=gbk",
        "text/html;charset=%20%22gbk%22",
        "text/html;%0Bcharset=gbk",
        "text/html;charset=%20%22%7F;charset=GBK",
        "text/html;charset=%22%20gbk%22",
        "text/html;charset=%7Bgbk%7D",
      ]
    `);
  });
});
