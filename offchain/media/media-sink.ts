import { charsetOf } from "../content-type.ts";
import { type Failure, failure, storeFailure } from "../fetch/failure.ts";
import type { Slot } from "../fetch/large-body-slots.ts";
import type { DisposableSink } from "../fetch/sink.ts";
import { decodeText } from "../text.ts";
import type { MediaRole } from "./media-link.ts";
import type { MediaStore, MediaWriter } from "./media-store.ts";
import { isMediaType, type MediaType, sniffMarkup, sniffMediaType, SNIFF_BYTES } from "./media-type.ts";
import { sanitizeSvg } from "./svg.ts";

/**
 * Limits for drawings, which are cleaned in memory. Only some drawings above the smaller size are in memory at once.
 */
const MAX_SVG_BYTES = 5 * 1024 * 1024;
const SMALL_SVG_BYTES = 256 * 1024;

/** The encoding in an XML declaration. It is removed, because drawings are stored in UTF-8. */
const ENCODING = /^(<\?xml\b[^>]*?)\sencoding\s*=\s*(?:"([^">]*)"|'([^'>]*)')/;

/** Content in the store, by its key. */
export type StoredLink = { kind: "stored"; key: string; mimeType: string; from: string };

/** What a body is written to. `head`: its first bytes. `svg`: all of it, where it is a drawing. */
export type MediaSink = DisposableSink & {
  head: () => Buffer;
  svg: () => Buffer;
  writer: MediaWriter;
  fresh: () => MediaWriter;
  forgetMarkup: () => void;
  dispose: () => void;
};

/**
 * A sink that keeps the first bytes, and a whole drawing, in memory, and writes the rest to disk. `enter`: large
 * drawings wait for a slot, unless they are in memory already.
 */
export function createMediaSink(store: MediaStore, { enter }: { enter?: () => Slot } = {}): MediaSink {
  const writer = store.createWriter();
  let head: Buffer = Buffer.alloc(0);
  let markup: Buffer[] | undefined = [];
  let markupSize = 0;
  let slot: Slot | undefined;
  let isDisposed = false;
  function forgetMarkup(): void {
    markup = undefined;
    slot?.leave();
  }
  return {
    async write(chunk) {
      if (head.length < SNIFF_BYTES) {
        head = Buffer.concat([head, chunk.subarray(0, SNIFF_BYTES - head.length)]);
        // With fewer bytes it may be only white space, or half of a name.
        if (head.length === SNIFF_BYTES && sniffMarkup(head)?.mimeType !== "image/svg+xml") forgetMarkup();
      }
      markupSize += chunk.length;
      if (markup && markupSize > MAX_SVG_BYTES) refuseDrawing();
      markup?.push(chunk);
      if (markup && markupSize > SMALL_SVG_BYTES) {
        slot ??= enter?.();
        await slot?.taken;
        if (isDisposed) return;
      }
      await writer.write(chunk);
    },
    head: () => head,
    svg: () => Buffer.concat(markup ?? []),
    writer,
    fresh: store.createWriter,
    forgetMarkup,
    dispose: () => {
      isDisposed = true;
      forgetMarkup();
      writer.dispose();
    },
  };
}

type Content = { contentType: string | undefined; from: string; url: string; role: MediaRole };

/**
 * Ends a sink: its content is in the store then, a drawing cleaned. A fault of the store is a failure like any other, and
 * tried again with the usual pauses.
 */
export async function keepMedia(sink: MediaSink, content: Content): Promise<StoredLink | Failure> {
  try {
    return await sniffAndKeep(sink, content);
  } catch (error) {
    sink.dispose();
    return storeFailure(error);
  } finally {
    sink.forgetMarkup();
  }
}

async function sniffAndKeep(sink: MediaSink, { contentType, from, url, role }: Content): Promise<StoredLink | Failure> {
  const type = await sniffMediaType(sink.head(), { contentType, url });
  if (!isMedia(type, role)) {
    sink.dispose();
    return failure("not_media", `${from.slice(0, 100)} is ${type.mimeType}.`);
  }
  if (type.mimeType !== "image/svg+xml") {
    const key = await sink.writer.keep(type.extension);
    return { kind: "stored", key, mimeType: type.mimeType, from };
  }
  const bytes = sink.svg();
  const [, , double, single] = ENCODING.exec(bytes.toString("latin1", 0, SNIFF_BYTES)) ?? [];
  // Its author knew its encoding. A server has one for all its files.
  const text = decodeText(bytes, { charset: double ?? single ?? charsetOf(contentType) });
  const isUtf8 = text === bytes.toString();
  const clean = isUtf8 ? sanitizeSvg(text) : sanitizeSvg(text).replace(ENCODING, "$1");
  if (isUtf8 && clean === text) {
    const key = await sink.writer.keep(type.extension);
    return { kind: "stored", key, mimeType: type.mimeType, from };
  }
  sink.dispose();
  return { kind: "stored", key: await keepText(sink, clean), mimeType: type.mimeType, from };
}

async function keepText({ fresh }: MediaSink, text: string): Promise<string> {
  const writer = fresh();
  await writer.write(Buffer.from(text));
  return writer.keep("svg");
}

/** Refuses the body, so that the rest isn't read. */
function refuseDrawing(): never {
  throw Object.assign(new Error(`A drawing of more than ${MAX_SVG_BYTES} bytes.`), { code: "TOO_LARGE" });
}

/**
 * Whether content can be media. A page in place of an image mostly says that there is none, and text is never media.
 */
export function isMedia({ mimeType }: MediaType, role: MediaRole): boolean {
  if (mimeType === "text/html") return role === "animation";
  return isMediaType(mimeType) || mimeType === "application/pdf";
}
