import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtemp, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { supportedMimeTypes } from "file-type";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { readMemoryUsage } from "../../test/memory-usage.ts";
import { findFreePort } from "../../indexer/free-port.ts";
import { WAIT_TIMEOUT_MS } from "../../test/indexer.ts";
import { serveOrigin } from "../../test/origin.ts";
import { describeSamples, readSample, samplePath } from "../../test/samples.ts";
import { readFileSync } from "node:fs";
import { parseRange } from "./byte-range.ts";
import { mediaHeaders } from "./media-headers.ts";
import { createMediaStore, isMediaKey, type MediaStore } from "./media-store.ts";
import { isMediaType, sniffMediaType } from "./media-type.ts";

type S3rver = new (options: object) => { run: () => Promise<unknown>; close: () => Promise<void> };

const S3_KEYS = { accessKeyId: "S3RVER", secretAccessKey: "S3RVER", region: "us-east-1", bucket: "media" };
let directory: string;
let s3: { run: () => Promise<unknown>; close: () => Promise<void> };
let endpoint: string;
let stores: Record<"file" | "s3", MediaStore>;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "media-store-"));
  const port = await findFreePort();
  endpoint = `http://127.0.0.1:${port}`;
  const Server = createRequire(import.meta.url)("s3rver") as S3rver;
  s3 = new Server({
    port,
    address: "127.0.0.1",
    silent: true,
    directory: join(directory, "s3"),
    configureBuckets: [{ name: "media" }],
  });
  await s3.run();
  const none = {
    endpoint: undefined,
    bucket: undefined,
    accessKeyId: undefined,
    secretAccessKey: undefined,
    region: "",
  };
  stores = {
    file: createMediaStore({ dataDir: directory, mediaStore: "file", s3: none }),
    s3: createMediaStore({
      dataDir: join(directory, "other"),
      mediaStore: "s3",
      s3: { ...S3_KEYS, endpoint },
    }),
  };
});

afterAll(async () => {
  await s3.close();
  await rm(directory, { recursive: true, force: true });
});

const CONTENT = Buffer.from(Array.from({ length: 100_000 }, (_, i) => i % 251));
const KEY = `${createHash("sha256").update(CONTENT).digest("hex")}.png`;

async function streamOf(store: MediaStore, key: string): Promise<NodeJS.ReadableStream> {
  const media = await store.get(key);
  return (media as { stream: NodeJS.ReadableStream }).stream;
}

async function save(store: MediaStore, content: Buffer) {
  const writer = store.createWriter();
  for (let at = 0; at < content.length; at += 7000) await writer.write(content.subarray(at, at + 7000));
  return writer.keep("png");
}

/** For a store that is read afterwards: the S3 server of these tests answers before its file is whole. */
async function saveWhole(store: MediaStore, content: Buffer) {
  const key = await save(store, content);
  await expect.poll(async () => buffer(await streamOf(store, key))).toEqual(content);
  return key;
}

