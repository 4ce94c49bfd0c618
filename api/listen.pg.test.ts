import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { Hono } from "hono";
import { addressOf, createTestApi, inserter, type TestApi, TEST_KEY } from "../test/api.ts";
import { countWaiting } from "../test/database.ts";
import { APES, seed, TEST_APES } from "../test/seed.ts";
import type { Env } from "./http/request-state.ts";
import { listen, type Listener } from "./listen.ts";

const LARGE = addressOf(0x1a26e);

let t: TestApi;
let listener: Listener;
/** The answer to a client that never ends its headers, and after how long it came. It waits while other tests run. */
let slowHeaders: Promise<{ answer: string; ms: number }>;

beforeAll(async () => {
  t = await createTestApi({
    config: {
      hosts: { indexer: "nft.example", testnet: "test.nft.example", orderbook: "o.example", marketplace: undefined },
    },
  });
  await seed(t.sql);
  await inserter(t.sql).contract(LARGE);
  for (let id = 0; id < 100; id += 1) {
    await inserter(t.sql).token(LARGE, id);
    await inserter(t.sql).tokenMetadata(LARGE, id, { raw: "é".repeat(2000), normalized: "{}" });
  }
  listener = await listen(t.api, { host: "127.0.0.1", port: 0 });
  const started = performance.now();
  slowHeaders = askRaw("GET /health HTTP/1.1\r\nHost: x\r\n").then((answer) => ({
    answer,
    ms: performance.now() - started,
  }));
});
afterAll(async () => {
  await listener.close();
  await t.stop();
});

type Answer = { status: number; headers: Record<string, string | string[] | undefined>; body: Buffer };

/** A request without the headers that `fetch` adds, and without its decoding of the answer. */
async function ask(path: string, { method = "GET", headers = {}, body = "" } = {}): Promise<Answer> {
  const request = httpRequest(listener.url + path, { method, headers: { "x-api-key": TEST_KEY, ...headers } });
  request.end(body);
  const [response] = (await once(request, "response")) as [import("node:http").IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return { status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) };
}

/** Sends text as it is and returns what comes until the connection ends. */
async function askRaw(text: string): Promise<string> {
  const socket = connect(Number(new URL(listener.url).port), "127.0.0.1");
  let answer = "";
  socket.on("data", (chunk) => (answer += chunk.toString()));
  socket.on("error", () => {});
  socket.write(text);
  await once(socket, "close");
  return answer;
}

describe("compression", () => {
  test("is for large bodies and clients that accept it, the same bytes after all", async () => {
    const plain = await ask(`/v1/tokens/${LARGE}`);
    expect(plain.headers["content-encoding"]).toBeUndefined();
    expect(plain.headers["content-length"]).toBe(String(plain.body.length));
    expect(plain.body.length).toBeGreaterThan(300_000);
    for (const [accepted, encoding, expand] of [
      ["gzip", "gzip", gunzipSync],
      ["br;q=0.5, gzip", "gzip", gunzipSync],
      ["x-gzip, identity;q=0.5", "gzip", gunzipSync],
      ["gzip, deflate, br", "br", brotliDecompressSync],
      ["*", "br", brotliDecompressSync],
    ] as const) {
      const answer = await ask(`/v1/tokens/${LARGE}`, { headers: { "accept-encoding": accepted } });
      expect(answer.headers["content-encoding"]).toBe(encoding);
      expect(answer.headers.vary).toBe("accept-encoding");
      expect(answer.body.length).toBeLessThan(plain.body.length / 10);
      expect(expand(answer.body).equals(plain.body)).toBe(true);
    }
    for (const accepted of ["identity", "identity, gzip;q=0.5", "gzip;q=0, br;q=0", "zstd", ""])
      expect(
        (await ask(`/v1/tokens/${LARGE}`, { headers: { "accept-encoding": accepted } })).headers["content-encoding"],
      ).toBeUndefined();
    expect(
      (await ask("/health", { headers: { "accept-encoding": "gzip" } })).headers["content-encoding"],
    ).toBeUndefined();
  });

  test("HEAD has the headers of GET", async () => {
    const head = await ask(`/v1/tokens/${LARGE}`, { method: "HEAD" });
    const get = await ask(`/v1/tokens/${LARGE}`);
    expect(head.body.length).toBe(0);
    for (const name of ["content-length", "content-type", "etag"]) expect(head.headers[name]).toBe(get.headers[name]);
  });
});

