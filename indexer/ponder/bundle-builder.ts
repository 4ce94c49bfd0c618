import { existsSync } from "node:fs";
import { mkdir, readFile, rename, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { patchesOf, patchSource } from "../../module-patch.ts";
import { BUNDLED, findBundleDirectory, PONDER_MAIN } from "./bundle.ts";
import { PONDER_PATCHES } from "./ponder-patches.ts";

/** What we use of esbuild. */
type Esbuild = { build: (options: Record<string, unknown>) => Promise<unknown>; stop: () => Promise<void> };
type PluginBuild = {
  onLoad: (options: { filter: RegExp }, load: (file: { path: string }) => Promise<{ contents: string }>) => void;
};

/** For CommonJS among the modules. */
const REQUIRE = `import { createRequire } from "node:module"; const require = createRequire(import.meta.url);`;

/**
 * Bundles the packages where that hasn't been done, once an install: 1 s. Where nothing can be written, or a package is
 * none that we know, there is no bundle: all goes on the same way, slower, and what is wrong is said by whoever imports it.
 */
export async function ensureBundle(): Promise<void> {
  const directory = findBundleDirectory();
  if (directory === undefined || existsSync(directory)) return;
  // Others may be at it, too: whole, it is moved to its place.
  const unfinished = `${directory}.${process.pid}`;
  // First, so that nothing is bundled that can't be written.
  await mkdir(unfinished, { recursive: true })
    .then(() => bundle(unfinished))
    .then(() => rename(unfinished, directory))
    .catch(() => rm(unfinished, { recursive: true, force: true }))
    .catch(() => {});
}

async function bundle(directory: string): Promise<void> {
  const esbuild = loadEsbuild();
  try {
    await esbuild.build({
      entryPoints: Object.fromEntries(
        Object.entries(BUNDLED).map(([name, specifier]) => [name, fileURLToPath(import.meta.resolve(specifier))]),
      ),
      outdir: directory,
      bundle: true,
      splitting: true,
      // Else Node would take each for CommonJS first, and compile it in vain.
      outExtension: { ".js": ".mjs" },
      format: "esm",
      platform: "node",
      target: "node22",
      // Those that Node resolves by, and none of its own.
      conditions: [],
      // A fifth of what it takes to import it.
      minifyWhitespace: true,
      minifySyntax: true,
      // Neither is installed or asked for.
      external: ["pg-native", "pg-query-emscripten"],
      banner: { js: REQUIRE },
      plugins: [{ name: "source", setup: loadSources }],
      logLevel: "silent",
    });
  } finally {
    await esbuild.stop();
  }
}

/** The one that Ponder brings along. */
function loadEsbuild(): Esbuild {
  const vite = createRequire(PONDER_MAIN).resolve("vite/package.json");
  return createRequire(vite)("esbuild") as Esbuild;
}

/** Modules are patched, and find what lies beside them where they were. */
function loadSources({ onLoad }: PluginBuild): void {
  onLoad({ filter: /\.[cm]?js$/ }, async ({ path }) => {
    const source = patchSource(await readFile(path, "utf8"), patchesOf(path, PONDER_PATCHES));
    const isPlaced = /\b__(dir|file)name\b/.test(source) && !/\b(const|let|var) __(dir|file)name\b/.test(source);
    const place = `var __dirname = ${JSON.stringify(dirname(path))}, __filename = ${JSON.stringify(path)};`;
    const url = JSON.stringify(pathToFileURL(path).href);
    return { contents: (isPlaced ? place : "") + source.replaceAll("import.meta.url", url) };
  });
}
