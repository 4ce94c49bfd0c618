import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { toBytes } from "../offchain/bytea.ts";
import { createKey } from "../api/key/key.ts";
import { setVerified } from "../api/marketplace/collection-verification.ts";
import { readConfig } from "../config.ts";
import { addressOf, createTestApi, hashOf, inserter, TEST_KEY, type TestApi, ZERO } from "../test/api.ts";
import { stopClock } from "../test/clock.ts";
import { countWaiting } from "../test/database.ts";
import { clearOrders, placeOrder } from "../test/orders.ts";
import { ALICE, APES, BOB, COINS, ITEMS, MAX_ID, NORMALIZED, PUNKS, seed, TEST_APES } from "../test/seed.ts";
import { createExplorer } from "./explorer.ts";

let api: TestApi;

beforeAll(async () => {
  api = await createTestApi({ createPages: createExplorer });
  await seed(api.sql);
});
afterAll(() => api?.stop());

const open = async (path: string, init: RequestInit = {}) => {
  const response = await api.request(path, init);
  return { status: response.status, headers: response.headers, html: await response.text() };
};
const collection = (address: string, network = "mainnet") => `/explorer/collection/${network}/${address}`;
const token = (address: string, id: bigint | number) => `/explorer/token/mainnet/${address}/${id}`;
/** The text of a page, without its markup. */
const textOf = (html: string) => html.replaceAll(/<[^>]*>/g, " ").replaceAll(/\s+/g, " ");
/** Reads all pages of a list, and collects what `pattern` finds on them. */
async function walk(path: string, pattern: RegExp): Promise<{ found: string[]; pages: number }> {
  const found: string[] = [];
  for (let pages = 1, next = path; ; pages += 1) {
    const { status, html } = await open(next);
    expect(status).toBe(200);
    found.push(...[...html.matchAll(pattern)].map(([, group]) => group!));
    const [, link] = /<a href="([^"]*)" rel="next"/.exec(html) ?? [];
    if (link === undefined) return { found, pages };
    next = link.replaceAll("&amp;", "&");
  }
}

describe("what there is", () => {
  test("home shows both networks, what happened on them and their collections", async () => {
    const { status, html } = await open("/");
    expect(status).toBe(200);
    const text = textOf(html);
    for (const part of ["Ethereum mainnet live", "Sepolia testnet live", "Newest activity on mainnet", "Apes", "PUNKS"])
      expect(text).toContain(part);
    expect(html).toContain(`href="${collection(TEST_APES, "testnet")}"`);
    expect(html).not.toContain(COINS);
  });

  test.each([
    [collection(APES), "Apes"],
    [collection(ITEMS), "ERC1155"],
    [collection(PUNKS), "CRYPTOPUNKS"],
    [collection(TEST_APES, "testnet"), "testnet"],
    [token(APES, 1), "Ape &quot;1&quot; ünïcode"],
    [token(APES, 2), "nobody"],
    [token(APES, MAX_ID), String(MAX_ID)],
    [`${token(APES, 1)}/events`, "transfer"],
    [token(ITEMS, 7), ALICE],
    [`/explorer/account/mainnet/${ALICE}`, "× 5"],
    [`/explorer/account/mainnet/${ALICE}?contract=${ITEMS}`, "× 5"],
    [`/explorer/account/mainnet/${ZERO}`, "It holds nothing."],
    [`/explorer/account/testnet/${ALICE}`, "testnet"],
    [`/explorer/account/mainnet/${BOB}/events`, "mint"],
    ["/explorer/search?q=apes", APES],
    ["/explorer/search?q=%00%ff", "None."],
    [`/explorer/search?q=${hashOf(1)}`, "None."],
    [`/explorer/search?q=${APES}%20x`, "None."],
    [`/explorer/search?q=${APES}/10x`, "None."],
    [`/explorer/search?q=${APES}/${"1".repeat(79)}`, "None."],
  ])("%s", async (path, part) => {
    const { status, html } = await open(path);
    expect([status, html.includes(part)]).toEqual([200, true]);
  });

  test.each([
    [APES, collection(APES)],
    [` ${APES.toUpperCase()} / `, collection(APES)],
    [`${APES} #10`, token(APES, 10)],
    [`${APES}/0x0a`, token(APES, 10)],
    [`https://opensea.io/item/ethereum/${APES}/10?tab=activity`, token(APES, 10)],
    [`https://etherscan.io/token/${APES}?a=10#inventory`, token(APES, 10)],
    [`https://etherscan.io/address/${ALICE}#nfttransfers`, `/explorer/account/mainnet/${ALICE}`],
    [`eip155:1/erc721:${APES}/10`, token(APES, 10)],
    [`http://127.0.0.1:3000/explorer/token/mainnet/${APES}/10/events?cursor=a0_-`, token(APES, 10)],
    [ALICE, `/explorer/account/mainnet/${ALICE}`],
  ])("a search for %j leads to its page", async (query, path) => {
    const { status, headers } = await open(`/explorer/search?q=${encodeURIComponent(query)}`);
    expect([status, headers.get("location")]).toEqual([302, path]);
  });

  test("an id in hex or with zeros leads to the same token", async () => {
    const titles = await Promise.all(
      ["1", "001", "0x1", `0x${"1".padStart(64, "0")}`].map(
        async (id) => (await open(token(APES, 1).replace(/1$/, id))).html,
      ),
    );
    for (const html of titles) expect(html).toContain("<title>Ape &quot;1&quot; ünïcode · Apes · nft-index</title>");
  });
});

describe("what a page is called", () => {
  const titleOf = (html: string) => /<title>(.*) · nft-index<\/title>/.exec(html)?.[1];

  test.each([
    [collection(APES), "Apes"],
    [`${collection(APES)}/listed`, "Apes, listed"],
    [`${collection(APES)}/events`, "Apes, activity"],
    [token(APES, 10), "#10 · Apes"],
    [token(ITEMS, 7), "#7 · 0x0000…00b2"],
    [`${token(APES, 10)}/owners`, "Owners of #10 · Apes"],
    [`/explorer/account/mainnet/${ALICE}`, "Account 0x0000…11ce"],
    [`/explorer/account/mainnet/${ALICE}/events`, "Account 0x0000…11ce, activity"],
    ["/explorer/search?q=", "Search"],
  ])("%s: %s", async (path, title) => {
    expect(titleOf((await open(path)).html)).toBe(title);
  });

  test("what can't be seen is no name", async () => {
    const ghosts = addressOf(0x6057);
    await inserter(api.sql).contract(ghosts, { block_number: 7 });
    await inserter(api.sql).contractMetadata(ghosts, { name: "\u3164\u200B", symbol: "\u2800" });
    await inserter(api.sql).token(ghosts, 4, { owner: BOB });
    const normalized = JSON.stringify({ ...JSON.parse(NORMALIZED), name: "\u3164" });
    await inserter(api.sql).tokenMetadata(ghosts, 4, { normalized });
    const { html } = await open(token(ghosts, 4));
    expect(titleOf(html)).toBe("#4 · 0x0000…6057");
    expect(textOf((await open(collection(ghosts))).html)).toContain(`ERC721 · ${ghosts}`);
  });
});

