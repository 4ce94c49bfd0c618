import { setTimeout as sleep } from "node:timers/promises";
import type { Hex } from "viem";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { toBytes } from "../bytea.ts";
import { tellTokenStory } from "../../bin/token-story-text.ts";
import { createReadableDatabase, useDatabase } from "../../test/database.ts";
import { type Origin, serveOrigin } from "../../test/origin.ts";
import { address, CHAIN_ID, createFakeCalls, type FakeContract, indexedTo, mint } from "../../test/tokens.ts";
import type { ReadCalls } from "../chain/call.ts";
import { readDueContractUris } from "../contract/contract-uri.ts";
import { enqueueContracts } from "../contract/contract-watermark.ts";
import { readDueContracts } from "../contract/contract-worker.ts";
import { createFetcher, type Fetcher } from "../fetch/fetcher.ts";
import { readMetadataStatus } from "./metadata-status.ts";
import { createDocumentReader, type DocumentReader } from "../document/source-reader.ts";
import { claimTokens } from "./token-queue.ts";
import { walkRanges } from "./token-range.ts";
import { enqueueUpdates } from "./token-update.ts";
import { enqueueTokens } from "./token-watermark.ts";
import { runTokenWorker } from "./token-worker.ts";
import { parseUri } from "../uri/uri.ts";

const { sql } = await useDatabase(createReadableDatabase, { max: 8 });
let origin: Origin;
let fetcher: Fetcher;
/** The origin's answers, by path. */
let pages: Record<string, string | number>;

