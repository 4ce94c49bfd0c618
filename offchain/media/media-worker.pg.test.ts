import { createHash } from "node:crypto";
import type { ServerResponse } from "node:http";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import type { Sql } from "postgres";
import { encodeAbiParameters, toFunctionSelector } from "viem";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { toBytes } from "../bytea.ts";
import { createReadableDatabase, useDatabase } from "../../test/database.ts";
import { type Origin, serveOrigin } from "../../test/origin.ts";
import { address, CHAIN_ID, createFakeCalls, indexedTo, mint } from "../../test/tokens.ts";
import type { ReadCalls } from "../chain/call.ts";
import { createFetcher, type Fetcher } from "../fetch/fetcher.ts";
import { createMediaFetcher, MAX_MEDIA_BYTES } from "./media-fetch.ts";
import { claimDueMedia } from "./media-queue.ts";
import { createMediaStore, type MediaStore } from "./media-store.ts";
import { runMediaWorker } from "./media-worker.ts";
import { emptyNormalized, type Normalized } from "../document/normalize.ts";
import { createDocumentReader } from "../document/source-reader.ts";
import { enqueueTokens } from "../token/token-watermark.ts";
import { runTokenWorker } from "../token/token-worker.ts";

const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==",
  "base64",
);
const GIF = Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "base64");
const MP4 = Buffer.concat([Buffer.from([0, 0, 0, 24]), Buffer.from("ftypisom\0\0\x02\0isommp41"), Buffer.alloc(100)]);
const SVG = '<svg xmlns="http://www.w3.org/2000/svg"><rect fill="#f00"/></svg>';
const RESOLVE_MODE = toFunctionSelector("resolveMode()");
const CID = "QmUCShocWwbF7APdavPJxvKqFbB1WHsHAnhxxnoX8UfMFR";
const keyOf = (bytes: Buffer | string, extension: string) =>
  `${createHash("sha256").update(bytes).digest("hex")}.${extension}`;

const { sql } = await useDatabase(createReadableDatabase, { max: 8 });
let origin: Origin;
let fetcher: Fetcher;
let directory: string;
let store: MediaStore;
let pages: Record<string, Buffer | string | number | ((response: ServerResponse) => void)>;
let uris: Record<string, string>;

beforeAll(async () => {
  origin = await serveOrigin((request, response) => {
    const page = pages[request.url ?? ""] ?? 404;
    if (typeof page === "function") page(response);
    else if (typeof page === "number") response.writeHead(page).end();
    else response.writeHead(200).end(page);
  });
});

beforeEach(async () => {
  pages = {};
  uris = {};
  origin.requests.length = 0;
  directory = await mkdtemp(join(tmpdir(), "media-"));
  store = open(directory);
  fetcher = openFetcher();
  await sql`
    truncate
      onchain_mainnet.contract, onchain_mainnet.token, onchain_mainnet.token_event, offchain.token_metadata,
      offchain.contract_metadata, offchain.token_watermark, offchain.media
  `;
  return async () => {
    await fetcher.close();
    await rm(directory, { recursive: true, force: true });
  };
});

afterAll(async () => {
  await origin.close();
});

function open(dataDir: string): MediaStore {
  return createMediaStore({
    dataDir,
    mediaStore: "file",
    s3: { endpoint: undefined, bucket: undefined, accessKeyId: undefined, secretAccessKey: undefined, region: "" },
  });
}

function openFetcher(ipfsGateways = [origin.url]): Fetcher {
  return createFetcher({ concurrency: 16, allowHosts: [origin.host], ipfsGateways, arweaveGateways: [] });
}

/** Tokens with these documents, after both workers have done all that is due. */
async function fetchAll(documents: Record<string, unknown>): Promise<Record<string, Normalized>> {
  const ids = Object.keys(documents).map((_, i) => i + 1);
  Object.values(documents).forEach((document, i) => {
    uris[i + 1] = typeof document === "string" ? document : `data:application/json,${JSON.stringify(document)}`;
  });
  await mint(sql, { contract: address(1), tokens: ids, block: 1 });
  await enqueueTokens(sql, indexedTo(1));
  await work();
  return Object.fromEntries(
    await Promise.all(Object.keys(documents).map(async (name, i) => [name, await read(i + 1)])),
  );
}

async function work(): Promise<void> {
  await workTokens();
  await workMedia();
}

const readCalls = createFakeCalls({ [address(1)]: (_, [id]) => uris[String(id)] });
const options = {
  network: "mainnet",
  chainId: CHAIN_ID,
  concurrency: 8,
  signal: new AbortController().signal,
  isOneShot: true,
};

function workTokens(): Promise<void> {
  const readDocument = createDocumentReader({ fetcher, readCalls: new Map([[CHAIN_ID, readCalls]]) });
  return runTokenWorker(sql, { ...options, readCalls, readDocument });
}

function workMedia(readMedia = readCalls): Promise<void> {
  const calls = new Map([[CHAIN_ID, readMedia]]);
  const fetchMedia = createMediaFetcher({ fetcher, store, readCalls: calls });
  return runMediaWorker(sql, { ...options, fetchMedia, hasMedia: store.has });
}

async function read(id: number): Promise<Normalized> {
  const [row] = await sql<{ normalized: string }[]>`
    select normalized from offchain.token_metadata where token_id = ${id} and contract_address = ${toBytes(address(1))}
  `;
  return JSON.parse(row!.normalized) as Normalized;
}

async function contentOf(key: string): Promise<Buffer | undefined> {
  const media = await store.get(key);
  return typeof media === "object" ? buffer(media.stream) : undefined;
}

