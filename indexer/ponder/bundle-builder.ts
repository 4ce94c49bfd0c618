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

/** CommonJS among the bundled modules calls `require`. */
const REQUIRE = `import { createRequire } from "node:module"; const require = createRequire(import.meta.url);`;

/**
 * Bundles the packages, once an install: it takes 1 s. Where that fails (no right to write, a package that has changed)
 * there is no bundle, and everything works without it, slower. What is wrong shows where the package is imported.
 */
export async function ensureBundle(): Promise<void> {
  const directory = findBundleDirectory();
  if (directory === undefined || existsSync(directory)) return;
  // Other processes may do the same: the bundle is moved to its place when it is whole.
  const unfinished = `${directory}.${process.pid}`;
  // Before anything is bundled, so that no work is lost where nothing can be written.
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
      // Without this ending Node would compile each file as CommonJS first, in vain.
      outExtension: { ".js": ".mjs" },
      format: "esm",
      platform: "node",
      target: "node22",
      // esbuild would add `module`, by which packages resolve otherwise than in Node.
      conditions: [],
      // Makes importing a fifth faster.
      minifyWhitespace: true,
      minifySyntax: true,
      // Not installed, and never asked for.
      external: ["pg-native", "pg-query-emscripten"],
      banner: { js: REQUIRE },
      plugins: [{ name: "source", setup: loadSources }],
      logLevel: "silent",
    });
  } finally {
    await esbuild.stop();
  }
}

/** esbuild comes with Ponder, by way of Vite. */
function loadEsbuild(): Esbuild {
  const vite = createRequire(PONDER_MAIN).resolve("vite/package.json");
  return createRequire(vite)("esbuild") as Esbuild;
}

/** Patches modules, and lets them find the files beside them where they were before. */
function loadSources({ onLoad }: PluginBuild): void {
  onLoad({ filter: /\.[cm]?js$/ }, async ({ path }) => {
    const source = patchSource(await readFile(path, "utf8"), patchesOf(path, PONDER_PATCHES));
    const isPlaced = /\b__(dir|file)name\b/.test(source) && !/\b(const|let|var) __(dir|file)name\b/.test(source);
    const place = `var __dirname = ${JSON.stringify(dirname(path))}, __filename = ${JSON.stringify(path)};`;
    const url = JSON.stringify(pathToFileURL(path).href);
    return { contents: (isPlaced ? place : "") + source.replaceAll("import.meta.url", url) };
  });
}
