import { fileTypeFromBuffer } from "file-type";
import PQueue from "p-queue";
import type { DisposableSink } from "./sink.ts";

/** What a document may take before it needs one of the few places for large ones. */
const SMALL_BYTES = 256 * 1024;
/** Large documents at a time: eight of 5 MB, decoded and parsed, are what the memory of a worker allows. */
const LARGE_CONCURRENCY = 8;

export type BodySink = DisposableSink & {
  bytes: () => Buffer;
  /** Where the body is no document but media, its type: nothing of it was kept. */
  mediaType: () => string | undefined;
};

/** Bodies kept in memory for documents. All sinks of one creator share the room for large ones. */
export function createBodySinks(): () => BodySink {
  const large = new PQueue({ concurrency: LARGE_CONCURRENCY });

  return () => {
    const chunks: Buffer[] = [];
    let size = 0;
    let leave: (() => void) | undefined;
    let isDisposed = false;
    let mediaType: string | undefined;
    async function keepUnlessMedia(chunk: Buffer): Promise<void> {
      mediaType = await findMediaType(chunk);
      if (mediaType !== undefined) refuse();
      await keep(chunk);
    }
    function keep(chunk: Buffer): Promise<void> | void {
      chunks.push(chunk);
      size += chunk.length;
      if (size > SMALL_BYTES && leave === undefined) return enterLarge();
    }
    async function enterLarge(): Promise<void> {
      leave = await enter(large, () => isDisposed);
    }
    const release = () => {
      isDisposed = true;
      leave?.();
    };

    return {
      write(chunk) {
        // Nearly all bodies are text that comes in one piece: nothing to wait for.
        return size === 0 && !isText(chunk) ? keepUnlessMedia(chunk) : keep(chunk);
      },
      dispose: () => {
        chunks.length = 0;
        release();
      },
      bytes: () => {
        release();
        if (chunks.length !== 1) chunks.splice(0, chunks.length, Buffer.concat(chunks));
        return chunks[0]!;
      },
      mediaType: () => mediaType,
    };
  };
}

/** Waits for a place. Whoever gave up meanwhile leaves at once. */
function enter(queue: PQueue, hasLeft: () => boolean): Promise<() => void> {
  return new Promise((resolve) => {
    void queue.add(
      () =>
        new Promise<void>((leave) => {
          resolve(leave);
          if (hasLeft()) leave();
        }),
    );
  });
}

/** What starts like JSON or markup. */
function isText(chunk: Buffer): boolean {
  return /^\s*[{["'<]/.test(chunk.toString("latin1", 0, 32));
}

/** A picture, film or sound where a document should be: told by its first bytes, so that the rest needn't be read. */
async function findMediaType(chunk: Buffer): Promise<string | undefined> {
  const type = await fileTypeFromBuffer(chunk.subarray(0, 4100)).catch(() => undefined);
  return type !== undefined && /^(?:image|video|audio|model)\/|^application\/pdf$/.test(type.mime)
    ? type.mime
    : undefined;
}

function refuse(): never {
  throw Object.assign(new Error("The body is media."), { code: "MEDIA_BODY" });
}