beforeAll(async () => {
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
      offchain.metadata_failure, offchain.media, offchain.token_range, offchain.handled_update,
      offchain.contract_watermark
  `;
});

afterAll(async () => {
  await fetcher.close();
  await origin.close();
});

function work(contracts: Record<Hex, FakeContract>): Promise<void> {
  return workBy(createFakeCalls(contracts));
}

/** Runs a worker until its queue is empty, or until the `signal` where there is one. */
function workBy(readCalls: ReadCalls, options: Partial<Parameters<typeof runTokenWorker>[1]> = {}): Promise<void> {
  return runTokenWorker(sql, {
    network: "mainnet",
    chainId: CHAIN_ID,
    readCalls,
    readDocument: createDocumentReader({ fetcher, readCalls: new Map([[CHAIN_ID, readCalls]]) }),
    concurrency: 16,
    signal: new AbortController().signal,
    isOneShot: options.signal === undefined,
    ...options,
  });
}

/** A reader of documents wherever they are but on a chain. */
const createReader = (by = fetcher) => createDocumentReader({ fetcher: by, readCalls: new Map() });

function readContractUris(readCalls: ReadCalls, readDocument = createReader()): Promise<number> {
  return readDueContractUris(sql, { chainId: CHAIN_ID, readCalls, readDocument, signal: new AbortController().signal });
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
      raw_json::json #>> '{}' as raw,
      token_uri,
      error_code,
      attempts,
      extract(epoch from due_at - now())::float8 as due_in,
      awaiting_metadata_update as awaiting,
      turn,
      fetched_from
    from offchain.token_metadata
    where contract_address = ${toBytes(contract)}
    order by token_id
  `;
  return [...rows];
}

const inline = (name: string, fields = {}) => `data:application/json,${JSON.stringify({ name, ...fields })}`;

test("that Postgres takes no documents, as with a full disk, is no attempt at them", async () => {
  await mint(sql, { contract: address(1), tokens: [1, 2, 3], block: 1 });
  await enqueueTokens(sql, indexedTo(1));
  const calls = {
    [address(1)]: (_: string, [id]: readonly unknown[]) => (id === 3n ? undefined : `${origin.url}/${String(id)}`),
  };
  for (const path of ["/1", "/2"]) pages[path] = '{"name":"there"}';
  await sql`
    create function full_disk() returns trigger language plpgsql as $$
      begin
        raise exception 'could not extend file "base/5/16402": No space left on device' using errcode = 'disk_full';
      end
    $$
  `;
  await sql`
    create trigger full_disk
    before update of normalized on offchain.token_metadata
    for each row execute function full_disk()
  `;
  const said = vi.spyOn(console, "error").mockReturnValue();
  const leaseEnds = () => sql`update offchain.token_metadata set due_at = now() where due_at > now()`;
  for (let time = 0; time < 6; time++) {
    await work(calls);
    await leaseEnds();
  }
  said.mockRestore();
  await sql`drop function full_disk cascade`;
  pages["/2"] = 404;
  await work(calls);
  const [there, gone, reverted] = await stateOf(address(1));
  expect(there).toMatchObject({ name: "there", error_code: null, due_in: null });
  // What fails then for the first time comes after the first pause, and what reverts is asked for again.
  for (const failed of [gone!, reverted!]) {
    expect(failed.attempts).toBe(1);
    expect(failed.due_in).toBeGreaterThan(50);
    expect(failed.due_in).toBeLessThanOrEqual(60);
  }
});

test("new tokens are found, read and stored", async () => {
  pages["/1"] = '{"name":"one","attributes":[]}';
  await mint(sql, { contract: address(1), tokens: [1, 2n ** 256n - 1n], block: 5 });
  expect(await enqueueTokens(sql, indexedTo(5))).toEqual({ isDone: true });
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

test.each([
  ["how it is to be asked", 0],
  ["the call itself", 1],
])("a document on chain whose node puts off %s is due by then, and that was no attempt", async (_, answered) => {
  await mint(sql, { contract: address(2), tokens: [1], block: 5 });
  await enqueueTokens(sql, indexedTo(5));
  const uris = createFakeCalls({ [address(2)]: () => `web3://${address(7)}/document` });
  let left = answered;
  await workBy(async (calls) => {
    if (calls[0]!.to !== address(7)) return uris(calls);
    return [left-- > 0 ? { kind: "none" } : { kind: "fault", message: "slow", againSeconds: 600 }];
  });
  const [state] = await stateOf(address(2));
  expect(state).toMatchObject({ attempts: 0, error_code: null });
  expect(state!.due_in).toBeGreaterThan(590);
});

test("the id of an ERC-1155 token is tried in three forms on 4xx, and what works is remembered", async () => {
  pages["/2a.json"] = 500;
  pages["/42"] = '{"name":"decimal"}';
  pages["/43"] = '{"name":"next"}';
  await mint(sql, { contract: address(4), tokens: [42], block: 5, standard: "ERC1155" });
  await enqueueTokens(sql, indexedTo(5));
  origin.requests.length = 0;
  await work({ [address(4)]: () => `${origin.url}/{id}` });
  expect(await stateOf(address(4))).toMatchObject([{ name: "decimal", token_uri: `${origin.url}/42` }]);
  expect(origin.requests).toEqual([`/${"2a".padStart(64, "0")}`, "/42"]);
  expect(await sql`select uri_function, id_form from offchain.contract_metadata`).toEqual([
    { uri_function: "uri", id_form: "decimal" },
  ]);
  await mint(sql, { contract: address(4), tokens: [43], block: 6, standard: "ERC1155" });
  await enqueueTokens(sql, indexedTo(6));
  await work({ [address(4)]: () => `${origin.url}/{id}` });
  expect(origin.requests.at(-1)).toBe("/43");
  expect(origin.requests).toHaveLength(3);
  // If no form works, the failure of the likeliest one is told.
  await mint(sql, { contract: address(4), tokens: [44], block: 7, standard: "ERC1155" });
  await enqueueTokens(sql, indexedTo(7));
  await work({ [address(4)]: () => `${origin.url}/{id}` });
  expect(origin.requests).toHaveLength(6);
  expect((await stateOf(address(4)))[2]).toMatchObject({ token_uri: `${origin.url}/44`, error_code: "http_404" });
});

test.each([
  ["a page", "<!doctype html><title>The game</title>"],
  ["an answer without a document", '{"message":"No such token"}'],
  ["nothing", ""],
])("the id of an ERC-1155 token is tried in other forms, too, where a server has %s for one", async (_, unknown) => {
  const hex64 = "2a".padStart(64, "0");
  pages = { [`/${hex64}`]: unknown, "/42": '{"name":"decimal"}', "/2b": unknown };
  await mint(sql, { contract: address(4), tokens: [42], block: 5, standard: "ERC1155" });
  await enqueueTokens(sql, indexedTo(5));
  await work({ [address(4)]: () => `${origin.url}/{id}` });
  expect(await stateOf(address(4))).toMatchObject([{ name: "decimal", token_uri: `${origin.url}/42` }]);
});

test("the id of an ERC-1155 token is tried in other forms, too, while one of the gateways is to be asked later", async () => {
  await using busy = await serveOrigin((_, response) => {
    if (busy.requests.length === 1) response.end("x");
    else response.writeHead(429, { "retry-after": "60" }).end();
  });
  const ipfsGateways = [origin.url, busy.url];
  const gateways = createFetcher({
    concurrency: 16,
    allowHosts: [origin.host, busy.host],
    ipfsGateways,
    arweaveGateways: [],
  });
  const ask = (url: string) =>
    gateways.fetch({ kind: "http", url }, { maxBytes: 10, createSink: () => ({ write: () => {} }) });
  expect([await ask(busy.url), await ask(busy.url)]).toMatchObject([{ kind: "fetched" }, { code: "http_429" }]);
  const cid = "QmUCShocWwbF7APdavPJxvKqFbB1WHsHAnhxxnoX8UfMFR";
  pages = { [`/ipfs/${cid}/42`]: '{"name":"decimal"}' };
  await mint(sql, { contract: address(4), tokens: [42, 43], block: 5, standard: "ERC1155" });
  await enqueueTokens(sql, indexedTo(5));
  await workBy(createFakeCalls({ [address(4)]: () => `ipfs://${cid}/{id}` }), {
    readDocument: createReader(gateways),
  });
  expect(await stateOf(address(4))).toMatchObject([
    { name: "decimal", token_uri: `ipfs://${cid}/42` },
    { name: null, error_code: null, attempts: 0, due_in: expect.closeTo(60, -2) },
  ]);
  await gateways.close();
});

test("a page is an ERC-1155 token's art where no form of its id leads to a document", async () => {
  const hex64 = "2a".padStart(64, "0");
  pages = { [`/${hex64}`]: "<!doctype html><title>Art</title>", "/0x2a": "<!doctype html><title>Home</title>" };
  await mint(sql, { contract: address(4), tokens: [42], block: 5, standard: "ERC1155" });
  await enqueueTokens(sql, indexedTo(5));
  await work({ [address(4)]: () => `${origin.url}/{id}` });
  expect(await stateOf(address(4))).toMatchObject([{ token_uri: `${origin.url}/${hex64}`, error_code: null }]);
});

test("a document that is read while the index lacks its token is read again: nobody knows what {id} in it means", async () => {
  pages[`/${"2a".padStart(64, "0")}`] = '{"name":"a","image":"https://pictures.example/{id}.png"}';
  const imageOf = async () => {
    const [row] = await sql`select normalized::json ->> 'image' as image, due_at from offchain.token_metadata`;
    return row;
  };
  const contracts = { [address(4)]: () => `${origin.url}/{id}` };
  await mint(sql, { contract: address(4), tokens: [42], block: 5, standard: "ERC1155" });
  await enqueueTokens(sql, indexedTo(5));
  // As for some seconds after the indexer was started again.
  await sql`delete from onchain_mainnet.token`;
  await work(contracts);
  expect(await imageOf()).toMatchObject({ image: "https://pictures.example/{id}.png" });
  await mint(sql, { contract: address(4), tokens: [42], block: 5, standard: "ERC1155" });
  await sql`update offchain.token_metadata set due_at = now() where due_at is not null`;
  await work(contracts);
  expect(await imageOf()).toEqual({ image: `https://pictures.example/${"2a".padStart(64, "0")}.png`, due_at: null });
});

test("{id} in the document that an ERC-721 token's URI holds means nothing, in its URL it is the id", async () => {
  const document = inline("a", { animation_url: "data:text/html,<script>alert(`${id}`)</script>" });
  await mint(sql, { contract: address(4), tokens: [1, 2], block: 5 });
  await enqueueTokens(sql, indexedTo(5));
  pages[`/${"2".padStart(64, "0")}`] = '{"name":"b"}';
  await work({ [address(4)]: (_, [id]) => (id === 1n ? document : `${origin.url}/{id}`) });
  expect(await stateOf(address(4))).toMatchObject([
    { token_uri: document, raw: document.slice(document.indexOf(",") + 1) },
    { name: "b" },
  ]);
});

test("{id} in the document that an ERC-1155 token's URI holds has the standard's form, whatever its URLs had", async () => {
  pages["/1"] = '{"name":"decimal"}';
  for (const id of [1, 31]) {
    await mint(sql, { contract: address(4), tokens: [id], block: id, standard: "ERC1155" });
    await enqueueTokens(sql, indexedTo(id));
    await work({ [address(4)]: () => (id === 1 ? `${origin.url}/{id}` : inline("{id}")) });
  }
  expect(await stateOf(address(4))).toMatchObject([{ name: "decimal" }, { name: "1f".padStart(64, "0") }]);
  expect(await sql`select id_form from offchain.contract_metadata`).toEqual([{ id_form: "decimal" }]);
});

test("a URI that its ids would make megabytes of is refused", async () => {
  await mint(sql, { contract: address(4), tokens: [42], block: 5, standard: "ERC1155" });
  await enqueueTokens(sql, indexedTo(5));
  await work({ [address(4)]: () => `data:application/json,{"name":"x","image_data":"${"{id}".repeat(100_000)}"}` });
  expect(await stateOf(address(4))).toMatchObject([{ name: null, error_code: "too_large" }]);
});

test("a burned token, whose contract answers by its base alone, says nothing of the others", async () => {
  const contract: FakeContract = (name, [id]) =>
    name === "baseURI"
      ? `${origin.url}/`
      : name === "tokenURI" && id !== 1n
        ? inline(`token ${String(id)}`)
        : undefined;
  const remembered = () => sql`select uri_function from offchain.contract_metadata`;
  await mint(sql, { contract: address(11), tokens: [1], block: 5 });
  await enqueueTokens(sql, indexedTo(5));
  await work({ [address(11)]: contract });
  expect(await stateOf(address(11))).toMatchObject([{ token_uri: `${origin.url}/1`, error_code: "http_404" }]);
  expect(await remembered()).toEqual([{ uri_function: null }]);

  // Also where an older version had remembered it.
  await sql`update offchain.contract_metadata set uri_function = 'baseURI'`;
  await mint(sql, { contract: address(11), tokens: [2, 3], block: 6 });
  await enqueueTokens(sql, indexedTo(6));
  await work({ [address(11)]: contract });
  expect(await stateOf(address(11))).toMatchObject([{ name: null }, { name: "token 2" }, { name: "token 3" }]);
  expect(await remembered()).toEqual([{ uri_function: "tokenURI" }]);

  pages["/1"] = '{"name":"of the base"}';
  await sql`update offchain.token_metadata set due_at = now() where token_id = 1`;
  await work({ [address(11)]: contract });
  expect(await stateOf(address(11))).toMatchObject([{ name: "of the base" }, {}, {}]);
  expect(await remembered()).toEqual([{ uri_function: "tokenURI" }]);
});

test("a token is read by its standard's function also where another one worked for another token", async () => {
  // Of both standards, and `uri` answers whatever it is asked for.
  const contract: FakeContract = (name, [id]) =>
    name === "uri"
      ? inline(`uri ${String(id)}`)
      : name === "tokenURI" && id !== 1n
        ? inline(`tokenURI ${String(id)}`)
        : undefined;
  const read = async (block: number) => {
    await enqueueTokens(sql, indexedTo(block));
    await work({ [address(11)]: contract });
    return (await stateOf(address(11))).map(({ name }) => name);
  };
  // The first one is burned.
  await mint(sql, { contract: address(11), tokens: [1], block: 5 });
  expect(await read(5)).toEqual(["uri 1"]);
  await mint(sql, { contract: address(11), tokens: [2], block: 6 });
  expect(await read(6)).toEqual(["uri 1", "tokenURI 2"]);
  await mint(sql, { contract: address(11), tokens: [3], block: 7, standard: "ERC1155" });
  expect(await read(7)).toEqual(["uri 1", "tokenURI 2", "uri 3"]);
  await sql`update offchain.token_metadata set due_at = now()`;
  expect(await read(7)).toEqual(["uri 1", "tokenURI 2", "uri 3"]);
});

describe("a page where a token's URI points", () => {
  const parked = "<!doctype html><html><title>a.example</title><body>Buy this domain</body></html>";
  const uris: Record<string, string> = {};
  const refresh = async () => {
    await sql`update offchain.token_metadata set refresh_requested_at = clock_timestamp(), due_at = now()`;
    await work({ [address(30)]: (_, [id]) => uris[String(id)] });
  };

  beforeEach(async () => {
    for (const id of [1, 2, 3]) uris[id] = `${origin.url}/${id}`;
    pages = { "/1": '{"name":"one"}', "/2": "\n<html><canvas></canvas></html>", "/3": '{"name":"three"}' };
    await mint(sql, { contract: address(30), tokens: [1, 2, 3], block: 5 });
    await enqueueTokens(sql, indexedTo(5));
    await refresh();
    pages = { "/1": parked, "/2": parked, "/moved": parked };
    uris[3] = `${origin.url}/moved`;
    await refresh();
  });

  test("takes no document's place, until that is back", async () => {
    expect((await stateOf(address(30)))[0]).toMatchObject({
      name: "one",
      raw: '{"name":"one"}',
      error_code: "bad_json",
      attempts: 1,
    });
    const failures = await sql`select code, host, tokens::int from offchain.metadata_failure`;
    expect(failures).toEqual([{ code: "bad_json", host: origin.host, tokens: 1 }]);
    pages["/1"] = '{"name":"back"}';
    await refresh();
    expect((await stateOf(address(30)))[0]).toMatchObject({
      name: "back",
      error_code: null,
      attempts: 0,
      due_in: null,
    });
  });

  test("is looked at four times more: servers have pages for what isn't there yet, too", async () => {
    const states = [];
    for (let i = 0; i < 4; i++) {
      states.push((await stateOf(address(30)))[1]);
      await refresh();
    }
    expect(states.map((state) => state?.attempts)).toEqual([2, 3, 4, 0]);
    expect(states.map((state) => state?.due_in !== null)).toEqual([true, true, true, false]);
    expect((await stateOf(address(30)))[1]).toMatchObject({ error_code: null });
    pages["/2"] = '{"name":"two"}';
    await refresh();
    expect((await stateOf(address(30)))[1]).toMatchObject({ name: "two", attempts: 0, due_in: null });
  });

  test("counts where there was one before, and where the contract has given it another URI", async () => {
    expect((await stateOf(address(30))).slice(1)).toMatchObject([
      { raw: parked, error_code: null },
      { raw: parked, error_code: null, token_uri: `${origin.url}/moved` },
    ]);
  });
});

test("a token whose URI is empty is asked again for ever: it may be told later without an event", async () => {
  await mint(sql, { contract: address(12), tokens: [1], block: 5 });
  await enqueueTokens(sql, indexedTo(5));
  for (let attempt = 1; attempt <= 5; attempt++) {
    await work({ [address(12)]: (name) => (name === "tokenURI" ? "" : undefined) });
    const [row] = await sql`select error_code, error_message, due_at > now() as is_due from offchain.token_metadata`;
    expect(row).toEqual({ error_code: "no_uri", error_message: "tokenURI returns an empty text.", is_due: true });
    await sql`update offchain.token_metadata set due_at = now()`;
  }
});

test.each<[string, string | number | undefined, string]>([
  ["an error of the server", 500, "http_500"],
  ["nothing there any more", 404, "http_404"],
  ["an error that says it is fine", '{"message":"not found"}', "no_document"],
  ["a page", "<html><title>Attention Required!</title></html>", "bad_json"],
  ["half a document", '{"name":"ha', "bad_json"],
  ["a revert", undefined, "revert"],
])("what was good before stays, whatever a later fetch comes to: %s", async (_, page, code) => {
  const contract = address(30);
  const raw = '{"name":"good","attributes":[{"trait_type":"a","value":1}]}';
  pages["/good"] = raw;
  await mint(sql, { contract, tokens: [1], block: 5 });
  await enqueueTokens(sql, indexedTo(5));
  await work({ [contract]: () => `${origin.url}/good` });
  const good = { name: "good", raw, token_uri: `${origin.url}/good`, fetched_from: `${origin.url}/good` };
  expect(await stateOf(contract)).toMatchObject([{ ...good, error_code: null, awaiting: false }]);

  await sql`update offchain.token_metadata set refresh_requested_at = now(), awaiting_metadata_update = true`;
  pages["/good"] = page ?? raw;
  await work({ [contract]: () => (page === undefined ? undefined : `${origin.url}/good`) });
  expect(await stateOf(contract)).toMatchObject([{ ...good, error_code: code, awaiting: false }]);
  const [status] = await sql<{ fetched: number; failing: number }[]>`
    select sum(fetched)::int as fetched, sum(failing)::int as failing
    from offchain.metadata_count
  `;
  expect(status).toEqual({ fetched: 1, failing: 0 });
  // And the operator still sees the failure.
  expect(await sql`select code, tokens::int from offchain.metadata_failure`).toEqual([{ code, tokens: 1 }]);
});

test("a document that Postgres won't take stands in nobody's way", async () => {
  await mint(sql, { contract: address(5), tokens: [1, 2, 3], block: 5 });
  await enqueueTokens(sql, indexedTo(5));
  await sql`alter table offchain.token_metadata add constraint not_two check (normalized is null or normalized not like '%two%')`;
  await work({ [address(5)]: (_, [id]) => inline(id === 2n ? "two" : "fine") });
  await sql`alter table offchain.token_metadata drop constraint not_two`;
  expect(await stateOf(address(5))).toMatchObject([
    { name: "fine" },
    { name: null, error_code: "not_storable" },
    { name: "fine" },
  ]);
});

test("tokens of a host that is paused wait without an attempt, others don't", async () => {
  pages["/fine"] = '{"name":"fine"}';
  const busy = await serveOrigin((_, response) => response.writeHead(429, { "retry-after": "60" }).end());
  // A busy host says nothing about the form of the id.
  const readCalls = createFakeCalls({
    [address(6)]: () => `${busy.url}/{id}`,
    [address(7)]: () => `${origin.url}/fine`,
  });
  const other = createFetcher({
    concurrency: 4,
    allowHosts: [origin.host, busy.host],
    ipfsGateways: [],
    arweaveGateways: [],
  });
  await mint(sql, { contract: address(6), tokens: Array.from({ length: 50 }, (_, i) => i), block: 5 });
  await mint(sql, { contract: address(7), tokens: [1, 2, 3], block: 5 });
  await enqueueTokens(sql, indexedTo(5));
  const end = new AbortController();
  const running = workBy(readCalls, { readDocument: createReader(other), concurrency: 4, signal: end.signal });
  await expect.poll(async () => (await stateOf(address(7))).map(({ name }) => name)).toEqual(["fine", "fine", "fine"]);
  await expect
    .poll(async () => (await stateOf(address(6))).filter(({ turn, due_in }) => turn === null && due_in! > 10).length)
    .toBe(50);
  end.abort();
  await running;
  const states = await stateOf(address(6));
  expect(states.filter(({ error_code }) => error_code === "http_429").length).toBe(busy.requests.length);
  expect(states.filter(({ error_code, attempts }) => error_code === null && attempts === 0).length).toBe(
    50 - busy.requests.length,
  );
  await sql`insert into offchain.network (name, chain_id) values ('mainnet', ${CHAIN_ID}) on conflict do nothing`;
  const untried = states.findIndex(({ error_code }) => error_code === null);
  const story = await tellTokenStory(sql, { contractAddress: address(6), tokenId: String(untried) });
  expect(story.join("\n")).toMatch(new RegExp(`Error +${busy.host}, Not tried`));
  expect(busy.requests.length).toBeLessThanOrEqual(2);
  await Promise.all([busy.close(), other.close()]);
});

test("a worker keeps what it works on, and gives it back when it is asked to end", async () => {
  const silent = await serveOrigin(() => {});
  const readCalls = createFakeCalls({ [address(8)]: () => `${silent.url}/x` });
  const other = createFetcher({ concurrency: 4, allowHosts: [silent.host], ipfsGateways: [], arweaveGateways: [] });
  await mint(sql, { contract: address(8), tokens: [1, 2], block: 5 });
  await enqueueTokens(sql, indexedTo(5));
  const end = new AbortController();
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  const running = workBy(readCalls, { readDocument: createReader(other), concurrency: 4, signal: end.signal });
  await expect.poll(() => silent.requests.length).toBe(2);
  // Even if the host takes longer than a lease.
  await sql`update offchain.token_metadata set due_at = now() + interval '50 seconds'`;
  vi.advanceTimersByTime(40_000);
  await expect.poll(async () => (await stateOf(address(8))).map(({ due_in }) => due_in! > 100)).toEqual([true, true]);
  vi.useRealTimers();
  end.abort();
  await running;
  const states = await stateOf(address(8));
  for (const state of states) {
    expect(state).toMatchObject({ attempts: 0, error_code: null });
    expect(state.due_in).toBeLessThanOrEqual(0);
  }
  await Promise.all([silent.close(), other.close()]);
});

test("tokens whose reading failed by a fault of ours are due again, and nothing waits for them", async () => {
  await mint(sql, { contract: address(13), tokens: [1, 2], block: 5 });
  await enqueueTokens(sql, indexedTo(5));
  await workBy(() => Promise.reject(new Error("a fault")));
  expect((await stateOf(address(13))).map(({ due_in }) => due_in! > 100)).toEqual([true, true]);
  await sql`update offchain.token_metadata set due_at = now()`;
  await work({ [address(13)]: () => inline("read") });
  expect((await stateOf(address(13))).map(({ name }) => name)).toEqual(["read", "read"]);
});

test("tokens stay in the queue while fetches wait for a place, up to a limit while none does", async () => {
  await mint(sql, { contract: address(10), tokens: Array.from({ length: 1000 }, (_, i) => i), block: 5 });
  await enqueueTokens(sql, indexedTo(5));
  const end = new AbortController();
  let isBusy = true;
  let read = 0;
  const running = workBy(createFakeCalls({ [address(10)]: () => `${origin.url}/x` }), {
    readDocument: () => {
      read++;
      return new Promise(() => {});
    },
    concurrency: 64,
    isBusy: () => isBusy,
    signal: end.signal,
  });
  await expect.poll(() => read).toBe(100);
  await sleep(100);
  expect(read).toBe(100);
  isBusy = false;
  await expect.poll(() => read).toBe(500);
  await sleep(100);
  expect(read).toBe(500);
  end.abort();
  await running;
  const states = await stateOf(address(10));
  expect(states.filter(({ attempts }) => attempts === 0)).toHaveLength(1000);
});

test("the status comes from counters, and the story of a token tells all", async () => {
  await mint(sql, { contract: address(9), tokens: [1, 2, 3, 4], block: 5 });
  await enqueueTokens(sql, indexedTo(5));
  await sql`insert into offchain.network (name, chain_id) values ('mainnet', ${CHAIN_ID}) on conflict do nothing`;
  // A chain that isn't indexed any more.
  await sql`insert into offchain.metadata_count (chain_id, slot, tokens, fetched) values (${CHAIN_ID + 1}, 0, 9, 9)`;
  expect(await readMetadataStatus(sql)).toMatchObject({ tokens: 4, fetched: 0, waiting: 4, failing: 0, failures: [] });
  expect((await readMetadataStatus(sql)).oldest_due_seconds).toBeGreaterThanOrEqual(0);
  const waiting = await tellTokenStory(sql, { contractAddress: address(9), tokenId: "3" });
  expect(waiting.join("\n")).toMatch(/Next +ready, 2 tokens before it/);
  await work({ [address(9)]: (_, [id]) => (id === 1n ? inline("one") : id === 2n ? `${origin.url}/none` : undefined) });
  expect(await readMetadataStatus(sql, { chainId: CHAIN_ID })).toMatchObject({
    tokens: 4,
    fetched: 1,
    waiting: 0,
    failing: 3,
    oldest_due_seconds: null,
    failures: [
      { code: "revert", host: "", tokens: 2 },
      { code: "http_404", host: origin.host, tokens: 1 },
    ],
  });
  // The report of a worker that is gone doesn't count.
  await sql`
    insert into offchain.metadata_worker (worker_id, fetches_per_second, reported_at)
    values
      ('here', 2, now()),
      ('gone', 3, now() - interval '21 seconds')
  `;
  expect(await readMetadataStatus(sql)).toMatchObject({ workers: 1, fetches_per_second: 2 });
  const story = (await tellTokenStory(sql, { contractAddress: address(9), tokenId: "2" })).join("\n");
  expect(story).toContain(`Token 2 of ${address(9)} on chain ${CHAIN_ID}`);
  expect(story).toContain(`Token URI   ${origin.url}/none`);
  expect(story).toMatch(/Error\s+http_404/);
  expect(story).toMatch(/Next\s+due 20/);
  expect(await tellTokenStory(sql, { contractAddress: address(9), tokenId: "99" })).toEqual([]);
});

test("contracts tell of themselves: image, description, and a name where they have none on chain", async () => {
  for (const number of [21, 22, 23]) await mint(sql, { contract: address(number), tokens: [1], block: 5 });
  await enqueueTokens(sql, indexedTo(5));
  await sql`update offchain.contract_metadata set name = 'On chain' where contract_address = ${toBytes(address(22))}`;
  const document = {
    name: "In the document",
    description: "Long.",
    image: "ipfs://QmUCShocWwbF7APdavPJxvKqFbB1WHsHAnhxxnoX8UfMFR",
  };
  const uri = `data:application/json,${JSON.stringify(document)}`;
  const readCalls = createFakeCalls({
    [address(21)]: () => uri,
    [address(22)]: () => uri,
    [address(23)]: () => undefined,
  });
  expect(await readContractUris(readCalls)).toBe(3);
  expect(await readContractUris(readCalls)).toBe(0);
  const rows =
    await sql`select name, description, image, uri_error_code as code from offchain.contract_metadata order by contract_address`;
  expect(rows).toEqual([
    { name: "In the document", description: "Long.", image: document.image, code: null },
    { name: "On chain", description: "Long.", image: document.image, code: null },
    { name: "", description: "", image: null, code: "revert" },
  ]);
});

describe("a contract's document that changes", () => {
  let document: { name?: string; description?: string; image?: string; image_data?: string };
  const contract = address(24);
  const readCalls = createFakeCalls({
    [contract]: (name) => (name === "contractURI" ? `data:application/json,${JSON.stringify(document)}` : undefined),
  });
  // One that changed a moment after it was read is looked at once more a minute later, and not due until then.
  const state = async () => {
    const [row] = await sql`
      select
        name,
        description,
        uri_due_at <= now() as is_due,
        uri_attempts
      from offchain.contract_metadata
    `;
    return row;
  };
  const readNames = (name: string) => {
    const calls = createFakeCalls({ [contract]: (asked) => (asked === "name" ? name : undefined) });
    return readDueContracts(sql, { readCalls: calls, network: "mainnet", chainId: CHAIN_ID });
  };
  const read = ({ before = async () => {} }: { before?: () => Promise<unknown> } = {}) => {
    const reader = createReader();
    return readContractUris(readCalls, async (...source) => {
      await before();
      return reader(...source);
    });
  };
  /** Changes the document, and logs that like the contract. */
  const change = async (to: typeof document, block: number) => {
    document = to;
    await sql`
      insert into onchain_mainnet.metadata_update (block_number, log_index, contract_address)
      values (${block}, 0, ${toBytes(contract)})
    `;
    await enqueueUpdates(sql, indexedTo(block));
  };

  beforeEach(async () => {
    document = { name: "old", description: "old" };
    await mint(sql, { contract, tokens: [1], block: 5 });
    await enqueueTokens(sql, indexedTo(5));
    await enqueueUpdates(sql, indexedTo(5));
  });

  test("is read again where it says so while it is read", async () => {
    let isChanged = false;
    const before = async () => {
      if (!isChanged) await change({ name: "new", description: "new" }, 6);
      isChanged = true;
    };
    expect(await read({ before })).toBe(2);
    expect(await state()).toEqual({ name: "new", description: "new", is_due: false, uri_attempts: 0 });
    expect(await read()).toBe(0);
  });

  test("is not overwritten by what an older read comes to", async () => {
    await read({
      before: async () => {
        await change({ name: "new", description: "new" }, 6);
        expect(await read()).toBe(1);
      },
    });
    expect(await state()).toEqual({ name: "new", description: "new", is_due: false, uri_attempts: 0 });
  });

  test("is what the newer read comes to, also where the older one ends in between", async () => {
    const newer = Promise.withResolvers<void>();
    let reads = 0;
    const before = async () => {
      if (++reads === 1) {
        await change({ name: "new", description: "new" }, 6);
        return newer.promise;
      }
      newer.resolve();
      await vi.waitFor(async () => expect(await state()).toMatchObject({ description: "old" }));
    };
    expect(await read({ before })).toBe(2);
    expect(await state()).toEqual({ name: "new", description: "new", is_due: false, uri_attempts: 0 });
  });

  test("is stored, too, where the database's clock was set back since the last one", async () => {
    await read();
    await sql`update offchain.contract_metadata set uri_updated_at = now() + interval '5 hours'`;
    await change({ name: "new", description: "new" }, 40);
    expect(await read()).toBe(1);
    expect(await state()).toEqual({ name: "new", description: "new", is_due: false, uri_attempts: 0 });
  });

  test("into one that says nothing, a page for example, keeps what it said", async () => {
    await read();
    await change({ name: "", description: "" }, 40);
    await read();
    expect(await state()).toMatchObject({ name: "old", description: "old", is_due: false, uri_attempts: 1 });
    await change({ description: "new" }, 80);
    await read();
    expect(await state()).toMatchObject({ description: "new", uri_attempts: 0 });
  });

  test("takes its name along, where the contract has none of its own", async () => {
    await read();
    expect(await state()).toMatchObject({ name: "old" });
    await change({ name: "new" }, 6);
    await read();
    expect(await state()).toMatchObject({ name: "new" });
    await readNames("");
    await change({ description: "without" }, 7);
    await read();
    expect(await state()).toMatchObject({ name: "new", description: "without" });
    await sql`update offchain.contract_metadata set due_at = now()`;
    await readNames("by name()");
    await change({ name: "newer" }, 8);
    await read();
    expect(await state()).toMatchObject({ name: "by name()" });
  });

  test("names a contract that a reorg put in the place of one with a name of its own", async () => {
    await enqueueContracts(sql, indexedTo(5));
    await readNames("lost");
    await sql`update onchain_mainnet.token_event set transaction_hash = '\\x04'`;
    await enqueueContracts(sql, indexedTo(6));
    await readNames("");
    await read();
    expect(await state()).toMatchObject({ name: "old" });
    await sql`update offchain.contract_metadata set due_at = now()`;
    await readNames("by name()");
    await change({ name: "new" }, 8);
    await read();
    expect(await state()).toMatchObject({ name: "by name()" });
  });

  test("has a name for lists, on one line as those by name() are", async () => {
    await change({ name: " Bored\n\tCats\u0007 Club ", description: "One.\nTwo." }, 6);
    await read();
    expect(await state()).toMatchObject({ name: "Bored Cats Club", description: "One.\nTwo." });
  });

  test("has the image that is in it and no other one, and none that is too large for a list", async () => {
    const large = `data:image/png;base64,${"iVBORw0K".repeat(10_000)}`;
    const drawing = "<svg xmlns='http://www.w3.org/2000/svg'/>";
    const images: (string | null)[] = [];
    const link = "https://one.example/1.png";
    for (const [i, fields] of [
      { image: link },
      {},
      { image: large },
      { image: large, image_data: drawing },
    ].entries()) {
      await change({ name: "n", ...fields }, 6 + i);
      await read();
      const [row] = await sql<{ image: string | null }[]>`select image from offchain.contract_metadata`;
      images.push(row!.image);
    }
    expect(images).toEqual([link, null, null, drawing]);
  });
});

describe("a contract that has no document yet", () => {
  const contract = address(25);
  const bytes = toBytes(contract);
  const state = async () => {
    const [row] = await sql<{ description: string; code: string | null; attempts: number; due_in: number | null }[]>`
      select
        description,
        uri_error_code as code,
        uri_attempts as attempts,
        extract(epoch from uri_due_at - now())::float8 as due_in
      from offchain.contract_metadata
      where contract_address = ${bytes}
    `;
    return row!;
  };
  const read = (uri: string | undefined, readDocument?: DocumentReader) =>
    readContractUris(createFakeCalls({ [contract]: () => uri }), readDocument);
  const makeDue = () =>
    sql`update offchain.contract_metadata set uri_due_at = now() where uri_due_at is not null and contract_address = ${bytes}`;
  const found = `data:application/json,${JSON.stringify({ description: "found" })}`;

  beforeEach(async () => {
    await mint(sql, { contract, tokens: [1], block: 5 });
    await enqueueTokens(sql, indexedTo(5));
  });

  test("because its URI is empty is asked again and again", async () => {
    for (let attempt = 1; attempt <= 8; attempt++) {
      await read("");
      expect(await state()).toMatchObject({ code: "no_uri", attempts: attempt });
      expect((await state()).due_in).toBeGreaterThan(50);
      await makeDue();
    }
    // From here on its updates begin anew.
    await sql`
      insert into onchain_mainnet.metadata_update (block_number, log_index, contract_address)
      values (6, 0, ${bytes})
    `;
    await enqueueUpdates(sql, indexedTo(6));
    await read("");
    expect(await state()).toMatchObject({ code: "no_uri", attempts: 1 });
    await makeDue();
    await read(found);
    expect(await state()).toEqual({ description: "found", code: null, attempts: 0, due_in: null });
  });

  test("because the call reverts is asked four times more", async () => {
    for (let attempt = 1; attempt <= 4; attempt++) {
      await read(undefined);
      expect(await state()).toMatchObject({ code: "revert", attempts: attempt });
      expect((await state()).due_in).toBeGreaterThan(50);
      await makeDue();
    }
    await read(undefined);
    expect(await state()).toMatchObject({ code: "revert", attempts: 0, due_in: null });
  });

  test("because its host is left alone keeps its attempts and its error", async () => {
    await read(`${origin.url}/missing`);
    await makeDue();
    await read(`${origin.url}/missing`, async () => ({ kind: "postponed", seconds: 30, host: origin.host }));
    expect(await state()).toMatchObject({ code: "http_404", attempts: 1 });
    expect((await state()).due_in).toBeGreaterThan(20);
  });

  test("because its node has put the call off keeps its attempts and its error", async () => {
    await readContractUris(async (calls) => calls.map(() => ({ kind: "fault", message: "slow", againSeconds: 600 })));
    expect(await state()).toMatchObject({ code: null, attempts: 0 });
    expect((await state()).due_in).toBeGreaterThan(590);
    await makeDue();
    await readContractUris(async (calls) => calls.map(() => ({ kind: "fault", message: "down" })));
    expect(await state()).toMatchObject({ code: "rpc", attempts: 1 });
  });

  test("holds up no other one's", async () => {
    const others = Array.from({ length: 60 }, (_, i) => address(100 + i));
    for (const other of others) await mint(sql, { contract: other, tokens: [1], block: 6 });
    await enqueueTokens(sql, indexedTo(6));
    const slow = Promise.withResolvers<void>();
    const reader = createReader();
    const uris = Object.fromEntries(others.map((other) => [other, () => found]));
    const readCalls = createFakeCalls({ ...uris, [contract]: () => "slow://" });
    const reading = readContractUris(readCalls, async (...source) => {
      if (source[0].kind !== "data") await slow.promise;
      return reader(...source);
    });
    await expect
      .poll(async () => {
        const [row] =
          await sql`select count(*)::int as found from offchain.contract_metadata where description = 'found'`;
        return row?.found as number;
      })
      .toBe(60);
    slow.resolve();
    expect(await reading).toBe(61);
  });

  test("is read beside no more than a hundred", async () => {
    const others = Array.from({ length: 120 }, (_, i) => address(100 + i));
    for (const other of others) await mint(sql, { contract: other, tokens: [1], block: 6 });
    await enqueueTokens(sql, indexedTo(6));
    const end = Promise.withResolvers<void>();
    let read = 0;
    const readCalls = createFakeCalls(Object.fromEntries([contract, ...others].map((each) => [each, () => found])));
    const reading = readContractUris(readCalls, async () => {
      read++;
      await end.promise;
      return { kind: "postponed", seconds: 60, host: "" };
    });
    await expect.poll(() => read).toBe(100);
    await sleep(100);
    expect(read).toBe(100);
    end.resolve();
    expect(await reading).toBe(121);
  });
});

describe("after an update that the node doesn't show yet", () => {
  const contract = address(26);
  let block = 5;
  const change = async (kind: "token" | "range" | "contract") => {
    const [from, to] = { token: [1, 1], range: [0, 9], contract: [null, null] }[kind] as [number | null, number | null];
    await sql`
      insert into onchain_mainnet.metadata_update (block_number, log_index, contract_address, from_token_id, to_token_id)
      values (${++block}, 0, ${toBytes(contract)}, ${from}, ${to})
    `;
    await enqueueUpdates(sql, indexedTo(block));
    await walkRanges(sql, { chainId: CHAIN_ID });
  };

  const saysOfContract = async (description: string, readDocument?: DocumentReader) => {
    const uri = `data:application/json,${JSON.stringify({ description })}`;
    await readContractUris(createFakeCalls({ [contract]: () => uri }), readDocument);
    const [row] = await sql`
      select description, extract(epoch from uri_due_at - now()) > 55 as is_later from offchain.contract_metadata
    `;
    return row;
  };

  beforeEach(async () => {
    await mint(sql, { contract, tokens: [1], block });
    await enqueueTokens(sql, indexedTo(block));
  });

  test.each(["token", "range"] as const)("of a %s, it is looked at once more", async (kind) => {
    const says = (name: string) => work({ [contract]: () => inline(name) });
    await says("old");
    await change(kind);
    await says("old");
    const [state] = await stateOf(contract);
    expect(state).toMatchObject({ name: "old", awaiting: false, attempts: 0 });
    expect(state!.due_in).toBeGreaterThan(55);
    await sql`update offchain.token_metadata set due_at = now()`;
    await says("old");
    expect(await stateOf(contract)).toMatchObject([{ name: "old", due_in: null }]);
    await sql`update offchain.token_metadata set metadata_updated_at = metadata_updated_at - 61`;
    await change(kind);
    await says("new");
    expect(await stateOf(contract)).toMatchObject([{ name: "new", due_in: null }]);
  });

  test.each(["token", "range"] as const)("but that of a change of a %s just before, too", async (kind) => {
    const says = (name: string) => work({ [contract]: () => inline(name) });
    await says("old");
    await sql`update offchain.token_metadata set metadata_updated_at = metadata_updated_at - 61`;
    await change(kind);
    await says("old");
    await change(kind);
    await says("new");
    const [state] = await stateOf(contract);
    expect(state).toMatchObject({ name: "new", awaiting: false });
    expect(state!.due_in).toBeGreaterThan(55);
    await sql`update offchain.token_metadata set due_at = now()`;
    await says("newest");
    expect(await stateOf(contract)).toMatchObject([{ name: "newest", due_in: null }]);
  });

  test.each(["token", "range"] as const)(
    "of a %s that waits for its turn already, it is looked at once more",
    async (kind) => {
      const says = (name: string) => work({ [contract]: () => inline(name) });
      await says("old");
      await sql`update offchain.token_metadata set refresh_requested_at = now()`;
      const [before] = await sql`select turn, due_at from offchain.token_metadata`;
      await change(kind);
      expect(await sql`select turn, due_at from offchain.token_metadata`).toEqual([before]);
      await says("old");
      const [state] = await stateOf(contract);
      expect(state!.due_in).toBeGreaterThan(55);
    },
  );

  test("of the contract itself, it is looked at once more", async () => {
    expect(await saysOfContract("old")).toEqual({ description: "old", is_later: null });
    await change("contract");
    expect(await saysOfContract("old")).toEqual({ description: "old", is_later: true });
    await sql`update offchain.contract_metadata set uri_due_at = now()`;
    expect(await saysOfContract("new")).toEqual({ description: "new", is_later: null });
    await sql`update offchain.contract_metadata set uri_updated_at = uri_updated_at - interval '60 seconds'`;
    await change("contract");
    expect(await saysOfContract("newer")).toEqual({ description: "newer", is_later: null });
    await change("contract");
    expect(await saysOfContract("newest")).toEqual({ description: "newest", is_later: true });
    await sql`update offchain.contract_metadata set uri_due_at = now()`;
    expect(await saysOfContract("newer")).toEqual({ description: "newer", is_later: null });
    await change("contract");
    // Its host is busy, so it wasn't read yet.
    expect(await saysOfContract("newer", async () => ({ kind: "postponed", seconds: 60, host: "" }))).toEqual({
      description: "newer",
      is_later: true,
    });
    await sql`update offchain.contract_metadata set uri_due_at = now()`;
    expect(await saysOfContract("newer")).toEqual({ description: "newer", is_later: true });
  });

  test("of a contract whose document was never read, it is looked at once more", async () => {
    await change("contract");
    expect(await saysOfContract("old")).toEqual({ description: "old", is_later: true });
    await sql`update offchain.contract_metadata set uri_due_at = now()`;
    expect(await saysOfContract("new")).toEqual({ description: "new", is_later: null });
  });

  test.each(["before", "after"])(
    "of a contract whose name is read %s its document, the name is looked at once more",
    async (when) => {
      let label = "old";
      const readCalls = createFakeCalls({ [contract]: (name) => (name === "contractURI" ? undefined : label) });
      const read = async () => {
        if (when === "after") await readContractUris(readCalls);
        await readDueContracts(sql, { readCalls, network: "mainnet", chainId: CHAIN_ID });
        if (when === "before") await readContractUris(readCalls);
        const [row] = await sql`
        select name, extract(epoch from due_at - now()) > 55 as is_later
        from offchain.contract_metadata
      `;
        return row;
      };
      expect(await read()).toEqual({ name: "old", is_later: null });
      await change("contract");
      expect(await read()).toEqual({ name: "old", is_later: true });
      label = "new";
      await sql`update offchain.contract_metadata set due_at = now()`;
      expect(await read()).toEqual({ name: "new", is_later: null });
    },
  );
});

test("new tokens and retries that are claimed together are read a multicall at a time", async () => {
  await mint(sql, { contract: address(1), tokens: Array.from({ length: 450 }, (_, i) => i), block: 5 });
  await enqueueTokens(sql, indexedTo(5));
  await sql`update offchain.token_metadata set turn = null where token_id < 130`;
  const asked: number[] = [];
  const uriOf = createFakeCalls({ [address(1)]: (_, [id]) => inline(String(id)) });
  const readCalls: ReadCalls = (calls) => {
    asked.push(calls.length);
    return uriOf(calls);
  };
  await workBy(readCalls, { concurrency: 64 });
  expect(Math.max(...asked)).toBe(100);
  expect(asked.reduce((sum, count) => sum + count, 0)).toBe(450);
  expect((await stateOf(address(1))).filter(({ name }) => name !== null)).toHaveLength(450);
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

test("megabytes in token URIs are read and written some at a time", async () => {
  const TOKENS = 300;
  const image = `data:image/png;base64,${"iVBORw0K".repeat(60_000)}`;
  let [asked, stored, most] = [0, 0, 0];
  const readCalls: ReadCalls = async (calls) => {
    asked += calls.length;
    most = Math.max(most, asked - stored);
    return calls.map(({ data }) => {
      const text = Buffer.from(inline(String(BigInt(`0x${data.slice(-64)}`)), { image }));
      const head = Buffer.alloc(64);
      head.writeUInt32BE(32, 28);
      head.writeUInt32BE(text.length, 60);
      return { kind: "data", data: Buffer.concat([head, text, Buffer.alloc(32)]) };
    });
  };
  await mint(sql, { contract: address(1), tokens: Array.from({ length: TOKENS }, (_, i) => i), block: 1 });
  await enqueueTokens(sql, indexedTo(1));
  await workBy(readCalls, { concurrency: 64, onStored: (outcomes) => void (stored += outcomes.length) });
  const states = await stateOf(address(1));
  expect(states.map(({ name, error_code }) => [name, error_code])).toEqual(
    Array.from({ length: TOKENS }, (_, i) => [String(i), null]),
  );
  // The batch that is read, and what is left of the one before: of the first, 48 MB are more than the limit allows.
  expect(most).toBeLessThan(200);
});

test("large documents wait for what was read before them to be written", async () => {
  const contract = address(30);
  const tokens = Array.from({ length: 60 }, (_, id) => id);
  await mint(sql, { contract, tokens, block: 5 });
  await enqueueTokens(sql, indexedTo(5));
  for (const id of tokens) pages[`/${id}`] = JSON.stringify({ name: `${id}`, filler: "x".repeat(2_000_000) });
  const readCalls = createFakeCalls({ [contract]: (_, [id]) => `${origin.url}/${String(id)}` });
  const readDocument = createReader();
  // A host that hasn't answered yet gets only a few requests, so it answers one first.
  await readDocument(parseUri(`${origin.url}/0`), { chainId: CHAIN_ID });
  const isBlocked = Promise.withResolvers<void>();
  const end = Promise.withResolvers<void>();
  let read = 0;
  const working = workBy(readCalls, {
    readDocument: async (...args) => {
      await isBlocked.promise;
      const document = await readDocument(...args);
      if (document.kind === "document") read++;
      return document;
    },
  });
  await expect.poll(() => sql`select from offchain.token_metadata where turn is null`).toHaveLength(60);
  const blocking = sql.begin(async (tx) => {
    await tx`lock table offchain.token_metadata in exclusive mode`;
    isBlocked.resolve();
    await end.promise;
  });
  await expect.poll(() => read).toBeGreaterThanOrEqual(16);
  await sleep(500);
  // 32 MB that aren't written, and what was being read before the limit was reached.
  expect(read).toBeLessThan(30);
  end.resolve();
  await Promise.all([blocking, working]);
  expect((await stateOf(contract)).filter(({ name }) => name !== null)).toHaveLength(60);
});
