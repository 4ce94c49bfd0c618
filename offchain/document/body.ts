import { charsetOf, decodeText } from "../bytes.ts";
import { type Failure, failure } from "../fetch/failure.ts";
import { parseDataUri } from "../uri/data-uri.ts";
import { parseUri } from "../uri/uri.ts";
import { type Document, imageDocument, toDocument } from "./document.ts";

/** The most that a document takes, decompressed. On-chain art in documents reaches 2 MB. */
export const MAX_DOCUMENT_BYTES = 5 * 1024 * 1024;

/** What a URI points at, as it came: plain data, so that another thread can read it. */
export type Body =
  /** The URI is the document. */
  | { kind: "embedded" }
  | {
      kind: "bytes";
      bytes: Uint8Array;
      contentType: string | undefined;
      base: string;
      from: string;
      isAuthentic: boolean;
    }
  /** A picture, film or sound: it stands for a document that names it. */
  | { kind: "image"; link: string };

/** A document and where it came from: a URL, "data" or "chain". */
export type LocatedDocument = Document & { from: string };

/**
 * Makes a document of what was found at `uri`. `hexTokenId` stands where an ERC-1155 document says {id}. Never throws
 * for what is in it.
 */
export async function readBody(
  body: Body,
  { uri, hexTokenId }: { uri: string; hexTokenId?: string | undefined },
): Promise<LocatedDocument | Failure> {
  const options = hexTokenId === undefined ? {} : { hexTokenId };
  switch (body.kind) {
    case "image":
      return { ...imageDocument(body.link), from: body.link };
    case "embedded":
      return locate(await readEmbedded(uri, options), "data");
    case "bytes": {
      const { contentType, base, isAuthentic, from } = body;
      const bytes = Buffer.from(body.bytes.buffer, body.bytes.byteOffset, body.bytes.byteLength);
      const texts = [decodeText(bytes, { charset: charsetOf(contentType) })];
      return locate(await toDocument({ texts, bytes, contentType, base, isAuthentic }, options), from);
    }
  }
}

function readEmbedded(uri: string, options: { hexTokenId?: string }): Promise<Document | Failure> | Failure {
  const source = parseUri(uri);
  if (source.kind === "inline") {
    const { text } = source;
    return toDocument(
      { texts: [text], bytes: Buffer.from(text), contentType: undefined, base: "", isAuthentic: true },
      options,
    );
  }
  const data = source.kind === "data" ? parseDataUri(source.uri) : undefined;
  if (!data) return failure("bad_uri", "A data: URI without a comma.");
  const { texts, bytes, mimeType } = data;
  if (bytes.length > MAX_DOCUMENT_BYTES) return failure("too_large", `${bytes.length} bytes in a data: URI.`);
  const base = source.kind === "data" ? source.uri : "";
  return toDocument({ texts, bytes, contentType: mimeType, base, isAuthentic: true }, options);
}

function locate(document: Document | Failure, from: string): LocatedDocument | Failure {
  return document.kind === "failure" ? document : { ...document, from };
}
