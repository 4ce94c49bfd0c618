import { type ChildProcess, fork } from "node:child_process";
import { join } from "node:path";
import type { Network } from "../../config.ts";
import { PONDER_MAIN } from "./bundle.ts";
import { childEnvironment, endProcess } from "../child-process.ts";
import { ponderDatabaseUrl } from "./ponder-database.ts";

const ROOT = join(import.meta.dirname, "../..");

/** Enough for following the head, and for catching up after weeks without us. */
const HEAP_MB = 384;

/** Ponder ends itself within 5 s of SIGTERM. */
const STOP_TIMEOUT_MS = 8_000;

/** How many of its last lines are kept to say why it ended. */
const KEPT_LINES = 100;

/** It asks again after at most half a minute, and complains each time. */
const COMPLAINS_EVERY_MS = 40_000;

const COMPLAINT = /^[\d:.]+\s+(WARN|ERROR|FATAL)\s+/;

/** A running Ponder that writes one deployment. */
type PonderProcess = {
  /** Settles when it has ended, with why. */
  ended: Promise<string>;
  /** What it complained of last, if that was a moment ago. */
  problem: () => string | undefined;
  stop: () => Promise<void>;
};

/** Starts Ponder on the deployment in `schemaName`. It dies with this process. */
export function startPonder({
  network,
  chainId,
  databaseUrl,
  rpcUrl,
  schemaName,
  historySchema,
  firstBlock,
  port,
  logLevel,
}: {
  network: Network;
  chainId: number;
  databaseUrl: string;
  rpcUrl: string;
  schemaName: string;
  /** Where the tables up to the first block are made, if they are. */
  historySchema: string | undefined;
  firstBlock: number;
  port: number;
  logLevel: string;
}): PonderProcess {
  const prefix = network.toUpperCase();
  const child = fork(PONDER_MAIN, ["start", "--root", ROOT, "--schema", schemaName, "--hostname", "127.0.0.1"], {
    cwd: ROOT,
    execArgv: [
      `--max-old-space-size=${HEAP_MB}`,
      "--max-semi-space-size=8",
      "--import",
      join(import.meta.dirname, "ponder-preload.ts"),
    ],
    stdio: ["ignore", "pipe", "pipe", "ipc"],
    // A group of its own: Ctrl-C reaches it through us, in order.
    detached: true,
    env: {
      ...childEnvironment(),
      NODE_ENV: "production",
      PORT: String(port),
      DATABASE_URL: ponderDatabaseUrl(databaseUrl),
      INDEXER_NETWORK: network,
      INDEXER_FIRST_BLOCK: String(firstBlock),
      INDEXER_HISTORY_SCHEMA: historySchema,
      [`${prefix}_CHAIN_ID`]: String(chainId),
      [`${prefix}_RPC_URL`]: rpcUrl,
      PONDER_LOG_LEVEL: ponderLogLevel(logLevel),
      PONDER_TELEMETRY_DISABLED: "1",
      NO_COLOR: "1",
    },
  });
  const { lines, complainedAt } = keepLines(child, { isShown: ["debug", "trace"].includes(logLevel) });
  const ended = new Promise<string>((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("exit", (code, signal) => resolve(reasonOf(lines) ?? `Ponder ended with ${signal ?? `code ${code}`}`));
  });
  return {
    ended,
    problem: () => (performance.now() - complainedAt() < COMPLAINS_EVERY_MS ? problemOf(lines) : undefined),
    stop: () => endProcess(child, { ended, withinMs: STOP_TIMEOUT_MS }),
  };
}

/** Its line for every block is our debug, its summary is what we report ourselves. */
function ponderLogLevel(logLevel: string): string {
  if (logLevel === "debug" || logLevel === "trace") return logLevel;
  return logLevel === "silent" || logLevel === "fatal" || logLevel === "error" ? "error" : "warn";
}

function keepLines(
  child: ChildProcess,
  { isShown }: { isShown: boolean },
): { lines: string[]; complainedAt: () => number } {
  const lines: string[] = [];
  let complainedAt = -Infinity;
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (text: string) => {
      if (isShown) process.stderr.write(text);
      const added = text.split("\n").filter((line) => line.trim() !== "");
      if (added.some((line) => COMPLAINT.test(line))) complainedAt = performance.now();
      lines.push(...added);
      lines.splice(0, Math.max(0, lines.length - KEPT_LINES));
    });
  }
  return { lines, complainedAt: () => complainedAt };
}

/** What was thrown stands below the line that says what couldn't be done, and a node's own words below that. */
function problemOf(lines: string[]): string | undefined {
  const place = lines.findLastIndex((line) => COMPLAINT.test(line));
  const [headline, thrown, ...rest] = lines.slice(place);
  if (place < 0 || !/Error:/.test(thrown ?? "")) return headline?.replace(COMPLAINT, "").slice(0, 300);
  const details = rest.find((line) => line.startsWith("Details: "));
  return [thrown, details].join(" ").trim().slice(0, 300);
}

/** The last error says most, but for those of the shutdown that it caused. */
function reasonOf(lines: string[]): string | undefined {
  const place = lines.findLastIndex((text) => /\b(ERROR|FATAL)\b/.test(text) && !/shutdown/i.test(text));
  const headline = lines[place]?.replace(/^[\d:.]+\s+\w+\s+/, "");
  // These two say nothing; what was thrown stands in the next line.
  const isEmpty = headline !== undefined && /^(unhandledRejection|uncaughtException)/.test(headline);
  const line = isEmpty ? lines[place + 1]?.trim() : (headline ?? lines.findLast((text) => /Error:/.test(text)));
  return line?.slice(0, 300);
}
