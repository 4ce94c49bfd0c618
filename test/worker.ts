import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type Command, startCommand } from "./command.ts";

/** A worker that runs as a process of its own. */
export type WorkerProcess = Command & {
  /** The most memory that it ever took. */
  peakMemoryMb: () => number;
};

/** `npm run worker` on a database and a node of the test's. `preload`: a module that its process loads first. */
export async function startWorker({
  databaseUrl,
  rpcUrl,
  allowHosts = [],
  preload,
  env = {},
}: {
  databaseUrl: string;
  rpcUrl: string;
  allowHosts?: string[];
  preload?: string;
  env?: Record<string, string>;
}): Promise<WorkerProcess> {
  const directory = await mkdtemp(join(tmpdir(), "worker-"));
  const worker = startCommand("worker", {
    env: {
      DATABASE_URL: databaseUrl,
      DATA_DIR: directory,
      MAINNET_RPC_URL: rpcUrl,
      FETCH_ALLOW_HOSTS: allowHosts.join(","),
      LOG_LEVEL: "warn",
      ...(preload !== undefined && { NODE_OPTIONS: `--import ${pathToFileURL(preload).href}` }),
      ...env,
    },
  });
  return {
    ...worker,
    peakMemoryMb: () => Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${worker.pid}/status`, "utf8"))![1]) / 1024,
    stop: async () => {
      await worker.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
