import type { ReadCalls } from "../chain/call.ts";
import { createBodySinks } from "../fetch/body-sink.ts";
import { type Failure, failure, type Postponed } from "../fetch/failure.ts";
import type { Fetcher } from "../fetch/fetcher.ts";
import { formatSource, type Source } from "../uri/uri.ts";
import { type Body, MAX_DOCUMENT_BYTES } from "./body.ts";
import { readWeb3 } from "./web3-uri.ts";

/** Reads of contracts by chain id, for documents that live on chain. */
export type ReadCallsByChain = Map<number, ReadCalls>;

export type BodyFinder = (source: Source, options: { chainId: number }) => Promise<Body | Failure | Postponed>;

/** What is found wherever URIs point. Never throws. */
export function createBodyFinder({
  fetcher,
  readCalls,
}: {
  fetcher: Fetcher;
  readCalls: ReadCallsByChain;
}): BodyFinder {
  const createSink = createBodySinks();

  return async (source, { chainId }) => {
    switch (source.kind) {
      case "none":
        return failure(source.code, source.reason);
      case "inline":
      case "data":
        return { kind: "embedded" };
      case "web3": {
        const read = await readWeb3(source.url, { readCalls, chainId });
        if (read.kind === "failure") return read;
        const base = formatSource(source);
        return { kind: "bytes", bytes: read.bytes, contentType: read.mimeType, base, from: "chain", isAuthentic: true };
      }
      default: {
        const base = formatSource(source);
        const fetched = await fetcher.fetch(source, { maxBytes: MAX_DOCUMENT_BYTES, createSink });
        if (fetched.kind === "failure" && fetched.code === "media_body") return { kind: "image", link: base };
        if (fetched.kind !== "fetched") return fetched;
        const { contentType, from, isListing, sink } = fetched;
        const bytes = sink.bytes();
        if (isListing) return failure("listing", `${from} lists files.`);
        const isAuthentic = source.kind !== "http";
        return { kind: "bytes", bytes, contentType, base: isAuthentic ? base : from, from, isAuthentic };
      }
    }
  };
}
