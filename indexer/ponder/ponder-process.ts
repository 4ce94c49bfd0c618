import { type ChildProcess, fork } from "node:child_process";
import { join } from "node:path";
import { isLogged, type LogLevel, type Network } from "../../config.ts";
import { PONDER_MAIN } from "./bundle.ts";
import { childEnvironment, endProcess } from "../child-process.ts";
import { ponderDatabaseUrl } from "./ponder-database.ts";

const ROOT = join(import.meta.dirname, "../..");

/** Enough to follow the head, and to catch up after weeks. */
const HEAP_MB = 384;

/** Ponder ends itself within 5 s of SIGTERM. */
const STOP_TIMEOUT_MS = 8_000;

/** How many of its last lines are kept to say why it ended. */
const KEPT_LINES = 100;

/** Ponder tries again within half a minute and complains each time: a problem is over after so long without a complaint. */
const COMPLAINS_EVERY_MS = 40_000;

const COMPLAINT = /^[\d:.]+\s+(WARN|ERROR|FATAL)\s+/;

/** A running Ponder that writes one deployment. */
type PonderProcess = {
  /** Settles when it has ended, with why. */
  ended: Promise<string>;
  /** What it last complained of, while it goes on complaining. */
  problem: () => string | undefined;
  /** How many logs it has handled since its start. Undefined where it doesn't answer, as one that is starting or busy. */
  countEvents: () => Promise<number | undefined>;
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
  finalizedBlock,
  port,
  logLevel,
}: {
  network: Network;
  chainId: number;
  databaseUrl: string;
  rpcUrl: string;
  schemaName: string;
  /** Where history's tables are made, if there is a history. */
  historySchema: string | undefined;
  firstBlock: number;
  /** What the Ponder before it had taken for final, 0 where there was none. */
  finalizedBlock: number;
  port: number;
  logLevel: LogLevel;
}): PonderProcess {
  const prefix = network.toUpperCase();
  const child = fork(PONDER_MAIN, ["start", "--root", ROOT, "--schema", schemaName, "--hostname", "127.0.0.1"], {
    cwd: ROOT,
    execArgv: [
      `--max-old-space-size=${HEAP_MB}`,
      "--max-semi-space-size=8",
      "--import",
      // Not its path, which may have signs of URLs.
      new URL("ponder-preload.ts", import.meta.url).href,
    ],
    stdio: ["ignore", "pipe", "pipe", "ipc"],
    // A process group of its own: on Ctrl-C we end it in order.
    detached: true,
    env: {
      ...childEnvironment(),
      NODE_ENV: "production",
      PORT: String(port),
      DATABASE_URL: ponderDatabaseUrl(databaseUrl),
      INDEXER_NETWORK: network,
      INDEXER_FIRST_BLOCK: String(firstBlock),
      INDEXER_FINALIZED_BLOCK: String(finalizedBlock),
      INDEXER_HISTORY_SCHEMA: historySchema,
      [`${prefix}_CHAIN_ID`]: String(chainId),
      [`${prefix}_RPC_URL`]: rpcUrl,
      PONDER_LOG_LEVEL: ponderLogLevel(logLevel),
      PONDER_TELEMETRY_DISABLED: "1",
      NO_COLOR: "1",
    },
  });
  const { lines, complainedAt } = keepLines(child, { isShown: isLogged("debug", logLevel) });
  const ended = new Promise<string>((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("exit", (code, signal) => resolve(reasonOf(lines) ?? `Ponder ended with ${signal ?? `code ${code}`}`));
  });
  return {
    ended,
    problem: () => (performance.now() - complainedAt() < COMPLAINS_EVERY_MS ? problemOf(lines) : undefined),
    countEvents: () => readCompletedEvents(port),
    stop: () => endProcess(child, { ended, withinMs: STOP_TIMEOUT_MS }),
  };
}

/** At info Ponder logs a line for every block, which is debug to us, and a summary that we report ourselves. */
function ponderLogLevel(logLevel: LogLevel): string {
  if (isLogged("debug", logLevel)) return logLevel;
  return isLogged("warn", logLevel) ? "warn" : "error";
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

/** The last complaint: the error below its headline, with the node's own words, or else the headline. */
function problemOf(lines: string[]): string | undefined {
  const place = lines.findLastIndex((line) => COMPLAINT.test(line));
  const [headline, thrown, ...rest] = lines.slice(place);
  if (place < 0 || !/Error:/.test(thrown ?? "")) return headline?.replace(COMPLAINT, "").slice(0, 300);
  const details = rest.find((line) => line.startsWith("Details: "));
  return [thrown, details].join(" ").trim().slice(0, 300);
}

/** The last error that isn't about the shutdown itself. */
function reasonOf(lines: string[]): string | undefined {
  const place = lines.findLastIndex((text) => /\b(ERROR|FATAL)\b/.test(text) && !/shutdown/i.test(text));
  const headline = lines[place]?.replace(/^[\d:.]+\s+\w+\s+/, "");
  // These two headlines say nothing: the error stands in the next line.
  const isEmpty = headline !== undefined && /^(unhandledRejection|uncaughtException)/.test(headline);
  const line = isEmpty ? lines[place + 1]?.trim() : (headline ?? lines.findLast((text) => /Error:/.test(text)));
  return line?.slice(0, 300);
}

async function readCompletedEvents(port: number): Promise<number | undefined> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/metrics`, { signal: AbortSignal.timeout(1_000) });
    const counts = (await response.text()).matchAll(/^ponder_indexing_completed_events\{[^}]*\} (\d+)/gm);
    return counts.reduce((sum, [, count]) => sum + Number(count), 0);
  } catch {
    return undefined;
  }
}
