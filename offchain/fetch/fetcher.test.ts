import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { constants as http2, createSecureServer } from "node:http2";
import { type AddressInfo, connect } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { brotliCompressSync, constants, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { afterEach, describe, expect, test, vi } from "vitest";
import { type Origin, serveOrigin } from "../../test/origin.ts";
import { describeSamples, samplePath } from "../../test/samples.ts";
import { failure, type Postponed } from "./failure.ts";
import { createFetcher, type Fetcher, type FetcherOptions } from "./fetcher.ts";
import { createHostLimits } from "./host-limits.ts";
import { parseUri } from "../uri/uri.ts";

const CID = "QmUCShocWwbF7APdavPJxvKqFbB1WHsHAnhxxnoX8UfMFR";
const LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghij";
const origins: Origin[] = [];
const fetchers: Fetcher[] = [];

afterEach(async () => {
  await Promise.all(fetchers.splice(0).map((fetcher) => fetcher.close()));
  await Promise.all(origins.splice(0).map((origin) => origin.close()));
});

async function serve(answer: Parameters<typeof serveOrigin>[0]): Promise<Origin> {
  const origin = await serveOrigin(answer);
  origins.push(origin);
  return origin;
}

function open(options: Partial<FetcherOptions> = {}): Fetcher {
  const allowHosts = origins.map(({ host }) => host);
  const fetcher = createFetcher({ concurrency: 8, allowHosts, ipfsGateways: [], arweaveGateways: [], ...options });
  fetchers.push(fetcher);
  return fetcher;
}

/** Fetches a URI. A fetched body is returned as text. */
async function get(fetcher: Fetcher, uri: string, { maxBytes = 1_000_000 } = {}) {
  const source = parseUri(uri);
  if (source.kind !== "http" && source.kind !== "ipfs" && source.kind !== "ipns" && source.kind !== "arweave")
    return { code: source.kind };
  const createSink = () => {
    const chunks: Buffer[] = [];
    return { write: (chunk: Buffer) => void chunks.push(chunk), text: () => Buffer.concat(chunks).toString() };
  };
  const result = await fetcher.fetch(source, { maxBytes, createSink });
  if (result.kind === "fetched") return { body: result.sink.text(), from: result.from };
  return result.kind === "failure"
    ? { code: result.code, retryAfterSeconds: result.retryAfterSeconds }
    : { code: "postponed", seconds: result.seconds };
}

test.each([
  ["gzip", gzipSync("hello")],
  ["br", brotliCompressSync("hello")],
  ["deflate", deflateSync("hello")],
  ["identity", Buffer.from("hello")],
  ["gzip, br", brotliCompressSync(gzipSync("hello"))],
  // What stores of files say whose users took it for something else: nothing is encoded.
  ["base64", Buffer.from("hello")],
  ["utf-8", Buffer.from("hello")],
  ["aws-chunked,gzip", gzipSync("hello")],
])("reads a body in %s", async (encoding, body) => {
  const origin = await serve((_, response) => response.writeHead(200, { "content-encoding": encoding }).end(body));
  expect(await get(open(), `${origin.url}/x`)).toEqual({ body: "hello", from: `${origin.url}/x` });
});

test("a body behind many long headers is read, as browsers do", async () => {
  const origin = await serve((_, response) =>
    response.writeHead(200, { link: Array.from({ length: 300 }, (__, i) => `</${"x".repeat(150)}${i}>`) }).end("hello"),
  );
  expect(await get(open(), `${origin.url}/x`)).toMatchObject({ body: "hello" });
});

test.each<[string, () => Promise<void> | void]>([
  ["at once", () => {}],
  ["at once, but says later", () => Promise.resolve()],
  ["slowly", () => new Promise((resolve) => void setImmediate(resolve))],
])("a large body arrives whole where it is taken %s", async (_, take) => {
  const body = Buffer.alloc(3_000_000, "0123456789");
  const origin = await serve((request, response) => {
    if (request.url === "/zip") response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(body));
    else response.write(body.subarray(0, 1), () => response.end(body.subarray(1)));
  });
  for (const path of ["/plain", "/zip"]) {
    const chunks: Buffer[] = [];
    const createSink = () => ({ write: (chunk: Buffer) => (chunks.push(chunk), take()) });
    const source = { kind: "http", url: `${origin.url}${path}` } as const;
    expect(await open().fetch(source, { maxBytes: body.length, createSink })).toMatchObject({ kind: "fetched" });
    expect(Buffer.concat(chunks).equals(body)).toBe(true);
  }
});

test("user and password of a URL are sent as they are meant", async () => {
  const origin = await serve((request, response) => response.end(request.headers.authorization ?? "none"));
  const sent = async (user: string) => {
    const { body = "" } = await get(open(), origin.url.replace("//", `//${user}`));
    return body === "none" ? body : Buffer.from(body.replace("Basic ", ""), "base64").toString();
  };
  const users = ["a%40b:p%40ss%2F@", ":token@", "me@", "100%:%zz@", ""];
  expect(await Promise.all(users.map(sent))).toEqual(["a@b:p@ss/", ":token", "me:", "100%:%zz", "none"]);
});

/** A gzip header that is followed by a file name. */
const GZIP_NAME = Buffer.from("1f8b0808000000000003", "hex");

test("a bomb stops at the cap", async () => {
  const bomb = gzipSync(Buffer.alloc(100_000_000));
  const origin = await serve((_, response) => response.writeHead(200, { "content-encoding": "gzip" }).end(bomb));
  expect(await get(open(), `${origin.url}/x`)).toMatchObject({ code: "too_large" });
});

test("zstd that wants more memory than HTTP allows is not read", async () => {
  const body = (windowLog: number) =>
    zstdCompressSync(Buffer.alloc(20_000_000), { params: { [constants.ZSTD_c_windowLog]: windowLog } });
  const origin = await serve((request, response) =>
    response.writeHead(200, { "content-encoding": "zstd" }).end(body(Number(request.url!.slice(1)))),
  );
  expect(await get(open(), `${origin.url}/23`, { maxBytes: 20_000_000 })).toHaveProperty("body");
  expect(await get(open(), `${origin.url}/27`, { maxBytes: 20_000_000 })).toMatchObject({ code: "bad_encoding" });
});

