import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { toBytes } from "../../offchain/bytea.ts";
import { addressOf, createTestApi, hashOf, MAINNET_ID, type TestApi, ZERO } from "../../test/api.ts";
import { clearOrders, EXCHANGE, placeOrder, storeOrder } from "../../test/orders.ts";
import { ALICE, APES, BOB, seed } from "../../test/seed.ts";

const PLACED_AT = 1_700_000_000;
const SOLD_AT = 1_700_000_100;

let t: TestApi;

beforeAll(async () => {
  t = await createTestApi();
  await seed(t.sql);
});
afterAll(() => t.stop());
beforeEach(async () => {
  await clearOrders(t.sql);
  await t.sql`delete from onchain_mainnet.token_event where event_type = 'sale'`;
});

const place = (hash: number, order: Record<string, unknown> = {}) =>
  placeOrder(t.sql, hash, { placed_timestamp: PLACED_AT, updated_timestamp: PLACED_AT, ...order });

/** Stores a sale: Alice sells ape 1 to Bob for 1000 wei. `sale` overrides columns. */
async function sell(sale: Record<string, unknown>): Promise<void> {
  const row = {
    block_number: 90,
    log_index: 0,
    batch_index: 0,
    timestamp: SOLD_AT,
    event_type: "sale",
    contract_address: toBytes(APES),
    token_id: "1",
    from_address: toBytes(ALICE),
    to_address: toBytes(BOB),
    quantity: "1",
    transaction_hash: toBytes(hashOf(90)),
    price: "1000",
    currency_address: toBytes(ZERO),
    marketplace: "seaport",
    broker: toBytes(ZERO),
    ...sale,
  };
  await t.sql`insert into onchain_mainnet.token_event ${t.sql(row as never)}`;
}

type Entry = Record<string, unknown>;
const history = async () => (await t.get(`/orderbook/token/${APES}/1/history`)).body.result.history as Entry[];
const lines = async () =>
  (await history()).map(({ event_type, order_status, event_timestamp }) =>
    [event_type, order_status, event_timestamp].join(" "),
  );

describe("a sale", () => {
  const offer = { side: "offer", maker: BOB };
  const taken = { ...offer, filled: "1", is_open: false, updated_timestamp: SOLD_AT };

  test.for([
    ["blur", true, "Offer EXECUTED"],
    ["looksrare", true, "Offer EXECUTED"],
    ["foundation", false, "Listing FULFILLED"],
    ["wyvern", null, "Listing FULFILLED"],
  ] as const)("on %s is what its exchange says: %s is %s", async ([marketplace, is_offer, expected]) => {
    await sell({ marketplace, is_offer });
    expect(await lines()).toEqual([`${expected} ${SOLD_AT}`]);
  });

  test("by a bid is still one when the next bid stands in its place", async () => {
    const bid = {
      ...offer,
      marketplace: "cryptopunks",
      placed_timestamp: SOLD_AT + 50,
      updated_timestamp: SOLD_AT + 50,
    };
    await place(1, { ...bid, start_time: SOLD_AT + 50 });
    await sell({ marketplace: "cryptopunks", is_offer: true });
    expect(await lines()).toEqual([`Offer PLACED ${SOLD_AT + 50}`, `Offer EXECUTED ${SOLD_AT}`]);
  });

  test("took an offer for the collection where only such an offer fits", async () => {
    await place(1, { ...taken, token_id: null });
    await sell({ is_offer: true });
    expect((await lines())[0]).toBe(`CollectionOffer EXECUTED ${SOLD_AT}`);
    await place(2, { ...taken, start_time: SOLD_AT });
    expect((await lines())[0]).toBe(`Offer EXECUTED ${SOLD_AT}`);
  });

  test("comes after what was placed in the same second", async () => {
    await place(1, { is_open: false, filled: "1", placed_timestamp: SOLD_AT, updated_timestamp: SOLD_AT });
    await sell({ is_offer: false });
    expect(await lines()).toEqual([`Listing FULFILLED ${SOLD_AT}`, `Listing PLACED ${SOLD_AT}`]);
  });

  test.for([
    ["of somebody else", { maker: ALICE }],
    ["for another price", { start_amount: "999" }],
    ["for another currency", { currency_address: ALICE }],
    ["that nobody took", { filled: "0", is_open: true }],
    ["that was over", { end_time: SOLD_AT }],
    ["that hadn't begun", { start_time: SOLD_AT + 1 }],
    ["that was taken before", { updated_timestamp: SOLD_AT - 1 }],
    ["at another exchange", { marketplace: "cryptopunks" }],
    ["that never paid so much", { start_amount: "999", end_amount: "10", amounts: "[[999,10]]" }],
  ] as const)("didn't take an offer for the collection %s", async ([, order]) => {
    await place(1, { ...taken, token_id: null, ...order });
    await sell({ is_offer: true });
    expect(await lines()).toContain(`Offer EXECUTED ${SOLD_AT}`);
  });

  test.for([
    ["falls", { start_amount: "2000", end_amount: "500", amounts: "[[2000,500]]" }],
    ["rises", { start_amount: "500", end_amount: "2000", amounts: "[[500,2000]]" }],
  ] as const)("took an offer for the collection whose price %s", async ([, terms]) => {
    await place(1, { ...taken, token_id: null, end_time: SOLD_AT + 100, ...terms });
    await sell({ is_offer: true });
    expect((await lines())[0]).toBe(`CollectionOffer EXECUTED ${SOLD_AT}`);
  });

  test("for units of an offer has its share of the price", async () => {
    await place(1, { ...taken, token_id: null, quantity: "4", start_amount: "4000", updated_timestamp: SOLD_AT + 9 });
    await sell({ is_offer: true });
    await sell({ is_offer: true, log_index: 1, quantity: "2", price: "2000", timestamp: SOLD_AT + 9 });
    expect((await lines()).slice(0, 2)).toEqual([
      `CollectionOffer EXECUTED ${SOLD_AT + 9}`,
      `CollectionOffer EXECUTED ${SOLD_AT}`,
    ]);
  });

  test("of which its exchange doesn't say which order was taken took the offer that fits", async () => {
    await place(1, taken);
    await sell({ is_offer: null });
    expect((await lines())[0]).toBe(`Offer EXECUTED ${SOLD_AT}`);
    await t.sql`update onchain_mainnet.token_event set is_offer = false where event_type = 'sale'`;
    expect((await lines())[0]).toBe(`Listing FULFILLED ${SOLD_AT}`);
  });
});