test("images of all kinds get a key, the hash of what is served, and a type from their first bytes", async () => {
  pages["/a"] = PNG;
  pages["/b.png"] = GIF;
  pages["/c"] = MP4;
  pages["/drawing"] = SVG;
  const tokens = await fetchAll({
    png: { image: `${origin.url}/a` },
    "gif that says png": { image: `${origin.url}/b.png` },
    "film as animation": { image: `${origin.url}/a`, animation_url: `${origin.url}/c` },
    "film as image": { image: `${origin.url}/c` },
    drawing: { image: `${origin.url}/drawing` },
    "data URI": { image: `data:image/png;base64,${PNG.toString("base64")}` },
    "inline drawing": { image_data: SVG },
    "page as animation": { animation_url: "data:text/html,<html><body>hi</body></html>" },
    "the image itself as document": `${origin.url}/a`,
    "the drawing itself as document": "data:image/svg+xml;utf8," + SVG,
  });
  const png = { image_key: keyOf(PNG, "png"), image_mime_type: "image/png" };
  expect(tokens).toEqual({
    png: { ...emptyNormalized(), ...png, image: `${origin.url}/a` },
    "gif that says png": {
      ...emptyNormalized(),
      image_key: keyOf(GIF, "gif"),
      image_mime_type: "image/gif",
      image: `${origin.url}/b.png`,
    },
    "film as animation": {
      ...emptyNormalized(),
      ...png,
      image: `${origin.url}/a`,
      animation_url: `${origin.url}/c`,
      animation_key: keyOf(MP4, "mp4"),
      animation_mime_type: "video/mp4",
    },
    "film as image": {
      ...emptyNormalized(),
      animation_url: `${origin.url}/c`,
      animation_key: keyOf(MP4, "mp4"),
      animation_mime_type: "video/mp4",
    },
    drawing: {
      ...emptyNormalized(),
      image: `${origin.url}/drawing`,
      image_key: keyOf(SVG, "svg"),
      image_mime_type: "image/svg+xml",
    },
    "data URI": { ...emptyNormalized(), ...png, image: `data:image/png;base64,${PNG.toString("base64")}` },
    "inline drawing": {
      ...emptyNormalized(),
      image_data: SVG,
      image_key: keyOf(SVG, "svg"),
      image_mime_type: "image/svg+xml",
    },
    "page as animation": {
      ...emptyNormalized(),
      animation_url: "data:text/html,<html><body>hi</body></html>",
      animation_key: keyOf("<html><body>hi</body></html>", "html"),
      animation_mime_type: "text/html",
    },
    "the image itself as document": { ...emptyNormalized(), ...png, image: `${origin.url}/a` },
    "the drawing itself as document": {
      ...emptyNormalized(),
      image: "data:image/svg+xml;utf8," + SVG,
      image_key: keyOf(SVG, "svg"),
      image_mime_type: "image/svg+xml",
    },
  });
  expect(await contentOf(keyOf(PNG, "png"))).toEqual(PNG);
  expect(await readdir(join(directory, "media", "incoming"))).toEqual([]);
});

test("the same link is fetched once for a thousand tokens, the same content stored once", async () => {
  pages["/a"] = PNG;
  pages["/copy"] = PNG;
  const documents = Object.fromEntries(
    Array.from({ length: 300 }, (_, i) => [`t${i}`, { name: `${i}`, image: `${origin.url}/${i % 2 ? "a" : "copy"}` }]),
  );
  const tokens = await fetchAll(documents);
  expect(new Set(Object.values(tokens).map(({ image_key }) => image_key))).toEqual(new Set([keyOf(PNG, "png")]));
  expect(origin.requests.toSorted()).toEqual(["/a", "/copy"]);
});

test("a contract that a link names without its chain is that of the token's own network, on each another", async () => {
  const drawing = (chainId: number) => `<svg xmlns="http://www.w3.org/2000/svg"><text>${chainId}</text></svg>`;
  const chainIds = [CHAIN_ID, CHAIN_ID + 1];
  const calls = new Map(
    chainIds.map((chainId): [number, ReadCalls] => {
      const answer = encodeAbiParameters([{ type: "string" }], [drawing(chainId)]);
      return [
        chainId,
        async ([call]) => [call!.data === RESOLVE_MODE ? { kind: "none" } : { kind: "data", data: toBytes(answer) }],
      ];
    }),
  );
  const normalized = JSON.stringify({ ...emptyNormalized(), image: `web3://${address(7)}/image` });
  for (const chainId of chainIds) {
    await sql`
      insert into offchain.token_metadata (chain_id, contract_address, token_id, normalized, media_due_at)
      values (${chainId}, ${toBytes(address(1))}, ${chainId}, ${normalized}, now())
    `;
    await runMediaWorker(sql, {
      ...options,
      chainId,
      fetchMedia: createMediaFetcher({ fetcher, store, readCalls: calls }),
      hasMedia: store.has,
    });
  }
  for (const chainId of chainIds)
    expect(await read(chainId)).toMatchObject({ image_key: keyOf(drawing(chainId), "svg") });
});

test("a drawing is cleaned before it is stored, under the hash of what is served", async () => {
  const dirty = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script><rect onclick="x()"/></svg>';
  const clean = '<svg xmlns="http://www.w3.org/2000/svg"><rect/></svg>';
  const { dirty: token } = await fetchAll({
    dirty: { image: `data:image/svg+xml;base64,${Buffer.from(dirty).toString("base64")}` },
  });
  expect(token).toMatchObject({ image_key: keyOf(clean, "svg"), image_mime_type: "image/svg+xml" });
  expect((await contentOf(keyOf(clean, "svg")))?.toString()).toBe(clean);
});

test.each<[string, Buffer, number]>([
  ["that begins with a chunk of white space", Buffer.from(`\n${SVG}`), 1],
  ["after much white space", Buffer.from("\n".repeat(70) + SVG), 71],
  ["after a comment that comes in two chunks", Buffer.from(`<!-- x -->${SVG}`), 6],
  ["in UTF-16", Buffer.from(`\ufeff<?xml version="1.0" encoding="UTF-16"?>${SVG}`, "utf16le"), 1],
  ["in UTF-16 of the other order", Buffer.from(`\ufeff${SVG}`, "utf16le").swap16(), 1],
])("a drawing %s is one", async (_, content, firstLength) => {
  pages["/drawing"] = (response) => {
    response.writeHead(200, { "content-type": "image/svg+xml" });
    response.write(content.subarray(0, firstLength));
    setTimeout(() => response.end(content.subarray(firstLength)), 20);
  };
  const { token } = await fetchAll({ token: { image: `${origin.url}/drawing` } });
  expect(token!.image_mime_type).toBe("image/svg+xml");
  const served = (await contentOf(token!.image_key))!.toString();
  expect(served.replace(/^<[?!][^>]*>/, "").trimStart()).toBe(SVG);
  expect(served).not.toContain("UTF-16");
});

test("a drawing has the letters that its own encoding or its server's makes of its bytes", async () => {
  const send = (charset: string, declaration: string) => (response: ServerResponse) =>
    response
      .writeHead(200, { "content-type": `image/svg+xml; charset=${charset}` })
      .end(
        Buffer.from(`${declaration}<svg xmlns="http://www.w3.org/2000/svg"><text>\xca\xee\xf2</text></svg>`, "latin1"),
      );
  pages["/own"] = send("utf-8", "<?xml version='1.0' encoding='windows-1251'?>");
  pages["/server"] = send("windows-1251", "");
  const tokens = await fetchAll({ own: { image: `${origin.url}/own` }, server: { image: `${origin.url}/server` } });
  for (const { image_key } of Object.values(tokens))
    expect((await contentOf(image_key))!.toString()).toContain("Кот</text></svg>");
});

