import { execFile } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { FROM_BUNDLE } from "../../indexer/child-process.ts";
import { addressOf, createTestApi, MAINNET_ID, type TestApi, TESTNET_ID } from "../../test/api.ts";
import { clearOrders, placeOrder } from "../../test/orders.ts";
import { ALICE, APES, BOB, COINS, ITEMS, PUNKS, seed, TEST_APES } from "../../test/seed.ts";
import { createTokenLists } from "./marketplace-list.ts";
import { readPortfolio } from "./portfolio.ts";

let t: TestApi;

beforeAll(async () => {
  t = await createTestApi();
  await seed(t.sql);
});
beforeEach(() => clearOrders(t.sql));
afterAll(() => t.stop());

type Answer = { data: Record<string, unknown>[]; collection_count: number; next_page: number | null };
const get = async (path: string) => {
  const { status, body } = await t.get(`/marketplace/${path}`);
  return { status, body: body as unknown as Answer & { data: Record<string, unknown>; message: string } };
};
const eth = (amount: string) => `${amount}${"0".repeat(15)}`;
const CAROL = addressOf(0xca201);

describe("collections", () => {
  test("are all but hidden ones, those with most tokens first, burned ones not counted", async () => {
    const { body } = await get("collections");
    // Somebody holds three apes (a fourth is burned), one item and one punk.
    expect(body.data.map(({ collection_id }) => collection_id)).toEqual([APES, ITEMS, PUNKS]);
    expect(body).toMatchObject({ collection_count: 3, next_page: null });
    expect(body.data[0]).toEqual({
      collection_id: APES,
      collection_name: "Apes",
      collection_description: "",
      collection_image: "ipfs://apes.png",
    });
  });

  test("come in pages by number, and a page past the end is empty", async () => {
    const pages = await Promise.all([1, 2, 3, 4].map((page) => get(`collections?page=${page}&items_per_page=1`)));
    expect(pages.map(({ body }) => [body.data.length, body.next_page, body.collection_count])).toEqual([
      [1, 2, 3],
      [1, 3, 3],
      [1, null, 3],
      [0, null, 3],
    ]);
  });

  test("are found also where reading all contracts takes longer than other statements may", async () => {
    let answer: ReturnType<typeof get> | undefined;
    await t.sql.begin(async (sql) => {
      await sql`lock table onchain_mainnet.contract in access exclusive mode`;
      answer = get("collections");
      await sleep(5500);
    });
    expect(await answer).toMatchObject({ status: 200, body: { collection_count: 3 } });
  });

  test("have next to none of the pictures that are written into their documents where those are too many", async () => {
    const drawing = `data:image/svg+xml,${"A".repeat(60_000)}`;
    await t.sql`
      insert into offchain.contract_metadata (chain_id, contract_address, name, description, image)
      select ${MAINNET_ID}, decode(lpad(to_hex(n), 40, '0'), 'hex'), 'Drawn', 'By hand', ${drawing}
      from generate_series(10001, 10080) as n
    `;
    await t.sql`
      insert into onchain_mainnet.contract
      select contract_address, 'ERC721', false, 1, 0 from offchain.contract_metadata where name = 'Drawn'
    `;
    await t.sql`
      insert into onchain_mainnet.token (contract_address, token_id, standard, owner)
      select contract_address, 1, 'ERC721', decode(${CAROL.slice(2)}, 'hex')
      from offchain.contract_metadata
      where name = 'Drawn'
    `;
    const [all, carols] = await Promise.all(
      ["collections?items_per_page=250", `portfolio/${CAROL}/collections?items_per_page=250`].map(get),
    );
    const images = all!.body.data.filter((one) => one["collection_name"] === "Drawn");
    expect(images).toHaveLength(80);
    const read = { collection_description: "By hand", collection_image: drawing };
    const unread = { collection_description: "", collection_image: "" };
    expect(images.slice(0, 69)).toEqual(Array(69).fill(expect.objectContaining(read)));
    expect(images.slice(69)).toEqual(Array(11).fill(expect.objectContaining(unread)));
    const drawn = carols!.body.data.filter((one) => one["collection_name"] === "Drawn");
    expect(drawn.map(({ image }) => image)).toEqual([...Array(69).fill(drawing), ...Array(11).fill("")]);
    await t.sql`
      delete from onchain_mainnet.contract
      where contract_address in (select contract_address from offchain.contract_metadata where name = 'Drawn')
    `;
  });

  describe("by the thousand", () => {
    const HOLDER = addressOf(0xca202);
    const names = Array.from({ length: 1200 }, (_, n) => `Of many ${n}`);

    beforeAll(async () => {
      await t.sql`
        insert into offchain.contract_metadata (chain_id, contract_address, name)
        select ${MAINNET_ID}, decode(lpad(to_hex(20000 + n), 40, '0'), 'hex'), 'Of many ' || n
        from generate_series(0, ${names.length - 1}) as n
      `;
      await t.sql`
        insert into onchain_mainnet.contract
        select contract_address, 'ERC721', false, 1, 0 from offchain.contract_metadata where name like 'Of many%'
      `;
      await t.sql`
        insert into onchain_mainnet.token (contract_address, token_id, standard, owner)
        select contract_address, 1, 'ERC721', decode(${HOLDER.slice(2)}, 'hex')
        from offchain.contract_metadata
        where name like 'Of many%'
      `;
    });
    afterAll(async () => {
      for (const table of ["token", "contract"])
        await t.sql`
          delete from onchain_mainnet.${t.sql(table)}
          where contract_address in (
            select contract_address from offchain.contract_metadata where name like 'Of many%'
          )
        `;
    });

    test.for(["collections", `portfolio/${HOLDER}/collections`])(
      "%s: whoever asks at once has the same pages, and has what changes a moment later",
      async (path, { expect }) => {
        const ask = async (items = 250) => {
          const pages = Array.from({ length: Math.ceil((names.length + 10) / items) }, (_, n) => n + 1);
          const answers = await Promise.all(pages.map((page) => get(`${path}?items_per_page=${items}&page=${page}`)));
          const all = answers.flatMap(({ body }) => body.data.map((one) => one["collection_name"] as string));
          return all.filter((name) => name.startsWith("Of many"));
        };
        // Bodies are written to memory that is used again for other bodies once they are sent.
        for (const items of [250, 200, 250, 200])
          for (const walk of await Promise.all([ask(items), ask(items)])) expect(walk).toEqual(names);

        const rename = (from: string, to: string) =>
          t.sql`update offchain.contract_metadata set name = ${to} where name = ${from}`;
        await rename("Of many 700", "Of many others");
        await expect.poll(() => ask()).toEqual(names.with(700, "Of many others"));
        await rename("Of many others", "Of many 700");
        await expect.poll(() => ask()).toEqual(names);
      },
    );
  });

  test.for([
    "collections",
    `portfolio/${ALICE}/collections`,
    `portfolio/${ALICE}`,
    `portfolio/${ALICE}?sort=price`,
    `collections/${APES}/${MAINNET_ID}/tokens`,
    `collections/${APES}/${MAINNET_ID}/tokens?buy_now=true`,
  ])("%s: a page is empty however far it is past the end", async (path) => {
    for (const page of ["1000000000", String(Number.MAX_SAFE_INTEGER)])
      for (const items of [1, 250]) {
        const query = `page=${page}&items_per_page=${items}`;
        const { status, body } = await get(`${path}${path.includes("?") ? "&" : "?"}${query}`);
        expect({ status, ...body }).toMatchObject({ status: 200, data: [], next_page: null });
      }
  });

  test.for([
    "page=0",
    "page=-1",
    "page=1.5",
    "page=",
    `page=${2n ** 53n}`,
    "page=9999999999999999",
    "page=10000000000000000",
    "items_per_page=0",
    "items_per_page=251",
    "page=1&page=2",
  ])("?%s is refused", async (query) => {
    expect(await get(`collections?${query}`)).toMatchObject({
      status: 400,
      body: { type: "invalid_request", message: expect.stringContaining("Expected") as string },
    });
  });

  test("a page that is refused is told what is accepted", async () => {
    expect((await get(`collections?page=${2n ** 53n}`)).body.message).toMatch(
      /^page .*is invalid\. Expected a whole number from 1 to 9007199254740991\.$/,
    );
  });

  test("one of them, of either network, its chain id in decimal or hex", async () => {
    for (const chainId of [MAINNET_ID, `0x${MAINNET_ID.toString(16)}`, `0x${"1".padStart(14, "0")}`])
      expect(await get(`collections/${APES}/${chainId}`)).toMatchObject({
        status: 200,
        body: { data: { collection_id: APES, collection_name: "Apes" } },
      });
    expect((await get(`collections/${TEST_APES}/${TESTNET_ID}`)).body.data).toMatchObject({ collection_id: TEST_APES });
  });

  test("unknown ones, hidden ones and chains that aren't served are 404", async () => {
    for (const path of [`${addressOf(9)}/1`, `${COINS}/1`, `${TEST_APES}/1`, `${APES}/77`])
      expect((await get(`collections/${path}`)).status).toBe(404);
    const { status, body } = await get(`collections/${APES}/12345678901234567890`);
    expect([status, body.message]).toEqual([404, "Chain 12345678901234567890 is not served here."]);
    for (const chainId of ["one", "0x", "-1", "1".repeat(79)])
      expect((await get(`collections/${APES}/${chainId}`)).status).toBe(400);
  });
});

