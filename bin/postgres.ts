import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isFree, tryLock, withLock } from "./file-lock.ts";
import {
  createData,
  ensureServer,
  findServer,
  findTools,
  hasSocket,
  LOOPBACK,
  rotateLog,
  stopServer,
} from "./postgres-server.ts";
import { readOrCreateSecret } from "./secret.ts";

/** Characters that pg_ctl doesn't escape in the command that it makes of a path. */
const SHELL_SIGNS = /["$`\n\r]/;

/** Within this time `npm start` has started again a server that died. */
const UNSEEN_PATIENCE_MS = 15_000;
const UNSEEN_POLL_MS = 250;

/** A Postgres that this process uses, maybe beside others. */
export type EmbeddedPostgres = {
  /** URL of a database on this server, by its Unix socket where one can be reached. */
  urlOf: (database: string) => string;
  /** The same by TCP, which it always listens on. */
  tcpUrlOf: (database: string) => string;
  isRunning: () => Promise<boolean>;
  /** Puts a log that has become large aside, in the place of the one before. */
  rotateLog: () => Promise<void>;
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
  await mkdir(path, { recursive: true });
  // A running server is known by its folder, whatever links lead there.
  const directory = await realpath(path);
  const data = dataOf(directory);
  if (SHELL_SIGNS.test(directory))
    throw new Error(
      `Postgres can't be started in ${JSON.stringify(directory)}. Expected a path without ", $, \` and line breaks.`,
    );
  const tools = await findTools(data);
  // One at a time starts or stops it; who uses it says so by a lock of its own.
  const changing = join(directory, "postgres.changing");
  const inUse = join(directory, "postgres.in-use");

  const open = async () => {
    const passwordFile = join(directory, "postgres.password");
    const password = readOrCreateSecret(passwordFile, () => randomBytes(24).toString("hex"));
    // In use but not to be seen: it died, and whoever keeps it starts it again; or it runs in another container, and a
    // second one on the same data would destroy them.
    if (!(await findServer(data)) && !isFree(inUse)) return undefined;
    if (!existsSync(data)) await createData(data, { tools, passwordFile, isDurable });
    const port = await ensureServer(data, { tools });
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
    rotateLog: () => rotateLog(data),
    restart: async () => void (await withLock(changing, () => ensureServer(data, { tools, port }))),
    stop: () =>
      withLock(changing, async () => {
        use?.release();
        const alone = tryLock(inUse, "exclusive");
        try {
          if (alone) await stopServer(data, { tools });
        } finally {
          alone?.release();
        }
      }),
  };
}

const dataOf = (directory: string) => join(directory, "postgres");

/** Whether a server was ever started with its data in `directory`. */
export const hasData = (directory: string): boolean => existsSync(dataOf(directory));

/** Tries until there is a result, for as long as a server that died may be missing. */
async function withPatience<T>(attempt: () => Promise<T | undefined>): Promise<T | undefined> {
  for (const deadline = performance.now() + UNSEEN_PATIENCE_MS; ; await sleep(UNSEEN_POLL_MS)) {
    const result = await attempt();
    if (result !== undefined || performance.now() > deadline) return result;
  }
}
