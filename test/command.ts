import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { childEnvironment } from "../indexer/child-process.ts";

const ROOT = join(import.meta.dirname, "..");
const STOP_TIMEOUT_MS = 60_000;

/** Variables of the environment. */
export type Env = Record<string, string | undefined>;

/** A process of ours, as its users start it. */
export type Command = {
  pid: number;
  /** All that it printed so far. */
  output: () => string;
  /** Settles with its exit code, or its signal's name. */
  ended: Promise<number | string>;
  /** Reads no more of what it prints, as whoever is behind a pipe and has ended. */
  leave: () => void;
  /** Asks it to end and waits until it has. */
  stop: () => Promise<void>;
  /** `kill -9` of this process alone. */
  kill: () => Promise<void>;
};

/**
 * Starts `bin/<name>.ts`. Nothing of this process's environment but what programs need to run, and not in the
 * repository's folder, so that no `.env` there has a say. It ends when this process does, however that ends.
 *
 * `isByNpm`: as its script in package.json, which runs in that folder. `isOfTerminal`: in a process group of its own,
 * which Ctrl-C reaches as a whole. `root`: where another copy of the repository is.
 */
export function startCommand(
  name: string,
  {
    env,
    args = [],
    isByNpm = false,
    isOfTerminal = false,
    root = ROOT,
  }: { env: Env; args?: string[]; isByNpm?: boolean; isOfTerminal?: boolean; root?: string },
): Command {
  const { PATH, HOME, LOG_LEVEL } = process.env;
  // As the processes that they start have it: hundreds of them are started.
  const { NODE_COMPILE_CACHE } = childEnvironment();
  const preload = pathToFileURL(join(root, "indexer/ponder/bundle-preload.ts")).href;
  const [program, ...before] = isByNpm
    ? ["npm", "--prefix", root, "run", name, "--"]
    : [process.execPath, "--import", preload, join(root, "bin", `${name}.ts`)];
  const child = spawn(program, [...before, ...args], {
    cwd: tmpdir(),
    detached: isOfTerminal,
    stdio: ["ignore", "pipe", "pipe", "ipc"],
    env: { PATH, HOME, LOG_LEVEL, NODE_COMPILE_CACHE, ...env },
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding("utf8").on("data", (text: string) => (output += text));
  const ended = once(child, "close").then(([code, signal]) => (signal ?? code) as number | string);
  const end = async (signal: NodeJS.Signals) => {
    if (!isOver(child)) child.kill(signal);
    await ended;
  };
  return {
    pid: child.pid!,
    output: () => output,
    ended,
    leave: () => {
      child.stdout?.destroy();
      child.stderr?.destroy();
    },
    stop: async () => {
      const timer = setTimeout(() => child.kill("SIGKILL"), STOP_TIMEOUT_MS);
      await end("SIGTERM");
      clearTimeout(timer);
    },
    kill: () => end("SIGKILL"),
  };
}

const isOver = (child: ChildProcess) => child.exitCode !== null || child.signalCode !== null;
