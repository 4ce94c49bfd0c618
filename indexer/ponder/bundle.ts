import { createHash } from "node:crypto";
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { registerHooks } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { PONDER_PATCHES } from "./ponder-patches.ts";

/** With links resolved: Node names its entry file so. */
const MODULES = realpathSync(join(import.meta.dirname, "../../node_modules"));

/** npm's list of all that it installed. */
const INSTALLED = join(MODULES, ".package-lock.json");

/** Ponder's own entry file, which nobody imports by a name. */
export const PONDER_MAIN = join(MODULES, "ponder/dist/esm/bin/ponder.js");

/**
 * What is bundled, by the names of the bundle's files. Without it Node finds, reads and compiles 1,500 modules one by one:
 * importing viem took 0.5 s of CPU and takes 0.1 s, Ponder 1.2 s and 0.3 s.
 */
export const BUNDLED = {
  viem: "viem",
  zod: "zod",
  hono: "hono",
  "drizzle-orm": "drizzle-orm",
  "drizzle-orm-pg-core": "drizzle-orm/pg-core",
  ponder: "ponder",
  "ponder-main": pathToFileURL(PONDER_MAIN).href,
};

/** Where the bundle is, or would be. Undefined where the packages weren't installed by npm. */
export function findBundleDirectory(): string | undefined {
  if (!existsSync(INSTALLED)) return undefined;
  const hash = createHash("sha256").update(JSON.stringify([MODULES, BUNDLED, PONDER_PATCHES]));
  for (const file of [INSTALLED, join(import.meta.dirname, "bundle-builder.ts")]) hash.update(readFileSync(file));
  return join(MODULES, ".cache/bundle", hash.digest("hex").slice(0, 16));
}

/** From now on imports of these packages, by default those of our own processes, take them from the bundle, if there is one. */
export function takeFromBundle(names: (keyof typeof BUNDLED)[] = ["viem", "zod"]): void {
  const directory = findBundleDirectory();
  if (directory === undefined || !existsSync(directory)) return;
  const urls = new Map(names.map((name) => [BUNDLED[name], pathToFileURL(join(directory, `${name}.mjs`)).href]));
  registerHooks({
    resolve(specifier, context, nextResolve) {
      const url = urls.get(specifier);
      return url ? { url, format: "module", shortCircuit: true } : nextResolve(specifier, context);
    },
  });
}
