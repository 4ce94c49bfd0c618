import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { encodeAbiParameters } from "viem";
import { afterEach, describe, expect, test, vi } from "vitest";
import { toBytes } from "../bytea.ts";
import { WAIT_TIMEOUT_MS } from "../../test/indexer.ts";
import { type Origin, serveOrigin } from "../../test/origin.ts";
import { address, CHAIN_ID } from "../../test/tokens.ts";
import type { ReadCalls } from "../chain/call.ts";
import { createFetcher, type Fetcher } from "../fetch/fetcher.ts";
import { parseUri } from "../uri/uri.ts";
import { createDocumentReader } from "./source-reader.ts";

const CID = "QmUCShocWwbF7APdavPJxvKqFbB1WHsHAnhxxnoX8UfMFR";
const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==",
  "base64",
);
const MP4 = Buffer.concat([Buffer.from([0, 0, 0, 24]), Buffer.from("ftypisom\0\0\x02\0isommp41"), Buffer.alloc(100)]);
const NOT_FOUND = "<!doctype html><html><head><title>404 Not Found</title></head></html>";
const DOCUMENT = '{"name":"here"}';

type Answer = Buffer | string | number | ((response: ServerResponse) => void);

const origins: Origin[] = [];
const fetchers: Fetcher[] = [];

afterEach(async () => {
  await Promise.all(fetchers.splice(0).map((fetcher) => fetcher.close()));
  await Promise.all(origins.splice(0).map((origin) => origin.close()));
});

async function serve(answer: Answer): Promise<Origin> {
  const origin = await serveOrigin((_, response) => {
    if (typeof answer === "function") answer(response);
    else if (typeof answer === "number") response.writeHead(answer).end();
    else response.writeHead(200).end(answer);
  });
  origins.push(origin);
  return origin;
}

/** Reads a URI. `gateways` are the IPFS gateways, in their order. */
async function read(uri: string, gateways: Origin[] = [], readCalls: ReadCalls = async () => []) {
  return readBy(open(gateways), uri, readCalls);
}

/** Opens a fetcher with these IPFS gateways. */
function open(gateways: Origin[]): Fetcher {
  const fetcher = createFetcher({
    concurrency: 8,
    allowHosts: origins.map(({ host }) => host),
    ipfsGateways: gateways.map(({ url }) => url),
    arweaveGateways: [],
  });
  fetchers.push(fetcher);
  return fetcher;
}

async function readBy(fetcher: Fetcher, uri: string, readCalls: ReadCalls = async () => []) {
  const reader = createDocumentReader({ fetcher, readCalls: new Map([[CHAIN_ID, readCalls]]) });
  const result = await reader(parseUri(uri), { chainId: CHAIN_ID });
  if (result.kind !== "document") return { code: result.kind === "failure" ? result.code : result.kind };
  const { name, image, animation_url } = result.whole;
  return { name, image, animation_url, from: result.from };
}

describe("media where a document should be", () => {
  const zipped = (body: Buffer) => (response: ServerResponse) =>
    response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(body));

  test.each<[string, Answer, { image?: string; animation_url?: string }]>([
    ["a picture", PNG, { image: `ipfs://${CID}/1` }],
    ["a picture, compressed", zipped(PNG), { image: `ipfs://${CID}/1` }],
    ["a film", MP4, { animation_url: `ipfs://${CID}/1` }],
    ["a film of megabytes", Buffer.concat([MP4, Buffer.alloc(6_000_000)]), { animation_url: `ipfs://${CID}/1` }],
  ])("is %s, whatever the gateways before say, and ends the search", async (_, body, link) => {
    const [missing, good, other] = [await serve(404), await serve(body), await serve(DOCUMENT)];
    expect(await read(`ipfs://${CID}/1`, [missing, good, other])).toEqual({
      name: "",
      image: "",
      animation_url: "",
      from: `${good.url}/ipfs/${CID}/1`,
      ...link,
    });
    expect(other.requests).toEqual([]);
  });

  test("is the animation of an origin too, where it moves", async () => {
    const { url } = await serve(MP4);
    expect(await read(`${url}/1`)).toMatchObject({ image: "", animation_url: `${url}/1`, from: `${url}/1` });
  });
});

