import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { toBytes } from "../../offchain/bytea.ts";
import { addressOf, createTestApi, hashOf, hexOf, MAINNET_ID, type TestApi, TESTNET_ID, ZERO } from "../../test/api.ts";
import { BROKER, clearOrders, CONDUIT, EXCHANGE, placeOrder, storeOrder } from "../../test/orders.ts";
import { ALICE, APES, BOB, COINS, ITEMS, PUNKS, seed } from "../../test/seed.ts";

const DOLLARS = addressOf(0xd0);

let t: TestApi;
const now = () => Math.floor(Date.now() / 1000);

beforeAll(async () => {
  t = await createTestApi();
  await seed(t.sql);
});
afterAll(() => t.stop());

const place = (hash: number, order: Record<string, unknown> = {}) => placeOrder(t.sql, hash, order);
const reset = () => clearOrders(t.sql);
const approve = (is_approved: boolean, block_number: number) => t.sql`
  insert into onchain_mainnet.approval ${t.sql({
    block_number,
    log_index: 0,
    contract_address: toBytes(APES),
    owner: toBytes(ALICE),
    operator: toBytes(CONDUIT),
    is_approved,
  } as never)}
`;
const get = async (path: string) => (await t.get(`/orderbook/${path}`)).body.result;
const ape = async () => get(`token/${APES}/1`);

