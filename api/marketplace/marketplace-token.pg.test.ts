import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { toBytes } from "../../offchain/bytea.ts";
import { emptyNormalized } from "../../offchain/document/normalize.ts";
import { writeFitting } from "../../offchain/document/normalized-size.ts";
import { openDatabases } from "../sql/database.ts";
import { addressOf, createTestApi, inserter, MAINNET_ID, type TestApi, TESTNET_ID, ZERO } from "../../test/api.ts";
import { clearOrders, placeOrder } from "../../test/orders.ts";
import { ALICE, APES, BOB, COINS, EMPTY, ITEMS, MAX_ID, PUNKS, seed, TEST_APES } from "../../test/seed.ts";
import { createTokenLists } from "./marketplace-list.ts";

const DOLLARS = addressOf(0xd0);
const CAROL = addressOf(0xca01);

let t: TestApi;

beforeAll(async () => {
  t = await createTestApi();
  await seed(t.sql);
});
beforeEach(() => clearOrders(t.sql));
afterAll(() => t.stop());

type Token = Record<string, unknown> & { token_id: string };
type Answer = { data: Token[]; token_count: number; next_page: number | null; message: string };
const get = async (path: string) => {
  const { status, body } = await t.get(`/marketplace/${path}`);
  return { status, body: body as unknown as Answer };
};
const apes = async (query = "") => (await get(`collections/${APES}/${MAINNET_ID}/tokens?${query}`)).body;
const held = async (query = "", user = ALICE) => (await get(`portfolio/${user}?${query}`)).body;
const idsOf = ({ data }: Answer) => data.map(({ token_id }) => token_id);
const eth = (amount: string) => `${amount}${"0".repeat(15)}`;
const metadata = { name: 'Ape "1" ünïcode', description: "", image: "" };
const nothing = { amount: "", currency_address: "", metadata: { name: "", description: "", image: "" } };

