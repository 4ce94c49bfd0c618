import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { PONDER_MAIN } from "./bundle.ts";

/** What a variable is in Ponder's process, started in `directory` with it in its environment or without. */
async function readVariable(name: string, { directory = tmpdir(), env = {} }: { directory?: string; env?: object }) {
  const tell = `data:text/javascript,process.on("exit", () => console.log("is", process.env.${name}))`;
  const args = ["--import", join(import.meta.dirname, "ponder-preload.ts"), "--import", tell, PONDER_MAIN, "--version"];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: directory, env: { ...env } });
  return /^is (.*)$/m.exec(stdout)?.[1];
}

test("Ponder has no settings of its own in `.env.local`", async () => {
  const directory = await mkdtemp(join(tmpdir(), "nft-index-ponder-"));
  try {
    await writeFile(join(directory, ".env.local"), "MAINNET_CONTRACTS=0x12\n");
    expect(await readVariable("MAINNET_CONTRACTS", { directory })).toBe("undefined");
  } finally {
    await rm(directory, { recursive: true });
  }
});

test("Ponder's sessions have no settings that those of the other parts don't have", async () => {
  expect(await readVariable("PGOPTIONS", { env: { PGOPTIONS: "-c default_transaction_read_only=on" } })).toBe(
    "undefined",
  );
});

test("Ponder connects as who runs it, as the other parts do, where DATABASE_URL names nobody", async () => {
  expect(await readVariable("USER", { env: {} })).toBe(userInfo().username);
  expect(await readVariable("USER", { env: { USER: "somebody_else" } })).toBe(userInfo().username);
});