test("a drawing and a page are known behind a long comment", async () => {
  const banner = `<!--${"art of letters\n".repeat(700)}-->\n`;
  const page = `${banner}<html><body>art</body></html>`;
  pages["/drawing"] = banner + SVG;
  pages["/page"] = page;
  expect(
    await fetchAll({
      link: { name: "link", image: `${origin.url}/drawing` },
      text: { name: "text", image: banner + SVG },
      page: { name: "page", animation_url: `${origin.url}/page` },
    }),
  ).toMatchObject({
    link: { image_key: keyOf(banner + SVG, "svg") },
    text: { image: "", image_data: banner + SVG, image_key: keyOf(banner + SVG, "svg") },
    page: { animation_key: keyOf(page, "html") },
  });
});

test("what hides in values, escapes and pieces of a drawing isn't served either", async () => {
  const dirty =
    `<svg xmlns="http://www.w3.org/2000/svg"><rect data-x=' onload="x()"' onload="x()" width="1"/>` +
    String.raw`<style>@im<!-- -->port "https://evil.example/1";.a{fill:\75rl(https://evil.example/2)}</style>` +
    `<a><animate attributeName="href" values="javascript:x()"><desc/></animate><g/></a></svg>`;
  const clean =
    `<svg xmlns="http://www.w3.org/2000/svg"><rect data-x=' onload="x()"' width="1"/>` +
    `<style>.a{fill:none}</style><a><g/></a></svg>`;
  pages["/dirty.svg"] = dirty;
  const { dirty: token } = await fetchAll({ dirty: { image: `${origin.url}/dirty.svg` } });
  expect(token).toMatchObject({ image_key: keyOf(clean, "svg"), image_mime_type: "image/svg+xml" });
  expect((await contentOf(keyOf(clean, "svg")))?.toString()).toBe(clean);
});

