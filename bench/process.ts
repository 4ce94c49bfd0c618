import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdirSync, openSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { BENCH_DIRECTORY } from "./database.ts";

/** How long a process may take to end before it is killed. */
const STOP_TIMEOUT_MS = 15_000;
const LINE_TIMEOUT_MS = 3_600_000;
const LINE_POLL_MS = 5;

/** A process that is measured. */
export type BenchProcess = {
  pid: number;
  /** By performance.now(). */
  startedAt: number;
  /** Rejects, with the last lines of its output, if the process ends before `stop`. */
  died: Promise<never>;
  /** The first line of its output that begins with `start`. */
  waitForLine: (start: string) => Promise<string>;
  /** Ends the process and all that it started. */
  stop: () => Promise<void>;
};

/** Groups of processes that must not outlive this one. */
const groups = new Set<number>();
process.on("exit", () => {
  for (const group of groups) signalGroup(group, "SIGKILL");
});

/** Starts a Node process in a group of its own. Its environment is `env`, its output goes to a file. */
export function startProcess({
  name,
  args,
  env,
}: {
  name: string;
  args: string[];
  env: Record<string, string>;
}): BenchProcess {
  const logs = join(BENCH_DIRECTORY, "logs");
  mkdirSync(logs, { recursive: true });
  const logFile = join(logs, `${name.replace(/\W+/g, "-")}.log`);
  const log = openSync(logFile, "w");
  // For a profile of the systems that are measured: BENCH_NODE_OPTIONS="--cpu-prof --cpu-prof-dir=…".
  const { PATH, HOME, BENCH_NODE_OPTIONS = "" } = process.env;
  const startedAt = performance.now();
  // The kernel ends it when we are killed without a last word. setpriv becomes the process that it starts.
  const child = spawn("setpriv", ["--pdeathsig", "KILL", process.execPath, ...args], {
    detached: true,
    stdio: ["ignore", log, log],
    env: { PATH, HOME, NODE_OPTIONS: BENCH_NODE_OPTIONS, ...env },
  });
  closeSync(log);
  const pid = child.pid;
  if (pid === undefined) throw new Error(`${name} could not be started.`);
  groups.add(pid);

  let isStopping = false;
  const exited = once(child, "exit");
  const died = exited.then(async ([code, signal]): Promise<never> => {
    if (isStopping) return new Promise(() => {});
    const lines = (await readFile(logFile, "utf8")).trim().split("\n").slice(-25);
    throw new Error(`${name} ended with ${signal ?? `code ${code}`}. The end of ${logFile}:\n${lines.join("\n")}`);
  });
  died.catch(() => {});

  return {
    pid,
    startedAt,
    died,
    // What was printed just before the end counts.
    waitForLine: (start) =>
      Promise.race([
        died.catch(async (error: unknown) => (await findLine(logFile, start)) ?? Promise.reject(error)),
        waitForLine(logFile, start),
      ]),
    stop: async () => {
      isStopping = true;
      signalGroup(pid, "SIGTERM");
      const timer = setTimeout(() => signalGroup(pid, "SIGKILL"), STOP_TIMEOUT_MS);
      if (child.exitCode === null && child.signalCode === null) await exited;
      clearTimeout(timer);
      signalGroup(pid, "SIGKILL");
      groups.delete(pid);
    },
  };
}

async function waitForLine(file: string, start: string): Promise<string> {
  const deadline = Date.now() + LINE_TIMEOUT_MS;
  for (;;) {
    const line = await findLine(file, start);
    if (line !== undefined) return line;
    if (Date.now() > deadline) throw new Error(`${file} has no line "${start}…".`);
    await sleep(LINE_POLL_MS);
  }
}

const findLine = async (file: string, start: string) =>
  (await readFile(file, "utf8")).split("\n").find((text) => text.startsWith(start));

function signalGroup(group: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-group, signal);
  } catch {
    // All of them are gone already.
  }
}