describe.each(["file", "s3"] as const)("the %s store", (kind) => {
  test("keeps content under its hash, once", async () => {
    expect(await saveWhole(stores[kind], CONTENT)).toBe(KEY);
    expect(await saveWhole(stores[kind], CONTENT)).toBe(KEY);
    const media = await stores[kind].get(KEY);
    expect(media).toMatchObject({ size: CONTENT.length, length: CONTENT.length });
    expect(await buffer((media as { stream: NodeJS.ReadableStream }).stream)).toEqual(CONTENT);
  });

  test.each([
    ["bytes=0-9", 0, 9],
    ["bytes=7-7", 7, 7],
    ["bytes=99990-", 99_990, 99_999],
    ["bytes=-5", 99_995, 99_999],
    ["bytes=99990-200000", 99_990, 99_999],
    ["bytes=-200000", 0, 99_999],
  ])("serves %s", async (header, start, end) => {
    await saveWhole(stores[kind], CONTENT);
    const media = await stores[kind].get(KEY, parseRange(header));
    expect(media).toMatchObject({ range: { start, end }, length: end - start + 1, size: CONTENT.length });
    expect(await buffer((media as { stream: NodeJS.ReadableStream }).stream)).toEqual(CONTENT.subarray(start, end + 1));
  });

  test("says which ranges it can't serve, and what it hasn't", async () => {
    await saveWhole(stores[kind], CONTENT);
    expect(await stores[kind].get(KEY, parseRange("bytes=100000-"))).toBe("unsatisfiable");
    expect(await stores[kind].get(KEY, parseRange("bytes=-0"))).toBe("unsatisfiable");
    expect(await stores[kind].get(KEY.replace(/^./, "x"))).toBeUndefined();
  });

  test("keeps content anew of which it has a part only", async () => {
    const content = Buffer.from(`whole in the ${kind} store`);
    const key = await saveWhole(stores[kind], content);
    const paths = await readdir(directory, { recursive: true });
    const path = paths.find(
      (one) => one.includes(key) && !/metadata|md5/.test(one) && one.endsWith(kind === "s3" ? "_object" : key),
    );
    await writeFile(join(directory, path!), content.subarray(0, 5));
    expect(await saveWhole(stores[kind], content)).toBe(key);
    expect(await buffer(await streamOf(stores[kind], key))).toEqual(content);
  });

  test("keeps empty content", async () => {
    const key = await saveWhole(stores[kind], Buffer.alloc(0));
    const media = await stores[kind].get(key);
    expect(media).toMatchObject({ size: 0, length: 0 });
    expect(await buffer((media as { stream: NodeJS.ReadableStream }).stream)).toEqual(Buffer.alloc(0));
    expect(await stores[kind].get(key, parseRange("bytes=-5"))).toBe("unsatisfiable");
  });
});

test("what an S3 store can't take at once is sent again, whole", async () => {
  const received = new Map<string, Buffer>();
  let refusals = 2;
  const origin = await serveOrigin((request, response) => {
    const key = request.url!;
    if (request.method === "HEAD") response.writeHead(received.has(key) ? 200 : 404).end();
    else
      void buffer(request).then((body) => {
        const isRefused = refusals-- > 0;
        if (!isRefused) received.set(key, body);
        response.writeHead(isRefused ? 503 : 200, { etag: '"1"' }).end();
      });
  });
  const store = createMediaStore({
    dataDir: join(directory, "refused"),
    mediaStore: "s3",
    s3: { ...S3_KEYS, endpoint: origin.url },
  });
  expect(await save(store, CONTENT)).toBe(KEY);
  expect([...received.values()]).toEqual([CONTENT]);
  expect(refusals).toBe(-1);
  await origin.close();
});

test("a store that closes a kept connection just as it is used is asked once more", async () => {
  const objects = new Map<string, Buffer>();
  const used = new WeakSet<object>();
  await using origin = await serveOrigin((request, response) => {
    if (used.has(request.socket)) return void request.socket.resetAndDestroy();
    used.add(request.socket);
    void buffer(request).then((body) => {
      if (request.method === "PUT") objects.set(request.url!, body);
      const object = objects.get(request.url!);
      response.writeHead(object ? 200 : 404, { etag: '"a"', "content-length": object?.length ?? 0 });
      response.end(request.method === "GET" ? object : undefined);
    });
  });
  const store = createMediaStore({
    dataDir: directory,
    mediaStore: "s3",
    s3: { ...S3_KEYS, endpoint: origin.url },
  });
  expect(await save(store, CONTENT)).toBe(KEY);
  expect(await buffer(await streamOf(store, KEY))).toEqual(CONTENT);
  expect(await store.has(KEY)).toBe(true);
});

