import { cleanText } from "./text.ts";

const strictUtf8 = new TextDecoder("utf-8", { fatal: true });

/** Text of bytes whose encoding is said badly or not at all: UTF-8 where they are, else `charset`, else Latin-1. */
export function decodeText(bytes: Uint8Array, { charset }: { charset?: string | undefined } = {}): string {
  const mark =
    bytes[0] === 0xff && bytes[1] === 0xfe ? "utf-16le" : bytes[0] === 0xfe && bytes[1] === 0xff ? "utf-16be" : "";
  if (mark) return cleanText(new TextDecoder(mark).decode(bytes));
  try {
    return cleanText(strictUtf8.decode(bytes));
  } catch {
    return cleanText(createDecoder(charset).decode(bytes));
  }
}

function createDecoder(charset: string | undefined) {
  try {
    // A header that says UTF-8 of bytes that are not is wrong.
    if (charset && !/^utf-?8$/i.test(charset)) return new TextDecoder(charset);
  } catch {
    // A charset that nobody knows.
  }
  return new TextDecoder("latin1");
}

/** `text/html` of `Text/HTML; charset=x`, empty where there is none. */
export function mimeTypeOf(contentType: string | undefined): string {
  const type = (contentType ?? "").split(";")[0]!.trim().toLowerCase();
  return /^[!#$%&'*+.^_`|~\w-]+\/[!#$%&'*+.^_`|~\w-]+$/.test(type) ? type : "";
}

/** The charset that a Content-Type names. */
export function charsetOf(contentType: string | undefined): string | undefined {
  return /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(contentType ?? "")?.[1];
}