describe("a token", () => {
  test("that isn't listed has empty strings, and the units that its owner holds", async () => {
    await reset();
    expect(await ape()).toEqual({
      token_chain_id: "0x1",
      contract_address: APES,
      token_id: hexOf(1),
      current_owner: ALICE,
      listed_timestamp: "",
      updated_timestamp: "1600000006",
      current_price: "",
      quantity: "1",
      start_amount: "",
      end_amount: "",
      start_date: "",
      end_date: "",
      broker_id: "",
      is_listed: "false",
      has_offer: "false",
      currency_address: "",
      order_hash: "",
      exchange: "",
    });
    expect(await get(`token/${ITEMS}/7`)).toMatchObject({ current_owner: BOB, quantity: "2" });
  });

  test("that is burned is held by nobody, who could accept no offer", async () => {
    await reset();
    await place(1, { side: "offer", maker: BOB, operator: null, token_id: null });
    expect(await get(`token/${APES}/2`)).toMatchObject({ current_owner: ZERO, quantity: "0", has_offer: "false" });
    expect(await get(`token/${APES}/2/offers`)).toMatchObject({ offers: [] });
    expect(await ape()).toMatchObject({ quantity: "1", has_offer: "true" });
  });

  test("that is listed has its terms as strings", async () => {
    await reset();
    await place(1, { end_time: 9_000_000_000 });
    expect(await ape()).toMatchObject({ is_listed: "true", end_date: "9000000000" });
    await reset();
    await place(1);
    expect(await ape()).toMatchObject({
      listed_timestamp: "1700000001",
      updated_timestamp: "1700000001",
      current_price: "1000",
      quantity: "1",
      start_amount: "1000",
      end_amount: "",
      start_date: "1700000000",
      end_date: "",
      broker_id: BROKER,
      is_listed: "true",
      currency_address: ZERO,
      order_hash: hashOf(1),
      exchange: "seaport",
    });
  });

  test("was updated when its last listing was, also once that is over", async () => {
    await reset();
    const at = (second: number) => ({ placed_timestamp: second, updated_timestamp: second });
    await place(1);
    await place(2, { start_amount: "900", end_time: 1_700_000_400, ...at(1_700_000_300) });
    expect(await ape()).toMatchObject({ is_listed: "true", updated_timestamp: "1700000300" });
    const over = { is_open: false, is_cancelled: true };
    const cancel = (timestamp: number) =>
      t.sql`update onchain_mainnet.trade_order set ${t.sql({ ...over, updated_timestamp: timestamp })}`;
    await cancel(1_700_000_399);
    expect(await ape()).toMatchObject({ is_listed: "false", updated_timestamp: "1700000399" });
    // Seaport cancels also what has ended before.
    await cancel(1_700_000_400);
    expect(await ape()).toMatchObject({ is_listed: "false", updated_timestamp: "1700000300" });
    const sent = { placed_timestamp: 1_700_000_600 };
    await storeOrder(t.sql, 3, sent);
    expect(await ape()).toMatchObject({ is_listed: "true", updated_timestamp: "1700000600" });
    const state = { side: null, contract_address: null, token_id: null, quantity: null, placed_timestamp: null };
    await place(3, { ...state, ...over, updated_timestamp: 1_700_000_700 });
    expect(await ape()).toMatchObject({ is_listed: "false", updated_timestamp: "1700000700" });
    await t.sql`update offchain.signed_order set end_time = 1_700_000_700`;
    expect(await ape()).toMatchObject({ is_listed: "false", updated_timestamp: "1700000600" });
    await t.sql`update offchain.signed_order set end_time = 1_700_000_701`;
    // An offer is not something that happened to the token.
    await place(4, { side: "offer", maker: BOB, operator: null, ...at(1_700_000_800) });
    expect(await ape()).toMatchObject({ has_offer: "true", updated_timestamp: "1700000700" });
    // The same hash at another exchange is another order, and orders of another network don't count.
    await place(3, { ...state, ...over, exchange_address: addressOf(1), updated_timestamp: 1_700_000_900 });
    await storeOrder(t.sql, 5, { chain_id: TESTNET_ID, placed_timestamp: 1_700_000_900 });
    expect(await ape()).toMatchObject({ updated_timestamp: "1700000700" });
    await t.sql`delete from offchain.signed_order`;
  });

  test.each([
    [1, 2],
    [2, 1],
  ])(
    "was updated when any of the listings that were placed last, in one second, was: number %i",
    async (number, other) => {
      await reset();
      const state = { side: null, contract_address: null, token_id: null, quantity: null, placed_timestamp: null };
      const over = { is_open: false, is_cancelled: true };
      const at = { placed_timestamp: 1_700_000_300, updated_timestamp: 1_700_000_300 };
      await place(1, { ...over, ...at });
      await place(2, { ...over, ...at });
      const hash = toBytes(hashOf(number));
      await t.sql`update onchain_mainnet.trade_order set updated_timestamp = 1700000400 where order_hash = ${hash}`;
      expect(await ape()).toMatchObject({ updated_timestamp: "1700000400" });
      await storeOrder(t.sql, 3, { placed_timestamp: 1_700_000_600 });
      await storeOrder(t.sql, 4, { placed_timestamp: 1_700_000_600 });
      await place(2 + number, { ...state, ...over, updated_timestamp: 1_700_000_800 });
      await place(2 + other, { ...state, ...over, updated_timestamp: 1_700_000_700 });
      expect(await ape()).toMatchObject({ updated_timestamp: "1700000800" });
      await t.sql`delete from offchain.signed_order`;
    },
  );

  test("was updated when its maker's counter ended its last listing, unless that was over", async () => {
    const raise = async (timestamp: number) => {
      const raised = { exchange_address: toBytes(EXCHANGE), maker: toBytes(ALICE), counter: "1" };
      await t.sql`insert into onchain_mainnet.order_counter ${t.sql(raised as never)}`;
      await t.sql`insert into onchain_mainnet.raised_counter ${t.sql({ ...raised, timestamp } as never)}`;
    };
    const updated = async (timestamp: number) =>
      expect(await ape()).toMatchObject({ is_listed: "false", updated_timestamp: String(timestamp) });
    await reset();
    await place(1);
    await raise(1_700_000_500);
    await updated(1_700_000_500);
    await t.sql`update onchain_mainnet.trade_order set is_open = false, is_cancelled = true`;
    await updated(1_700_000_001);
    await reset();
    await place(1, { end_time: 1_700_000_400 });
    await raise(1_700_000_500);
    await updated(1_700_000_001);
    await reset();
    await storeOrder(t.sql, 2, { placed_timestamp: 1_700_000_300 });
    await raise(1_700_000_600);
    await updated(1_700_000_600);
    await t.sql`delete from offchain.signed_order`;
  });

  test("that nobody knows or sees is 404, an account that holds nothing has an empty list", async () => {
    expect((await t.get(`/orderbook/token/${APES}/999`)).status).toBe(404);
    expect((await t.get(`/orderbook/tokens/collection/${addressOf(9)}`)).status).toBe(404);
    expect((await t.get(`/orderbook/tokens/${addressOf(9)}`)).body).toEqual({ cursor: null, result: [] });
    expect((await t.get(`/orderbook/token/${COINS}/1`)).status).toBe(404);
    expect((await t.get(`/orderbook/tokens/collection/${COINS}`)).status).toBe(404);
  });

  test("needs no key, takes ids and addresses in any form, and refuses others", async () => {
    const path = `/orderbook/token/${APES.toUpperCase().replace("X", "x")}/0x01`;
    expect((await t.api.app.request(path)).status).toBe(200);
    expect((await t.api.app.request("/orderbook/token/0x1/1")).status).toBe(400);
    expect((await t.api.app.request(`/orderbook/token/${APES}/1`, { method: "DELETE" })).status).toBe(405);
  });
});