test("an answer that is still the same is 304", async () => {
  for (const path of [`/v1/tokens/${LARGE}`, `/v1/tokens/${APES}/1`, "/v1/contracts", "/openapi.json", "/docs"]) {
    const { headers } = await ask(path);
    const etag = String(headers.etag);
    for (const known of [etag, `"other", ${etag}`, "*", etag.slice(2)]) {
      const again = await ask(path, { headers: { "if-none-match": known, "accept-encoding": "gzip" } });
      expect([again.status, again.body.length, again.headers.etag]).toEqual([304, 0, etag]);
    }
    expect((await ask(path, { headers: { "if-none-match": '"other"' } })).status).toBe(200);
  }
  const before = await ask(`/v1/tokens/${APES}/10`);
  await inserter(t.sql).tokenMetadata(APES, 10, { raw: "{}" });
  const after = await ask(`/v1/tokens/${APES}/10`, { headers: { "if-none-match": String(before.headers.etag) } });
  expect(after.status).toBe(200);
});

test("browsers of any origin may read, with a key", async () => {
  const headers = {
    origin: "https://app.example",
    "access-control-request-method": "GET",
    "access-control-request-headers": "x-api-key",
  };
  for (const path of ["/v1/contracts", "/v1/tokens/batch", `/testnet/v1/tokens/${TEST_APES}`]) {
    const preflight = await ask(path, { method: "OPTIONS", headers });
    expect(preflight.status).toBe(204);
    expect(preflight.headers["access-control-allow-origin"]).toBe("*");
    expect(preflight.headers["access-control-allow-headers"]).toContain("x-api-key");
    expect(preflight.headers["access-control-allow-methods"]).toContain("GET");
  }
  const get = await ask("/v1/contracts", { headers });
  expect(get.headers["access-control-allow-origin"]).toBe("*");
  const exposed = String(get.headers["access-control-expose-headers"]).split(", ");
  expect(exposed).toEqual(expect.arrayContaining(["accept-ranges", "content-range", "ratelimit", "retry-after"]));
  const refused = await ask("/v1/contracts", { headers: { ...headers, "x-api-key": "none" } });
  expect([refused.status, refused.headers["access-control-allow-origin"]]).toEqual([401, "*"]);
  // Browsers ask first for the last bytes, as of an archive or a film: "bytes=-1000" is no simple range to them.
  const media = await ask("/media/none.mp4", { method: "OPTIONS", headers });
  expect(String(media.headers["access-control-allow-headers"]).split(", ")).toEqual(
    expect.arrayContaining(["range", "if-range", "if-none-match"]),
  );
  const keys = await ask("/keys", { method: "OPTIONS", headers });
  expect(keys.headers["access-control-allow-origin"]).toBeUndefined();
});

test("every answer has a request id of its own", async () => {
  const ids = await Promise.all(
    ["/health", "/v1/contracts", "/nope", "/v1/contracts?limit=0"].map((path) => ask(path)),
  );
  expect(new Set(ids.map(({ headers }) => headers["x-request-id"])).size).toBe(4);
});

test("under its host name an API is at the root", async () => {
  const at = async (host: string, path: string) => {
    const { status, body } = await ask(path, { headers: { host } });
    return [status, body.toString()] as const;
  };
  expect((await at("test.nft.example", `/v1/contracts/${TEST_APES}`))[0]).toBe(200);
  expect((await at("TEST.nft.example:8080", `/v1/contracts/${TEST_APES}`))[0]).toBe(200);
  // A name may be written with the dot of the DNS root behind it.
  for (const host of ["test.nft.example.", "test.nft.example.:8080"])
    expect((await at(host, `/v1/contracts/${TEST_APES}`))[0]).toBe(200);
  expect((await at("test.nft.example", `/v1/contracts/${APES}`))[0]).toBe(404);
  expect((await at("nft.example", `/v1/contracts/${APES}`))[0]).toBe(200);
  expect((await at("nft.example", `/testnet/v1/contracts/${TEST_APES}`))[0]).toBe(200);
  expect((await at("test.nft.example", `/testnet/v1/contracts/${TEST_APES}`))[0]).toBe(200);
  expect((await at("elsewhere.example", `/v1/contracts/${APES}`))[0]).toBe(200);
  for (const path of ["/health", "/status", "/openapi.json", "/docs"])
    expect((await at("test.nft.example", path))[0]).toBe(200);
  const [status, body] = await at("o.example", `/v1/contracts/${APES}`);
  // The message has the path of the request, not the path within the service.
  expect([status, body]).toEqual([404, expect.stringContaining(`nothing at \\"/v1/contracts/${APES}\\"`)]);
});

