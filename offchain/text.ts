/** Without what Postgres can't store as text: NUL, and surrogates that have lost their other half. */
export function cleanText(text: string): string {
  // Nearly all text is clean, and asking is quicker than replacing.
  return text.isWellFormed() && !text.includes("\0") ? text : text.replaceAll(/[\0\p{Cs}]/gu, "");
}

/** At most `maxLength` UTF-16 units, never ending in half a character. */
export function cutText(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const last = text.charCodeAt(maxLength - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? maxLength - 1 : maxLength);
}

/** On one line, for lists and messages: control characters and runs of white space become one space. */
export function toLabel(text: string, maxLength: number): string {
  return cutText(text.replaceAll(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\s]+/gu, " ").trim(), maxLength).trim();
}

/** Where a match of a sticky pattern ends that begins at a place; the place itself where there is none. */
export function endOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}