test("offers for a whole collection, as many as there may be, leave room for the token's own history", async () => {
  const any = { side: "offer", maker: BOB, token_id: null, placed_timestamp: SOLD_AT + 50 };
  for (let n = 0; n < 300; n++) await place(1000 + n, { ...any, currency_address: addressOf(0xfa4e) });
  await place(1);
  await place(2, { ...any, placed_timestamp: SOLD_AT + 10 });
  await sell({ is_offer: false });
  const told = await lines();
  expect(told).toHaveLength(250);
  expect(told.slice(-3)).toEqual([
    `CollectionOffer PLACED ${SOLD_AT + 10}`,
    `Listing FULFILLED ${SOLD_AT}`,
    `Listing PLACED ${PLACED_AT}`,
  ]);
});

test("nor do those in the chain's own currency leave none for offers on the token itself", async () => {
  const offer = { side: "offer", maker: BOB };
  for (let n = 0; n < 300; n++) await place(1000 + n, { ...offer, token_id: null, placed_timestamp: SOLD_AT });
  await place(1, offer);
  const told = await lines();
  expect([told.length, told.at(-1)]).toEqual([250, `Offer PLACED ${PLACED_AT}`]);
});

test("offers in made-up currencies for the token itself leave room for all else", async () => {
  const offer = { side: "offer", maker: BOB, currency_address: addressOf(0xfa4e) };
  for (let n = 0; n < 300; n++) await place(1000 + n, { ...offer, placed_timestamp: SOLD_AT + 50 });
  const dollars = addressOf(0xd0);
  await place(1, { currency_address: dollars });
  await place(2, { ...offer, currency_address: ZERO, placed_timestamp: SOLD_AT + 10 });
  await place(3, { ...offer, currency_address: ZERO, token_id: null, placed_timestamp: SOLD_AT + 20 });
  await sell({ is_offer: true, currency_address: toBytes(dollars) });
  const told = await lines();
  expect(told).toHaveLength(250);
  expect(told.slice(-4)).toEqual([
    `CollectionOffer PLACED ${SOLD_AT + 20}`,
    `Offer PLACED ${SOLD_AT + 10}`,
    `Offer EXECUTED ${SOLD_AT}`,
    `Listing PLACED ${PLACED_AT}`,
  ]);

  // The same orders, sent to us.
  const columns = `exchange_address, order_hash, side, maker, contract_address, token_id, quantity, currency_address,
    start_amount, end_amount, unit_price, start_time, end_time, counter, operator, broker, placed_timestamp`;
  await t.sql.unsafe(`
    insert into offchain.signed_order (chain_id, parameters, signature, ${columns})
    select ${MAINNET_ID}, '{}', '\\x00', ${columns}
    from onchain_mainnet.trade_order
  `);
  await clearOrders(t.sql);
  expect(await lines()).toEqual(told);
  await t.sql`delete from offchain.signed_order`;
});

