import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import postgres, { type Sql } from "postgres";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readConfig } from "../config.ts";
import { listSources } from "../sources.ts";
import { createTestDatabase, type TestDatabase } from "../test/database.ts";
import { chunksOf } from "../test/log-columns.ts";
import { applyLogs, keyOf, newTables, type Tables, textsOf } from "../test/memory-store.ts";
import { randomChain } from "../test/random-chain.ts";
import { createRandom } from "../test/random-logs.ts";
import type { ChainLog, Chunk } from "./chain-log.ts";
import { loadHistory } from "./load.ts";
import { tableShapes } from "./onchain-schema.ts";
import { createFinder } from "./row-store.ts";

const PUNKS = `0x${"bb".repeat(20)}`;
const config = readConfig({ MAINNET_RPC_URL: "http://localhost:1", CRYPTOPUNKS_ADDRESSES: PUNKS });
const sources = listSources(config, { network: "mainnet", chainId: 31337 });

let database: TestDatabase;
let sql: Sql;
let directory: string;
let schemaCount = 0;

beforeAll(async () => {
  database = await createTestDatabase();
  sql = postgres(database.url, { max: 2, onnotice: () => {} });
  directory = await mkdtemp(join(tmpdir(), "nft-history-test-"));
});

afterAll(async () => {
  await sql.end();
  await database.drop();
  await rm(directory, { recursive: true, force: true });
});

/** Loads chunks into a new schema and reads all tables. */
async function load(chunks: Chunk[]): Promise<Tables> {
  const schemaName = `staging_${++schemaCount}`;
  await loadHistory({
    databaseUrl: database.url,
    schemaName,
    sources,
    fromBlock: 0,
    toBlock: chunks.at(-1)!.toBlock,
    directory: join(directory, schemaName),
    async *readChunks(fromBlock) {
      for (const chunk of chunks) if (chunk.toBlock >= fromBlock) yield chunk;
    },
  });
  return readTables(schemaName);
}

async function readTables(schemaName: string): Promise<Tables> {
  const tables = newTables();
  const find = createFinder(sql, { schemaName });
  for (const shape of tableShapes.values()) {
    const keys = await sql.unsafe<Record<string, unknown>[]>(
      `select ${shape.primaryKey.map((name) => `"${name}"::text`).join(", ")} from "${schemaName}"."${shape.name}"`,
    );
    for (const row of await find(shape.key, keys)) tables.get(shape.key)!.set(keyOf(shape.key, row), row);
  }
  return tables;
}

async function computeTables(logs: ChainLog[]): Promise<Tables> {
  const tables = newTables();
  await applyLogs(tables, logs, { sources });
  return tables;
}

test("all tables are as Ponder leaves them, and go on so after any block", async () => {
  const seen = new Set<unknown>();
  await fc.assert(
    fc.asyncProperty(fc.integer(), async (seed) => {
      const logs = randomChain(seed, { sources, logCount: 400 });
      const random = createRandom(seed + 1);
      const below = (limit: number) => Math.floor(random() * limit);
      const boundary = logs[below(logs.length)]!.blockNumber;
      const history = logs.filter(({ blockNumber }) => blockNumber <= boundary);
      const loaded = await load(chunksOf(history, { below }));
      expect(textsOf(loaded)).toEqual(textsOf(await computeTables(history)));
      await applyLogs(loaded, logs.slice(history.length), { sources });
      expect(textsOf(loaded)).toEqual(textsOf(await computeTables(logs)));
      for (const [table, rows] of loaded) if (rows.size > 0) seen.add(table);
      for (const { marketplace } of loaded.get("tokenEvent")!.values()) seen.add(marketplace);
    }),
    { numRuns: 25 },
  );
  // Nothing of this was only proven of nothing.
  const marketplaces = ["seaport", "cryptopunks", "blur", "looksrare", "x2y2", "wyvern", "zora", "foundation"];
  expect([...tableShapes.keys(), ...marketplaces].filter((name) => !seen.has(name))).toEqual([]);
}, 300_000);