describe("tokens of a collection", () => {
  test("are those that somebody holds, by token id, with nothing said where nothing is known", async () => {
    const body = await apes();
    expect(body).toMatchObject({ token_count: 3, next_page: null });
    expect(body.data).toEqual([
      {
        contract: APES,
        token_id: "1",
        last_price: null,
        floor_difference: null,
        listed_at: null,
        owner: ALICE,
        minted_at: 1_600_000_005,
        updated_at: 1_600_000_006,
        price: null,
        ...nothing,
        metadata,
      },
      expect.objectContaining({ token_id: "10", owner: BOB, minted_at: null, updated_at: 0, ...nothing }),
      expect.objectContaining({ token_id: MAX_ID.toString(), owner: ALICE }),
    ]);
  });

  test("have the name, description and picture of their documents, whatever is written in those", async () => {
    const texts = {
      name: '","attributes":[" \u0001\u2028\\',
      description: ',"name":"x","attributes":[],"image":"',
      image: 'ipfs://,"image_data":"',
    };
    const properties = [{ name: "a", value: ',"name":"b"', type: null, description: "c" }];
    const normalized = JSON.stringify({ ...EMPTY, ...texts, image_data: '<svg name="d">', properties });
    await inserter(t.sql).tokenMetadata(APES, 10, { normalized });
    const { data } = await apes();
    expect(data[1]).toMatchObject({ token_id: "10", metadata: texts });
    expect((await held("", BOB)).data[0]).toMatchObject({ token_id: "10", metadata: texts });
    await t.sql`delete from offchain.token_metadata where token_id = 10`;
  });

  test("have these three texts alone of a document that was cut because it is too long", async () => {
    const normalized = writeFitting({ ...emptyNormalized(), name: "n", description: "d".repeat(300_000) });
    await inserter(t.sql).tokenMetadata(APES, 10, { normalized });
    for (const one of [(await apes()).data[1]!, (await held("", BOB)).data[0]!]) {
      const { description, ...others } = one.metadata as { description: string };
      expect(description).toHaveLength(131_072);
      expect(others).toEqual({ name: "n", image: "" });
    }
    await t.sql`delete from offchain.token_metadata where token_id = 10`;
  });

  test("have next to none of the pictures that are written into their documents where those are too many", async () => {
    const contract = addressOf(0x1a26e);
    const insert = inserter(t.sql);
    await insert.contract(contract);
    for (let id = 1; id <= 40; id += 1) {
      const image = id % 2 === 0 ? `data:image/png;base64,${"A".repeat(250_000)}` : "ipfs://small";
      await insert.token(contract, id, { owner: CAROL });
      await insert.tokenMetadata(contract, id, { normalized: JSON.stringify({ ...EMPTY, name: `#${id}`, image }) });
    }
    for (const { data } of [(await get(`collections/${contract}/${MAINNET_ID}/tokens`)).body, await held("", CAROL)]) {
      const images = data.map((one) => (one.metadata as { image: string }).image.length);
      expect(images.filter((_, n) => n % 2 === 0)).toEqual(Array(20).fill("ipfs://small".length));
      expect(images.filter((_, n) => n % 2 === 1)).toEqual([...Array<number>(16).fill(250_022), 0, 0, 0, 0]);
      expect(data[38]).toMatchObject({ token_id: "39", metadata: { name: "#39" } });
    }
  });

  test("that are listed have a price, and how far it is from the floor", async () => {
    await placeOrder(t.sql, 1, { start_amount: eth("1500") });
    await placeOrder(t.sql, 2, { start_amount: eth("1200"), token_id: "10", maker: BOB });
    await placeOrder(t.sql, 3, { start_amount: eth("1400"), token_id: MAX_ID.toString() });
    const { data } = await apes();
    expect(data[0]).toMatchObject({
      price: 1.5,
      floor_difference: 25,
      listed_at: 1_700_000_001,
      updated_at: 1_700_000_001,
      amount: eth("1500"),
      currency_address: ZERO,
    });
    expect(data[1]).toMatchObject({ price: 1.2, floor_difference: 0 });
    expect(data[2]).toMatchObject({ price: 1.4, floor_difference: 16.67 });
    // A falling price may make the floor 0. No price is a number of percent above that.
    const now = Math.floor(Date.now() / 1000);
    const given = { start_amount: "0", amounts: "[[0,0]]", start_time: now - 1000, end_time: now + 10_000 };
    await placeOrder(t.sql, 4, { ...given, token_id: "10", maker: BOB });
    const { data: others } = await apes();
    expect(others[0]).toMatchObject({ price: 1.5, floor_difference: null });
    expect(others[1]).toMatchObject({ price: 0, floor_difference: null });
  });

  test("that are listed in another currency have its amount and no price", async () => {
    await placeOrder(t.sql, 1, { start_amount: "5000000", currency_address: DOLLARS });
    expect((await apes()).data[0]).toMatchObject({
      price: null,
      listed_at: 1_700_000_001,
      amount: "5000000",
      currency_address: DOLLARS,
      floor_difference: null,
    });
  });

  test.for([
    ["", ["1", "10", MAX_ID.toString()], 3],
    ["sort=price", ["10", "1", MAX_ID.toString()], 3],
    ["sort=price&direction=desc", ["1", "10", MAX_ID.toString()], 3],
    ["buy_now=true", ["1", "10"], 2],
    // As Python's requests and PHP write it by themselves.
    ["buy_now=True", ["1", "10"], 2],
    ["buy_now=1", ["1", "10"], 2],
    ["buy_now=true&sort=price", ["10", "1"], 2],
    ["buy_now=true&sort=price&direction=desc", ["1", "10"], 2],
    ["buy_now=true&sort=price&items_per_page=1&page=2", ["1"], 2],
    ["sort=price&items_per_page=2&page=2", [MAX_ID.toString()], 3],
    ["items_per_page=2&page=2", [MAX_ID.toString()], 3],
    ["page=9", [], 3],
  ] as const)("?%s", async ([query, ids, count]) => {
    await placeOrder(t.sql, 1, { start_amount: eth("1500") });
    await placeOrder(t.sql, 2, { start_amount: eth("9000") });
    await placeOrder(t.sql, 3, { start_amount: eth("1200"), token_id: "10", maker: BOB });
    // These listings are the cheapest, but none of them can be filled.
    await placeOrder(t.sql, 4, { start_amount: "1", end_time: 1_700_000_002 });
    await placeOrder(t.sql, 5, { start_amount: "1", maker: BOB });
    await placeOrder(t.sql, 6, { start_amount: "1", token_id: "2" });
    const body = await apes(query);
    expect([idsOf(body), body.token_count]).toEqual([ids, count]);
  });

  test("in other currencies come after those in the chain's own", async () => {
    await placeOrder(t.sql, 2, { start_amount: eth("9000"), token_id: "10", maker: BOB });
    for (const start_amount of ["5", eth("9001")]) {
      await placeOrder(t.sql, 1, { start_amount, currency_address: DOLLARS });
      for (const direction of ["asc", "desc"])
        expect(idsOf(await apes(`sort=price&direction=${direction}`))).toEqual(["10", "1", MAX_ID.toString()]);
      await t.sql`delete from onchain_mainnet.trade_order where token_id = 1`;
    }
  });

  test("a page beyond what a number can be is refused with its own digits", async () => {
    const { status, body } = await get(`collections/${APES}/${MAINNET_ID}/tokens?page=9007199254740993`);
    expect([status, body.message]).toEqual([
      400,
      'page "9007199254740993" is invalid. Expected a whole number from 1 to 9007199254740991.',
    ]);
  });

  test.for(["page=0", "items_per_page=251", "buy_now=yes", "sort=id", "direction=up", "sort=price&sort=price"])(
    "?%s is refused",
    async (query) => {
      const { status, body } = await get(`collections/${APES}/${MAINNET_ID}/tokens?${query}`);
      expect([status, body.message]).toEqual([400, expect.stringContaining("Expected")]);
    },
  );

  test("of either network; unknown and hidden collections and chains that aren't served are 404", async () => {
    expect(idsOf((await get(`collections/${TEST_APES}/${TESTNET_ID}/tokens`)).body)).toEqual(["1"]);
    await placeOrder(t.sql, 1, { contract_address: COINS });
    for (const path of [`${addressOf(9)}/1`, `${COINS}/1`, `${APES}/77`])
      for (const query of ["", "sort=price", "buy_now=true"])
        expect((await get(`collections/${path}/tokens?${query}`)).status).toBe(404);
    expect((await get(`collections/apes/1/tokens`)).status).toBe(400);
  });

  test("of units: one that nobody holds any more is left out, the owner is who received last", async () => {
    const { body } = await get(`collections/${ITEMS}/1/tokens`);
    expect(body).toMatchObject({ token_count: 1, data: [{ token_id: "7", owner: BOB }] });
  });

  test("have what they were sold for last: bundles, gifts and other currencies are left out", async () => {
    const { event } = inserter(t.sql);
    const sell = async (block: number, values: Record<string, unknown>, quantity = 1n) => {
      await event(ITEMS, 7, [block, 7, 0], { event_type: "sale", from: ALICE, to: BOB, quantity });
      const rest = { price_note: null, currency_address: toBytes(ZERO), ...values };
      await t.sql`
        update onchain_mainnet.token_event set ${t.sql(rest as never)}
        where block_number = ${block} and log_index = 7
      `;
    };
    await sell(20, { price: eth("3000") }, 2n);
    await sell(21, { price: eth("9000"), price_note: "bundle" });
    await sell(22, { price: eth("9000"), currency_address: toBytes(DOLLARS) });
    await sell(23, { price: "0" });
    await sell(24, { price: null, price_note: "barter" });
    const { body } = await get(`collections/${ITEMS}/1/tokens`);
    expect(body.data[0]).toMatchObject({ last_price: 1.5, updated_at: 1_600_000_024 });
    // The price of the order counts, without fees paid on top.
    await sell(25, { price: eth("4000"), price_note: "fees on top" });
    expect((await get(`collections/${ITEMS}/1/tokens`)).body.data[0]).toMatchObject({ last_price: 4 });
    await t.sql`delete from onchain_mainnet.token_event where event_type = 'sale'`;
  });
});

