import { createHash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { toBytes } from "../bytea.ts";
import { createReadableDatabase, useDatabase } from "../../test/database.ts";
import { WAIT_TIMEOUT_MS } from "../../test/indexer.ts";
import { type Origin, serveOrigin } from "../../test/origin.ts";
import { isRunning } from "../../test/process.ts";
import { serveRpc } from "../../test/rpc-server.ts";
import { address, CHAIN_ID, mint } from "../../test/tokens.ts";
import { startWorker, type WorkerProcess } from "../../test/worker.ts";

const MAX_MEMORY_MB = 512;
const GOOD = 400;
const EACH = 40;

const DEEP = `{"name":${"[".repeat(100_000)}`;
const HUGE = Buffer.from(`{"name":"${"x".repeat(40_000_000)}"}`);
const BOMB = gzipSync(Buffer.alloc(200_000_000, " "), { level: 9 });
const BROTLI_BOMB = brotliCompressSync(Buffer.alloc(50_000_000, " "));

/**
 * A drawing of 290 kB which its entities expand to 300 MB. A quick reader would take its first entity for the end of
 * the list.
 */
const ENTITIES = [
  '<!DOCTYPE svg [<!ENTITY z "]><svg ">',
  ...Array.from({ length: 50 }, (_, i) => `<!ENTITY e${i} '${'"'.repeat(1000)}'>`),
  ']><svg xmlns="http://www.w3.org/2000/svg"><text>',
  ...Array.from({ length: 50 }, (_, i) => `&e${i};`.repeat(1000)),
  "</text></svg>",
].join("");
/** A host name that is too long, also for a database index. */
const LONG_HOST = Array.from({ length: 100 }, (_, i) => createHash("sha256").update(`${i}`).digest("hex")).join(".");
const KEEP = 'HTTP/1.1 200 OK\r\nkeep-alive: timeout=86400\r\ncontent-length: 12\r\n\r\n{"name":"x"}';
const kept = new Set<Socket>();
/** Requests for good tokens before the first dripping answer ended. */
let goodWhenADripEnded: number | undefined;

/** What each bad origin does with a request. `canary`: a private address that must not be reached. */
const BEHAVIOURS: Record<string, (request: IncomingMessage, response: ServerResponse, canary: string) => void> = {
  "drips a byte a second": (_, response) => {
    response.writeHead(200);
    const timer = setInterval(() => response.write(" "), 1000);
    response.on("close", () => {
      clearInterval(timer);
      goodWhenADripEnded ??= good.requests.length;
    });
  },
  "never answers": () => {},
  "never ends": (_, response) => {
    const more = () => response.destroyed || response.write(Buffer.alloc(65_536, " "), () => setImmediate(more));
    more();
  },
  "lies about its length": (request) => request.socket.end("HTTP/1.1 200 OK\r\ncontent-length: 5000\r\n\r\n{}"),
  "sends a gzip bomb": (_, response) => response.writeHead(200, { "content-encoding": "gzip" }).end(BOMB),
  "sends a brotli bomb": (_, response) => response.writeHead(200, { "content-encoding": "br" }).end(BROTLI_BOMB),
  "redirects in circles": (_, response) => response.writeHead(302, { location: "/again" }).end(),
  "redirects to a private address": (_, response, canary) => response.writeHead(302, { location: canary }).end(),
  resets: (request) => request.socket.resetAndDestroy(),
  "answers 429": (_, response) => response.writeHead(429, { "retry-after": "3600" }).end(),
  "sends 40 MB of JSON": (_, response) => response.writeHead(200).end(HUGE),
  "nests 100,000 levels": (_, response) => response.writeHead(200).end(DEEP),
  "points its image at a private address": (_, response, canary) =>
    response.writeHead(200).end(JSON.stringify({ name: "x", image: canary })),
  "draws with entities that multiply": (_, response) =>
    response.writeHead(200).end(JSON.stringify({ name: "x", image_data: ENTITIES })),
  "redirects to a host of 6,000 characters": (_, response) =>
    response.writeHead(302, { location: `http://${LONG_HOST}/` }).end(),
  "wants its connections kept for a day": ({ socket }) => {
    kept.add(socket);
    socket.write(KEEP);
  },
  "answers 200 and an error": (_, response) => response.writeHead(200).end('{"message":"not found"}'),
};

const NAMES = Object.keys(BEHAVIOURS);

const { database, sql } = await useDatabase(createReadableDatabase, { max: 4 });
let good: Origin;
let canary: Origin;
let rpc: Awaited<ReturnType<typeof serveRpc>>;
const bad: Origin[] = [];
let worker: WorkerProcess;

beforeAll(async () => {
  canary = await serveOrigin((_, response) => response.end('{"name":"reached"}'));
  good = await serveOrigin((request, response) =>
    setTimeout(() => response.end(JSON.stringify({ name: `good ${request.url}` })), 5),
  );
  for (const behave of Object.values(BEHAVIOURS))
    bad.push(await serveOrigin((request, response) => behave(request, response, `${canary.url}/canary`)));
  // Only token URIs: a contract document would take the single answer of the host that then answers 429.
  const tokensAt =
    (origin: Origin) =>
    (name: string, [id]: readonly unknown[]) =>
      name === "tokenURI" ? `${origin.url}/${String(id)}` : undefined;
  rpc = await serveRpc({
    [address(1)]: tokensAt(good),
    [address(2)]: tokensAt(good),
    [address(3)]: () => `${canary.url}/direct`,
    [address(4)]: () => canary.url.replace("127.0.0.1", "2130706433"),
    ...Object.fromEntries(bad.map((origin, i) => [address(100 + i), tokensAt(origin)])),
  });
  await sql`insert into offchain.network (name, chain_id, indexed_block) values ('mainnet', ${CHAIN_ID}, 0)`;
  worker = await startWorker({
    databaseUrl: database.url,
    rpcUrl: rpc.url,
    allowHosts: [good, ...bad].map(({ host }) => host),
  });
});

afterAll(async () => {
  await worker.stop();
  await rpc.close();
  await Promise.all([good, canary, ...bad].map((origin) => origin.close()));
});

/** Seconds from indexing a block until the last good token of a contract is read. */
async function timeGood(contract: number, block: number): Promise<number> {
  await mint(sql, { contract: address(contract), tokens: Array.from({ length: GOOD }, (_, i) => i), block });
  const start = performance.now();
  await sql`update offchain.network set indexed_block = ${block}`;
  for (;;) {
    const [row] = await sql<{ count: number }[]>`
      select count(*)::int as count
      from offchain.token_metadata
      where contract_address = ${bytesOf(contract)} and normalized is not null
    `;
    if (row!.count === GOOD) return (performance.now() - start) / 1000;
    await sleep(50);
  }
}

/** The failures of each contract's tokens that aren't due for half a minute or more. */
async function readCodes(): Promise<Record<string, string[]>> {
  const rows = await sql<{ contract: number; codes: string[] }[]>`
    select
      get_byte(contract_address, 19) as contract,
      array_agg(distinct error_code order by error_code) as codes
    from offchain.token_metadata
    where
      error_code is not null
      and due_at - attempted_at > interval '30 seconds'
    group by contract_address
  `;
  return Object.fromEntries(
    rows.map(({ contract, codes }) => [contract >= 100 ? NAMES[contract - 100] : `contract ${contract}`, codes]),
  );
}

async function readMediaCodes(): Promise<string[]> {
  const rows = await sql<{ code: string }[]>`
    select distinct media_error_code as code
    from offchain.token_metadata
    where media_error_code is not null
  `;
  return rows.map(({ code }) => code);
}

/** The tokens of the host that asked for an hour. Tried or not, they name the host and wait that long. */
async function readWaitOf429() {
  const [row] = await sql<{ tokens: number; isLong: boolean }[]>`
    select
      count(*)::int as tokens,
      bool_and(due_at > now() + interval '30 minutes') as "isLong"
    from offchain.token_metadata
    where
      contract_address = ${bytesOf(100 + NAMES.indexOf("answers 429"))}
      and error_host = ${bad[NAMES.indexOf("answers 429")]!.host}
  `;
  return { ...row };
}

const bytesOf = (contract: number) => toBytes(address(contract));

test("bad origins neither reach private addresses, nor fill the memory, nor hold up good tokens", async () => {
  const usual = await timeGood(1, 1);
  for (const i of bad.keys())
    await mint(sql, { contract: address(100 + i), tokens: Array.from({ length: EACH }, (_, id) => id), block: 2 });
  await mint(sql, { contract: address(3), tokens: [1], block: 2 });
  await mint(sql, { contract: address(4), tokens: [1], block: 2 });
  await sql`update offchain.network set indexed_block = 2`;
  const beside = await timeGood(2, 3);
  const { length: goodRequests } = good.requests;
  // Good tokens are fetched while the first dripping answer goes on. On a busy machine it may end before the last of them.
  expect(goodWhenADripEnded ?? goodRequests).toBeGreaterThan(GOOD + GOOD / 4);

  // Each bad origin was tried, its failure is named, and it is left alone for a while.
  await expect.poll(readCodes, { timeout: WAIT_TIMEOUT_MS, interval: 500 }).toEqual({
    "contract 3": ["private_address"],
    "contract 4": ["private_address"],
    "drips a byte a second": ["timeout"],
    "never answers": ["timeout"],
    "never ends": ["too_large"],
    "lies about its length": ["reset"],
    "sends a gzip bomb": ["too_large"],
    "sends a brotli bomb": ["too_large"],
    "redirects in circles": ["too_many_redirects"],
    "redirects to a private address": ["private_address"],
    resets: ["reset"],
    "answers 429": ["http_429"],
    "sends 40 MB of JSON": ["too_large"],
    "nests 100,000 levels": ["bad_json"],
    "redirects to a host of 6,000 characters": ["bad_uri"],
    "answers 200 and an error": ["no_document"],
  });
  await expect.poll(readMediaCodes, { timeout: WAIT_TIMEOUT_MS, interval: 500 }).toEqual(["private_address"]);
  await expect.poll(readWaitOf429, { timeout: WAIT_TIMEOUT_MS, interval: 500 }).toEqual({ tokens: EACH, isLong: true });
  expect(bad[NAMES.indexOf("answers 429")]!.requests.length).toBeLessThanOrEqual(2);
  await expect.poll(() => [...kept].filter(({ destroyed }) => !destroyed), { timeout: WAIT_TIMEOUT_MS }).toEqual([]);
  expect(kept.size).toBeGreaterThan(0);
  expect(canary.requests).toEqual([]);
  expect(isRunning(worker.pid)).toBe(true);
  expect(worker.peakMemoryMb()).toBeLessThan(MAX_MEMORY_MB);
  console.log(
    `good tokens ${usual.toFixed(2)} s alone, ${beside.toFixed(2)} s beside; peak memory ${Math.round(worker.peakMemoryMb())} MB`,
  );
});
