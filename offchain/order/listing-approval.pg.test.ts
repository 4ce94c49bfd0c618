import { beforeEach, expect, test } from "vitest";
import { toBytes } from "../bytea.ts";
import { createReadableDatabase, useDatabase } from "../../test/database.ts";
import { clearOrders, CONDUIT, placeOrder } from "../../test/orders.ts";
import { ALICE, APES } from "../../test/seed.ts";
import type { ReadCalls } from "../chain/call.ts";
import { type ListingPlace, readListingApprovals } from "./listing-approval.ts";

const { sql } = await useDatabase(createReadableDatabase, { max: 1 });

beforeEach(async () => {
  await clearOrders(sql);
  await sql`delete from offchain.listing_approval`;
});

/** Answers for a contract that has approved the conduit for each of its tokens, but not for all. */
const readCalls: ReadCalls = async (calls) =>
  calls.map((_, index) => ({ kind: "data", data: toBytes(index % 2 === 0 ? word("0x00") : word(CONDUIT)) }));
const word = (hex: string) => `0x${hex.slice(2).padStart(64, "0")}`;

/** Steps through all listings. Returns how many steps it took. */
async function walk(): Promise<number> {
  let after: ListingPlace | undefined;
  let steps = 0;
  do {
    after = await readListingApprovals(sql, { network: "mainnet", chainId: 1, readCalls, after });
    steps += 1;
  } while (after && steps < 10);
  return steps;
}

const listApproved = () => sql<{ token_id: string }[]>`
  select token_id
  from offchain.listing_approval
  where
    contract_address = ${toBytes(APES)}
    and owner = ${toBytes(ALICE)}
    and operator = ${toBytes(CONDUIT)}
    and is_approved
`;

test("a token that is listed twice is looked at once, and what comes after it too", async () => {
  await placeOrder(sql, 1, { token_id: "1", end_time: 1_900_000_000 });
  await placeOrder(sql, 2, { token_id: "1", end_time: 1_900_000_001 });
  await placeOrder(sql, 3, { token_id: "2" });
  expect(await walk()).toBe(1);
  expect(await listApproved()).toEqual([{ token_id: "1" }, { token_id: "2" }]);
});

test("of many more than a step has, each is looked at, however often it is listed and by however many", async () => {
  await placeOrder(sql, 1, { token_id: "1" });
  await sql.unsafe(`
    create temp table many as
    select one.*, ids.id, ids.copy
    from onchain_mainnet.trade_order as one, generate_series(2, 1500) as id, generate_series(1, 2) as copy
      cross join lateral (select id, copy) as ids;
    update many
    set
      token_id = id / 2,
      maker = case when id % 2 = 0 then maker else decode(lpad(to_hex(id), 40, '0'), 'hex') end,
      end_time = end_time - copy,
      order_hash = decode(lpad(to_hex(id * 2 + copy), 64, '0'), 'hex');
    alter table many drop column id, drop column copy;
    insert into onchain_mainnet.trade_order select * from many;
    drop table many;
  `);
  expect(await walk()).toBe(2);
  expect((await listApproved()).length).toBe(750);
  const [counted] = await sql<{ count: number }[]>`select count(*)::int as count from offchain.listing_approval`;
  expect(counted).toEqual({ count: 1499 });
});

/** Rows of both tables of orders that were read until now. */
async function countRead(): Promise<number> {
  await sql`select pg_stat_force_next_flush()`;
  const [row] = await sql<{ rows: number }[]>`
    select sum(idx_tup_fetch + seq_tup_read)::float8 as rows
    from pg_stat_user_tables
    where relname in ('trade_order', 'signed_order')
  `;
  return row!.rows;
}

test("of one collection with many listings a step reads those that it looks at, not all", async () => {
  await placeOrder(sql, 1, { token_id: "1" });
  const listings = 20_000;
  await sql.unsafe(`
    create temp table many as
    select one.*, id
    from onchain_mainnet.trade_order as one, generate_series(2, ${listings}) as id;
    update many set token_id = id, order_hash = decode(lpad(to_hex(id), 64, '0'), 'hex');
    alter table many drop column id;
    insert into onchain_mainnet.trade_order select * from many;
    insert into offchain.signed_order
      (chain_id, exchange_address, order_hash, side, maker, contract_address, token_id, quantity, currency_address,
       start_amount, end_amount, unit_price, start_time, end_time, counter, operator, broker, placed_timestamp,
       parameters, signature)
    select 1, exchange_address, sha256(order_hash), side, maker, contract_address, token_id, quantity, currency_address,
      start_amount, end_amount, unit_price, start_time, end_time, 0, operator, maker, placed_timestamp, '{}', '\\x00'
    from many;
    drop table many;
    analyze onchain_mainnet.trade_order;
    analyze offchain.signed_order;
  `);
  let after: ListingPlace | undefined;
  // More steps than Postgres plans anew for their values.
  for (let step = 0; step < 8; step += 1) {
    const before = await countRead();
    after = await readListingApprovals(sql, { network: "mainnet", chainId: 1, readCalls, after });
    expect((await countRead()) - before).toBeLessThan(5000);
  }
  expect(after?.token_id).toBe("8000");
});