describe("tokens of an account", () => {
  test("are of all its collections, by contract and token id", async () => {
    const body = await held();
    expect(body.data.map(({ contract, token_id }) => [contract, token_id])).toEqual([
      [APES, "1"],
      [APES, MAX_ID.toString()],
      [ITEMS, "7"],
      [PUNKS, "100"],
    ]);
    expect(body).toMatchObject({ token_count: 4, next_page: null });
    expect(body.data[0]).toEqual({
      contract: APES,
      token_id: "1",
      list_price: null,
      best_offer: null,
      floor: null,
      received_at: 1_600_000_006,
      balance: "1",
      ...nothing,
      metadata,
    });
    expect(body.data[2]).toMatchObject({ balance: "5", received_at: 1_600_000_009 });
  });

  test("of hidden collections are none, also where they are on sale", async () => {
    await placeOrder(t.sql, 1, { contract_address: COINS });
    expect(await held("buy_now=true")).toEqual({ data: [], token_count: 0, next_page: null });
    expect(await held("sort=price")).toMatchObject({ token_count: 4 });
    const { body } = await get(`portfolio/${ALICE}/collections`);
    expect(body.data.map(({ address }) => address)).toEqual([APES, ITEMS, PUNKS]);
    // So many listings that they are found by joins over sets.
    await t.sql`
      insert into onchain_mainnet.trade_order
      select (jsonb_populate_record(one, jsonb_build_object('order_hash', sha256(i::text::bytea)))).*
      from onchain_mainnet.trade_order as one
      cross join generate_series(1, 20000) as i
    `;
    // By another process, which may keep such a list for a moment.
    const { app, stop } = await t.another();
    for (const query of ["buy_now=true", `collection=${COINS}&buy_now=true`]) {
      const response = await app.request(`/marketplace/portfolio/${ALICE}?${query}`);
      expect(await response.json()).toEqual({ data: [], token_count: 0, next_page: null });
    }
    await stop();
  });

  test("were received when they came, not when an exchange sold them without moving them", async () => {
    await inserter(t.sql).event(APES, 1, [30, 0, 0], { event_type: "sale", from: ALICE, to: BOB });
    expect((await held()).data[0]).toMatchObject({ token_id: "1", received_at: 1_600_000_006 });
    await t.sql`delete from onchain_mainnet.token_event where event_type = 'sale'`;
  });

  test("of one collection", async () => {
    expect(idsOf(await held(`collection=${ITEMS}`))).toEqual(["7"]);
    expect(await held(`collection=${addressOf(9)}`)).toEqual({ data: [], token_count: 0, next_page: null });
    expect((await get(`portfolio/${ALICE}?collection=apes`)).status).toBe(400);
  });

  test("of an account that holds nothing, or of the zero address, are none", async () => {
    const none = { data: [], token_count: 0, next_page: null };
    for (const account of [addressOf(9), ZERO])
      for (const query of ["", "buy_now=true", "sort=price"]) expect(await held(query, account)).toEqual(none);
  });

  test("have what the account asks, not what others do, and the collection's floor", async () => {
    await placeOrder(t.sql, 1, { start_amount: eth("1500") });
    await placeOrder(t.sql, 2, { start_amount: eth("420"), token_id: "10", maker: BOB });
    const units = { contract_address: ITEMS, token_id: "7", operator: null };
    await placeOrder(t.sql, 3, { ...units, maker: BOB, quantity: "2", start_amount: eth("2") });
    await placeOrder(t.sql, 4, { ...units, maker: ALICE, quantity: "5", start_amount: eth("15") });
    const { data } = await held();
    expect(data.map(({ list_price, floor }) => [list_price, floor])).toEqual([
      [1.5, 0.42],
      [null, 0.42],
      [0.003, 0.001],
      [null, null],
    ]);
    for (const [account, list_price, balance] of [
      [ALICE, 0.003, "5"],
      [BOB, 0.001, "2"],
    ] as const)
      for (const query of ["", "&sort=price", "&buy_now=true"])
        expect((await held(`collection=${ITEMS}${query}`, account)).data).toMatchObject([{ list_price, balance }]);
  });

  test("have the highest offer of others, on the token or on its collection", async () => {
    const offer = { side: "offer", maker: BOB, operator: null };
    await placeOrder(t.sql, 1, { ...offer, start_amount: eth("100") });
    expect((await held()).data.map(({ best_offer }) => best_offer)).toEqual([0.1, null, null, null]);
    await placeOrder(t.sql, 2, { ...offer, token_id: null, start_amount: eth("200") });
    expect((await held()).data.map(({ best_offer }) => best_offer)).toEqual([0.2, 0.2, null, null]);
    await placeOrder(t.sql, 3, { ...offer, start_amount: eth("300"), end_time: 1_700_000_002 });
    await placeOrder(t.sql, 4, { ...offer, maker: ALICE, start_amount: eth("400") });
    await placeOrder(t.sql, 5, { ...offer, start_amount: eth("500"), currency_address: DOLLARS });
    expect((await held()).data.map(({ best_offer }) => best_offer)).toEqual([0.2, 0.2, null, null]);
  });

  test.for([
    ["sort=price", ["7", "1", MAX_ID.toString(), "100"], 4],
    ["sort=price&direction=desc", ["1", "7", MAX_ID.toString(), "100"], 4],
    ["buy_now=true", ["1", "7"], 2],
    ["buy_now=true&sort=price", ["7", "1"], 2],
    [`buy_now=true&collection=${APES}`, ["1"], 1],
    ["items_per_page=3&page=2", ["100"], 4],
    ["items_per_page=1&page=2", [MAX_ID.toString()], 4],
  ] as const)("?%s", async ([query, ids, count]) => {
    await placeOrder(t.sql, 1, { start_amount: eth("1500") });
    const units = { contract_address: ITEMS, token_id: "7", operator: null, quantity: "2" };
    await placeOrder(t.sql, 2, { ...units, start_amount: eth("20") });
    const body = await held(query);
    expect([idsOf(body), body.token_count]).toEqual([ids, count]);
  });

  test("on sale are as many as the list of collections says", async () => {
    await placeOrder(t.sql, 1);
    await placeOrder(t.sql, 2, { token_id: MAX_ID.toString(), start_amount: "7", currency_address: DOLLARS });
    const { body } = await get(`portfolio/${ALICE}/collections`);
    expect(body.data).toHaveLength(3);
    for (const { address, user_token_count, user_listed_tokens, token_count } of body.data) {
      expect((await held(`collection=${String(address)}`)).token_count).toBe(user_token_count);
      expect((await held(`collection=${String(address)}&buy_now=true`)).token_count).toBe(user_listed_tokens);
      expect((await get(`collections/${String(address)}/1/tokens`)).body.token_count).toBe(token_count);
    }
  });
});

