import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { BUNDLED, findBundleDirectory } from "./bundle.ts";
import { ensureBundle } from "./bundle-builder.ts";

const exportsOf = async (specifier: string) =>
  Object.keys((await import(/* @vite-ignore */ specifier)) as object).toSorted();

test("packages give out of the bundle what they give in their own place", async () => {
  await ensureBundle();
  const directory = findBundleDirectory()!;
  const fileOf = (name: string) => join(directory, `${name}.mjs`);
  expect(Object.keys(BUNDLED).filter((name) => !existsSync(fileOf(name)))).toEqual([]);
  for (const [name, specifier] of Object.entries(BUNDLED).filter(([one]) => !one.startsWith("ponder"))) {
    const expected = (await exportsOf(specifier)).filter((one) => one !== "module.exports");
    expect(await exportsOf(pathToFileURL(fileOf(name)).href)).toEqual(expected);
  }
});