test("a search finds letters of all alphabets in any case", async () => {
  const names = ["Étoiles de NÎMES", "ЗВЁЗДЫ", "Straße IX", "İzmir Kedileri"];
  const contracts = names.map((_, n) => addressOf(0x7100 + n));
  for (const [n, address] of contracts.entries()) {
    await inserter(api.sql).contract(address, { block_number: 71 });
    await inserter(api.sql).contractMetadata(address, { name: names[n]!, symbol: n === 1 ? "ЗВ" : "" });
  }
  const searches = [
    ["Étoiles", 0],
    ["étoiles de nîmes", 0],
    ["ÉTOILES DE NÎMES", 0],
    ["звёзды", 1],
    ["зв", 1],
    ["Straße ix", 2],
    ["İZMIR KEDILERI", 3],
  ] as const;
  for (const [query, found] of searches) {
    const { html } = await open(`/explorer/search?q=${encodeURIComponent(query)}`);
    expect([query, contracts.findIndex((address) => html.includes(address))]).toEqual([query, found]);
  }
});

test("what can't be seen of a text, as pasted ones have it, is no part of what is searched", async () => {
  const { headers } = await open(`/explorer/search?q=${encodeURIComponent(`\u202A${APES}\u200B 1\u2060`)}`);
  expect(headers.get("location")).toBe(token(APES, 1));
  expect((await open(`/explorer/search?q=${encodeURIComponent("\u202Dap\u00ADes\uFEFF")}`)).html).toContain(APES);
});

test("of collections of one name the one that the operator vouches for comes first, and says so", async () => {
  const contracts = Array.from({ length: 30 }, (_, n) => addressOf(0x7000 + n));
  for (const address of contracts) {
    await inserter(api.sql).contract(address, { block_number: 70 });
    await inserter(api.sql).contractMetadata(address, { name: "Lanterns" });
  }
  const real = contracts.at(-1)!;
  await setVerified(api.sql, { contractAddress: real, isVerified: true });
  const { html } = await open("/explorer/search?q=lanterns");
  const cards = [...html.matchAll(/<li data-key="0x[\da-f]{40}">[^]*?<\/li>/g)].map(([card]) => card);
  expect(cards).toHaveLength(24);
  expect(textOf(html)).toContain("The first 24. More of the name finds others.");
  expect(textOf((await open("/explorer/search?q=apes")).html)).not.toContain("The first");
  expect(cards[0]).toContain(real);
  expect(cards.map((card) => card.includes("verified"))).toEqual(cards.map((_, n) => n === 0));
  expect(textOf((await open(collection(real))).html)).toContain("Lanterns verified");
  await setVerified(api.sql, { contractAddress: real, isVerified: false });
});

test("holdings of one collection say so, and lead back to all", async () => {
  const account = `/explorer/account/mainnet/${ALICE}`;
  const all = (await open(account)).html;
  expect(all).toContain(`href="${account}?contract=${ITEMS}"`);
  expect(all).not.toContain("all holdings");
  const some = (await open(`${account}?contract=${ITEMS}`)).html;
  expect(some).toContain(`<a class="more" href="${account}">all holdings</a>`);
  expect(textOf((await open(`${account}?contract=${TEST_APES}`)).html)).toContain(`It holds nothing of ${TEST_APES}`);
});

test("a page from which everything has gone says so of itself alone, and leads to the first", async () => {
  const [carol, boats] = [addressOf(0xca401), addressOf(0xb0a75)];
  const main = inserter(api.sql);
  await main.contract(boats, { block_number: 12 });
  for (let id = 1; id <= 25; id += 1) {
    await main.token(boats, id, { owner: carol });
    await placeOrder(api.sql, id, { maker: carol, contract_address: boats, token_id: String(id), operator: null });
  }
  await main.token(boats, 26, { standard: "ERC1155" });
  for (let n = 0; n <= 40; n += 1) await main.ownership(boats, 26, addressOf(0x7000 + n), 1, [100 - n, 0, 0]);
  const paths = [`/explorer/account/mainnet/${carol}`, `/explorer/account/mainnet/${carol}/listed`];
  paths.push(`${paths[0]}?contract=${boats}`, `${token(boats, 26)}/owners`);
  const nexts = await Promise.all(
    paths.map(async (path) =>
      /<a href="([^"]*)" rel="next"/.exec((await open(path)).html)?.[1]?.replaceAll("&amp;", "&"),
    ),
  );
  await api.sql`delete from onchain_mainnet.token where contract_address = ${toBytes(boats)} and token_id = 25`;
  await api.sql`delete from onchain_mainnet.ownership where contract_address = ${toBytes(boats)} and token_id = 25`;
  await api.sql`delete from onchain_mainnet.ownership where owner = ${toBytes(addressOf(0x7028))}`;
  await api.sql`delete from onchain_mainnet.trade_order where token_id = 25`;
  for (const [place, next] of nexts.entries()) {
    const { html } = await open(next!);
    expect(textOf(html)).toMatch(/None on this page\. First page/);
    expect(html).toContain(`<a href="${paths[place]}">First page</a>`);
  }
  await clearOrders(api.sql);
});

