import type { Browser, BrowserContext, Page, Request } from "playwright-core";
import type { Hex } from "viem";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createClient } from "../client/client.ts";
import { oneLine } from "../web/text.ts";
import { launchBrowser, openContext } from "./browser.ts";
import { startChain, type TestChain } from "./chain.ts";
import { type ExplorerStack, STACK_KEY, startExplorerStack } from "./explorer-stack.ts";
import { hostileTexts, hostileUris } from "./hostile-cards.ts";
import { type Origin, serveOrigin } from "./origin.ts";
import { compile } from "./solidity.ts";

/**
 * Tokens whose texts, drawings and pages attack whoever looks at them, minted and then fetched by the worker. A canary
 * tells when a page had anything fetched, and hooks in every frame tell when anything ran.
 */

/** What one transaction stores: 90,000 gas for a token and 260 for each byte of its URI, of 16 million. */
const MINT_GAS = 12_000_000;
const gasOf = (uri: string) => 90_000 + uri.length * 260;

let chain: TestChain;
let stack: ExplorerStack;
let browser: Browser;
let context: BrowserContext;
let page: Page;
let canary: Origin;
let collection: string;
let contract: Hex;
/** What happened that must not. */
const ran: string[] = [];
const foreign: string[] = [];

beforeAll(async () => {
  canary = await serveOrigin((_, response) => {
    response.setHeader("content-type", "text/html");
    response.setHeader("access-control-allow-origin", "*");
    response.end(`<script>alert("canary"); fetch("/canary")</script>`);
  });
  chain = await startChain();
  contract = await mintAll();
  [stack, browser] = await Promise.all([startExplorerStack(chain), launchBrowser()]);
  collection = `/explorer/collection/mainnet/${contract}`;
  await stack.settle();

  context = await openContext(browser, { baseURL: stack.url });
  await context.exposeBinding("tellTest", (_, what: string) => void ran.push(what));
  await context.addInitScript(`
    for (const name of ["alert", "confirm", "prompt", "print", "open"])
      Object.defineProperty(window, name, { value: () => tellTest(name) });
    addEventListener("securitypolicyviolation", (event) => tellTest("blocked " + event.blockedURI));
  `);
  // One that a policy stopped is no request: nobody was asked.
  const tell = (request: Request) => {
    const isOurs = request.url().startsWith(`${stack.url}/`);
    if (!isOurs && request.failure()?.errorText !== "csp") foreign.push(request.url());
  };
  context.on("requestfinished", tell);
  context.on("requestfailed", tell);
  context.on("dialog", (dialog) => {
    ran.push(`dialog ${dialog.message()}`);
    void dialog.dismiss();
  });
  page = await context.newPage();
});

afterAll(async () => {
  await browser?.close();
  await stack?.stop();
  await chain?.stop();
  await canary?.close();
});

beforeEach(() => {
  for (const list of [ran, foreign, canary.requests]) list.length = 0;
});

const expectNothing = () =>
  expect({ ran, foreign, canary: canary.requests }).toEqual({ ran: [], foreign: [], canary: [] });

test("the canary sings where something runs", async () => {
  await page.goto(canary.url);
  await expect.poll(() => canary.requests).toContain("/canary");
  expect(ran).toContain("alert");
  await expect.poll(() => foreign).toContain(`${canary.url}/canary`);
});

test("lists show every name as the text that it is", async () => {
  const names = new Map((await listTokens()).map(({ token_id, name }) => [token_id, name]));
  expect(names.size).toBe(hostileUris(canary.url).length);
  let shown = 0;
  await page.goto(collection);
  expect(await page.locator("h1").innerText()).toContain("<img src=x onerror=alert(1)>");
  for (;;) {
    const cards = await page
      .locator("#tokens a")
      .evaluateAll((links) =>
        links.map((link) => [link.getAttribute("href"), link.querySelector(".name")?.textContent] as const),
      );
    for (const [href, name] of cards) {
      const id = href!.split("/").at(-1)!;
      expect([id, name]).toEqual([id, oneLine(names.get(id)!) || `#${id}`]);
    }
    shown += cards.length;
    const next = page.getByRole("link", { name: "Next" });
    if ((await next.count()) === 0) break;
    const before = page.url();
    await next.click();
    await page.waitForURL((url) => url.href !== before);
  }
  expect(shown).toBe(names.size);
  expectNothing();
});

