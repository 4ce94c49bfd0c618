import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readConfig } from "../config.ts";

const ROOT = join(import.meta.dirname, "..");

test("files and folders that the README names for developers are there", async () => {
  const [, section = ""] = /## Development\n(.*)/s.exec(await readFile(join(ROOT, "README.md"), "utf8")) ?? [];
  const paths = [...section.matchAll(/`([\w.-]+(?:\/[\w.-]*)+)`/g)].map(([, path]) => path!);
  expect(paths.length).toBeGreaterThan(30);
  expect(paths.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});

test("the README's table has every variable that is read, and no other", async () => {
  const read = new Set<string>();
  readConfig(new Proxy({}, { get: (_, name) => void read.add(String(name)) }));
  const [, table = ""] = /\n(\| Variable \|.*?)\n\n/s.exec(await readFile(join(ROOT, "README.md"), "utf8")) ?? [];
  const named = new Set([...table.matchAll(/`([A-Z][A-Z\d_]*)`/g)].map(([, name]) => name!));
  // Those of the test network are as the main one's.
  const ownTable = [...read].filter((name) => name === "TESTNET_HOST" || !name.startsWith("TESTNET_"));
  expect([...named].toSorted()).toEqual(ownTable.toSorted());
});