describe("long lists", () => {
  const MANY = addressOf(0x3a27);
  const COUNT = 2345;

  beforeAll(async () => {
    await inserter(t.sql).contract(MANY);
    await t.sql`
      insert into onchain_mainnet.token
      select ${toBytes(MANY)}, i, 'ERC721', ${toBytes(addressOf(0x3a28))}, null, null, null, null
      from generate_series(1, ${COUNT}) as i
    `;
  });
  afterAll(async () => {
    await t.sql`delete from onchain_mainnet.token where contract_address = ${toBytes(MANY)}`;
    await t.sql`delete from onchain_mainnet.contract where contract_address = ${toBytes(MANY)}`;
  });

  const walk = async (path: string) => {
    const ids: string[] = [];
    for (let page: number | null = 1; page !== null;) {
      const { body }: { body: Answer } = await get(`${path}items_per_page=250&page=${page}`);
      expect(body.token_count).toBe(COUNT);
      ids.push(...idsOf(body));
      page = body.next_page;
    }
    return ids;
  };

  test.for([
    `collections/${MANY}/1/tokens?`,
    `portfolio/${addressOf(0x3a28)}?`,
    `portfolio/${addressOf(0x3a28)}?collection=${MANY}&`,
  ])("%s: pages have every token once, and prices decide where they are asked for", async (path) => {
    const all = Array.from({ length: COUNT }, (_, i) => String(i + 1));
    expect(await walk(path)).toEqual(all);
    for (const id of [2000, 5])
      await placeOrder(t.sql, id, {
        contract_address: MANY,
        token_id: String(id),
        maker: addressOf(0x3a28),
        start_amount: String(1e6 - id),
      });
    const sorted = await walk(`${path}sort=price&`);
    expect(sorted).toEqual(["2000", "5", ...all.filter((id) => id !== "2000" && id !== "5")]);
  });

  test("are right for the first request after a quiet hour", async () => {
    const path = `collections/${MANY}/1/tokens`;
    const owner = (id: string, address: string) => t.sql`
      update onchain_mainnet.token set owner = ${toBytes(address)}
      where contract_address = ${toBytes(MANY)} and token_id = ${id}
    `;
    const now = performance.now.bind(performance);
    let hours = 1;
    const clock = vi.spyOn(performance, "now").mockImplementation(() => now() + hours * 3_600_000);
    // Awaited, so that no list is still being made when the token is burned.
    expect((await get(path)).body.token_count).toBe(COUNT);
    await owner("1", ZERO);
    hours = 2;
    const { body } = await get(path);
    expect([body.token_count, body.data[0]?.token_id]).toEqual([COUNT - 1, "2"]);
    clock.mockRestore();
    await owner("1", addressOf(0x3a28));
  });

  test("are of a moment ago too where they are short for what is burned or hidden", async () => {
    const [burning, money, spammed] = [addressOf(0x3a31), addressOf(0x3a32), addressOf(0x3a33)];
    for (const contract of [burning, money]) await inserter(t.sql).contract(contract);
    await inserter(t.sql).contractMetadata(money, { is_fungible: true });
    await t.sql`
      insert into onchain_mainnet.token (contract_address, token_id, standard, owner)
      select ${toBytes(money)}, i, 'ERC721', ${toBytes(spammed)}
      from generate_series(1, 5000) as i
      union all
      select ${toBytes(burning)}, i, 'ERC721', ${toBytes(ZERO)}
      from generate_series(2, 5000) as i
      union all
      select ${toBytes(burning)}, i, 'ERC721', ${toBytes(spammed)}
      from unnest(array[1, 5001]) as i
    `;
    const lists = [`collections/${burning}/1/tokens`, `portfolio/${spammed}`, `portfolio/${spammed}/collections`];
    // By this clock each list takes a second or more to make, so it is used again for some seconds.
    let now = performance.now();
    const clock = vi.spyOn(performance, "now").mockImplementation(() => (now += 1000));
    const counts = () =>
      Promise.all(
        lists.map(async (path) => {
          const { body } = await get(path);
          return body.token_count ?? body.data[0]?.["user_token_count"];
        }),
      );
    expect(await counts()).toEqual([2, 2, 2]);
    await inserter(t.sql).token(burning, 6000, { owner: spammed });
    expect(await counts()).toEqual([2, 2, 2]);
    clock.mockRestore();
    for (const contract of [burning, money])
      for (const table of ["onchain_mainnet.token", "onchain_mainnet.contract", "offchain.contract_metadata"])
        await t.sql`delete from ${t.sql(table)} where contract_address = ${toBytes(contract)}`;
  });

  test("are of now where an account has no more than a thousand, each counted once", async () => {
    const [contract, holder] = [addressOf(0x3a37), addressOf(0x3a38)];
    await inserter(t.sql).contract(contract);
    await t.sql`
      insert into onchain_mainnet.token (contract_address, token_id, standard, owner)
      select ${toBytes(contract)}, i, 'ERC721', ${toBytes(holder)}
      from generate_series(1, 999) as i
    `;
    let now = performance.now();
    const clock = vi.spyOn(performance, "now").mockImplementation(() => (now += 1000));
    const counts = async () => [
      (await get(`portfolio/${holder}`)).body.token_count,
      (await get(`portfolio/${holder}/collections`)).body.data[0]?.["user_token_count"],
    ];
    expect(await counts()).toEqual([999, 999]);
    await inserter(t.sql).token(contract, 1000, { owner: holder });
    expect(await counts()).toEqual([1000, 1000]);
    clock.mockRestore();
    for (const table of ["token", "contract"])
      await t.sql`delete from onchain_mainnet.${t.sql(table)} where contract_address = ${toBytes(contract)}`;
  });

  test("are of a moment ago too where they are short for listings that nobody can fill", async () => {
    const [dead, seller] = [addressOf(0x3a35), addressOf(0x3a36)];
    const terms = { contract_address: dead, maker: seller };
    await inserter(t.sql).contract(dead);
    for (const id of [1, 2]) await inserter(t.sql).token(dead, id, { owner: seller });
    await placeOrder(t.sql, 5001, { ...terms, token_id: "1" });
    // Token 2 was listed again and again, and then given away.
    await t.sql`
      update onchain_mainnet.token set owner = ${toBytes(ALICE)}
      where contract_address = ${toBytes(dead)} and token_id = 2
    `;
    await t.sql`
      insert into onchain_mainnet.trade_order
      select (jsonb_populate_record(listed, jsonb_build_object(
        'token_id', 2,
        'order_hash', '\\x' || encode(sha256(i::text::bytea), 'hex')
      ))).*
      from onchain_mainnet.trade_order as listed, generate_series(1, 2000) as i
      where contract_address = ${toBytes(dead)}
    `;
    const lists = ["", "&sort=price"].flatMap((sort) => [
      `collections/${dead}/1/tokens?buy_now=true${sort}`,
      `portfolio/${seller}?buy_now=true${sort}`,
    ]);
    let now = performance.now();
    const clock = vi.spyOn(performance, "now").mockImplementation(() => (now += 1000));
    const counts = () => Promise.all(lists.map(async (path) => (await get(path)).body.token_count));
    const before = await counts();
    await t.sql`
      update onchain_mainnet.token set owner = ${toBytes(ALICE)}
      where contract_address = ${toBytes(dead)}
    `;
    const after = await counts();
    clock.mockRestore();
    expect([before, after]).toEqual([
      [1, 1, 1, 1],
      [1, 1, 1, 1],
    ]);
    for (const table of ["token", "contract", "trade_order"])
      await t.sql`delete from ${t.sql(`onchain_mainnet.${table}`)} where contract_address = ${toBytes(dead)}`;
  });

  test("by price of a moment ago have no token that was burned or given away since", async () => {
    const lists = [`collections/${MANY}/1/tokens?sort=price`, `portfolio/${addressOf(0x3a28)}?sort=price`];
    const owner = (id: number, address: string) => t.sql`
      update onchain_mainnet.token set owner = ${toBytes(address)}
      where contract_address = ${toBytes(MANY)} and token_id = ${id}
    `;
    // By this clock each list takes seconds to make, so it is used again for a minute.
    let now = performance.now() + 7_200_000;
    const clock = vi.spyOn(performance, "now").mockImplementation(() => (now += 1000));
    const first = async () => Promise.all(lists.map(async (path) => idsOf((await get(path)).body)));
    const both = Array.from({ length: 100 }, (_, i) => String(i + 1));
    expect(await first()).toEqual([both, both]);
    await owner(1, ZERO);
    await owner(2, ALICE);
    expect(await first()).toEqual([both.slice(1), both.slice(2)]);
    clock.mockRestore();
    for (const id of [1, 2]) await owner(id, addressOf(0x3a28));
  });

  test("by price of a moment ago have no token of a contract that was hidden since", async () => {
    const lists = [`collections/${MANY}/1/tokens?sort=price`, `portfolio/${addressOf(0x3a28)}?sort=price`];
    // By this clock each list takes seconds to make, so it is used again for a minute.
    let now = performance.now() + 9_000_000;
    const clock = vi.spyOn(performance, "now").mockImplementation(() => (now += 1000));
    const counts = async () => Promise.all(lists.map(async (path) => (await get(path)).body.data?.length));
    expect(await counts()).toEqual([100, 100]);
    await inserter(t.sql).contractMetadata(MANY, { is_fungible: true });
    expect(await counts()).toEqual([undefined, 0]);
    await t.sql`delete from offchain.contract_metadata where contract_address = ${toBytes(MANY)}`;
    expect(await counts()).toEqual([100, 100]);
    clock.mockRestore();
  });

  test("are made once for both directions where no price decides", async () => {
    const list = async (direction: string) =>
      (await get(`collections/${MANY}/1/tokens?direction=${direction}`)).body.token_count;
    let now = performance.now() + 3_600_000;
    const clock = vi.spyOn(performance, "now").mockImplementation(() => (now += 1000));
    const count = await list("asc");
    await inserter(t.sql).token(MANY, 9999, { owner: ALICE });
    expect(await list("desc")).toBe(count);
    clock.mockRestore();
    await t.sql`
      delete from onchain_mainnet.token where contract_address = ${toBytes(MANY)} and token_id = 9999
    `;
  });

  test("name their tokens where most between them are burned, and begin at a mark elsewhere", async () => {
    const burned = (from: number, to: number) => t.sql`
      update onchain_mainnet.token set owner = ${toBytes(ZERO)}
      where contract_address = ${toBytes(MANY)} and token_id between ${from} and ${to}
    `;
    const list = async () => {
      const scope = { chainId: MAINNET_ID, now: Math.floor(Date.now() / 1000), contractAddress: MANY };
      const selection = { isBuyNow: false, sort: undefined, direction: "asc" } as const;
      const databases = openDatabases({ url: t.url, readUrl: t.url });
      const { count, page } = await createTokenLists(databases.long.mainnet)(scope, selection, {
        offset: 150,
        limit: 2,
      });
      await databases.end();
      return { count, kind: page.kind, ids: page.kind === "keys" ? page.ids : page.fromId };
    };
    expect(await list()).toEqual({ count: COUNT, kind: "range", ids: "101" });
    await burned(201, 300);
    expect(await list()).toEqual({ count: COUNT - 100, kind: "range", ids: "101" });
    await burned(102, 2200);
    expect(await list()).toEqual({ count: COUNT - 2099, kind: "keys", ids: ["2250", "2251"] });
    await t.sql`
      update onchain_mainnet.token set owner = ${toBytes(addressOf(0x3a28))} where contract_address = ${toBytes(MANY)}
    `;
  });

  test.for([1, 99, 100, 101, 200, 201])("%i tokens, every other one in units, are counted and paged", async (count) => {
    const contract = addressOf(0x4000 + count);
    const holder = addressOf(0x5000 + count);
    await inserter(t.sql).contract(contract);
    await t.sql`
      insert into onchain_mainnet.token
      select
        ${toBytes(contract)}, i, case i % 2 when 0 then 'ERC1155' else 'ERC721' end,
        case i % 2 when 1 then ${toBytes(holder)} end, null, null, null, null
      from generate_series(1, ${count}) as i
    `;
    await t.sql`
      insert into onchain_mainnet.ownership
      select ${toBytes(contract)}, i, ${toBytes(holder)}, 1, 1, i, 0
      from generate_series(2, ${count}, 2) as i
    `;
    const last = Math.ceil(count / 10);
    for (const list of [`collections/${contract}/1/tokens?`, `portfolio/${holder}?`]) {
      const { body } = await get(`${list}items_per_page=10&page=${last}`);
      expect([body.token_count, body.next_page, idsOf(body).at(-1)]).toEqual([count, null, String(count)]);
      expect((await get(`${list}items_per_page=10&page=${last + 1}`)).body.data).toEqual([]);
    }
    for (const table of ["token", "ownership", "contract"])
      await t.sql`delete from onchain_mainnet.${t.sql(table)} where contract_address = ${toBytes(contract)}`;
  });
});

