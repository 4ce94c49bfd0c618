import type { Hex } from "viem";
import { charsetOf } from "../content-type.ts";
import { decodeText } from "../text.ts";
import { parseDataUri } from "../uri/data-uri.ts";
import { isErrorPage } from "../document/document.ts";
import { type Failure, failure, type Postponed, sinkFailure, storeFailure } from "../fetch/failure.ts";
import type { Fetched, Fetcher, NetworkSource } from "../fetch/fetcher.ts";
import { hostAndPortOf } from "../fetch/host.ts";
import { createSlots, type Slot } from "../fetch/large-body-slots.ts";
import type { MediaRole } from "./media-link.ts";
import type { MediaStore, MediaWriter } from "./media-store.ts";
import {
  isMediaType,
  type MediaType,
  mimeTypeOfExtension,
  sniffMarkup,
  sniffMediaType,
  SNIFF_BYTES,
} from "./media-type.ts";
import type { ReadCallsByChain } from "../document/source-reader.ts";
import type { DisposableSink } from "../fetch/sink.ts";
import { sanitizeSvg } from "./svg.ts";
import { parseUri } from "../uri/uri.ts";
import { readWeb3 } from "../document/web3-uri.ts";

/** The largest content, in bytes after decompression. */
export const MAX_MEDIA_BYTES = 50 * 1024 * 1024;
/**
 * Limits for drawings, which are cleaned in memory. Only some drawings above the smaller size are in memory at once.
 */
const MAX_SVG_BYTES = 5 * 1024 * 1024;
const SMALL_SVG_BYTES = 256 * 1024;

/** The encoding in an XML declaration. It is removed, because drawings are stored in UTF-8. */
const ENCODING = /^(<\?xml\b[^>]*?)\sencoding\s*=\s*(?:"([^">]*)"|'([^'>]*)')/;

/** Content in the store, by its key. */
export type StoredLink = { kind: "stored"; key: string; mimeType: string; from: string };

/** Fetches what a link leads to into the store. Failures are data. */
export type MediaFetcher = (
  link: string,
  options: { chainId: number; role: MediaRole; contract: Hex },
) => Promise<StoredLink | Failure | Postponed>;

/** Creates a function that fetches links into the store. It never throws. */
export function createMediaFetcher({
  fetcher,
  store,
  readCalls,
}: {
  fetcher: Fetcher;
  store: MediaStore;
  readCalls: ReadCallsByChain;
}): MediaFetcher {
  const enter = createSlots();

  async function storeBytes(
    bytes: Buffer,
    { contentType, from, role }: { contentType: string | undefined; from: string; role: MediaRole },
  ) {
    if (bytes.length > MAX_MEDIA_BYTES) return failure("too_large", `${bytes.length} bytes.`);
    const sink = createMediaSink(store);
    try {
      await sink.write(bytes);
    } catch (error) {
      sink.dispose();
      return sinkFailure(error, { host: "" });
    }
    return finish(sink, { contentType, from, url: "", role });
  }

  return async (link, { chainId, role, contract }) => {
    const source = parseUri(link);
    switch (source.kind) {
      case "none":
        return failure(source.code, source.reason);
      case "inline":
        return storeBytes(Buffer.from(source.text), { contentType: undefined, from: "data", role });
      case "data": {
        const data = parseDataUri(source.uri);
        if (!data) return failure("bad_uri", "A data: URI without a comma.");
        return storeBytes(data.bytes, { contentType: data.mimeType, from: "data", role });
      }
      case "web3": {
        const read = await readWeb3(source.url, { readCalls, chainId });
        if (read.kind !== "content") return read;
        return storeBytes(read.bytes, { contentType: read.mimeType, from: "chain", role });
      }
      default: {
        const createSink = (host: string) => createMediaSink(store, { enter: () => enter(host) });
        const fetched = await fetchContent(fetcher, { source, role, createSink, tenant: contract });
        if (fetched.kind !== "fetched") return fetched;
        return finish(fetched.sink, { contentType: fetched.contentType, from: fetched.from, url: fetched.from, role });
      }
    }
  };
}

/**
 * Fetches from wherever a source is served. One page is passed over where a project's own gateway is asked first: once
 * its domain is another one's, it answers everything with a page. It counts where another gateway has a page, too, or
 * none has anything.
 */
async function fetchContent(
  fetcher: Fetcher,
  {
    source,
    role,
    ...options
  }: { source: NetworkSource; role: MediaRole; createSink: (host: string) => MediaSink; tenant: string },
): Promise<Fetched<MediaSink> | Failure | Postponed> {
  const passable = source.kind !== "http" && source.origin !== undefined ? 1 : 0;
  let pages = 0;
  const isPageWanted = () => role === "animation" && !namesMedia(source) && ++pages > passable;
  const refuse = (content: Fetched<MediaSink>) => refuseOther(content, { isPageWanted });
  const fetch = () => fetcher.fetch(source, { ...options, maxBytes: MAX_MEDIA_BYTES, refuse });
  const fetched = await fetch();
  return fetched.kind === "failure" && pages > 0 ? fetch() : fetched;
}

type MediaSink = DisposableSink & {
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
function createMediaSink(store: MediaStore, { enter }: { enter?: () => Slot } = {}): MediaSink {
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

/** Ends a sink. A fault of the store is a failure like any other, and tried again with the usual pauses. */
async function finish(sink: MediaSink, content: Content): Promise<StoredLink | Failure> {
  try {
    return await keep(sink, content);
  } catch (error) {
    sink.dispose();
    return storeFailure(error);
  } finally {
    sink.forgetMarkup();
  }
}

async function keep(sink: MediaSink, { contentType, from, url, role }: Content): Promise<StoredLink | Failure> {
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
 * Refuses a gateway's page, and what else is no media, because another gateway may have the content: one that refuses to
 * serve anybody may say so with status 200.
 */
async function refuseOther(
  { sink, from, isListing, contentType }: Fetched<MediaSink>,
  { isPageWanted }: { isPageWanted: () => boolean },
): Promise<Failure | undefined> {
  const host = hostAndPortOf(from);
  if (isListing) return failure("listing", `${from} lists files.`, { host });
  const type = await sniffMediaType(sink.head(), { contentType, url: from });
  const isWanted =
    type.mimeType === "text/html" ? !isErrorPage(decodeText(sink.head())) && isPageWanted() : isMedia(type, "image");
  return isWanted ? undefined : failure("not_media", `${from.slice(0, 100)} is ${type.mimeType}.`, { host });
}

/**
 * Whether the path has the extension of an image, film, sound or model. A page in its place says that there is none:
 * servers of an application have its page for all that they lack, with status 200.
 */
function namesMedia(source: NetworkSource): boolean {
  const path = source.kind === "http" ? new URL(source.url).pathname : source.path.split("?", 1)[0]!;
  const [, extension = ""] = /\.([a-z\d]{2,5})$/i.exec(path.slice(-6)) ?? [];
  return isMediaType(mimeTypeOfExtension(extension.toLowerCase()));
}

/**
 * Whether content can be media. A page in place of an image mostly says that there is none, and text is never media.
 */
function isMedia({ mimeType }: MediaType, role: MediaRole): boolean {
  if (mimeType === "text/html") return role === "animation";
  return isMediaType(mimeType) || mimeType === "application/pdf";
}
