import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { BENCH_DIRECTORY } from "./database.ts";
import { startProcess } from "./process.ts";

const run = promisify(execFile);

/** The generator and the replay server are not part of this repository: they lie beside it. */
const TOOLS_DIRECTORY = join(import.meta.dirname, "../../shared/bench");

/** Rows and the sum of their checksums: see `oracle.ts`. */
export type Expected = Record<"event" | "token" | "ownership" | "contract", { rows: number; sum: string }>;

/** A chain in files, and what its tables come to. */
export type Chain = {
  directory: string;
  meta: { chainId: number; logs: number; blocks: number; lastEventBlock: number; expected: Expected };
};

/** A node that answers from memory, as a process of its own. */
type Replay = { url: string; stop: () => Promise<void> };

/** A generated chain; it is made when it is first asked for, and kept. */
export async function prepareChain({ logs, logsPerBlock }: { logs: number; logsPerBlock: number }): Promise<Chain> {
  const generator = await findTool("gen.mjs");
  const directory = join(BENCH_DIRECTORY, "chains", `${logs}-logs-${logsPerBlock}-a-block`);
  if (!existsSync(directory)) {
    console.log(`Generating a chain of ${logs.toLocaleString("en-US")} logs, ${logsPerBlock} a block.`);
    // Made beside its place and moved there whole, so that half a chain is never used.
    const fresh = `${directory}.new`;
    await rm(fresh, { recursive: true, force: true });
    await mkdir(fresh, { recursive: true });
    const knobs = ["--logs", String(logs), "--logs-per-block", String(logsPerBlock)];
    await run(process.execPath, ["--max-old-space-size=8192", generator, "--out", fresh, ...knobs]);
    await rename(fresh, directory);
  }
  return { directory, meta: JSON.parse(await readFile(join(directory, "meta.json"), "utf8")) as Chain["meta"] };
}

/** Serves a chain on a free port, by `script` where it has other logs than the generator's. */
export async function startReplay(
  { directory }: Chain,
  { script, latencyMs = 0 }: { script?: string; latencyMs?: number } = {},
): Promise<Replay> {
  const tool = script ?? (await findTool("replay.mjs"));
  const args = [
    tool,
    "--data",
    directory,
    "--port",
    "0",
    ...(latencyMs > 0 ? ["--latency-ms", String(latencyMs)] : []),
  ];
  const server = startProcess({ name: "replay", args, env: {} });
  const line = await server.waitForLine("replay at ");
  return { url: line.replace("replay at ", "").trim(), stop: server.stop };
}

/** Where a tool is. @throws Error with one line for the reader where the tools are not beside this repository */
export async function findTool(name: string): Promise<string> {
  const path = join(TOOLS_DIRECTORY, name);
  if (!existsSync(path))
    throw new Error(`${path} is missing. The backfill benchmark needs the generated chain's tools.`);
  return path;
}
