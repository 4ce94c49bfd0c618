import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { describeSamples, readSampleLines } from "../../test/samples.ts";
import { parseDataUri } from "./data-uri.ts";
import { formatSource, parseUri, resolveLink, withoutScript } from "./uri.ts";

const V0 = "QmUCShocWwbF7APdavPJxvKqFbB1WHsHAnhxxnoX8UfMFR";
const V1 = "bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi";
/** A CID of version 1 in base36. */
const BASE36 = "k2jmtxw8rjh1z69c6not3wtdxb0u3urbzhyll1t9jg6ox26dhi5sfi1m";
/** Keys: names, not hashes. The old one, of RSA, looks like a hash. */
const KEY = "k51qzi5uqu5djuc449f6giz47vgpnwknu2tz4vx2ptqs2y9klthvknhngylr17";
const KEY_BASE32 = "bafzaajaiaejcabyha4dqobyha4dqobyha4dqobyha4dqobyha4dqobyha4dqobyh";
const OLD_KEY = "QmVuDtRMuxXZgTVCMZkJd1VZqxhXYwZTCTWvYLpXXmvnkL";
const AR = "x8M31Sjs8xqhC9M6mEiP5Rr5AAtiUOsFdzRbd7y_0Cs";

describe("IPFS in all its forms is one CID and path", () => {
  test.each([
    [`ipfs://${V0}/1.json`, `ipfs://${V0}/1.json`],
    [`ipfs://ipfs/${V0}/1.json`, `ipfs://${V0}/1.json`],
    [`ipfs:/${V0}`, `ipfs://${V0}`],
    [`ipfs:///${V0}/1`, `ipfs://${V0}/1`],
    [`IPFS://${V1}`, `ipfs://${V1}`],
    [`/ipfs/${V1}/a`, `ipfs://${V1}/a`],
    [`ipfs/${V1}/a`, `ipfs://${V1}/a`],
    [V0, `ipfs://${V0}`],
    [`${V1}/7`, `ipfs://${V1}/7`],
    [`https://ipfs.io/ipfs/${V0}/1.json`, `ipfs://${V0}/1.json`],
    [`https://gateway.pinata.cloud/ipfs/${V0}?x=1`, `ipfs://${V0}?x=1`],
    [`https://${V1}.ipfs.dweb.link/a/b`, `ipfs://${V1}/a/b`],
    [`https://${V1}.ipfs.nftstorage.link/`, `ipfs://${V1}`],
    [`https://gateway.ipfs.io/ipfs/${V0}/1`, `ipfs://${V0}/1`],
    [`https://gateway.ipfs.io/ipns/${KEY}/1`, `ipns://${KEY}/1`],
    [`ipfs://https://ipfs.io/ipfs/${V0}`, `ipfs://${V0}`],
    [`https://ipfs://${V0}/1`, `ipfs://${V0}/1`],
    [`https://https://ipfs.io/ipfs/${V0}`, `ipfs://${V0}`],
    [`gateway.pinata.cloud/ipfs/${V0}/1`, `ipfs://${V0}/1`],
    [`//ipfs.io/ipfs/${V0}/1`, `ipfs://${V0}/1`],
    [`${V1}.ipfs.dweb.link/1`, `ipfs://${V1}/1`],
    [`ipfs://${V0}/Ape #1.json`, `ipfs://${V0}/Ape%20%231.json`],
    [`ipfs://${V0}/#1.png`, `ipfs://${V0}/%231.png`],
    [`ipfs://${V0}/images/#1.png`, `ipfs://${V0}/images/%231.png`],
    [`ipfs://${V0}/#/1`, `ipfs://${V0}/`],
    [`ipfs://${V0}#1.png`, `ipfs://${V0}`],
    [`ipfs://${V0}/film.mp4#t=0.1`, `ipfs://${V0}/film.mp4`],
    [`https://ipfs.io/ipfs/${V0}/film.mp4#t=10,20`, `ipfs://${V0}/film.mp4`],
    [`ipfs://${V0}/Mr. Ape #1`, `ipfs://${V0}/Mr.%20Ape%20%231`],
    [`ipfs://${V0}/index.html#1.png`, `ipfs://${V0}/index.html`],
    [`ipfs://${V0}/index.html#seed=1`, `ipfs://${V0}/index.html`],
    [`ipfs://${V0}/index.html?seed=1.json`, `ipfs://${V0}/index.html?seed=1.json`],
    [`ipfs://${V0}/100% #1.json`, `ipfs://${V0}/100%25%20%231.json`],
    [`ipfs://${V0}/100%25%20.json`, `ipfs://${V0}/100%25%20.json`],
    [`https://ipfs.io/ipfs/${V0}/100%.png`, `ipfs://${V0}/100%25.png`],
    [`ipfs://${V0}/Who? Me?.json`, `ipfs://${V0}/Who%3F%20Me%3F.json`],
    [`https://ipfs.io/ipfs/${V0}/Why?.png`, `ipfs://${V0}/Why%3F.png`],
    [`ipfs://${V0}/1?ext=png`, `ipfs://${V0}/1?ext=png`],
    [`ipfs://${V0}/1.png?2`, `ipfs://${V0}/1.png?2`],
    [`ipfs://${V0}/1.png?a.png`, `ipfs://${V0}/1.png?a.png`],
    [`ipfs://${V0}?filename=a.png`, `ipfs://${V0}?filename=a.png`],
    [`https://ipfs.io/ipfs/https://ipfs.io/ipfs/${V0}/1`, `ipfs://${V0}/1`],
    [`https://ipfs.io/ipfs/https://x.mypinata.cloud/ipfs/${V0}/1 2`, `ipfs://${V0}/1%202`],
    [`https://ipfs.io/ipfs/${V0}/ipfs/${V1}`, `ipfs://${V0}/ipfs/${V1}`],
    [`ipfs://ipfs://${V0}/1`, `ipfs://${V0}/1`],
    [`ipfs://ipfs/ipfs/${V0}`, `ipfs://${V0}`],
    [`https://gateway.pinata.cloud/ipfs/ipfs/${V0}/1`, `ipfs://${V0}/1`],
    [`https://gateway.pinata.cloud/ipfs/ipfs://${V0}/1`, `ipfs://${V0}/1`],
    [`https://ipfs.io//ipfs/${V0}`, `ipfs://${V0}`],
    [`ipfs://${V1.toUpperCase()}/A`, `ipfs://${V1}/A`],
    [`ipfs://F01551220${"AB12".repeat(16)}/1`, `ipfs://f01551220${"ab12".repeat(16)}/1`],
    [`ipfs://${BASE36}/1`, `ipfs://${BASE36}/1`],
    [`ipfs://${BASE36.toUpperCase()}/1`, `ipfs://${BASE36}/1`],
    [`https://ipfs.io/ipfs/${BASE36}`, `ipfs://${BASE36}`],
    [`ipfs://${KEY}/1`, `ipns://${KEY}/1`],
    [`ipns://${KEY}/1`, `ipns://${KEY}/1`],
    [`ipns://${KEY_BASE32}/1`, `ipns://${KEY_BASE32}/1`],
    [`ipns://${OLD_KEY}/1`, `ipns://${OLD_KEY}/1`],
    [`https://gateway.pinata.cloud/ipns/${OLD_KEY}/1`, `ipns://${OLD_KEY}/1`],
    [`ipns://${V1}/1`, `ipfs://${V1}/1`],
    [`ipns://docs.example.org/1`, `ipns://docs.example.org/1`],
    [`ipfs://ipns/docs.example.org`, `ipns://docs.example.org`],
    [`https://dweb.link/ipns/docs.example.org/1`, `ipns://docs.example.org/1`],
    [`https://docs-example-org.ipns.dweb.link/1`, `ipns://docs.example.org/1`],
    [`https://my--docs-example-org.ipns.dweb.link/1`, `ipns://my-docs.example.org/1`],
    [`https://${KEY}.ipns.dweb.link/1`, `ipns://${KEY}/1`],
    [`ipfs://ipfs.io/ipfs/${V0}/1`, `ipfs://${V0}/1`],
    [`ipfs://dweb.link/ipns/docs.example.org/1`, `ipns://docs.example.org/1`],
  ])("%s", (text, canonical) => {
    const source = parseUri(text);
    expect(formatSource(source)).toBe(canonical);
    expect(source).not.toHaveProperty("origin");
    expect(parseUri(canonical)).toEqual(source);
  });

  test("a gateway of a project's own is kept, to be asked first", () => {
    expect(parseUri(`https://holy.mypinata.cloud/ipfs/${V0}/1.gif`)).toEqual({
      kind: "ipfs",
      cid: V0,
      path: "/1.gif",
      origin: `https://holy.mypinata.cloud/ipfs/${V0}/1.gif`,
    });
  });

  test("so is one below a path of its own, and one that only passes pictures on", () => {
    for (const origin of [
      `https://a.example/api/v1/ipfs/${V0}/1.gif`,
      `https://cdn.example/fetch/w_500/https://ipfs.io/ipfs/${V0}/1.gif`,
    ])
      expect(parseUri(origin)).toEqual({ kind: "ipfs", cid: V0, path: "/1.gif", origin });
    expect(parseUri(`https://a.example/api/ipfs/1`)).toMatchObject({ kind: "http" });
  });

  test.each([
    [`ipfs://${V0}/a/../1.png`, `ipfs://${V0}/1.png`],
    [`ipfs://${V0}/../../api/v0/id?x=../1`, `ipfs://${V0}/api/v0/id?x=../1`],
    [`ipfs://${V0}/%2e%2E/.%2e/admin`, `ipfs://${V0}/admin`],
    [`ipfs://${V0} /../../admin`, `ipfs://${V0}/admin`],
    [`ipfs://${V0}/a//../../../..`, `ipfs://${V0}/`],
    [`ipfs://${V0}/..../a..b/...`, `ipfs://${V0}/..../a..b/...`],
    [`ipns://docs.example.org/../../admin`, `ipns://docs.example.org/admin`],
  ])("what steps out of the content stays within: %s", (text, canonical) => {
    expect(formatSource(parseUri(text))).toBe(canonical);
  });

  test("without a CID it is nothing", () => {
    expect(parseUri("ipns://../admin")).toMatchObject({ kind: "none" });
    expect(parseUri("ipns://./admin")).toMatchObject({ kind: "none" });
    expect(parseUri("ipfs://not-a-cid/1")).toMatchObject({ kind: "none" });
    expect(parseUri("ipfs://")).toMatchObject({ kind: "none" });
    expect(parseUri(`https://${V1}.ipfs/1`)).toMatchObject({ kind: "http" });
  });
});

