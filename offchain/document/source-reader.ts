import type { ReadCalls } from "../chain/call.ts";
import { charsetOf, decodeText } from "../bytes.ts";
import { type BodySink, createBodySinks } from "../fetch/body-sink.ts";
import { parseDataUri } from "../uri/data-uri.ts";
import { type Document, isErrorPage, MAX_DOCUMENT_BYTES, mediaDocument, toDocument } from "./document.ts";
import { type Failure, failure, type Postponed } from "../fetch/failure.ts";
import type { Fetched, Fetcher, NetworkSource } from "../fetch/fetcher.ts";
import { hostAndPortOf } from "../fetch/host.ts";
import { SNIFF_BYTES, sniffMarkup } from "../media/media-type.ts";
import { formatSource, type Source } from "../uri/uri.ts";
import { readWeb3 } from "./web3-uri.ts";

/** A document and where it came from: a URL, "data" or "chain". */
type DocumentResult = (Document & { from: string }) | Failure | Postponed;

/** Readers of contracts by chain id, for documents on chain. */
export type ReadCallsByChain = Map<number, ReadCalls>;

export type DocumentReader = (
  source: Source,
  options: {
    chainId: number;
    hexTokenId?: string | undefined;
    /** The contract whose document it is: what is slow for one holds up no other one. */
    contract?: string;
    /** A large document waits for this before it is held in memory. */
    room?: () => Promise<void>;
  },
) => Promise<DocumentResult>;

/** Creates a reader of documents, wherever their URIs point. It never throws. */
export function createDocumentReader({
  fetcher,
  readCalls,
}: {
  fetcher: Fetcher;
  readCalls: ReadCallsByChain;
}): DocumentReader {
  const createSink = createBodySinks();

  return async (source, { chainId, hexTokenId, contract, room }) => {
    const base = formatSource(source);
    switch (source.kind) {
      case "none":
        return failure(source.code, source.reason);
      case "inline": {
        const bytes = Buffer.from(source.text);
        if (bytes.length > MAX_DOCUMENT_BYTES) return tooLarge(bytes, "a URI");
        const received = { texts: [source.text], bytes, contentType: undefined, base: "", isAuthentic: true };
        return withOrigin(await toDocument(received, { hexTokenId }), "data");
      }
      case "data": {
        const data = parseDataUri(source.uri);
        if (!data) return failure("bad_uri", "A data: URI without a comma.");
        if (data.bytes.length > MAX_DOCUMENT_BYTES) return tooLarge(data.bytes, "a data: URI");
        const received = { texts: data.texts, bytes: data.bytes, contentType: data.mimeType, base, isAuthentic: true };
        return withOrigin(await toDocument(received, { hexTokenId }), "data");
      }
      case "web3": {
        const read = await readWeb3(source.url, { readCalls, chainId });
        if (read.kind !== "content") return read;
        if (read.bytes.length > MAX_DOCUMENT_BYTES) return tooLarge(read.bytes, "a contract's answer");
        const received = {
          texts: [decodeText(read.bytes)],
          bytes: read.bytes,
          contentType: read.mimeType,
          base,
          isAuthentic: true,
        };
        return withOrigin(await toDocument(received, { hexTokenId }), "chain");
      }
      default: {
        const fetched = await fetchDocument(fetcher, {
          source,
          maxBytes: MAX_DOCUMENT_BYTES,
          createSink: (host) => createSink(host, room),
          tenant: contract,
        });
        if (fetched.kind !== "fetched") return fetched;
        const { contentType, from } = fetched;
        const mimeType = fetched.sink.mediaType();
        if (mimeType !== undefined) return { ...mediaDocument(base, { mimeType }), from };
        const bytes = fetched.sink.bytes();
        if (fetched.isListing) return failure("listing", `${from} lists files.`);
        const texts = [decodeText(bytes, { charset: charsetOf(contentType) })];
        // Of a gateway's content the base is the content itself, whichever gateway had it; else the URL after
        // redirects.
        const link = source.kind === "http" ? from : base;
        const received = { texts, bytes, contentType, base: link, isAuthentic: false };
        return withOrigin(await toDocument(received, { hexTokenId }), from);
      }
    }
  };
}

/**
 * Fetches from wherever a source is served. A page of one gateway is passed over for the document of another: once a
 * gateway's domain is another one's, it answers everything with a page. It counts where there is nothing else.
 */
async function fetchDocument(
  fetcher: Fetcher,
  {
    source,
    ...options
  }: {
    source: NetworkSource;
    maxBytes: number;
    createSink: (host: string) => BodySink;
    tenant: string | undefined;
  },
): Promise<Fetched<BodySink> | Failure | Postponed> {
  let pages = 0;
  if (source.kind !== "http") {
    const refuse = (content: Fetched<BodySink>) => {
      const refusal = refusePage(content);
      if (refusal) pages++;
      return refusal;
    };
    const fetched = await fetcher.fetch(source, { ...options, refuse });
    if (pages === 0 || fetched.kind === "fetched") return fetched;
  }
  return fetcher.fetch(source, { ...options, refuse: refuseErrorPage });
}

/** Refuses a page, whatever it says. */
function refusePage({ sink, from, isListing }: Fetched<BodySink>): Failure | undefined {
  const bytes = sink.bytes();
  // Nearly all documents are JSON: a quick check.
  if (isListing || !/^[\s\u00ef\u00bb\u00bf]*</.test(bytes.toString("latin1", 0, 64))) return undefined;
  if (sniffMarkup(bytes.subarray(0, SNIFF_BYTES))?.mimeType !== "text/html") return undefined;
  const host = hostAndPortOf(from);
  return failure("bad_json", `${host} answers with a page.`, { host });
}

/** Refuses an error page, even if its status is 200. */
function refuseErrorPage(content: Fetched<BodySink>): Failure | undefined {
  const refusal = refusePage(content);
  return refusal && isErrorPage(decodeText(content.sink.bytes(), { charset: charsetOf(content.contentType) }))
    ? refusal
    : undefined;
}

function tooLarge(bytes: Buffer, where: string): Failure {
  return failure("too_large", `${bytes.length} bytes in ${where}.`);
}

function withOrigin(document: Document | Failure, from: string): DocumentResult {
  return document.kind === "failure" ? document : { ...document, from };
}