test("no page of an account's events leads to one without any", async () => {
  const calm = addressOf(0xca13);
  for (let n = 0; n < 50; n += 1) await inserter(api.sql).event(APES, 2, [70_000 + n, 0, 0], { to: calm });
  const { found, pages } = await walk(`/explorer/account/mainnet/${calm}/events`, /title="Block (\d+),/g);
  expect([found.length, pages]).toEqual([50, 2]);
  await api.sql`delete from onchain_mainnet.token_event where to_address = ${toBytes(calm)}`;
});

test("a token that may have several owners names the newest, whatever its contract says that it is", async () => {
  const mixed = addressOf(0x313ed);
  await inserter(api.sql).contract(mixed, { block_number: 14 });
  await inserter(api.sql).token(mixed, 1, { owner: BOB });
  await inserter(api.sql).token(mixed, 2, { standard: "ERC1155" });
  const ownerOf = async (id: number) => /<dt>([\w ]*[Oo]wner)<\/dt>/.exec((await open(token(mixed, id))).html)?.[1];
  expect([await ownerOf(1), await ownerOf(2)]).toEqual(["Owner", "Newest owner"]);
});

test("an account is the same on another network, one link away", async () => {
  const pathOn = (network: string) => `/explorer/account/${network}/${ALICE}/events`;
  const { html } = await open(pathOn("mainnet"));
  expect(html).toContain(`<a href="${pathOn("testnet")}">on testnet</a>`);
  expect(html).not.toContain(">on mainnet</a>");
});

test("a token that nobody holds any more says so among those of its collection, whatever its standard", async () => {
  const burned = async (address: string) =>
    [...(await open(collection(address))).html.matchAll(/<li data-key="[^/"]*\/(\d+)">[^]*?<\/li>/g)]
      .filter(([card]) => textOf(card).includes("burned"))
      .map(([, id]) => id);
  expect([await burned(APES), await burned(ITEMS)]).toEqual([["2"], ["8"]]);
});

test("addresses and transactions lead to the chain's block explorer", async () => {
  await inserter(api.sql).event(APES, 1, [44, 0, 0], { to: ALICE });
  const linksOf = async (path: string) =>
    [...(await open(path)).html.matchAll(/<a href="(https:[^"]*)" rel="noopener noreferrer external"/g)].map(
      ([, link]) => link,
    );
  expect(await linksOf(token(APES, 1))).toEqual(
    expect.arrayContaining([`https://etherscan.io/address/${APES}`, `https://etherscan.io/tx/${hashOf(44)}`]),
  );
  expect(await linksOf(collection(APES))).toEqual([`https://etherscan.io/address/${APES}`]);
  expect(await linksOf(`/explorer/account/testnet/${ALICE}`)).toEqual([
    `https://sepolia.etherscan.io/address/${ALICE}`,
  ]);
});

test("a browser that looks at /status gets the icon that it asks for by itself", async () => {
  const { status, headers, html } = await open("/favicon.ico");
  expect([status, headers.get("content-type"), html.startsWith("<svg")]).toEqual([200, "image/svg+xml", true]);
  const hosts = { indexer: undefined, testnet: undefined, orderbook: "orders.example", marketplace: undefined };
  const { app } = await api.another({ hosts });
  expect((await app.request("/favicon.ico", { headers: { host: "orders.example" } })).status).toBe(200);
});

test("a token is found by its collection's name and its number, where no other collection has that name", async () => {
  const find = async (text: string) => open(`/explorer/search?q=${encodeURIComponent(text)}`);
  const [one, other] = [addressOf(0x8001), addressOf(0x8002)];
  await inserter(api.sql).contract(one, { block_number: 80 });
  await inserter(api.sql).contractMetadata(one, { name: "Only Owls" });
  expect((await find("only owls #007")).headers.get("location")).toBe(token(one, 7));
  expect(textOf((await find("no owls #7")).html)).toContain("None.");
  await inserter(api.sql).contract(other, { block_number: 81 });
  await inserter(api.sql).contractMetadata(other, { name: "Only Owls #7" });
  expect((await find("only owls #7")).html).toContain(collection(other));
  const { status, html } = await find("Only Owls #8");
  expect([status, html.includes(collection(one)), html.includes(collection(other))]).toEqual([200, true, true]);
});

test("an attribute that is a date is shown as one", async () => {
  const dated = { display_type: "date", trait_type: "Born", value: "1649310545" };
  const odd = { display_type: "date", trait_type: "Died", value: "99999999999999999999" };
  await inserter(api.sql).token(APES, 33, { owner: ALICE });
  await inserter(api.sql).tokenMetadata(APES, 33, {
    normalized: JSON.stringify({ ...JSON.parse(NORMALIZED), attributes: [dated, odd], description: 'A "<b>" ape' }),
    metadata_updated_at: 1_700_000_000,
  });
  const { html } = await open(token(APES, 33));
  expect(textOf(html)).toContain("Born 2022-04-07 Died 99999999999999999999");
  expect(html).toContain('<meta name="description" content="A &quot;&lt;b&gt;&quot; ape" />');
});

test("a description that shows nothing has no place, and no heading", async () => {
  await inserter(api.sql).token(APES, 36, { owner: ALICE });
  await inserter(api.sql).tokenMetadata(APES, 36, {
    normalized: JSON.stringify({ ...JSON.parse(NORMALIZED), external_url: "", description: " \u200B\n " }),
    metadata_updated_at: 1_700_000_000,
  });
  const { html } = await open(token(APES, 36));
  expect([html.includes("Metadata"), html.includes('id="about"')]).toEqual([true, false]);
});

test("a page that says that it waits for a fetch asks again until that has ended, also after one that failed", async () => {
  await inserter(api.sql).token(APES, 34, { owner: ALICE });
  await inserter(api.sql).tokenMetadata(APES, 34, { error_code: "revert", awaiting_metadata_update: true });
  const { html } = await open(token(APES, 34));
  expect(textOf(html)).toContain("Waiting for the fetch.");
  expect(html).toContain("data-unfinished");
});

test("a page whose token's picture is on its way asks again until that is there, or can't be had", async () => {
  const normalized = JSON.stringify({ ...JSON.parse(NORMALIZED), image: "https://art.example/35.png" });
  const isFollowed = async () => (await open(token(APES, 35))).html.includes("data-unfinished");
  const media = { media_due_at: new Date(), awaiting_metadata_update: false };
  await inserter(api.sql).token(APES, 35, { owner: ALICE });
  await inserter(api.sql).tokenMetadata(APES, 35, { normalized, ...media });
  expect(await isFollowed()).toBe(true);
  await api.sql`update token_metadata set media_error_code = 'timeout' where token_id = 35`;
  expect(await isFollowed()).toBe(false);
});

test.each([
  ["/explorer/", "/explorer"],
  [`${collection(APES)}/`, collection(APES)],
  ["/explorer/search/?q=a%20b", "/explorer/search?q=a%20b"],
  ["/explorer/%0d%0ax:y//", "/explorer/%0d%0ax:y"],
])("%s leads to the page without a slash at its end", async (path, to) => {
  const { status, headers } = await open(path);
  expect([status, headers.get("location")]).toEqual([302, to]);
});

test("searches for names keep two connections busy, and are refused where too many wait", async () => {
  const answers = await api.sql.begin(async (blocker) => {
    await blocker`lock table offchain.contract_metadata in access exclusive mode`;
    // Each search runs on both networks, so two statements of one search run, and four searches wait.
    const searches = Array.from({ length: 12 }, async () => (await open("/explorer/search?q=apes")).status);
    await expect.poll(() => countWaiting(api.sql)).toBe(2);
    return { searches };
  });
  const statuses = await Promise.all(answers.searches);
  expect([200, 503].map((status) => statuses.filter((one) => one === status).length)).toEqual([5, 7]);
});

test("a path that ends with nothing but slashes leads to the one without", async () => {
  const path = `/explorer/${"/".repeat(30_000)}`;
  expect((await open(`${path}a/`)).headers.get("location")).toBe(`${path}a`);
  expect((await open(path)).headers.get("location")).toBe("/explorer");
});

test("the pulse of open pages says that a network is stalled when /status does", async () => {
  const pulse = async () => {
    await api.api.refresh();
    return (await open("/explorer/pulse")).html;
  };
  await api.sql`update offchain.network set reported_at = now()`;
  expect(await pulse()).toMatch(/^mainnet live /);
  await api.sql`update offchain.network set reported_at = now() - interval '20 seconds' where name = 'mainnet'`;
  expect(await pulse()).toMatch(/^mainnet stalled /);
  await api.sql`update offchain.network set reported_at = now()`;
  expect(await pulse()).toMatch(/^mainnet live /);
});

test("the pulse of open pages changes each minute, also where no block comes", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  const pulse = async () => (await open("/explorer/pulse")).html;
  const before = await pulse();
  vi.setSystemTime(Date.now() + 60_000);
  expect(await pulse()).not.toBe(before);
  vi.useRealTimers();
});

