import axe from "axe-core";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createClient } from "../client/client.ts";
import { type DemoChain, startDemoChain } from "../demo/chain.ts";
import { ASSETS } from "../web/asset.ts";
import { shorten } from "../web/text.ts";
import { launchBrowser, openContext } from "./browser.ts";
import { type ExplorerStack, STACK_KEY, startExplorerStack } from "./explorer-stack.ts";

/** A visitor with a real browser, before the demo as it is started for everybody. */

let chain: DemoChain;
let stack: ExplorerStack;
let browser: Browser;
let context: BrowserContext;
let page: Page;
/** A token with a picture that was sold, and who has it. */
let sold: { path: string; collection: string; owner: string };

beforeAll(async () => {
  // Nothing is mined but by the test.
  chain = await startDemoChain();
  [stack, browser] = await Promise.all([startExplorerStack(chain), launchBrowser()]);
  await stack.settle();
  sold = await findSold();
});

afterAll(async () => {
  await browser?.close();
  await stack?.stop();
  await chain?.stop();
});

beforeEach(async () => {
  context = await openContext(browser, { baseURL: stack.url });
  page = await context.newPage();
});
afterEach(() => context.close());

describe("a visitor", () => {
  test("finds a collection, opens a token, sees its picture and its sale, and opens its owner", async () => {
    await page.goto("/");
    await page.getByRole("link", { name: "Moth Atlas" }).first().click();
    await page.getByRole("heading", { level: 1, name: "Moth Atlas" }).waitFor();
    expect(await page.locator(".grid li").count()).toBeGreaterThan(10);
    await page.getByRole("link", { name: "Listed" }).click();
    await page.locator("main .grid b").first().waitFor();

    await page.getByRole("link", { name: "Activity" }).click();
    await page.locator(`#events a[href="${sold.path}"]`).first().click();
    const picture = page.locator("#media img").first();
    await picture.waitFor();
    expect(
      await page.evaluate(`(async () => {
      const image = document.querySelector("#media img");
      await image.decode();
      return image.naturalWidth;
    })()`),
    ).toBeGreaterThan(0);
    expect(await picture.getAttribute("src")).toMatch(/^\/media\/[\da-f]{64}\.\w+$/);
    const sale = page.locator("#events tr", { hasText: "sale" }).first();
    expect(await sale.innerText()).toMatch(/[\d.]+ W?ETH\s+seaport/);

    await page.locator("main dl a.hex").first().click();
    await page.getByRole("heading", { level: 1, name: shorten(sold.owner) }).waitFor();
    await page.locator(".head p", { hasText: sold.owner }).waitFor();
    await page.locator(`a[href="${sold.path}"]`).first().waitFor();
    await page.getByRole("link", { name: "Activity" }).click();
    await page.locator("#events tr", { hasText: "sale" }).first().waitFor();
  });

  test("finds by address, by address and id, and by name", async () => {
    const [, , , network, address, id] = sold.path.split("/");
    const search = async (text: string) => {
      await page.goto("/explorer/keys");
      await page.getByRole("searchbox").fill(text);
      await page.getByRole("searchbox").press("Enter");
      await page.waitForURL((url) => url.pathname !== "/explorer/keys");
      return new URL(page.url()).pathname;
    };
    expect(await search(address!.toUpperCase().replace("0X", "0x"))).toBe(`/explorer/collection/${network}/${address}`);
    expect(await search(`${address} ${id}`)).toBe(sold.path);
    expect(await search(`${address}/${BigInt(id!).toString(16).padStart(64, "0").replace(/^/, "0x")}`)).toBe(sold.path);
    expect(await search(sold.owner)).toBe(`/explorer/account/${network}/${sold.owner}`);
    expect(await search("tidal")).toBe("/explorer/search");
    await page.getByRole("link", { name: "Tidal Glyphs" }).waitFor();
  });

  test("registers a key, uses it, and sees that it was used", async () => {
    await page.goto("/");
    await page.getByRole("link", { name: "Keys" }).click();
    await page.getByLabel("What it is for").fill("a visitor's <b>app</b>");
    await page.getByRole("button", { name: "Register a key" }).click();
    await page.getByRole("heading", { name: "Your key for a visitor's <b>app</b>" }).waitFor();
    expect(await findProblems()).toEqual([]);
    const key = await page.locator("#key-text").innerText();
    expect(await page.locator("#curl").innerText()).toBe(
      `curl -s -H 'x-api-key: ${key}' '${stack.url}/v1/contracts?limit=3'`,
    );
    const read = () => fetch(`${stack.url}/v1/contracts?limit=3`, { headers: { "x-api-key": key } });
    const { result } = (await (await read()).json()) as { result: unknown[] };
    expect(result).toHaveLength(3);
    expect((await read()).status).toBe(200);

    await page.goto("/explorer/keys");
    expect(await page.content()).not.toContain(key);
    const requests = page.locator("dt", { hasText: "Requests" }).locator("+ dd");
    await expect
      .poll(
        async () => {
          await page.getByLabel("Your key").fill(key);
          await page.getByRole("button", { name: "Show its usage" }).click();
          return requests.innerText();
        },
        { interval: 500 },
      )
      .toBe("2");
  });

  test("sees what happens while looking, without a reload", async () => {
    await page.goto("/");
    const newest = () => page.locator("#events-mainnet tr").first().getAttribute("data-key");
    const before = await newest();
    await page.evaluate("window.isSame = true");
    // Some events are approvals and listings, which move no token.
    const hashes: string[] = [];
    for (let n = 0; n < 5; n += 1) hashes.push(...(await chain.playEvent()));
    await expect.poll(async () => hashes.includes((await newest())!.split("-")[0]!)).toBe(true);
    expect(hashes).not.toContain(before!.split("-")[0]);
    expect(await page.evaluate("window.isSame")).toBe(true);
  });

  test("pages through all tokens of a collection, each once, at addresses that last", async () => {
    const ids = new Set<string>();
    const seen: string[] = [];
    let burned = 0;
    await page.goto(sold.collection);
    for (;;) {
      const paths = await page
        .locator("#tokens a")
        .evaluateAll((links) => links.map((link) => link.getAttribute("href")!));
      burned += await page.locator("#tokens .facts", { hasText: "burned" }).count();
      for (const path of paths) {
        expect(ids.has(path)).toBe(false);
        ids.add(path);
      }
      seen.push(page.url());
      const next = page.getByRole("link", { name: "Next" });
      if ((await next.count()) === 0) break;
      await next.click();
      await page.waitForURL((url) => url.href !== seen.at(-1));
    }
    const count = Number((await page.locator("#stats dd").first().innerText()).replaceAll(",", ""));
    expect(ids.size - burned).toBe(count);
    expect(seen.length).toBeGreaterThan(2);
    await page.goto(seen[1]!);
    expect(ids.has((await page.locator("#tokens a").first().getAttribute("href"))!)).toBe(true);
  });
});

