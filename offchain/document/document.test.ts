import { afterEach, describe, expect, test } from "vitest";
import { encodeAbiParameters, type Hex } from "viem";
import { toBytes } from "../bytea.ts";
import { type Origin, serveOrigin } from "../../test/origin.ts";
import { address, CHAIN_ID } from "../../test/tokens.ts";
import type { ReadCalls } from "../chain/call.ts";
import { createFetcher, type Fetcher } from "../fetch/fetcher.ts";
import { toDocument } from "./document.ts";
import { emptyNormalized } from "./normalize.ts";
import { createDocumentReader } from "./source-reader.ts";
import { parseUri } from "../uri/uri.ts";

const CID = "bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi";
const PNG = Buffer.from("89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489", "hex");
const HEX_ID = "000000000000000000000000000000000000000000000000000000000000002a";
let origin: Origin | undefined;
let fetcher: Fetcher | undefined;

afterEach(async () => {
  await fetcher?.close();
  await origin?.close();
  fetcher = origin = undefined;
});

type Page = { body: string | Buffer; type?: string; headers?: Record<string, string> };

/** Reads a URI. The origin serves `page` at every path, and is the only IPFS gateway. */
async function read(
  uri: string | ((url: string) => string),
  { page, readCalls = async () => [] }: { page?: Page; readCalls?: ReadCalls } = {},
) {
  origin = await serveOrigin((_, response) => {
    response.writeHead(200, { ...(page?.type && { "content-type": page.type }), ...page?.headers }).end(page?.body);
  });
  fetcher = createFetcher({
    concurrency: 4,
    allowHosts: [origin.host],
    ipfsGateways: [origin.url],
    arweaveGateways: [origin.url],
  });
  const reader = createDocumentReader({ fetcher, readCalls: new Map([[CHAIN_ID, readCalls]]) });
  const text = typeof uri === "string" ? uri : uri(origin.url);
  const result = await reader(parseUri(text), { chainId: CHAIN_ID, hexTokenId: HEX_ID });
  return result.kind === "document"
    ? { raw: result.raw, from: result.from, whole: result.whole }
    : { code: (result as { code: string }).code };
}

const whole = (fields: object) => ({ ...emptyNormalized(), ...fields });

test("raw is the text as it was received", async () => {
  const body = '{ "name" :"a",\n "big": 12345678901234567890123, "n":1.0 }\n';
  expect(await read((url) => `${url}/1`, { page: { body } })).toMatchObject({ raw: body, whole: whole({ name: "a" }) });
});

test.each([
  ["UTF-8 with a mark", Buffer.from('\ufeff{"name":"café"}'), undefined, "café"],
  ["Latin-1 that says so", Buffer.from('{"name":"café"}', "latin1"), "application/json; charset=iso-8859-1", "café"],
  ["Latin-1 that says nothing", Buffer.from('{"name":"café"}', "latin1"), "application/json", "café"],
  ["Latin-1 that says UTF-8", Buffer.from('{"name":"café"}', "latin1"), "application/json; charset=utf-8", "café"],
  [
    "windows-1251",
    Buffer.from([0x7b, 0x22, 0x6e, 0x61, 0x6d, 0x65, 0x22, 0x3a, 0x22, 0xcf, 0x22, 0x7d]),
    "text/plain; charset=windows-1251",
    "П",
  ],
  ["UTF-16", Buffer.from('\ufeff{"name":"café"}', "utf16le"), undefined, "café"],
  ["UTF-8 that says Latin-1", Buffer.from('{"name":"café"}'), "application/json; charset=iso-8859-1", "café"],
])("text in %s", async (_, body, type, name) => {
  expect(await read((url) => `${url}/1`, { page: { body, ...(type && { type }) } })).toMatchObject({ whole: { name } });
});

test("NUL doesn't come through", async () => {
  expect(await read((url) => `${url}/1`, { page: { body: '{"name":"a\0b"}\0' } })).toMatchObject({
    raw: '{"name":"ab"}',
    whole: { name: "ab" },
  });
});

test("relative links start from where the document is", async () => {
  const body = '{"image":"../i/1.png"}';
  const result = await read((url) => `${url}/m/1.json`, { page: { body } });
  expect(result.whole?.image).toBe(`${origin!.url}/i/1.png`);
});

test("relative links of content by CID stay content by CID, whatever gateway served it", async () => {
  const result = await read(`ipfs://${CID}/m/1.json`, { page: { body: '{"image":"1.png"}' } });
  expect(result).toMatchObject({
    from: `${origin!.url}/ipfs/${CID}/m/1.json`,
    whole: { image: `ipfs://${CID}/m/1.png` },
  });
});

test("{id} in a document of an ERC-1155 token is its id in 64 hex digits", async () => {
  const body = '{"name":"#{id}","image":"https://a.example/%7Bid%7D.png","properties":{"x":"{id}"}}';
  expect(await read((url) => `${url}/1`, { page: { body } })).toMatchObject({
    raw: body,
    whole: {
      name: `#${HEX_ID}`,
      image: `https://a.example/${HEX_ID}.png`,
      properties: [{ name: "x", value: HEX_ID, type: null, description: null }],
    },
  });
});