describe("a page of a gateway that says that there is nothing, with status 200,", () => {
  test("is passed over for the next gateway's document", async () => {
    const gateways = [await serve(NOT_FOUND), await serve(DOCUMENT)];
    expect(await read(`ipfs://${CID}/1`, gateways)).toMatchObject({ name: "here" });
    expect(gateways.map(({ requests }) => requests.length)).toEqual([1, 1]);
  });

  test("is a failure where no other has the document", async () => {
    const gateway = await serve(NOT_FOUND);
    expect(await read(`ipfs://${CID}/1`, [gateway])).toEqual({ code: "bad_json" });
    expect(await read(`${gateway.url}/ipfs/${CID}/1`, [gateway])).toEqual({ code: "bad_json" });
  });

  test("is neither a drawing nor a page that is the content", async () => {
    const drawing = '<svg xmlns="http://www.w3.org/2000/svg"><title>Error 404</title></svg>';
    expect(await read(`ipfs://${CID}/1`, [await serve(drawing)])).toMatchObject({ image: `ipfs://${CID}/1` });
    const page = "<html><title>Art</title><canvas></canvas></html>";
    expect(await read(`ipfs://${CID}/1`, [await serve(page)])).toMatchObject({ animation_url: `ipfs://${CID}/1` });
  });
});

test("any page of a gateway is passed over for a document of another, or of those that are configured", async () => {
  const parked = await serve("<!doctype html><html><title>gateway.example</title>Buy this domain</html>");
  const [missing, good] = [await serve(404), await serve(DOCUMENT)];
  expect(await read(`ipfs://${CID}/1`, [parked, missing, good])).toMatchObject({ name: "here" });
  expect(await read(`${parked.url}/ipfs/${CID}/1`, [good])).toMatchObject({ name: "here" });
  // A page is the content where nobody has anything else.
  expect(await read(`ipfs://${CID}/1`, [missing, parked])).toMatchObject({ animation_url: `ipfs://${CID}/1` });
});

test("a page of a gateway isn't the content while one that may have that is to be asked later", async () => {
  const parked = await serve("<!doctype html><html><title>gateway.example</title>Buy this domain</html>");
  const busy: Origin = await serve((response) => {
    if (busy.requests.length === 1) response.end(DOCUMENT);
    else response.writeHead(429, { "retry-after": "60" }).end();
  });
  const fetcher = open([parked, busy]);
  expect(await readBy(fetcher, `ipfs://${CID}/1`)).toMatchObject({ name: "here" });
  expect(await readBy(fetcher, `${busy.url}/2`)).toEqual({ code: "http_429" });
  expect(await readBy(fetcher, `ipfs://${CID}/3`)).toEqual({ code: "postponed" });
});

test.each([
  ["JSON", '{"message":"API rate limit exceeded"}'],
  ["text", "Too many requests"],
  ["nothing", ""],
])("an error of a gateway with status 200, as %s, is passed over for the document of another", async (_, body) => {
  const [refusing, good] = [await serve(body), await serve(DOCUMENT)];
  expect(await read(`ipfs://${CID}/1`, [refusing, good])).toMatchObject({ name: "here" });
  expect(await read(`${refusing.url}/ipfs/${CID}/1`, [good])).toMatchObject({ name: "here" });
  expect(await read(`ipfs://${CID}/1`, [refusing])).toMatchObject({
    code: expect.stringMatching(/^(no_document|bad_json)$/),
  });
});

