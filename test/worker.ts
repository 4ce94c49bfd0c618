import { fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A worker that runs as a process of its own. */
export type WorkerProcess = {
  isRunning: () => boolean;
  /** The most memory that it ever took. */
  peakMemoryMb: () => number;
  stop: () => Promise<void>;
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
  const worker = fork("bin/worker.ts", {
    execPath: process.execPath,
    execArgv: preload === undefined ? [] : ["--import", preload],
    stdio: ["ignore", "inherit", "inherit", "ipc"],
    env: {
      ...process.env,
      DATABASE_URL: databaseUrl,
      DATA_DIR: directory,
      MAINNET_RPC_URL: rpcUrl,
      FETCH_ALLOW_HOSTS: allowHosts.join(","),
      LOG_LEVEL: "warn",
      ...env,
    },
  });
  return {
    isRunning: () => worker.exitCode === null,
    peakMemoryMb: () => Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${worker.pid}/status`, "utf8"))![1]) / 1024,
    stop: async () => {
      const ended = once(worker, "exit");
      if (worker.exitCode === null && worker.kill("SIGTERM")) await ended;
      await rm(directory, { recursive: true, force: true });
    },
  };
}