test("an order that was sent here was placed then, also once somebody puts it on the chain", async () => {
  await reset();
  const [sentAt, offer] = [1_699_999_000, { side: "offer", maker: BOB, token_id: null }];
  await storeOrder(t.sql, 1, { placed_timestamp: sentAt });
  await storeOrder(t.sql, 2, { ...offer, placed_timestamp: sentAt });
  const valuesOf = (rows: unknown, name: string) => (rows as Record<string, unknown>[]).map((row) => String(row[name]));
  const onMarket = async () => (await t.request(`/marketplace/collections/${APES}/1/tokens?items_per_page=1`)).json();
  const told = async () => [
    (await ape()).listed_timestamp,
    ...valuesOf(await get(`tokens/collection/${APES}?limit=1`), "listed_timestamp"),
    ...valuesOf(((await onMarket()) as { data: unknown }).data, "listed_at"),
    ...valuesOf((await get(`token/${APES}/1/offers`)).offers, "offer_timestamp"),
    ...valuesOf((await get(`token/${APES}/1/history`)).history, "event_timestamp"),
  ];
  const before = await told();
  expect(before).toEqual(Array.from({ length: 6 }, () => String(sentAt)));
  await place(1);
  await place(2, offer);
  expect(await told()).toEqual(before);
  // One that is sent again after that was placed on the chain.
  await t.sql`update offchain.signed_order set placed_timestamp = ${1_700_000_500}`;
  expect(await told()).toEqual(before.map(() => "1700000001"));
  await t.sql`delete from offchain.signed_order`;
});

