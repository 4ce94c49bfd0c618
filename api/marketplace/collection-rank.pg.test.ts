import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { toBytes } from "../../offchain/bytea.ts";
import { addressOf, inserter, ZERO } from "../../test/api.ts";
import { createReadableDatabase, useDatabase } from "../../test/database.ts";
import { connectLikeApi } from "../../test/explain.ts";
import { openDatabases } from "../sql/database.ts";
import { ALICE, APES } from "../../test/seed.ts";
import { type CollectionRank, createCollectionRank } from "./collection-rank.ts";

const OTHERS = addressOf(0x07e5);

const { database, sql } = await useDatabase(createReadableDatabase, {
  max: 1,
  connection: { search_path: "onchain_mainnet,offchain" },
});
let databases: ReturnType<typeof openDatabases>;
let rank: CollectionRank;

beforeAll(async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  databases = openDatabases({ url: database.url, readUrl: database.url });
});
beforeEach(async () => {
  for (const table of ["token", "token_event"]) await sql.unsafe(`delete from ${table}`);
  rank = createCollectionRank(databases.long.mainnet);
});
afterAll(async () => {
  await databases.end();
  vi.useRealTimers();
});

async function mint(contract: string, id: number, block: number): Promise<void> {
  await inserter(sql).token(contract, id, { owner: ALICE });
  await inserter(sql).event(contract, id, [block, 0, 0], { event_type: "mint", from: ZERO, to: ALICE });
}

/** Simulates a reorg: drops everything from `block` on, and lets the chain go on to `head`. */
async function replaceBlocks(block: number, head: number): Promise<void> {
  await sql`delete from token where token_id in (select token_id from token_event where block_number >= ${block})`;
  await sql`delete from token_event where block_number >= ${block}`;
  await inserter(sql).event(OTHERS, 1, [head, 0, 0]);
}

/** The count after some seconds. To be polled: a request doesn't wait for the recount that it starts. */
async function askCount(): Promise<number> {
  vi.advanceTimersByTime(6000);
  await rank.inOrder([]);
  return rank.countOf(APES.slice(2));
}

test("mints are counted, and no longer after a reorg without them", async () => {
  await mint(APES, 1, 1000);
  await expect.poll(askCount).toBe(1);
  await mint(APES, 2, 1204);
  await mint(APES, 3, 1205);
  await expect.poll(askCount).toBe(3);
  await replaceBlocks(1204, 1206);
  await expect.poll(askCount).toBe(1);
});

test("tokens that are seen first when they move are counted at once, where indexing began late", async () => {
  await mint(APES, 1, 1000);
  await mint(OTHERS, 1, 1500);
  await expect.poll(askCount).toBe(1);
  await inserter(sql).token(APES, 2, { owner: ALICE });
  await inserter(sql).event(APES, 2, [2000, 0, 0], { event_type: "transfer", to: ALICE });
  await expect.poll(askCount).toBe(2);
});

test("tokens are counted that somebody holds, each once, at first as later", async () => {
  const insert = inserter(sql);
  await mint(APES, 1, 1000);
  await insert.token(APES, 2, { owner: ZERO });
  for (const id of [3, 4]) await insert.token(APES, id, { standard: "ERC1155" });
  await insert.ownership(APES, 3, ALICE, 2);
  await insert.ownership(APES, 3, OTHERS, 5);
  await insert.ownership(APES, 4, ALICE, 0);
  await rank.inOrder([]);
  expect(rank.countOf(APES.slice(2))).toBe(2);
  // This time only the changed collection is counted, not all of them.
  await mint(APES, 5, 1001);
  await expect.poll(askCount).toBe(3);
  await sql`delete from ownership`;
});

test("the same list is put in order anew once its counts are", async () => {
  const [apes, others] = [APES, OTHERS].map((address) => address.slice(2)) as [string, string];
  const addresses = [others, apes];
  await mint(APES, 1, 1000);
  await mint(OTHERS, 1, 1001);
  expect(await rank.inOrder(addresses)).toEqual([apes, others]);
  await mint(OTHERS, 2, 1002);
  vi.advanceTimersByTime(60_000);
  expect(await rank.inOrder(addresses)).toEqual([others, apes]);
});

