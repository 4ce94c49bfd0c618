import { once } from "node:events";
import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { findFreePort } from "../indexer/free-port.ts";
import { createMediaStore } from "../offchain/media/media-store.ts";
import { createTestApi, type TestApi } from "../test/api.ts";
import { launchBrowser, openContext } from "../test/browser.ts";
import { serveOrigin } from "../test/origin.ts";
import { listen } from "./listen.ts";

let dataDir: string;
let t: TestApi;
let key: string;
const CONTENT = "<svg xmlns='http://www.w3.org/2000/svg'/>";

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "nft-index-media-"));
  t = await createTestApi({ config: { dataDir } });
  const writer = createMediaStore({ dataDir, mediaStore: "file", s3: {} as never }).createWriter();
  await writer.write(Buffer.from(CONTENT));
  key = await writer.keep("svg");
});
afterAll(async () => {
  await t.stop();
  await rm(dataDir, { recursive: true, force: true });
});

const get = (path: string, headers: Record<string, string> = {}, method = "GET") =>
  t.request(path, { method, headers });

test("media are served for ever, in a sandbox, without a key", async () => {
  const response = await t.api.app.request(`/media/${key}`);
  expect(response.status).toBe(200);
  expect(await response.text()).toBe(CONTENT);
  expect(response.headers.get("content-type")).toBe("image/svg+xml; charset=utf-8");
  expect(response.headers.get("cache-control")).toContain("immutable");
  expect(response.headers.get("x-content-type-options")).toBe("nosniff");
  expect(response.headers.get("content-security-policy")).toMatch(/sandbox$/);
  const etag = response.headers.get("etag")!;
  expect((await get(`/media/${key}`, { "if-none-match": etag })).status).toBe(304);
});

test("a film or sound that is opened by itself is played", async () => {
  const sound = Buffer.alloc(8044, 128);
  sound.write(
    "RIFF\x6c\x1f\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x40\x1f\0\0\x01\0\x08\0data\x40\x1f\0\0",
    "latin1",
  );
  const writer = createMediaStore({ dataDir, mediaStore: "file", s3: {} as never }).createWriter();
  await writer.write(sound);
  const path = `/media/${await writer.keep("wav")}`;
  const listener = await listen(t.api, { host: "127.0.0.1", port: 0 });
  const browser = await launchBrowser();
  const page = await (await openContext(browser, { baseURL: listener.url })).newPage();
  await page.goto(path);
  await expect
    .poll(() => page.locator("video").evaluate((player) => (player as unknown as { duration: number }).duration))
    .toBe(1);
  await browser.close();
  await listener.close();
});

test("ranges give parts, HEAD gives nothing but headers", async () => {
  const part = await get(`/media/${key}`, { range: "bytes=1-3" });
  expect([part.status, part.headers.get("content-range"), await part.text()]).toEqual([
    206,
    `bytes 1-3/${CONTENT.length}`,
    "svg",
  ]);
  const beyond = await get(`/media/${key}`, { range: "bytes=999-" });
  expect([beyond.status, beyond.headers.get("content-range")]).toEqual([416, `bytes */${CONTENT.length}`]);
  expect(beyond.headers.get("cache-control")).toBe("no-store");
  expect(await beyond.json()).toMatchObject({ type: "invalid_request" });
  const known = part.headers.get("etag")!;
  for (const tag of [known, `"other", W/${known}`, "*"])
    expect((await get(`/media/${key}`, { range: "bytes=999-", "if-none-match": tag })).status).toBe(304);
  for (const [validator, status] of [
    [known, 206],
    ['"other"', 200],
    ["Fri, 31 Dec 9999 23:59:59 GMT", 200],
  ] as const)
    expect((await get(`/media/${key}`, { range: "bytes=1-3", "if-range": validator })).status).toBe(status);
  const head = await get(`/media/${key}`, { range: "bytes=1-3" }, "HEAD");
  expect([head.status, head.headers.get("content-length"), await head.text()]).toEqual([
    200,
    String(CONTENT.length),
    "",
  ]);
});