test("a store that closes its connection behind content has given all of it, however slow its reader is", async () => {
  const content = Buffer.alloc(300_000);
  const origin = await serveOrigin(({ method, socket }) => {
    socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${content.length}\r\n\r\n`);
    socket.end(method === "HEAD" ? "" : content);
  });
  const s3 = { ...S3_KEYS, endpoint: origin.url };
  const store = createMediaStore({ dataDir: join(directory, "closing"), mediaStore: "s3", s3 });
  let length = 0;
  for await (const chunk of (await streamOf(store, KEY)) as AsyncIterable<Buffer>) {
    length += chunk.length;
    await sleep(100);
  }
  expect(length).toBe(content.length);
  await origin.close();
});

test("of a film that is sent to an S3 store no copy is in memory", async () => {
  const size = 50 * 2 ** 20;
  const received = Promise.withResolvers<() => void>();
  await using origin = await serveOrigin((request, response) => {
    if (request.method === "HEAD") return void response.writeHead(404).end();
    // All of it has come, and isn't answered yet.
    request.resume().once("end", () => received.resolve(() => response.writeHead(200, { etag: '"a"' }).end()));
  });
  const store = createMediaStore({ dataDir: directory, mediaStore: "s3", s3: { ...S3_KEYS, endpoint: origin.url } });
  const writer = store.createWriter();
  for (let at = 0; at < size; at += 2 ** 20) await writer.write(Buffer.alloc(2 ** 20));
  const { arrayBuffers: before } = await readMemoryUsage();
  const kept = writer.keep("mp4");
  const answer = await received.promise;
  expect((await readMemoryUsage()).arrayBuffers - before).toBeLessThan(size / 2);
  answer();
  expect(await kept).toMatch(/mp4$/);
});

test("what stands before a store and compresses changes no size", async () => {
  const received = new Map<string, Buffer>();
  const origin = await serveOrigin((request, response) => {
    const key = request.url!;
    const content = received.get(key);
    if (request.method === "PUT")
      return void buffer(request).then((body) => {
        received.set(key, body);
        response.setHeader("etag", '"1"').end();
      });
    // As Google's does, it gives the store another header than was sent.
    if (/SignedHeaders=[^,]*accept-encoding/.test(request.headers.authorization ?? ""))
      return void response.writeHead(403).end("<Error><Code>SignatureDoesNotMatch</Code></Error>");
    response.statusCode = content ? 206 : 404;
    if (request.method !== "HEAD") {
      const [, start, end] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "") ?? [];
      return void response.end(content?.subarray(Number(start), Number(end) + 1));
    }
    // As Caddy does: the length is that of nothing, compressed.
    const isCompressed = request.headers["accept-encoding"]?.includes("gzip");
    if (content) response.setHeader("content-length", isCompressed ? 20 : content.length);
    response.end();
  });
  const s3 = { ...S3_KEYS, endpoint: origin.url };
  const store = createMediaStore({ dataDir: join(directory, "compressed"), mediaStore: "s3", s3 });
  expect(await save(store, CONTENT)).toBe(KEY);
  expect(await buffer(await streamOf(store, KEY))).toEqual(CONTENT);
  await save(store, CONTENT);
  expect(origin.requests).toHaveLength(5);
  await origin.close();
});

test("a bucket that may not be listed takes content, and has not what isn't there", async () => {
  const received = new Map<string, Buffer>();
  const origin = await serveOrigin((request, response) => {
    const content = received.get(request.url!);
    const refusal = "<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>";
    if (request.method !== "PUT") return void response.writeHead(content ? 200 : 403).end(content ?? refusal);
    void buffer(request).then((body) => {
      received.set(request.url!, body);
      response.setHeader("etag", '"1"').end();
    });
  });
  const s3 = { ...S3_KEYS, endpoint: `${origin.url}/` };
  const store = createMediaStore({ dataDir: join(directory, "unlisted"), mediaStore: "s3", s3 });
  expect(await store.get(KEY)).toBeUndefined();
  expect(await save(store, CONTENT)).toBe(KEY);
  expect([...received]).toEqual([[`/${S3_KEYS.bucket}/${KEY.slice(0, 2)}/${KEY}`, CONTENT]]);
  await origin.close();
});

test("a store that refuses its reader's key has not told that something isn't there", async () => {
  const origin = await serveOrigin((_, response) => {
    response.writeHead(403).end("<Error><Code>InvalidAccessKeyId</Code></Error>");
  });
  const s3 = { ...S3_KEYS, endpoint: origin.url };
  const store = createMediaStore({ dataDir: join(directory, "rotated"), mediaStore: "s3", s3 });
  await expect(store.get(KEY)).rejects.toThrow(`The S3 store answered 403 InvalidAccessKeyId to GET ${KEY}.`);
  await expect(save(store, CONTENT)).rejects.toThrow(`The S3 store answered 403 InvalidAccessKeyId to PUT ${KEY}.`);
  await origin.close();
});

test("a store is asked whether it takes content, and what it refuses is told with the variable to look at", async () => {
  for (const store of Object.values(stores)) for (const _ of ["once", "again"]) await store.check();
  const check = (more: object) => {
    const s3 = { ...S3_KEYS, endpoint, ...more };
    return createMediaStore({ dataDir: join(directory, "checked"), mediaStore: "s3", s3 }).check();
  };
  await expect(check({ bucket: "other" })).rejects.toThrow(/^The S3 store answered 404 NoSuchBucket .* S3_BUCKET\.$/);
  await expect(check({ accessKeyId: "b" })).rejects.toThrow(/ 403 InvalidAccessKeyId .* S3_ACCESS_KEY_ID\.$/);
  const port = await findFreePort();
  await expect(check({ endpoint: `http://127.0.0.1:${port}` })).rejects.toThrow(
    `S3_ENDPOINT can't be reached (127.0.0.1:${port}: connect ECONNREFUSED 127.0.0.1:${port}).`,
  );
  const dataDir = join(directory, "no-folder");
  await writeFile(dataDir, "");
  await expect(createMediaStore({ dataDir, mediaStore: "file", s3: { ...S3_KEYS, endpoint } }).check()).rejects.toThrow(
    dataDir,
  );
});

test.each([
  ["AuthorizationHeaderMalformed", 400, "S3_REGION"],
  ["PermanentRedirect", 301, "S3_ENDPOINT and S3_REGION"],
])("the variable to look at is told where HEAD is refused without a word: %s", async (code, status, variable) => {
  const origin = await serveOrigin((request, response) => {
    request.resume();
    response.writeHead(status).end(`<Error><Code>${code}</Code></Error>`);
  });
  const s3 = { ...S3_KEYS, endpoint: origin.url };
  const store = createMediaStore({ dataDir: join(directory, "region"), mediaStore: "s3", s3 });
  const said = (method: string) =>
    new RegExp(`^The S3 store answered ${status} ${code} to ${method} .* Look at ${variable}\\.$`);
  await expect(store.check()).rejects.toThrow(said("PUT"));
  await expect(store.get(KEY)).rejects.toThrow(said("GET"));
  await origin.close();
});

test.each<[string, number, Record<string, string>, string, string, string | undefined]>([
  ["a bucket that isn't there", 404, {}, "<Error><Code>NoSuchBucket</Code></Error>", "404 NoSuchBucket to GET", "PUT"],
  ["a redirect to a page", 307, { location: "/page" }, "", "307 to HEAD", "HEAD"],
  ["a redirect after which PUT would be GET", 303, { location: "/page" }, "", "303 to HEAD", "HEAD"],
])("%s has nothing and takes nothing", async (_, status, headers, body, got, refused) => {
  const origin = await serveOrigin((request, response) => {
    request.resume();
    if (request.url === "/page") response.end("<html></html>");
    else response.writeHead(status, headers).end(body);
  });
  const s3 = { ...S3_KEYS, endpoint: origin.url };
  const store = createMediaStore({ dataDir: join(directory, "elsewhere"), mediaStore: "s3", s3 });
  await expect(store.get(KEY)).rejects.toThrow(`The S3 store answered ${got} ${KEY}.`);
  await expect(save(store, CONTENT)).rejects.toThrow(new RegExp(`^The S3 store answered ${status}.* to ${refused}`));
  expect(origin.requests).not.toContain("/page");
  await origin.close();
});

test("what answers everything with a page has nothing and takes nothing", async () => {
  const puts: number[] = [];
  const origin = await serveOrigin((request, response) => {
    if (request.method !== "PUT") return void response.end("<html></html>");
    void buffer(request).then((body) => {
      puts.push(body.length);
      response.end("<html></html>");
    });
  });
  const s3 = { ...S3_KEYS, endpoint: origin.url };
  const store = createMediaStore({ dataDir: join(directory, "page"), mediaStore: "s3", s3 });
  await expect(save(store, CONTENT)).rejects.toThrow(`The S3 store answered PUT ${KEY} without an ETag.`);
  expect(puts).toEqual([CONTENT.length]);
  await origin.close();
});

test("what a store loses between two questions is an error, not its page about that", async () => {
  const origin = await serveOrigin((request, response) => {
    response.writeHead(request.method === "HEAD" ? 200 : 404, { "content-length": "9" }).end("Not found");
  });
  const s3 = { ...S3_KEYS, endpoint: origin.url };
  const store = createMediaStore({ dataDir: join(directory, "lost"), mediaStore: "s3", s3 });
  await expect(store.get(KEY)).rejects.toThrow(`The S3 store has lost ${KEY}.`);
  await origin.close();
});

test("a store that sends another number of bytes than it should is an error, not a broken answer", async () => {
  const lengths: Record<string, number | undefined> = { "bytes=0-8": 9, "bytes=5-8": 9, "bytes=0-1": undefined };
  const origin = await serveOrigin((request, response) => {
    const length = request.method === "HEAD" ? 9 : lengths[request.headers.range!];
    if (length !== undefined) response.setHeader("content-length", length);
    response.write("Content!!", () => response.end());
  });
  const s3 = { ...S3_KEYS, endpoint: origin.url };
  const store = createMediaStore({ dataDir: join(directory, "ranges"), mediaStore: "s3", s3 });
  expect(await store.get(KEY)).toMatchObject({ length: 9 });
  await expect(store.get(KEY, parseRange("bytes=5-"))).rejects.toThrow("sends 9 bytes");
  await expect(store.get(KEY, parseRange("bytes=0-1"))).rejects.toThrow("sends any number of bytes");
  await origin.close();
});

test("a store that doesn't answer is an error by the time that a reader would leave", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const origin = await serveOrigin((request) => request.resume());
  const s3 = { ...S3_KEYS, endpoint: origin.url };
  const store = createMediaStore({ dataDir: join(directory, "silent"), mediaStore: "s3", s3 });
  for (const ask of [() => store.get(KEY), () => save(store, CONTENT)]) {
    const asked = origin.requests.length;
    const answer = ask().catch(String);
    await vi.waitUntil(() => origin.requests.length > asked, { timeout: WAIT_TIMEOUT_MS });
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await answer).toBe(`Error: The S3 store does not answer HEAD ${KEY}.`);
  }
  vi.useRealTimers();
  await origin.close();
});

