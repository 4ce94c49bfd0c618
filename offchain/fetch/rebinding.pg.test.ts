import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createReadableDatabase, useDatabase } from "../../test/database.ts";
import { WAIT_TIMEOUT_MS } from "../../test/indexer.ts";
import { type NameServer, serveNames } from "../../test/name-server.ts";
import { type Origin, serveOrigin } from "../../test/origin.ts";
import { isRunning } from "../../test/process.ts";
import { serveRpc } from "../../test/rpc-server.ts";
import { address, CHAIN_ID, mint } from "../../test/tokens.ts";
import { startWorker, type WorkerProcess } from "../../test/worker.ts";

/** A public address by the registries, but one that nobody announces: connections to it lead nowhere. */
const PUBLIC = "25.255.255.254";
const PRIVATE = "127.0.0.1";
const EACH = 6;

/** What the name server answers at the nth request for a name. */
const NAMES: Record<string, (nth: number) => string[]> = {
  "private-at-last.example": (nth) => (nth % 2 === 1 ? [PUBLIC] : [PRIVATE]),
  "private-at-first.example": (nth) => (nth % 2 === 1 ? [PRIVATE] : [PUBLIC]),
  "both-at-once.example": () => [PUBLIC, PRIVATE],
  "private-always.example": () => [PRIVATE, "10.0.0.1", "169.254.169.254"],
};

const { database, sql } = await useDatabase(createReadableDatabase, { max: 2 });
let canary: Origin;
let names: NameServer;
let rpc: Awaited<ReturnType<typeof serveRpc>>;
let worker: WorkerProcess;

beforeAll(async () => {
  canary = await serveOrigin((_, response) => response.end('{"name":"reached"}'));
  names = await serveNames((name, nth) => NAMES[name]?.(nth) ?? []);
  const { port } = new URL(canary.url);
  const uris = Object.keys(NAMES).map(
    (name, i) =>
      [
        address(i + 1),
        // Documents of half of the tokens, images of the others.
        (asked: string, [id]: readonly unknown[]) => {
          const url = `http://${name}:${port}/${String(id)}`;
          if (asked !== "tokenURI") return undefined;
          return Number(id) % 2 === 0 ? url : `data:application/json,{"name":"${String(id)}","image":"${url}"}`;
        },
      ] as const,
  );
  rpc = await serveRpc(Object.fromEntries(uris));
  await sql`insert into offchain.network (name, chain_id, indexed_block) values ('mainnet', ${CHAIN_ID}, 0)`;
  worker = await startWorker({
    databaseUrl: database.url,
    rpcUrl: rpc.url,
    preload: join(import.meta.dirname, "../../test/use-name-server.ts"),
    env: { NAME_SERVER_PORT: String(names.port) },
  });
});

afterAll(async () => {
  await worker.stop();
  names.close();
  await rpc.close();
  await canary.close();
});

/** Tokens of each name whose document or image was tried and couldn't be had, and by which codes. */
async function readFailures() {
  return sql<{ contract: number; tokens: number; codes: string[] }[]>`
    select
      get_byte(contract_address, 19) as contract,
      count(*)::int as tokens,
      array_agg(distinct coalesce(error_code, media_error_code)) as codes
    from offchain.token_metadata
    where coalesce(error_code, media_error_code) is not null
    group by contract_address
    order by contract_address
  `;
}

test("a name whose addresses change between check and connection leads to no private one", async () => {
  const contracts = Object.keys(NAMES).map((_, i) => address(i + 1));
  for (const contract of contracts)
    await mint(sql, { contract, tokens: Array.from({ length: EACH }, (_, id) => id), block: 1 });
  await sql`update offchain.network set indexed_block = 1`;

  // Hosts that fail are left alone for a while, but each name is tried often enough to have given both answers.
  await expect
    .poll(async () => (await readFailures()).map(({ tokens }) => tokens >= 3), { timeout: WAIT_TIMEOUT_MS })
    .toEqual(contracts.map(() => true));
  for (const name of Object.keys(NAMES))
    expect(names.questions.filter((asked) => asked === name).length).toBeGreaterThanOrEqual(2);
  expect((await readFailures())[3]?.codes).toEqual(["private_address"]);
  expect(isRunning(worker.pid)).toBe(true);
  expect(canary.requests).toEqual([]);
  // The canary would have told.
  await fetch(`${canary.url}/directly`);
  expect(canary.requests).toEqual(["/directly"]);
});
