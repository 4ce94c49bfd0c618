import postgres, { type Sql } from "postgres";
import type { Hex } from "viem";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createMigratedDatabase, type TestDatabase } from "../test/database.ts";
import { type Origin, serveOrigin } from "../test/origin.ts";
import { address, CHAIN_ID, createFakeCalls, type FakeContract, indexedTo, mint } from "../test/tokens.ts";
import { createFetcher, type Fetcher } from "./fetcher.ts";
import { createDocumentReader } from "./source-reader.ts";
import { claimTokens } from "./token-queue.ts";
import { enqueueTokens } from "./token-watermark.ts";
import { runTokenWorker } from "./token-worker.ts";

let database: TestDatabase;
let sql: Sql;
let origin: Origin;
let fetcher: Fetcher;
/** What the origin answers, by path. */
let pages: Record<string, string | number>;

beforeAll(async () => {
  database = await createMigratedDatabase();
  sql = postgres(database.url, { max: 8, onnotice: () => {} });
  origin = await serveOrigin((request, response) => {
    const page = pages[request.url ?? ""] ?? 404;
    if (typeof page === "number") response.writeHead(page).end();
    else response.writeHead(200, { "content-type": "application/json" }).end(page);
  });
  fetcher = createFetcher({ concurrency: 16, allowHosts: [origin.host], ipfsGateways: [], arweaveGateways: [] });
});

beforeEach(async () => {
  pages = {};
  await sql`
    truncate
      onchain_mainnet.contract, onchain_mainnet.token, onchain_mainnet.token_event, onchain_mainnet.metadata_update,
      offchain.token_metadata, offchain.contract_metadata, offchain.token_watermark, offchain.metadata_count,
      offchain.metadata_failure, offchain.media, offchain.token_range, offchain.handled_update
  `;
});

afterAll(async () => {
  await fetcher.close();
  await origin.close();
  await sql.end();
  await database.drop();
});

async function work(contracts: Record<Hex, FakeContract>): Promise<void> {
  const readCalls = createFakeCalls(contracts);
  const readDocument = createDocumentReader({ fetcher, readCalls: new Map([[CHAIN_ID, readCalls]]) });
  await runTokenWorker(sql, {
    network: "mainnet",
    chainId: CHAIN_ID,
    readCalls,
    readDocument,
    concurrency: 16,
    signal: new AbortController().signal,
    isOneShot: true,
  });
}

type State = {
  token_id: string;
  name: string | null;
  raw: string;
  token_uri: string;
  error_code: string | null;
  attempts: number;
  due_in: number | null;
  awaiting: boolean;
  turn: string | null;
  fetched_from: string | null;
};

async function stateOf(contract: Hex): Promise<State[]> {
  const rows = await sql<State[]>`
    select
      token_id,
      normalized::json ->> 'name' as name,
      raw,
      token_uri,
      error_code,
      attempts,
      extract(epoch from due_at - now())::float8 as due_in,
      awaiting_metadata_update as awaiting,
      turn,
      fetched_from
    from offchain.token_metadata
    where contract_address = ${Buffer.from(contract.slice(2), "hex")}
    order by token_id
  `;
  return [...rows];
}

const inline = (name: string) => `data:application/json,${JSON.stringify({ name })}`;

test("new tokens are found, read and stored", async () => {
  pages["/1"] = '{"name":"one","attributes":[]}';
  await mint(sql, { contract: address(1), tokens: [1, 2n ** 256n - 1n], block: 5 });
  expect(await enqueueTokens(sql, indexedTo(5))).toEqual({ count: 1, isDone: true });
  await work({ [address(1)]: (_, [id]) => (id === 1n ? `${origin.url}/1` : inline("last")) });
  expect(await stateOf(address(1))).toMatchObject([
    {
      name: "one",
      raw: pages["/1"],
      token_uri: `${origin.url}/1`,
      error_code: null,
      due_in: null,
      awaiting: false,
      turn: null,
      fetched_from: `${origin.url}/1`,
    },
    { name: "last", raw: '{"name":"last"}', fetched_from: "data", attempts: 0 },
  ]);
  const [count] =
    await sql`select sum(tokens)::int as tokens, sum(fetched)::int as fetched, sum(failing)::int as failing from offchain.metadata_count`;
  expect(count).toEqual({ tokens: 2, fetched: 2, failing: 0 });
});

test("a failure is retried after 1 min, 10 min, 1 h, 1 day, then ever later up to a week", async () => {
  await mint(sql, { contract: address(2), tokens: [1], block: 5 });
  await enqueueTokens(sql, indexedTo(5));
  const pauses: number[] = [];
  for (let attempt = 1; attempt <= 9; attempt++) {
    await work({ [address(2)]: () => `${origin.url}/missing` });
    const [state] = await stateOf(address(2));
    expect(state).toMatchObject({
      error_code: "http_404",
      attempts: attempt,
      awaiting: false,
      token_uri: `${origin.url}/missing`,
    });
    pauses.push(state!.due_in!);
    await sql`update offchain.token_metadata set due_at = now()`;
  }
  const expected = [60, 600, 3600, 86_400, 172_800, 345_600, 604_800, 604_800, 604_800];
  pauses.forEach((pause, i) => {
    expect(pause).toBeGreaterThan(expected[i]! * 0.89);
    expect(pause).toBeLessThanOrEqual(expected[i]!);
  });
  const failures = await sql`select code, host, tokens::int from offchain.metadata_failure`;
  expect(failures).toEqual([{ code: "http_404", host: origin.host, tokens: 1 }]);
  pages["/missing"] = '{"name":"found"}';
  await work({ [address(2)]: () => `${origin.url}/missing` });
  expect(await stateOf(address(2))).toMatchObject([{ name: "found", error_code: null, attempts: 0, due_in: null }]);
  expect(await sql`select from offchain.metadata_failure`).toHaveLength(0);
});

test("many workers on one queue do each token once", async () => {
  const ids = Array.from({ length: 2000 }, (_, i) => i);
  await mint(sql, { contract: address(3), tokens: ids, block: 5 });
  await enqueueTokens(sql, indexedTo(5));
  const claimed = new Set<string>();
  let count = 0;
  const claimAll = async () => {
    for (;;) {
      const tokens = await claimTokens(sql, { network: "mainnet", chainId: CHAIN_ID, ready: 50, due: 10 });
      if (tokens.length === 0) return;
      count += tokens.length;
      for (const { token_id } of tokens) claimed.add(token_id);
    }
  };
  await Promise.all(Array.from({ length: 6 }, claimAll));
  expect([count, claimed.size]).toEqual([2000, 2000]);
});