test("sales in one transaction are told as its logs are, the last one first", async () => {
  const order = [2, 0, 3, 1];
  for (const n of order) await sell({ log_index: n >> 1, batch_index: n & 1, price: String(1000 + n) });
  expect((await history()).map(({ amount }) => amount)).toEqual(["1003", "1002", "1001", "1000"]);
});

test("of more sales than are told the newest are", async () => {
  await sell({ is_offer: false });
  await t.sql`
    insert into onchain_mainnet.token_event
    select (jsonb_populate_record(
      sale,
      jsonb_build_object('block_number', 90 + i, 'timestamp', ${SOLD_AT}::bigint + i)
    )).*
    from
      onchain_mainnet.token_event as sale,
      generate_series(1, 250) as i
    where sale.event_type = 'sale'
  `;
  const told = await lines();
  expect([told.length, told[0], told.at(-1)]).toEqual([
    250,
    `Listing FULFILLED ${SOLD_AT + 250}`,
    `Listing FULFILLED ${SOLD_AT + 1}`,
  ]);
});

test("each order has its maker, and each sale both parties", async () => {
  const over = { is_open: false, is_cancelled: true, updated_timestamp: PLACED_AT + 1 };
  await place(1, over);
  await place(2, {
    ...over,
    side: "offer",
    maker: BOB,
    placed_timestamp: PLACED_AT - 2,
    updated_timestamp: PLACED_AT - 1,
  });
  await sell({ is_offer: true });
  expect(
    (await history()).map(({ event_type, order_status, previous_owner, new_owner }) => [
      `${String(event_type)} ${String(order_status)}`,
      previous_owner,
      new_owner,
    ]),
  ).toEqual([
    ["Offer EXECUTED", ALICE, BOB],
    ["Listing CANCELLED", ALICE, ""],
    ["Listing PLACED", ALICE, ""],
    ["Offer CANCELLED", "", BOB],
    ["Offer PLACED", "", BOB],
  ]);
});

describe("an auction", () => {
  const falling = { start_amount: "2000", end_amount: "500", amounts: "[[2000,500]]", end_time: SOLD_AT + 100 };

  test("is a listing whose price falls, not one whose price rises", async () => {
    await place(1, falling);
    await place(2, { ...falling, start_amount: "500", end_amount: "2000", placed_timestamp: PLACED_AT - 1 });
    await place(3, { placed_timestamp: PLACED_AT - 2 });
    expect(await lines()).toEqual([
      `Auction PLACED ${PLACED_AT}`,
      `Listing PLACED ${PLACED_AT - 1}`,
      `Listing PLACED ${PLACED_AT - 2}`,
    ]);
  });

  test("is what was bought where only an auction fits", async () => {
    const taken = { is_open: false, filled: "1", updated_timestamp: SOLD_AT };
    await place(1, { ...falling, ...taken });
    await sell({ is_offer: false });
    expect((await lines())[0]).toBe(`Auction FULFILLED ${SOLD_AT}`);
    await t.sql`update onchain_mainnet.token_event set price = 499 where event_type = 'sale'`;
    expect((await lines())[0]).toBe(`Listing FULFILLED ${SOLD_AT}`);
    await t.sql`update onchain_mainnet.token_event set price = 1000 where event_type = 'sale'`;
    await place(2, taken);
    expect((await lines())[0]).toBe(`Listing FULFILLED ${SOLD_AT}`);
  });

  test.for([
    ["999", "Listing"],
    ["1000", "Auction"],
    ["4000", "Auction"],
    ["4001", "Listing"],
  ] as const)("of four units may have sold two of them for %s: it is the %s", async ([price, expected]) => {
    const units = { quantity: "4", start_amount: "8000", end_amount: "2000", amounts: "[[8000,2000]]" };
    await place(1, { ...falling, ...units, filled: "2", updated_timestamp: SOLD_AT });
    await sell({ is_offer: false, quantity: "2", price });
    expect((await lines())[0]).toBe(`${expected} FULFILLED ${SOLD_AT}`);
  });
});