test.each([
  [`ar://${AR}/1.json`, `ar://${AR}/1.json`],
  [`arweave://${AR}/1.json`, `ar://${AR}/1.json`],
  [`https://arweave.net/${AR}`, `ar://${AR}`],
  [`https://arweave.net/${AR}/1.json?ext=png`, `ar://${AR}/1.json?ext=png`],
  [`https://www.arweave.net/${AR}`, `ar://${AR}`],
  [`arweave.net/${AR}`, `ar://${AR}`],
  [`ar://${AR}/Ape #1.json`, `ar://${AR}/Ape%20%231.json`],
  [`https://arweave.net/${AR}/Ape #1.json`, `ar://${AR}/Ape%20%231.json`],
  [`ar://${AR}/index.html#/1`, `ar://${AR}/index.html`],
  [`ar://${AR}/../graphql?query=1`, `ar://${AR}/graphql?query=1`],
  [`https://arweave.net/${AR}#1`, `ar://${AR}`],
])("Arweave: %s", (text, canonical) => {
  expect(formatSource(parseUri(text))).toBe(canonical);
});

test("a gateway's URL that is none is nothing", () => {
  for (const url of [`https://arweave.net:99999/${AR}`, `https://ipfs.io:99999/ipfs/${V0}`])
    expect(parseUri(url)).toMatchObject({ kind: "none", code: "bad_uri" });
});

