import { execFile } from "node:child_process";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { FROM_BUNDLE } from "../indexer/child-process.ts";
import { claimDueMedia } from "../offchain/media/media-queue.ts";
import { enqueueTokens } from "../offchain/token/token-watermark.ts";
import { walkRanges } from "../offchain/token/token-range.ts";
import { createReadableDatabase, useDatabase } from "../test/database.ts";
import { WAIT_TIMEOUT_MS } from "../test/indexer.ts";
import { serveRpc } from "../test/rpc-server.ts";
import { address, CHAIN_ID, indexedTo, mint } from "../test/tokens.ts";
import { startWorker } from "../test/worker.ts";

const CONTRACT = address(1);
const LAST = 2n ** 256n - 1n;

const { database, sql } = await useDatabase(createReadableDatabase, { max: 2 });
let rpc: Awaited<ReturnType<typeof serveRpc>>;

beforeAll(async () => {
  rpc = await serveRpc({
    [CONTRACT]: (name, [id]) =>
      name !== "tokenURI" || id === 2n ? undefined : `data:application/json,{"name":"Token ${String(id)}"}`,
  });
  await sql`insert into offchain.network (name, chain_id, indexed_block) values ('mainnet', ${CHAIN_ID}, 1)`;
  await mint(sql, { contract: CONTRACT, tokens: [1, 2, LAST], block: 1 });
  await enqueueTokens(sql, indexedTo(1));
  const worker = await startWorker({ databaseUrl: database.url, rpcUrl: rpc.url });
  try {
    await vi.waitUntil(async () => (await countTried()) === 3, { timeout: WAIT_TIMEOUT_MS });
  } finally {
    await worker.stop();
  }
});

afterAll(async () => {
  await rpc.close();
});

async function countTried(): Promise<number> {
  const rows = await sql`
    select from offchain.token_metadata
    where normalized is not null or error_code is not null
  `;
  return rows.length;
}

/** Tokens that somebody asks for, the first in turn first. */
async function listReady(): Promise<string[]> {
  const rows = await sql<{ token_id: string }[]>`
    select token_id
    from offchain.token_metadata
    where turn is not null
    order by turn, token_id
  `;
  return rows.map(({ token_id }) => token_id);
}

/** `npm run metadata -- ARGS`. */
async function run(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const env = { ...process.env, DATABASE_URL: database.url, MAINNET_RPC_URL: rpc.url };
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [...FROM_BUNDLE, "bin/metadata.ts", ...args],
      { env },
      (_, stdout, stderr) => resolve({ code: child.exitCode ?? -1, stdout, stderr }),
    );
  });
}

test("explain tells a token's whole story", async () => {
  const { code, stdout, stderr } = await run("explain", CONTRACT.toUpperCase().replace("0X", "0x"), "1");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const story = stdout.replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, "TIME");
  expect(story).toMatchInlineSnapshot(`
    "Token 1 of 0x0000000000000000000000000000000000000001 on chain 31337
      Contract    asked by tokenURI(), not read: silent, due TIME
      Token URI   data:application/json,{"name":"Token 1"}
      Document    18 characters from data, TIME
      Name        Token 1
      Attributes  0
      Last try    TIME
      Next        nothing to do until something asks for it
    "
  `);
});

test("explain tells why a token has nothing, and takes its id in hex", async () => {
  const { code, stdout } = await run("explain", CONTRACT, "0x02");
  expect(code).toBe(0);
  expect(stdout).toMatch(/Error +revert, .+ reverts/);
  expect(stdout).toMatch(/Next +due/);
  expect((await run("explain", CONTRACT, `0x${"f".repeat(64)}`)).stdout).toContain(`Name        Token ${LAST}`);
});

test("explain tells why a collection has no name and no document of its own, where it names one", async () => {
  const fail = (error: string | null, uriError: string) => sql`
    update offchain.contract_metadata
    set
      error_code = ${error},
      due_at = ${error && "2030-01-02T03:04:05Z"}::timestamptz,
      uri_error_code = ${uriError},
      uri_due_at = '2030-01-02T03:05:00Z'
  `;
  await fail("silent", "http_404");
  expect((await run("explain", CONTRACT, "1")).stdout).toContain(`
  Contract    asked by tokenURI(), not read: silent, due 2030-01-02T03:04:05Z
  Collection  its own document failed: http_404, due 2030-01-02T03:05:00Z
`);
  await fail(null, "revert");
  expect((await run("explain", CONTRACT, "1")).stdout).not.toMatch(/Collection|not read/);
});

test("explain gives the terminal no orders, whoever wrote what it tells", async () => {
  const order = "\u001b[2J\u009b31m\u202e\u2028";
  await sql`update offchain.contract_metadata set name = ${`Lamp ${order}`}`;
  await sql`
    update offchain.token_metadata
    set error_message = ${`Gone ${order}`}, error_host = ${order}
    where token_id = 2
  `;
  const { stdout } = await run("explain", CONTRACT, "2");
  expect(stdout).toContain("Lamp  [2J 31m");
  expect(stdout).toContain("Gone  [2J 31m");
  expect(stdout).not.toMatch(/[^\P{C}\n]|[\p{Zl}\p{Zp}]/u);
});

