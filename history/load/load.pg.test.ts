import { existsSync } from "node:fs";
import { appendFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { encodeAbiParameters, encodeEventTopics, type Hex, numberToHex, pad, toEventSelector, zeroAddress } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { MARKETPLACES } from "../../abis/marketplace.ts";
import { seaportAbi } from "../../abis/seaport.ts";
import { readConfig } from "../../config.ts";
import { indexStatements } from "../../indexer/indexes.ts";
import { listSources, type Source } from "../../sources.ts";
import { MAX_BATCH_TOKENS, MAX_RANGE_TOKENS, MAX_TRANSACTION_HOPS } from "../../src/limits.ts";
import { createTestDatabase, useDatabase } from "../../test/database.ts";
import { chunkOf, chunksOf } from "../../test/log-columns.ts";
import { applyLogs, keyOf, createTables, type Tables, textsOf } from "../../test/memory-store.ts";
import { randomChain } from "../../test/random-chain.ts";
import { randomFills } from "../../test/random-fills.ts";
import { createRandom } from "../../test/random-logs.ts";
import { batchLog, consecutiveLog, type LogToWrite, singleLog, transferLog, word } from "../../test/raw-log.ts";
import type { ChainLog, Chunk } from "../chain-log.ts";
import { loadHistory, type LoadOptions } from "./load.ts";
import { findMovedOn } from "../fetch/moved-on.ts";
import { tableShapes } from "./onchain-schema.ts";
import { listMatching } from "../matching-logs.ts";
import { readPlainFill } from "./plain-fill.ts";
import { createFinder } from "./row-store.ts";
import { filterOfSources } from "../source-filter.ts";
import { createStaging } from "./staging.ts";
import { createMatcher } from "../wanted.ts";
import { fulfilled } from "../../test/order-fulfilled.ts";
import { createAddresses } from "../word.ts";

const SEAPORT = "0x0000000000000068f116a894984e2db1123eb395";
const PUNKS = `0x${"bb".repeat(20)}`;
const config = readConfig({ MAINNET_RPC_URL: "http://localhost:1", CRYPTOPUNKS_ADDRESSES: PUNKS });
/** One of the random chain's contracts may also leave the token id alone unindexed. */
const DRAFTS: Hex[] = [`0x${"71".repeat(15)}0000000010`];
const ofEthereum = listSources(config, { network: "mainnet", chainId: 1 });
const sources = listSources(config, { network: "mainnet", chainId: 31337 }).map((source, place) => {
  if (source.name === "Erc721Draft") return { ...source, addresses: DRAFTS };
  // Exchanges without an address on this chain get their addresses on Ethereum.
  return source.addresses.length > 0 ? source : { ...source, addresses: ofEthereum[place]!.addresses };
});

const { database, sql } = await useDatabase(createTestDatabase, { max: 2 });
let directory: string;
let schemaCount = 0;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "nft-history-test-"));
});

afterAll(async () => {
  await rm(directory, { recursive: true, force: true });
});

type Options = Partial<Pick<LoadOptions, "batchLogs" | "foldBytes" | "schemaName" | "sources">>;

/** Loads chunks. The iterator throws the interruption's error before the chunk with its block. */
async function load(
  chunks: Chunk[],
  { schemaName = `staging_${++schemaCount}`, ...limits }: Options = {},
  interruption?: { block: number; error: Error },
): Promise<string> {
  await loadHistory({
    databaseUrl: database.url,
    schemaName,
    chainId: 1,
    sources,
    indexes: indexStatements(schemaName),
    fromBlock: 0,
    toBlock: chunks.at(-1)!.toBlock,
    directory: join(directory, schemaName),
    ...limits,
    async *readChunks(fromBlock) {
      for (const chunk of chunks) {
        if (interruption && chunk.toBlock >= interruption.block) throw interruption.error;
        if (chunk.toBlock >= fromBlock) yield withSenders(chunk);
      }
    },
  });
  return schemaName;
}

const asking = createMatcher(filterOfSources(sources).filter(({ ofTransaction }) => ofTransaction !== ""));

/** As it is fetched: who signed a transaction is known where it can matter. */
function withSenders({ logs, ...range }: Chunk): Chunk {
  const places = listMatching(logs, { ...range, matches: asking });
  const known = findMovedOn(logs, new Set(places.map((log) => logs.transactionOf[log]!)), {
    drafts: new Set(DRAFTS),
  });
  const hasSender = logs.transactions.hasSender.map((_, transaction) => (known.has(transaction) ? 1 : 0));
  return { ...range, logs: { ...logs, transactions: { ...logs.transactions, hasSender } } };
}