test("brotli isn't asked for, and is read for two requests of a host and eight in all", async () => {
  // More than brotli's window: nothing comes out before that is full.
  const body = brotliCompressSync(Buffer.alloc(10_000_000));
  const stall = (request: IncomingMessage, response: ServerResponse) => {
    if (request.url === "/asked") return response.end(request.headers["accept-encoding"]);
    response.writeHead(200, { "content-encoding": "br" });
    if (request.url === "/whole") response.end(body);
    else response.write(body.subarray(0, -1));
  };
  const hosts = await Promise.all(Array.from({ length: 6 }, () => serve(stall)));
  const fetcher = open({ concurrency: 100 });
  let reading = 0;
  const ask = (url: string) => {
    let isBegun = false;
    const createSink = () => ({ write: () => void (isBegun ||= !!++reading) });
    return fetcher.fetch({ kind: "http", url }, { maxBytes: 10_000_000, createSink });
  };
  for (const { url } of hosts) expect((await get(fetcher, `${url}/asked`)).body).toBe("gzip");
  for (let i = 0; i < 3; i++) void ask(`${hosts[0]!.url}/${i}`);
  await expect.poll(() => hosts[0]!.requests.length).toBe(4);
  await expect.poll(() => reading).toBe(2);
  // Another host isn't held up by those that wait.
  expect(await ask(`${hosts[1]!.url}/whole`)).toMatchObject({ kind: "fetched" });
  for (const { url } of hosts.slice(1)) for (let i = 0; i < 2; i++) void ask(`${url}/${i}`);
  await expect.poll(() => hosts.flatMap(({ requests }) => requests).length).toBe(6 + 3 + 1 + 10);
  await expect.poll(() => reading).toBe(3 + 6);
  await sleep(200);
  expect(reading).toBe(3 + 6);
});

test("a body that never ends stops at the cap, one that says its size is not begun", async () => {
  const origin = await serve((request, response) => {
    if (request.url === "/said") return response.writeHead(200, { "content-length": "40000000" }).flushHeaders();
    // The file name in a gzip header: nothing of it comes out.
    if (request.url === "/named") response.writeHead(200, { "content-encoding": "gzip" }).write(GZIP_NAME);
    else response.writeHead(200);
    const more = () => response.write(Buffer.alloc(65_536, "a"), () => !response.destroyed && setImmediate(more));
    more();
  });
  const fetcher = open();
  for (const path of ["/x", "/said", "/named"])
    expect(await get(fetcher, `${origin.url}${path}`)).toMatchObject({ code: "too_large" });
});

test.each([
  ["resets", "reset"],
  ["lies about its length", "reset"],
  ["speaks no HTTP", "bad_http"],
  ["sends bad gzip", "bad_encoding"],
  ["encodes three times", "bad_encoding"],
  ["answers 404", "http_404"],
  ["answers 204", "http_204"],
  ["redirects in circles", "too_many_redirects"],
  ["redirects to a file", "bad_redirect"],
  ["redirects nowhere", "bad_redirect"],
  ["redirects to what no name is as long as", "bad_uri"],
])("an origin that %s", async (what, code) => {
  const origin = await serve((request, response) => {
    if (what === "resets") return request.socket.destroy();
    if (what === "lies about its length")
      return request.socket.end("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nshort");
    if (what === "speaks no HTTP") return request.socket.end("what?\r\n\r\n");
    if (what === "sends bad gzip") return response.writeHead(200, { "content-encoding": "gzip" }).end("no gzip");
    if (what === "encodes three times")
      return response.writeHead(200, { "content-encoding": "gzip, gzip, gzip" }).end(gzipSync(gzipSync(gzipSync("x"))));
    if (what === "answers 404") return response.writeHead(404).end();
    if (what === "answers 204") return response.writeHead(204).end();
    const location =
      {
        "redirects in circles": "/again",
        "redirects to a file": "file:///etc/passwd",
        "redirects to what no name is as long as": `http://${"a.".repeat(127)}example/`,
      }[what] ?? "http://";
    response.writeHead(302, { location }).end();
  });
  expect(await get(open(), `${origin.url}/x`)).toMatchObject({ code });
});

test("a redirect to what can't be asked is a failure of the host that redirects", async () => {
  const origin = await serve((_, response) => response.writeHead(302, { location: "ipfs://content/1" }).end());
  const source = { kind: "http" as const, url: `${origin.url}/1` };
  const result = await open().fetch(source, { maxBytes: 1000, createSink: () => ({ write: () => {} }) });
  expect(result).toMatchObject({ code: "bad_redirect", host: origin.host });
});

test("five redirects are followed, each hop checked anew", async () => {
  const canary = await serve((_, response) => response.end("reached"));
  const origin = await serve((request, response) => {
    const hop = Number(request.url?.slice(1));
    if (request.url === "/private") response.writeHead(302, { location: canary.url }).end();
    else if (hop < 5) response.writeHead(302, { location: `/${hop + 1}` }).end();
    else response.end("there");
  });
  const fetcher = open({ allowHosts: [origin.host] });
  expect(await get(fetcher, `${origin.url}/0`)).toMatchObject({ body: "there" });
  expect(await get(fetcher, `${origin.url}/private`)).toMatchObject({ code: "private_address" });
  expect(canary.connections()).toBe(0);
});

test("a redirect that has UTF-8 in it, as it stands, is followed to what it says", async () => {
  const origin = await serve((request, response) => {
    // Header values are written as Latin-1, so these are the bytes of UTF-8.
    if (request.url === "/") response.writeHead(302, { location: Buffer.from("/café 1").toString("latin1") }).end();
    else response.end(request.url);
  });
  expect(await get(open({ allowHosts: [origin.host] }), `${origin.url}/`)).toMatchObject({ body: "/caf%C3%A9%201" });
});

test.each([
  "http://127.0.0.1:PORT",
  "http://localhost.example:PORT",
  "http://2130706433:PORT",
  "http://0x7f.1:PORT",
  "http://[::ffff:127.0.0.1]:PORT",
  "http://0:PORT",
])("a private address is never reached: %s", async (template) => {
  const canary = await serve((_, response) => response.end("reached"));
  const fetcher = open({ allowHosts: [], resolve: async () => ["127.0.0.1"] });
  expect(await get(fetcher, template.replace("PORT", canary.host.split(":")[1]!))).toMatchObject({
    code: "private_address",
  });
  expect(canary.connections()).toBe(0);
});

test("a name that changes between check and connection changes nothing", async () => {
  const canary = await serve((_, response) => response.end("reached"));
  let asked = 0;
  const fetcher = open({ allowHosts: [], resolve: async () => [asked++ === 0 ? "203.0.114.1" : "127.0.0.1"] });
  const port = canary.host.split(":")[1]!;
  // The first request connects to an unused address, the second is refused: both connect to the address that was
  // checked.
  const [, second] = [
    void get(fetcher, `http://rebind.example:${port}/`).catch(() => {}),
    await sleep(50).then(() => get(fetcher, `http://rebind.example:${port}/`)),
  ];
  expect(second).toMatchObject({ code: "private_address" });
  expect(canary.connections()).toBe(0);
});

