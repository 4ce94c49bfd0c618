import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Expected } from "../bench/chain.ts";

/** The generator and the replay server are not part of this repository: they lie beside it. */
const TOOLS_DIRECTORY = join(import.meta.dirname, "../../shared/bench");

/** Whether tests on a generated chain can run here. */
export const hasReplayTools = existsSync(join(TOOLS_DIRECTORY, "replay.mjs"));

/** A node that serves a generated chain out of memory. */
export type Replay = {
  url: string;
  lastBlock: number;
  expected: Expected;
  stop: () => Promise<void>;
};

/** Generates a chain of so many logs, sparse as real ones are, and serves it with so much delay and such limits. */
export async function startReplay({
  logs,
  latencyMs = 0,
  maxBlockRange = 0,
}: {
  logs: number;
  latencyMs?: number;
  /** Of eth_getLogs. 0: none. */
  maxBlockRange?: number;
}): Promise<Replay> {
  const { generateChain } = (await import(join(TOOLS_DIRECTORY, "gen.mjs"))) as {
    generateChain: (knobs: Record<string, unknown>) => { lastEventBlock: number; expected: Expected };
  };
  const server = (await import(join(TOOLS_DIRECTORY, "replay.mjs"))) as {
    startReplay: (options: Record<string, unknown>) => Promise<{ url: string; close: () => Promise<void> }>;
  };
  const directory = await mkdtemp(join(tmpdir(), "nft-index-chain-"));
  const emptyBlocksAtEnd = 40;
  const { lastEventBlock, expected } = generateChain({ out: directory, logs, logsPerBlock: 20, emptyBlocksAtEnd });
  const { url, close } = await server.startReplay({ data: directory, port: 0, latencyMs, maxBlockRange });
  await rm(directory, { recursive: true });
  return { url, lastBlock: lastEventBlock + emptyBlocksAtEnd, expected, stop: close };
}
