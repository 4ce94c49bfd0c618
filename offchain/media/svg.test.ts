import { describe, expect, test } from "vitest";
import { describeSamples, readSampleLines } from "../../test/samples.ts";
import { sanitizeSvg } from "./svg.ts";

const svg = (inner: string) =>
  `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">${inner}</svg>`;

/** What must not be in a clean drawing, however it is written. */
const DANGER =
  /<\s*(?:[\w-]+:)?(?:script|foreignobject|iframe|embed|object|handler)|\son\w+\s*=|javascript:|<!DOCTYPE|<!ENTITY|<\?xml-stylesheet|@import|(?:href|src)\s*=\s*["']?\s*(?:https?:|file:|ftp:|expect:|\/\/)/i;

test.each([
  svg('<rect width="10" height="10" fill="#ff0000"/>'),
  `<?xml version="1.0" encoding="utf-8"?>\n<!-- made by hand -->\n${svg("<g><path d='M0 0L1 1'/></g>")}`,
  svg("<style>.a{fill:red}.b{fill:url(#g)}</style><text class='a'>a &amp; b &lt; c</text>"),
  svg('<image href="data:image/png;base64,iVBORw0KGgo="/><use xlink:href="#a"/>'),
  svg('<style><![CDATA[ .a > .b { fill: blue } ]]></style><animate attributeName="x" from="0" to="10" dur="1s"/>'),
  svg('<style>@font-face{font-family:"f";src:url(data:font/woff2;base64,AAAA)}</style>'),
])("a harmless drawing comes back byte for byte: %s", (text) => {
  expect(sanitizeSvg(text)).toBe(text);
});

describe("what runs or loads goes, the rest stays", () => {
  test.each([
    ["<script>alert(1)</script><rect/>", "<rect/>"],
    ["<script><script>a</script>b</script><rect/>", "<rect/>"],
    ["<x:script xmlns:x='http://www.w3.org/2000/svg'>alert(1)</x:script><rect/>", "<rect/>"],
    ["<rect onload='alert(1)' fill='red'/>", "<rect fill='red'/>"],
    ['<rect OnClick = "a>b" fill="red"/>', '<rect fill="red"/>'],
    [
      "<foreignObject><body xmlns='http://www.w3.org/1999/xhtml'><iframe src='x'/></body></foreignObject><rect/>",
      "<rect/>",
    ],
    ["<a href='javascript:alert(1)'><rect/></a>", "<a><rect/></a>"],
    ["<a xlink:href='&#106;ava&#x73;cript&colon;alert(1)'><rect/></a>", "<a><rect/></a>"],
    ["<a href='jav\tascript:alert(1)'/>", "<a/>"],
    ["<image href='https://track.example/1.png' x='1'/>", "<image x='1'/>"],
    ["<use href='data:image/svg+xml;base64,AA#x'/>", "<use/>"],
    ["<set attributeName='href' to='javascript:alert(1)'/><rect/>", "<rect/>"],
    ["<style>@import url(https://a.example/x.css);.a{fill:red}</style>", "<style>.a{fill:red}</style>"],
    ["<style>.a{fill:url(https://a.example/x)}</style>", "<style>.a{fill:none}</style>"],
    ["<rect style='fill:url(http://a.example/x)'/>", "<rect/>"],
    ["<?xml-stylesheet href='x.css'?><rect/>", "<rect/>"],
    ["<!-- <script>alert(1)</script> --><rect/>", "<rect/>"],
  ])("%s", (dirty, clean) => {
    expect(sanitizeSvg(svg(dirty))).toBe(svg(clean));
  });
});

test("a document type goes, after its plain entities were put in", () => {
  const text = `<!DOCTYPE svg [<!ENTITY ns "http://www.w3.org/2000/svg"><!ENTITY xxe SYSTEM "file:///etc/passwd">]><svg xmlns="&ns;"><text>&xxe;</text></svg>`;
  expect(sanitizeSvg(text)).toBe('<svg xmlns="http://www.w3.org/2000/svg"><text>&xxe;</text></svg>');
});

test("entities of entities don't multiply", () => {
  const entities = Array.from({ length: 30 }, (_, i) => `<!ENTITY l${i + 1} "${`&l${i};`.repeat(10)}">`).join("");
  const text = `<!DOCTYPE svg [<!ENTITY l0 "lol">${entities}]><svg>&l30;</svg>`;
  expect(sanitizeSvg(text).length).toBeLessThan(text.length);
});

test("a tag without an end takes nothing with it but itself", () => {
  expect(sanitizeSvg("<svg><rect/><script onload='")).toBe("<svg><rect/>");
});

test("a megabyte of nothing takes no time", () => {
  const start = performance.now();
  for (const text of ["<".repeat(1e6), "<a ".repeat(3e5), '<a b="'.repeat(1e5), `<svg ${"x ".repeat(3e5)}>`])
    sanitizeSvg(text);
  expect(performance.now() - start).toBeLessThan(5000);
});

describeSamples("samples", () => {
  test.each(readSampleLines<{ name: string; svg: string }>("c_bad_input/hostile_svgs.ndjson"))(
    "$name",
    ({ svg: text }) => {
      expect(sanitizeSvg(text)).not.toMatch(DANGER);
    },
  );

  test.each(readSampleLines<{ title?: string; payload: string }>("c_bad_input/dompurify_payloads.ndjson"))(
    "$payload",
    ({ payload }) => {
      expect(sanitizeSvg(payload)).not.toMatch(DANGER);
      expect(sanitizeSvg(svg(payload))).not.toMatch(DANGER);
    },
  );
});
