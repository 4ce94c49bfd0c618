import { once } from "node:events";
import type { Transform } from "node:stream";
import { constants, createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from "node:zlib";
import type { Sink } from "./sink.ts";

/** More than one coding on top of another is somebody trying something. */
const MAX_CODINGS = 2;

/** What zstd may look back at: 8 MB, where a frame could ask for 128. Source: RFC 9659, 3. */
const ZSTD = { params: { [constants.ZSTD_d_windowLogMax]: 23 } };
/** Codings that look back at as much as is sent says, up to 16 MB in brotli; the others at 32 kB. Nobody asks for them. */
const LARGE_WINDOWS = new Set(["br", "zstd"]);

const STREAMS: Record<string, () => Transform> = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: () => createZstdDecompress(ZSTD),
};

/** Takes a body as it was sent, and hands it on decompressed. */
export type Decoder = Sink & {
  end: () => void;
  destroy: () => void;
  /** Until all of it has been handed on. Rejects where it isn't in its coding. */
  ended: Promise<void>;
};

/** What a Content-Encoding names, in the order in which it was done. */
export function codingsOf(contentEncoding: string): string[] {
  return contentEncoding
    .toLowerCase()
    .split(",")
    .map((coding) => coding.trim())
    .filter((coding) => coding !== "" && coding !== "identity");
}

/** Whether decoding takes megabytes of memory. */
export function hasLargeWindow(codings: string[]): boolean {
  return codings.some((coding) => LARGE_WINDOWS.has(coding));
}

/** As slow as `sink` takes it. Undefined where one of the codings isn't known. */
export function createDecoder(codings: string[], sink: Sink): Decoder | undefined {
  const makers = codings.map((coding) => (Object.hasOwn(STREAMS, coding) ? STREAMS[coding] : undefined));
  if (makers.length > MAX_CODINGS || makers.some((make) => !make)) return undefined;
  const streams = makers.toReversed().map((make) => make!());
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
