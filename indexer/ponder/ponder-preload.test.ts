import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { PONDER_MAIN } from "./bundle.ts";

const TELL = `data:text/javascript,process.on("exit", () => console.log("contracts:", process.env.MAINNET_CONTRACTS))`;

test("Ponder has no settings of its own in `.env.local`", async () => {
  const directory = await mkdtemp(join(tmpdir(), "nft-index-ponder-"));
  try {
    await writeFile(join(directory, ".env.local"), "MAINNET_CONTRACTS=0x12\n");
    const args = [
      "--import",
      join(import.meta.dirname, "ponder-preload.ts"),
      "--import",
      TELL,
      PONDER_MAIN,
      "--version",
    ];
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: directory, env: {} });
    expect(stdout).toMatch(/contracts: undefined\n$/);
  } finally {
    await rm(directory, { recursive: true });
  }
});
