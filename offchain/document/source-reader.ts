import type { ReadCalls } from "../chain/call.ts";
import { charsetOf } from "../content-type.ts";
import { decodeText } from "../text.ts";
import { type BodySink, createBodySinks } from "../fetch/body-sink.ts";
import { parseDataUri } from "../uri/data-uri.ts";
import { type Document, MAX_DOCUMENT_BYTES, mediaDocument, toDocument } from "./document.ts";
import { type Failure, failure, type Postponed } from "../fetch/failure.ts";
import type { Fetched, Fetcher, NetworkSource } from "../fetch/fetcher.ts";
import { hostAndPortOf } from "../fetch/host.ts";
import { formatSource, type Source } from "../uri/uri.ts";
import { readWeb3 } from "./web3-uri.ts";

/** A document and where it came from: a URL, "data" or "chain". */
type ReadDocument = (Document & { from: string }) | Failure;
type DocumentResult = ReadDocument | Postponed;

/** Readers of contracts by chain id, for documents on chain. */
export type ReadCallsByChain = Map<number, ReadCalls>;

/** Reads the document at a source. Failures are data. */
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
        const read = async (fetched: Fetched<BodySink>): Promise<ReadDocument> => {
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
        };
        const createRoomySink = (host: string) => createSink(host, room);
        return fetchDocument(fetcher, { source, read, createSink: createRoomySink, tenant: contract });
      }
    }
  };
}

/**
 * Fetches from wherever a source is served. What is no document is passed over for what another gateway has: one that
 * refuses to serve anybody may say so with status 200. So is a page: once a gateway's domain is another one's, it
 * answers everything with a page. A page counts where there is nothing else.
 */
async function fetchDocument(
  fetcher: Fetcher,
  {
    source,
    read,
    ...options
  }: {
    source: NetworkSource;
    read: (fetched: Fetched<BodySink>) => Promise<ReadDocument>;
    createSink: (host: string) => BodySink;
    tenant: string | undefined;
  },
): Promise<DocumentResult> {
  const documents = new Map<BodySink, ReadDocument>();
  let pages = 0;
  async function refuse(content: Fetched<BodySink>, { isPageWanted }: { isPageWanted: boolean }) {
    const document = await read(content);
    const host = hostAndPortOf(content.from);
    if (document.kind === "failure") return { ...document, host };
    if (document.isPage && !isPageWanted) {
      pages++;
      return failure("bad_json", `${host} answers with a page.`, { host });
    }
    documents.set(content.sink, document);
    return undefined;
  }
  const fetch = (wanted: { isPageWanted: boolean }) =>
    fetcher.fetch(source, {
      ...options,
      maxBytes: MAX_DOCUMENT_BYTES,
      refuse: (content: Fetched<BodySink>) => refuse(content, wanted),
    });
  let fetched = await fetch({ isPageWanted: source.kind === "http" });
  if (fetched.kind === "failure" && pages > 0) fetched = await fetch({ isPageWanted: true });
  if (fetched.kind !== "fetched") return fetched;
  // Where media came nobody was asked whether to refuse it.
  return documents.get(fetched.sink) ?? read(fetched);
}

function tooLarge(bytes: Buffer, where: string): Failure {
  return failure("too_large", `${bytes.length} bytes in ${where}.`);
}

function withOrigin(document: Document | Failure, from: string): ReadDocument {
  return document.kind === "failure" ? document : { ...document, from };
}