describe("a portfolio's collections", () => {
  const entry = async (address = APES, user = ALICE) =>
    (await get(`portfolio/${user}/collections`)).body.data.find((row) => row.address === address);

  test("have counts of tokens, not of units", async () => {
    const { body } = await get(`portfolio/${ALICE}/collections`);
    expect(body).toMatchObject({ collection_count: 3, next_page: null });
    expect(body.data.map(({ address }) => address)).toEqual([APES, ITEMS, PUNKS]);
    expect(body.data[0]).toEqual({
      address: APES,
      image: "ipfs://apes.png",
      collection_name: "Apes",
      floor: null,
      token_count: 3,
      user_token_count: 2,
      user_listed_tokens: 0,
      is_verified: false,
    });
    expect(body.data[1]).toMatchObject({ token_count: 1, user_token_count: 1 });
  });

  test("are not counted anew where most of a thousand tokens are burned", async () => {
    const [burning, dora] = [addressOf(0xb0a1), addressOf(0xd0a1)].map((address) => address.slice(2));
    await t.sql`
      insert into onchain_mainnet.contract
      select decode(${burning!}, 'hex'), 'ERC721', false, 20, 0
    `;
    await t.sql`
      insert into onchain_mainnet.token (contract_address, token_id, standard, owner)
      select decode(${burning!}, 'hex'), id, 'ERC721', decode(case when id > 3 then repeat('0', 40) else ${dora!} end, 'hex')
      from generate_series(1, 5000) as id
    `;
    // A new process hasn't counted any tokens yet.
    const { app, stop } = await t.another();
    const count = async () => {
      const response = await app.request(`/marketplace/portfolio/0x${dora!}/collections`);
      return ((await response.json()) as Answer).data[0];
    };
    expect(await count()).toMatchObject({ token_count: 3, user_token_count: 3 });
    await t.sql`update onchain_mainnet.token set owner = ${Buffer.alloc(20)} where token_id = 3 and owner = decode(${dora!}, 'hex')`;
    expect(await count()).toMatchObject({ token_count: 3, user_token_count: 2 });
    await t.sql`delete from onchain_mainnet.token where contract_address = decode(${burning!}, 'hex')`;
    await t.sql`delete from onchain_mainnet.contract where contract_address = decode(${burning!}, 'hex')`;
    await stop();
  });

  test("of an account that holds nothing are none", async () => {
    const nothing = { data: [], collection_count: 0, next_page: null };
    expect(await get(`portfolio/${addressOf(9)}/collections`)).toEqual({ status: 200, body: nothing });
    expect((await get(`portfolio/${addressOf(0)}/collections`)).body).toEqual(nothing);
  });

  test("of the zero address are none without a look at all that was burned", async () => {
    const unasked = new Proxy(t.sql, {
      get: () => {
        throw new Error("The database was asked.");
      },
    });
    const scope = { chainId: MAINNET_ID, now: 0, accountAddress: addressOf(0) };
    expect((await readPortfolio(unasked, scope)).addresses).toEqual([]);
    const list = createTokenLists(unasked);
    for (const isBuyNow of [false, true])
      for (const sort of [undefined, "price"] as const) {
        const { count } = await list(scope, { isBuyNow, sort, direction: "asc" }, { offset: 0, limit: 50 });
        expect(count).toBe(0);
      }
  });

  test("have a floor that falls and rises with what could be bought", async () => {
    await placeOrder(t.sql, 1, { start_amount: eth("1500") });
    expect(await entry()).toMatchObject({ floor: 1.5, user_listed_tokens: 1 });
    await placeOrder(t.sql, 2, { start_amount: eth("420"), token_id: "10", maker: BOB });
    expect(await entry()).toMatchObject({ floor: 0.42, user_listed_tokens: 1 });
    expect(await entry(APES, BOB)).toMatchObject({ floor: 0.42, user_token_count: 1, user_listed_tokens: 1 });
    // Cheaper, but they can't be filled: ended, cancelled, for one taker, from somebody who doesn't hold the token. The
    // last one is in another currency.
    await placeOrder(t.sql, 3, { start_amount: "1", end_time: 1_700_000_002 });
    await placeOrder(t.sql, 4, { start_amount: "1", is_open: false });
    await placeOrder(t.sql, 5, { start_amount: "1", taker: BOB });
    await placeOrder(t.sql, 6, { start_amount: "1", maker: BOB });
    await placeOrder(t.sql, 7, { start_amount: "1", currency_address: addressOf(0xd0) });
    expect(await entry()).toMatchObject({ floor: 0.42 });
    await t.sql`update onchain_mainnet.trade_order set is_open = false where token_id = 10`;
    expect(await entry()).toMatchObject({ floor: 1.5 });
  });

  test("have prices that fall among their asks", async () => {
    await placeOrder(t.sql, 1, { start_amount: eth("1500") });
    const now = Math.floor(Date.now() / 1000);
    const falling = { start_amount: eth("2000"), start_time: now - 90_000, end_time: now + 10_000 };
    await placeOrder(t.sql, 0, { ...falling, amounts: `[[${eth("2000")},${eth("1900")}]]`, end_amount: eth("1900") });
    await placeOrder(t.sql, 2, {
      ...falling,
      token_id: "10",
      maker: BOB,
      amounts: `[[${eth("2000")},0]]`,
      end_amount: "0",
    });
    const { floor } = (await entry()) as { floor: number };
    expect(floor).toBeGreaterThan(0.199);
    expect(floor).toBeLessThanOrEqual(0.2);
  });

  test("count a token once, however often it is listed", async () => {
    await placeOrder(t.sql, 1);
    await placeOrder(t.sql, 2, { start_amount: "2000" });
    expect(await entry()).toMatchObject({ user_listed_tokens: 1 });
  });

  test("are verified by the operator's command", async () => {
    const run = async (...args: string[]) => {
      const env = { PATH: process.env.PATH, DATABASE_URL: t.url, MAINNET_RPC_URL: "http://127.0.0.1:1" };
      const { stdout } = await promisify(execFile)(process.execPath, [...FROM_BUNDLE, "bin/collections.ts", ...args], {
        env,
      });
      return stdout.trim();
    };
    expect(await run("verify", APES.toUpperCase().replace("X", "x"))).toBe(`${APES} is verified.`);
    expect(await run("verify", APES)).toBe(`${APES} is verified.`);
    expect(await run("list")).toMatch(new RegExp(`^ADDRESS +VERIFIED\\n${APES}  [\\d-]+T[\\d:]+Z$`));
    expect(await entry()).toMatchObject({ is_verified: true });
    expect(await entry(ITEMS)).toMatchObject({ is_verified: false });
    expect(await run("unverify", APES)).toBe(`${APES} is not verified.`);
    expect(await entry()).toMatchObject({ is_verified: false });
    await expect(run("verify", "apes")).rejects.toThrow('Address "apes" is invalid. Expected 0x and 40 hex digits.');
    await expect(run()).rejects.toThrow("Expected: npm run collections");
  });
});

test("needs no key, and other methods are refused", async () => {
  expect((await t.api.app.request("/marketplace/collections")).status).toBe(200);
  expect((await t.api.app.request("/marketplace/collections", { method: "POST" })).status).toBe(405);
});

test("is at the root of a host name of its own, and so is the orderbook", async () => {
  const hosts = { indexer: undefined, testnet: undefined, orderbook: "orders.test", marketplace: "market.test" };
  const { app } = await t.another({ hosts });
  const at = (host: string, path: string) => app.request(`http://${host}${path}`, { headers: { host } });
  expect((await at("market.test", "/collections")).status).toBe(200);
  expect((await at("market.test", `/portfolio/${ALICE}/collections`)).status).toBe(200);
  expect((await at("orders.test", `/token/${APES}/1`)).status).toBe(200);
  expect((await at("orders.test", `/v1/tokens/${ALICE}`)).status).toBe(200);
});
