import { createReadStream, existsSync } from "node:fs";
import { mkdir, open, rename, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import type { ResolvedRange } from "./byte-range.ts";

/** Where whole files go. `path` is a file that may be taken away. */
export type Bucket = {
  /** Whether the whole of a file is there. */
  has: (key: string, file: { size: number }) => Promise<boolean>;
  put: (key: string, file: { path: string; size: number }) => Promise<void>;
  size: (key: string) => Promise<number | undefined>;
  read: (key: string, range: ResolvedRange) => Promise<Readable>;
};

/** Files in 256 folders, by the first byte of the hash. */
export function createFileBucket(directory: string): Bucket {
  const pathOf = (key: string) => join(directory, key.slice(0, 2), key);
  return {
    has: async (key) => existsSync(pathOf(key)),
    async put(key, { path }) {
      await mkdir(dirname(pathOf(key)), { recursive: true });
      // In one step: a reader sees the whole file or none. So too after a crash: nobody writes it again.
      await flush(path);
      await rename(path, pathOf(key));
      await flush(dirname(pathOf(key)));
    },
    size: async (key) => {
      const found = await stat(pathOf(key)).catch(() => undefined);
      return found?.size;
    },
    read: async (key, { start, end }) =>
      end < start ? createReadStream(pathOf(key)) : createReadStream(pathOf(key), { start, end }),
  };
}

/** Brings a file, or the names in a folder, to the disk. */
async function flush(path: string): Promise<void> {
  const handle = await open(path);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
