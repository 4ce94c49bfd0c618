import { createHash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import postgres from "postgres";
import type { Hex } from "viem";
import { test } from "vitest";
import { toBytes } from "../bytea.ts";
import { createReadableDatabase } from "../../test/database.ts";
import { WAIT_TIMEOUT_MS } from "../../test/indexer.ts";
import { closeAfterAll } from "../../test/opened.ts";
import { type Origin, serveOrigin } from "../../test/origin.ts";
import { serveRpc } from "../../test/rpc-server.ts";
import { address, CHAIN_ID, type FakeContract, mint } from "../../test/tokens.ts";
import { startWorker } from "../../test/worker.ts";

/** Seconds of an honest token that takes 2, and 15 if claims stop while requests of one contract wait for each other. */
const MAX_SECONDS_BESIDE_ONE = 10;
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
/** Has the honest contract's files, and looks for others as long as it is asked. */
const createGateway = (): Answer => {
  const search = createSleeper();
  return (request, response) => (/\/(?:quick|slow)$/.test(request.url ?? "") ? honest : search)(request, response);
};

/** The CID of a file with a number for its content. */
function cidOf(number: number): string {
  const bytes = [1, 0x55, 0x12, 0x20, ...createHash("sha256").update(String(number)).digest()];
  const bits = bytes.map((byte) => byte.toString(2).padStart(8, "0")).join("");
  return `b${bits.replaceAll(/.{1,5}/g, (digit) => "abcdefghijklmnopqrstuvwxyz234567"[parseInt(digit.padEnd(5, "0"), 2)]!)}`;
}

const { closing, opened } = closeAfterAll();

const withImage = (image: string) => `data:application/json,${JSON.stringify({ name: "x", image })}`;

type Attack = {
  kind: "documents" | "media";
  /** Hosts of the attackers' tokens, how these are spread over contracts, and how many tokens name each host. */
  hosts: number;
  contracts: number;
  each?: number;
  createAnswer: () => Answer;
  /** Whether the hosts are gateways, which have the honest tokens' files, too. */
  isGateway?: boolean;
  /** How many requests the slow hosts must have had before the honest token is minted. */
  asked: number;
  maxSeconds?: number;
};

/** Starts a worker beside slow hosts, with a token that an honest host has quickly, and one that it has slowly. */
async function startWorld({ kind, hosts, contracts, each = 1, createAnswer, isGateway = false }: Attack) {
  const database = opened(await createReadableDatabase());
  const sql = postgres(database.url, { max: 4, onnotice: () => {} });
  closing.push(() => sql.end());
  await sql`insert into offchain.network (name, chain_id, indexed_block) values ('mainnet', ${CHAIN_ID}, 0)`;
  const serve = async (answer: Answer): Promise<Origin> => {
    const origin = await serveOrigin(answer);
    closing.push(origin.close);
    return origin;
  };
  const good = await serve(honest);
  const slow = await Promise.all(Array.from({ length: hosts }, () => serve(createAnswer())));

  let files = 0;
  const uriOf = ({ url }: Origin, path: string) => {
    if (isGateway) return `ipfs://${cidOf(files++)}/${path}`;
    return kind === "documents" ? `${url}/${path}` : withImage(`${url}/png/${path}`);
  };
  const bad = Array.from({ length: each }, (_, i) => slow.map((origin) => uriOf(origin, String(i)))).flat();
  const perContract = Math.ceil(bad.length / contracts);
  const attacking = Array.from({ length: contracts }, (_, i) => address(100 + i));
  const uris: Record<string, string[]> = { [address(HONEST)]: [uriOf(good, "quick"), uriOf(good, "slow")] };
  for (const [i, contract] of attacking.entries()) uris[contract] = bad.slice(i * perContract, (i + 1) * perContract);
  const read =
    (contract: string): FakeContract =>
    (name, [id]) =>
      name === "tokenURI" ? uris[contract]?.[Number(id)] : undefined;
  const rpc = await serveRpc(Object.fromEntries(Object.keys(uris).map((contract) => [contract, read(contract)])));
  closing.push(async () => rpc.close());
  const allowHosts = [good, ...slow].map(({ host }) => host);
  const env: Record<string, string> = isGateway ? { IPFS_GATEWAYS: slow.map(({ url }) => url).join(",") } : {};
  opened(await startWorker({ databaseUrl: database.url, rpcUrl: rpc.url, allowHosts, env }));

  const mintAll = async (of: Hex[], block: number) => {
    for (const contract of of) await mint(sql, { contract, tokens: uris[contract]!.map((_, id) => id), block });
    await sql`update offchain.network set indexed_block = ${block}`;
  };
  return {
    mintBad: () => mintAll(attacking, 1),
    mintGood: () => mintAll([address(HONEST)], 2),
    countAsked: () => slow.reduce((sum, { requests }) => sum + requests.length, 0),
    /** The honest tokens that are complete, with their documents and, where `media`, with their pictures. */
    listDone: async (): Promise<number[]> => {
      const rows = await sql<{ id: number }[]>`
        select token_id::int as id
        from offchain.token_metadata
        where
          contract_address = ${toBytes(address(HONEST))}
          and normalized is not null
          and (${kind === "documents"} or normalized::json ->> 'image_key' <> '')
        order by token_id
      `;
      return rows.map(({ id }) => id);
    },
  };
}

const ATTACKS: (Attack & { name: string })[] = [
  {
    name: "hosts of one contract's documents that fall silent",
    kind: "documents",
    hosts: 300,
    contracts: 1,
    createAnswer: () => SILENCE,
    asked: 32,
  },
  {
    name: "hosts of forty contracts' pictures that drip",
    kind: "media",
    hosts: 300,
    contracts: 40,
    createAnswer: () => DRIP,
    asked: 32,
  },
  {
    name: "hosts that fall silent once they are known as quick",
    kind: "documents",
    hosts: 12,
    contracts: 1,
    each: 20,
    createAnswer: createSleeper,
    asked: 3 * 12 + 64,
    maxSeconds: MAX_SECONDS_BESIDE_ONE,
  },
  {
    name: "files of forty contracts that nobody has, for which gateways look",
    kind: "documents",
    hosts: 2,
    contracts: 40,
    each: 200,
    createAnswer: createGateway,
    isGateway: true,
    asked: 3 * 2 + 32,
  },
];

// All wait most of their time, beside each other.
test.concurrent.for(ATTACKS)("$name hold nobody up", async (attack, { expect }) => {
  const { hosts, each = 1, maxSeconds = Infinity } = attack;
  const { mintBad, mintGood, countAsked, listDone } = await startWorld(attack);
  await mintBad();
  await expect.poll(countAsked, { timeout: WAIT_TIMEOUT_MS }).toBeGreaterThanOrEqual(attack.asked);
  await mintGood();
  const begin = performance.now();
  await expect.poll(listDone, { timeout: WAIT_TIMEOUT_MS }).toContain(0);
  // A queue would have it wait until every other token was tried. That is told by requests, not by the clock.
  expect(countAsked()).toBeLessThan(hosts * each);
  expect((performance.now() - begin) / 1000).toBeLessThan(maxSeconds);
  // What is slow, but honest, has its time.
  await expect.poll(listDone, { timeout: WAIT_TIMEOUT_MS }).toEqual([0, 1]);
});