async function readTables(schemaName: string): Promise<Tables> {
  const tables = createTables();
  const find = createFinder(sql, { schemaName });
  for (const shape of tableShapes.values()) {
    const keys = await sql.unsafe<Record<string, unknown>[]>(
      `select ${shape.primaryKey.map((name) => `"${name}"::text`).join(", ")} from "${schemaName}"."${shape.name}"`,
    );
    for (const row of await find(shape.key, keys)) tables.get(shape.key)!.set(keyOf(shape.key, row), row);
  }
  return tables;
}

async function computeTables(logs: ChainLog[], options = { sources }): Promise<Tables> {
  const tables = createTables();
  await applyLogs(tables, logs, options);
  return tables;
}

test("all tables are as Ponder leaves them, and go on so after any block", async () => {
  const seen = new Set<unknown>();
  await fc.assert(
    fc.asyncProperty(fc.integer(), async (seed) => {
      // So many logs that all runs lack the rarest kind, a sale on Seaport, only a few times in a million.
      const logs = randomChain(seed, { sources, logCount: 700 });
      const random = createRandom(seed + 1);
      const below = (limit: number) => Math.floor(random() * limit);
      const boundary = logs[below(logs.length)]!.blockNumber;
      const history = logs.filter(({ blockNumber }) => blockNumber <= boundary);
      const loaded = await readTables(await load(chunksOf(history, { below }), { foldBytes: 1 + below(20_000) }));
      expect(textsOf(loaded)).toEqual(textsOf(await computeTables(history)));
      await applyLogs(loaded, logs.slice(history.length), { sources });
      expect(textsOf(loaded)).toEqual(textsOf(await computeTables(logs)));
      for (const [table, rows] of loaded) if (rows.size > 0) seen.add(table);
      for (const { marketplace } of loaded.get("tokenEvent")!.values()) seen.add(marketplace);
    }),
    { numRuns: 25 },
  );
  // The chains had all kinds of rows, so the comparisons above weren't of empty tables.
  expect([...tableShapes.keys(), ...MARKETPLACES].filter((name) => !seen.has(name))).toEqual([]);
});

test("sales lie among the movements in the order of the chain: the key of rows that are sorted is made quickly", async () => {
  const [token, seller, buyer] = ["aa", "a1", "a2"].map((byte): Hex => `0x${byte.repeat(20)}`) as [Hex, Hex, Hex];
  const wordOf = (value: number) => numberToHex(value, { size: 32 });
  const logs: ChainLog[] = [];
  const add = (transaction: number, log: Pick<ChainLog, "address" | "topics" | "data">) => {
    const place = { blockNumber: 1, timestamp: 1, blockHash: wordOf(1), logIndex: logs.length };
    logs.push({ ...place, ...log, transactionHash: wordOf(transaction), sender: buyer, note: null });
  };
  const move = (transaction: number, id: number) => {
    const event = toEventSelector("Transfer(address,address,uint256)");
    add(transaction, { address: token, topics: [event, pad(seller), pad(buyer), wordOf(id)], data: "0x" });
  };
  const sell = (transaction: number, id: number) => {
    const sold = { itemType: 2, token, identifier: BigInt(id), amount: 1n };
    const paid = { itemType: 0, token: zeroAddress, identifier: 0n, amount: 5n, recipient: seller };
    const [event] = encodeEventTopics({ abi: seaportAbi, eventName: "OrderFulfilled" });
    const data = encodeAbiParameters(fulfilled, [wordOf(logs.length), buyer, [sold], [paid]]);
    add(transaction, { address: SEAPORT, topics: [event, pad(seller), wordOf(0)], data });
  };
  // Two sales in one transaction; the transfer of the first one comes after it.
  move(1, 1);
  sell(2, 2);
  move(2, 2);
  move(2, 3);
  sell(2, 3);
  move(2, 4);
  move(3, 5);
  const schemaName = await load([chunkOf(logs, { fromBlock: 0, toBlock: 1 })]);
  const rows = await sql<{ text: string }[]>`
    select event_type || ' ' || log_index as text
    from ${sql(schemaName)}.token_event
    order by ctid
  `;
  expect(rows.map(({ text }) => text)).toEqual([
    "transfer 0",
    "sale 1",
    "transfer 2",
    "transfer 3",
    "sale 4",
    "transfer 5",
    "transfer 6",
  ]);
});

