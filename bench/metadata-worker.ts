import type { Sql } from "postgres";
import type { Hex } from "viem";
import { createCallReader } from "../offchain/chain/call.ts";
import { createFetcher } from "../offchain/fetch/fetcher.ts";
import { migrate } from "../offchain/migrate.ts";
import { createRpc } from "../offchain/chain/rpc.ts";
import { createDocumentReader } from "../offchain/document/source-reader.ts";
import { runTokenWorker } from "../offchain/token/token-worker.ts";
import { createOnchainTables } from "../test/database.ts";
import { CHAIN_ID } from "../test/tokens.ts";
import { createPool } from "../postgres/pool.ts";
import type { BenchPostgres } from "./database.ts";
import { median, WrongResultError } from "./figure.ts";
import type { MetadataOrigin } from "./metadata-origin.ts";

/** As METADATA_CONCURRENCY has it where nothing is set. */
export const CONCURRENCY = 64;
const MEMORY_POLL_MS = 200;

/** A contract of the origin. `isDead`: its host doesn't answer. */
export type BenchContract = { contract: Hex; isDead: boolean };

/**
 * Tokens a second of contracts whose hosts live, until the last of them is stored; how much more memory it took at the
 * end than after a quarter, and at most.
 *
 * @throws WrongResultError where a token isn't stored as it was served
 */
export async function measureWorker(
  server: BenchPostgres,
  { origin, contracts, count }: { origin: MetadataOrigin; contracts: BenchContract[]; count: number },
): Promise<{ rate: number; growth: number; peakMb: number }> {
  const database = await server.createDatabase();
  // As the worker opens it.
  const sql = createPool(database.url, { max: 16, connection: { synchronous_commit: "off" } });
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
    isBusy: fetcher.isFull,
    countHeldUp: fetcher.countHeldUp,
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
      and length(raw_json) > 1400
  `;
  if ((row?.count ?? 0) < expected) throw new WrongResultError(`${row?.count} tokens are right. Expected ${expected}.`);
}
