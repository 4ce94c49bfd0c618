import { createHash, type Hash, randomUUID } from "node:crypto";
import { createWriteStream, type WriteStream } from "node:fs";
import { mkdir, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { finished } from "node:stream/promises";
import type { Config } from "../../config.ts";
import type { ByteRange, ResolvedRange } from "./byte-range.ts";
import { resolveRange } from "./byte-range.ts";
import { type Bucket, createFileBucket } from "./file-bucket.ts";
import { createS3Bucket } from "./s3-bucket.ts";

/**
 * A temporary file that wasn't written to for so long is abandoned: writing and sending a file take a minute at most.
 */
const ABANDONED_MS = 3_600_000;

/** Stored content, or a range of it. `range` is set where it isn't the whole. */
type StoredMedia = { stream: Readable; size: number; length: number; range?: ResolvedRange };

/** The store of images, films and pages, by the hash of their content. */
export type MediaStore = {
  /** Undefined where there is no such content. */
  get: (key: string, range?: ByteRange) => Promise<StoredMedia | "unsatisfiable" | undefined>;
  /** Whether there is content under this key. @throws Error where the store doesn't say */
  has: (key: string) => Promise<boolean>;
  /** Creates a writer for content as it arrives. Nothing is stored before `keep`. */
  createWriter: () => MediaWriter;
  /** Stores content without a byte. @throws Error where the store takes none */
  check: () => Promise<void>;
  /** Removes temporary files of processes that ended without cleaning up. */
  removeAbandoned: () => Promise<void>;
};

/** Takes content piece by piece, until it is kept or given up. */
export type MediaWriter = {
  write: (chunk: Buffer) => Promise<void>;
  /** Stores what was written, and returns its key, which has the hash of the content. Equal content is stored once. */
  keep: (extension: string) => Promise<string>;
  dispose: () => void;
};

/** The configured store: files below DATA_DIR, or an S3-compatible store. */
export function createMediaStore(config: Pick<Config, "dataDir" | "mediaStore" | "s3">): MediaStore {
  const directory = join(config.dataDir, "media");
  const bucket = config.mediaStore === "s3" ? createS3Bucket(config.s3) : createFileBucket(directory);
  const temporary = join(directory, "incoming");

  return {
    async get(key, asked) {
      const size = await bucket.size(key);
      if (size === undefined) return undefined;
      const range = resolveRange(asked, size);
      if (range === "unsatisfiable") return range;
      const whole = { start: 0, end: size - 1 };
      const stream = await bucket.read(key, range ?? whole);
      return { stream, size, length: range ? range.end - range.start + 1 : size, ...(range && { range }) };
    },
    has: async (key) => (await bucket.size(key)) !== undefined,
    createWriter: () => createFileWriter({ bucket, temporary }),
    async check() {
      await createFileWriter({ bucket, temporary }).keep("txt");
    },
    async removeAbandoned() {
      const names = await readdir(temporary).catch(() => []);
      for (const path of names.map((name) => join(temporary, name))) {
        const found = await stat(path).catch(() => undefined);
        if (found && found.mtimeMs < Date.now() - ABANDONED_MS) await rm(path, { force: true }).catch(() => {});
      }
    },
  };
}

/** Whether text is a key: SHA-256 in hex, a dot, an extension. */
export function isMediaKey(text: string): boolean {
  return /^[\da-f]{64}\.[a-z\d]{1,8}$/.test(text);
}

/** Writes and hashes into a temporary file, so that content of 50 MB is never in memory. */
function createFileWriter({ bucket, temporary }: { bucket: Bucket; temporary: string }): MediaWriter {
  const path = join(temporary, randomUUID());
  const hash: Hash = createHash("sha256");
  let size = 0;
  let opened: Promise<WriteStream> | undefined;

  async function openStream() {
    await mkdir(temporary, { recursive: true });
    const stream = createWriteStream(path);
    // `finished` or the next write report the error. Without this listener it would end the process.
    stream.on("error", () => {});
    return stream;
  }
  const remove = () => rm(path, { force: true }).catch(() => {});

  return {
    async write(chunk) {
      opened ??= openStream();
      const stream = await opened;
      // After an error the stream is closed, and neither event below would come.
      if (stream.errored) throw stream.errored;
      hash.update(chunk);
      size += chunk.length;
      if (stream.write(chunk)) return;
      await new Promise<void>((resolve) => {
        const goOn = () => {
          stream.off("drain", goOn).off("close", goOn);
          resolve();
        };
        stream.on("drain", goOn).on("close", goOn);
      });
    },
    async keep(extension) {
      opened ??= openStream();
      const stream = await opened;
      const key = `${hash.digest("hex")}.${extension}`;
      try {
        stream.end();
        // A full disk is noticed here at the latest.
        await finished(stream);
        if (!(await bucket.has(key, { size }))) await bucket.put(key, { path, size });
      } finally {
        await remove();
      }
      return key;
    },
    dispose() {
      // If it couldn't be opened there is nothing to remove.
      void opened?.then(
        (stream) => {
          stream.destroy();
          return remove();
        },
        () => {},
      );
    },
  };
}
