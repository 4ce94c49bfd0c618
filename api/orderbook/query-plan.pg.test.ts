import postgres, { type Sql } from "postgres";
import { beforeAll, expect, test } from "vitest";
import type { Hex } from "viem";
import type { Terms } from "../../abis/seaport-order.ts";
import { addressOf, hashOf } from "../../test/api.ts";
import { createReadableDatabase, useDatabase } from "../../test/database.ts";
import { connectLikeApi, explain } from "../../test/explain.ts";
import { PORTFOLIO_ITEMS } from "../marketplace/portfolio.ts";
import { streamOf, toArray } from "../sql/database.ts";
import { runLong } from "../sql/long-statement.ts";
import { chooseListed } from "../marketplace/marketplace-listing.ts";
import { scopeParameters } from "../marketplace/marketplace-scope.ts";
import { createTokenLists } from "../marketplace/marketplace-list.ts";
import { writeAccountPage, writeCollectionPage } from "../marketplace/marketplace-token.ts";
import { listHistory } from "./order-history.ts";
import { findSignedOrder } from "./signed-order.ts";
import { listOffers } from "./token-offer.ts";
import { listAccountListings, listListings } from "./listed-token.ts";
import { makeRoom, requireRoom } from "./order-room.ts";
import {
  findOrderbookItems,
  listCollectionItems,
  listCollectionTokens,
  listOrderbookTokens,
  listOrderbookTokensOf,
  listOwnedItems,
} from "./orderbook.ts";
import { MAX_OFFERS, momentParameters } from "./trade-order.ts";

/**
 * Tokens of one collection: enough that a scan shows in the plan. Each token has a listing, most of them dead or over.
 * There are as many ended signed orders for one of its tokens, and for any of them.
 */
const TOKENS = 60_000;
const CHAIN_ID = 1;
const CONTRACT = addressOf(1001);
const QUIET = addressOf(1002);
const WHALE = addressOf(5000);
const WRAPPED_ETHER = "0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2";
const SPAMMER = addressOf(7002);
/**
 * Rows that one step of a plan may read: enough for a page of 250 tokens with a few orders each, not for all listings.
 */
const MAX_ROWS = 3000;

const { database, sql } = await useDatabase(createReadableDatabase, {
  max: 1,
  connection: { search_path: "onchain_mainnet,offchain" },
});