test("what is thrown away leaves nothing behind", async () => {
  const writer = stores.file.createWriter();
  await writer.write(CONTENT);
  writer.dispose();
  await expect.poll(() => readdir(join(directory, "media", "incoming"))).toEqual([]);
});

test("what a killed process left half written is removed, what is being written stays", async () => {
  const incoming = join(directory, "media", "incoming");
  const writer = stores.file.createWriter();
  await writer.write(CONTENT);
  const [beingWritten] = await readdir(incoming);
  await writeFile(join(incoming, "left"), CONTENT);
  const before = new Date(Date.now() - 2 * 3_600_000);
  await utimes(join(incoming, "left"), before, before);
  await stores.file.removeAbandoned();
  expect(await readdir(incoming)).toEqual([beingWritten]);
  expect(await writer.keep("png")).toBe(KEY);
  await stores.s3.removeAbandoned();
});

test("a disk that takes no more leaves nothing behind, and writing says so", async () => {
  const dataDir = join(directory, "full");
  const program = `
    import { createMediaStore } from ${JSON.stringify(join(import.meta.dirname, "media-store.ts"))};
    const store = createMediaStore({ dataDir: ${JSON.stringify(dataDir)}, mediaStore: "file", s3: {} });
    const code = (error) => error.code;
    const short = store.createWriter();
    await short.write(Buffer.alloc(70_000));
    const kept = await short.keep("png").catch(code);
    const long = store.createWriter();
    let written;
    for (let i = 0; i < 100 && written === undefined; i++) written = await long.write(Buffer.alloc(70_000)).catch(code);
    long.dispose();
    console.log(kept, written);
  `;
  // Files of at most 64 kB: as close to a full disk as an unprivileged process can get.
  const limited = `ulimit -f 64; exec "$0" --input-type=module -e "$1"`;
  const { stdout } = await promisify(execFile)("bash", ["-c", limited, process.execPath, program], {
    timeout: WAIT_TIMEOUT_MS,
  });
  expect(stdout).toBe("EFBIG EFBIG\n");
  expect(await readdir(join(dataDir, "media", "incoming"))).toEqual([]);
});

