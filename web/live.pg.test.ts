import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { toBytes } from "../offchain/bytea.ts";
import { listen, type Listener } from "../api/listen.ts";
import { setVerified } from "../api/marketplace/collection-verification.ts";
import { addressOf, createTestApi, inserter, type TestApi } from "../test/api.ts";
import { launchBrowser, openContext } from "../test/browser.ts";
import { placeOrder } from "../test/orders.ts";
import { ALICE, BOB, EMPTY, ITEMS, seed } from "../test/seed.ts";
import { createExplorer } from "./explorer.ts";

/** Pages that stay open while something happens. */

const WAVES = addressOf(0x3a7e);
const collection = `/explorer/collection/mainnet/${WAVES}`;
const token = (id: number) => `/explorer/token/mainnet/${WAVES}/${id}`;

let api: TestApi;
let listener: Listener;
let browser: Browser;
let page: Page;

beforeAll(async () => {
  [api, browser] = await Promise.all([createTestApi({ createPages: createExplorer }), launchBrowser()]);
  await seed(api.sql);
  await inserter(api.sql).contract(WAVES, { block_number: 90 });
  for (let id = 1; id <= 20; id += 1) await inserter(api.sql).token(WAVES, id, { owner: ALICE });
  await transfer(100, 30);
  listener = await listen(api.api, { host: "127.0.0.1", port: 0 });
});
afterAll(async () => {
  await browser?.close();
  await listener?.close();
  await api?.stop();
});

beforeEach(async () => {
  page = await (await openContext(browser, { baseURL: listener.url })).newPage();
});
afterEach(() => page.context().close());

/** Stores a transfer in each of `count` blocks, and reports them as the indexer does. */
async function transfer(first: number, count: number): Promise<void> {
  for (let block = first; block < first + count; block += 1)
    await inserter(api.sql).event(WAVES, 1, [block, 0, 0], { to: ALICE });
  await api.sql`update offchain.network set indexed_block = ${first + count} where name = 'mainnet'`;
}

/** Reports a block in which no token moved. */
const mine = () => api.sql`update offchain.network set indexed_block = indexed_block + 1 where name = 'mainnet'`;

/** Blocks of the events that the page shows. */
const blocks = () =>
  page
    .locator("#events td[title^=Block]")
    .evaluateAll((cells) => cells.map((cell) => Number(/\d+/.exec(cell.getAttribute("title") ?? "")?.[0])));

test.each([
  ["/explorer/events/mainnet", 200],
  [`${collection}/events`, 300],
  [`/explorer/account/mainnet/${ALICE}/events`, 400],
])("%s: what newer events push off the page is on the next one", async (path, first) => {
  await page.goto(path);
  const before = await blocks();
  await transfer(first, 5);
  await expect.poll(async () => (await blocks())[0]).toBe(first + 4);
  const now = await blocks();
  expect(now).toHaveLength(before.length);
  await page.getByRole("link", { name: "Older" }).click();
  await page.waitForURL(/cursor=/);
  const older = await blocks();
  expect(Math.max(...older)).toBeLessThan(Math.min(...now));
  for (const block of before) expect([...now, ...older]).toContain(block);
});

test("a list that outgrows its page gets a next one", async () => {
  await page.goto(collection);
  expect(await page.locator(".pager").count()).toBe(0);
  for (let id = 21; id <= 30; id += 1) await inserter(api.sql).token(WAVES, id, { owner: ALICE });
  await transfer(500, 1);
  await page.getByRole("link", { name: "Next" }).click();
  await page.locator(`a[href="${token(30)}"]`).waitFor();
});

test("who reads by keyboard stays where they are, and what they scrolled stays scrolled", async () => {
  // With letters as large as that, the rows of a table are wider than the page.
  await page.setViewportSize({ width: 1100, height: 740 });
  await page.goto("/explorer/events/mainnet");
  await page.evaluate("document.documentElement.style.fontSize = '48px'");
  const link = page.locator("#events tr").nth(3).locator("a").last();
  await link.focus();
  const focused = () => page.evaluate("document.activeElement.closest('tr')?.dataset.key");
  const scrolled = () => page.evaluate<number>("document.querySelector('.scroll').scrollLeft");
  const [key, left] = [await focused(), await scrolled()];
  expect([typeof key, left > 0]).toEqual(["string", true]);
  // The page itself is no wider than its window.
  expect(await page.evaluate("document.scrollingElement.scrollWidth")).toBe(1100);
  await transfer(600, 3);
  await expect.poll(async () => (await blocks())[0]).toBe(602);
  expect([await focused(), await scrolled()]).toEqual([key, left]);
});