beforeAll(async () => {
  const address = (n: string) => `decode(lpad(to_hex(${n}), 40, '0'), 'hex')`;
  const hash = (n: string) => `decode(lpad(to_hex(${n}), 64, '0'), 'hex')`;
  const owner = address("5000 + case when i % 2 = 0 then 0 else i % 400 end");
  const ids = `generate_series(1, ${TOKENS}) as i`;
  await sql.unsafe(`
    insert into contract values (${address("1001")}, 'ERC721', false, 1, 0), (${address("1002")}, 'ERC721', false, 2, 0);
    insert into token values (${address("1002")}, 1, 'ERC721', ${address("7000")});
    insert into token
    select ${address("1001")}, i, 'ERC721', ${owner}, ${address("7000")}, i, i, ${hash("i")} from ${ids};
    insert into token_event
      (block_number, log_index, batch_index, timestamp, event_type, contract_address, token_id, from_address,
       to_address, quantity, transaction_hash)
    select i, 0, 0, i, 'transfer', ${address("1001")}, i, ${address("7000")}, ${owner}, 1, ${hash("i")} from ${ids};
    insert into trade_order
      (exchange_address, order_hash, marketplace, is_open, is_cancelled, filled, side, maker, contract_address,
       token_id, quantity, currency_address, start_amount, end_amount, unit_price, start_time, end_time, counter,
       operator, broker, placed_timestamp, updated_timestamp)
    select ${address("9000")}, ${hash("i")}, 'seaport', i % 3 = 0, i % 3 = 1, 0, 'listing', ${owner},
      ${address("1001")}, i, 1, ${address("0")}, 1000 + i, 1000 + i, 1000 + i, 0, 9007199254740991, 0,
      ${address("8000")}, ${address("8001")}, i, i
    from ${ids};
    insert into signed_order
      (chain_id, exchange_address, order_hash, side, maker, contract_address, token_id, quantity, currency_address,
       start_amount, end_amount, unit_price, start_time, end_time, counter, operator, broker, placed_timestamp,
       parameters, signature)
    select 1, ${address("9000")}, ${hash("1000000 + i")}, 'listing', ${owner}, ${address("1001")}, i, 1,
      ${address("0")}, 900 + i, 900 + i, 900 + i, 0, 9007199254740991, 0, ${address("8000")}, ${address("8001")}, i,
      '{}', '\\x00'
    from ${ids}
    where i % 5 = 0;
    insert into signed_order
      (chain_id, exchange_address, order_hash, side, maker, contract_address, token_id, quantity, currency_address,
       start_amount, end_amount, unit_price, start_time, end_time, counter, operator, broker, placed_timestamp,
       parameters, signature)
    select 1, ${address("9000")}, ${hash("3000000 + i")}, 'offer', ${address("7002")}, ${address("1001")},
      case when i % 2 = 0 then 30000 end, 1, ${address("case when i % 3 = 0 then 4711 else 0 end")}, 1, 1, 1, i, i + 5, 0,
      ${address("8000")}, ${address("8001")}, i, '{}', '\\x00'
    from ${ids};
    insert into signed_order
      (chain_id, exchange_address, order_hash, side, maker, contract_address, token_id, quantity, currency_address,
       start_amount, end_amount, unit_price, start_time, end_time, counter, operator, broker, placed_timestamp,
       parameters, signature)
    select 1, ${address("9000")}, ${hash("4000000 + i")}, 'listing', ${address("7002")}, ${address("1001")}, 30000, 1,
      ${address("0")}, 1, 1, 1, i, i + 5, 0, ${address("8000")}, ${address("8001")}, i, '{}', '\\x00'
    from ${ids};
    insert into approval
    select i, 0, ${address("1001")}, ${address("5000 + i % 400")}, ${address("8000")}, true from ${ids};
    insert into trade_order
      (exchange_address, order_hash, marketplace, is_open, is_cancelled, filled, side, maker, contract_address,
       token_id, quantity, currency_address, start_amount, end_amount, unit_price, start_time, end_time, counter,
       operator, broker, placed_timestamp, updated_timestamp)
    select ${address("9000")}, ${hash("2000000 + i")}, 'seaport', i % 3 = 0, i % 3 = 1, 0, 'offer', ${address("7001")},
      ${address("1001")}, i, 1, ${address("0")}, 1000 + i, 1000 + i, 1000 + i, 0, 9007199254740991, 0,
      ${address("8000")}, ${address("8001")}, i, i
    from ${ids};
    insert into raised_counter (exchange_address, maker, counter, timestamp)
    select ${address("9000")}, ${address("5000 + i % 400")}, i, i from ${ids};
    analyze;
  `);
});

const moment = { chainId: CHAIN_ID, now: Math.floor(Date.now() / 1000) };
const token = { ...moment, contractAddress: CONTRACT };
const portfolio = { ...moment, accountAddress: WHALE };
const select = { isBuyNow: false, sort: undefined, direction: "asc" } as const;
const limit = 250;
/**
 * Loads a page. Before it, the statement runs that finds where pages begin, which a server runs once for many requests.
 */
const collectionPage =
  (offset: number, more: object = {}) =>
  async (on: Sql) => {
    const { page } = await createTokenLists(on)(token, { ...select, ...more }, { offset, limit });
    return writeCollectionPage(streamOf(on), { ...token, page, isBuyNow: false, about: { token_count: 0 } });
  };
const portfolioPage =
  (offset: number, more: object = {}) =>
  async (on: Sql) => {
    const { page } = await createTokenLists(on)(portfolio, { ...select, ...more }, { offset, limit });
    return writeAccountPage(streamOf(on), { ...portfolio, page, isBuyNow: false, about: { token_count: 0 } });
  };
