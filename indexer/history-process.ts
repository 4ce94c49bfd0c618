import { fork } from "node:child_process";
import { join } from "node:path";
import type { Network } from "../config.ts";
import type { HistoryProgress } from "../history/load/progress.ts";
import { childEnvironment, endProcess, FROM_BUNDLE } from "./child-process.ts";

/** Room for the loader's heap. What it holds is bounded whatever the chain's size. */
const HEAP_MB = 384;

/** On two cores, Node's four helper threads (compiler, garbage collector) slowed the two that work by up to a tenth. */
const ONE_HELPER = "--v8-pool-size=1";

/**
 * Buffers of logs and rows have the collector mark the heap some times a second. It is small, and to do that in steps
 * between our own took a seventh of a load's CPU.
 */
const MARK_AT_ONCE = "--no-incremental-marking";

/**
 * The compiler's helper thread makes no code. Where that finds no room, it waits until the thread that the code is for
 * has collected garbage, and a thread that is about to end waits for the helper: the reader of logs never ended, and
 * history stood still (https://github.com/nodejs/node/issues/54918).
 */
const CODE_BY_ITS_OWN_THREAD = ["--no-maglev-build-code-on-background", "--no-concurrent-sparkplug"];

/**
 * Answers and files of movements are read into buffers of megabytes, each of which the kernel would map in pages of 4 kB:
 * two fifths of the system time of a load. glibc asks for pages of 2 MB; other C libraries don't know the variable.
 */
const HUGE_PAGES = "glibc.malloc.hugetlb=1";

const STOP_TIMEOUT_MS = 8_000;
const KEPT_OUTPUT = 4_000;

/** What the process says while it works. */
export type FromHistory = { progress: HistoryProgress } | { problem: string };

/** A process that loads one deployment's history. */
type HistoryProcess = {
  /** Settles when it has ended: undefined when all is loaded, else why it isn't. */
  ended: Promise<string | undefined>;
  stop: () => Promise<void>;
};

/** Loads the history of the deployment in `schemaName`, from where it was left off. The process dies with this one. */
export function startHistory({
  network,
  chainId,
  databaseUrl,
  schemaName,
  onProgress,
  onProblem,
}: {
  network: Network;
  chainId: number;
  databaseUrl: string;
  schemaName: string;
  onProgress: (progress: HistoryProgress) => void;
  /** A line about a node that fails or an answer that was wrong. */
  onProblem: (line: string) => void;
}): HistoryProcess {
  const child = fork(join(import.meta.dirname, "history-main.ts"), [schemaName], {
    execArgv: [
      `--max-old-space-size=${HEAP_MB}`,
      "--max-semi-space-size=8",
      ONE_HELPER,
      MARK_AT_ONCE,
      ...CODE_BY_ITS_OWN_THREAD,
      ...FROM_BUNDLE,
    ],
    stdio: ["ignore", "inherit", "pipe", "ipc"],
    // A process group of its own: on Ctrl-C we end it in order.
    detached: true,
    env: {
      ...childEnvironment(),
      DATABASE_URL: databaseUrl,
      INDEXER_NETWORK: network,
      [`${network.toUpperCase()}_CHAIN_ID`]: String(chainId),
      MALLOC_ARENA_MAX: "2",
      GLIBC_TUNABLES: HUGE_PAGES,
    },
  });
  let output = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (output = (output + text).slice(-KEPT_OUTPUT)));
  child.on("message", (message: FromHistory) => {
    if ("progress" in message) onProgress(message.progress);
    else onProblem(message.problem);
  });
  const ended = new Promise<string | undefined>((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("close", (code, signal) =>
      resolve(code === 0 ? undefined : `Loading history ended with ${signal ?? (lastError(output) || `code ${code}`)}`),
    );
  });
  return {
    ended,
    stop: () => endProcess(child, { ended, withinMs: STOP_TIMEOUT_MS }),
  };
}

/** The line of an error's message; its stack is of no use to the operator. */
function lastError(output: string): string | undefined {
  const lines = output.split("\n").filter((line) => line.trim() !== "" && !/^\s+at /.test(line));
  return (lines.findLast((line) => /Error\b/.test(line)) ?? lines.at(-1))?.trim().slice(0, 300);
}
