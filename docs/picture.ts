/** `npm run picture -- URL`: the README's picture, out of a running demo. A collection, and one of its tokens on a phone. */
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { launchBrowser } from "../test/browser.ts";

const FILE = join(import.meta.dirname, "explorer.png");
const DESKTOP = { width: 1100, height: 800 };
const PHONE = { width: 330, height: 700 };
const GAP = 30;

const [url = "http://127.0.0.1:3000"] = process.argv.slice(2);
const browser = await launchBrowser();
try {
  const page = await browser.newPage();
  await page.goto(url);
  const collection = await page.getByRole("link", { name: "Moth Atlas" }).last().getAttribute("href");
  await page.goto(`${url}${collection}/listed`);
  const token = await page.locator("main .grid a").first().getAttribute("href");
  const desktop = await take(browser, { path: `${collection}/listed`, viewport: DESKTOP, colorScheme: "light" });
  const phone = await take(browser, { path: `${token}`, viewport: PHONE, colorScheme: "dark" });

  // Side by side, the phone over the edge of the other.
  const width = DESKTOP.width + PHONE.width / 2 + GAP;
  const board = await browser.newPage({ viewport: { width, height: DESKTOP.height + 2 * GAP } });
  await board.setContent(`
    <style>
      body { margin: 0; background: #d9e2df }
      img { position: absolute; border-radius: 14px; box-shadow: 0 6px 30px #0004 }
      #desktop { left: ${GAP}px; top: ${GAP}px }
      #phone { right: ${GAP}px; bottom: ${GAP + 20}px; border: 5px solid #22282a; border-radius: 26px }
    </style>
    <img id="desktop" src="data:image/png;base64,${desktop.toString("base64")}" />
    <img id="phone" src="data:image/png;base64,${phone.toString("base64")}" />
  `);
  await board.screenshot({ path: FILE });
  console.log(FILE);
} finally {
  await browser.close();
}

async function take(
  browser: Browser,
  {
    path,
    viewport,
    colorScheme,
  }: { path: string; viewport: { width: number; height: number }; colorScheme: "light" | "dark" },
): Promise<Buffer> {
  const page = await browser.newPage({ viewport, colorScheme });
  await page.goto(`${url}${path}`, { waitUntil: "networkidle" });
  const picture = await page.screenshot();
  await page.close();
  return picture;
}