describe("what there isn't", () => {
  test.each([
    [collection(addressOf(0x404)), 404],
    [collection(COINS), 404],
    [collection(APES, "othernet"), 404],
    [collection("0x12"), 400],
    [token(APES, 404), 404],
    [`${token(APES, 404)}/owners`, 404],
    [`/explorer/token/mainnet/${APES}/x`, 400],
    [`/explorer/account/mainnet/me`, 400],
    [`${collection(APES)}?cursor=abc`, 400],
    ["/explorer/nothing", 404],
  ])("%s is a page that says so, %i", async (path, status) => {
    const answer = await open(path);
    expect([answer.status, answer.headers.get("content-type")]).toEqual([status, "text/html; charset=utf-8"]);
    expect(answer.html).toContain("<h1>");
    expect(answer.headers.get("content-security-policy")).toContain("default-src 'none'");
  });

  test("a cursor of one list is none of another", async () => {
    const { html } = await open("/explorer/events/mainnet");
    expect(html).not.toContain("cursor=");
    await api.sql`update offchain.network set state = 'live'`;
    const rows = Array.from({ length: 30 }, (_, n) => n);
    for (const n of rows) await inserter(api.sql).event(APES, 1, [100 + n, 0, 0], { to: addressOf(0xe0 + n) });
    const [, next] = /href="(\/explorer\/events\/mainnet\?cursor=[^"]*)"/.exec(
      (await open("/explorer/events/mainnet")).html,
    )!;
    expect((await open(next!)).status).toBe(200);
    expect((await open(next!.replace("/explorer/events/mainnet", `${collection(APES)}/events`))).status).toBe(400);
  });

  test("other methods are refused, and a page that nobody changed isn't sent again", async () => {
    expect((await open("/", { method: "POST" })).status).toBe(405);
    expect((await open(`${token(APES, 1)}/refresh`)).status).toBe(405);
    const { headers } = await open("/explorer/keys");
    const again = await open("/explorer/keys", { headers: { "if-none-match": headers.get("etag")! } });
    expect([again.status, again.html]).toEqual([304, ""]);
  });

  test("whoever asks too much, or with too long a path, is told so on a page", async () => {
    const { app } = await api.another({ rateLimit: 1, rateBurst: 1 });
    stopClock();
    const paths = ["/", collection(APES), "/", collection(APES)];
    const pages = await Promise.all(paths.map(async (path) => app.request(path)));
    const tooLong = await app.request(`/explorer/${"x".repeat(33_000)}`);
    expect([pages[0]!.status, tooLong.status]).toEqual([200, 414]);
    for (const answer of [...pages, tooLong])
      expect(answer.headers.get("content-type")).toBe("text/html; charset=utf-8");
    const refusal = pages.find(({ status }) => status === 429)!;
    const refused = await refusal.text();
    expect([refused, refusal.headers.get("retry-after")]).toEqual([
      expect.stringContaining("Too many requests. Expected at most 1 a second"),
      "1",
    ]);
    // It looks like a page, and asks again by itself.
    const [style, script] = [...refused.matchAll(/"(\/explorer\/assets\/explorer\.[^"]*)"/g)].map(([, path]) => path!);
    expect([(await app.request(style!)).status, (await app.request(script!)).status]).toEqual([200, 200]);
    const other = await app.request("/marketplace/collections");
    expect([other.status, other.headers.get("content-type")]).toEqual([429, "application/json"]);
  });

  test("before anything is indexed there is a home, and the rest is not now", async () => {
    const empty = await createTestApi({ createPages: createExplorer, networks: [] });
    const home = await empty.request("/");
    expect([home.status, (await home.text()).includes("Nothing is indexed yet.")]).toEqual([200, true]);
    const other = await empty.request(collection(APES));
    expect([other.status, other.headers.get("retry-after")]).toEqual([503, "2"]);
    await empty.stop();
  });

  test("home says that there are no collections yet, and counts one token as one", async () => {
    const empty = await createTestApi({ createPages: createExplorer, networks: ["mainnet"] });
    expect(textOf(await (await empty.request("/")).text())).toContain("Collections None yet. All collections");
    await inserter(empty.sql).contract(APES, {});
    await inserter(empty.sql).token(APES, 1, { owner: ALICE });
    // By another process: this one has counted, and counts again what blocks with events bring.
    const { app } = await empty.another();
    await expect
      .poll(async () => textOf(await (await app.request("/")).text()))
      .toContain("ERC721 · 1 token All collections");
    await empty.stop();
  });
});