describe("without scripts", () => {
  beforeEach(async () => {
    await context.close();
    context = await openContext(browser, { baseURL: stack.url, javaScriptEnabled: false });
    page = await context.newPage();
  });

  test("every page reads the same, and forms work", async () => {
    await page.goto(sold.path);
    await page.locator("#events tr", { hasText: "sale" }).first().waitFor();
    await page.getByRole("button", { name: "Refresh metadata" }).click();
    await page.getByText(/Waiting for the fetch|Again in/).waitFor();
    expect(new URL(page.url()).pathname).toBe(sold.path);
    expect(await page.getByRole("button", { name: "Refresh metadata" }).isDisabled()).toBe(true);
    // Whoever sends it all the same is told to wait.
    const again = await fetch(`${stack.url}${sold.path}/refresh`, {
      method: "POST",
      headers: { origin: stack.url, "content-type": "application/x-www-form-urlencoded" },
    });
    expect(again.status).toBe(429);
    expect(Number(again.headers.get("retry-after"))).toBeGreaterThan(500);

    await page.goto("/explorer/keys");
    await page.getByLabel("What it is for").fill("no-script");
    await page.getByRole("button", { name: "Register a key" }).click();
    expect(await page.locator("#key-text").innerText()).toMatch(/^nft_[\da-f]{40}$/);
  });
});