test.each([
  ["owners", 801],
  ["offers", 802],
  ["orders", 803],
])("who reads a token's %s by keyboard stays at the same account, whoever comes above it", async (list, id) => {
  const main = inserter(api.sql);
  await main.token(ITEMS, id, { standard: "ERC1155" });
  /** Somebody who comes later has more. */
  const come = async (account: string, n: number) => {
    await main.ownership(ITEMS, id, account, n, [10 + n, 0, 0]);
    const place = { contract_address: ITEMS, token_id: String(id), placed_timestamp: 1_700_000_000 + n };
    const offer = { ...place, side: "offer", maker: account, operator: null, start_amount: String(n) };
    await placeOrder(api.sql, 10 * id + n, offer);
    await mine();
  };
  await come(ALICE, 1);
  await come(BOB, 2);
  await page.goto(`/explorer/token/mainnet/${ITEMS}/${id}`);
  const link = page.locator(`#${list} a`).last();
  await link.focus();
  const focused = () => page.evaluate("document.activeElement.title");
  expect(await focused()).toBe(ALICE);
  await come(addressOf(0xca201), 3);
  await page.locator(`#${list} a[title="${addressOf(0xca201)}"]`).waitFor();
  expect(await focused()).toBe(ALICE);
});

test("who reads owners by keyboard goes along with the one who comes to the top", async () => {
  const main = inserter(api.sql);
  await main.token(ITEMS, 804, { standard: "ERC1155" });
  await main.ownership(ITEMS, 804, ALICE, 1, [11, 0, 0]);
  await main.ownership(ITEMS, 804, BOB, 1, [12, 0, 0]);
  await page.goto(`/explorer/token/mainnet/${ITEMS}/804`);
  const links = page.locator("#owners a");
  await links.last().focus();
  await api.sql`
    update onchain_mainnet.ownership
    set received_block_number = 13
    where token_id = 804 and received_block_number = 11
  `;
  await mine();
  await expect.poll(() => links.first().getAttribute("title")).toBe(ALICE);
  expect(await page.evaluate("document.activeElement.title")).toBe(ALICE);
});

test("who reads collections by keyboard stays at the same one, whichever comes before it", async () => {
  for (const address of [addressOf(0x5ea1), addressOf(0x5ea2)]) {
    await inserter(api.sql).contract(address, { block_number: 95 });
    await inserter(api.sql).contractMetadata(address, { name: "Seals" });
  }
  await page.goto("/explorer/search?q=seals");
  await page.locator(".collections a").first().focus();
  const focused = () => page.evaluate("document.activeElement.getAttribute('href')");
  const before = await focused();
  await setVerified(api.sql, { contractAddress: addressOf(0x5ea2), isVerified: true });
  await mine();
  await page.locator(".collections li:first-child .verified").waitFor();
  expect([before, await focused()]).toEqual(Array(2).fill(`/explorer/collection/mainnet/${addressOf(0x5ea1)}`));
});

test("a token's name and traits come when its document does", async () => {
  await inserter(api.sql).tokenMetadata(WAVES, 2, { awaiting_metadata_update: true });
  await page.goto(token(2));
  await page.evaluate("window.isSame = true");
  const normalized = {
    ...EMPTY,
    name: "Second wave",
    description: "It came late.",
    attributes: [{ display_type: null, trait_type: "Height", value: "3 m" }],
  };
  await api.sql`
    update offchain.token_metadata
    set
      normalized = ${JSON.stringify(normalized)},
      metadata_updated_at = 1700000000,
      awaiting_metadata_update = false
    where contract_address = ${toBytes(WAVES)} and token_id = 2
  `;
  await page.getByRole("heading", { level: 1, name: "Second wave" }).waitFor();
  await page.getByText("It came late.").waitFor();
  await page.locator("dt", { hasText: "Height" }).waitFor();
  expect(await page.title()).toContain("Second wave");
  expect(await page.evaluate("window.isSame")).toBe(true);
});