test.each(["bytes=5-2", "bytes=0-1,3-4", "items=0-1", "bytes=-", "bytes=a-b", "", "bytes=99999999999999999999-"])(
  "the range %s means the whole",
  (header) => {
    expect(parseRange(header)).toBeUndefined();
    // Nor is one that is longer than any range.
    expect(parseRange(`bytes=0-1${" ".repeat(100)}`)).toBeUndefined();
  },
);

test("keys are hashes with an extension, nothing else", () => {
  expect(isMediaKey(KEY)).toBe(true);
  for (const key of ["../etc/passwd", KEY.slice(0, -4), `${KEY}/..`, KEY.toUpperCase(), "a.png"])
    expect(isMediaKey(key)).toBe(false);
});

test("markup is served in a sandbox, unknown content as a download", () => {
  const headers = (extension: string) => mediaHeaders(KEY.replace("png", extension));
  expect(headers("svg")).toMatchObject({
    "content-type": "image/svg+xml; charset=utf-8",
    "x-content-type-options": "nosniff",
  });
  expect(headers("html")["content-security-policy"]).toMatch(/default-src 'none'.*sandbox$/);
  expect(headers("svg")["content-security-policy"]).not.toMatch(/allow-|script/);
  expect(headers("png")).toMatchObject({
    "content-type": "image/png",
    "cache-control": "public, max-age=31536000, immutable",
  });
  expect(headers("bin")).toMatchObject({
    "content-type": "application/octet-stream",
    "content-disposition": "attachment",
  });
  expect(headers("js")).toMatchObject({
    "content-type": "application/octet-stream",
    "content-disposition": "attachment",
  });
});