describe("an order is cancelled", () => {
  const raise = (counter: bigint, timestamp: number, values: Record<string, unknown> = {}) => {
    const row = { exchange_address: toBytes(EXCHANGE), maker: toBytes(ALICE), counter: counter.toString(), timestamp };
    return t.sql`insert into onchain_mainnet.raised_counter ${t.sql({ ...row, ...values } as never)}`;
  };
  const placed = `Listing PLACED ${PLACED_AT}`;
  const at = (timestamp: number, reason: string) => [`Listing CANCELLED ${timestamp} ${reason}`, placed];
  const told = async () =>
    (await history()).map(({ event_type, order_status, event_timestamp, canceled_reason }) =>
      [event_type, order_status, event_timestamp, canceled_reason].join(" ").trim(),
    );
  const cancelled = { is_cancelled: true, is_open: false };

  test("when its maker's counter passed it, however often that was raised since", async () => {
    await place(1, { counter: "5" });
    expect(await told()).toEqual([placed]);
    await raise(3n, PLACED_AT - 90);
    await raise(5n, PLACED_AT - 80);
    expect(await told()).toEqual([placed]);
    await raise(2n ** 130n, PLACED_AT + 10);
    await raise(2n ** 131n, PLACED_AT + 20);
    expect(await told()).toEqual(at(PLACED_AT + 10, "counter raised on chain"));
  });

  test("when it came, where its maker's counter had passed it before", async () => {
    await raise(9n, PLACED_AT - 5);
    await place(1, { counter: "5" });
    expect(await told()).toEqual(at(PLACED_AT, "counter raised on chain"));
  });

  test("not by the counters of others, nor of its maker elsewhere, nor where it has none", async () => {
    await raise(7n, PLACED_AT + 10, { maker: toBytes(BOB) });
    await raise(7n, PLACED_AT + 10, { exchange_address: toBytes(BOB) });
    await place(1, { counter: "5" });
    expect(await told()).toEqual([placed]);
    await raise(7n, PLACED_AT + 10);
    await place(2, { counter: null, placed_timestamp: PLACED_AT + 1 });
    expect(await told()).toEqual([
      `Listing CANCELLED ${PLACED_AT + 10} counter raised on chain`,
      `Listing PLACED ${PLACED_AT + 1}`,
      placed,
    ]);
  });

  test("by what came first, once", async () => {
    await raise(7n, PLACED_AT + 10);
    await place(1, { ...cancelled, counter: "5", updated_timestamp: PLACED_AT + 5 });
    expect(await told()).toEqual(at(PLACED_AT + 5, "cancelled on chain"));
    await t.sql`update onchain_mainnet.trade_order set updated_timestamp = ${PLACED_AT + 15}`;
    expect(await told()).toEqual(at(PLACED_AT + 10, "counter raised on chain"));
  });

  test("no more once it is filled or over", async () => {
    await raise(7n, PLACED_AT + 10);
    const order = { counter: "5", updated_timestamp: PLACED_AT + 15 };
    await place(1, { ...order, is_open: false, filled: "1" });
    await place(2, { ...order, end_time: PLACED_AT + 10 });
    await place(3, { ...cancelled, ...order, counter: "7", end_time: PLACED_AT + 15 });
    expect(await told()).toEqual([placed, placed, placed]);
    await place(4, { ...order, quantity: "4", filled: "3" });
    expect((await told())[0]).toBe(`Listing CANCELLED ${PLACED_AT + 10} counter raised on chain`);
  });

  test("no more once it is filled, where only its maker's signature tells how much that is", async () => {
    await storeOrder(t.sql, 1, { quantity: "4", placed_timestamp: PLACED_AT, end_time: PLACED_AT * 2 });
    const state = { ...cancelled, side: null, quantity: null, updated_timestamp: PLACED_AT + 15 };
    await place(1, { ...state, filled: "3" });
    expect(await told()).toEqual(at(PLACED_AT + 15, "cancelled on chain"));
    await t.sql`update onchain_mainnet.trade_order set filled = 4`;
    expect(await told()).toEqual([placed]);
    await t.sql`delete from offchain.signed_order`;
  });
});

test("every amount has its currency, and none where nobody can say what a sale cost", async () => {
  const [dollars, wrapped] = [addressOf(0xd0), addressOf(0xd1)];
  await place(1, { currency_address: dollars, is_open: false, is_cancelled: true, updated_timestamp: SOLD_AT - 1 });
  await sell({ price: "7", currency_address: toBytes(wrapped), is_offer: true });
  await sell({ log_index: 1, timestamp: SOLD_AT + 1, price: null, currency_address: null, price_note: "barter" });
  expect((await history()).map((entry) => [entry.order_status, entry.amount, entry.currency_address])).toEqual([
    ["FULFILLED", "0", ""],
    ["EXECUTED", "7", wrapped],
    ["CANCELLED", "1000", dollars],
    ["PLACED", "1000", dollars],
  ]);
});