test("what isn't there or isn't a key is 404, other methods 405", async () => {
  for (const name of ["x", "..%2F..%2Fapi.key", `${"0".repeat(64)}.png`, `${"0".repeat(64)}.svg%00`])
    expect((await get(`/media/${name}`)).status, name).toBe(404);
  expect((await get(`/media/${key}`, {}, "DELETE")).status).toBe(405);
});

test("a file that can't be opened is 503, whatever is asked of it", async () => {
  const unreadable = `${"ab".repeat(32)}.png`;
  const path = join(dataDir, "media", "ab", unreadable);
  await mkdir(dirname(path), { recursive: true });
  // A socket is there and opens for nobody, also not for root, who may read everything.
  const shortPath = join(dataDir, "socket");
  const server = createServer().listen(shortPath);
  await once(server, "listening");
  await rename(shortPath, path);
  const asked = [await get(`/media/${unreadable}`), await get(`/media/${unreadable}`, {}, "HEAD")];
  asked.push(await get(`/media/${unreadable}`, { "if-none-match": "*" }));
  expect(asked.map(({ status }) => status)).toEqual([503, 503, 503]);
  server.close();
});

test("a body that the S3 store breaks off is cut for the client too, and told in the log alone", async () => {
  let breaksOff = true;
  const released = Promise.withResolvers<void>();
  const origin = await serveOrigin((request, response) => {
    response.writeHead(200, { "content-length": 100_000 });
    if (request.method === "HEAD") return void response.end();
    response.write(Buffer.alloc(50_000));
    if (breaksOff) return void setTimeout(() => request.socket.resetAndDestroy(), 50);
    const more = setInterval(() => response.write("more"), 20);
    response.once("close", () => {
      clearInterval(more);
      released.resolve();
    });
  });
  const s3 = { endpoint: origin.url, bucket: "media", accessKeyId: "key", secretAccessKey: "secret", region: "a" };
  const told: [string, string][] = [];
  const printed = vi.spyOn(console, "error").mockReturnValue();
  const api = await t.another({ mediaStore: "s3", s3 }, (level, message) => {
    if (level === "error") told.push([level, message]);
  });
  const listener = await listen(api, { host: "127.0.0.1", port: 0 });
  const response = await fetch(`${listener.url}/media/${key}`);
  expect([response.status, response.headers.get("content-length")]).toEqual([200, "100000"]);
  await expect(response.arrayBuffer()).rejects.toThrow("terminated");
  await expect.poll(() => told).toEqual([["error", "media store broke off"]]);
  expect(printed).not.toHaveBeenCalled();
  // If a client leaves, the store is left too, and isn't reported as broken.
  breaksOff = false;
  const left = await fetch(`${listener.url}/media/${key}`);
  await left.body!.cancel();
  await released.promise;
  await sleep(50);
  expect(told).toHaveLength(1);
  printed.mockRestore();
  await listener.close();
  await origin.close();
});

test("while the S3 store is away its media are 503", async () => {
  const s3 = {
    endpoint: `http://127.0.0.1:${await findFreePort()}`,
    bucket: "media",
    accessKeyId: "key",
    secretAccessKey: "secret",
    region: "us-east-1",
  };
  const told: string[] = [];
  const { app } = await t.another({ mediaStore: "s3", s3 }, (level, message) => {
    if (level === "error") told.push(message);
  });
  const response = await app.request(`/media/${key}`);
  expect([response.status, response.headers.get("retry-after")]).toEqual([503, "2"]);
  expect((await app.request(`/media/${key}`)).status).toBe(503);
  // Not for each request.
  expect(told).toEqual(["media store failed"]);
  expect(await response.json()).toEqual({
    type: "api_error",
    message: "The media store does not answer as it should.",
  });
});
