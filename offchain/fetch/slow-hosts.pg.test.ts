import type { IncomingMessage, ServerResponse } from "node:http";
import postgres, { type Sql } from "postgres";
import { beforeEach, expect, test } from "vitest";
import { createMigratedDatabase, type TestDatabase } from "../../test/database.ts";
import { WAIT_TIMEOUT_MS } from "../../test/indexer.ts";
import { type Origin, serveOrigin } from "../../test/origin.ts";
import { serveRpc } from "../../test/rpc-server.ts";
import { address, CHAIN_ID, type FakeContract, mint } from "../../test/tokens.ts";
import { startWorker, type WorkerProcess } from "../../test/worker.ts";

/** How long an honest token may take beside slow hosts, in seconds: it took up to 13 here, and minutes in a queue. */
const MAX_SECONDS = 30;
/** How long a host takes to answer that is slow, but honest. */
const SLOW_MS = 5000;
/** The contract whose hosts are honest. Those of slow hosts follow from 100 on. */
const HONEST = 1;

const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==",
  "base64",
);

type Answer = (request: IncomingMessage, response: ServerResponse) => void;
const SILENCE: Answer = () => {};
const DRIP: Answer = (_, response) => {
  response.writeHead(200).write(PNG.subarray(0, 8));
  const timer = setInterval(() => response.write("x"), 5000);
  response.on("close", () => clearInterval(timer));
};
/** Quick until it is known as quick. */
const createSleeper = (): Answer => {
  let answers = 0;
  return (_, response) => void (answers++ < 3 && response.end('{"name":"x"}'));
};
const honest: Answer = ({ url = "" }, response) => {
  const answer = () => response.end(url.startsWith("/png") ? PNG : '{"name":"x"}');
  if (url.endsWith("/slow")) setTimeout(answer, SLOW_MS);
  else answer();
};

let database: TestDatabase;
let sql: Sql;
let rpc: Awaited<ReturnType<typeof serveRpc>>;
let worker: WorkerProcess;
let block: number;
/** The token URIs of each contract. */
let uris: Record<string, string[]>;
let origins: Origin[];

beforeEach(async () => {
  database = await createMigratedDatabase();
  sql = postgres(database.url, { max: 4, onnotice: () => {} });
  await sql`insert into offchain.network (name, chain_id, indexed_block) values ('mainnet', ${CHAIN_ID}, 0)`;
  block = 0;
  uris = {};
  origins = [];
  const contracts = [HONEST, ...Array.from({ length: 40 }, (_, i) => 100 + i)].map((number) => address(number));
  const read =
    (contract: string): FakeContract =>
    (name, [id]) =>
      name === "tokenURI" ? uris[contract]?.[Number(id)] : undefined;
  rpc = await serveRpc(Object.fromEntries(contracts.map((contract) => [contract, read(contract)])));
  return async () => {
    await worker.stop();
    rpc.close();
    await Promise.all(origins.map((origin) => origin.close()));
    await sql.end();
    await database.drop();
  };
});

async function serve(count: number, createAnswer: () => Answer): Promise<Origin[]> {
  const served = await Promise.all(Array.from({ length: count }, () => serveOrigin(createAnswer())));
  origins.push(...served);
  return served;
}

const start = async () => {
  const allowHosts = origins.map(({ host }) => host);
  worker = await startWorker({ databaseUrl: database.url, rpcUrl: rpc.url, allowHosts });
};

/** Mints a token for each URI, in as many contracts. */
async function mintAll(tokens: string[], contracts: number[]): Promise<void> {
  const each = Math.ceil(tokens.length / contracts.length);
  block++;
  for (const [i, contract] of contracts.entries()) {
    const own = tokens.slice(i * each, (i + 1) * each);
    uris[address(contract)] = own;
    await mint(sql, { contract: address(contract), tokens: own.map((_, id) => id), block });
  }
  await sql`update offchain.network set indexed_block = ${block}`;
}

const withImage = (image: string) => `data:application/json,${JSON.stringify({ name: "x", image })}`;
const attackers = (count: number) => Array.from({ length: count }, (_, i) => 100 + i);
const asked = (hosts: Origin[]) => hosts.reduce((sum, { requests }) => sum + requests.length, 0);

/** The honest tokens that are complete, with their documents and, where `media`, with their pictures. */
async function listDone(kind: "documents" | "media"): Promise<number[]> {
  const rows = await sql<{ id: number }[]>`
    select token_id::int as id
    from offchain.token_metadata
    where
      contract_address = ${Buffer.from(address(HONEST).slice(2), "hex")}
      and normalized is not null
      and (${kind === "documents"} or normalized::json ->> 'image_key' <> '')
    order by token_id
  `;
  return rows.map(({ id }) => id);
}

/** Seconds until a token of an honest host is complete that is minted while slow hosts are asked already. */
async function timeHonest(kind: "documents" | "media", good: Origin): Promise<number> {
  const of = (path: string) => (kind === "documents" ? `${good.url}${path}` : withImage(`${good.url}/png${path}`));
  await mintAll([of("/quick"), of("/slow")], [HONEST]);
  const begin = performance.now();
  await expect.poll(() => listDone(kind), { timeout: WAIT_TIMEOUT_MS }).toContain(0);
  const seconds = (performance.now() - begin) / 1000;
  // What is slow, but honest, has its time.
  await expect.poll(() => listDone(kind), { timeout: WAIT_TIMEOUT_MS }).toEqual([0, 1]);
  return seconds;
}

test.each([
  ["one contract whose documents are on hosts that fall silent", "documents", 300, 1, SILENCE],
  ["forty contracts whose documents are on hosts that drip", "documents", 300, 40, DRIP],
  ["one contract whose pictures are on hosts that drip", "media", 300, 1, DRIP],
  ["forty contracts whose pictures are on hosts that fall silent", "media", 300, 40, SILENCE],
] as const)("%s hold nobody up", async (_, kind, hosts, contracts, answer) => {
  const [good] = await serve(1, () => honest);
  const slow = await serve(hosts, () => answer);
  await start();
  const tokens = slow.map(({ url }) => (kind === "documents" ? url : withImage(url)));
  await mintAll(tokens, attackers(contracts));
  await expect.poll(() => asked(slow), { timeout: WAIT_TIMEOUT_MS }).toBeGreaterThanOrEqual(32);
  expect(await timeHonest(kind, good!)).toBeLessThan(MAX_SECONDS);
});

test("hosts that fall silent once they are known as quick hold nobody up", async () => {
  const [good] = await serve(1, () => honest);
  const sleepers = await serve(40, createSleeper);
  await start();
  await mintAll(
    sleepers.flatMap(({ url }) => Array.from({ length: 20 }, (_, i) => `${url}/${i}`)),
    attackers(1),
  );
  await expect.poll(() => asked(sleepers), { timeout: WAIT_TIMEOUT_MS }).toBeGreaterThanOrEqual(3 * 40 + 64);
  expect(await timeHonest("documents", good!)).toBeLessThan(MAX_SECONDS);
});