describe("types by first bytes, then header, then extension", () => {
  const latin1 = (text: string) => Buffer.from(text, "latin1");
  const wave = Buffer.concat([latin1("RIFF"), Buffer.alloc(4), latin1("WAVEfmt "), Buffer.alloc(32)]);
  const webp = Buffer.concat([latin1("RIFF"), Buffer.alloc(4), latin1("WEBPVP8 "), Buffer.alloc(32)]);
  const box = (brand: string, other = brand) =>
    Buffer.concat([Buffer.from([0, 0, 0, 24]), latin1(`ftyp${brand}\0\0\0\0${other}mif1`), Buffer.alloc(40)]);
  test.each<[string, Buffer, string, string]>([
    [
      "PNG",
      Buffer.from("89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489", "hex"),
      "image/png",
      "png",
    ],
    ["JPEG", Buffer.from("ffd8ffe000104a46494600010100000100010000", "hex"), "image/jpeg", "jpg"],
    ["GIF", latin1("GIF89a\x01\0\x01\0\0\0\0"), "image/gif", "gif"],
    ["WebP", webp, "image/webp", "webp"],
    ["AVIF", box("avif"), "image/avif", "avif"],
    ["AVIF that is HEIF in the first place", box("mif1", "avif"), "image/avif", "avif"],
    ["HEIF", box("mif1", "heic"), "image/heif", "heif"],
    ["BMP", Buffer.concat([latin1("BM"), Buffer.alloc(60)]), "image/bmp", "bmp"],
    ["SVG", latin1('<?xml version="1.0"?><!-- x --><svg xmlns="a"/>'), "image/svg+xml", "svg"],
    ["MP4", box("isom"), "video/mp4", "mp4"],
    [
      "WebM",
      Buffer.from("1a45dfa39f4286810142f7810142f2810442f381084282847765626d42878104428581021853806701000000", "hex"),
      "video/webm",
      "webm",
    ],
    [
      "MP3 with a tag",
      Buffer.concat([latin1("ID3\x03\0\0\0\0\0\0"), Buffer.from("fffb9064", "hex"), Buffer.alloc(500)]),
      "audio/mpeg",
      "mp3",
    ],
    ["WAV", wave, "audio/wav", "wav"],
    [
      "OGG",
      Buffer.concat([latin1("OggS\0\x02"), Buffer.alloc(22), latin1("\x01vorbis"), Buffer.alloc(40)]),
      "audio/ogg",
      "ogg",
    ],
    ["GLB", Buffer.concat([latin1("glTF"), Buffer.from([2, 0, 0, 0]), Buffer.alloc(20)]), "model/gltf-binary", "glb"],
    ["glTF", latin1('{"asset":{"version":"2.0"},"scenes":[]}'), "model/gltf+json", "gltf"],
    ["glTF of somebody", latin1('{"asset":{"extras":{"author":"a"},"version":"2.0"}}'), "model/gltf+json", "gltf"],
    ["SVG in UTF-16", Buffer.from('\ufeff<svg xmlns="a"/>', "utf16le"), "image/svg+xml", "svg"],
    ["the same the other way round", Buffer.from('\ufeff<svg xmlns="a"/>', "utf16le").swap16(), "image/svg+xml", "svg"],
    ["SVG behind instructions", latin1('<?xml version="1.0"?><?made by="x"?><svg xmlns="a"/>'), "image/svg+xml", "svg"],
    ["HTML", latin1("\n<!DOCTYPE html><html></html>"), "text/html", "html"],
    ["PDF", latin1("%PDF-1.7\n"), "application/pdf", "pdf"],
  ])("%s", async (_, head, mimeType, extension) => {
    // The server's type doesn't matter.
    expect(await sniffMediaType(head, { contentType: "text/plain", url: "https://a.example/x.jpg" })).toEqual({
      mimeType,
      extension,
    });
  });

  test("a header counts before an extension, and neither makes markup of what is none", async () => {
    const head = latin1("unknown\0bytes");
    expect(await sniffMediaType(head, { contentType: "video/mp4", url: "x.png" })).toMatchObject({
      mimeType: "video/mp4",
    });
    expect(
      await sniffMediaType(head, { contentType: "application/octet-stream", url: "https://a.example/x.png?y" }),
    ).toMatchObject({ mimeType: "image/png" });
    expect(await sniffMediaType(head, { contentType: "text/html" })).toMatchObject({
      mimeType: "application/octet-stream",
    });
    expect(await sniffMediaType(head, { contentType: "nonsense" })).toEqual({
      mimeType: "application/octet-stream",
      extension: "bin",
    });
  });
});

