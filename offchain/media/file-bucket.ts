import { mkdir, open, rename, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import type { ResolvedRange } from "./byte-range.ts";

/** A place for whole files. `path` is a local file that may be moved away. */
export type Bucket = {
  /** Whether the file is there, with this size. */
  has: (key: string, file: { size: number }) => Promise<boolean>;
  put: (key: string, file: { path: string; size: number }) => Promise<void>;
  size: (key: string) => Promise<number | undefined>;
  read: (key: string, range: ResolvedRange) => Promise<Readable>;
};

/** Keeps files in 256 folders, by the first byte of their hash. */
export function createFileBucket(directory: string): Bucket {
  const pathOf = (key: string) => join(directory, key.slice(0, 2), key);
  return {
    // A file of before a crash may have been cut.
    has: async (key, { size }) => (await sizeOf(pathOf(key))) === size,
    async put(key, { path }) {
      await mkdir(dirname(pathOf(key)), { recursive: true });
      // Moved in one step, so that readers see the whole file or none. Flushed first, as nobody writes it again after a
      // crash.
      await flush(path);
      await rename(path, pathOf(key));
      await flush(dirname(pathOf(key)));
    },
    size: (key) => sizeOf(pathOf(key)),
    // Opened before there is a stream: one that is given up while it opens its file by itself would end the process where
    // that fails.
    async read(key, { start, end }) {
      const file = await open(pathOf(key));
      return file.createReadStream(end < start ? {} : { start, end });
    },
  };
}

/** Undefined where there is no such file. @throws Error where the disk doesn't say */
async function sizeOf(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** Writes a file, or a folder's list of names, to the disk. */
async function flush(path: string): Promise<void> {
  const handle = await open(path);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
