/** Removes what Postgres can't store as text: NUL, and halves of surrogate pairs. */
export function cleanText(text: string): string {
  // Nearly all text is clean, and a check is faster than replacing.
  return text.isWellFormed() && !text.includes("\0") ? text : text.replaceAll(/[\0\p{Cs}]/gu, "");
}

/** Cuts text to at most `maxLength` UTF-16 units, never within a character. */
export function cutText(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const last = text.charCodeAt(maxLength - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? maxLength - 1 : maxLength);
}

/** Text on one line, for lists and messages: control characters and runs of white space become one space. */
export function toLabel(text: string, maxLength: number): string {
  return cutText(text.replaceAll(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\s]+/gu, " ").trim(), maxLength).trim();
}

/** Where a match of a sticky pattern that begins at `at` ends. `at` itself where nothing matches. */
export function endOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}

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
