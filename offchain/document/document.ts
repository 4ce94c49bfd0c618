import { decodeText } from "../bytes.ts";
import { type Failure, failure } from "../fetch/failure.ts";
import { type Json, mapStrings } from "./json.ts";
import { parseJson } from "./json-parser.ts";
import { emptyNormalized, isDocument, normalize, type Normalized } from "./normalize.ts";
import { isAnimation, isMediaType, sniffMediaType, SNIFF_BYTES } from "../media/media-type.ts";

/** The most that a document takes, decompressed. On-chain art in documents reaches 2 MB. */
export const MAX_DOCUMENT_BYTES = 5 * 1024 * 1024;
/** The most that a URI takes, which may be a document: base64 adds a third to what a data: URI holds. */
export const MAX_URI_BYTES = MAX_DOCUMENT_BYTES * 1.4;

/** What a document said. `whole`: links and drawings of any size, for media; see `writeFitting` for what is stored. */
export type Document = { kind: "document"; raw: string; whole: Normalized };

/** What came from a URI, before anybody knows what it is. */
type Received = {
  /** What it may be as text, the likeliest first. */
  texts: string[];
  bytes: Buffer;
  contentType: string | undefined;
  /** Where relative links start from, and the link itself where the body is the image. */
  base: string;
  /** Out of the URI or from the chain: it is what its author put there, never an error page of a server. */
  isAuthentic: boolean;
};

/** Pages that say that there is nothing, in words that stand in their titles. */
const ERROR_PAGE =
  /<title>[^<]*(?:404|403|500|502|503|not found|error|forbidden|denied|unavailable|maintenance|just a moment|attention required|index of)/i;

/**
 * Makes a document of what was received: JSON in any reading, or an image, film or page that becomes one. `hexTokenId`
 * stands where an ERC-1155 document says {id}.
 */
export async function toDocument(
  received: Received,
  { hexTokenId }: { hexTokenId?: string | undefined } = {},
): Promise<Document | Failure> {
  let fault: unknown;
  for (const raw of received.texts) {
    if (!/^[\s\ufeff\u200b]*[{["'/]/u.test(raw)) continue;
    try {
      const json = unwrapText(parseJson(raw));
      if (!isDocument(json)) return failure("no_document", `It has none of the known keys: ${raw.slice(0, 100)}`);
      const filled = hexTokenId === undefined ? json : fillIn(json, hexTokenId);
      if (filled === undefined) return failure("too_large", `More than ${MAX_DOCUMENT_BYTES} bytes of token ids.`);
      return { kind: "document", raw, whole: normalize(filled, { base: received.base }) };
    } catch (error) {
      fault ??= error;
    }
  }
  return (await toMediaDocument(received)) ?? failure("bad_json", messageOf(fault, received));
}

/** A document that consists of its image, or of what moves or sounds. */
export function mediaDocument(link: string, { mimeType }: { mimeType: string }): Document {
  const field = isAnimation(mimeType) ? "animation_url" : "image";
  return { kind: "document", raw: "", whole: { ...emptyNormalized(), [field]: link } };
}

/** Whether text is a page by which a server says that it has nothing. */
export function isErrorPage(text: string): boolean {
  return ERROR_PAGE.test(text.slice(0, 20_000));
}

async function toMediaDocument({
  texts,
  bytes,
  contentType,
  base,
  isAuthentic,
}: Received): Promise<Document | undefined> {
  const { mimeType } = await sniffMediaType(bytes.subarray(0, SNIFF_BYTES), { contentType, url: base.slice(0, 2000) });
  const raw = texts.at(-1) ?? decodeText(bytes);
  if (mimeType === "image/svg+xml") {
    const isLink = /^[a-z][a-z\d+.-]*:/i.test(base);
    const whole = { ...emptyNormalized(), ...(isLink ? { image: base } : { image_data: raw }) };
    return { kind: "document", raw, whole };
  }
  if (mimeType === "text/html") {
    if (!isAuthentic && isErrorPage(raw)) return undefined;
    return { kind: "document", raw, whole: { ...emptyNormalized(), animation_url: base } };
  }
  if (!isMediaType(mimeType)) return undefined;
  return mediaDocument(base, { mimeType });
}

/** JSON in a JSON string, as some contracts write it. */
function unwrapText(json: Json): Json {
  return typeof json === "string" && /^\s*\{/.test(json) ? parseJson(json) : json;
}

/** Where an id belongs, also as URLs have it. Source: EIP-1155. */
export const ID_PLACE = /\{id\}|%7Bid%7D/gi;

/** Undefined where what is filled in would be larger than a document may be. */
function fillIn(json: Json, hexTokenId: string): Json | undefined {
  let length = 0;
  const filled = mapStrings(json, (text) => {
    const parts = text.split(ID_PLACE);
    length += (parts.length - 1) * hexTokenId.length;
    return length > MAX_DOCUMENT_BYTES ? "" : parts.join(hexTokenId);
  });
  return length > MAX_DOCUMENT_BYTES ? undefined : filled;
}

function messageOf(fault: unknown, { texts, contentType }: Received): string {
  if (fault instanceof Error) return fault.message;
  return `Neither JSON nor media (${contentType ?? "no type"}): ${(texts[0] ?? "").slice(0, 80)}`;
}
