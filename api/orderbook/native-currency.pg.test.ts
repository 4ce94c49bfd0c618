import { beforeAll, expect, test } from "vitest";
import { addressOf, inserter, ZERO } from "../../test/api.ts";
import { createReadableDatabase, useDatabase } from "../../test/database.ts";
import { placeOrder } from "../../test/orders.ts";
import { ALICE, APES } from "../../test/seed.ts";
import { renderAmount } from "../../web/currency.ts";
import { findFloor } from "./floor.ts";
import { listListings } from "./listed-token.ts";

const WETH = "0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2";
const BLUR_POOL = "0x0000000000a39bb272e79075ade125fd351887ac";
const OP_WETH = "0x4200000000000000000000000000000000000006";
const WPOL = "0x0d500b1d8e8ef31e21c99d1db9a6444d3adf1270";
const ARBITRUM_WETH = "0x82af49447d8a07e3bd95bd0d56f35241523fbab1";
const WBNB = "0xbb4cdb9cbd36b01bd1cbaebf2de08d9173bc095c";
const WAVAX = "0xb31f66aa3c1e785363f0875a1b74e27b85fd66c7";
const WXDAI = "0xe91d153e0b41518a2ce8dd3d7944fa863463a97d";
const SEPOLIA_WETH = "0xfff9976782d46cc05630d1f6ebab18b2324d6b14";
const SEPOLIA_WETH_TOO = "0x7b79995e5f793a07bc00c21412e50ecae098e7f9";
/** The test places one listing in each currency; the first one is the cheapest. */
const CURRENCIES = [
  addressOf(0xd0),
  OP_WETH,
  WPOL,
  ARBITRUM_WETH,
  WBNB,
  WAVAX,
  WXDAI,
  SEPOLIA_WETH,
  SEPOLIA_WETH_TOO,
  BLUR_POOL,
  WETH,
  ZERO,
];

const { sql } = await useDatabase(createReadableDatabase, {
  max: 1,
  connection: { search_path: "onchain_mainnet,offchain" },
});

beforeAll(async () => {
  const main = inserter(sql);
  await main.contract(APES);
  for (const [n, currency_address] of CURRENCIES.entries()) {
    await main.token(APES, n, { owner: ALICE });
    await placeOrder(sql, n, { token_id: String(n), currency_address, start_amount: String(1 + n) });
  }
});

test.each([
  [1, [BLUR_POOL, WETH]],
  [31337, [BLUR_POOL, WETH]],
  [10, [OP_WETH]],
  [8453, [OP_WETH]],
  [137, [WPOL]],
  [42161, [ARBITRUM_WETH]],
  [56, [WBNB]],
  [43114, [WAVAX]],
  [100, [WXDAI]],
  [11155111, [SEPOLIA_WETH, SEPOLIA_WETH_TOO]],
  [5, []],
])("on chain %d its own currency is also these: %j", async (chainId, wrapped) => {
  const own = CURRENCIES.filter((currency) => currency === ZERO || wrapped.includes(currency));
  const prices = own.map((currency) => String(1 + CURRENCIES.indexOf(currency)));
  const place = { chainId, now: Math.floor(Date.now() / 1000), contractAddress: APES };
  expect(await findFloor(sql, place)).toBe(prices[0]);
  const listed = await listListings(sql, { ...place, limit: 100 });
  expect(listed).toHaveLength(CURRENCIES.length);
  expect(listed.flatMap(({ key: [phase, price] }) => (phase === "fixed" ? [price] : []))).toEqual(prices);
});

test.each([
  [1, WETH, "WETH"],
  [1, BLUR_POOL, "Blur ETH"],
  [31337, WETH, "WETH"],
  [8453, OP_WETH, "WETH"],
  [137, WPOL, "WPOL"],
  [56, WBNB, "WBNB"],
  [100, WXDAI, "WXDAI"],
  [100, ZERO, "xDAI"],
  [43114, WAVAX, "WAVAX"],
])("on chain %d an amount in %s is one of %s", async (chainId, currencyAddress, symbol) => {
  const html = (await renderAmount("1500000000000000000", { chainId, currencyAddress })).toString();
  expect(html).toContain(`title="1.5 ${symbol}"`);
});

test("what is wrapped elsewhere is any token", async () => {
  const html = (await renderAmount("10", { chainId: 1, currencyAddress: OP_WETH })).toString();
  expect(html).toContain("10 of 0x4200");
});