describe("long and large things", () => {
  test("a token with the largest document there may be is a page below 45 kB", async () => {
    // Each character is five bytes once it is escaped. A normalized document has up to 256 kB.
    const long = "<&\"'>".repeat(6000);
    const attributes = Array.from({ length: 1000 }, () => ({
      display_type: null,
      trait_type: long.slice(0, 70),
      value: long.slice(0, 130),
    }));
    const document = { ...JSON.parse(NORMALIZED), name: long, description: long, external_url: long };
    await inserter(api.sql).token(APES, 77, { owner: ALICE });
    await inserter(api.sql).tokenMetadata(APES, 77, {
      normalized: JSON.stringify({ ...document, attributes }),
      raw: long,
      token_uri: `data:application/json,${long}`,
      metadata_updated_at: 1_700_000_000,
      error_message: long,
      error_code: "x",
    });
    const { status, html } = await open(token(APES, 77));
    expect([status, Buffer.byteLength(html) < 45_000]).toEqual([200, true]);
    expect(textOf(html)).toContain("And 990 more.");
  });

  test("owners are walked through, each once, who received some last first", async () => {
    const main = inserter(api.sql);
    await main.token(ITEMS, 9, { standard: "ERC1155" });
    for (let n = 0; n < 90; n += 1) await main.ownership(ITEMS, 9, addressOf(0x5000 + n), n + 1, [1 + (n % 3), n, 0]);
    const { found, pages } = await walk(`${token(ITEMS, 9)}/owners`, /account\/mainnet\/(0x[\da-f]{40})"/g);
    const numbers = Array.from({ length: 90 }, (_, n) => n);
    const newestFirst = numbers.toSorted((a, b) => (b % 3) - (a % 3) || b - a);
    expect(found).toEqual(newestFirst.map((n) => addressOf(0x5000 + n)));
    expect(pages).toBe(3);
    expect((await open(token(ITEMS, 9))).html).toContain(`href="${token(ITEMS, 9)}/owners"`);
  });

  test("collections are counted once, on connections that have the time, for the pages and the API", async () => {
    const another = await api.another();
    const home = async () => textOf(await (await another.app.request("/")).text());
    const listed = await api.sql.begin(async (tx) => {
      await tx`lock table onchain_mainnet.ownership in access exclusive mode`;
      expect(await home()).not.toMatch(/\d tokens/);
      expect(await (await another.app.request("/")).text()).toContain("data-unfinished");
      const listing = another.app.request("/marketplace/collections");
      await new Promise((resolve) => setTimeout(resolve, 300));
      const counting = await tx`
        select from pg_stat_activity
        where
          wait_event_type = 'Lock'
          and query like '%group by held.contract_address%'
      `;
      expect(counting).toHaveLength(1);
      return { listing };
    });
    expect((await listed.listing).status).toBe(200);
    await expect.poll(home).toMatch(/\d tokens/);
  });

  test("an account's events are found however far back they are", async () => {
    const loner = addressOf(0x10_4e4);
    const events = inserter(api.sql);
    await events.event(APES, 1, [10, 0, 0], { to: loner });
    await events.event(APES, 1, [11, 0, 0], { from: loner });
    await api.sql`
      insert into onchain_mainnet.token_event
        (block_number, log_index, batch_index, timestamp, event_type, contract_address, token_id, from_address,
         to_address, quantity, transaction_hash)
      select 1000 + n, 0, 0, 1600000000, 'transfer', ${toBytes(APES)}, 1, sha256('a'), sha256('b'), 1,
        ${toBytes(hashOf(1))}
      from generate_series(1, 45000) as n
    `;
    await events.event(APES, 1, [50_000, 0, 0], { to: loner });
    const { found, pages } = await walk(`/explorer/account/mainnet/${loner}/events`, /title="Block (\d+),/g);
    expect(found).toEqual(["50000", "11", "10"]);
    expect(pages).toBe(3);
  });

  test("an account's events are found behind those of hidden contracts", async () => {
    const hunted = addressOf(0x4a7);
    const events = inserter(api.sql);
    for (let n = 0; n < 60; n += 1) {
      await events.event(APES, 1, [60_000 + n, 0, 0], { to: hunted });
      await events.event(COINS, 1, [60_000 + n, 1, 0], { to: hunted });
    }
    const { found } = await walk(`/explorer/account/mainnet/${hunted}/events`, /title="Block (\d+),/g);
    expect(found).toEqual(Array.from({ length: 60 }, (_, n) => String(60_059 - n)));
  });

  test("the newest events are found behind any number of those of hidden contracts", async () => {
    await inserter(api.sql).event(APES, 1, [90_000, 0, 0]);
    await api.sql`
      insert into onchain_mainnet.token_event
        (block_number, log_index, batch_index, timestamp, event_type, contract_address, token_id, from_address,
         to_address, quantity, transaction_hash)
      select 100000 + n, 0, 0, 1600000000, 'mint', ${toBytes(COINS)}, n, sha256('a'), sha256('b'), 1,
        ${toBytes(hashOf(1))}
      from generate_series(1, 20500) as n
    `;
    const { html } = await open("/explorer/events/mainnet");
    expect(textOf(html)).toContain("No events.");
    const [, link = ""] = /<a href="([^"]*)" rel="next"/.exec(html) ?? [];
    expect((await open(link.replaceAll("&amp;", "&"))).html).toContain('title="Block 90000,');
    await api.sql`delete from onchain_mainnet.token_event where block_number >= 90000`;
  });

  test("what is on sale is walked through by price, each token once at its best", async () => {
    const apes = addressOf(0x5a1e);
    const main = inserter(api.sql);
    await main.contract(apes, { block_number: 7 });
    const list = (id: number, price: string | null, hash: number, exchange = 1) =>
      api.sql`insert into onchain_mainnet.trade_order ${api.sql({
        exchange_address: toBytes(addressOf(exchange)),
        order_hash: toBytes(hashOf(hash)),
        marketplace: "seaport",
        is_open: true,
        is_cancelled: false,
        filled: "0",
        side: "listing",
        maker: toBytes(ALICE),
        contract_address: toBytes(apes),
        token_id: String(id),
        quantity: "1",
        currency_address: toBytes(ZERO),
        start_amount: price ?? "7",
        end_amount: price ?? "7",
        unit_price: price,
        amounts: price === null ? "[[7,7]]" : null,
        start_time: 0,
        end_time: 2_000_000_000,
        placed_timestamp: 1_600_000_000,
        updated_timestamp: 1_600_000_000,
        broker: toBytes(BOB),
      })}`;
    // From the second half on the price falls by id; every tenth is also listed dearer; two change with time. Every
    // seventh is also listed elsewhere under the same hash, for more and for the same.
    for (let id = 1; id <= 60; id += 1) {
      await main.token(apes, id, { owner: ALICE });
      await list(id, id > 58 ? null : String(1000 - id), 0x100 + id);
      if (id % 10 === 0) await list(id, "5000", 0x900 + id);
      if (id % 7 === 0) {
        await list(id, "6000", 0x100 + id, 2);
        await list(id, String(1000 - id), 0x100 + id, 3);
      }
    }
    const { found, pages } = await walk(
      `${collection(apes)}/listed`,
      /\/explorer\/token\/mainnet\/0x[\da-f]{40}\/(\d+)"/g,
    );
    const fixed = Array.from({ length: 58 }, (_, n) => String(58 - n));
    expect(found).toEqual([...fixed, "59", "60"]);
    expect(pages).toBeGreaterThan(2);
    // The floor may be among them.
    expect((await open(`${collection(apes)}/listed`)).html).toContain("prices that change, or are in another currency");
    const { found: own } = await walk(
      `/explorer/account/mainnet/${ALICE}/listed`,
      /\/explorer\/token\/mainnet\/0x[\da-f]{40}\/(\d+)"/g,
    );
    expect(own).toEqual(Array.from({ length: 60 }, (_, n) => String(n + 1)));
  });
});

describe("what many sell", () => {
  const many = addressOf(0x3a47);
  const places = /\/explorer\/token\/mainnet\/0x[\da-f]{40}\/(\d+)"/g;
  const sell = (hash: number, maker: string, order: Record<string, unknown>) =>
    placeOrder(api.sql, hash, {
      maker,
      contract_address: many,
      token_standard: "ERC1155",
      operator: null,
      ...order,
    });

  beforeAll(async () => {
    const main = inserter(api.sql);
    await main.contract(many, { contract_type: "ERC1155", block_number: 8 });
    for (const id of [1, 2]) {
      await main.token(many, id, { standard: "ERC1155" });
      for (const owner of [ALICE, BOB]) await main.ownership(many, id, owner, 5);
    }
  });

  test.each([50, 600])("a token behind %i dearer listings of another one is reached", async (count) => {
    const main = inserter(api.sql);
    for (let n = 1; n <= count; n += 1) {
      const seller = addressOf(0x100_000 * count + n);
      await main.ownership(many, 1, seller, 1);
      await sell(0x10_000 + n, seller, { token_id: "1", start_amount: String(n) });
    }
    await sell(0x20_000, ALICE, { token_id: "2", start_amount: "1000" });
    const { found, pages } = await walk(`${collection(many)}/listed`, places);
    expect(found).toEqual(["1", "2"]);
    expect(pages).toBe(count > 500 ? 2 : 1);
    await clearOrders(api.sql);
  });

  test("accounts have their own prices, and none for what others sell", async () => {
    await sell(1, ALICE, { token_id: "1", start_amount: "10000000000000000000" });
    await sell(2, BOB, { token_id: "1", start_amount: "5000000000000000000" });
    await sell(3, BOB, { token_id: "2", start_amount: "7000000000000000000" });
    const shown = textOf((await open(token(many, 1))).html);
    expect(shown).toContain("5 ETH Sold by 0x0000…0b0b On sale at seaport");
    expect(shown).toContain("Newest owner");
    const pricesOf = async (account: string, view: string) =>
      [...(await open(`/explorer/account/mainnet/${account}${view}`)).html.matchAll(/title="(\d+) ETH"/g)].map(
        ([, price]) => price,
      );
    expect(await pricesOf(ALICE, `?contract=${many}`)).toEqual(["10"]);
    expect(await pricesOf(ALICE, "/listed")).toEqual(["10"]);
    expect(await pricesOf(BOB, "/listed")).toEqual(["5", "7"]);
    await clearOrders(api.sql);
  });
});

test("what an account sells of hidden contracts takes no place on a page", async () => {
  const seller = addressOf(0x5e11e5);
  const path = `/explorer/account/mainnet/${seller}/listed`;
  const boats = addressOf(0xb0a76);
  const main = inserter(api.sql);
  await main.contract(boats, { block_number: 13 });
  const sell = async (address: string, id: number, hash: number) => {
    await main.token(address, id, { owner: seller });
    await placeOrder(api.sql, hash, { maker: seller, contract_address: address, token_id: String(id), operator: null });
  };
  for (let id = 500; id < 530; id += 1) await sell(COINS, id, id);
  expect(textOf((await open(path)).html)).toContain("It sells nothing now.");
  await sell(boats, 1, 530);
  const { found, pages } = await walk(path, /<li data-key="([^"]*)"/g);
  expect([found, pages]).toEqual([[`${boats}/1`], 1]);
  await clearOrders(api.sql);
});