test.each([
  ["  https://a.example/1 \n", "https://a.example/1"],
  ['"https://a.example/1"', "https://a.example/1"],
  ["\ufeffhttps://a.example/1\u200b", "https://a.example/1"],
  ["https://a.exa\u200bmple/1", "https://a.example/1"],
  ["https://a.example/my token/1", "https://a.example/my%20token/1"],
  ["https://a.example/1#x", "https://a.example/1"],
  ["http://a.example/ü", "http://a.example/%C3%BC"],
  ["//a.example/1", "https://a.example/1"],
  ["https://https://a.example/1", "https://a.example/1"],
  ["https://http://a.example/1?x=https://b.example", "http://a.example/1?x=https://b.example"],
  ["a.example/token/1", "https://a.example/token/1"],
])("dirt goes: %s", (text, url) => {
  expect(parseUri(text)).toEqual({ kind: "http", url });
});

test.each([
  ["an object", '{"name":"a"}', '{"name":"a"}'],
  ["percent-encoded", "%7B%22name%22%3A%22100%%22%7D", '{"name":"100%"}'],
  ["after white space", '\n [{"name":"a"}]', '[{"name":"a"}]'],
  ["a drawing", "<svg xmlns='x'/>", "<svg xmlns='x'/>"],
  ["percent-encoded in quotes", '"%7B%22name%22%3A%22a%22%7D"', '{"name":"a"}'],
  ["in quotes that are percent-encoded", "%22%7B%22name%22%3A%22a%22%7D%22", '{"name":"a"}'],
  ["a list, percent-encoded", "%5B%7B%22name%22%3A%22a%22%7D%5D", '[{"name":"a"}]'],
  ["percent-encoded after white space", "%20%0A%7B%22name%22%3A%22a%22%7D", '{"name":"a"}'],
  ["percent-encoded after a mark", "%EF%BB%BF%7B%22name%22%3A%22a%22%7D\u200b", '{"name":"a"}'],
  ["percent-encoded in part", '%20{"name":"a"}', '{"name":"a"}'],
  ["a drawing, percent-encoded", "%3Csvg xmlns='x'/%3E", "<svg xmlns='x'/>"],
  ["a drawing with its first line, percent-encoded", "%3C%3Fxml?%3E%3Csvg/%3E", "<?xml?><svg/>"],
  ["in two kinds of quotes", `'"{"name":"a"}"' \n`, '{"name":"a"}'],
  ["before a mark", '{"name":"a"}\u200b\ufeff', '{"name":"a"}'],
])("the document itself where its URI should be: %s", (_, text, document) => {
  expect(parseUri(text)).toEqual({ kind: "inline", text: document });
});

