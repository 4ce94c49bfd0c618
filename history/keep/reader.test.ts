import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";

/**
 * What a file loads: `import type` isn't loaded, `import { type … }` is, and an import within a function only later.
 */
const IMPORT = /^(?:(?:import|export) (?!type )(?:[^;"]* from )?"([^"]+)";|const [^=]+ = await import\("([^"]+)"\);)/gm;

/** The packages that are loaded with a file, directly or by files of ours that it imports. */
function listPackages(file: string, seen = new Set<string>()): string[] {
  if (seen.has(file)) return [];
  seen.add(file);
  const names = readFileSync(file, "utf8")
    .matchAll(IMPORT)
    .map(([, name, late]) => (name ?? late)!);
  const packages = [...names].flatMap((name) =>
    name.startsWith(".") ? listPackages(resolve(file, "..", name), seen) : [name],
  );
  return [...new Set(packages)].filter((name) => !name.startsWith("node:"));
}

test("the reader's thread loads the database driver only: viem alone takes 38 MB of it and 0.6 s", () => {
  expect(listPackages(resolve(import.meta.dirname, "reader.ts"))).toEqual(["postgres"]);
});
