import { fileTypeFromBuffer } from "file-type";
import { isMediaType, SNIFF_BYTES } from "../media/media-type.ts";
import { createSlots, type Slot } from "./large-body-slots.ts";
import type { DisposableSink } from "./sink.ts";

/** A larger document needs one of the few slots for large ones. */
const SMALL_BYTES = 256 * 1024;

const NOTHING = Buffer.alloc(0);

/** A sink that has the body in memory. */
export type BodySink = DisposableSink & {
  bytes: () => Buffer;
  /** The media type, where the body is media instead of a document. Then nothing of it was kept. */
  mediaType: () => string | undefined;
};

/**
 * Creates sinks that keep the bodies of documents in memory, one for each request to a host. All share the slots for
 * large bodies. A large body also waits for `room`, so that what was read before it can be written first.
 */
export function createBodySinks(): (host: string, room?: () => Promise<void>) => BodySink {
  const enter = createSlots();

  return (host, room) => {
    /** Its memory is larger than its content: `size` bytes. */
    let body: Buffer = NOTHING;
    let size = 0;
    let slot: Slot | undefined;
    let isDisposed = false;
    let mediaType: string | undefined;
    async function keepUnlessMedia(chunk: Buffer): Promise<void> {
      mediaType = await findMediaType(chunk);
      if (mediaType !== undefined) refuse();
      await keep(chunk);
    }
    function keep(chunk: Buffer): Promise<void> | void {
      append(chunk);
      if (size <= SMALL_BYTES || slot || isDisposed) return;
      slot = enter(host);
      return room ? slot.taken.then(room) : slot.taken;
    }
    /**
     * Appends to one buffer, because a list of chunks took a hundred bytes for a chunk of one byte, and kept whole read
     * buffers.
     */
    function append(chunk: Buffer): void {
      const end = size + chunk.length;
      if (size === 0) body = chunk;
      else if (end > body.length) body = Buffer.concat([body.subarray(0, size), chunk], 2 * end);
      else chunk.copy(body, size);
      size = end;
    }
    const release = () => {
      isDisposed = true;
      slot?.leave();
    };

    return {
      write(chunk) {
        // Nearly all bodies are text that comes in one piece, for which there is nothing to wait.
        return size === 0 && !isText(chunk) ? keepUnlessMedia(chunk) : keep(chunk);
      },
      dispose: () => {
        body = NOTHING;
        release();
      },
      bytes: () => {
        release();
        return body.subarray(0, size);
      },
      mediaType: () => mediaType,
    };
  };
}

/** Whether a body begins like JSON or markup. */
function isText(chunk: Buffer): boolean {
  return /^\s*[{["'<]/.test(chunk.toString("latin1", 0, 32));
}

/** The type of media where a document should be. Its first bytes tell, so the rest needn't be read. */
async function findMediaType(chunk: Buffer): Promise<string | undefined> {
  const type = await fileTypeFromBuffer(chunk.subarray(0, SNIFF_BYTES)).catch(() => undefined);
  return type && (isMediaType(type.mime) || type.mime === "application/pdf") ? type.mime : undefined;
}

function refuse(): never {
  throw Object.assign(new Error("The body is media."), { code: "MEDIA_BODY" });
}