test.each([
  "",
  "  ",
  "null",
  "undefined",
  "ftp://a.example/1",
  "file:///etc/passwd",
  "1.json",
  "javascript:alert(1)",
  "http://",
  `https://a.example/${"x".repeat(20_000)}`,
])("nothing to fetch: %s", (text) => {
  expect(parseUri(text)).toMatchObject({ kind: "none" });
});

test.each([
  ["ar://a-name/1.json", "unsupported_uri"],
  ["ftp://a.example/1", "unsupported_uri"],
  ["bzz://d1de9994b4d039f6548d191eb26786769f580809256b4685ef316805265ea162", "unsupported_uri"],
  ["ar://not an id", "bad_uri"],
  ["ipfs://name.eth/1", "bad_uri"],
  ["http://", "bad_uri"],
  ["nothing at all", "bad_uri"],
])("%s can't be read, and the code says why", (text, code) => {
  expect(parseUri(text)).toMatchObject({ kind: "none", code });
});

test.each([
  ["in quotes", '"data:application/json,{}"', "data:application/json,{}"],
  ["in two kinds of quotes", `'"data:application/json,{}"'\n`, "data:application/json,{}"],
  ["in quotes that its own content has too", `'data:application/json,"a\\'s"'`, `data:application/json,"a\\'s"`],
  ["with quotes of its own", 'data:application/json,"a"', 'data:application/json,"a"'],
  ["between marks", "\ufeffdata:application/json,{}\u200b\ufeff", "data:application/json,{}"],
])("a data: URI %s", (_, text, uri) => {
  expect(parseUri(text)).toEqual({ kind: "data", uri });
});