describe("every page", () => {
  test("is below 60 kB with its style and its script, and loads nothing from elsewhere", async () => {
    const assets = ASSETS.reduce((size, { body }) => size + Buffer.byteLength(body), 0);
    for (const path of await listPaths()) {
      const response = await fetch(`${stack.url}${path}`);
      const body = await response.text();
      expect([path, response.status]).toEqual([path, 200]);
      expect([path, Buffer.byteLength(body) + assets < 60_000]).toEqual([path, true]);
      const links = [...body.matchAll(/\s(?:src|action|href)="([^"]*)"/g)].map(([, link]) => link!);
      const elsewhere = links.filter((link) => !link.startsWith("/") && link !== "#main");
      // What leads elsewhere is a link that somebody follows, and says so.
      for (const link of elsewhere)
        expect(body).toContain(`<a href="${link}" class="uri" rel="noopener noreferrer nofollow ugc external"`);
    }
  });

  test("has no accessibility problem that axe finds, in the light or in the dark", async () => {
    for (const path of [...(await listPaths()), "/explorer/nowhere/0", "/docs"]) {
      await page.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" });
      await page.goto(path);
      expect([path, await findProblems()]).toEqual([path, []]);
      // Colors are all that differs in the dark.
      await page.emulateMedia({ colorScheme: "dark", reducedMotion: "reduce" });
      const inTheDark = await findProblems({ runOnly: ["color-contrast", "link-in-text-block"] });
      expect([path, inTheDark]).toEqual([path, []]);
    }
  });

  test("fits a phone, also the narrowest", async () => {
    await page.setViewportSize({ width: 320, height: 640 });
    for (const path of [...(await listPaths()), "/docs"]) {
      await page.goto(path);
      const width = await page.evaluate("document.scrollingElement.scrollWidth");
      expect([path, width]).toEqual([path, 320]);
      const hidden = "[...document.querySelectorAll('.scroll')].filter((e) => e.scrollWidth > e.clientWidth)";
      expect([path, await page.evaluate(`${hidden}.length`)]).toEqual([path, 0]);
    }
  });

  test("the docs show what they are of on a phone's first screen", async () => {
    await page.setViewportSize({ width: 320, height: 640 });
    await page.goto("/docs");
    const { y, height } = (await page.locator("h1").boundingBox())!;
    expect(y + height).toBeLessThan(640);
    // The list of endpoints scrolls for itself.
    await page.locator("nav a").last().scrollIntoViewIfNeeded();
    expect((await page.locator("h1").boundingBox())!.y).toBe(y);
  });

  test("names of fields stay whole in the docs, however wide", async () => {
    const names = page.locator("td:first-child code").filter({ hasText: /^\w+$/, visible: true });
    await page.goto("/docs");
    for (const width of [320, 850, 1280]) {
      await page.setViewportSize({ width, height: 740 });
      const lines = await names.evaluateAll((all) => all.map((name) => name.getClientRects().length));
      expect(lines.length).toBeGreaterThan(200);
      expect([width, lines.filter((count) => count > 1).length]).toEqual([width, 0]);
      expect(await page.evaluate("document.scrollingElement.scrollWidth")).toBe(width);
    }
  });

  test("draws nothing where a movement is from or to nobody, however wide", async () => {
    const cells = "[...document.querySelectorAll('.moves :is(.from, .to):empty')]";
    const drawn: string[] = [];
    for (const path of await listPaths()) {
      await page.goto(path);
      for (const width of [360, 768]) {
        await page.setViewportSize({ width, height: 740 });
        drawn.push(...(await page.evaluate<string[]>(`${cells}.map((e) => getComputedStyle(e, '::before').content)`)));
      }
    }
    expect(drawn.length).toBeGreaterThan(0);
    expect(drawn.filter((content) => content !== "none")).toEqual([]);
  });

  test.each(["a collection", "/docs"])(
    "%s is reached by keyboard: the first stop skips to the content",
    async (path) => {
      await page.goto(path === "/docs" ? path : sold.collection);
      await page.keyboard.press("Tab");
      expect(await page.evaluate("document.activeElement.textContent")).toBe("Skip to content");
      await page.keyboard.press("Enter");
      await page.keyboard.press("Tab");
      expect(await page.evaluate("document.activeElement.closest('main') !== null")).toBe(true);
    },
  );
});

