/** How quickly one worker brings tokens from due to stored: documents of a web server, and documents in data: URIs. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import postgres, { type Sql } from "postgres";
import { Agent, request } from "undici";
import type { Hex } from "viem";
import { createCallReader } from "../offchain/call.ts";
import { createFetcher } from "../offchain/fetcher.ts";
import { migrate } from "../offchain/migrate.ts";
import { createRpc } from "../offchain/rpc.ts";
import { createDocumentReader } from "../offchain/source-reader.ts";
import { runTokenWorker } from "../offchain/token-worker.ts";
import { createOnchainTables } from "../test/database.ts";
import { address, CHAIN_ID } from "../test/tokens.ts";
import { type BenchPostgres, startBenchPostgres } from "./database.ts";
import { type BenchOptions, type Figure, median, WrongResultError } from "./figure.ts";
import type { MetadataOrigin } from "./metadata-origin.ts";

const DOCUMENTS = 20_000;
const DATA_URIS = 100_000;
/** As METADATA_CONCURRENCY has it where nothing is set. */
const CONCURRENCY = 64;
const MEMORY_POLL_MS = 200;

/** The figures of metadata. @throws WrongResultError where a token isn't stored as it was served */
export async function benchMetadata({ runs }: Pick<BenchOptions, "runs">): Promise<Figure[]> {
  const server = await startBenchPostgres();
  try {
    const bare: number[] = [];
    const stored: number[] = [];
    const besideDead: number[] = [];
    const data: { rate: number; growth: number; peakMb: number }[] = [];
    for (let run = 1; run <= runs; run++) {
      console.log(`run ${run} of ${runs}`);
      await withOrigin([], async (origin) => {
        bare.push(await measureBare(origin));
        stored.push((await measureWorker(server, { origin, contracts: hostContracts(origin), count: DOCUMENTS })).rate);
        const contracts = [{ contract: origin.dataContract, isDead: false }];
        data.push(await measureWorker(server, { origin, contracts, count: DATA_URIS }));
      });
      await withOrigin(["--dead"], async (origin) => {
        besideDead.push(
          (
            await measureWorker(server, {
              origin,
              contracts: hostContracts(origin, { isLastDead: true }),
              count: DOCUMENTS,
            })
          ).rate,
        );
      });
      console.log(
        `  bare ${Math.round(bare.at(-1)!)}/s, stored ${Math.round(stored.at(-1)!)}/s, beside a dead host ${Math.round(besideDead.at(-1)!)}/s, data ${Math.round(data.at(-1)!.rate)}/s`,
      );
    }
    const rate = median(stored);
    return [
      { figure: "bare undici loop, fetched and parsed", value: median(bare), unit: "documents/s" },
      {
        figure: "tokens from due to stored, one worker",
        value: rate,
        unit: "tokens/s",
        goal: { atLeast: 1000 },
        detail: "1.5 kB documents of 20 local hosts",
      },
      { figure: "  against the bare loop", value: rate / median(bare), unit: "×", goal: { atLeast: 0.35 } },
      {
        figure: "  with every 20th host dead, the others",
        value: median(besideDead) / ((rate * 19) / 20),
        unit: "×",
        goal: { atLeast: 0.9 },
      },
      {
        figure: "data: URIs, from due to stored",
        value: median(data.map(({ rate: each }) => each)),
        unit: "tokens/s",
        goal: { atLeast: 3000 },
        detail: `${DATA_URIS} tokens`,
      },
      {
        figure: "  memory at the end / after a quarter",
        value: median(data.map(({ growth }) => growth)),
        unit: "×",
        goal: { atMost: 1.3 },
        detail: `peak ${Math.round(Math.max(...data.map(({ peakMb }) => peakMb)))} MB`,
      },
    ];
  } finally {
    await server.stop();
  }
}

async function withOrigin(args: string[], use: (origin: MetadataOrigin) => Promise<void>): Promise<void> {
  const child = fork(join(import.meta.dirname, "metadata-origin.ts"), args);
  const [origin] = (await once(child, "message")) as [MetadataOrigin];
  try {
    await use(origin);
  } finally {
    const ended = once(child, "exit");
    child.disconnect();
    await ended;
  }
}

type BenchContract = { contract: Hex; isDead: boolean };

function hostContracts({ hosts }: MetadataOrigin, { isLastDead = false } = {}): BenchContract[] {
  return hosts.map((_, i) => ({ contract: address(i + 1), isDead: isLastDead && i === hosts.length - 1 }));
}

