import { type ChildProcess, fork } from "node:child_process";
import { join } from "node:path";
import { childEnvironment, endProcess, FROM_BUNDLE, untilEnded } from "../indexer/child-process.ts";
import { type Keeper, keepRunning } from "../indexer/keeper.ts";
import { SUPERSEDED_CODE } from "./process.ts";

const STOP_TIMEOUT_MS = 12_000;

/** A part of the service in a process of its own. */
export type Child = { process: ChildProcess; ended: Promise<string>; stop: () => Promise<void> };

/** Forks an entry file of `bin/` or `demo/`. It ends when this process does, however that ends. */
export function startChild(file: string, env: Record<string, string | undefined>): Child {
  const child = fork(join(import.meta.dirname, "..", file), {
    execArgv: FROM_BUNDLE,
    // A group of its own: Ctrl-C reaches it through us, in order.
    detached: true,
    stdio: ["ignore", "inherit", "inherit", "ipc"],
    env: { ...childEnvironment(), ...env },
  });
  const ended = new Promise<string>((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("exit", (code, signal) => resolve(signal ?? `code ${code}`));
  });
  return {
    process: child,
    ended,
    stop: () => endProcess(child, { ended, withinMs: STOP_TIMEOUT_MS }),
  };
}

/**
 * Keeps a part running until `stop()`: after an unasked end it is started again, after a pause. Not so where another
 * version took over: each would replace the other for ever.
 */
export function keepChild(
  file: string,
  env: Record<string, string | undefined>,
  { log }: { log: (line: string) => void },
): Pick<Keeper, "stop"> {
  const run = async ({ signal }: { signal: AbortSignal }) => {
    const reason = await untilEnded(startChild(file, env), signal);
    return reason === `code ${SUPERSEDED_CODE}` ? undefined : `${file} ended with ${reason}`;
  };
  return keepRunning(run, { onFailure: log });
}
