import postgres, { type Sql } from "postgres";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findFloor } from "../api/orderbook/floor.ts";
import { listTokenHolders } from "../api/token/holder.ts";
import { listAccountListings, listListings } from "../api/orderbook/listed-token.ts";
import { listOrderbookTokensOf } from "../api/orderbook/orderbook.ts";
import { listNewestEvents } from "../api/token/newest-event.ts";
import { listPreviewTokens, listTokenCards } from "../api/token/token-card.ts";
import { addContracts, address, addTokens, bytes, CHAIN_ID, CONTRACT, OWNER } from "../bench/api-rows.ts";
import { addListings } from "../bench/market-rows.ts";
import { createReadableDatabase, type TestDatabase } from "../test/database.ts";
import { explain } from "../test/explain.ts";

/** Every token is listed, and one account has a tenth of them. */
const TOKENS = 10_000;
const LIMIT = 25;
const CLAIMED = `0x${"c1".repeat(20)}`;
const moment = { chainId: CHAIN_ID, now: 1_900_000_000 };

let database: TestDatabase;

beforeAll(async () => {
  database = await createReadableDatabase();
  const sql = postgres(database.url, { max: 1, onnotice: () => {} });
  await addContracts(sql);
  await addTokens(sql, { count: TOKENS });
  await addListings(sql);
  await addFormerHolders(sql);
  await sql.end();
});
afterAll(() => database?.drop());

/**
 * A token that as many accounts as there are tokens once held, and one in a thousand does now, among others that are held,
 * and one of which more accounts hold some, with addresses behind all others.
 */
const addFormerHolders = (sql: Sql) =>
  sql.unsafe(`
    insert into onchain_mainnet.token (contract_address, token_id, standard) values (${bytes(CLAIMED)}, 1, 'ERC1155');
    insert into onchain_mainnet.ownership
    select ${bytes(CLAIMED)}, 1, ${address("n")}, case when n % 1000 = 0 then 1 else 0 end, n, 0, 0
    from generate_series(1, ${TOKENS}) as n;
    insert into onchain_mainnet.token (contract_address, token_id, standard) values (${bytes(CLAIMED)}, 200, 'ERC1155');
    insert into onchain_mainnet.ownership
    select ${bytes(CLAIMED)}, 200, ${address("n")}, case when n > ${TOKENS} then 1 else 0 end, n, 0, 0
    from generate_series(1, ${TOKENS + 1500}) as n;
    insert into onchain_mainnet.ownership
    select ${bytes(CLAIMED)}, 2 + n % 100, ${address("n")}, 1, n, 1, 0
    from generate_series(1, ${10 * TOKENS}) as n;
    analyze onchain_mainnet.ownership;
  `);

const tokens = Array.from({ length: LIMIT }, (_, n) => ({ contract_address: CONTRACT, token_id: String(n * 300 + 1) }));

test.each<[string, Parameters<typeof explain>[1]]>([
  ["newest events", (sql) => listNewestEvents(sql, { chainId: CHAIN_ID, limit: LIMIT })],
  ["older events", (sql) => listNewestEvents(sql, { chainId: CHAIN_ID, before: [5000, 0, 0], limit: LIMIT })],
  ["what tokens look like", (sql) => listTokenCards(sql, { chainId: CHAIN_ID, tokens })],
  ["first tokens of contracts", (sql) => listPreviewTokens(sql, { addresses: [CONTRACT] })],
  ["owners", (sql) => listTokenHolders(sql, { contractAddress: CONTRACT, tokenId: "5", limit: LIMIT })],
  [
    "owners of what many held",
    (sql) => listTokenHolders(sql, { contractAddress: CLAIMED, tokenId: "1", limit: LIMIT }),
  ],
  [
    "owners of what more held, behind all who don't any more",
    (sql) => listTokenHolders(sql, { contractAddress: CLAIMED, tokenId: "200", limit: LIMIT }),
  ],
  ["floor", (sql) => findFloor(sql, { ...moment, contractAddress: CONTRACT })],
  ["listings", (sql) => listListings(sql, { ...moment, contractAddress: CONTRACT, limit: LIMIT })],
  [
    "dearer listings",
    (sql) =>
      listListings(sql, {
        ...moment,
        contractAddress: CONTRACT,
        after: ["fixed", "5000000000000000000", `0x${"00".repeat(32)}`, `0x${"00".repeat(20)}`],
        limit: LIMIT,
      }),
  ],
  ["an account's listings", (sql) => listAccountListings(sql, { ...moment, accountAddress: OWNER, limit: LIMIT })],
  ["an account's prices", (sql) => listOrderbookTokensOf(sql, { ...moment, accountAddress: OWNER, tokens })],
])("%s: read by an index, and no more than a page needs", async (_, query) => {
  const steps = await explain(database.url, query);
  expect(steps.filter(({ kind, table }) => kind === "Seq Scan" && table !== "network")).toEqual([]);
  const rows = steps.filter(({ table }) => table !== undefined).map(({ table, rows }) => ({ table, rows }));
  expect(rows.filter(({ rows }) => rows > 20 * LIMIT)).toEqual([]);
});