describe("content that can't be had", () => {
  const state = async () => {
    const [row] = await sql<{ code: string | null; attempts: number; seconds: number | null }[]>`
      select
        media_error_code as code,
        media_attempts as attempts,
        extract(epoch from media_due_at - now())::float8 as seconds
      from offchain.token_metadata
      order by token_id
    `;
    return row!;
  };

  test("leaves the document usable and is tried again with the same patience", async () => {
    const { token } = await fetchAll({ token: { name: "n", image: `${origin.url}/missing` } });
    expect(token).toEqual({ ...emptyNormalized(), name: "n", image: `${origin.url}/missing` });
    expect(await state()).toMatchObject({ code: "http_404", attempts: 1 });
    expect((await state()).seconds).toBeGreaterThan(50);
    pages["/missing"] = PNG;
    await sql`update offchain.token_metadata set media_due_at = now()`;
    await work();
    expect(await read(1)).toMatchObject({ image_key: keyOf(PNG, "png") });
    expect(await state()).toEqual({ code: null, attempts: 0, seconds: null });
  });

  test("of a contract whose node has put the call off is due by then, and that was no attempt", async () => {
    uris[1] = `data:application/json,${JSON.stringify({ image: `web3://${address(7)}/image` })}`;
    await mint(sql, { contract: address(1), tokens: [1], block: 1 });
    await enqueueTokens(sql, indexedTo(1));
    await workTokens();
    await workMedia(async (asked) => asked.map(() => ({ kind: "fault", message: "slow", againSeconds: 600 })));
    expect(await state()).toMatchObject({ code: null, attempts: 0 });
    expect((await state()).seconds).toBeGreaterThan(590);
  });

  test.each([
    ["an error page", "<html><title>404</title></html>"],
    ["JSON", '{"error":"not found"}'],
    ["text", "nothing here"],
    ["nothing", ""],
  ])("%s is no image", async (_, page) => {
    pages["/x"] = page;
    const { token } = await fetchAll({ token: { name: "n", image: `${origin.url}/x` } });
    expect(token).toMatchObject({ image_key: "", image_mime_type: "" });
    expect(await state()).toMatchObject({ code: "not_media" });
  });

  test.each([
    ["text at the address of an image", "text/plain", "Not found"],
    ["text that is said to be an image", "image/png", "Not found"],
    ["JSON at the address of an image, of no type", "application/octet-stream", '{"error":"zu früh"}'],
    ["nothing that says it is an image", "image/png", ""],
  ])("%s is no image", async (_, type, body) => {
    pages["/1.png"] = (response) => response.writeHead(200, { "content-type": type }).end(body);
    const { token } = await fetchAll({ token: { name: "n", image: `${origin.url}/1.png` } });
    expect(token).toMatchObject({ image_key: "", image_mime_type: "" });
    expect(await state()).toMatchObject({ code: "not_media" });
  });

  test.each<[string, (response: ServerResponse, large: Buffer) => void]>([
    ["that says its size", (response, large) => response.end(large)],
    ["that says nothing", (response, large) => (response.write(PNG), response.end(large))],
    ["compressed", (response, large) => response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(large))],
  ])("content of more than 50 MB, %s, is not stored", async (_, answer) => {
    pages["/large"] = (response) => answer(response, Buffer.concat([PNG, Buffer.alloc(MAX_MEDIA_BYTES)]));
    const { token } = await fetchAll({ token: { name: "n", image: `${origin.url}/large` } });
    expect(token).toMatchObject({ name: "n", image_key: "" });
    expect(await state()).toMatchObject({ code: "too_large" });
    expect(await readdir(directory, { recursive: true })).not.toContainEqual(expect.stringMatching(/\.png$/));
  });

  test("one of two links that fails doesn't hide the other", async () => {
    pages["/a"] = PNG;
    const { token } = await fetchAll({ token: { image: `${origin.url}/a`, animation_url: `${origin.url}/gone` } });
    expect(token).toMatchObject({ image_key: keyOf(PNG, "png"), animation_key: "" });
    expect(await state()).toMatchObject({ code: "http_404" });
  });

  test.each([
    ["beside it", SVG],
    ["of any size", SVG.replace("<rect", `<!--${"x".repeat(100_000)}--><rect`)],
  ])("a drawing %s is shown until the image can be had", async (_, drawing) => {
    pages["/a"] = 500;
    const image_data = `data:image/svg+xml;base64,${Buffer.from(drawing).toString("base64")}`;
    const tokens = await fetchAll({
      token: { image: `${origin.url}/a`, image_data },
      nonsense: { image: `${origin.url}/b`, image_data: "no drawing" },
    });
    expect(tokens.token).toMatchObject({
      image: `${origin.url}/a`,
      image_key: keyOf(drawing, "svg"),
      image_mime_type: "image/svg+xml",
    });
    expect(await state()).toMatchObject({ code: "http_500", attempts: 1 });
    expect(tokens.nonsense).toMatchObject({ image_key: "" });
    // Also while the document is new.
    await sql`update offchain.token_metadata set refresh_requested_at = clock_timestamp()`;
    await workTokens();
    expect(await read(1)).toMatchObject({ image_key: keyOf(drawing, "svg") });
    pages = { "/a": PNG, "/b": PNG };
    await sql`update offchain.token_metadata set media_due_at = now()`;
    await work();
    expect(await read(1)).toMatchObject({ image_key: keyOf(PNG, "png"), image_mime_type: "image/png" });
    expect(await state()).toMatchObject({ code: null, attempts: 0 });
    expect(await read(2)).toMatchObject({ image_key: keyOf(PNG, "png") });
  });

  test.each([
    ["beside it", SVG],
    ["of any size", SVG.replace("<rect", `<!--${"x".repeat(100_000)}--><rect`)],
  ])("a drawing %s is the image where the image is a film", async (_, drawing) => {
    pages["/film"] = MP4;
    const image_data = `data:image/svg+xml;base64,${Buffer.from(drawing).toString("base64")}`;
    const expected = { image: "", image_key: keyOf(drawing, "svg"), image_mime_type: "image/svg+xml" };
    const { token } = await fetchAll({ token: { image: `${origin.url}/film`, image_data } });
    expect(token).toMatchObject({ ...expected, animation_url: `${origin.url}/film`, animation_key: keyOf(MP4, "mp4") });
    await sql`update offchain.token_metadata set refresh_requested_at = clock_timestamp()`;
    await work();
    expect(await read(1)).toMatchObject(expected);
  });

  test("content from before stays when it is gone at a refresh", async () => {
    pages["/a"] = PNG;
    await fetchAll({ token: { image: `${origin.url}/a` } });
    pages["/a"] = 404;
    await sql`update offchain.media set fetched_at = now() - interval '1 hour'`;
    await sql`update offchain.token_metadata set refresh_requested_at = now(), media_due_at = now()`;
    await work();
    expect(await read(1)).toMatchObject({ image_key: keyOf(PNG, "png") });
  });

  test.each<[string, () => void, string]>([
    ["a disk that can't be written to", () => (store = open(join(directory, "file", "below"))), "ENOTDIR: "],
    [
      "a store that refuses",
      () => {
        const fail = () => Promise.reject(new Error("The S3 store answered 500."));
        const { createWriter } = store;
        store = { ...store, createWriter: () => ({ ...createWriter(), keep: fail }) };
      },
      "The S3 store answered 500.",
    ],
    [
      "a store that can't be reached",
      () => {
        const s3 = { endpoint: "http://127.0.0.1:2", bucket: "b", accessKeyId: "k", secretAccessKey: "s", region: "r" };
        store = createMediaStore({ dataDir: directory, mediaStore: "s3", s3 });
      },
      "S3_ENDPOINT can't be reached (127.0.0.1:2: connect ECONNREFUSED",
    ],
  ])("%s is tried again every ten minutes, counts as no attempt, and says nothing of hosts", async (_, spoil, why) => {
    const said = vi.spyOn(console, "error").mockReturnValue();
    await writeFile(join(directory, "file"), "");
    const usual = store;
    spoil();
    const images = [1, 2, 3, 4, 5, 6].map((i) => `/${i}`);
    for (const path of images) pages[path] = PNG;
    await fetchAll({
      ...Object.fromEntries(images.map((path) => [path, { image: `${origin.url}${path}` }])),
      inline: { image_data: SVG.repeat(2) },
    });
    const rows = await sql`
      select
        media_error_code as code,
        media_attempts as attempts,
        media_due_at between now() + interval '8 minutes' and now() + interval '10 minutes' as is_later
      from offchain.token_metadata
    `;
    expect(rows).toHaveLength(7);
    for (const row of rows) expect(row).toEqual({ code: "store", attempts: 0, is_later: true });
    expect(said).toHaveBeenCalledWith(expect.stringContaining(`worker: can't store media: ${why}`));
    said.mockRestore();
    store = usual;
    await sql`update offchain.token_metadata set media_due_at = now()`;
    await workMedia();
    expect(await read(6)).toMatchObject({ image_key: keyOf(PNG, "png") });
    expect(await read(7)).toMatchObject({ image_mime_type: "image/svg+xml" });
  });

  test("nothing is asked for where the store takes nothing, but for a few files a minute, until it does", async () => {
    const fail = () => Promise.reject(new Error("The S3 store answered 403."));
    let isBroken = true;
    const createWriter = () => ({ ...store.createWriter(), ...(isBroken && { keep: fail }) });
    const fetchMedia = createMediaFetcher({ fetcher, store: { ...store, createWriter }, readCalls: new Map() });
    const fetchFile = async (file: number) => {
      pages[`/${file}`] = PNG;
      const link = `${origin.url}/${file}`;
      return fetchMedia(link, { chainId: CHAIN_ID, role: "image", contract: address(1) });
    };
    vi.useFakeTimers({ toFake: ["performance"] });
    for (const minute of [1, 2]) {
      for (let file = 0; file < 40; file++) expect(await fetchFile(file)).toMatchObject({ code: "store" });
      expect(origin.requests).toHaveLength(15 + minute);
      vi.advanceTimersByTime(60_001);
    }
    isBroken = false;
    for (let file = 0; file < 40; file++) expect(await fetchFile(file)).toMatchObject({ kind: "stored" });
    vi.useRealTimers();
  });

  test.each<[string, object, object]>([
    ["an image", { image: `ipfs://${CID}/1` }, { image_key: keyOf(PNG, "png") }],
    ["an animation", { animation_url: `ipfs://${CID}/1` }, { animation_key: keyOf(PNG, "png") }],
  ])("a gateway's page instead of %s is passed over for the next gateway's content", async (_, document, expected) => {
    await fetcher.close();
    fetcher = openFetcher(["first", "second", "third"].map((name) => `${origin.url}/${name}`));
    pages[`/first/ipfs/${CID}/1`] = "<!doctype html><html><head><title>504 Gateway unavailable</title></head></html>";
    pages[`/second/ipfs/${CID}/1`] = (response) =>
      response.writeHead(200, { etag: '"DirIndex-x"' }).end("<!doctype html><html><title>/ipfs/x</title></html>");
    pages[`/third/ipfs/${CID}/1`] = PNG;
    expect(await fetchAll({ token: { name: "n", ...document } })).toMatchObject({ token: expected });
    expect(origin.requests).toHaveLength(3);
  });

  test("a gateway's error with status 200 is passed over for the next gateway's content", async () => {
    await fetcher.close();
    fetcher = openFetcher(["first", "second", "third"].map((name) => `${origin.url}/${name}`));
    pages[`/first/ipfs/${CID}/1.png`] = (response) =>
      response.writeHead(200, { "content-type": "application/json" }).end('{"message":"API rate limit exceeded"}');
    pages[`/second/ipfs/${CID}/1.png`] = "Too many requests";
    pages[`/third/ipfs/${CID}/1.png`] = PNG;
    const { token } = await fetchAll({ token: { name: "n", image: `ipfs://${CID}/1.png` } });
    expect(token).toMatchObject({ image_key: keyOf(PNG, "png") });
    expect(origin.requests).toHaveLength(3);
  });

  test("a page of a project's own gateway is passed over for what another one has, and counts where none has", async () => {
    await fetcher.close();
    fetcher = openFetcher(["first", "second"].map((name) => `${origin.url}/${name}`));
    const page = "<!doctype html><html><title>project.example</title></html>";
    const art = "<!doctype html><html><title>Art</title><canvas></canvas></html>";
    for (const name of ["film", "alone"]) pages[`/own/ipfs/${CID}/${name}`] = page;
    pages[`/own/ipfs/${CID}/art`] = art;
    pages[`/first/ipfs/${CID}/film`] = MP4;
    pages[`/first/ipfs/${CID}/art`] = art;
    pages[`/first/ipfs/${CID}/plain`] = art;
    const own = (name: string) => ({ name: "n", animation_url: `${origin.url}/own/ipfs/${CID}/${name}` });
    const tokens = await fetchAll({
      film: own("film"),
      art: own("art"),
      alone: own("alone"),
      plain: { name: "n", animation_url: `ipfs://${CID}/plain` },
    });
    expect(tokens).toMatchObject({
      film: { animation_key: keyOf(MP4, "mp4") },
      art: { animation_key: keyOf(art, "html") },
      alone: { animation_key: keyOf(page, "html") },
      plain: { animation_key: keyOf(art, "html") },
    });
    expect(origin.requests.filter((path) => path.endsWith("/plain"))).toHaveLength(1);
  });

  test("a page that tells of an error is no animation, any other page is one", async () => {
    const art = "<!doctype html><html><title>Art</title><canvas></canvas></html>";
    pages["/error"] = "<!doctype html><html><title>Just a moment...</title></html>";
    pages["/art"] = art;
    const tokens = await fetchAll({
      error: { name: "n", animation_url: `${origin.url}/error` },
      art: { name: "n", animation_url: `${origin.url}/art` },
    });
    expect(tokens).toMatchObject({ error: { animation_key: "" }, art: { animation_key: keyOf(art, "html") } });
    expect(await state()).toMatchObject({ code: "not_media", attempts: 1 });
  });

  test.each([
    ["404 Not Found", false],
    ["404", false],
    ["504 Gateway Time-out", false],
    ["example.com | 504: Gateway time-out", false],
    ["429 Too Many Requests", false],
    ["Art #404", true],
    ["Art 15004", true],
    ["5000", true],
  ])("a page with the title %s is an animation: %s", async (title, isAnimation) => {
    const page = `<!doctype html><html><title>${title}</title><canvas></canvas></html>`;
    pages["/page"] = page;
    const { token } = await fetchAll({ token: { name: "n", animation_url: `${origin.url}/page` } });
    expect(token).toMatchObject({ animation_key: isAnimation ? keyOf(page, "html") : "" });
  });

  test("a page where a link names a file of film is none, and no animation", async () => {
    const page = "<!doctype html><html><title>Our project</title><div id=app></div></html>";
    await fetcher.close();
    fetcher = openFetcher(["first", "second"].map((name) => `${origin.url}/${name}`));
    pages["/films/1.mp4?v=2"] = page;
    pages[`/first/ipfs/${CID}/1.GLB`] = page;
    pages[`/second/ipfs/${CID}/1.GLB`] = MP4;
    pages["/play?file=1.mp4"] = page;
    pages["/page.html"] = page;
    const tokens = await fetchAll({
      film: { name: "n", animation_url: `${origin.url}/films/1.mp4?v=2` },
      model: { name: "n", animation_url: `ipfs://${CID}/1.GLB` },
      player: { name: "n", animation_url: `${origin.url}/play?file=1.mp4` },
      page: { name: "n", animation_url: `${origin.url}/page.html` },
    });
    expect(tokens).toMatchObject({
      film: { animation_key: "" },
      model: { animation_key: keyOf(MP4, "mp4") },
      player: { animation_key: keyOf(page, "html") },
      page: { animation_key: keyOf(page, "html") },
    });
    expect(await state()).toMatchObject({ code: "not_media", attempts: 1 });
    pages["/films/1.mp4?v=2"] = MP4;
    await sql`update offchain.token_metadata set media_due_at = now() where media_due_at is not null`;
    await workMedia();
    expect(await read(1)).toMatchObject({ animation_key: keyOf(MP4, "mp4") });
  });

  test("a page that begins within its body is an animation too, and no image whatever its server says", async () => {
    const page = (tag: string) => `<${tag} id="art">A garden</${tag}>`;
    const tags = ["main", "section", "img", "h2", "center"];
    for (const tag of tags) pages[`/${tag}`] = page(tag);
    pages["/1.png"] = (response) => response.writeHead(200, { "content-type": "image/png" }).end(page("main"));
    const tokens = await fetchAll({
      ...Object.fromEntries(tags.map((tag) => [tag, { name: tag, animation_url: `${origin.url}/${tag}` }])),
      image: { name: "image", image: `${origin.url}/1.png` },
    });
    expect(tokens).toMatchObject({
      ...Object.fromEntries(
        tags.map((tag) => [tag, { animation_key: keyOf(page(tag), "html"), animation_mime_type: "text/html" }]),
      ),
      image: { image_key: "", image_mime_type: "" },
    });
  });

  test("a page in place of a film is no animation: the film stays", async () => {
    pages["/film"] = MP4;
    await fetchAll({ token: { name: "n", animation_url: `${origin.url}/film` } });
    for (const [page, key] of [
      ["<!doctype html><html><title>a.example</title></html>", keyOf(MP4, "mp4")],
      [GIF, keyOf(GIF, "gif")],
    ] as const) {
      pages["/film"] = page;
      await sql`update offchain.media set fetched_at = now() - interval '1 hour'`;
      await sql`update offchain.token_metadata set media_due_at = now()`;
      await work();
      expect(await read(1)).toMatchObject({ animation_key: key });
      expect(await state()).toMatchObject({ code: page === GIF ? null : "not_media" });
    }
  });

  test("a page that another document has as its animation is no image, and takes no image's place", async () => {
    const page = "<!doctype html><html><body>Back soon</body></html>";
    pages["/new"] = page;
    pages["/old"] = PNG;
    await fetchAll({ old: { image: `${origin.url}/old` }, evil: { name: "n", animation_url: `${origin.url}/new` } });
    pages["/old"] = page;
    uris[3] = `data:application/json,${JSON.stringify({ name: "n", animation_url: `${origin.url}/old` })}`;
    uris[4] = `data:application/json,${JSON.stringify({ image: `${origin.url}/new` })}`;
    await sql`update offchain.media set fetched_at = now() - interval '1 hour'`;
    await mint(sql, { contract: address(1), tokens: [3, 4], block: 2 });
    await enqueueTokens(sql, indexedTo(2));
    await work();
    expect(await read(2)).toMatchObject({ animation_key: keyOf(page, "html") });
    expect(await read(4)).toEqual({ ...emptyNormalized(), image: `${origin.url}/new` });
    await sql`update offchain.token_metadata set refresh_requested_at = clock_timestamp() where token_id = 1`;
    await work();
    expect(await read(1)).toMatchObject({ image: `${origin.url}/old`, image_key: keyOf(PNG, "png") });
    // The image comes back, with another content.
    pages["/new"] = GIF;
    await sql`update offchain.token_metadata set media_due_at = now() where media_due_at is not null`;
    await workMedia();
    expect(await read(4)).toMatchObject({ image_key: keyOf(GIF, "gif") });
  });

  describe("at a refresh", () => {
    /** Refreshes tokens 1 and 2, which share an image, while the origin answers so. */
    async function refresh(answer: number | ((response: ServerResponse) => void)) {
      pages["/a"] = PNG;
      await fetchAll({ one: { image: `${origin.url}/a` }, two: { image: `${origin.url}/a` } });
      pages["/a"] = answer;
      await sql`update offchain.media set fetched_at = now() - interval '1 hour'`;
      await sql`update offchain.token_metadata set refresh_requested_at = clock_timestamp()`;
      await work();
      for (const id of [1, 2]) expect(await read(id)).toMatchObject({ image_key: keyOf(PNG, "png") });
    }
    async function expectNewContent() {
      pages["/a"] = GIF;
      await sql`update offchain.token_metadata set media_due_at = now() where media_due_at is not null`;
      await fetcher.close();
      fetcher = openFetcher();
      await workMedia();
      for (const id of [1, 2]) expect(await read(id)).toMatchObject({ image_key: keyOf(GIF, "gif") });
      expect(await state()).toEqual({ code: null, attempts: 0, seconds: null });
    }

    test("stays what it was, and is tried again with the same patience", async () => {
      await refresh(500);
      expect(await state()).toMatchObject({ code: "http_500", attempts: 1 });
      expect((await state()).seconds).toBeGreaterThan(50);
      await expectNewContent();
    });

    test("stays what it was, and is tried again after its host's pause", async () => {
      const isFirst = () => origin.requests.length === 2;
      await refresh((response) => response.writeHead(429, { "retry-after": "1000" }).end());
      expect(isFirst()).toBe(true);
      await sql`update offchain.token_metadata set media_due_at = now()`;
      await workMedia();
      expect(isFirst()).toBe(true);
      expect(await state()).toMatchObject({ attempts: 1 });
      expect((await state()).seconds).toBeGreaterThan(900);
      await expectNewContent();
    });
  });
});

