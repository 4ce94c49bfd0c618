import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "..");

test("files and folders that the README names for developers are there", async () => {
  const [, section = ""] = /## Development\n(.*)/s.exec(await readFile(join(ROOT, "README.md"), "utf8")) ?? [];
  const paths = [...section.matchAll(/`([\w.-]+(?:\/[\w.-]*)+)`/g)].map(([, path]) => path!);
  expect(paths.length).toBeGreaterThan(30);
  expect(paths.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});