test("a declared type that is known ends the search", async () => {
  const url = "https://a.example/1.png";
  const typeOf = async (contentType: string, head = "unknown\0bytes") =>
    (await sniffMediaType(Buffer.from(head), { contentType, url })).mimeType;
  expect(await typeOf("text/plain; charset=utf-8")).toBe("text/plain");
  expect(await typeOf("application/json")).toBe("application/json");
  for (const markup of ["text/html", "image/svg+xml"]) expect(await typeOf(markup)).toBe("application/octet-stream");
  expect(await typeOf("image/gif")).toBe("image/gif");
  expect(await typeOf("")).toBe("image/png");
  // Text is no image, film or sound, whatever is said of it.
  for (const said of ["image/gif", "video/mp4", "audio/mpeg", ""])
    expect(await typeOf(said, "Not found: früh\r\n")).toBe("application/octet-stream");
});

test("what is called a page is one where it begins with an element, whatever its name", async () => {
  const typeOf = async (contentType: string, head: string) =>
    (await sniffMediaType(Buffer.from(head), { contentType })).mimeType;
  for (const page of ["<pre>\\o/</pre>", "\n<!-- art --><b>1</b>", "<my-art></my-art>"]) {
    expect(await typeOf("text/html;charset=utf-8", page)).toBe("text/html");
    expect(await typeOf("image/png", page)).toBe("application/octet-stream");
  }
  for (const text of ["Not <b>found</b>", "<!-- art -->", "<3", ""])
    expect(await typeOf("text/html", text)).toBe("application/octet-stream");
});

