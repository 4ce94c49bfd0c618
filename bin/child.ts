import { type ChildProcess, fork } from "node:child_process";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const STOP_TIMEOUT_MS = 12_000;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;

/** A run of this length was a good one: the next failure starts counting anew. */
const GOOD_RUN_MS = 60_000;

/** A part of the service in a process of its own. */
export type Child = { process: ChildProcess; ended: Promise<string>; stop: () => Promise<void> };

/** Forks an entry file of `bin/` or `demo/`. It ends when this process does, however that ends. */
export function startChild(file: string, env: Record<string, string | undefined>): Child {
  const child = fork(join(import.meta.dirname, "..", file), {
    // A group of its own: Ctrl-C reaches it through us, in order.
    detached: true,
    stdio: ["ignore", "inherit", "inherit", "ipc"],
    env: { ...process.env, ...env },
  });
  const ended = new Promise<string>((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("exit", (code, signal) => resolve(signal ?? `code ${code}`));
  });
  return {
    process: child,
    ended,
    stop: async () => {
      child.kill("SIGTERM");
      const timer = setTimeout(() => child.kill("SIGKILL"), STOP_TIMEOUT_MS);
      await ended;
      clearTimeout(timer);
    },
  };
}

/** Keeps a part running until `stop()`: after an unasked end it is started again, with a pause that doubles. */
export function keepRunning(
  file: string,
  env: Record<string, string | undefined>,
  { log }: { log: (line: string) => void },
): { stop: () => Promise<void> } {
  const stopping = new AbortController();
  let child: Child | undefined;
  const run = async () => {
    for (let pause = FIRST_PAUSE_MS; !stopping.signal.aborted; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
      const startedAt = Date.now();
      child = startChild(file, env);
      const reason = await child.ended;
      if (stopping.signal.aborted) return;
      if (Date.now() - startedAt > GOOD_RUN_MS) pause = FIRST_PAUSE_MS;
      log(`${file} ended with ${reason}; starts again in ${pause / 1000} s`);
      await sleep(pause, undefined, { signal: stopping.signal }).catch(() => {});
    }
  };
  const finished = run();
  return {
    stop: async () => {
      stopping.abort();
      await child?.stop();
      await finished;
    },
  };
}