describe("a listing counts only while it could be filled", () => {
  test.for([
    ["not begun", { start_time: now() + 1000 }],
    ["over", { end_time: now() - 1 }],
    ["cancelled", { is_cancelled: true, is_open: false }],
    ["filled", { filled: "1", is_open: false }],
    ["of somebody who doesn't hold the token", { maker: BOB }],
    ["for one taker", { taker: BOB }],
    ["of another token", { token_id: "2" }],
  ] as const)("%s: it doesn't", async ([, order]) => {
    await reset();
    await place(1, order);
    expect(await ape()).toMatchObject({ is_listed: "false", order_hash: "" });
  });

  test("the maker's counter decides", async () => {
    await reset();
    const counter = { exchange_address: toBytes(EXCHANGE), maker: toBytes(ALICE), counter: (2n ** 200n).toString() };
    await t.sql`insert into onchain_mainnet.order_counter ${t.sql(counter as never)}`;
    await place(1);
    expect(await ape()).toMatchObject({ is_listed: "false" });
    await place(2, { counter: (2n ** 200n).toString() });
    expect(await ape()).toMatchObject({ order_hash: hashOf(2) });
  });

  test("an approval that was taken back ends it, and the next one brings it back", async () => {
    await reset();
    await place(1);
    await approve(true, 1);
    expect(await ape()).toMatchObject({ is_listed: "true" });
    await approve(false, 2);
    expect(await ape()).toMatchObject({ is_listed: "false" });
    await approve(true, 3);
    expect(await ape()).toMatchObject({ is_listed: "true" });
  });

  test("it comes back when the seller holds the token again", async () => {
    await reset();
    await place(1);
    const give = (owner: string) =>
      t.sql`update onchain_mainnet.token set owner = ${toBytes(owner)} where contract_address = ${toBytes(APES)} and token_id = 1`;
    await give(BOB);
    expect(await ape()).toMatchObject({ is_listed: "false" });
    await give(ALICE);
    expect(await ape()).toMatchObject({ is_listed: "true", order_hash: hashOf(1) });
  });

  test("a token that the order takes for another kind is not on sale, and none by Seaport is a CryptoPunk", async () => {
    await reset();
    await place(1, { token_standard: "ERC1155" });
    expect(await ape()).toMatchObject({ is_listed: "false" });
    await place(2, { token_standard: "ERC721", start_amount: "2000" });
    expect(await ape()).toMatchObject({ is_listed: "true", order_hash: hashOf(2) });
    const punk = { contract_address: PUNKS, token_id: "100" };
    await place(3, { ...punk, token_standard: "ERC721" });
    expect(await get(`token/${PUNKS}/100`)).toMatchObject({ is_listed: "false" });
    await place(4, { ...punk, operator: null, counter: null, marketplace: "cryptopunks", start_amount: "3000" });
    expect(await get(`token/${PUNKS}/100`)).toMatchObject({ is_listed: "true", order_hash: hashOf(4) });
  });

  test("an order that names no kind is for a token of one owner", async () => {
    await reset();
    const ask = { token_standard: null, operator: null, counter: null };
    await place(1, ask);
    expect(await ape()).toMatchObject({ is_listed: "true", order_hash: hashOf(1) });
    await place(2, { ...ask, contract_address: ITEMS, token_id: "7" });
    expect(await get(`token/${ITEMS}/7`)).toMatchObject({ is_listed: "false" });
    const { body } = await t.get(`/orderbook/tokens/collection/${ITEMS}`);
    expect(body.result.map(({ is_listed }) => is_listed)).not.toContain("true");
  });

  test("units: what is left is on sale while the seller holds as many", async () => {
    await reset();
    const units = { contract_address: ITEMS, token_id: "7", quantity: "6", start_amount: "601", operator: null };
    await place(1, { ...units, filled: "1" });
    expect(await get(`token/${ITEMS}/7`)).toMatchObject({ quantity: "5", current_price: "101", start_amount: "101" });
    await place(2, { ...units, start_amount: "6" });
    expect(await get(`token/${ITEMS}/7`)).toMatchObject({ order_hash: hashOf(1) });
  });
});

describe("the best listing", () => {
  test("is the cheapest, in the chain's own currency before any other", async () => {
    await reset();
    await place(1, { start_amount: "5", currency_address: DOLLARS });
    expect(await ape()).toMatchObject({ current_price: "5", currency_address: DOLLARS });
    await place(2, { start_amount: "2000" });
    await place(3, { start_amount: "1500", currency_address: "0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2" });
    expect(await ape()).toMatchObject({ current_price: "1500", order_hash: hashOf(3) });
    // Of two listings with the same price, the one that was placed first is the best.
    await place(0, { start_amount: "1500", placed_timestamp: 1_700_000_002 });
    expect(await ape()).toMatchObject({ order_hash: hashOf(3) });
  });

  test("a price that falls is right at this second, each payment rounded up by itself", async () => {
    await reset();
    const [start, duration] = [now() - 1000, 7000];
    const declining = { start_time: start, end_time: start + duration, start_amount: "2000000", end_amount: "100" };
    await place(1, { ...declining, amounts: "[[1000000,100],[1000000,0]]" });
    const priceAt = (second: number) => {
      const left = duration - (second - start);
      return [100, 0].reduce((sum, end) => sum + Math.ceil((1_000_000 * left + end * (second - start)) / duration), 0);
    };
    const before = now();
    const token = await ape();
    const prices = [before, before + 1, before + 2].map((second) => String(priceAt(second)));
    expect(prices).toContain(token.current_price);
    expect(token).toMatchObject({ start_amount: "2000000", end_amount: "100" });
  });
});