test("what changed under its link a moment after it was fetched is fetched again once that is over", async () => {
  pages["/hero.json"] = `{"name":"hero","image":"${origin.url}/hero.png"}`;
  pages["/hero.png"] = PNG;
  await fetchAll({ hero: `${origin.url}/hero.json` });
  pages["/hero.png"] = GIF;
  // As after an update that its contract has logged.
  await sql`update offchain.token_metadata set turn = 1, awaiting_metadata_update = true`;
  await work();
  expect((await read(1)).image_key).toBe(keyOf(PNG, "png"));
  const [due] = await sql<{ seconds: number }[]>`
    select extract(epoch from media_due_at - now())::float8 as seconds from offchain.token_metadata
  `;
  expect(due!.seconds).toBeGreaterThan(0);
  const later = `${Math.ceil(due!.seconds)} seconds`;
  await sql`update offchain.media set fetched_at = fetched_at - ${later}::interval`;
  await sql`update offchain.token_metadata set media_due_at = media_due_at - ${later}::interval`;
  await workMedia();
  expect((await read(1)).image_key).toBe(keyOf(GIF, "gif"));
});

test("what changed so is fetched again also where the document has other media by then, and no more than once", async () => {
  pages["/hero.json"] = `{"name":"hero","image":"${origin.url}/hero.png"}`;
  pages["/hero.png"] = PNG;
  await fetchAll({ hero: `${origin.url}/hero.json` });
  pages["/hero.json"] = `{"name":"hero","image":"${origin.url}/hero.png","animation_url":"${origin.url}/film"}`;
  pages["/hero.png"] = GIF;
  pages["/film"] = GIF;
  const later = async (seconds: number) => {
    await sql`update offchain.media set fetched_at = fetched_at - ${seconds} * interval '1 second'`;
    await sql`
      update offchain.token_metadata
      set
        media_due_at = media_due_at - ${seconds} * interval '1 second',
        metadata_updated_at = metadata_updated_at - ${seconds}
    `;
  };
  await later(20);
  await sql`update offchain.token_metadata set turn = 1, awaiting_metadata_update = true`;
  await work();
  expect(await read(1)).toMatchObject({ image_key: keyOf(PNG, "png"), animation_key: keyOf(GIF, "gif") });
  await later(590);
  origin.requests.length = 0;
  await workMedia();
  expect(await read(1)).toMatchObject({ image_key: keyOf(GIF, "gif"), animation_key: keyOf(GIF, "gif") });
  expect(origin.requests).toEqual(["/hero.png"]);
  await later(700);
  await workMedia();
  expect(origin.requests).toHaveLength(1);
});