test("a chain that begins anew with fewer blocks is counted anew", async () => {
  await mint(APES, 1, 100);
  await mint(APES, 2, 101);
  await mint(OTHERS, 1, 9000);
  await expect.poll(askCount).toBe(2);
  for (const table of ["token", "token_event"]) await sql.unsafe(`delete from ${table}`);
  await mint(APES, 1, 100);
  await mint(OTHERS, 1, 2000);
  await expect.poll(askCount).toBe(1);
});

test("nor are those that the first count saw", async () => {
  await mint(APES, 1, 1000);
  await mint(APES, 2, 1205);
  await expect.poll(askCount).toBe(2);
  await replaceBlocks(1205, 1300);
  await expect.poll(askCount).toBe(1);
});

test("a reorg as deep as any that Ponder follows takes them away too", async () => {
  await mint(APES, 1, 1000);
  await mint(OTHERS, 1, 1239);
  await expect.poll(askCount).toBe(1);
  await replaceBlocks(1000, 1240);
  await expect.poll(askCount).toBe(0);
});

test("after a quiet night the first request has this morning's counts", async () => {
  await mint(APES, 1, 1000);
  await mint(OTHERS, 2, 2000);
  await expect.poll(askCount).toBe(1);
  vi.advanceTimersByTime(8 * 3_600_000);
  await mint(APES, 2, 3000);
  await mint(OTHERS, 1, 5000);
  await rank.inOrder([]);
  expect(rank.countOf(APES.slice(2))).toBe(2);
});

test("where much came since the last count, all is counted anew, not looked at event by event", async () => {
  const EVENTS = 5000;
  const on = connectLikeApi(database.url);
  const loading = createCollectionRank(on);
  const readEvents = async () => {
    await on`select pg_stat_force_next_flush()`;
    const [row] = await on<[{ rows: string }]>`
      select idx_tup_fetch + seq_tup_read as rows from pg_stat_user_tables where relname = 'token_event'
    `;
    return Number(row.rows);
  };
  // Asked for while history is being loaded.
  await loading.inOrder([]);
  await sql`
    insert into token (contract_address, token_id, standard, owner)
    select ${toBytes(APES)}, n, 'ERC721', ${toBytes(ALICE)}
    from generate_series(1, ${EVENTS}) as n
  `;
  await sql`
    insert into token_event (
      block_number, log_index, batch_index, timestamp, event_type, contract_address, token_id, from_address, to_address,
      quantity, transaction_hash
    )
    select n, 0, 0, n, 'transfer', ${toBytes(APES)}, n, ${toBytes(OTHERS)}, ${toBytes(ALICE)}, 1, ${toBytes(OTHERS)}
    from generate_series(1, ${EVENTS}) as n
  `;
  await mint(OTHERS, 1, EVENTS + 1000);
  vi.advanceTimersByTime(60_000);
  const before = await readEvents();
  await loading.inOrder([]);
  expect((await readEvents()) - before).toBeLessThan(EVENTS / 2);
  expect(loading.countOf(APES.slice(2))).toBe(EVENTS);
  await on.end();
});

test("what a rebuild changed in old blocks is counted within the hour, however seldom somebody asks", async () => {
  await mint(APES, 1, 1000);
  await mint(APES, 2, 1001);
  await mint(OTHERS, 1, 9000);
  await expect.poll(askCount).toBe(2);
  await sql`delete from token where contract_address = ${toBytes(APES)} and token_id = 2`;
  for (let minutes = 0; minutes < 61; minutes += 1) {
    vi.advanceTimersByTime(60_000);
    await rank.inOrder([]);
  }
  await expect.poll(() => rank.countOf(APES.slice(2))).toBe(1);
});
