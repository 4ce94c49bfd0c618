import type { Hex } from "viem";
import { decodeText } from "../text.ts";
import { parseDataUri } from "../uri/data-uri.ts";
import { isErrorPage } from "../document/document.ts";
import { type Failure, failure, type Postponed, sinkFailure, STORE } from "../fetch/failure.ts";
import type { Fetched, Fetcher, NetworkSource } from "../fetch/fetcher.ts";
import { hostAndPortOf } from "../fetch/host.ts";
import { createSlots } from "../fetch/large-body-slots.ts";
import type { MediaRole } from "./media-link.ts";
import { createMediaSink, isMedia, keepMedia, type MediaSink, type StoredLink } from "./media-sink.ts";
import type { MediaStore } from "./media-store.ts";
import { isMediaType, mimeTypeOfExtension, sniffMediaType } from "./media-type.ts";
import type { ReadCallsByChain } from "../document/source-reader.ts";
import { parseUri } from "../uri/uri.ts";
import { readWeb3 } from "../document/web3-uri.ts";

/** The largest content, in bytes after decompression. */
export const MAX_MEDIA_BYTES = 50 * 1024 * 1024;

/**
 * Where the store hasn't taken so many contents in a row, it takes none: for a while nothing more is fetched for it. Each
 * of thousands of files would else be asked for again every ten minutes, as long as the store is out of order.
 */
const STORE_FAULTS = 16;
const STORE_PAUSE_MS = 60_000;

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
  let faults = 0;
  let refusal: { failure: Failure; until: number } | undefined;

  /** Learns from an outcome whether the store takes what is fetched for it. */
  function noteStore(outcome: StoredLink | Failure | Postponed): void {
    if (outcome.kind === "stored") [faults, refusal] = [0, undefined];
    if (outcome.kind !== "failure" || outcome.code !== STORE) return;
    faults++;
    if (faults >= STORE_FAULTS) refusal = { failure: outcome, until: performance.now() + STORE_PAUSE_MS };
  }

  async function fetchAndStore(
    source: NetworkSource,
    { role, contract }: { role: MediaRole; contract: Hex },
  ): Promise<StoredLink | Failure | Postponed> {
    const createSink = (host: string) => createMediaSink(store, { enter: () => enter(host) });
    const fetched = await fetchContent(fetcher, { source, role, createSink, tenant: contract });
    if (fetched.kind !== "fetched") return fetched;
    const { contentType, from } = fetched;
    return keepMedia(fetched.sink, { contentType, from, url: from, role });
  }

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
    return keepMedia(sink, { contentType, from, url: "", role });
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
        if (refusal && performance.now() < refusal.until) return refusal.failure;
        const outcome = await fetchAndStore(source, { role, contract });
        noteStore(outcome);
        return outcome;
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