test("data and web3 URIs are left as they are", () => {
  expect(parseUri(' data:application/json,{"a":"#"} ')).toEqual({
    kind: "data",
    uri: 'data:application/json,{"a":"#"} ',
  });
  expect(parseUri("web3://0x4e1f41613c9084fdb9e34e11fae9412427480e56/tokenURI/1")).toMatchObject({ kind: "web3" });
});

describe("links of a document", () => {
  test.each([
    ["1.png", "https://a.example/meta/1", "https://a.example/meta/1.png"],
    ["/i/1.png", "https://a.example/meta/1", "https://a.example/i/1.png"],
    ["//b.example/1.png", "https://a.example/meta/1", "https://b.example/1.png"],
    ["//b.example/1.png", `ipfs://${V0}/meta/1`, "//b.example/1.png"],
    ["images/1.png", `ipfs://${V0}/meta/1.json`, `ipfs://${V0}/meta/images/1.png`],
    ["../1.png", `ipfs://${V0}/meta/1.json`, `ipfs://${V0}/1.png`],
    ["../../../1.png", `ipfs://${V0}/1.json`, `ipfs://${V0}/1.png`],
    ["./1 #2.png", `ipfs://${V0}/meta/1`, `ipfs://${V0}/meta/1%20%232.png`],
    ["./page.html#2", `ipfs://${V0}/meta/1`, `ipfs://${V0}/meta/page.html`],
    ["1.png", `ar://${AR}/1.json`, `ar://${AR}/1.png`],
    ["1.png", "data:application/json,{}", "1.png"],
    [`ipfs://${V1}/1.png`, "https://a.example/1", `ipfs://${V1}/1.png`],
    [`/ipfs/${V1}/1.png`, "https://a.example/1", `/ipfs/${V1}/1.png`],
    ["javascript:alert(1)", "https://a.example/1", ""],
    [`${"\u0001".repeat(300)}javascript:alert(1)`, "https://a.example/1", ""],
    [`vb\u0001${"\u0002".repeat(300)}script:x`, "https://a.example/1", ""],
    ["  https://c.example/x ", "https://a.example/1", "https://c.example/x"],
    [`ipfs.io/ipfs/${V1}/1.png`, "https://a.example/1", `https://ipfs.io/ipfs/${V1}/1.png`],
    [`gateway.pinata.cloud/ipfs/${V1}`, `ipfs://${V0}/1.json`, `https://gateway.pinata.cloud/ipfs/${V1}`],
    [`arweave.net/${AR}`, `ar://${AR}/1`, `https://arweave.net/${AR}`],
    ["www.b.example/1.png", `ipfs://${V0}/1.json`, "https://www.b.example/1.png"],
    ["images.v2/1.png", `ipfs://${V0}/1.json`, `ipfs://${V0}/images.v2/1.png`],
    ["b.example/1.png", "https://a.example/m/1", "https://a.example/m/b.example/1.png"],
    ["<svg xmlns='x'/>", "https://a.example/m/1", "<svg xmlns='x'/>"],
    ["<html><script>// a\nlet b</script></html>", "", "<html><script>// a\nlet b</script></html>"],
  ])("%s in %s", (link, base, resolved) => {
    expect(resolveLink(link, { base })).toBe(resolved);
  });

  test("resolving twice changes nothing", () => {
    fc.assert(
      fc.property(fc.webPath(), fc.constantFrom("https://a.example/m/1", `ipfs://${V0}/m/1`), (path, base) => {
        const once = resolveLink(path, { base });
        expect(resolveLink(once, { base })).toBe(once);
      }),
    );
  });
});