describe("large documents", () => {
  const LARGE = `{"name":"${"x".repeat(300_000)}"}`;
  const open = (ipfsGateways: string[] = []) => {
    const fetcher = createFetcher({
      concurrency: 64,
      allowHosts: origins.map(({ host }) => host),
      ipfsGateways,
      arweaveGateways: [],
      hedgeMs: 50,
    });
    fetchers.push(fetcher);
    const readDocument = createDocumentReader({ fetcher, readCalls: new Map() });
    return (url: string) => readDocument(parseUri(url), { chainId: CHAIN_ID });
  };
  /** An origin that answers `/first`, and then sends all but the end of large documents. */
  const drip = () =>
    serveOrigin((request, response) => {
      if (request.url === "/first") response.end(DOCUMENT);
      else response.write(LARGE.slice(0, -1));
    }).then((origin) => (origins.push(origin), origin));

  test("of a host that never ends them take no place from others", async () => {
    const [slow, good] = [await drip(), await serve(LARGE)];
    const readUrl = open();
    await readUrl(`${slow.url}/first`);
    for (let i = 0; i < 16; i++) void readUrl(`${slow.url}/${i}`);
    await expect.poll(() => slow.requests.length).toBe(17);
    await sleep(100);
    const reads = await Promise.all([1, 2, 3, 4, 5].map((i) => readUrl(`${good.url}/${i}`)));
    expect(reads.map(({ kind }) => kind)).toEqual(Array.from({ length: 5 }, () => "document"));
  });

  test.each([
    ["", "", 0],
    [", nor of what another gateway lacks", "ipfs", 16],
  ])("that wait here till their time is over are put off, which is no attempt%s", async (_, kind, misses) => {
    const slow = await drip();
    const empty = await serve(404);
    const readUrl = open([slow.url, empty.url]);
    // A host that hasn't answered yet gets only a few requests, and so does one CID.
    const urlOf = (i: number) =>
      kind === "ipfs" ? `ipfs://${CID.slice(0, -1)}${"abcdefghijkmnopq"[i]}/x` : `${slow.url}/${i}`;
    for (const { url } of [slow, empty]) await readUrl(`${url}/first`);
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      const reads = Array.from({ length: 16 }, (_, i) => readUrl(urlOf(i)));
      await vi.waitUntil(() => slow.requests.length === 17 && empty.requests.length === 1 + misses, {
        timeout: WAIT_TIMEOUT_MS,
      });
      // Waits until what was sent has arrived.
      for (let i = 0; i < 200; i++) await new Promise((resolve) => void setImmediate(resolve));
      vi.advanceTimersByTime(30_000);
      const results = await Promise.all(reads);
      const later = results.filter((read) => read.kind === "postponed");
      expect(later).toHaveLength(14);
      expect(later.every(({ host, seconds }) => host === slow.host && seconds >= 60)).toBe(true);
      expect(results.filter(({ kind }) => kind === "failure")).toHaveLength(2);
    } finally {
      vi.useRealTimers();
    }
    // A host is paused only after three failures.
    expect(await readUrl(`${slow.url}/first`)).toMatchObject({ kind: "document" });
  });
});

test.each<[string, (body: string) => string]>([
  ["a data: URI", (body) => `data:application/json,${body}`],
  ["JSON as the URI", (body) => body],
  ["an answer of a contract", () => `web3://${address(7)}/document`],
])("a document of more than 5 MB is refused in %s, one of less is not", async (_, uriOf) => {
  const readSized = (size: number) => {
    const body = JSON.stringify({ name: "x".repeat(size) });
    const answer = toBytes(encodeAbiParameters([{ type: "string" }], [body]));
    return read(uriOf(body), [], async ([call]) =>
      call?.data === "0xdd473fae" ? [{ kind: "none" }] : [{ kind: "data", data: answer }],
    );
  };
  expect(await readSized(5_300_000)).toEqual({ code: "too_large" });
  expect(await readSized(5_100_000)).toHaveProperty("name");
});
