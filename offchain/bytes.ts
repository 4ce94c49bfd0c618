import { cleanText } from "./text.ts";

const strictUtf8 = new TextDecoder("utf-8", { fatal: true });

/**
 * Decodes text whose encoding may be declared wrongly or not at all: as UTF-8 if it is valid, else as `charset`, else
 * as Latin-1.
 */
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
    // A header that declares UTF-8 is wrong here: the bytes are not valid UTF-8.
    if (charset && !/^utf-?8$/i.test(charset)) return new TextDecoder(charset);
  } catch {
    // An unknown charset.
  }
  return new TextDecoder("latin1");
}

/** The MIME type of a Content-Type: `text/html` of `Text/HTML; charset=x`. Empty where there is none. */
export function mimeTypeOf(contentType: string | undefined): string {
  const type = (contentType ?? "").split(";")[0]!.trim().toLowerCase();
  return /^[!#$%&'*+.^_`|~\w-]+\/[!#$%&'*+.^_`|~\w-]+$/.test(type) ? type : "";
}

/** The charset of a Content-Type. */
export function charsetOf(contentType: string | undefined): string | undefined {
  return /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(contentType ?? "")?.[1];
}