test("tokens, what they are shown with, and everything else that repeats their texts", async () => {
  const tokens = await listTokens();
  const texts = hostileTexts(canary.url).length;
  // Those that are more than a name, but of the drawings those that the samples don't vary fifty times.
  const opened = tokens.filter(({ name }, n) => n >= texts && !/^Drawing \d\d/.test(name));
  expect(opened.length).toBeGreaterThan(20);
  for (const { token_id, name } of opened) {
    await page.goto(`/explorer/token/mainnet/${contract}/${token_id}`);
    expect(await page.locator("h1").textContent()).toBe(oneLine(name) || `#${token_id}`);
    await page.locator("details summary").click();
    // Whoever clicks on what a page offers stays here too.
    const scripts = page.locator('a[href^="javascript:"], a[href^="data:"], [onclick], [onload], [onerror]');
    expect(await scripts.count()).toBe(0);
  }
  const token = `/explorer/token/mainnet/${contract}/${opened[0]!.token_id}`;
  const account = `/explorer/account/mainnet/${chain.accounts[0]}`;
  for (const path of [
    "/",
    "/explorer/collections/mainnet",
    `${collection}/events`,
    `${token}/owners`,
    account,
    `${account}/events`,
  ])
    await page.goto(path);
  expectNothing();
});

test("stored drawings and pages, opened by themselves", async () => {
  const keys = (await listTokens()).flatMap(({ image_key, animation_key }) => [image_key, animation_key]);
  const opened = [...new Set(keys)].filter((key) => /\.(svg|html)$/.test(key));
  expect(opened.length).toBeGreaterThan(4);
  for (const key of opened) await page.goto(`/media/${key}`);
  expectNothing();
});

test("searches, errors and forms that repeat what was sent", async () => {
  for (const text of hostileTexts(canary.url).slice(0, 14)) {
    await page.goto(`/explorer/search?q=${encodeURIComponent(text.toWellFormed())}`);
    await page.goto(`/explorer/collection/mainnet/${encodeURIComponent(text.toWellFormed())}`);
    expect(await page.locator("h1").count()).toBe(1);
  }
  await page.goto("/explorer/keys");
  await page.getByLabel("What it is for").fill("<img src=x onerror=alert(1)>");
  await page.getByRole("button", { name: "Register a key" }).click();
  await page.getByRole("heading", { name: "Your key for <img src=x onerror=alert(1)>" }).waitFor();
  expectNothing();
});

type Shown = { token_id: string; name: string; image_key: string; animation_key: string };

/** All tokens of the contract as the API has them, by id. */
async function listTokens(): Promise<Shown[]> {
  const client = createClient({ url: stack.url, key: STACK_KEY });
  const params = { path: { contract_address: contract } };
  const tokens = await Array.fromAsync(client.iterate("/v1/tokens/{contract_address}", { params }));
  return tokens.map(({ token_id, metadata }) => ({ ...metadata.normalized, token_id }));
}

/** The contract with all of them, whose own name and description attack too. */
async function mintAll(): Promise<Hex> {
  const about = {
    name: "x",
    description: `<script>fetch('${canary.url}/about')</script>`,
    image: `${canary.url}/image`,
  };
  const contractUri = `data:application/json,${encodeURIComponent(JSON.stringify(about))}`;
  const name = "<img src=x onerror=alert(1)>";
  const cards = await chain.deploy(compile("Postcard").Postcard, name, `"><script>alert(1)</script>`, contractUri);
  let batch: string[] = [];
  let first = 0;
  const flush = async () => {
    await chain.mine({ to: cards, name: "mint", args: [chain.accounts[0], first, batch] });
    first += batch.length;
    batch = [];
  };
  for (const uri of hostileUris(canary.url)) {
    if (batch.length > 0 && [...batch, uri].reduce((gas, one) => gas + gasOf(one), 0) > MINT_GAS) await flush();
    batch.push(uri);
  }
  await flush();
  return cards.address;
}