test("JSON is a model where it is one or is said to be", async () => {
  const typeOf = async (contentType: string) =>
    (await sniffMediaType(Buffer.from('{"name":"a"}'), { contentType })).mimeType;
  expect(await typeOf("application/json")).toBe("application/json");
  expect(await typeOf("model/gltf+json")).toBe("model/gltf+json");
});

test("nothing is of no type, whatever is said of it", async () => {
  const said = { contentType: "image/png", url: "https://a.example/1.png" };
  expect(await sniffMediaType(Buffer.alloc(0), said)).toEqual({
    mimeType: "application/octet-stream",
    extension: "bin",
  });
});

test("content is served as the type that its first bytes show, of all that are known", async () => {
  const media = [...supportedMimeTypes]
    .map((type) => type.split(";")[0]!)
    .filter((type) => isMediaType(type) && !/^video\/MP[12][PS]$/.test(type));
  expect(media.length).toBeGreaterThan(60);
  for (const contentType of media) {
    const { mimeType, extension } = await sniffMediaType(Buffer.from("unknown\0bytes"), { contentType });
    expect({ contentType, mimeType }).toEqual({ contentType, mimeType: contentType });
    expect(isMediaKey(KEY.replace("png", extension))).toBe(true);
    const headers = mediaHeaders(KEY.replace("png", extension));
    expect(headers["content-type"]).toBe(contentType);
    expect(headers).not.toHaveProperty("content-disposition");
  }
});

test("film of MPEG-1 and MPEG-2 is one type", async () => {
  for (const first of ["000001ba21", "000001ba44"])
    expect(await sniffMediaType(Buffer.from(first.padEnd(200, "0"), "hex"))).toEqual({
      mimeType: "video/mpeg",
      extension: "mpg",
    });
});

test("sound in Ogg is one type, however it is coded, and old keys of it are served too", async () => {
  const opus = Buffer.concat([Buffer.from("OggS"), Buffer.alloc(24), Buffer.from("OpusHead"), Buffer.alloc(64)]);
  expect(await sniffMediaType(opus)).toEqual({ mimeType: "audio/ogg", extension: "ogg" });
  for (const extension of ["ogg", "oga", "opus", "spx"])
    expect(mediaHeaders(KEY.replace("png", extension))["content-type"]).toBe("audio/ogg");
});

test("Ogg that begins with a description of its streams is film where one of them is, else sound", async () => {
  /** The first page of a stream. */
  const page = (codec: string) =>
    Buffer.concat([Buffer.from("OggS"), Buffer.alloc(24), Buffer.from(codec, "latin1"), Buffer.alloc(64)]);
  const skeleton = page("fishead\0");
  const film = { mimeType: "video/ogg", extension: "ogv" };
  const sound = { mimeType: "audio/ogg", extension: "ogg" };
  expect(await sniffMediaType(Buffer.concat([skeleton, page("\x80theora"), page("\x01vorbis")]))).toEqual(film);
  expect(await sniffMediaType(Buffer.concat([page("\x01vorbis"), page("\x80theora")]))).toEqual(film);
  expect(await sniffMediaType(Buffer.concat([skeleton, page("\x01vorbis")]))).toEqual(sound);
  expect(await sniffMediaType(page("CELT    "), { url: "https://a.example/1.ogg" })).toEqual(sound);
});

describeSamples("samples", () => {
  const expected = JSON.parse(readSample("c_bad_input/mime_samples/expected.json")) as { file: string; mime: string }[];
  test.each(expected)("$file is $mime", async ({ file, mime }) => {
    const head = readFileSync(samplePath(`c_bad_input/mime_samples/${file}`)).subarray(0, 4100);
    expect((await sniffMediaType(head)).mimeType).toBe(mime);
  });
});