test("never throws, and a canonical form is its own", () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string({ unit: "binary" }),
        fc.webUrl({ withFragments: true }),
        fc.constantFrom("ipfs://", "ar://", "%7b"),
      ),
      (text) => {
        const source = parseUri(text);
        if (source.kind === "none") return;
        expect(formatSource(parseUri(formatSource(source)))).toBe(formatSource(source));
      },
    ),
    { numRuns: 1000 },
  );
});

test.each([
  ["control characters before it", `${"\u0001".repeat(201)}javascript:alert(1)`],
  ["tabs in it", `j${"\t".repeat(250)}avascript:alert(1)`],
  ["spaces before its colon", `JavaScript${" ".repeat(400_000)}:alert(1)`],
])("a scheme that runs code is one with %s", (_, link) => {
  expect(withoutScript(link)).toBe("");
});

describe("a text of any size is looked at once", () => {
  const MANY = 400_000;
  test.each([
    ["spaces inside", `a${" ".repeat(MANY)}b`],
    ["quotes inside", `"a${'"'.repeat(MANY)}b`],
    ["characters that can't be seen", `a${"\u200b".repeat(MANY)}b`],
    ["dots", "a.".repeat(MANY)],
    ["slashes", `ipfs:${"/".repeat(MANY)}`],
    ["question marks", `ipfs://${V0}/${"?".repeat(16_000)}`],
    ["gateways in gateways", `https://a.example/a${`/ipfs/${V0}`.repeat(300)}`],
    ["schemes", "ipfs://".repeat(MANY / 8)],
    ["percent signs", "%".repeat(MANY)],
    ["an object that goes on", `"{${'" '.repeat(MANY / 2)}x`],
    ["a data: URI without data", `data:${"; charset".repeat(MANY / 8)}`],
    ["control characters in a scheme that is none", `${"\u0001".repeat(MANY)}j${"\u0001".repeat(MANY)}x`],
    ["base64 that ends badly", `data:;base64,${"A B".repeat(MANY / 4)}!`],
  ])("%s", (_, text) => {
    const source = parseUri(text);
    expect(["none", "inline", "data", "ipfs"]).toContain(source.kind);
    if (source.kind === "data") parseDataUri(source.uri);
    expect(resolveLink(text, { base: "https://a.example/1" }).length).toBeLessThanOrEqual(text.length);
  });
});

describeSamples("samples", () => {
  test("naughty strings and corrupted URLs are only ever nothing or something", () => {
    for (const { s } of readSampleLines<{ s: string }>("c_bad_input/naughty_strings.ndjson")) {
      expect(() => parseUri(s)).not.toThrow();
      expect(() => resolveLink(s, { base: "https://a.example/1" })).not.toThrow();
    }
  });

  type UrlCase = { input: string; base: string | null; href?: string; failure?: true };
  const webCases = readSampleLines<UrlCase>("c_bad_input/whatwg_urltestdata.ndjson").filter(
    ({ input, base, href }) => base === null && /^https?:\/\//i.test(input) && href?.startsWith("http") === true,
  );

  test("URLs come out as a browser has them", () => {
    expect(webCases.length).toBeGreaterThan(20);
    for (const { input, href } of webCases) {
      const source = parseUri(input);
      // Invisible characters within URLs are removed here, and fragments are not fetched.
      if (/[\u200b-\u200f\u2060\ufeff\0]|^["'`]/u.test(input)) continue;
      expect(source).toEqual({ kind: "http", url: href!.replace(/#.*$/s, "") });
    }
  });
});