/** The source as with `MAINNET_CONTRACTS`, if it is of all contracts. */
const ofSomeContracts = (source: Source): Source =>
  source.addresses === "*" ? { ...source, addresses: [`0x${"71".repeat(20)}`, `0x${"15".repeat(20)}`] } : source;

test("sales that are read where their logs lie are as Ponder makes them", async () => {
  let [plain, sold] = [0, 0];
  await fc.assert(
    fc.asyncProperty(fc.integer(), async (seed) => {
      const logs = randomFills(seed, { exchange: SEAPORT, count: 600 });
      const random = createRandom(seed + 1);
      // Several chunks to a batch: orders are named in one and again in the next, before their rows are in the table.
      const chunks = chunksOf(logs, { below: () => Math.floor(random() ** 4 * 60) });
      // Every second time only some contracts are indexed: of orders for other tokens nothing is known.
      const options = { sources: seed % 2 === 0 ? sources : sources.map(ofSomeContracts) };
      const loaded = await readTables(await load(chunks, { batchLogs: 150, ...options }));
      const expected = await computeTables(logs, options);
      expect(textsOf(loaded)).toEqual(textsOf(expected));
      const isSale = ({ event_type }: Record<string, unknown>) => event_type === "sale";
      sold += [...expected.get("tokenEvent")!.values()].filter(isSale).length;
      for (const { logs } of chunks)
        for (let log = 0; log < logs.count; log++) if (readPlainFill(logs, log, createAddresses(logs))) plain++;
    }),
    // Among these is a listing whose maker is its recipient, though its token went to somebody else.
    { numRuns: 12, examples: [[1573918047]] },
  );
  // Both kinds were there.
  expect([plain > 1_000, sold > 1_000, plain < sold * 2]).toEqual([true, true, true]);
});

/** A log of Seaport's of an order of `maker`, without a zone. */
const orderLog = (eventName: "OrderFulfilled" | "OrderCancelled", maker: Hex, data: Hex): LogToWrite => ({
  topics: [encodeEventTopics({ abi: seaportAbi, eventName })[0], word(maker), word(0n)],
  data,
});

test.each(["OrderFulfilled", "OrderCancelled"] as const)(
  "%s of an order that was first named in the same batch, by a chunk before, finds its row",
  async (second) => {
    const [token, seller, buyer] = ["15", "a1", "a2"].map((byte): Hex => `0x${byte.repeat(20)}`) as [Hex, Hex, Hex];
    const sold = { itemType: 3, token, identifier: 1n, amount: 2n };
    const paid = { itemType: 0, token: zeroAddress, identifier: 0n, amount: 5n, recipient: seller };
    const fill = orderLog("OrderFulfilled", seller, encodeAbiParameters(fulfilled, [word(7n), buyer, [sold], [paid]]));
    const again = second === "OrderFulfilled" ? fill : orderLog(second, seller, word(7n));
    const logs = [fill, again].map((log, blockNumber) => ({
      ...log,
      address: SEAPORT as Hex,
      blockNumber,
      timestamp: 1_600_000_000 + blockNumber,
      blockHash: word(BigInt(blockNumber)),
      transactionHash: word(BigInt(blockNumber)),
      logIndex: 0,
      sender: buyer,
      note: null,
    }));
    const loaded = await readTables(await load(chunksOf(logs, { below: () => 0 }), { batchLogs: 100 }));
    const expected = await computeTables(logs);
    expect(textsOf(loaded)).toEqual(textsOf(expected));
    const filled = second === "OrderFulfilled" ? 4n : 2n;
    expect([...expected.get("tradeOrder")!.values()]).toMatchObject([{ filled, updated_timestamp: 1_600_000_001 }]);
  },
);

