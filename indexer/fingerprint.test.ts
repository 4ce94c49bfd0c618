import { appendFileSync, cpSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { readConfig } from "../config.ts";

const ROOT = join(import.meta.dirname, "..");
const CODE = [
  "package.json",
  "ponder.config.ts",
  "ponder.schema.ts",
  "sources.ts",
  "abis",
  "history",
  "indexer",
  "src",
];

test("what decides the rows is another deployment, and how nodes are asked for logs isn't", async () => {
  const copy = mkdtempSync(join(tmpdir(), "fingerprint-"));
  try {
    for (const name of CODE) cpSync(join(ROOT, name), join(copy, name), { recursive: true });
    symlinkSync(join(ROOT, "node_modules"), join(copy, "node_modules"));
    const url = pathToFileURL(join(copy, "indexer/fingerprint.ts")).href;
    const { fingerprintOf } = (await import(url)) as typeof import("./fingerprint.ts");
    const config = readConfig({ MAINNET_RPC_URL: "http://127.0.0.1:1" });
    const fingerprint = () => fingerprintOf(config, { network: "mainnet", chainId: 1 });
    const isOther = (file: string) => {
      const before = fingerprint();
      appendFileSync(join(copy, file), "\n// Changed.\n");
      return fingerprint() !== before;
    };

    const same = ["history/rpc/http-post.ts", "history/rpc/provider-error.ts", "history/load/load.pg.test.ts"];
    const deciding = ["src/movement.ts", "history/load/load.ts", "history/fetch/log-table.ts", "history/json-scan.ts"];
    for (const file of same) expect([file, isOther(file)]).toEqual([file, false]);
    for (const file of deciding) expect([file, isOther(file)]).toEqual([file, true]);
  } finally {
    rmSync(copy, { recursive: true });
  }
});