/** The least that any worker has to do: fetch and parse, with the same concurrency, nothing stored. */
async function measureBare({ hosts }: MetadataOrigin): Promise<number> {
  const agent = new Agent({ connections: 16 });
  let next = 0;
  const loop = async () => {
    while (next < DOCUMENTS) {
      const id = next++;
      const { body } = await request(`http://${hosts[id % hosts.length]}/${id}.json`, { dispatcher: agent });
      JSON.parse(await body.text());
    }
  };
  const start = performance.now();
  await Promise.all(Array.from({ length: CONCURRENCY }, loop));
  const rate = (DOCUMENTS * 1000) / (performance.now() - start);
  await agent.close();
  return rate;
}

/** Tokens a second of contracts whose hosts live, until the last of them is stored. */
async function measureWorker(
  server: BenchPostgres,
  { origin, contracts, count }: { origin: MetadataOrigin; contracts: BenchContract[]; count: number },
): Promise<{ rate: number; growth: number; peakMb: number }> {
  const database = await server.createDatabase();
  // As the worker opens it.
  const sql = postgres(database.url, { max: 16, onnotice: () => {}, connection: { synchronous_commit: "off" } });
  await migrate(sql);
  await createOnchainTables(sql, "onchain_mainnet");
  await seed(sql, { contracts: contracts.map(({ contract }) => contract), count });

  const rpc = createRpc({ urls: [origin.rpcUrl] });
  const readCalls = createCallReader(rpc);
  const fetcher = createFetcher({
    concurrency: CONCURRENCY,
    allowHosts: origin.hosts,
    ipfsGateways: [],
    arweaveGateways: [],
  });
  const readDocument = createDocumentReader({ fetcher, readCalls: new Map([[CHAIN_ID, readCalls]]) });
  const dead = new Set(contracts.filter(({ isDead }) => isDead).map(({ contract }) => contract));
  const expected = Math.floor((count * (contracts.length - dead.size)) / contracts.length);
  const stop = new AbortController();
  const memory: { done: number; mb: number }[] = [];
  let done = 0;
  const isDone = Promise.withResolvers<void>();
  const timer = setInterval(() => memory.push({ done, mb: process.memoryUsage().rss / 2 ** 20 }), MEMORY_POLL_MS);

  const start = performance.now();
  const worker = runTokenWorker(sql, {
    network: "mainnet",
    chainId: CHAIN_ID,
    readCalls,
    readDocument,
    concurrency: CONCURRENCY,
    signal: stop.signal,
    onStored: (outcomes) => {
      done += outcomes.filter(({ result }) => result.kind === "document").length;
      if (done >= expected) isDone.resolve();
    },
  });
  await isDone.promise;
  const rate = (done * 1000) / (performance.now() - start);
  clearInterval(timer);
  stop.abort();
  await worker;
  await check(sql, { expected });
  await Promise.all([fetcher.close(), rpc.close(), sql.end()]);
  await database.drop();
  const early = memory
    .filter((sample) => sample.done >= expected / 4 && sample.done < expected / 2)
    .map(({ mb }) => mb);
  const late = memory.filter((sample) => sample.done >= expected * 0.75).map(({ mb }) => mb);
  return { rate, growth: median(late) / median(early), peakMb: Math.max(...memory.map(({ mb }) => mb)) };
}

/** Tokens that are ready, in turns over their contracts. */
async function seed(sql: Sql, { contracts, count }: { contracts: Hex[]; count: number }): Promise<void> {
  const addresses = contracts.map((contract) => `\\x${contract.slice(2)}`);
  await sql`
    with numbered as materialized (
      select
        (${addresses}::text[]::bytea[])[1 + i % ${addresses.length}] as contract_address,
        i as token_id,
        1 + i / ${addresses.length} as turn
      from generate_series(0, ${count - 1}) i
    ),
    tokens as (
      insert into onchain_mainnet.token (contract_address, token_id, standard)
      select contract_address, token_id, 'ERC721' from numbered
    ),
    contracts as (
      insert into offchain.contract_metadata (chain_id, contract_address, uri_function)
      select distinct ${CHAIN_ID}::bigint, contract_address, 'tokenURI' from numbered
    )
    insert into offchain.token_metadata (chain_id, contract_address, token_id, turn, due_at, counted_as)
    select ${CHAIN_ID}, contract_address, token_id, turn, now(), 'new' from numbered
  `;
  await sql`analyze`;
}

async function check(sql: Sql, { expected }: { expected: number }): Promise<void> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count
    from offchain.token_metadata
    where
      normalized::json ->> 'name' = 'Token #' || token_id
      and json_array_length(normalized::json -> 'attributes') = 16
      and length(raw) > 1400
  `;
  if ((row?.count ?? 0) < expected) throw new WrongResultError(`${row?.count} tokens are right. Expected ${expected}.`);
}