const tokens = Array.from({ length: 50 }, (_, n) => ({ contract_address: CONTRACT, token_id: String(1 + n * 1000) }));
const collectionsOf = (contract: string, count: number) => [
  toArray([contract.slice(2)]),
  ...momentParameters(moment),
  toArray([count]),
  toArray([1]),
  toArray([1]),
];

const sentOf = (token_id: bigint | null) => {
  const terms: Partial<Terms> = {
    contract_address: CONTRACT as Hex,
    token_id,
    side: "offer",
    maker: SPAMMER as Hex,
    currency_address: WRAPPED_ETHER,
  };
  return { ...moment, terms: terms as Terms, orderHash: hashOf(1) as Hex };
};

const signed = { ...moment, extraExchanges: [addressOf(0x9000)] };

const lists: Record<string, (on: Sql) => Promise<unknown>> = {
  "tokens here and there": (on) => findOrderbookItems(streamOf(on), { ...token, tokens }),
  "rows of tokens": (on) => listOrderbookTokens(on, { ...token, tokens }),
  "a collection, first page": (on) => listCollectionItems(streamOf(on), { ...token, after: undefined, limit }),
  "a collection, deep page": (on) => listCollectionItems(streamOf(on), { ...token, after: "50000", limit }),
  "an owner, first page": (on) => listOwnedItems(streamOf(on), { ...portfolio, after: undefined, limit }),
  "an owner, deep page": (on) => listOwnedItems(streamOf(on), { ...portfolio, after: [CONTRACT, "40000"], limit }),
  offers: (on) => listOffers(on, { ...token, tokenId: "30000" }),
  history: (on) => listHistory(on, { ...token, tokenId: "30000" }),
  "a signed listing": (on) => findSignedOrder(on, { ...signed, orderHash: hashOf(1_000_005) }),
  "a signed offer": (on) => findSignedOrder(on, { ...signed, orderHash: hashOf(3_000_001) }),
  "an account's listings": (on) => listAccountListings(on, { ...portfolio, limit }),
  "listings by price": (on) => listListings(on, { ...token, limit }),
  "room for an offer": (on) => requireRoom(on, sentOf(30000n)),
  "room for an offer for any token": (on) => requireRoom(on, sentOf(null)),
  "an account's collections": (on) => streamOf(on)(PORTFOLIO_ITEMS, collectionsOf(CONTRACT, TOKENS), () => {}),
  "a collection of which nothing is on sale": (on) => streamOf(on)(PORTFOLIO_ITEMS, collectionsOf(QUIET, 1), () => {}),
  "tokens on the marketplace, first page": collectionPage(0),
  "tokens on the marketplace, deep page": collectionPage(50_050),
  "tokens on the marketplace by price": collectionPage(5000, { sort: "price" }),
  "tokens of an account on the marketplace, first page": portfolioPage(0),
  "tokens of an account on the marketplace, deep page": portfolioPage(25_050),
  "tokens of an account on the marketplace by price": portfolioPage(5000, { sort: "price" }),
  "orders that are over, once the old ones are dropped": (on) => makeRoom(on, sentOf(30000n)),
};

test.each(Object.entries(lists))("%s: no table is scanned, sorted or filtered through", async (_, query) => {
  const steps = await explain(database.url, query);
  expect(steps.filter(({ kind, rows }) => kind === "Seq Scan" || rows > MAX_ROWS)).toEqual([]);
  // A plan that reads no rows would pass the check above.
  expect(Math.max(...steps.map(({ rows }) => rows))).toBeGreaterThan(0);
});

test("rows of tokens are found without a look at offers, which nobody who reads them shows", async () => {
  for (const query of [
    (on: Sql) => listOrderbookTokens(on, { ...token, tokens }),
    (on: Sql) => listCollectionTokens(on, { ...token, after: undefined, limit }),
  ]) {
    const tables = (await explain(database.url, query)).map(({ table }) => table);
    expect(tables).toContain("signed_order");
    expect(tables).not.toContain("offer_funds");
  }
});