describe("limits", () => {
  test("a URL has room for 250 padded ids, and ends at 32 KiB", async () => {
    const ids = Array.from({ length: 250 }, (_, id) => `tokens_ids=0x${id.toString(16).padStart(64, "0")}`).join("&");
    expect((await ask(`/v1/tokens/${LARGE}?${ids}`)).status).toBe(200);
    const long = await ask(`/v1/contracts?x=${"x".repeat(33_000)}`);
    expect([long.status, JSON.parse(long.body.toString())]).toEqual([
      414,
      { type: "invalid_request", message: expect.any(String) as string },
    ]);
  });

  test.each([
    ["GET /health HTTP/1.1\r\nHost: x\r\nX-Pad: " + "x".repeat(60_000) + "\r\n\r\n", 431],
    ["nonsense\r\n\r\n", 400],
    ["GET /health HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", 400],
    ["GET /health HTTP/1.1\r\nHost: x\r\nBad Header: 1\r\n\r\n", 400],
    ["GET /v1/contracts HTTP/1.1\r\nHost: [\r\n\r\n", 400],
    ["GET * HTTP/1.1\r\nHost: x\r\n\r\n", 400],
  ])("malformed request %# is refused as JSON, and its connection closed", async (text, status) => {
    const [head = "", body = ""] = (await askRaw(text)).split("\r\n\r\n");
    expect(head).toContain(`HTTP/1.1 ${status}`);
    expect(head.toLowerCase()).toContain("\r\nconnection: close");
    expect(JSON.parse(body)).toEqual({ type: "invalid_request", message: expect.any(String) as string });
  });

  test.each([
    ["GET //x/../v1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 404],
    ["GET http://other/health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 200],
    ["TRACE /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 405],
    ["PROPFIND /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 405],
  ])("odd request %# is answered", async (text, status) => {
    const answer = await askRaw(text);
    expect(answer.split("\r\n")[0]).toContain(` ${status} `);
    expect(answer.toLowerCase()).toContain("content-type: application/json");
  });

  test("a body over a megabyte is refused before it is read, and the client can still send the rest", async () => {
    const size = 3_000_000;
    const socket = connect(Number(new URL(listener.url).port), "127.0.0.1");
    let answers = "";
    socket.on("data", (chunk) => (answers += chunk.toString()));
    const head = `POST /v1/tokens/batch HTTP/1.1\r\nHost: x\r\nx-api-key: ${TEST_KEY}\r\nContent-Type: application/json\r\n`;
    socket.write(`${head}Content-Length: ${size}\r\n\r\n{`);
    await once(socket, "data");
    expect(answers).toContain("HTTP/1.1 413");
    socket.write(" ".repeat(size - 1));
    socket.write("GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    await once(socket, "close");
    expect(answers).toContain("HTTP/1.1 200");
  });

  test("a client that doesn't send the rest of such a body is cut", async () => {
    const answer = await askRaw(
      `POST /v1/tokens/batch HTTP/1.1\r\nHost: x\r\nx-api-key: ${TEST_KEY}\r\nContent-Type: application/json\r\nContent-Length: 99999999\r\n\r\n{`,
    );
    expect(answer).toContain("HTTP/1.1 413");
  });

  test("a body that comes in pieces is counted", async () => {
    const piece = `8000\r\n${" ".repeat(0x8000)}\r\n`;
    const answer = await askRaw(
      `POST /v1/tokens/batch HTTP/1.1\r\nHost: x\r\nx-api-key: ${TEST_KEY}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${piece.repeat(40)}`,
    );
    expect(answer).toContain("HTTP/1.1 413");
  });

  test.each([
    [16_384, 400],
    [16_385, 413],
  ])("a body in %i chunks of a byte is %i", async (chunks, status) => {
    const answer = await askRaw(
      `POST /v1/tokens/batch HTTP/1.1\r\nHost: x\r\nx-api-key: ${TEST_KEY}\r\nConnection: close\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${"1\r\n1\r\n".repeat(chunks)}0\r\n\r\n`,
    );
    expect(answer).toContain(`HTTP/1.1 ${status}`);
  });
});

test.each([
  ["GET /health HTTP/1.0\r\n\r\n", 200],
  ["GET /health HTTP/1.1\r\nConnection: close\r\n\r\n", 400],
  ["GET /health HTTP/1.1\r\nHost: a\r\nHOST: a\r\n\r\n", 400],
  ["GET /health HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n", 400],
  ["GET /health HTTP/1.1\r\nHost: a\r\nExpect: more\r\n\r\n", 417],
  ["CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n", 405],
  ["NOTHING / HTTP/1.1\r\nHost: a\r\n\r\n", 400],
])("%j is answered with JSON and %i", async (text, status) => {
  const [head = "", body = ""] = (await askRaw(text)).split("\r\n\r\n");
  expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  expect(head).toMatch(/content-type: application\/json/i);
  const error = { type: "invalid_request", message: expect.any(String) as string };
  expect(JSON.parse(body)).toEqual(status === 200 ? { status: "ok" } : error);
});

/** Serves a long text, and texts in pieces that take longer than an answer may stay unread, or that never end. */
async function serveLong() {
  const drip = (pieces: number) =>
    new ReadableStream({
      async start(controller) {
        for (let piece = 0; piece < pieces; piece++, await sleep(100)) controller.enqueue(Buffer.from("."));
        controller.close();
      },
    });
  const app = new Hono<Env>()
    .get("/long", (c) => c.body("x".repeat(2 ** 24)))
    .get("/drip", (c) => c.body(drip(15)))
    .get("/endless", (c) => c.body(drip(Infinity)))
    .get("/short", (c) => c.body("short"));
  const own = await listen({ app, drain: () => {} }, { host: "127.0.0.1", port: 0, answerTimeoutMs: 600 });
  const reader = connect(Number(new URL(own.url).port), "127.0.0.1").on("error", () => {});
  const ask = (...paths: string[]) =>
    reader.write(paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`).join(""));
  return { own, reader, ask };
}

test.each([[["/long"]], [["/long", "/endless"]]])(
  "a client that doesn't read its answer to the end is let go: %j",
  async (paths) => {
    const { own, reader, ask } = await serveLong();
    ask(...paths);
    let bytes = 0;
    // Reads a little again and again, so that the connection is never silent.
    reader.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      reader.pause();
      setTimeout(() => reader.resume(), 50);
    });
    await once(reader, "close");
    expect(bytes).toBeGreaterThan(0);
    expect(bytes).toBeLessThan(2 ** 24);
    await own.close();
  },
);

test("a client that asks for two things at once gets both, however long the first one comes", async () => {
  const { own, reader, ask } = await serveLong();
  ask("/drip", "/short");
  let text = "";
  reader.on("data", (chunk: Buffer) => (text += chunk.toString()));
  await expect.poll(() => text).toMatch(/\r\n\r\nshort$/);
  reader.destroy();
  await own.close();
});

test("a client that ends its side once it has asked gets all its answers, and its connection ends", async () => {
  const client = connect(Number(new URL(listener.url).port), "127.0.0.1");
  let answers = "";
  client.on("data", (chunk) => (answers += chunk.toString()));
  client.end(`GET /v1/tokens/${LARGE} HTTP/1.1\r\nHost: a\r\nx-api-key: ${TEST_KEY}\r\n\r\n`.repeat(2));
  await once(client, "close");
  expect(answers.match(/HTTP\/1\.1 200 /g)).toHaveLength(2);
  expect(answers).toMatch(/\]\}$/);
});

test("what is no HTTP is refused behind the answer to the request before it", async () => {
  const { own, reader, ask } = await serveLong();
  let text = "";
  reader.on("data", (chunk: Buffer) => (text += chunk.toString()));
  ask("/drip");
  reader.write("nonsense\r\n\r\n");
  await once(reader, "close");
  const [drip = "", refusal] = text.split("\r\n0\r\n\r\n");
  expect(drip.match(/\r\n1\r\n\./g)).toHaveLength(15);
  expect(refusal).toMatch(/^HTTP\/1\.1 400 /);
  await own.close();
});

test("a client whose body has a byte more than it said is answered, and then refused", async () => {
  const body = '{"name":"é"}';
  const answers = await askRaw(
    `POST /keys HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  // Counted as characters, as scripts do.
  expect(answers.match(/HTTP\/1\.1 400 |The body is not JSON|is not HTTP/g)).toEqual([
    "HTTP/1.1 400 ",
    "The body is not JSON",
    "HTTP/1.1 400 ",
    "is not HTTP",
  ]);
});

test("a client that sends its body behind headers that are refused can send it, and reads why", async () => {
  const { port } = new URL(listener.url);
  // It goes on to send when it has the answer, as fetch does.
  const client = connect({ port: Number(port), host: "127.0.0.1", allowHalfOpen: true });
  let answer = "";
  let fault: Error | undefined;
  client.on("data", (chunk) => (answer += chunk.toString())).on("error", (error) => (fault = error));
  const closed = new Promise((resolve) => client.once("close", resolve));
  client.write("POST /keys HTTP/1.1\r\nHost: a\r\nBad Header: 1\r\nContent-Length: 1000000\r\n\r\n");
  // Few, so that it is done within the second that the connection stays.
  for (let piece = 0; piece < 10; piece += 1) {
    client.write("x".repeat(100_000));
    await sleep(2);
  }
  client.end();
  await closed;
  expect(answer).toMatch(/^HTTP\/1\.1 400 /);
  expect(fault).toBeUndefined();
});

test("a client that asks for very many things at once is cut off", async () => {
  const { own, reader, ask } = await serveLong();
  reader.resume();
  ask(...Array.from({ length: 101 }, () => "/drip"));
  await once(reader, "close");
  expect((await fetch(`${own.url}/short`)).status).toBe(200);
  await own.close();
});

test("a client that wants a proxy and leaves, or stays, harms nobody", async () => {
  const { own, reader } = await serveLong();
  for (let n = 0; n < 300; n += 1) {
    const client = connect(Number(new URL(own.url).port), "127.0.0.1").on("error", () => {});
    await once(client, "connect");
    client.write("CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n", () => client.resetAndDestroy());
  }
  reader.write("CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n");
  const [answer] = (await once(reader, "data")) as [Buffer];
  expect(answer.toString()).toMatch(/^HTTP\/1\.1 405 /);
  await once(reader, "close");
  expect((await fetch(`${own.url}/short`)).status).toBe(200);
  await own.close();
});

test("a client that leaves while it sends its body is no fault of the database", async () => {
  const client = connect(Number(new URL(listener.url).port), "127.0.0.1").on("error", () => {});
  client.write("POST /keys HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{");
  await sleep(200);
  client.destroy();
  const counted = async (status: number) =>
    (await (await t.api.app.request("/metrics")).text()).includes(
      `http_request_duration_seconds_count{method="POST",route="/keys",status="${status}"}`,
    );
  await expect.poll(() => counted(400)).toBe(true);
  expect(await counted(503)).toBe(false);
  expect(await counted(500)).toBe(false);
});

test.each([
  { trustedProxies: [], status: 429, cut: 1 },
  { trustedProxies: ["127.0.0.0/8"], status: 200, cut: 0 },
])("beside 500 connections of a client a request is told $status, with $trustedProxies trusted", async (expected) => {
  const app = new Hono<Env>().get("/", (c) => c.text("here"));
  const own = await listen({ app, drain: () => {} }, { host: "127.0.0.1", port: 0, ...expected });
  const sockets: Socket[] = [];
  let closed = 0;
  const open = async (count: number) => {
    const { port } = new URL(own.url);
    // A few at a time, because the kernel lets only so many wait.
    for (let left = count; left > 0; left -= 100) {
      const more = Array.from({ length: Math.min(left, 100) }, () => connect(Number(port), "127.0.0.1"));
      for (const socket of more) socket.on("error", () => {}).on("close", () => (closed += 1));
      sockets.push(...more);
      await Promise.all(more.map((socket) => once(socket, "connect")));
    }
  };
  try {
    await open(500);
    const answers = await Promise.all(Array.from({ length: 100 }, () => fetch(own.url)));
    expect([...new Set(answers.map(({ status }) => status))]).toEqual([expected.status]);
    for (const answer of answers) {
      const text = await answer.text();
      if (expected.status === 200) continue;
      expect(answer.headers.get("retry-after")).toBe("1");
      expect(JSON.parse(text)).toEqual({
        type: "invalid_request",
        message: "Too many connections from this address. Expected at most 500.",
      });
    }
    await open(500);
    expect(closed).toBe(0);
    await open(1);
    await expect.poll(() => closed, { timeout: 5000 }).toBe(expected.cut);
  } finally {
    for (const socket of sockets) socket.destroy();
  }
  await expect.poll(async () => (await fetch(own.url).catch(() => undefined))?.status, { timeout: 5000 }).toBe(200);
  await own.close();
});

test("a target that is a whole URL names the host", async () => {
  const body = (answer: string) => JSON.parse(answer.slice(answer.indexOf("\r\n\r\n"))) as { result: unknown[] };
  const ofHost = async (target: string) =>
    body(
      await askRaw(
        `GET ${target} HTTP/1.1\r\nHost: nft.example\r\nx-api-key: ${TEST_KEY}\r\nConnection: close\r\n\r\n`,
      ),
    );
  expect(await ofHost("http://test.nft.example/v1/contracts")).toMatchObject({
    result: [{ contract_address: TEST_APES }],
  });
});

test("a health check that asks for the server as a whole is answered, as Apache sends it", async () => {
  expect(await askRaw("OPTIONS * HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n")).toMatch(/^HTTP\/1\.1 204 /);
  expect(await askRaw("OPTIONS * HTTP/1.1\r\nHost: o.example\r\nConnection: close\r\n\r\n")).toMatch(
    /^HTTP\/1\.1 204 (.|\r\n)*allow: GET, HEAD, OPTIONS\r\n/,
  );
});

test("a drain ends with the last request, whatever connections stay open", async () => {
  const other = await t.another();
  const own = await listen(other, { host: "127.0.0.1", port: 0 });
  const { port } = new URL(own.url);
  const open = () => connect({ host: "127.0.0.1", port: Number(port), allowHalfOpen: true }).on("error", () => {});
  const [silent, refused, slow] = [open(), open(), open()];
  await Promise.all([silent, refused, slow].map((socket) => once(socket, "connect")));
  refused.write("nonsense\r\n\r\n");
  await once(refused, "data");
  slow.write("POST /keys HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{");
  await sleep(100);
  const startedAt = performance.now();
  const closed = own.close();
  await sleep(300);
  slow.write("}");
  const [answer] = (await once(slow, "data")) as [Buffer];
  expect(answer.toString()).toMatch(/^HTTP\/1\.1 400 [^]*connection: close/i);
  await closed;
  expect(performance.now() - startedAt).toBeLessThan(5000);
});

test("a drain answers those whom the kernel has let in while the process was busy", async () => {
  const other = await t.another();
  const own = await listen(other, { host: "127.0.0.1", port: 0 });
  const port = Number(new URL(own.url).port);
  const kept = connect(port, "127.0.0.1");
  kept.write("GET /health HTTP/1.1\r\nHost: a\r\n\r\n");
  await once(kept, "data");
  const ask = (socket: Socket) =>
    new Promise<string>((resolve) => {
      let answer = "";
      socket.on("data", (chunk: Buffer) => (answer += chunk.toString()));
      socket.on("error", (error) => resolve(error.message)).on("close", () => resolve(answer));
      socket.write("GET /health HTTP/1.1\r\nHost: a\r\n\r\n");
    });
  const answers = [kept, ...Array.from({ length: 20 }, () => connect(port, "127.0.0.1"))].map(ask);
  // They connect on the next tick, and nobody accepts them before the drain begins.
  await new Promise<void>((resolve) => process.nextTick(resolve));
  const closed = own.close();
  for (const answer of await Promise.all(answers)) expect(answer).toMatch(/^HTTP\/1\.1 200 [^]*connection: close/i);
  await closed;
});

/** Asks on a new connection each time, 12 at a time, until none is taken any more. Tells what came of those that were. */
const ASK_ANEW = `
  const { once } = require("node:events");
  const { connect } = require("node:net");
  const { parentPort, workerData } = require("node:worker_threads");
  const outcomes = {};
  async function askAnew() {
    for (;;) {
      const socket = connect(workerData, "127.0.0.1");
      const isTaken = await once(socket, "connect").then(() => true, () => false);
      if (!isTaken) return;
      const ended = once(socket, "close").catch(({ code }) => [code]);
      socket.resume().write("GET / HTTP/1.1\\r\\nHost: a\\r\\nConnection: close\\r\\n\\r\\n");
      const [code] = await ended;
      outcomes[code || "answered"] = (outcomes[code || "answered"] ?? 0) + 1;
    }
  }
  Promise.all(Array.from({ length: 12 }, askAnew)).then(() => parentPort.postMessage(outcomes));
`;

test("a drain answers those whom the kernel lets in while it handles what others ask", async () => {
  const app = new Hono<Env>();
  let asked = 0;
  app.get("/", (c) => {
    asked += 1;
    for (const until = performance.now() + 3; performance.now() < until;);
    return c.text("ok");
  });
  for (let drain = 0; drain < 3; drain += 1) {
    const own = await listen({ app, drain: () => {} }, { host: "127.0.0.1", port: 0 });
    const clients = new Worker(ASK_ANEW, { eval: true, workerData: Number(new URL(own.url).port) });
    const outcomes = once(clients, "message");
    asked = 0;
    await expect.poll(() => asked).toBeGreaterThan(50);
    await own.close();
    expect(await outcomes).toEqual([{ answered: expect.any(Number) as number }]);
  }
});

test("a drain answers the next request of a connection that is kept, and says that it was the last", async () => {
  const other = await t.another();
  const own = await listen(other, { host: "127.0.0.1", port: 0 });
  const kept = connect(Number(new URL(own.url).port), "127.0.0.1").on("error", () => {});
  const ended = once(kept, "close");
  kept.write("GET /health HTTP/1.1\r\nHost: a\r\n\r\n");
  await once(kept, "data");
  let answer = "";
  kept.on("data", (chunk: Buffer) => (answer += chunk.toString()));
  // However long it takes until nobody is let in, it is kept.
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const closed = own.close();
  await expect.poll(() => fetch(`${own.url}/health`).catch((error: unknown) => String(error))).toMatch("fetch failed");
  kept.write("GET /health HTTP/1.1\r\nHost: a\r\n\r\n");
  await Promise.all([ended, closed]);
  expect(answer).toMatch(/^HTTP\/1\.1 200 [^]*connection: close/i);
});

test("a drain ends what is under way and takes nothing new", async () => {
  const other = await t.another();
  const own = await listen(other, { host: "127.0.0.1", port: 0 });
  const [locked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const blocker = t.sql.begin(async (sql) => {
    await sql`lock table offchain.contract_metadata in access exclusive mode`;
    locked.resolve();
    await answered.promise;
  });
  await locked.promise;
  const slow = fetch(`${own.url}/v1/contracts`, { headers: { "x-api-key": TEST_KEY } });
  await expect.poll(() => countWaiting(t.sql)).toBe(1);
  const closed = own.close();
  await expect.poll(() => fetch(`${own.url}/health`).catch((error: unknown) => String(error))).toMatch("fetch failed");
  answered.resolve();
  const answer = await slow;
  expect([answer.status, (await answer.json()) !== null]).toEqual([200, true]);
  await Promise.all([closed, blocker]);
  expect((await other.app.request("/ready")).status).toBe(503);
});

test("a client that sends its headers too slowly is let go", async () => {
  const { answer, ms } = await slowHeaders;
  expect(answer).toContain("HTTP/1.1 408");
  // That is less than the time limit of a whole request.
  expect(ms).toBeLessThan(20_000);
});