test("of what a transaction claims to move as much counts for its sales as with Ponder", async () => {
  const [token, seller, buyer] = ["aa", "a1", "a2"].map((byte): Hex => `0x${byte.repeat(20)}`) as [Hex, Hex, Hex];
  const [units, ranges] = ["15", "71"].map((byte): Hex => `0x${byte.repeat(20)}`) as [Hex, Hex];
  const place = { blockNumber: 1, timestamp: 1, blockHash: word(1n), transactionHash: word(2n) };
  const logs: ChainLog[] = [];
  const add = (address: Hex, log: LogToWrite) =>
    logs.push({ ...place, logIndex: logs.length, address, ...log, sender: buyer, note: null });
  const sell = (id: bigint) => {
    const sold = { itemType: 2, token, identifier: id, amount: 1n };
    const paid = { itemType: 0, token: zeroAddress, identifier: 0n, amount: 5n, recipient: seller };
    add(SEAPORT, orderLog("OrderFulfilled", seller, encodeAbiParameters(fulfilled, [word(id), buyer, [sold], [paid]])));
  };
  sell(1n);
  sell(2n);
  const ids = Array.from({ length: MAX_BATCH_TOKENS - 2 }, (_, id) => BigInt(id));
  add(units, batchLog(zeroAddress, seller, [ids, ids.map(() => 1n)]));
  add(units, singleLog(zeroAddress, seller, 0n, 1n));
  for (let count = MAX_BATCH_TOKENS; count < MAX_TRANSACTION_HOPS; count += Number(MAX_RANGE_TOKENS))
    add(ranges, consecutiveLog(zeroAddress, seller, BigInt(count), BigInt(count) + MAX_RANGE_TOKENS - 1n));
  // The last one that is remembered, and the first one that isn't.
  add(token, transferLog(seller, buyer, 1n));
  add(token, transferLog(seller, buyer, 2n));
  const schemaName = await load([chunkOf(logs, { fromBlock: 0, toBlock: 1 })]);
  const rows = await sql<{ token_id: string }[]>`
    select token_id
    from ${sql(schemaName)}.token_event
    where event_type = 'sale'
  `;
  const ponders = [...(await computeTables(logs)).get("tokenEvent")!.values()];
  expect(ponders.filter(({ event_type }) => event_type === "sale")).toMatchObject([{ token_id: 1n }]);
  expect(rows).toEqual([{ token_id: "1" }]);
});

test("2,000 small worlds one after the other are as Ponder leaves them", async () => {
  const logs: ChainLog[] = [];
  for (let worldNumber = 0; worldNumber < 2_000; worldNumber++) {
    const firstBlock = 1 + (logs.at(-1)?.blockNumber ?? 0);
    logs.push(...randomChain(worldNumber, { sources, logCount: 12, worldNumber, firstBlock }));
  }
  const random = createRandom(1);
  const chunks = chunksOf(logs, { below: (limit) => Math.floor((random() * limit) / 10) });
  const loaded = await readTables(await load(chunks, { batchLogs: 5_000 }));
  expect(textsOf(loaded)).toEqual(textsOf(await computeTables(logs)));
});

test("a load that is interrupted anywhere goes on from there, also where what it had put aside is lost", async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer(), async (seed) => {
      const logs = randomChain(seed, { sources, logCount: 300 });
      const random = createRandom(seed + 1);
      const below = (limit: number) => Math.floor(random() * limit);
      const chunks = chunksOf(logs, { below: (limit) => below(Math.ceil(limit / 8)) });
      const last = chunks.at(-1)!.toBlock;
      const options = { schemaName: `staging_${++schemaCount}`, batchLogs: 1 + below(60), foldBytes: 500 };
      const path = join(directory, options.schemaName);
      for (let block = below(last); block < last; block += 1 + below(last)) {
        const error = new Error("The node is gone");
        await expect(load(chunks, options, { block, error })).rejects.toBe(error);
        const fate = below(3);
        if (fate === 0) await rm(path, { recursive: true, force: true });
        if (fate === 1) await appendFile(join(path, `${below(64)}.movements`), "cut off");
      }
      await load(chunks, options);
      expect(textsOf(await readTables(options.schemaName))).toEqual(textsOf(await computeTables(logs)));
      expect(existsSync(path)).toBe(false);
      // A load that is done reads nothing again.
      await load(chunks, options, { block: 0, error: new Error("Nothing is to be read") });
    }),
    { numRuns: 10 },
  );
});