test.each([
  ["an account", portfolio, false],
  ["a collection", token, true],
  ["an account of a collection", { ...token, accountAddress: WHALE }, false],
])("what is on sale of %s is found without a scan", async (_, scope, isOverSets) => {
  const chosen = await chooseListed(sql, scope);
  expect(chosen.isOverSets).toBe(isOverSets);
  const plan = await runLong<Record<string, string>>(
    sql,
    (long) => long.unsafe(`explain ${chosen.listed}`, scopeParameters({ ...scope, now: 0 })),
    chosen,
  );
  expect(plan.map((row) => row["QUERY PLAN"]).join("\n")).not.toContain("Seq Scan");
});

/** How many rows of a table a query reads, on a connection like those of the API. */
async function countRead(table: string, query: (on: Sql) => Promise<unknown>): Promise<number> {
  const on = connectLikeApi(database.url);
  const count = async () => {
    await on`select pg_stat_force_next_flush()`;
    const [row] =
      await on`select idx_tup_fetch + seq_tup_read as rows from pg_stat_user_tables where relname = ${table}`;
    return Number(row!["rows"]);
  };
  const before = await count();
  await query(on);
  const read = (await count()) - before;
  await on.end();
  return read;
}

test("whether many listings of a collection are signed is found without a look at those of others", async () => {
  const quiet = { ...token, contractAddress: QUIET };
  expect(await countRead("signed_order", (on) => chooseListed(on, quiet))).toBe(0);
  expect(await countRead("signed_order", (on) => chooseListed(on, token))).toBeGreaterThan(0);
});

test("of many signed listings the state is looked up, not found by a look at all orders of the chain", async () => {
  const { listed, ...how } = await chooseListed(sql, token);
  const read = await countRead("trade_order", (on) =>
    runLong(on, (long) => long.unsafe(listed, scopeParameters(token)), how),
  );
  // A third of the listings on the chain are open, and a fifth as many are signed.
  expect(read).toBeLessThanOrEqual(TOKENS / 3 + TOKENS / 5);
});

test("orders of tokens are looked up also where no table was ever analyzed", async () => {
  const fresh = await createReadableDatabase();
  const on = postgres(fresh.url, {
    max: 1,
    onnotice: () => {},
    connection: { search_path: "onchain_mainnet,offchain" },
  });
  const address = (n: number) => `decode(lpad(to_hex(${n}), 40, '0'), 'hex')`;
  const terms = (side: string) => `
    ${address(0x9000)}, sha256(('${side}' || i)::bytea), '${side}', ${address(5000)}, ${address(1001)}, i, 1, ${address(0)},
    i, i, i, 0, 9007199254740991, 0, ${address(0x8000)}, ${address(0x8001)}, i
  `;
  const columns = `
    exchange_address, order_hash, side, maker, contract_address, token_id, quantity, currency_address, start_amount,
    end_amount, unit_price, start_time, end_time, counter, operator, broker, placed_timestamp
  `;
  const sides = ["listing", "offer"];
  await on.unsafe(`
    ${["trade_order", "signed_order"].map((table) => `alter table ${table} set (autovacuum_enabled = false)`).join(";")};
    insert into contract values (${address(1001)}, 'ERC721', false, 1, 0);
    insert into token
    select ${address(1001)}, i, 'ERC721', ${address(5000)}
    from generate_series(1, 5000) as i;
    ${sides
      .map(
        (side) => `
          insert into trade_order (${columns}, marketplace, is_open, is_cancelled, filled, updated_timestamp)
          select ${terms(side)}, 'seaport', true, false, 0, i
          from generate_series(1, 5000) as i;
          insert into signed_order (${columns}, chain_id, parameters, signature)
          select ${terms(side)}, 1, '{}', '\\x00'
          from generate_series(5001, 10000) as i
        `,
      )
      .join(";")};
  `);
  await on.end();
  const some = Array.from({ length: 50 }, (_, n) => ({ contract_address: CONTRACT, token_id: String(1 + n * 100) }));
  for (const query of [
    (sql: Sql) => findOrderbookItems(streamOf(sql), { ...token, tokens: some }),
    (sql: Sql) => listCollectionItems(streamOf(sql), { ...token, after: "2000", limit }),
    (sql: Sql) => listOffers(sql, { ...token, tokenId: "3000" }),
    (sql: Sql) => listOrderbookTokensOf(sql, { ...portfolio, tokens: some }),
  ]) {
    const steps = await explain(fresh.url, query);
    expect(steps.filter(({ kind, rows }) => kind === "Seq Scan" || rows > MAX_ROWS)).toEqual([]);
  }
  // Before the end of its transaction, and the count of what was looked at.
  const list = { at: -3 };
  const byPrice = (sql: Sql) => createTokenLists(sql)(portfolio, { ...select, sort: "price" }, { offset: 0, limit });
  // What is held and what is listed are read once each, not one for each row of the other.
  expect(Math.max(...(await explain(fresh.url, byPrice, list)).map(({ rows }) => rows))).toBe(10_000);
  await fresh.drop();
});