describe("offers", () => {
  const offer = { side: "offer", maker: BOB, operator: null };

  test("on the token and on its collection count, on others don't", async () => {
    await reset();
    await place(1, { ...offer, token_id: "2" });
    expect(await ape()).toMatchObject({ has_offer: "false" });
    await place(2, { ...offer, token_id: null, start_amount: "7" });
    expect(await ape()).toMatchObject({ has_offer: "true", is_listed: "false" });
    await place(3, { ...offer, start_amount: "9" });
    const stands = {
      offer_maker: BOB,
      offer_quantity: "1",
      offer_timestamp: 1_700_000_001,
      currency_address: ZERO,
      exchange: "seaport",
    };
    expect(await get(`token/${APES}/1/offers`)).toEqual({
      contract_address: APES,
      token_id: hexOf(1),
      current_owner: ALICE,
      current_price: "",
      offers: [
        { ...stands, offer_amount: "9", order_hash: hashOf(3) },
        { ...stands, offer_amount: "7", order_hash: hashOf(2) },
      ],
    });
  });

  test("that somebody sent here count, where nothing else was", async () => {
    await reset();
    await storeOrder(t.sql, 1, { ...offer, operator: CONDUIT });
    expect(await ape()).toMatchObject({ has_offer: "true", is_listed: "false" });
    expect(await get(`token/${APES}/1/offers`)).toMatchObject({ offers: [{ offer_maker: BOB, offer_amount: "1000" }] });
    await t.sql`delete from offchain.signed_order`;
  });

  test("of which a part was accepted need the money for the rest alone", async () => {
    await reset();
    await place(1, { ...offer, operator: CONDUIT, quantity: "4", start_amount: "400", filled: "3" });
    const funds = (spendable: number) => t.sql`
      insert into offchain.offer_funds (chain_id, currency_address, maker, operator, spendable)
      values (${MAINNET_ID}, ${toBytes(ZERO)}, ${toBytes(BOB)}, ${toBytes(CONDUIT)}, ${spendable})
      on conflict (chain_id, currency_address, maker, operator) do update set spendable = excluded.spendable
    `;
    await funds(100);
    expect(await ape()).toMatchObject({ has_offer: "true" });
    await funds(99);
    expect(await ape()).toMatchObject({ has_offer: "false" });
    await t.sql`delete from offchain.offer_funds`;
  });

  test("of which a part was accepted pay the rest as Seaport works it out, where amounts change", async () => {
    await reset();
    const changing = { amounts: "[[8,12]]", start_time: now() - 450_000, end_time: now() + 550_000 };
    await place(1, { ...offer, ...changing, quantity: "4", filled: "1" });
    // The offer is at 9.8 for all 4 units now, which is 7.35 for the 3 that are left.
    const rest = [{ offer_quantity: "3", offer_amount: "7" }];
    expect(await get(`token/${APES}/1/offers`)).toMatchObject({ offers: rest });
  });

  test("that are over or cancelled don't", async () => {
    await reset();
    await place(1, { ...offer, end_time: now() - 1 });
    await place(2, { ...offer, is_open: false, is_cancelled: true });
    expect(await ape()).toMatchObject({ has_offer: "false" });
  });

  test("in the chain's own currency come first, whatever amounts of others there are", async () => {
    await reset();
    const wrapped = "0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2";
    const [shells, dust] = [addressOf(0xd1), addressOf(0xd2)];
    await place(1, { ...offer, currency_address: shells, start_amount: (10n ** 24n).toString() });
    await place(2, { ...offer, currency_address: DOLLARS, start_amount: "5" });
    await place(3, { ...offer, currency_address: DOLLARS, start_amount: "6" });
    await place(4, { ...offer, currency_address: wrapped, start_amount: "8" });
    await place(5, { ...offer, currency_address: ZERO, start_amount: "7" });
    await place(6, { ...offer, currency_address: wrapped, start_amount: "9", token_id: null });
    await place(7, { ...offer, currency_address: dust, start_amount: (10n ** 30n).toString(), token_id: null });
    const { offers } = await get(`token/${APES}/1/offers`);
    expect(
      (offers as Record<string, unknown>[]).map((one) => `${String(one.offer_amount)} ${String(one.currency_address)}`),
    ).toEqual([
      `9 ${wrapped}`,
      `8 ${wrapped}`,
      `7 ${ZERO}`,
      `6 ${DOLLARS}`,
      `5 ${DOLLARS}`,
      `${10n ** 24n} ${shells}`,
      `${10n ** 30n} ${dust}`,
    ]);
  });

  test("that pay most for one unit come first, however many units others are for", async () => {
    await reset();
    await place(1, { ...offer, token_id: null, quantity: "100", start_amount: "1000" });
    await place(2, { ...offer, token_id: null, quantity: "3", start_amount: "60", filled: "1" });
    await place(3, { ...offer, start_amount: "30" });
    await place(4, { ...offer, start_amount: "11" });
    expect(await get(`token/${APES}/1/offers`)).toMatchObject({
      offers: [
        { offer_amount: "30", offer_quantity: "1" },
        { offer_amount: "40", offer_quantity: "2" },
        { offer_amount: "11", offer_quantity: "1" },
        { offer_amount: "1000", offer_quantity: "100" },
      ],
    });
  });

  test("that take the token, or its collection, for another kind don't", async () => {
    await reset();
    await place(1, { ...offer, token_standard: "ERC1155" });
    await place(2, { ...offer, token_id: null, token_standard: "ERC1155" });
    expect(await ape()).toMatchObject({ has_offer: "false" });
    expect(await get(`token/${APES}/1/offers`)).toMatchObject({ offers: [] });
    const { body } = await t.get(`/orderbook/tokens/collection/${APES}`);
    expect(body.result.map(({ has_offer }) => has_offer)).not.toContain("true");
    await place(3, { ...offer, token_id: null, token_standard: "ERC721" });
    expect(await ape()).toMatchObject({ has_offer: "true" });
    expect(await get(`token/${APES}/1/offers`)).toMatchObject({ offers: [{ offer_maker: BOB }] });
  });
});