test("a load that fails while it folds, makes indexes or renames goes on from there", async () => {
  const logs = randomChain(3, { sources, logCount: 300 });
  const chunks = chunksOf(logs, { below: (limit) => Math.ceil(limit / 4) });
  const schemaName = `staging_${++schemaCount}`;
  await createStaging(sql, { schemaName });
  // Fails at the 1st, 4th, 9th … step, later each time, so that the load ends. A sequence isn't rolled back with a
  // step.
  await sql.unsafe(`
    create sequence step;
    create function fail_now_and_then() returns void language plpgsql as $$ begin
      if sqrt(nextval('public.step'))::numeric % 1 = 0 then
        raise exception 'No space left on device' using errcode = 'disk_full';
      end if;
    end $$;
    create function fail_after_row() returns trigger language plpgsql as $$ begin
      perform public.fail_now_and_then();
      return null;
    end $$;
    create trigger fail after insert on "${schemaName}".folded_partition
      for each row execute function fail_after_row();
    create function fail_after_command() returns event_trigger language plpgsql as $$ begin
      perform public.fail_now_and_then();
    end $$;
    create event trigger fail on ddl_command_end
      when tag in ('CREATE INDEX', 'ALTER TABLE', 'DROP INDEX')
      execute function fail_after_command();
  `);
  const reasons: unknown[] = [];
  const isLoaded = () =>
    load(chunks, { schemaName }).then(
      () => true,
      (error: Error) => void reasons.push(error.message),
    );
  while (!(await isLoaded()));
  await sql`drop event trigger fail`;
  expect(new Set(reasons)).toEqual(new Set(["No space left on device"]));
  expect(reasons.length).toBeGreaterThan(8);
  expect(textsOf(await readTables(schemaName))).toEqual(textsOf(await computeTables(logs)));
});

test("logs that end too early are an error, not a shorter history", async () => {
  const logs = randomChain(1, { sources, logCount: 50 });
  const chunks = chunksOf(logs, { below: () => 3 });
  const cut = chunks.slice(0, -1);
  const promise = loadHistory({
    databaseUrl: database.url,
    schemaName: "cut",
    chainId: 1,
    sources,
    indexes: [],
    fromBlock: 0,
    toBlock: chunks.at(-1)!.toBlock,
    directory: join(directory, "cut"),
    async *readChunks() {
      yield* cut;
    },
  });
  await expect(promise).rejects.toThrow(/^Logs ended before block \d+\. Expected them up to \d+\.$/);
});

test("tables are as Ponder makes them, with their keys and indexes", async () => {
  const schemaName = await load(chunksOf(randomChain(2, { sources, logCount: 30 }), { below: (limit) => limit }));
  const { getSql } = (await import(new URL("drizzle/kit/index.js", import.meta.resolve("ponder")).href)) as {
    getSql: (schema: unknown) => { tables: { sql: string[] } };
  };
  await sql.unsafe("create schema ponders");
  for (const statement of getSql(await import("../../ponder.schema.ts")).tables.sql)
    if (!statement.includes("_reorg__"))
      await sql.unsafe(statement.replace('CREATE TABLE "', 'CREATE TABLE "ponders"."'));
  for (const { plain } of indexStatements("ponders")) await sql.unsafe(plain);
  const [ours, ponders] = [await describeTables(schemaName), await describeTables("ponders")];
  expect(ours).toEqual(ponders);
  expect(ours.length).toBeGreaterThan(100);
});

/** Columns, constraints, indexes and settings of the tables that Ponder knows, as texts. */
async function describeTables(schemaName: string): Promise<string[]> {
  const names = [...tableShapes.values()].map(({ name }) => name);
  const rows = await sql<{ line: string }[]>`
    with tables as (
      select
        oid,
        relname,
        reloptions
      from pg_class
      where relnamespace = ${schemaName}::regnamespace
        and relname in ${sql(names)}
    )
    select concat_ws(' ', relname, attnum, attname, format_type(atttypid, atttypmod), attnotnull) as line
    from pg_attribute
    join tables on tables.oid = attrelid
    where attnum > 0
    union all
    select concat_ws(' ', relname, conname, pg_get_constraintdef(pg_constraint.oid))
    from pg_constraint
    join tables on tables.oid = conrelid
    where contype <> 'n'
    union all
    select concat_ws(' ', relname, replace(pg_get_indexdef(indexrelid), ${schemaName}, ''), indisvalid)
    from pg_index
    join tables on tables.oid = indrelid
    union all
    select concat_ws(' ', relname, reloptions::text)
    from tables
    order by 1
  `;
  return rows.map(({ line }) => line);
}