test("a film that is a picture at a refresh is the image again, where it was the image", async () => {
  const link = `${origin.url}/box`;
  const large = "x".repeat(70_000);
  const documents = {
    image: { image: link },
    both: { image: link, animation_url: link },
    drawn: { image: link, image_data: SVG },
    large: { image: link, description: large },
    itself: link,
    animation: { animation_url: link },
  };
  pages["/box"] = MP4;
  const film = { image: "", animation_url: link, animation_mime_type: "video/mp4" };
  for (const token of Object.values(await fetchAll(documents))) expect(token).toMatchObject(film);

  pages["/box"] = PNG;
  await sql`update offchain.media set fetched_at = now() - interval '1 hour'`;
  await sql`update offchain.token_metadata set refresh_requested_at = clock_timestamp()`;
  await work();
  const tokens = await Promise.all(Object.keys(documents).map(async (_, i) => read(i + 1)));
  const picture = { image: link, image_key: keyOf(PNG, "png"), image_mime_type: "image/png" };
  const none = { animation_url: "", animation_key: "", animation_mime_type: "" };
  const moving = { animation_url: link, animation_key: keyOf(PNG, "png"), animation_mime_type: "image/png" };
  expect(tokens).toEqual([
    { ...emptyNormalized(), ...picture, ...none },
    { ...emptyNormalized(), ...picture, ...moving },
    { ...emptyNormalized(), ...picture, ...none, image_data: SVG },
    { ...emptyNormalized(), ...picture, ...none, description: large },
    { ...emptyNormalized(), ...picture, ...none },
    { ...emptyNormalized(), ...moving },
  ]);
});

