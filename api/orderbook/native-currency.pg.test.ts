import postgres, { type Sql } from "postgres";
import { afterAll, beforeAll, expect, test } from "vitest";
import { addressOf, inserter, ZERO } from "../../test/api.ts";
import { createMigratedDatabase, type TestDatabase } from "../../test/database.ts";
import { placeOrder } from "../../test/orders.ts";
import { ALICE, APES } from "../../test/seed.ts";
import { renderAmount } from "../../web/currency.ts";
import { findFloor } from "./collection-floor.ts";
import { listListings } from "./listed-token.ts";

const WETH = "0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2";
const BLUR_POOL = "0x0000000000a39bb272e79075ade125fd351887ac";
const OP_WETH = "0x4200000000000000000000000000000000000006";
const WPOL = "0x0d500b1d8e8ef31e21c99d1db9a6444d3adf1270";
const ARBITRUM_WETH = "0x82af49447d8a07e3bd95bd0d56f35241523fbab1";
const WBNB = "0xbb4cdb9cbd36b01bd1cbaebf2de08d9173bc095c";
/** One listing in each, the first the cheapest. */
const CURRENCIES = [addressOf(0xd0), OP_WETH, WPOL, ARBITRUM_WETH, WBNB, BLUR_POOL, WETH, ZERO];

let database: TestDatabase;
let sql: Sql;

beforeAll(async () => {
  database = await createMigratedDatabase();
  sql = postgres(database.url, { max: 1, onnotice: () => {}, connection: { search_path: "onchain_mainnet,offchain" } });
  const main = inserter(sql);
  await main.contract(APES);
  for (const [n, currency_address] of CURRENCIES.entries()) {
    await main.token(APES, n, { owner: ALICE });
    await placeOrder(sql, n, { token_id: String(n), currency_address, start_amount: String(1 + n) });
  }
});
afterAll(async () => {
  await sql.end();
  await database.drop();
});

test.each([
  [1, [BLUR_POOL, WETH]],
  [31337, [BLUR_POOL, WETH]],
  [10, [OP_WETH]],
  [8453, [OP_WETH]],
  [137, [WPOL]],
  [42161, [ARBITRUM_WETH]],
  [56, [WBNB]],
  [100, []],
])("on chain %d its own currency is also these: %j", async (chainId, wrapped) => {
  const own = CURRENCIES.filter((currency) => currency === ZERO || wrapped.includes(currency));
  const prices = own.map((currency) => String(1 + CURRENCIES.indexOf(currency)));
  const place = { chainId, contractAddress: APES };
  expect(await findFloor(sql, place)).toBe(prices[0]);
  const listed = await listListings(sql, { ...place, limit: 100 });
  expect(listed).toHaveLength(CURRENCIES.length);
  expect(listed.flatMap(({ key: [phase, price] }) => (phase === "fixed" ? [price] : []))).toEqual(prices);
});

test("wrapped ether of OP is called that on chains built on it alone", async () => {
  const render = async (chainId: number) =>
    (await renderAmount("10", { chainId, currencyAddress: OP_WETH })).toString();
  expect(await render(8453)).toContain("WETH");
  expect(await render(1)).not.toContain("WETH");
});
