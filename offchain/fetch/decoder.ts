import { once } from "node:events";
import type { Transform } from "node:stream";
import { constants, createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from "node:zlib";
import type { Sink } from "./sink.ts";

/** More codings than this are an attack. */
const MAX_CODINGS = 2;

/** The largest zstd window is 2^23 bytes, 8 MB: a frame could ask for 128 MB. Source: RFC 9659, 3. */
const ZSTD = { params: { [constants.ZSTD_d_windowLogMax]: 23 } };
/**
 * Codings with large windows, up to 16 MB for brotli; the others have 32 kB. We don't ask for them, but some servers
 * send them.
 */
const LARGE_WINDOWS = new Set(["br", "zstd"]);

const STREAMS: Record<string, () => Transform> = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: () => createZstdDecompress(ZSTD),
};

/** Takes a body as it was sent, and passes it on decompressed. */
export type Decoder = Sink & {
  end: () => void;
  destroy: () => void;
  /** Resolves when all was passed on. Rejects where the body can't be decompressed. */
  ended: Promise<void>;
};

/**
 * The codings in a Content-Encoding, in the order in which they were applied. What is none says nothing of the body, as
 * for browsers: who stores files notes there how they were sent, or their charset (`base64`, `aws-chunked`, `utf-8`).
 */
export function codingsOf(contentEncoding: string): string[] {
  return contentEncoding
    .toLowerCase()
    .split(",")
    .map((coding) => coding.trim())
    .filter((coding) => Object.hasOwn(STREAMS, coding));
}

/** Whether decoding takes megabytes of memory. */
export function hasLargeWindow(codings: string[]): boolean {
  return codings.some((coding) => LARGE_WINDOWS.has(coding));
}

/** Creates a decoder, which is no faster than its sink. Undefined where there are too many codings. */
export function createDecoder(codings: string[], sink: Sink): Decoder | undefined {
  if (codings.length > MAX_CODINGS) return undefined;
  const streams = codings.toReversed().map((coding) => STREAMS[coding]!());
  const [input] = streams;
  if (!input) return undefined;
  const output = streams.reduce((from, to) => {
    from.on("error", (error) => to.destroy(error));
    return from.pipe(to);
  });
  return {
    write: (chunk) => (input.write(chunk) ? undefined : once(input, "drain").then(() => {})),
    end: () => void input.end(),
    destroy: () => {
      for (const stream of streams) stream.destroy();
    },
    ended: handOn(output, sink),
  };
}

async function handOn(output: Transform, sink: Sink): Promise<void> {
  for await (const chunk of output) await sink.write(chunk as Buffer);
}