test("what was fetched before the database's clock was set back is fetched again at a refresh", async () => {
  pages["/hero.png"] = PNG;
  await fetchAll({ hero: { image: `${origin.url}/hero.png` } });
  pages["/hero.png"] = GIF;
  await sql`update offchain.media set fetched_at = fetched_at + interval '5 hours'`;
  await sql`update offchain.token_metadata set refresh_requested_at = clock_timestamp()`;
  await work();
  expect((await read(1)).image_key).toBe(keyOf(GIF, "gif"));
});

test("what may change under its link is fetched again at a refresh, content by its hash is not", async () => {
  const links = {
    byHash: `ipfs://${CID}/1`,
    byName: "ipns://docs.example.org/1",
    byUrl: `${origin.url}/1`,
  };
  const paths = [`/ipfs/${CID}/1`, "/ipns/docs.example.org/1", "/1"];
  for (const path of paths) pages[path] = PNG;
  const documents = Object.fromEntries(Object.entries(links).map(([name, image]) => [name, { name, image }]));
  await fetchAll(documents);
  expect(origin.requests.toSorted()).toEqual(paths.toSorted());

  for (const path of paths) pages[path] = GIF;
  const refresh = async () => {
    await sql`update offchain.token_metadata set refresh_requested_at = clock_timestamp()`;
    await work();
    return Promise.all([1, 2, 3].map(async (id) => (await read(id)).image_mime_type));
  };
  // While the media is fresh, nothing is fetched.
  expect(await refresh()).toEqual(["image/png", "image/png", "image/png"]);
  await sql`update offchain.media set fetched_at = now() - interval '1 hour'`;
  expect(await refresh()).toEqual(["image/png", "image/gif", "image/gif"]);
});

test("a new token has what is under its link now, not what another one found there long ago", async () => {
  pages["/card.png"] = PNG;
  await fetchAll({ first: { image: `${origin.url}/card.png` } });
  pages["/card.png"] = GIF;
  const mintNext = async (id: number) => {
    uris[id] = uris[1]!;
    await mint(sql, { contract: address(1), tokens: [id], block: id });
    await enqueueTokens(sql, indexedTo(id));
    await work();
    return (await read(id)).image_mime_type;
  };
  expect(await mintNext(2)).toBe("image/png");
  await sql`update offchain.media set fetched_at = now() - interval '1 hour'`;
  expect(await mintNext(3)).toBe("image/gif");
  // What isn't there any more is what it was.
  pages["/card.png"] = 404;
  await sql`update offchain.media set fetched_at = now() - interval '1 hour'`;
  expect(await mintNext(4)).toBe("image/gif");
});

test("what the store has lost comes back at a refresh, also where it can't have changed", async () => {
  pages[`/ipfs/${CID}/1`] = PNG;
  pages[`/ipfs/${CID}/film`] = MP4;
  const inline = `data:image/gif;base64,${GIF.toString("base64")}`;
  const large = `data:image/png;base64,${Buffer.concat([PNG, Buffer.alloc(60_000)]).toString("base64")}`;
  await fetchAll({
    both: { image: `ipfs://${CID}/1`, animation_url: `ipfs://${CID}/film` },
    inline: { image: inline },
    large: { image: large },
  });
  const keysOf = async () =>
    (await Promise.all([1, 2, 3].map(read)))
      .flatMap(({ image_key, animation_key }) => [image_key, animation_key])
      .filter((key) => key !== "");
  const keys = await keysOf();
  expect(keys).toHaveLength(4);
  await rm(join(directory, "media"), { recursive: true });
  expect(await contentOf(keys[0]!)).toBeUndefined();

  origin.requests.length = 0;
  await sql`update offchain.token_metadata set refresh_requested_at = clock_timestamp()`;
  await work();
  expect(await keysOf()).toEqual(keys);
  for (const key of keys) expect(await contentOf(key)).toBeDefined();
  // What is there is fetched no more.
  expect(origin.requests).toHaveLength(2);
  await sql`update offchain.token_metadata set refresh_requested_at = clock_timestamp()`;
  await work();
  expect(origin.requests).toHaveLength(2);
});

