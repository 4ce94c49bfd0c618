import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";

const ATTEMPT_EVERY_MS = 50;
const SQLITE_BUSY = 5;

/** A lock on a file. It goes with the process that holds it, however that ends. */
type FileLock = { release: () => void };

/**
 * Takes the lock on a file, which is made where it is missing: "shared" beside others that share it, or alone. Undefined
 * where somebody else holds it.
 *
 * Our choice: the locks of an empty SQLite database, because Node has none of its own, and a file that says who holds it
 * is left behind by whoever is killed.
 */
export function tryLock(file: string, mode: "shared" | "exclusive"): FileLock | undefined {
  let database: DatabaseSync | undefined;
  try {
    const opened = (database = new DatabaseSync(file));
    // The journal in memory: beside an empty database it would be a file, which a full disk has no room for.
    opened.exec(
      mode === "exclusive" ? "pragma journal_mode = memory; begin exclusive" : "begin; select name from sqlite_schema",
    );
    // Once is enough, and more does no harm.
    return { release: () => void (opened.isOpen && opened.close()) };
  } catch (error) {
    database?.close();
    const { errcode, message } = error as Error & { errcode?: number };
    if (errcode === SQLITE_BUSY) return undefined;
    throw new Error(`${file} can't be locked (${message}). Expected a disk that has room and takes locks.`, {
      cause: error,
    });
  }
}

/** Whether nobody holds the lock now. */
export function isFree(file: string): boolean {
  const lock = tryLock(file, "exclusive");
  lock?.release();
  return lock !== undefined;
}

/** Does `work` while nobody else holds the lock on `file`, as soon as that is so. */
export async function withLock<T>(file: string, work: () => Promise<T>): Promise<T> {
  for (;;) {
    const lock = tryLock(file, "exclusive");
    if (lock) return await work().finally(lock.release);
    await sleep(ATTEMPT_EVERY_MS);
  }
}
