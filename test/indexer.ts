import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import type { Sql } from "postgres";
import { childEnvironment } from "../indexer/child-process.ts";
import { isMissingTable, type NetworkReport } from "../offchain/network.ts";
import { withSql } from "./onchain-tables.ts";

const ROOT = join(import.meta.dirname, "..");
/** Of what an indexer reports once a second. */
const POLL_MS = 200;
/** Ends what hangs. What is waited for is a fact, not a time: it takes seconds, and on a busy machine minutes. */
export const WAIT_TIMEOUT_MS = 600_000;
const STOP_TIMEOUT_MS = 60_000;

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
type Env = Record<string, string | undefined>;

const isOver = (child: ChildProcess) => child.exitCode !== null || child.signalCode !== null;

/** An indexer that runs as a process of its own. */
export type Indexer = Command & {
  /** Waits until the network's report satisfies `until`. @throws Error with the report and the output when it doesn't */
  waitUntil: (until: (status: NetworkReport) => boolean, options?: { network?: string }) => Promise<NetworkReport>;
  /** Waits until every log up to `block` is in the tables that readers see, and the network is live. */
  waitUntilLive: (block: number, options?: { network?: string }) => Promise<NetworkReport>;
};

/** Starts `bin/indexer.ts` on a database and a chain. */
export function startIndexer({
  databaseUrl,
  rpcUrl,
  env = {},
  root,
}: {
  databaseUrl: string;
  rpcUrl: string;
  env?: Env;
  root?: string;
}): Indexer {
  const startedAt = new Date();
  const command = startCommand("indexer", {
    env: { DATABASE_URL: databaseUrl, MAINNET_RPC_URL: rpcUrl, ...env },
    ...(root !== undefined && { root }),
  });
  let hasEnded = false;
  void command.ended.then(() => (hasEnded = true));

  // One connection for all the times that it is asked: to connect costs more than to ask.
  const waitUntil: Indexer["waitUntil"] = (until, { network = "mainnet" } = {}) =>
    withSql(databaseUrl, async (sql) => {
      let status: NetworkReport | undefined;
      for (const deadline = Date.now() + WAIT_TIMEOUT_MS; Date.now() < deadline; await sleep(POLL_MS)) {
        // What a process before this one reported is of no account.
        status = await readStatus(sql, { network, since: startedAt });
        if (status && until(status)) return status;
        if (hasEnded) break;
      }
      const problem = hasEnded ? "ended" : "did not get there in time";
      throw new Error(
        `The indexer ${problem}. Last report: ${JSON.stringify(status)}. It printed:\n${command.output()}`,
      );
    });
  return {
    ...command,
    waitUntil,
    waitUntilLive: (block, options) =>
      waitUntil(({ state, indexed_block }) => state === "live" && indexed_block >= block, options),
  };
}

/** What the indexer last reported of a network, undefined before it did. */
async function readStatus(
  sql: Sql,
  { network, since }: { network: string; since: Date },
): Promise<NetworkReport | undefined> {
  try {
    const [row] = await sql<NetworkReport[]>`
      select
        name,
        chain_id::float8,
        state,
        reason,
        head_block::float8,
        indexed_block::float8,
        finalized_block::float8,
        head_timestamp::float8,
        indexed_timestamp::float8,
        progress,
        logs_per_second,
        eta_seconds,
        skipped_logs::float8,
        reorgs::float8
      from offchain.network
      where name = ${network}
        and reported_at > ${since}
    `;
    return row;
  } catch (error) {
    if (isMissingTable(error)) return undefined;
    throw error;
  }
}

/** Pids of the processes that a process started and that still run. Linux only. */
export function listChildren(pid: number): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((child) => parentOf(child) === pid);
}

/** Pids of all processes below one. Linux only. */
export function listDescendants(pid: number): number[] {
  return listChildren(pid).flatMap((child) => [child, ...listDescendants(child)]);
}

function parentOf(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name in brackets may hold blanks and brackets.
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
  } catch {
    return undefined;
  }
}

/** Whether a process still runs. One that ended and that nobody has asked about doesn't. */
export function isRunning(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return !["Z", "X"].includes(stat.slice(stat.lastIndexOf(")") + 2)[0]!);
  } catch {
    return false;
  }
}