test("listings by price are looked at in their order, and no more of them, beside many small collections", async () => {
  const many = await createReadableDatabase();
  const on = postgres(many.url, { max: 1, connection: { search_path: "onchain_mainnet,offchain" } });
  const bytea = (hex: string) => `'\\x${hex.slice(2)}'::bytea`;
  const list = (contract: string, count: number) =>
    on.unsafe(`
      insert into token
      select ${contract}, i, 'ERC721', ${bytea(WHALE)}
      from generate_series(1, ${count}) as i;
      insert into trade_order
        (exchange_address, order_hash, marketplace, is_open, is_cancelled, filled, side, maker, contract_address,
         token_id, quantity, currency_address, start_amount, end_amount, unit_price, start_time, end_time, counter,
         broker, placed_timestamp, updated_timestamp)
      select ${bytea(addressOf(0x9000))}, sha256(${contract} || i::text::bytea), 'seaport', true, false, 0, 'listing',
        ${bytea(WHALE)}, ${contract}, i, 1, ${bytea(addressOf(0))}, i, i, i, 0, 9007199254740991, 0,
        ${bytea(addressOf(0x8001))}, i, i
      from generate_series(1, ${count}) as i
    `);
  await list("substr(sha256(i::text::bytea), 1, 20)", 1000);
  await list(bytea(CONTRACT), 5000);
  await on`analyze`;
  await on.end();
  const steps = await explain(many.url, (sql) => listListings(sql, { ...token, limit }));
  expect(steps.filter(({ rows }) => rows > MAX_ROWS)).toEqual([]);
  await many.drop();
});

test("listings on the chain by others than the owner are left out before the best one is looked for", async () => {
  const id = TOKENS + 1;
  const bytea = (hex: string) => `'\\x${hex.slice(2)}'::bytea`;
  const list = (maker: string, kind: string, count: number) =>
    sql.unsafe(`
      insert into trade_order
        (exchange_address, order_hash, marketplace, is_open, is_cancelled, filled, side, maker, contract_address,
         token_id, quantity, currency_address, start_amount, end_amount, unit_price, start_time, end_time, counter,
         broker, placed_timestamp, updated_timestamp)
      select ${bytea(addressOf(0x9000))}, sha256(('${kind}' || i)::bytea), 'seaport', true, false, 0, 'listing',
        ${bytea(maker)}, ${bytea(QUIET)}, ${id}, 1, ${bytea(addressOf(0))}, i, i, i, 0, 9007199254740991, 0,
        ${bytea(addressOf(0x8001))}, i, i
      from generate_series(1, ${count}) as i
    `);
  await sql.unsafe(`insert into token values (${bytea(QUIET)}, ${id}, 'ERC721', ${bytea(WHALE)})`);
  await list(SPAMMER, "foreign", 5000);
  await list(WHALE, "own", 2);
  const keys = [{ contract_address: QUIET, token_id: String(id) }];
  const quiet = { ...token, contractAddress: QUIET };
  for (const query of [
    (on: Sql) => findOrderbookItems(streamOf(on), { ...token, tokens: keys }),
    // Beside the other token of the collection.
    (on: Sql) => listCollectionItems(streamOf(on), { ...quiet, after: undefined, limit }),
    async (on: Sql) => {
      const { page } = await createTokenLists(on)(quiet, select, { offset: 0, limit });
      return writeCollectionPage(streamOf(on), { ...quiet, page, isBuyNow: false, about: {} });
    },
  ]) {
    const steps = await explain(database.url, query);
    expect(steps.filter(({ kind, rows }) => kind === "Sort" && rows > 3)).toEqual([]);
  }
  const [row] = await listOrderbookTokens(sql, { ...token, tokens: keys });
  expect(row).toMatchObject({ maker: WHALE, current_price: "1" });
  const rows = await listCollectionTokens(sql, { ...quiet, after: undefined, limit });
  expect(rows).toMatchObject([{ order_hash: null }, { maker: WHALE, current_price: "1" }]);
});