test("the history says what became of each order", async () => {
  await reset();
  await place(1, {
    placed_timestamp: 1_700_000_010,
    updated_timestamp: 1_700_000_020,
    is_open: false,
    is_cancelled: true,
  });
  await place(2, { side: "offer", maker: BOB, token_id: null, placed_timestamp: 1_700_000_015 });
  const history = (await get(`token/${APES}/1/history`)).history as Record<string, unknown>[];
  expect(
    history.map(({ event_type, order_status, event_timestamp }) => [event_type, order_status, event_timestamp]),
  ).toEqual([
    ["Listing", "CANCELLED", 1_700_000_020],
    ["CollectionOffer", "PLACED", 1_700_000_015],
    ["Listing", "PLACED", 1_700_000_010],
  ]);
});

test("lists go on where the last page ended, and cursors hold for their list alone", async () => {
  await reset();
  const seen: unknown[] = [];
  let cursor: string | null = null;
  let foreign: string | null = null;
  do {
    const { body } = await t.get(`/orderbook/tokens/collection/${APES}?limit=1${cursor ? `&cursor=${cursor}` : ""}`);
    seen.push(...body.result.map((row) => row.token_id));
    cursor = body.cursor;
    foreign ??= cursor;
  } while (cursor);
  expect((await t.get(`/orderbook/tokens/collection/${PUNKS}?cursor=${foreign}`)).status).toBe(400);
  expect(seen).toEqual([hexOf(1), hexOf(2), hexOf(10), hexOf(2n ** 256n - 1n)]);
});