test("what the store has lost comes back at a refresh also where the document can't be had any more", async () => {
  pages["/gone.json"] = `{"name":"gone","image":"${origin.url}/gone.png","animation_url":"ipfs://${CID}/film"}`;
  pages["/gone.png"] = PNG;
  pages[`/ipfs/${CID}/film`] = MP4;
  const inline = `data:image/gif;base64,${GIF.toString("base64")}`;
  await fetchAll({ gone: `${origin.url}/gone.json`, burned: { image: inline } });
  const keys = [keyOf(PNG, "png"), keyOf(MP4, "mp4"), keyOf(GIF, "gif")];
  for (const key of keys) expect(await contentOf(key)).toBeDefined();
  await rm(join(directory, "media"), { recursive: true });

  pages["/gone.json"] = 404;
  delete uris[2];
  const refresh = async () => {
    origin.requests.length = 0;
    await sql`
      update offchain.token_metadata
      set
        refresh_requested_at = clock_timestamp(),
        awaiting_metadata_update = true
    `;
    await work();
    return origin.requests.toSorted();
  };
  expect(await refresh()).toEqual(["/gone.json", "/gone.png", `/ipfs/${CID}/film`]);
  for (const key of keys) expect(await contentOf(key)).toBeDefined();
  expect(await sql`select error_code from offchain.token_metadata order by token_id`).toEqual([
    { error_code: "http_404" },
    { error_code: "revert" },
  ]);
  // What is there is fetched no more.
  expect(await refresh()).toEqual(["/gone.json"]);
});

describe("a newer document that comes while the media of the one before is fetched", () => {
  /** Reads tokens anew while their media is being fetched, and answers the media's request only after that. */
  async function overtake(image: unknown): Promise<Normalized> {
    const answers: (() => void)[] = [];
    pages["/slow"] = (response) => void answers.push(() => response.end(PNG));
    uris[1] = `data:application/json,${JSON.stringify({ name: "old", image: `${origin.url}/slow` })}`;
    await mint(sql, { contract: address(1), tokens: [1], block: 1 });
    await enqueueTokens(sql, indexedTo(1));
    await workTokens();
    const media = workMedia();
    await expect.poll(() => answers.length).toBe(1);
    const [before] = await sql`select metadata_updated_at from offchain.token_metadata`;
    uris[1] = `data:application/json,${JSON.stringify({ name: "new", ...(image as object) })}`;
    await sql`update offchain.token_metadata set refresh_requested_at = clock_timestamp()`;
    await workTokens();
    // As if both came within one second.
    await sql`update offchain.token_metadata set metadata_updated_at = ${before!.metadata_updated_at}`;
    for (const answer of answers) answer();
    await media;
    return read(1);
  }

  test("is not overwritten", async () => {
    expect(await overtake({})).toMatchObject({ name: "new", image: "", image_key: "" });
  });

  test("has its own media fetched", async () => {
    pages["/quick"] = GIF;
    expect(await overtake({ image: `${origin.url}/quick` })).toMatchObject({
      name: "new",
      image_mime_type: "image/gif",
    });
  });
});

test.each<[string, string, Buffer, string]>([
  ["picture", "image/png", Buffer.concat([PNG, Buffer.alloc(400_000, 7)]), "image_key"],
  ["film", "video/mp4", Buffer.concat([MP4, Buffer.alloc(400_000, 7)]), "animation_key"],
])("a %s that is the token URI itself is stored whole", async (_, type, content, field) => {
  const { token } = await fetchAll({ token: ` "data:${type};base64,${content.toString("base64")}"` });
  expect(token).toMatchObject({ [field]: keyOf(content, type === "image/png" ? "png" : "mp4") });
  expect(Buffer.byteLength(JSON.stringify(token))).toBeLessThan(256 * 1024);
});

test("workers claim what is due, longest first, and none of them what another one claims", async () => {
  const image = "";
  await fetchAll({ first: { image }, second: { image }, third: { image }, later: { image } });
  const other = { contract_address: toBytes(address(2)), token_id: 1 };
  await sql`update offchain.token_metadata set ${sql(other)} where token_id = 4`;
  await sql`
    update offchain.token_metadata
    set media_due_at = now() + interval '1 second' * case
      when contract_address = ${other.contract_address} then 60
      else token_id - 9
    end
  `;
  const claim = async (by: Sql, limit: number) =>
    (await claimDueMedia(by, { chainId: CHAIN_ID, limit })).map(({ token_id }) => token_id);
  await sql.begin(async (tx) => {
    expect(await claim(tx as unknown as Sql, 1)).toEqual(["1"]);
    expect(await claim(sql, 1)).toEqual(["2"]);
  });
  expect(await claim(sql, 10)).toEqual(["3"]);
  expect(await claim(sql, 10)).toEqual([]);
  const attempts = await sql`select media_attempts from offchain.token_metadata order by media_due_at`;
  expect(attempts.map((row) => row.media_attempts)).toEqual([0, 1, 1, 1]);
});

test("large drawings of a host are all stored, those that are too large aside", async () => {
  const drawing = (i: number, size: number) =>
    `<svg xmlns="http://www.w3.org/2000/svg"><g id="a${i}"/>${"<rect/>".repeat(size / 7)}</svg>`;
  const documents: Record<string, unknown> = {};
  for (let i = 0; i < 20; i++) {
    pages[`/${i}`] = drawing(i, i % 2 === 0 ? 400_000 : 5_500_000);
    documents[i] = { image: `${origin.url}/${i}` };
  }
  await fetchAll(documents);
  const listKeys = async () => {
    // Of a host that hasn't answered yet some wait, and others come later.
    await workMedia();
    return Promise.all(Object.keys(documents).map(async (i) => (await read(Number(i) + 1)).image_key));
  };
  const keys = Object.keys(documents)
    .map(Number)
    .map((i) => (i % 2 === 0 ? keyOf(drawing(i, 400_000), "svg") : ""));
  await expect.poll(listKeys).toEqual(keys);
});

test("a drawing that is too large is given up at that size", async () => {
  let sent = 0;
  const end = Promise.withResolvers<void>();
  pages["/endless"] = (response) => {
    response.on("close", end.resolve);
    response.write('<svg xmlns="http://www.w3.org/2000/svg">');
    const send = () => {
      sent += 1_000_000;
      response.write("<rect/>".repeat(1_000_000 / 7), send);
    };
    send();
  };
  await fetchAll({ token: { image: `${origin.url}/endless` } });
  await end.promise;
  expect(sent).toBeLessThan(25_000_000);
  expect(await sql`select media_error_code as code, media_error_host as host from offchain.token_metadata`).toEqual([
    { code: "too_large", host: origin.host },
  ]);
});

test("a drawing larger than a normalized document is stored whole", async () => {
  const large = `<svg xmlns="http://www.w3.org/2000/svg">${"<rect/>".repeat(60_000)}</svg>`;
  const { token } = await fetchAll({
    token: { name: "n", image: `data:image/svg+xml;base64,${Buffer.from(large).toString("base64")}` },
  });
  expect(token).toMatchObject({ image_key: keyOf(large, "svg") });
  expect(Buffer.byteLength(JSON.stringify(token))).toBeLessThan(256 * 1024);
});
