import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { inflate } from "@sparticuz/chromium";
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium } from "playwright-core";

const require = createRequire(import.meta.url);
const PACKED = join(dirname(require.resolve("@sparticuz/chromium")), "../bin");
const { version } = require("playwright-core/package.json") as { version: string };
const UNPACKED = join(import.meta.dirname, `../node_modules/.cache/browser-${version}`);
/** The browser, fonts so that pages look the same everywhere, and libraries that a small system lacks. */
const ARCHIVES = ["chromium.br", "fonts.tar.br", "al2023.tar.br"];
/** The package's own looks for fonts in /tmp. Where there is none at all, some texts end the browser. */
const FONT_CONFIG = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>${join(UNPACKED, "fonts")}</dir>
  <cachedir>${join(UNPACKED, "font-cache")}</cachedir>
</fontconfig>
`;

/**
 * A Chromium that npm brought, for one test file. It is unpacked once a clone.
 *
 * Without its own sandbox, which root can't have: the pages that it opens are ours, and what they carry is the test.
 */
export async function launchBrowser(): Promise<Browser> {
  if (!existsSync(UNPACKED)) await unpack();
  return chromium.launch({
    executablePath: join(UNPACKED, "chromium"),
    args: ["--no-sandbox"],
    timeout: 0,
    env: {
      ...(process.env as Record<string, string>),
      LD_LIBRARY_PATH: join(UNPACKED, "al2023/lib"),
      FONTCONFIG_FILE: join(UNPACKED, "fonts.conf"),
    },
  });
}

/** What it shows is waited for as long as a test may take: a busy machine only takes longer. */
export async function openContext(browser: Browser, options: BrowserContextOptions): Promise<BrowserContext> {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(0);
  return context;
}

/** In one step for others: several test files may come here at once. */
async function unpack(): Promise<void> {
  await mkdir(dirname(UNPACKED), { recursive: true });
  const directory = await mkdtemp(`${UNPACKED}-`);
  const before = process.env.TMPDIR;
  // Where `inflate` puts things.
  process.env.TMPDIR = directory;
  try {
    await Promise.all(ARCHIVES.map((name) => inflate(join(PACKED, name))));
    await writeFile(join(directory, "fonts.conf"), FONT_CONFIG);
  } finally {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  }
  await rename(directory, UNPACKED).catch(async () => rm(directory, { recursive: true }));
}