test("orders that look different have keys of their own", async () => {
  const offer = { side: "offer", maker: BOB, currency_address: addressOf(0xc0), unit_price: null };
  await placeOrder(api.sql, 0x720, offer);
  await placeOrder(api.sql, 0x721, { ...offer, token_id: null });
  await placeOrder(api.sql, 0x722, { ...offer, currency_address: addressOf(0xc1) });
  const rows = (await open(`${token(APES, 1)}/orders`)).html.match(/<tr data-key="[^]*?<\/tr>/g)!;
  const keys = rows.map((row) => /data-key="([^"]*)"/.exec(row)![1]);
  expect(new Set(keys).size).toBe(new Set(rows.map((row) => row.replace(/data-key="[^"]*"/, ""))).size);
  expect(rows.length).toBeGreaterThan(2);
  await clearOrders(api.sql);
});

test("a listing that ends after the last date that a program knows never ends", async () => {
  for (const [n, end_time] of [8_640_000_000_001, 2 ** 48 - 1, Number.MAX_SAFE_INTEGER].entries()) {
    await placeOrder(api.sql, 0x710 + n, { operator: null, end_time });
    const { status, html } = await open(token(APES, 1));
    expect([status, textOf(html).replaceAll(/\s+/g, " ")]).toEqual([200, expect.stringContaining("Ends never")]);
    await clearOrders(api.sql);
  }
});

test("numbers that nobody means take no more room than others", async () => {
  const most = String(MAX_ID);
  await placeOrder(api.sql, 0x720, { operator: null, start_amount: most, end_time: 2_000_000_000 });
  await inserter(api.sql).event(APES, 1, [90_000, 0, 0], { quantity: MAX_ID });
  const { html } = await open(token(APES, 1));
  const shown = textOf(html);
  expect(shown).not.toMatch(/\d{3},\d{3},\d{3},\d{3},\d{3},\d{3}/);
  expect(shown).toContain("1.15e59 ETH");
  expect(shown).toContain("× 1.15e77");
  expect(html).toContain('title="115792089237316195423570985008687907853269984665640564039457.584007913129639935 ETH"');
  expect(html).toContain(`title="${MAX_ID.toLocaleString("en-US")}"`);
  await clearOrders(api.sql);
});

test("amounts of offers and orders are in the currency that they were made in", async () => {
  const dollars = "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48";
  const offer = { side: "offer", maker: BOB, operator: null, currency_address: dollars, start_amount: "2500000" };
  await placeOrder(api.sql, 0x700, { ...offer, end_time: 2_000_000_000 });
  for (const list of ["offers", "orders"])
    expect(textOf((await open(`${token(APES, 1)}/${list}`)).html)).toContain("2.5 USDC");
  await clearOrders(api.sql);
});

test("a sale whose price isn't simply what was paid says so beside it", async () => {
  const sale = { marketplace: "seaport", price: "5000000000000000000", currency_address: Buffer.alloc(20) };
  const main = inserter(api.sql);
  const shownOf = async (note: Record<string, unknown>, block: number) => {
    await main.event(PUNKS, 100, [block, 0, 0], { event_type: "sale" });
    const values = { ...sale, ...note };
    await api.sql`update onchain_mainnet.token_event set ${api.sql(values)} where block_number = ${block}`;
    return textOf((await open(`${token(PUNKS, 100)}/events`)).html);
  };
  expect(await shownOf({}, 91_001)).toContain("5 ETH seaport");
  expect(await shownOf({ price_note: "bundle" }, 91_002)).toContain("5 ETH (bundle) seaport");
  expect(await shownOf({ price_note: "fees on top" }, 91_003)).toContain("5 ETH (fees on top) seaport");
  const none = { price: null, currency_address: null };
  expect(await shownOf({ ...none, price_note: "barter" }, 91_004)).toContain("barter seaport");
  expect(await shownOf(none, 91_005)).toContain("unknown seaport");
});

test("offers and orders are on one page each, which holds as many as there can be", async () => {
  const columns = { side: "offer", operator: null, end_time: 2_000_000_000 };
  const maker = (n: number) => addressOf(0xfff_000_000 + n);
  for (let n = 0; n < 260; n++)
    await placeOrder(api.sql, 0x800 + n, {
      ...columns,
      maker: maker(n),
      currency_address: addressOf(0xd0_0000 + n),
      start_amount: "123456789012345678901234567890",
    });
  for (const list of ["offers", "orders"]) {
    const path = `${token(APES, 1)}/${list}`;
    const { html } = await open(path);
    expect([...html.matchAll(/<tr(?: data-key="[^"]+")?>/g)]).toHaveLength(1 + 250);
    expect(html).not.toContain('class="pager"');
    expect(html.length).toBeLessThan(256 * 1024);
    expect((await open(token(APES, 1))).html).toContain(`<a href="${path}">All ${list}</a>`);
  }
  await clearOrders(api.sql);
});

describe("forms", () => {
  const FORM = "application/x-www-form-urlencoded";
  const host = "nft.example";
  const send = (path: string, headers: Record<string, string>, method = "POST") =>
    open(`http://${host}${path}`, {
      method,
      headers: { host, ...headers },
      ...(method === "POST" && { body: "name=x" }),
    });
  const forms = ["/explorer/keys", "/explorer/keys/use", `${token(APES, 1)}/refresh`];
  /** Content types that our forms don't have. Some of them begin like the type of a form. */
  const otherTypes = [
    `${FORM}x`,
    `${FORM}+json`,
    `text/plain;${FORM}`,
    "application/json",
    "text/x",
    `\u00a0${FORM}`,
    "",
  ];

  test.each(forms)("%s takes no other type than forms have, and no form of another site's page", async (path) => {
    await api.sql`delete from offchain.api_key`;
    for (const origin of ["http://evil.example", `http://${host}`])
      for (const type of otherTypes) {
        const { status, html, headers } = await send(path, { origin, "content-type": type });
        expect([origin, type, status]).toEqual([origin, type, 415]);
        expect(html).toContain(`Expected ${FORM}.`);
        expect(headers.get("access-control-allow-origin")).toBeNull();
      }
    for (const type of [FORM, `${FORM};charset=UTF-8`, FORM.toUpperCase()]) {
      expect((await send(path, { origin: "http://evil.example", "content-type": type })).status).toBe(403);
      expect((await send(path, { "content-type": type })).status).toBe(403);
    }
    expect(await api.sql`select from offchain.api_key`).toHaveLength(0);
    expect(await api.sql`select from offchain.token_metadata where refresh_requested_at is not null`).toHaveLength(0);
  });

  test.each(forms)(
    "%s: a browser that asks whether another site's page may send it gets no permission",
    async (path) => {
      const asked = { "access-control-request-method": "POST", "access-control-request-headers": "content-type" };
      const { headers } = await send(path, { origin: "http://evil.example", ...asked }, "OPTIONS");
      expect([...headers.keys()].filter((name) => name.startsWith("access-control-"))).toEqual([]);
    },
  );

  test("of our own pages are answered", async () => {
    const own = { origin: `http://${host}`, "content-type": `${FORM}; charset=utf-8` };
    expect((await send("/explorer/keys", own)).status).toBe(200);
    const { status, headers } = await send(`${token(APES, 1)}/refresh`, own);
    expect([status, headers.get("location")]).toEqual([303, token(APES, 1)]);
    // As of "proxy_set_header Host $host:$server_port" in nginx: browsers leave the port of http or https out.
    for (const [origin, port] of [
      [`http://${host}`, 80],
      [`https://${host}`, 443],
    ] as const)
      expect((await send("/explorer/keys", { ...own, host: `${host}:${port}`, origin })).status).toBe(200);
    expect((await send("/explorer/keys", { ...own, host: `${host}:8080` })).status).toBe(403);
  });
});

test("a token's metadata can be asked for from its page when the API takes it, whatever the clocks say", async () => {
  const askedFor = async (ago: string | null) => {
    await api.sql`
      update offchain.token_metadata
      set refresh_requested_at = clock_timestamp() - ${ago}::interval
      where
        contract_address = ${toBytes(APES)}
        and token_id = 1
    `;
    const { html } = await open(token(APES, 1));
    const [, attributes] = /<button ([^>]*)>Refresh metadata/.exec(html)!;
    return attributes!.includes("disabled") ? "not yet" : "now";
  };
  expect(await askedFor("1 hour")).toBe("now");
  expect(await askedFor("1 minute")).toBe("not yet");
  // The clock of the database was set back since.
  expect(await askedFor("-1 minute")).toBe("not yet");
  expect(await askedFor("-1 day")).toBe("now");
  // The clock of this machine is another one.
  const now = vi.spyOn(Date, "now").mockReturnValue(Date.now() - 86_400_000);
  onTestFinished(() => now.mockRestore());
  expect(await askedFor("1 hour")).toBe("now");
  await askedFor(null);
});

describe("the page of keys", () => {
  const hosts = {
    indexer: undefined,
    testnet: "testnet.example",
    orderbook: "orderbook.example",
    marketplace: "marketplace.example:8080",
  };
  /** The command that a reader gets who registers a key at `origin`. */
  const commandAt = async (origin: string, more: Partial<typeof hosts> | { indexer: string } = {}) => {
    const { app } = await api.another({ hosts: { ...hosts, ...more } });
    const { host } = new URL(origin);
    const response = await app.request(`${origin}/explorer/keys`, {
      method: "POST",
      headers: { host, origin, "content-type": "application/x-www-form-urlencoded" },
      body: "name=mine",
    });
    const html = await response.text();
    expect([response.status, html]).toEqual([200, expect.stringContaining('id="key-text"')]);
    const command = /x-api-key: (\S+)' '(http\S+)'/.exec(html.replaceAll("&#39;", "'"));
    if (!command) return undefined;
    const [, key = "", url = ""] = command;
    const answer = await app.request(url, { headers: { host: new URL(url).host, "x-api-key": key } });
    return `${answer.status} ${url}`;
  };
  const path = "/v1/contracts?limit=3";

  test.each([
    ["http://anywhere.example:3000", {}, `200 http://anywhere.example:3000${path}`],
    ["https://testnet.example", {}, `200 https://testnet.example${path}`],
    ["https://orderbook.example", { indexer: "index.example" }, `200 https://index.example${path}`],
    ["http://orderbook.example:3000", { indexer: "index.example" }, `200 http://index.example:3000${path}`],
    ["http://marketplace.example:8080", { indexer: "index.example:3000" }, `200 http://index.example:3000${path}`],
    ["https://orderbook.example", {}, undefined],
  ])("gives a command that works to who reads it at %s", async (origin, more, expected) => {
    expect(await commandAt(origin, more)).toBe(expected);
  });

  test("gives the name that the browser knows where a proxy asks by another one, and says why a form isn't taken", async () => {
    const post = (headers: Record<string, string>, body = "name=mine") =>
      open("http://10.0.0.7:3000/explorer/keys", {
        method: "POST",
        headers: {
          host: "10.0.0.7:3000",
          origin: "https://nft.example",
          "content-type": "application/x-www-form-urlencoded",
          ...headers,
        },
        body,
      });
    const own = await post({ "sec-fetch-site": "same-origin" });
    expect([own.status, own.html]).toEqual([200, expect.stringContaining("https://nft.example/v1/contracts?limit=3")]);
    const foreign = await post({});
    expect([foreign.status, foreign.html]).toEqual([403, expect.stringContaining("pass on the Host header")]);
    const long = await post({ host: "nft.example", "content-length": "9000" }, `name=${"x".repeat(8995)}`);
    expect([long.status, long.html]).toEqual([413, expect.stringContaining("Expected at most 8192 bytes")]);
  });

  test("gives no key where registration is closed, whatever is sent", async () => {
    const { app } = await api.another({ keyRegistration: "closed" });
    const response = await app.request("http://nft.example/explorer/keys", {
      method: "POST",
      headers: {
        host: "nft.example",
        origin: "http://nft.example",
        "content-type": "application/x-www-form-urlencoded",
      },
      body: "name=closed",
    });
    expect([response.status, await response.text()]).toEqual([
      403,
      expect.stringContaining("Expected a key from the operator."),
    ]);
    expect(await api.sql`select from offchain.api_key where name = 'closed'`).toHaveLength(0);
  });

  test("says of a key how much it was used, that it is one of the operator's, which aren't counted, or unknown", async () => {
    const use = async (key: string) => {
      const { status, html } = await open("http://nft.example/explorer/keys/use", {
        method: "POST",
        headers: {
          host: "nft.example",
          origin: "http://nft.example",
          "content-type": "application/x-www-form-urlencoded",
        },
        body: new URLSearchParams({ key }).toString(),
      });
      expect(status).toBe(200);
      const [, said = ""] = /role="status"[^>]*>([^]*?)<\/(?:p|section)>/.exec(html.slice(html.indexOf("<h1"))) ?? [];
      return textOf(said).trim();
    };
    expect(await use(` ${TEST_KEY} `)).toBe(
      "This key is one of the operator’s. It works, and its requests aren’t counted.",
    );
    const { key } = await createKey(api.sql, { name: "of a reader" });
    expect(await use(key)).toMatch(/^Usage of of a reader Key nft_\S+… Requests 0 Last used never /);
    expect(await use(`${TEST_KEY}x`)).toBe("This key is unknown. Expected one that was registered here.");
  });

  test("says how many requests may come at once, which are no fewer than those of a second", async () => {
    const { rateLimit, rateBurst } = readConfig({ RATE_LIMIT: "300", RATE_BURST: "100" });
    const { app } = await api.another({ rateLimit, rateBurst });
    const html = await (await app.request("/explorer/keys")).text();
    expect(textOf(html)).toContain("300 requests a second, up to 300 at once");
  });
});
