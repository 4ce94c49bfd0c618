import { numberToHex, toFunctionSelector } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createReadableDatabase, useDatabase } from "../../test/database.ts";
import { WAIT_TIMEOUT_MS } from "../../test/indexer.ts";
import { serveNode } from "../../test/node-server.ts";
import type { Origin } from "../../test/origin.ts";
import { address, CHAIN_ID, mint } from "../../test/tokens.ts";
import { startWorker, type WorkerProcess } from "../../test/worker.ts";

const TOKENS = 400;
const TOKEN_URI_SELECTOR = toFunctionSelector("tokenURI(uint256)");
/**
 * Art on chain: URIs of 600 kB, each with a drawing of 340 kB. The drawing is one path, because cleaning many elements
 * would take longer than all the rest.
 */
const SVG = `<svg xmlns="http://www.w3.org/2000/svg"><path d='${"M0 0h1v1z".repeat(38_000)}'/></svg>`;
const DOCUMENT = JSON.stringify({ name: "x", image: `data:image/svg+xml;base64,${toBase64(SVG)}` });
const URI = `data:application/json;base64,${toBase64(DOCUMENT)}`;
/**
 * The worker takes 450 MB, 130 of them while idle. With all claimed tokens in memory at once it would take 800 or more.
 */
const MAX_MEMORY_MB = 700;

const { database, sql } = await useDatabase(createReadableDatabase, { max: 4 });
let node: Origin;
let worker: WorkerProcess;

beforeAll(async () => {
  node = await serveUris();
  await sql`insert into offchain.network (name, chain_id, indexed_block) values ('mainnet', ${CHAIN_ID}, 0)`;
  worker = await startWorker({ databaseUrl: database.url, rpcUrl: node.url });
});

afterAll(async () => {
  await worker.stop();
  await node.close();
});

type Request = { id: number; method: string; params: [{ data: string }?] };

/**
 * A node that answers `tokenURI` and its chain id. It builds its answer only once: building half a gigabyte of answers
 * would make the node slow, and slow contracts are left alone for a while.
 */
function serveUris(): Promise<Origin> {
  const word = (value: number) => value.toString(16).padStart(64, "0");
  const uriAnswer = `0x${word(32)}${word(URI.length)}${Buffer.from(URI).toString("hex")}${"0".repeat(64)}`;
  const written = (answer: unknown) => Buffer.from(JSON.stringify(answer).slice(1));
  const uri = written({ result: uriAnswer });
  const results: Record<string, (call?: { data: string }) => Buffer | undefined> = {
    eth_chainId: () => written({ result: numberToHex(CHAIN_ID) }),
    eth_getCode: () => written({ result: "0x" }),
    eth_call: (call) => (call?.data.startsWith(TOKEN_URI_SELECTOR) ? uri : undefined),
  };
  const reverted = written({ error: { code: 3, message: "execution reverted" } });
  const respond = ({ id, method, params: [call] }: Request) => [
    Buffer.from(`{"jsonrpc":"2.0","id":${id},`),
    results[method]?.(call) ?? reverted,
  ];
  return serveNode((body: Request | Request[], response) => {
    const answers = [body].flat().map(respond);
    const parts = answers.flatMap((answer, place) => (place > 0 ? [Buffer.from(","), ...answer] : answer));
    response.end(Buffer.concat(Array.isArray(body) ? [Buffer.from("["), ...parts, Buffer.from("]")] : parts));
  });
}

function toBase64(text: string): string {
  return Buffer.from(text).toString("base64");
}

test("tokens whose URIs hold their drawings are stored with them, in bounded memory", async () => {
  await mint(sql, { contract: address(1), tokens: Array.from({ length: TOKENS }, (_, id) => id), block: 1 });
  await sql`update offchain.network set indexed_block = 1`;
  const readStates = () => sql`
    select
      normalized::json ->> 'image_mime_type' as type,
      error_message,
      count(*)::int as tokens
    from offchain.token_metadata
    where media_due_at is null
    group by 1, 2
  `;
  // On a busy machine the contract may look like a slow one, and be left alone for ten minutes.
  await expect
    .poll(readStates, { timeout: 1.5 * WAIT_TIMEOUT_MS, interval: 500 })
    .toEqual([{ type: "image/svg+xml", error_message: null, tokens: TOKENS }]);
  expect(worker.peakMemoryMb()).toBeLessThan(MAX_MEMORY_MB);
});