test("explain says of media that is being fetched that it is, and of no error", async () => {
  const image = "https://example.com/1.png";
  const normalized = JSON.stringify({ image, image_key: "", animation_url: "", attributes: [] });
  await sql`update offchain.token_metadata set normalized = ${normalized}, media_due_at = now() where token_id = 1`;
  await claimDueMedia(sql, { chainId: CHAIN_ID, limit: 1 });
  const { stdout } = await run("explain", CONTRACT, "1");
  expect(stdout).toMatch(/Next media +being fetched, due again \S+ if its worker ends before\n/);
  expect(stdout).not.toContain("Media error");
  await sql`update offchain.token_metadata set media_error_code = 'http_500', media_error_host = 'example.com:443' where token_id = 1`;
  expect((await run("explain", CONTRACT, "1")).stdout).toMatch(
    /Media error +http_500, example.com:443, 1 without success\n  Next +\S.*\n  Next media +due \S+\n/,
  );
});

test("refresh queues a collection, its own document too, and refresh of one id that token alone", async () => {
  await sql`update offchain.token_metadata set turn = null, due_at = null`;
  await sql`update offchain.contract_metadata set uri_due_at = null, due_at = null`;
  const one = await run("refresh", CONTRACT, "0x1");
  expect(one).toEqual({ code: 0, stderr: "", stdout: `mainnet: token 1 of ${CONTRACT} queued.\n` });
  await walkRanges(sql, { chainId: CHAIN_ID });
  expect(await listReady()).toEqual(["1"]);

  const all = await run("refresh", CONTRACT);
  expect(all).toEqual({ code: 0, stderr: "", stdout: `mainnet: all tokens of ${CONTRACT} queued.\n` });
  while (!(await walkRanges(sql, { chainId: CHAIN_ID })).isDone);
  expect((await listReady()).toSorted()).toEqual(["1", String(LAST), "2"]);
  const [contract] = await sql<{ is_due: boolean }[]>`
    select uri_due_at <= now() and due_at <= now() as is_due
    from offchain.contract_metadata
  `;
  expect(contract).toEqual({ is_due: true });
});

test("retry makes due what failed and was put off, but nothing that is under way or done", async () => {
  await sql`update offchain.token_metadata set turn = null, due_at = null, media_due_at = null`;
  await sql`
    update offchain.token_metadata
    set due_at = now() + interval '5 days', media_due_at = now() + interval '6 minutes', attempts = 7
    where token_id = 1
  `;
  // A claim.
  await sql`update offchain.token_metadata set due_at = now() + interval '110 seconds' where token_id = 2`;
  await sql`update offchain.contract_metadata set uri_due_at = now() + interval '1 day', due_at = null`;

  expect(await run("retry")).toEqual({
    code: 0,
    stderr: "",
    stdout:
      "mainnet: 1 documents, media of 1 tokens and 1 readings of contracts are due now. What was due within 5 minutes stays so.\n",
  });
  const tokens = await sql`
    select
      token_id,
      attempts,
      due_at <= now() as is_due,
      media_due_at <= now() as is_media_due
    from offchain.token_metadata
    where token_id < 10
    order by token_id
  `;
  expect([...tokens]).toEqual([
    { token_id: "1", attempts: 7, is_due: true, is_media_due: true },
    { token_id: "2", attempts: expect.any(Number), is_due: false, is_media_due: null },
  ]);
  const [contract] = await sql`select due_at, uri_due_at <= now() as is_due from offchain.contract_metadata`;
  expect(contract).toEqual({ due_at: null, is_due: true });
  expect((await run("retry")).stdout).toContain("mainnet: 0 documents, media of 0 tokens and 0 readings");
});

test("a token that isn't indexed any more says so, and isn't queued", async () => {
  await sql`insert into offchain.dropped_token (chain_id, contract_address, token_id) select chain_id, contract_address, 1 from offchain.contract_metadata`;
  await sql`update offchain.token_metadata set turn = null, due_at = null where token_id = 1`;
  await sql`update offchain.contract_metadata set is_dropped = true`;
  expect((await run("explain", CONTRACT, "1")).stdout).toMatch(/Next +nothing: it isn't indexed any more\n/);
  expect((await run("refresh", CONTRACT, "1")).stderr).toBe(`Token 1 of ${CONTRACT} is unknown.\n`);
  expect((await run("refresh", CONTRACT)).stderr).toBe(`Contract ${CONTRACT} is unknown.\n`);
  await sql`delete from offchain.dropped_token`;
  await sql`update offchain.contract_metadata set is_dropped = false`;
});

test.each([
  [["explain", CONTRACT, "99"], `Token 99 of ${CONTRACT} is unknown.`],
  [["refresh", address(9)], `Contract ${address(9)} is unknown.`],
  [["refresh", CONTRACT, "99"], `Token 99 of ${CONTRACT} is unknown.`],
  [["explain", "0x12", "1"], 'Address "0x12" is invalid. Expected 0x and 40 hex digits.'],
  [
    ["explain", CONTRACT, "-1"],
    'Token id "-1" is invalid. Expected decimal, or 0x and up to 64 hex digits, at most 2^256-1.',
  ],
  [
    ["refresh", CONTRACT, "9".repeat(78)],
    `Token id "${"9".repeat(78)}" is too large. Expected decimal, or 0x and up to 64 hex digits, at most 2^256-1.`,
  ],
  [["refresh"], "Address is missing. Expected 0x and 40 hex digits."],
  [["explain", CONTRACT], "Expected: npm run metadata -- explain CONTRACT ID | refresh CONTRACT [ID] | retry"],
  [["retry", CONTRACT], "Expected: npm run metadata -- explain CONTRACT ID | refresh CONTRACT [ID] | retry"],
  [["forget", CONTRACT], "Expected: npm run metadata -- explain CONTRACT ID | refresh CONTRACT [ID] | retry"],
])("%j ends with code 1 and one line", async (args, line) => {
  expect(await run(...args)).toEqual({ code: 1, stdout: "", stderr: `${line}\n` });
});