describe("other sites", () => {
  const form = { method: "POST", body: "name=x" };
  const type = { "content-type": "application/x-www-form-urlencoded" };

  test("can't send our forms, nor read our pages", async () => {
    const post = (headers: Record<string, string>) =>
      fetch(`${stack.url}/explorer/keys`, { ...form, headers: { ...type, ...headers } });
    expect((await post({})).status).toBe(403);
    expect((await post({ origin: "https://elsewhere.example" })).status).toBe(403);
    expect((await post({ origin: "null", "sec-fetch-site": "cross-site" })).status).toBe(403);
    expect((await post({ origin: stack.url, "content-type": "text/plain" })).status).toBe(415);
    expect(
      (
        await fetch(`${stack.url}/explorer/keys`, {
          ...form,
          body: `name=${"x".repeat(9000)}`,
          headers: { ...type, origin: stack.url },
        })
      ).status,
    ).toBe(413);
    const own = await post({ origin: stack.url });
    expect(own.status).toBe(200);
    expect(own.headers.get("access-control-allow-origin")).toBeNull();
    expect(own.headers.get("cache-control")).toBe("no-store");
  });

  test("policy of a page: our script and style, our media, nobody else's frame", async () => {
    const { headers } = await fetch(`${stack.url}/`);
    expect(headers.get("content-security-policy")).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; media-src 'self'; frame-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    );
    expect(headers.get("x-content-type-options")).toBe("nosniff");
  });
});

// The last: it ends the indexer.
test("an index that was stopped shows as stalled, on a page that was open before", async () => {
  await page.goto("/explorer/status");
  await page.locator("#network-mainnet .live").waitFor();
  expect(await page.locator("svg polyline").count()).toBeGreaterThanOrEqual(8);
  await stack.indexer.stop();
  await page.locator("#network-mainnet .stalled").waitFor();
  await page.getByText("The indexer was stopped").waitFor();
  await page.goto("/");
  await page.locator("#networks .stalled").waitFor();
});

/** What axe has to say of the open page. */
async function findProblems(rules: axe.RunOptions = {}): Promise<string[]> {
  await page.evaluate(axe.source);
  const options = { preload: false, resultTypes: ["violations"], ...rules };
  const { violations, passes } = await page.evaluate<axe.AxeResults>(`axe.run(${JSON.stringify(options)})`);
  expect(passes.length).toBeGreaterThan(0);
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(" | ")}`);
}

/** A page of every kind, as the API knows where to find one. */
async function listPaths(): Promise<string[]> {
  const account = `/explorer/account/mainnet/${sold.owner}`;
  return [
    "/",
    "/explorer/status",
    "/explorer/keys",
    "/explorer/search?q=moth",
    "/explorer/search?q=nothing-of-this-name",
    "/explorer/collections/mainnet",
    "/explorer/events/mainnet",
    sold.collection,
    `${sold.collection}/listed`,
    `${sold.collection}/events`,
    sold.path,
    ...["owners", "offers", "orders", "events"].map((list) => `${sold.path}/${list}`),
    account,
    `${account}/listed`,
    `${account}/events`,
  ];
}

async function findSold(): Promise<typeof sold> {
  const client = createClient({ url: stack.url, key: STACK_KEY });
  const contract_address = chain.contracts.MothAtlas;
  const events = client.iterate("/v1/events/{contract_address}", { params: { path: { contract_address } } });
  for await (const { event_type, token_id } of events) {
    if (event_type !== "sale") continue;
    const params = { path: { contract_address, token_id } };
    const { data } = await client.get("/v1/tokens/{contract_address}/{token_id}", { params });
    if (!data || data.result.metadata.normalized.image_key === "") continue;
    const place = `mainnet/${contract_address}`;
    return {
      path: `/explorer/token/${place}/${token_id}`,
      collection: `/explorer/collection/${place}`,
      owner: data.result.owner,
    };
  }
  throw new Error("No token of the demo was sold. Expected one with a picture.");
}