test("a body that a host of HTTP/2 gives up in the middle is none", async () => {
  const [key, cert] = ["key", "certificate"].map((name) =>
    readFileSync(join(import.meta.dirname, `../../test/tls/${name}.pem`), "utf8"),
  );
  const trusted = getCACertificates("default");
  setDefaultCACertificates([...trusted, cert!]);
  const server = createSecureServer({ key: key!, cert: cert!, allowHTTP1: true }, (request, response) => {
    response.writeHead(200);
    response.write("half of it");
    const giveUp = () =>
      "stream" in response ? response.stream.close(http2.NGHTTP2_CANCEL) : request.socket.destroy();
    setTimeout(giveUp, 50);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  try {
    const { port } = server.address() as AddressInfo;
    const fetcher = open({ allowHosts: [`localhost:${port}`] });
    expect(await get(fetcher, `https://localhost:${port}/`)).toMatchObject({ code: "reset" });
  } finally {
    server.close();
    setDefaultCACertificates(trusted);
  }
});

test("a port without TLS is told in one line", async () => {
  const origin = await serve((_, response) => response.end());
  const source = { kind: "http" as const, url: origin.url.replace("http:", "https:") };
  expect(await open().fetch(source, { maxBytes: 1, createSink: () => ({ write: () => {} }) })).toMatchObject({
    code: "tls",
    message: `${origin.host}: TLS: wrong version number`,
  });
});

test("a host that says Retry-After is left alone", async () => {
  const origin = await serve((_, response) => response.writeHead(429, { "retry-after": "120" }).end());
  const fetcher = open();
  expect(await get(fetcher, `${origin.url}/1`)).toMatchObject({ code: "http_429", retryAfterSeconds: 120 });
  const later = await get(fetcher, `${origin.url}/2`);
  expect(later).toMatchObject({ code: "postponed" });
  expect((later as { seconds: number }).seconds).toBeGreaterThan(100);
  expect(origin.requests).toEqual(["/1"]);
  // Without Retry-After the pause is the usual one.
  const busy = await serve((_, response) => response.writeHead(429).end());
  const another = open();
  expect(await get(another, `${busy.url}/1`)).toMatchObject({ code: "http_429" });
  expect(await get(another, `${busy.url}/2`)).toMatchObject({ code: "postponed" });
  // It is a day at most.
  const other = await serve((_, response) => response.writeHead(503, { "retry-after": "999999999" }).end());
  expect(await get(open(), `${other.url}/1`)).toMatchObject({ code: "http_503", retryAfterSeconds: 86_400 });
});

test("Retry-After may be a date, which may be over, and nonsense is none", async () => {
  const origin = await serve((request, response) => {
    response.writeHead(503, { "retry-after": decodeURIComponent(request.url!.slice(1)) }).end();
  });
  const told = async (value: string) => {
    const result = await get(open(), `${origin.url}/${encodeURIComponent(value)}`);
    expect(result).toMatchObject({ code: "http_503" });
    return (result as { retryAfterSeconds?: number }).retryAfterSeconds;
  };
  const inAnHour = await told(new Date(Date.now() + 3_600_000).toUTCString());
  expect(inAnHour).toBeGreaterThan(3000);
  expect(inAnHour).toBeLessThanOrEqual(3600);
  expect(await told("Wed, 21 Oct 2015 07:28:00 GMT")).toBe(0);
  for (const nonsense of ["soon", "-3600", "1.5", "1e9", ""]) expect(await told(nonsense)).toBeUndefined();
});

test("a part of the content, which nobody asked for, is not taken for the whole", async () => {
  const ranges: Record<string, string> = { "/part": "bytes 0-4/100", "/end": "bytes 5-9/10", "/whole": "bytes 0-4/5" };
  const origin = await serve(({ url = "" }, response) => {
    const range = ranges[url];
    response.writeHead(206, range === undefined ? {} : { "content-range": range }).end("hello");
  });
  const fetcher = open();
  for (const path of ["/part", "/end"])
    expect(await get(fetcher, origin.url + path)).toMatchObject({ code: "http_206" });
  for (const path of ["/whole", "/nothing-said"])
    expect(await get(fetcher, origin.url + path)).toMatchObject({ body: "hello" });
});

test("what comes behind early hints is the answer", async () => {
  const origin = await serve((_, response) => {
    response.writeEarlyHints({ link: "</a.css>; rel=preload" }, () => response.end("{}"));
  });
  expect(await get(open(), `${origin.url}/x`)).toMatchObject({ body: "{}" });
});

test("after the pause that it asked for a host is tried by one request", async () => {
  const origin = await serve((request, response) => {
    if (request.url === "/429") response.writeHead(429, { "retry-after": "1" }).end();
  });
  const fetcher = open();
  expect(await get(fetcher, `${origin.url}/429`)).toMatchObject({ code: "http_429" });
  await sleep(1200);
  for (let i = 0; i < 5; i++) void get(fetcher, `${origin.url}/${i}`);
  await expect.poll(() => origin.requests.length).toBe(2);
  await sleep(200);
  expect(origin.requests).toEqual(["/429", "/0"]);
});

test("what waits for a host that asked for a pause comes back at the pace that it had before", async () => {
  const origin = await serve((request, response) => {
    if (request.url === "/429") response.writeHead(429, { "retry-after": "5" }).end();
    else setTimeout(() => response.end("{}"), 200);
  });
  const fetcher = open();
  const startedAt = performance.now();
  await get(fetcher, `${origin.url}/first`);
  // By this machine.
  const secondsOfOne = (performance.now() - startedAt) / 1000;
  await get(fetcher, `${origin.url}/429`);
  const results = await Promise.all(Array.from({ length: 1600 }, (_, i) => get(fetcher, `${origin.url}/${i}`)));
  const seconds = results.map((result) => (result as { seconds: number }).seconds);
  // 16 at once with 0.2 s each, after 5 s; delayed at random by up to a quarter more.
  expect(Math.min(...seconds)).toBeGreaterThan(4.5);
  expect(Math.max(...seconds)).toBeGreaterThan(15);
  expect(Math.max(...seconds)).toBeLessThan(1.5 * (5 + (1600 / 16) * secondsOfOne));
});

/** Says of each request whether it is allowed: so many at once, and another one each time that has passed. */
function createAllowance({ atOnce, everyMs }: { atOnce: number; everyMs: number }): () => boolean {
  let left = atOnce;
  let at = performance.now();
  return () => {
    const now = performance.now();
    left = Math.min(atOnce, left + (now - at) / everyMs);
    at = now;
    if (left < 1) return false;
    left--;
    return true;
  };
}

test("a host that goes on asking for pauses is asked at a pace that it bears", async () => {
  const allow = createAllowance({ atOnce: 4, everyMs: 100 });
  let refused = 0;
  const origin = await serve((_, response) => {
    const isAllowed = allow();
    if (!isAllowed) refused++;
    setTimeout(() => response.writeHead(isAllowed ? 200 : 429, { "retry-after": "1" }).end("{}"), 50);
  });
  const fetcher = open({ concurrency: 32 });
  const getAtLast = async (url: string): Promise<void> => {
    const result = await get(fetcher, url);
    if ("body" in result) return;
    await sleep(1000 * (result.seconds ?? 1));
    await getAtLast(url);
  };
  await Promise.all(Array.from({ length: 80 }, (_, i) => getAtLast(`${origin.url}/${i}`)));
  // At full pace sixty and more.
  expect(refused).toBeLessThan(35);
});

test("of a host that allows five requests a second, and refuses others without a time, most of these are had", async () => {
  const limits = createHostLimits({ concurrency: 32 });
  const host = "strict.example:443";
  vi.useFakeTimers({ toFake: ["performance", "setTimeout", "clearTimeout"] });
  try {
    const allow = createAllowance({ atOnce: 10, everyMs: 200 });
    const pass = (ms: number) => new Promise((resolve) => void setTimeout(resolve, ms));
    const ask = async () => {
      const isAllowed = allow();
      await pass(100);
      return isAllowed ? { kind: "done" } : failure("http_429", "", { host });
    };
    let answers = 0;
    const getAtLast = async (): Promise<void> => {
      const result = await limits.run(host, ask, { tenant: "" });
      if (result.kind === "done") return void answers++;
      await pass(result.kind === "postponed" ? 1000 * (result as Postponed).seconds : 60_000);
      await getAtLast();
    };
    for (let i = 0; i < 4000; i++) void getAtLast();
    await vi.advanceTimersByTimeAsync(600_000);
    // Of 3,000.
    expect(answers).toBeGreaterThan(1500);
  } finally {
    vi.useRealTimers();
  }
});

test("contracts for which there is no room at a host that is asked slowly come back when there may be", async () => {
  const limits = createHostLimits({ concurrency: 32 });
  const host = "busy.example:443";
  const answer = (tenant: string) => limits.run(host, async () => ({ kind: "done" }), { tenant });
  const refuse = () => limits.run(host, async () => failure("http_429", "", { host }), { tenant: "" });
  vi.useFakeTimers({ toFake: ["performance", "setTimeout", "clearTimeout"] });
  try {
    for (let i = 0; i < 2; i++) {
      await refuse();
      vi.advanceTimersByTime(30_001);
      await answer("");
    }
    // It gets a request each tenth of a second now, so that a hundred take ten seconds.
    const waits: number[] = [];
    for (let i = 0; i < 300; i++)
      void answer(`${i}`).then((result) => {
        if (result.kind === "postponed") waits.push((result as Postponed).seconds);
      });
    await vi.advanceTimersByTimeAsync(0);
    expect(waits).toHaveLength(200);
    expect(Math.min(...waits)).toBeGreaterThan(9);
  } finally {
    vi.useRealTimers();
  }
});

test("a host that refuses one of fifty at any pace is asked at full pace", async () => {
  const limits = createHostLimits({ concurrency: 32 });
  const host = "many.example:443";
  let answers = 0;
  const answer = () => limits.run(host, async () => ({ kind: "done", number: answers++ }), { tenant: "" });
  const refuse = () => limits.run(host, async () => failure("http_429", "", { host }), { tenant: "" });
  vi.useFakeTimers({ toFake: ["performance", "setTimeout", "clearTimeout"] });
  try {
    for (let i = 0; i < 500; i++) {
      void (i % 50 === 49 ? refuse() : answer());
      await vi.advanceTimersByTimeAsync(30_001);
    }
    answers = 0;
    for (let i = 0; i < 16; i++) void answer();
    await vi.advanceTimersByTimeAsync(1);
    expect(answers).toBe(16);
  } finally {
    vi.useRealTimers();
  }
});

test("a host that refused everything for a while is asked at full pace again", async () => {
  let refusals = 3;
  let running = 0;
  let most = 0;
  const origin = await serve((_, response) => {
    if (refusals-- > 0) return void response.writeHead(429, { "retry-after": "1" }).end();
    most = Math.max(most, ++running);
    setTimeout(() => response.end("{}", () => running--), 1000);
  });
  const fetcher = open();
  for (let i = 0; i < 3; i++) {
    expect(await get(fetcher, `${origin.url}/${i}`)).toMatchObject({ code: "http_429" });
    await sleep(1100);
  }
  await get(fetcher, `${origin.url}/first`);
  await Promise.all(Array.from({ length: 16 }, (_, i) => get(fetcher, `${origin.url}/more${i}`)));
  // With 0.2 s between two of them six at most.
  expect(most).toBeGreaterThan(6);
});

test("what waits for a host when it asks for a pause doesn't reach it", async () => {
  const origin = await serve((_, response) => {
    setTimeout(() => response.writeHead(429, { "retry-after": "120" }).end(), 100);
  });
  const fetcher = open();
  const results = await Promise.all(Array.from({ length: 10 }, (_, i) => get(fetcher, `${origin.url}/${i}`)));
  expect(origin.requests).toHaveLength(2);
  expect(results.filter((result) => result.code === "postponed")).toHaveLength(8);
});

test("a host that hasn't answered yet is asked twice, and a few more wait", async () => {
  const origin = await serve(() => {});
  const fetcher = open({ concurrency: 100 });
  const results: unknown[] = [];
  for (let i = 0; i < 40; i++) void get(fetcher, `${origin.url}/${i}`).then((result) => results.push(result));
  await sleep(300);
  expect(origin.requests).toHaveLength(2);
  expect(results.length).toBe(30);
});

test("hosts that don't answer leave half of all places to the others", async () => {
  const silent = await Promise.all(Array.from({ length: 10 }, () => serve(() => {})));
  const good = await serve((_, response) => response.end("{}"));
  const fetcher = open({ concurrency: 8 });
  expect(await get(fetcher, `${good.url}/first`)).toMatchObject({ body: "{}" });
  for (const origin of silent) for (let i = 0; i < 4; i++) void get(fetcher, `${origin.url}/${i}`);
  const results = await Promise.all(Array.from({ length: 40 }, (_, i) => get(fetcher, `${good.url}/${i}`)));
  expect(results.filter((result) => "body" in result)).toHaveLength(40);
});

test("of hosts without number that don't answer some are waited for, and there is room left for others", async () => {
  const silent = await Promise.all(Array.from({ length: 40 }, () => serve(() => {})));
  const good = await serve((_, response) => response.end("{}"));
  const fetcher = open({ concurrency: 8 });
  await get(fetcher, `${good.url}/first`);
  const putOff: unknown[] = [];
  for (const { url } of silent) void get(fetcher, url).then((result) => putOff.push(result));
  // Four have places, and four of the eight who may wait for these are of one tenant.
  await expect.poll(() => putOff.length).toBe(40 - 4 - 4);
  for (const result of putOff) expect(result).toMatchObject({ code: "postponed" });
  expect(await get(fetcher, `${good.url}/second`)).toMatchObject({ body: "{}" });
});

test.each<[string, (request: IncomingMessage) => void]>([
  ["closes", ({ socket }) => socket.end()],
  ["resets", ({ socket }) => socket.resetAndDestroy()],
])("a host that %s a kept connection as it is used again is asked once more, and nothing is lost", async (_, end) => {
  const used = new Set<IncomingMessage["socket"]>();
  const origin = await serve((request, response) => {
    if (used.has(request.socket)) return end(request);
    used.add(request.socket);
    response.end(request.url);
  });
  const fetcher = open();
  for (let i = 0; i < 5; i++) expect(await get(fetcher, `${origin.url}/${i}`)).toMatchObject({ body: `/${i}` });
  expect(origin.connections()).toBeGreaterThan(2);
});

test("what a host had begun to send isn't asked for again, nor is more than once what it never sends", async () => {
  const origin = await serve((request, response) => {
    if (request.url === "/begun") response.writeHead(200, { "content-length": 10 }).write("short");
    setImmediate(() => request.socket.end());
  });
  const fetcher = open();
  expect(await get(fetcher, `${origin.url}/begun`)).toMatchObject({ code: "reset" });
  expect(await get(fetcher, `${origin.url}/never`)).toMatchObject({ code: "reset" });
  expect(origin.requests).toEqual(["/begun", "/never", "/never"]);
});

test.each(["content-length: 5", "connection: close"])(
  "a body behind which its host closes the connection (%s) is whole, however long it takes to be taken",
  async (header) => {
    const origin = await serve(({ socket }) => void socket.end(`HTTP/1.1 200 OK\r\n${header}\r\n\r\nhello`));
    let taken = "";
    const createSink = () => ({
      write: async (chunk: Buffer) => {
        await sleep(50);
        taken += chunk.toString();
      },
    });
    const source = { kind: "http", url: origin.url } as const;
    const result = await open().fetch(source, { maxBytes: 100, createSink });
    expect({ kind: result.kind, taken }).toEqual({ kind: "fetched", taken: "hello" });
  },
);

test("a host that fails three times is left alone, then tried by one request", async () => {
  const origin = await serve((request) => request.socket.destroy());
  const fetcher = open();
  for (let i = 0; i < 3; i++) expect(await get(fetcher, `${origin.url}/${i}`)).toMatchObject({ code: "reset" });
  expect(await get(fetcher, `${origin.url}/3`)).toMatchObject({ code: "postponed" });
});

test("a host that gives up on single documents (504) is asked for the others", async () => {
  const origin = await serve((_, response) => response.writeHead(504).end());
  const fetcher = open();
  for (let i = 0; i < 5; i++) expect(await get(fetcher, `${origin.url}/${i}`)).toMatchObject({ code: "http_504" });
});

test("requests that fail together are one failure more, not a pause for each", async () => {
  const limits = createHostLimits({ concurrency: 64 });
  const answer = async () => ({ kind: "done" });
  await limits.run("a:1", answer, { tenant: "" });
  const reset = Promise.withResolvers<void>();
  const together = Array.from({ length: 16 }, () =>
    limits.run(
      "a:1",
      async () => {
        await reset.promise;
        return failure("reset", "", { host: "a:1" });
      },
      { tenant: "" },
    ),
  );
  await sleep(0);
  reset.resolve();
  await Promise.all(together);
  const next = await limits.run("a:1", answer, { tenant: "" });
  // 30 s and up to a quarter more. 14 pauses in a row would have made it a quarter of an hour.
  expect(next).toMatchObject({ kind: "postponed" });
  expect((next as { seconds: number }).seconds).toBeLessThan(40);
});

test("a host has at most 16 requests at a time", async () => {
  let now = 0;
  let most = 0;
  const origin = await serve((_, response) => {
    most = Math.max(most, ++now);
    setTimeout(() => {
      now--;
      response.end("{}");
    }, 20);
  });
  const fetcher = open({ concurrency: 100 });
  await get(fetcher, `${origin.url}/first`);
  const results = await Promise.all(Array.from({ length: 80 }, (_, i) => get(fetcher, `${origin.url}/${i}`)));
  expect(most).toBe(16);
  expect(results.filter((result) => "body" in result).length).toBeGreaterThan(50);
});

test("requests to a host that come one by one don't wait for each other", async () => {
  const answers: (() => void)[] = [];
  const origin = await serve((request, response) => {
    if (request.url === "/first") response.end("{}");
    else answers.push(() => response.end("{}"));
  });
  const fetcher = open({ concurrency: 100 });
  await get(fetcher, `${origin.url}/first`);
  const results = [];
  for (let count = 1; count <= 16; count++) {
    results.push(get(fetcher, `${origin.url}/${count}`));
    await expect.poll(() => answers.length).toBe(count);
  }
  for (const answer of answers) answer();
  for (const result of await Promise.all(results)) expect(result).toMatchObject({ body: "{}" });
});

test("requests are never more than all places, and no host keeps others from theirs", async () => {
  let now = 0;
  let most = 0;
  const answer = (_: unknown, response: ServerResponse) => {
    most = Math.max(most, ++now);
    setImmediate(() => {
      now--;
      response.end("{}");
    });
  };
  const busy = await serve(answer);
  const other = await serve(answer);
  const fetcher = open({ concurrency: 4 });
  const order: string[] = [];
  const ask = async (origin: Origin, name: string) => {
    await get(fetcher, `${origin.url}/${name}`);
    order.push(name);
  };
  await Promise.all([ask(busy, "first"), ask(other, "first")]);
  const all = Array.from({ length: 400 }, () => ask(busy, "busy"));
  await Promise.all([...all, ask(other, "other")]);
  expect(most).toBeLessThanOrEqual(4);
  // It comes after the turns of the lanes that have slots, and not after all that wait.
  expect(order.indexOf("other")).toBeLessThan(200);
});

test("a host that takes no connection fails by that, long before a whole fetch may take", async () => {
  // A server whose connection queue is full and never accepted: the next connection is never answered.
  const program = `require("node:net").createServer().listen({ port: 0, host: "127.0.0.1", backlog: 1 }, function () {
    process.send(this.address().port);
  })`;
  const frozen = spawn(process.execPath, ["-e", program], { stdio: ["ignore", "ignore", "inherit", "ipc"] });
  const [port] = (await once(frozen, "message")) as [number];
  frozen.kill("SIGSTOP");
  const waiting = Array.from({ length: 4 }, () => connect(port, "127.0.0.1").on("error", () => {}));
  await once(waiting[0]!, "connect");
  try {
    const fetcher = open({ allowHosts: [`127.0.0.1:${port}`] });
    expect(await get(fetcher, `http://127.0.0.1:${port}/x`)).toMatchObject({ code: "connect" });
  } finally {
    for (const socket of waiting) socket.destroy();
    frozen.kill("SIGKILL");
  }
});

test("what is remembered of hosts is bounded, however many are left alone", async () => {
  const limits = createHostLimits({ concurrency: 8 });
  const refuse = async (host: string) => failure("http_429", "", { host, retryAfterSeconds: 86_400 });
  for (let i = 0; i < 20_001; i++) await limits.run(`${i}.example:80`, () => refuse(`${i}.example:80`), { tenant: "" });
  // The oldest hosts are forgotten, the newest still paused.
  expect(limits.isPaused("0.example:80", "")).toBe(false);
  expect(limits.isPaused("20000.example:80", "")).toBe(true);
});

test("connections are used again", async () => {
  const ports = new Set<number | undefined>();
  const origin = await serve((request, response) => {
    ports.add(request.socket.remotePort);
    response.end("{}");
  });
  const fetcher = open();
  for (let i = 0; i < 20; i++) await get(fetcher, `${origin.url}/${i}`);
  expect(ports.size).toBeLessThanOrEqual(2);
});

test("the next gateway is asked when one fails, is slow or lacks the content", async () => {
  const missing = await serve((_, response) => response.writeHead(404).end());
  const slow = await serve(() => {});
  const good = await serve((request, response) => response.end(request.url));
  const gateways = [missing.url, slow.url, `${good.url}/ipfs/`];
  const fetcher = open({ ipfsGateways: gateways, hedgeMs: 100 });
  expect(await get(fetcher, `ipfs://${CID}/1.json`)).toEqual({
    body: `/ipfs/${CID}/1.json`,
    from: `${good.url}/ipfs/${CID}/1.json`,
  });
  expect(await get(fetcher, `ipns://docs.example.org/a`)).toMatchObject({ body: "/ipns/docs.example.org/a" });
});

test("of a gateway only content is asked, whatever a link says", async () => {
  const gateway = await serve((_, response) => response.writeHead(404).end());
  const fetcher = open({ ipfsGateways: [`${gateway.url}/key/ipfs`], arweaveGateways: [gateway.url] });
  for (const link of [`ipfs://${CID}/../../../admin`, `ipfs://${CID}/%2e%2e/%2E./admin`, "ipns://../../admin"])
    await get(fetcher, link);
  await get(fetcher, `ar://${"a".repeat(43)}/../admin`);
  expect(gateway.requests).toEqual([`/key/ipfs/${CID}/admin`, `/key/ipfs/${CID}/admin`, `/${"a".repeat(43)}/admin`]);
});

test("a gateway at localhost may send to a host of its own for each CID, as Kubo does", async () => {
  const label = "bafybeibnsoufr2renqzsh347nrx54wcubt5lgkeivez63xvivplfwhtpym";
  const origin = await serve(({ headers, url }, response) => {
    if (headers.host === `${label}.ipfs.localhost:${port}`) return void response.end(`hello from ${url}`);
    response.writeHead(301, { location: `http://${label}.ipfs.localhost:${port}/1` }).end();
  });
  const port = new URL(origin.url).port;
  const fetcher = open({ allowHosts: [`localhost:${port}`], ipfsGateways: [`http://localhost:${port}`] });
  expect(await get(fetcher, `ipfs://${CID}/1`)).toMatchObject({ body: "hello from /1" });
  expect(await get(open({ allowHosts: [] }), `http://${label}.ipfs.localhost:${port}/1`)).toMatchObject({
    code: expect.stringMatching(/^(?:dns|private_address)$/),
  });
});

describe("a gateway that sends each content to a name below its own", () => {
  const serveBelow = async (answer: (response: ServerResponse, label: string) => void) => {
    const origin = await serve(({ headers: { host = "" }, url }, response) => {
      const label = /^(\w{46,})\.ipfs\./.exec(host)?.[1];
      const [, cid, path] = /^\/ipfs\/(\w+)(.*)$/.exec(url!) ?? [];
      if (label !== undefined) answer(response, label);
      else response.writeHead(301, { location: `http://${cid}.ipfs.${host}${path}` }).end();
    });
    const host = `localhost:${new URL(origin.url).port}`;
    return { host, fetcher: open({ concurrency: 64, allowHosts: [host], ipfsGateways: [`http://${host}`] }) };
  };
  const cids = Array.from(
    LETTERS.toLowerCase(),
    (letter, i) => `bafkrei${"a".repeat(50)}${letter}${i < 23 ? "a" : "b"}`,
  );

  test("is one host, not one for each", async () => {
    const { fetcher } = await serveBelow((response, label) => response.end(label));
    expect(await get(fetcher, `ipfs://${cids[0]}/1`)).toMatchObject({ body: cids[0] });
    const results = await Promise.all(cids.map((cid) => get(fetcher, `ipfs://${cid}/1`)));
    expect(results).toMatchObject(cids.map((body) => ({ body })));
  });

  test("is left alone where it says so for one of them, and is told by its own name", async () => {
    const { host, fetcher } = await serveBelow((response) => response.writeHead(429, { "retry-after": "60" }).end());
    const ask = (cid: string) =>
      fetcher.fetch({ kind: "ipfs", cid, path: "/1" }, { maxBytes: 1000, createSink: () => ({ write: () => {} }) });
    expect(await ask(cids[0]!)).toMatchObject({ code: "http_429", host });
    expect(await ask(cids[1]!)).toMatchObject({ kind: "postponed", host });
    expect(origins[0]!.requests).toHaveLength(2);
  });
});

test("what is told of a gateway has neither user and password nor what stands before its paths", async () => {
  const origin = await serve((request, response) => {
    if (request.headers.authorization === undefined || !request.url?.startsWith("/key/ipfs/"))
      response.writeHead(401).end();
    else if (/\/(?:folder|circle)$/.test(request.url))
      response.writeHead(301, { location: request.url.replace("folder", "folder/") }).end();
    else response.end("content");
  });
  const gateway = origin.url.replace("//", "//user:p%40ss@");
  const fetcher = open({ ipfsGateways: [`${gateway}/key/`], arweaveGateways: [gateway] });
  const source = (path: string) => ({ kind: "ipfs", cid: CID, path }) as const;
  expect(await get(fetcher, `ipfs://${CID}/1`)).toEqual({ body: "content", from: `${origin.url}/ipfs/${CID}/1` });
  expect(await get(fetcher, `ipfs://${CID}/folder`)).toMatchObject({ from: `${origin.url}/ipfs/${CID}/folder/` });
  const told = await fetcher.fetch(source("/circle"), { maxBytes: 1000, createSink: () => ({ write: () => {} }) });
  expect(told).toMatchObject({ code: "too_many_redirects" });
  expect(JSON.stringify(told)).not.toMatch(/user|p%40ss|key/);
});

test("a project's own gateway is asked first, then its content by CID", async () => {
  const own = await serve((request, response) => response.writeHead(request.url?.endsWith("1") ? 200 : 410).end("own"));
  const other = await serve((_, response) => response.end("other"));
  // If it is one of our gateways, it isn't asked twice.
  const fetcher = open({ ipfsGateways: [own.url, other.url] });
  expect(await get(fetcher, `${own.url}/ipfs/${CID}/1`)).toMatchObject({ body: "own" });
  expect(await get(fetcher, `${own.url}/ipfs/${CID}/2`)).toMatchObject({ body: "other" });
  expect(own.requests).toHaveLength(2);
});

test("what a gateway's content redirects to says nothing of the gateway, and is left alone by itself", async () => {
  const evil = await serve((_, response) => response.writeHead(429, { "retry-after": "86400" }).end());
  const gateway = await serve((request, response) => {
    if (request.url?.includes("evil")) response.writeHead(302, { location: evil.url }).end();
    else response.end("good");
  });
  const fetcher = open({ ipfsGateways: [gateway.url] });
  expect(await get(fetcher, `ipfs://${CID}/evil1`)).toMatchObject({ code: "http_429" });
  expect(await get(fetcher, `ipfs://${CID}/good`)).toMatchObject({ body: "good" });
  expect(await get(fetcher, `ipfs://${CID}/evil2`)).toMatchObject({ code: "postponed" });
  expect(evil.requests).toHaveLength(1);
});

test("a host that hasn't answered yet is asked twice through redirects too, who redirects answers everybody", async () => {
  const silent = await serve(() => {});
  const origin = await serve((request, response) => {
    if (request.url === "/good") response.end("good");
    else response.writeHead(302, { location: `${silent.url}${request.url}` }).end();
  });
  const fetcher = open({ concurrency: 100 });
  await get(fetcher, `${origin.url}/good`);
  for (let i = 0; i < 40; i++) void get(fetcher, `${origin.url}/${i}`);
  await expect.poll(() => origin.requests.length).toBe(41);
  for (let i = 0; i < 40; i++) expect(await get(fetcher, `${origin.url}/good`)).toMatchObject({ body: "good" });
  expect(silent.requests).toHaveLength(2);
});

test("one gateway that wants to be left alone for a day doesn't put off what the others may have before", async () => {
  const tired = await serve((_, response) => response.writeHead(429, { "retry-after": "86400" }).end());
  const broken = await serve((_, response) => response.writeHead(503).end());
  const fetcher = open({ ipfsGateways: [tired.url, broken.url] });
  expect(await get(fetcher, `ipfs://${CID}/1`)).toEqual({ code: "http_503", retryAfterSeconds: undefined });
});

test("a gateway that refuses puts off nothing that another one is only too busy for", async () => {
  const tired = await serve((_, response) => response.writeHead(429, { "retry-after": "86400" }).end());
  const good = await serve(() => {});
  const fetcher = open({ ipfsGateways: [tired.url, good.url], hedgeMs: 60_000, concurrency: 64 });
  const settled: unknown[] = [];
  for (let i = 0; i < 30; i++)
    void get(fetcher, `ipfs://${CID.slice(0, -1)}${LETTERS[i]}/1`).then((result) => settled.push(result));
  // All but the ten that the good one is asked for, or that wait for it.
  await expect.poll(() => settled.length).toBe(20);
  for (const result of settled) expect(result).toMatchObject({ code: "postponed" });
  expect([tired, good].map(({ requests }) => requests.length)).toEqual([2, 2]);
});

test.each([
  ["is put off while one that answers now and then may have it", 404, [200, 429, 429], "60", "postponed"],
  ["isn't put off where it has looked for it in vain (504)", 504, [200, 429, 429], "60", "http_504"],
  ["isn't put off for one that wants to be left alone for a day", 404, [200, 429, 429], "86400", "http_404"],
  ["is put off while one that has answered is in trouble", 404, [200, 503, 503, 503], undefined, "postponed"],
  ["isn't put off for one that is in trouble and never answered", 404, [503, 503, 503], undefined, "http_404"],
])("what one gateway hasn't got %s", async (_, lack, statuses, retryAfter, code) => {
  const missing = await serve((_request, response) => response.writeHead(lack).end());
  const other = await serve((_request, response) => {
    const status = statuses[other.requests.length - 1]!;
    response.writeHead(status, retryAfter === undefined ? {} : { "retry-after": retryAfter }).end();
  });
  const fetcher = open({ ipfsGateways: [missing.url, other.url] });
  for (const i of statuses.keys()) await get(fetcher, `${other.url}/${i}`);
  const asked = other.requests.length;
  expect(await get(fetcher, `ipfs://${CID}/1`)).toMatchObject({ code });
  expect(other.requests).toHaveLength(asked);
});

test("content that no gateway has is not found", async () => {
  const gateways = [
    await serve((_, response) => response.writeHead(504).end()),
    await serve((_, response) => response.writeHead(404).end()),
    await serve((request) => request.socket.destroy()),
  ];
  const fetcher = open({
    ipfsGateways: gateways.map(({ url }) => url),
    arweaveGateways: gateways.map(({ url }) => url),
  });
  expect(await get(fetcher, `ipfs://${CID}/1`)).toMatchObject({ code: "http_404" });
  expect(await get(fetcher, `ar://x8M31Sjs8xqhC9M6mEiP5Rr5AAtiUOsFdzRbd7y_0Cs`)).toMatchObject({ code: "http_404" });
});

test.each([
  ["silent for", undefined],
  ["given up (504)", 504],
])("content that gateways are %s is left alone, they themselves aren't", async (_, status) => {
  const lost = "QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWnPBdG";
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    if (!request.url!.includes(lost)) response.end("x");
    else if (status !== undefined) response.writeHead(status).end();
  };
  const gateways = await Promise.all([serve(answer), serve(answer)]);
  const ipfsGateways = gateways.map(({ url }) => url);
  // Long enough for so many answers at once on a busy machine.
  const fetcher = open({ ipfsGateways, concurrency: 64, hedgeMs: 50, firstByteTimeoutMs: 4000 });
  for (const url of ipfsGateways) await get(fetcher, `${url}/known`);
  const code = status === undefined ? "timeout" : `http_${status}`;
  for (let i = 0; i < 3; i++) expect(await get(fetcher, `ipfs://${lost}/${i}`)).toMatchObject({ code });
  expect(await get(fetcher, `ipfs://${lost}/3`)).toMatchObject({ code: "postponed" });
  expect(await get(fetcher, `ipfs://${CID}/first`)).toMatchObject({ body: "x" });
  const good = await Promise.all(Array.from({ length: 16 }, (_each, i) => get(fetcher, `ipfs://${CID}/${i}`)));
  expect(good.filter((result) => "body" in result)).toHaveLength(16);
});

test("of content that nobody has had yet two are asked for at a time, and two wait", async () => {
  const gateway = await serve(() => {});
  const fetcher = open({ ipfsGateways: [gateway.url], concurrency: 64 });
  const putOff: unknown[] = [];
  for (let i = 0; i < 10; i++) void get(fetcher, `ipfs://${CID}/${i}`).then((result) => putOff.push(result));
  await expect.poll(() => putOff.length).toBe(6);
  await expect.poll(() => gateway.requests.length).toBe(2);
  for (const result of putOff) expect(result).toMatchObject({ code: "postponed" });
});

test("a gateway that does well is asked first from then on", async () => {
  const bad = await serve((_, response) => response.writeHead(500).end());
  const good = await serve((_, response) => response.end("good"));
  const fetcher = open({ ipfsGateways: [bad.url, good.url] });
  for (let i = 0; i < 10; i++) expect(await get(fetcher, `ipfs://${CID}/${i}`)).toMatchObject({ body: "good" });
  expect(bad.requests.length).toBeLessThanOrEqual(3);
});

test("a gateway that another one was quicker than has not failed", async () => {
  const after = (ms: number) => (_: unknown, response: ServerResponse) => void setTimeout(() => response.end("x"), ms);
  const first = await serve(after(300));
  const second = await serve(after(250));
  const fetcher = open({ ipfsGateways: [first.url, second.url], hedgeMs: 150 });
  for (let i = 0; i < 4; i++) expect(await get(fetcher, `ipfs://${CID}/${i}`)).toMatchObject({ body: "x" });
  expect(second.requests.length).toBeGreaterThanOrEqual(3);
  expect(await get(fetcher, `${second.url}/alone`)).toMatchObject({ body: "x" });
  await first.close();
  expect(await get(fetcher, `ipfs://${CID}/last`)).toMatchObject({ body: "x" });
});

test("while a gateway sends much, no other one is asked for the same", async () => {
  const megabyte = Buffer.alloc(1_100_000, "x");
  const sending = await serve((_, response) => {
    for (let i = 0; i < 5; i++) setTimeout(() => response.write(megabyte), i * 400);
    setTimeout(() => response.end(), 2000);
  });
  const dripping = await serve((_, response) => {
    response.writeHead(200);
    const timer = setInterval(() => response.write("x"), 50);
    response.once("close", () => clearInterval(timer));
  });
  const other = await serve((_, response) => response.end("x"));
  // Less than it takes as a whole, and far more than a part of it.
  const first = open({ ipfsGateways: [sending.url, other.url], hedgeMs: 1500 });
  const { body } = await get(first, `ipfs://${CID}/1`, { maxBytes: 10_000_000 });
  expect([body?.length, other.requests]).toEqual([5_500_000, []]);
  const second = open({ ipfsGateways: [dripping.url, other.url], hedgeMs: 200 });
  expect(await get(second, `ipfs://${CID}/1`)).toMatchObject({ body: "x" });
});

test("nor has it answered: a silent one is still asked twice at a time", async () => {
  const [silent, other] = [await serve(() => {}), await serve((_, response) => response.end("x"))];
  const fetcher = open({ ipfsGateways: [silent.url, other.url], hedgeMs: 50 });
  expect(await get(fetcher, `ipfs://${CID}/1`)).toMatchObject({ body: "x" });
  const asked = silent.requests.length;
  for (let i = 0; i < 10; i++) void get(fetcher, `${silent.url}/${i}`);
  await expect.poll(() => silent.requests.length).toBe(asked + 2);
  await sleep(200);
  expect(silent.requests).toHaveLength(asked + 2);
});

test("a gateway that did well and has fallen silent is no longer asked first", async () => {
  let isSilent = false;
  const first = await serve((_, response) => isSilent || response.end("x"));
  const second = await serve((_, response) => void setTimeout(() => response.end("x"), 100));
  const fetcher = open({ ipfsGateways: [first.url, second.url], hedgeMs: 200 });
  for (let i = 0; i < 20; i++) await get(fetcher, `ipfs://${CID}/${i}`);
  // None, but for those that a busy machine answers late.
  expect(second.requests.length).toBeLessThan(5);
  isSilent = true;
  for (let i = 0; i < 20; i++) await get(fetcher, `ipfs://${CID}/${i}`);
  expect(first.requests.length).toBeLessThan(36);
});

describeSamples("samples", () => {
  test("a bomb of ten megabytes stops at the cap of documents", async () => {
    const bomb = readFileSync(samplePath("c_bad_input/bombs/json_10MB.json.gz"));
    const origin = await serve((_, response) => response.writeHead(200, { "content-encoding": "gzip" }).end(bomb));
    expect(await get(open(), `${origin.url}/x`, { maxBytes: 5 * 1024 * 1024 })).toMatchObject({ code: "too_large" });
    expect((await get(open(), `${origin.url}/x`, { maxBytes: 50 * 1024 * 1024 })).body).toMatch(/^[[{]/);
  });
});