test("so many {id} that they make megabytes are refused", async () => {
  const body = `{"name":"${"{id}".repeat(100_000)}"}`;
  expect(await read((url) => `${url}/1`, { page: { body } })).toMatchObject({ code: "too_large" });
});

describe("a body that is no document", () => {
  test("an image becomes the image", async () => {
    const result = await read((url) => `${url}/1.png`, { page: { body: PNG } });
    expect(result).toEqual({ raw: "", from: `${origin!.url}/1.png`, whole: whole({ image: `${origin!.url}/1.png` }) });
  });

  test("a drawing becomes the image, or the drawing where there is no link to it", async () => {
    const svg = '<svg xmlns="http://www.w3.org/2000/svg"/>';
    expect(await read((url) => `${url}/1`, { page: { body: svg } })).toMatchObject({
      raw: svg,
      whole: { image: `${origin!.url}/1` },
    });
    expect(await read(svg)).toMatchObject({ raw: svg, whole: { image: "", image_data: svg } });
  });

  test("a page becomes the animation", async () => {
    const page = "<html><body><canvas></canvas></body></html>";
    expect(await read(`data:text/html,${page}`)).toMatchObject({
      raw: page,
      whole: { animation_url: `data:text/html,${page}` },
    });
    expect(await read((url) => `${url}/1`, { page: { body: page } })).toMatchObject({
      whole: { animation_url: `${origin!.url}/1` },
    });
  });

  test.each([
    "<!doctype html><title>é 404</title><canvas>#</canvas>",
    "<html><canvas></canvas></html>",
    "%3Chtml%3E%3Ccanvas%3E%3C/canvas%3E%3C/html%3E",
  ])("a page in place of the URI becomes the animation, in a link of its own: %s", async (uri) => {
    const page = decodeURIComponent(uri);
    const link = `data:text/html;charset=utf-8;base64,${Buffer.from(page).toString("base64")}`;
    expect(await read(uri)).toEqual({ raw: page, from: "data", whole: whole({ animation_url: link }) });
    // The link leads to the same page.
    expect(await read(link)).toMatchObject({ raw: page });
  });

  test.each([
    "<html><head><title>404 Not Found</title></head></html>",
    "<!doctype html><title>Just a moment...</title>",
    "<html><title>Error</title></html>",
    "<html><title>Account Suspended</title></html>",
    "<html><head><title>a.example is for sale!</title></head></html>",
    '<br />\n<b>Warning</b>:  Undefined variable $id in <b>/a.php</b> on line <b>1</b><br />\n{"name":"a"}',
  ])("an error page with status 200 is a failure: %s", async (body) => {
    expect(await read((url) => `${url}/1`, { page: { body, type: "text/html" } })).toEqual({ code: "bad_json" });
  });

  test.each([
    ['{"message":"not found"}', "no_document"],
    ["{}", "no_document"],
    ['"text"', "no_document"],
    ["not json", "bad_json"],
    ["", "bad_json"],
    ['{"name":', "bad_json"],
  ])("%s is a failure", async (body, code) => {
    expect(await read((url) => `${url}/1`, { page: { body } })).toEqual({ code });
  });

  test.each([
    ['{"title":"Not Found","status":404}', "It tells of an error"],
    ['{"message":"not found"}', "It has none of the known keys"],
  ])("%s is told to be what it is", async (body, message) => {
    const received = {
      texts: [body],
      bytes: Buffer.from(body),
      contentType: undefined,
      base: "",
      isAuthentic: false,
    };
    expect(await toDocument(received)).toMatchObject({ code: "no_document", message: `${message}: ${body}` });
  });

  test("an empty document is told to be that", async () => {
    const received = {
      texts: [" \n"],
      bytes: Buffer.from(" \n"),
      contentType: undefined,
      base: "",
      isAuthentic: false,
    };
    expect(await toDocument(received, { hexTokenId: HEX_ID })).toMatchObject({
      code: "bad_json",
      message: "The document is empty.",
    });
  });

  test("a gateway's list of files is a failure", async () => {
    const page = {
      body: "<html><title>/ipfs/x</title></html>",
      type: "text/html",
      headers: { etag: '"DirIndex-abc"' },
    };
    expect(await read(`ipfs://${CID}`, { page })).toEqual({ code: "listing" });
  });

  test("a document of more than 5 MB is refused, on whatever way it comes", async () => {
    const body = JSON.stringify({ name: "x".repeat(5_300_000) });
    expect(await read((url) => `${url}/1`, { page: { body } })).toEqual({ code: "too_large" });
    expect(await read(`data:application/json,${body}`)).toEqual({ code: "too_large" });
  });
});

