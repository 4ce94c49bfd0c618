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