test("of offers on the chain, which need no money, the newest are looked at, and none that were signed for other contracts", async () => {
  const crowded = await createReadableDatabase();
  const on = postgres(crowded.url, {
    max: 1,
    onnotice: () => {},
    connection: { search_path: "onchain_mainnet,offchain" },
  });
  const address = (n: number | string) => `decode(lpad(to_hex(${n}), 40, '0'), 'hex')`;
  const wrapped = `'\\x${WRAPPED_ETHER.slice(2)}'::bytea`;
  const terms = (kind: string, contract: number, tokenId: string) => `
    ${address(0x9000)}, sha256(('${kind}' || i)::bytea), 'offer', ${address("20000 + i")}, ${address(contract)}, ${tokenId}, 1,
    ${wrapped}, i, i, i, 0, 9007199254740991, 0, ${address(0x8000)}, ${address(0x8001)}, i
  `;
  const columns = `
    exchange_address, order_hash, side, maker, contract_address, token_id, quantity, currency_address, start_amount,
    end_amount, unit_price, start_time, end_time, counter, operator, broker, placed_timestamp
  `;
  const onChain = (kind: string, tokenId: string, ids: string) => `
    insert into trade_order (${columns}, marketplace, is_open, is_cancelled, filled, updated_timestamp)
    select ${terms(kind, 1001, tokenId)}, 'seaport', true, false, 0, i
    from ${ids} as i
  `;
  const many = `generate_series(1, ${4 * MAX_OFFERS})`;
  await on.unsafe(`
    insert into contract values (${address(1001)}, 'ERC721', false, 1, 0);
    insert into token values (${address(1001)}, 1, 'ERC721', ${address(5000)});
    ${onChain("one", "1", many)};
    ${onChain("any", "null::numeric", many)};
    insert into signed_order (${columns}, chain_id, parameters, signature)
    select ${terms("signed", 1002, "null::numeric")}, 1, '{}', '\\x00'
    from ${many} as i;
    insert into offer_funds (chain_id, currency_address, maker, operator, spendable)
    select 1, ${wrapped}, ${address("20000 + i")}, ${address(0x8000)}, 0
    from ${many} as i
    on conflict (chain_id, currency_address, maker, operator) do update
    set spendable = 0;
    analyze;
  `);
  const one = { ...token, tokenId: "1" };
  const keys = [{ contract_address: CONTRACT, token_id: "1" }];
  const mostRows = async (query: (on: Sql) => Promise<unknown>) =>
    Math.max(...(await explain(crowded.url, query)).map(({ rows }) => rows));
  expect(await mostRows((sql) => findOrderbookItems(streamOf(sql), { ...token, tokens: keys }))).toBe(MAX_OFFERS);
  expect(await mostRows((sql) => listOffers(sql, one))).toBe(MAX_OFFERS);
  expect(await mostRows((sql) => listOrderbookTokens(sql, { ...token, tokens: keys }))).toBeLessThan(10);
  expect(await mostRows((sql) => listHistory(sql, one))).toBeLessThan(MAX_ROWS);

  // Of somebody whom the worker hasn't asked yet.
  await on.unsafe(onChain("paid", "null::numeric", `unnest(array[${4 * MAX_OFFERS + 1}])`));
  expect(await listOffers(on, one)).toMatchObject([{ offer_timestamp: "20001" }]);
  const [found] = await findOrderbookItems(streamOf(on), { ...token, tokens: keys });
  expect(JSON.parse(found!.json)).toMatchObject({ has_offer: "true" });
  await on.end();
  await crowded.drop();
});
