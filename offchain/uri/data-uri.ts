import { charsetOf, mimeTypeOf } from "../content-type.ts";
import { cleanText, decodeText } from "../text.ts";

/** A data: URI as people write it, which is often not as RFC 2397 says. */
type DataUri = {
  /** The declared type in lower case. Empty where there is no usable one. */
  mimeType: string;
  /**
   * Its possible readings as text, the likeliest first. For base64 there is one; else as it is, and percent-decoded.
   */
  texts: string[];
  /** Its content as bytes, for media. */
  bytes: Buffer;
};

/** Whether text is a data: URI, in upper or lower case. */
export function isDataUri(text: string): boolean {
  return /^\s*data:/i.test(text.slice(0, 64));
}

/**
 * Parses a data: URI by hand, because a URL parser would cut it at the `#` of an SVG colour. Parameters may come in any
 * order, with `;base64` among them, and what follows `;base64` may be other text.
 *
 * @returns undefined where there is no comma
 */
export function parseDataUri(uri: string): DataUri | undefined {
  const start = uri.search(/data:/i);
  const comma = uri.indexOf(",", start);
  if (start < 0 || comma < 0) return undefined;
  const header = uri.slice(start + 5, comma);
  const payload = uri.slice(comma + 1);
  const mimeType = mimeTypeOf(header);
  const isBase64 = header.split(";").some((parameter) => parameter.trim().toLowerCase() === "base64");

  const bytes = isBase64 ? decodeBase64(payload) : undefined;
  if (bytes) return { mimeType, texts: [decodeText(bytes, { charset: charsetOf(header) })], bytes };
  const decoded = percentDecode(payload);
  const texts = [cleanText(payload)];
  const text = decodeText(decoded, { charset: charsetOf(header) });
  if (text !== texts[0]) texts.push(text);
  return { mimeType, texts, bytes: decoded };
}

/** Replaces each `%` with two hex digits by its byte. Other `%` stay. */
export function percentDecode(text: string): Buffer {
  if (!text.includes("%")) return Buffer.from(text);
  // As Latin-1, with a code unit for each byte of UTF-8: so decoded bytes join with those around them to characters.
  const units = Buffer.from(text).toString("latin1");
  return Buffer.from(
    units.replaceAll(/%([\da-fA-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    "latin1",
  );
}

/**
 * Decodes base64 tolerantly: URL-safe alphabet, white space, percent-encoding, missing padding. Undefined where it
 * isn't base64.
 */
function decodeBase64(payload: string): Buffer | undefined {
  const text = (payload.includes("%") ? percentDecode(payload).toString("latin1") : payload).replaceAll(/\s+/g, "");
  return /^[A-Za-z0-9+/_-]*={0,3}$/.test(text) ? Buffer.from(text, "base64") : undefined;
}