describe("many listings in every state", () => {
  const COUNT = 6000;
  const MANY = addressOf(0x3a30);
  const sellerOf = (i: string) => `decode(lpad(to_hex(7000 + ${i} % 50), 40, '0'), 'hex')`;
  const hex = (address: string) => `decode('${address.slice(2)}', 'hex')`;
  const [exchange, operator] = [hex(addressOf(0x5ea)), hex(addressOf(0xc0d))];

  /** Each special case recurs with a period of its own, so that all combinations of them occur. */
  const termsOf = (base: number, noOperator: string) => `
    'listing', case when i % 7 = 0 then ${hex(BOB)} else ${sellerOf("i")} end, ${hex(MANY)}, i,
    case when i % 4 = 0 then 1 + i % 3 else 1 end, ${hex(ZERO)}, ${base} + i, ${base} + i, ceil((${base} + i)::numeric / (case when i % 4 = 0 then 1 + i % 3 else 1 end)),
    case when i % 11 = 0 then 9000000000 else 1700000000 end, case when i % 13 = 0 then 1700000001 else 9100000000 end,
    case when i % 17 = 0 then 3 when i % 50 < 5 then 4 else 0 end, case when i % 6 = 0 then ${noOperator} else ${operator} end,
    case when i % 19 = 0 then ${hex(BOB)} end, ${hex(ZERO)}, 1700000001`;
  const columns = `
    side, maker, contract_address, token_id, quantity, currency_address, start_amount, end_amount, unit_price,
    start_time, end_time, counter, operator, taker, broker, placed_timestamp`;

  beforeAll(async () => {
    await inserter(t.sql).contract(MANY);
    const ids = `generate_series(1, ${COUNT}) as i`;
    await t.sql.unsafe(`
      insert into onchain_mainnet.token
      select ${hex(MANY)}, i, case when i % 4 = 0 then 'ERC1155' else 'ERC721' end,
        case when i % 4 = 0 then null else ${sellerOf("i")} end
      from ${ids};
      insert into onchain_mainnet.ownership
      select ${hex(MANY)}, i, ${sellerOf("i")}, 1 + i % 2, 1, 0, 0 from ${ids} where i % 4 = 0;
    `);
  });

  const place = async () => {
    const hash = (n: string) => `decode(lpad(to_hex(${n}), 64, '0'), 'hex')`;
    const ids = `generate_series(1, ${COUNT}) as i`;
    await t.sql.unsafe(`
      insert into onchain_mainnet.trade_order
        (exchange_address, order_hash, marketplace, is_open, is_cancelled, filled, updated_timestamp, ${columns})
      select ${exchange}, ${hash("i")}, case when i % 5 = 0 then 'zora' else 'seaport' end, i % 23 <> 0, i % 23 = 0,
        case when i % 29 = 0 then 1 else 0 end, 1700000001, ${termsOf(1000, "null")}
      from ${ids};
      insert into onchain_mainnet.trade_order
        (exchange_address, order_hash, marketplace, is_open, is_cancelled, filled, updated_timestamp)
      select ${exchange}, ${hash("100000 + i")}, 'seaport', false, i % 2 = 0, i % 3, 1700000001
      from ${ids}
      where i % 31 = 0;
      insert into offchain.signed_order (chain_id, exchange_address, order_hash, parameters, signature, ${columns})
      select ${MAINNET_ID}, ${exchange}, ${hash("100000 + i")}, '{}', '\\x00', ${termsOf(900, exchange)}
      from ${ids};
      insert into onchain_mainnet.order_counter
      select ${exchange}, ${sellerOf("i")}, 4 from generate_series(0, 4) as i;
      insert into onchain_mainnet.approval
      select 10 + i, 0, ${hex(MANY)}, ${sellerOf("i")}, ${operator}, i % 3 = 0 from generate_series(0, 80) as i
      where i % 50 > 9;
      insert into onchain_mainnet.approval
      select 500 + i, 0, ${exchange}, ${sellerOf("i")}, ${exchange}, i % 2 = 0 from generate_series(0, 30) as i;
      insert into offchain.listing_approval
      select ${MAINNET_ID}, ${hex(MANY)}, i, ${sellerOf("i")}, ${operator}, i % 2 = 0, i % 100
      from ${ids}
      where i % 9 = 0;
      analyze;
    `);
  };
  afterAll(() => t.sql`delete from offchain.signed_order where contract_address = ${toBytes(MANY)}`);

  test("the marketplace lists exactly those that the orderbook calls listed, at the same prices", async () => {
    await place();
    const listed: [bigint, string][] = [];
    for (let cursor: string | null = ""; cursor !== null;) {
      const { body } = await t.get(`/orderbook/tokens/collection/${MANY}?limit=250${cursor && `&cursor=${cursor}`}`);
      for (const { token_id, is_listed, current_price } of body.result as Record<string, string>[])
        if (is_listed === "true") listed.push([BigInt(token_id!), current_price!]);
      cursor = body.cursor;
    }
    const onSale: [bigint, string][] = [];
    const byPrice: bigint[] = [];
    for (let page: number | null = 1; page !== null;) {
      const path = `collections/${MANY}/1/tokens?buy_now=true&items_per_page=250&page=${page}`;
      const { body } = await get(path);
      expect(body.token_count).toBe(listed.length);
      for (const { token_id, amount } of body.data) onSale.push([BigInt(token_id), amount as string]);
      byPrice.push(...(await get(`${path}&sort=price`)).body.data.map(({ amount }) => BigInt(amount as string)));
      page = body.next_page;
    }
    expect(listed.length).toBeGreaterThan(1000);
    expect(onSale).toEqual(listed);
    expect(byPrice).toEqual(listed.map(([, price]) => BigInt(price)).toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0)));
  });
});
