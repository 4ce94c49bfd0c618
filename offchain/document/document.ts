import { decodeText } from "../text.ts";
import { type Failure, failure } from "../fetch/failure.ts";
import { type Json, mapStrings } from "./json.ts";
import { parseJson } from "./json-parser.ts";
import { emptyNormalized, hasKnownKey, isDocument, normalize, type Normalized } from "./normalize.ts";
import { isAnimation, isMediaType, sniffMediaType, SNIFF_BYTES } from "../media/media-type.ts";

/** The largest document, in bytes after decompression. Documents with art on chain reach 2 MB. */
export const MAX_DOCUMENT_BYTES = 5 * 1024 * 1024;
/** The longest URI, in bytes. It may be a document: base64 makes that a third longer in a data: URI. */
export const MAX_URI_BYTES = MAX_DOCUMENT_BYTES * 1.4;

/**
 * What was read. `whole` has links and drawings of any size, for media; `writeFitting` makes what is stored. `isPage`: a
 * server sent a page, which may be art, or what is left of a project.
 */
export type Document = { kind: "document"; raw: string; whole: Normalized; isPage?: boolean };

/** What came from a URI, of unknown kind. */
type Received = {
  /** Its possible readings as text, the likeliest first. */
  texts: string[];
  bytes: Buffer;
  contentType: string | undefined;
  /**
   * Relative links are resolved against this. It is the image's link where the content is an image. Empty where the
   * content is in the URI's place.
   */
  base: string;
  /** It came in the URI or from the chain: then it is what its author wrote, and never a server's error page. */
  isAuthentic: boolean;
};

/** Titles of pages by which servers say that there is nothing, and messages that PHP writes in place of a document. */
const ERROR_PAGE = new RegExp(
  [
    // A status stands at the start, or behind the site's name. A number elsewhere is mostly the token's.
    "<title>(?:[^<]*\\|)?\\s*(?:403|404|500|502|503|504)\\b",
    "<title>[^<]*(?:not found|error|forbidden|denied|unavailable|bad gateway|gateway time-?out|too many requests|maintenance|just a moment|attention required|index of|account suspended|domain (?:is |has )?(?:expired|parked|for sale)|is for sale|welcome to nginx|default (?:web ?site )?page)",
    "^\\s*<br ?/?>\\s*<b>(?:warning|notice|deprecated|(?:fatal|parse) error)</b>",
  ].join("|"),
  "i",
);

/**
 * Makes a document of what was received: JSON, or an image, film or page, which becomes a document with a link to it.
 * `hexTokenId` replaces {id} in ERC-1155 documents.
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
      if (!isDocument(json)) return failure("no_document", tellNoDocument(json, raw));
      const filled = hexTokenId === undefined ? json : fillIn(json, hexTokenId);
      if (filled === undefined) return failure("too_large", `More than ${MAX_DOCUMENT_BYTES} bytes of token ids.`);
      return { kind: "document", raw, whole: normalize(filled, { base: received.base }) };
    } catch (error) {
      fault ??= error;
    }
  }
  return (await toMediaDocument(received)) ?? failure("bad_json", messageOf(fault, received));
}

/** A document for content that is itself the image or the animation. */
export function mediaDocument(link: string, { mimeType }: { mimeType: string }): Document {
  const field = isAnimation(mimeType) ? "animation_url" : "image";
  return { kind: "document", raw: "", whole: { ...emptyNormalized(), [field]: link } };
}

/** Whether text is an error page. */
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
    const link = base || `data:text/html;charset=utf-8;base64,${Buffer.from(raw).toString("base64")}`;
    return { kind: "document", raw, whole: { ...emptyNormalized(), animation_url: link }, isPage: !isAuthentic };
  }
  if (!isMediaType(mimeType)) return undefined;
  return mediaDocument(base, { mimeType });
}

/** Unwraps JSON in a JSON string, as some contracts write it. */
function unwrapText(json: Json): Json {
  return typeof json === "string" && /^\s*\{/.test(json) ? parseJson(json) : json;
}

/** The place of an id in a URI, also percent-encoded. Source: EIP-1155. */
export const ID_PLACE = /\{id\}|%7Bid%7D/gi;

/** Fills the id in. Undefined where the result would be larger than a document may be. */
function fillIn(json: Json, hexTokenId: string): Json | undefined {
  let length = 0;
  const filled = mapStrings(json, (text) => {
    const parts = text.split(ID_PLACE);
    length += (parts.length - 1) * hexTokenId.length;
    return length > MAX_DOCUMENT_BYTES ? "" : parts.join(hexTokenId);
  });
  return length > MAX_DOCUMENT_BYTES ? undefined : filled;
}

function tellNoDocument(json: Json, raw: string): string {
  const reason = hasKnownKey(json) ? "It tells of an error" : "It has none of the known keys";
  return `${reason}: ${raw.slice(0, 100)}`;
}

function messageOf(fault: unknown, { texts, contentType }: Received): string {
  if (fault instanceof Error) return fault.message;
  const [text = ""] = texts;
  if (text.trim() === "") return "The document is empty.";
  return `Neither JSON nor media (${contentType ?? "no type"}): ${text.slice(0, 80)}`;
}