test.each([
  ['data:application/json;utf8,{"name":"50% off #1"}', "50% off #1"],
  ["data:application/json,%7B%22name%22%3A%22a%22%7D", "a"],
  ['{"name":"inline"}', "inline"],
  ['"{\\"name\\":\\"in a string\\"}"', "in a string"],
  [`'data:application/json;utf8,{"name":"in quotes"}'`, "in quotes"],
  [
    `"data:application/json;base64,${Buffer.from('{"name":"base64 in quotes"}').toString("base64")}"\u200b`,
    "base64 in quotes",
  ],
  [`data:application/json;base64,${Buffer.from('{"name":"a"}').toString("base64")}\u200b`, "a"],
  ["%20%7B%22name%22%3A%22after a space%22%7D", "after a space"],
])("reads %s", async (uri, name) => {
  expect(await read(uri)).toMatchObject({ whole: { name } });
});

describe("web3 URIs", () => {
  const contract = address(7);
  /** A chain that answers resolveMode and one call. `asked` gets the call's data. */
  const chain = (mode: string, answer: Hex | undefined): { readCalls: ReadCalls; asked: Hex[] } => {
    const asked: Hex[] = [];
    return {
      asked,
      readCalls: async (calls) =>
        calls.map(({ data }) => {
          if (data === "0xdd473fae")
            return mode === "" ? { kind: "none" } : { kind: "data", data: Buffer.from(mode.padEnd(32, "\0")) };
          asked.push(data);
          return answer === undefined ? { kind: "none" } : { kind: "data", data: toBytes(answer) };
        }),
    };
  };
  const json = encodeAbiParameters([{ type: "string" }], ['{"name":"on chain"}']);

  test.each([
    ["auto", `web3://${contract}/tokenJSON/1`, "tokenJSON(uint256)"],
    ["no mode", `web3://${contract}:${CHAIN_ID}/tokenJSON/1?returns=(string)`, "tokenJSON(uint256)"],
    ["typed arguments", `web3://${contract}/get/string!a%20b/uint8!3/true`, "get(string,uint8,bool)"],
    ["addresses and bytes", `web3://${contract}/get/${address(1)}/0x1234`, "get(address,bytes)"],
  ])("in %s mode", async (mode, uri, signature) => {
    const { readCalls, asked } = chain(mode === "auto" ? "auto" : "", json);
    expect(await read(uri, { readCalls })).toMatchObject({ whole: { name: "on chain" }, from: "chain" });
    const { toFunctionSelector } = await import("viem");
    expect(asked[0]?.slice(0, 10)).toBe(toFunctionSelector(signature));
  });

  test("in manual mode the path is the call", async () => {
    const { readCalls, asked } = chain("manual", json);
    expect(await read(`web3://${contract}/a/1.json?x=1`, { readCalls })).toMatchObject({ whole: { name: "on chain" } });
    expect(asked).toEqual([`0x${Buffer.from("/a/1.json?x=1").toString("hex")}`]);
  });

  test.each([
    ["web3://name.eth/1", "unsupported_uri"],
    [`web3://${contract}:999/tokenJSON/1`, "unsupported_uri"],
    [`web3://${contract}/balanceOf/name.eth`, "unsupported_uri"],
    [`web3://${contract}/tokenJSON/1?returns=${"(".repeat(5)}string${")".repeat(5)}`, "bad_uri"],
    [`web3://${contract}/tokenJSON/1?returns=${"(".repeat(10_000)}`, "bad_uri"],
    [`web3://${contract}/tokenJSON/1?returns=${"string,".repeat(30)}string`, "bad_uri"],
  ])("%s can't be read here", async (uri, code) => {
    expect(await read(uri, { readCalls: chain("", json).readCalls })).toEqual({ code });
  });

  test("an answer of more than 5 MB is not decoded", async () => {
    const answer = encodeAbiParameters([{ type: "bytes" }], [`0x${"00".repeat(5_300_000)}`]);
    const { readCalls } = chain("", answer);
    expect(await read(`web3://${contract}/tokenJSON/1?returns=(uint256[])`, { readCalls })).toEqual({
      code: "too_large",
    });
  });

  test.each([
    ["bytes[]", "no_document"],
    ["(uint256,bytes)[]", "bad_answer"],
    ["string[][]", "too_large"],
    ["(bytes,bytes[2])[3]", "too_large"],
  ])("an answer of %s, whose parts may all be the same bytes, is decoded where it is short", async (type, ifShort) => {
    /** A list of so many parts, each of which is the bytes behind them. */
    const answer = (count: number) => {
      const words = [32, count, ...Array.from({ length: count }, () => count * 32), 32 * count];
      return `0x${words.map((word) => word.toString(16).padStart(64, "0")).join("")}${"61".repeat(32 * count)}` as Hex;
    };
    const uri = `web3://${contract}/list?returns=(${type})`;
    expect(await read(uri, { readCalls: chain("", answer(4000)).readCalls })).toEqual({ code: "too_large" });
    const short = await read(uri, { readCalls: chain("", answer(3)).readCalls });
    expect(short).toEqual({ code: ifShort });
  });

  test("a revert is the chain's answer", async () => {
    expect(await read(`web3://${contract}/tokenJSON/1`, { readCalls: chain("", undefined).readCalls })).toEqual({
      code: "revert",
    });
    expect(await read(`web3://${contract}/tokenJSON/1`, { readCalls: chain("strange", json).readCalls })).toEqual({
      code: "unsupported_uri",
    });
  });
});
