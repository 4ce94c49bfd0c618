import { charsetOf, decodeText, mimeTypeOf } from "../bytes.ts";
import { cleanText } from "../text.ts";

/** A data: URI as it is written in the wild, which is not as RFC 2397 says. */
type DataUri = {
  /** As declared, lower case; empty where nothing usable is. */
  mimeType: string;
  /** What it may mean as text, the likeliest first: for base64 one reading, else as it is and percent-decoded. */
  texts: string[];
  /** What it means as bytes, for media. */
  bytes: Buffer;
};

/** True for text that is a data: URI, in any case of letters. */
export function isDataUri(text: string): boolean {
  return /^\s*data:/i.test(text.slice(0, 64));
}

/**
 * Reads a data: URI by hand: a URL parser would cut it at the `#` of an SVG colour. Parameters may come in any order,
 * `;base64` among them, and be followed by text that isn't base64 at all.
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

/** Each `%` with two hex digits becomes its byte; a bare `%` stays. */
export function percentDecode(text: string): Buffer {
  if (!text.includes("%")) return Buffer.from(text);
  // As Latin-1 code units of UTF-8 bytes, so that decoded bytes and those around them join to whole characters.
  const units = Buffer.from(text).toString("latin1");
  return Buffer.from(
    units.replaceAll(/%([\da-fA-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    "latin1",
  );
}

/** Forgiving: the URL-safe alphabet, white space, percent-encoding and missing padding. Undefined where it isn't base64. */
function decodeBase64(payload: string): Buffer | undefined {
  const text = (payload.includes("%") ? percentDecode(payload).toString("latin1") : payload).replaceAll(/\s+/g, "");
  return /^[A-Za-z0-9+/_-]*={0,3}$/.test(text) ? Buffer.from(text, "base64") : undefined;
}