test("what a reader opened stays open", async () => {
  await inserter(api.sql).tokenMetadata(WAVES, 1, { raw: "{}", normalized: JSON.stringify(EMPTY) });
  await page.goto(token(1));
  await page.locator("summary").click();
  await transfer(650, 1);
  await page.locator("#events td[title^='Block 650,']").waitFor();
  expect(await page.locator("details pre").isVisible()).toBe(true);
});

test("a page of a token whose file is gone is no picture, also by itself, and an error for programs", async () => {
  const key = `${"0".repeat(64)}.html`;
  const media = { animation_key: key, animation_mime_type: "text/html" };
  await inserter(api.sql).tokenMetadata(WAVES, 3, { raw: "{}", normalized: JSON.stringify({ ...EMPTY, ...media }) });
  await page.goto(token(3));
  await page.frameLocator("#media iframe").getByText("No picture").waitFor();
  const alone = await page.goto(`/media/${key}`);
  expect([alone!.status(), await page.locator("body").innerText()]).toEqual([404, "No picture"]);
  const asked = await fetch(`${listener.url}/media/${key}`);
  expect([asked.status, await asked.json()]).toMatchObject([404, { type: "invalid_request" }]);
});

test("a page that isn't there yet comes by itself", async () => {
  await page.goto(token(700));
  await page.getByRole("heading", { name: "Not here" }).waitFor();
  await inserter(api.sql).token(WAVES, 700, { owner: ALICE });
  await transfer(700, 1);
  await page.getByRole("heading", { name: "#700" }).waitFor();
  expect(await page.title()).toContain("#700");
});

test("a page says that the service is gone, and goes on when it is back", async () => {
  await page.goto("/explorer/events/mainnet");
  const { port } = new URL(listener.url);
  await listener.close();
  await page.getByText("The service doesn’t answer now").waitFor();
  expect((await blocks()).length).toBe(25);
  const again = await api.another();
  listener = await listen(again, { host: "127.0.0.1", port: Number(port) });
  await transfer(800, 1);
  await expect.poll(async () => (await blocks())[0]).toBe(800);
  expect(await page.locator("#away").textContent()).toBe("");
});

test.each(["/explorer/collection/mainnet/0x12", `${collection}?cursor=x`, "/explorer/keys/use"])(
  "%s: a page that says what is wrong doesn't say that the service is gone",
  async (path) => {
    await page.goto(path);
    const away = page.locator("#away");
    const pulse = () => page.locator("body").getAttribute("data-pulse");
    const before = await pulse();
    await mine();
    await expect.poll(async () => (await pulse()) !== before || (await away.textContent()) !== "").toBe(true);
    expect(await away.textContent()).toBe("");
  },
);

test("an address is copied, where a script may do that", async () => {
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.goto(token(1));
  await page.getByRole("button", { name: "Copy contract address" }).click();
  await page.getByRole("button", { name: "Copied contract address" }).waitFor();
  expect(await page.evaluate("navigator.clipboard.readText()")).toBe(WAVES);
  await page.getByRole("button", { name: "Copy contract address" }).waitFor();
  const still = await (await openContext(browser, { baseURL: listener.url, javaScriptEnabled: false })).newPage();
  await still.goto(token(1));
  await still.getByText(WAVES).first().waitFor();
  expect(await still.getByRole("button", { name: /Copy/ }).count()).toBe(0);
  await still.context().close();
});

test("a new key is copied, and what is ready to paste with it", async () => {
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.goto("/explorer/keys");
  await page.getByLabel("What it is for").fill("mine");
  await page.getByRole("button", { name: "Register a key" }).click();
  for (const [what, place] of [
    ["key", "#key-text"],
    ["command", "#curl"],
  ] as const) {
    await page.getByRole("button", { name: `Copy ${what}` }).click();
    await page.getByRole("button", { name: `Copied ${what}` }).waitFor();
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe(await page.locator(place).innerText());
  }
});

test("what a form answered stays", async () => {
  await page.goto("/explorer/keys");
  await page.getByLabel("What it is for").fill("mine");
  await page.getByRole("button", { name: "Register a key" }).click();
  await page.locator("#key-text").waitFor();
  expect(await page.locator("main[data-live]").count()).toBe(0);
});
