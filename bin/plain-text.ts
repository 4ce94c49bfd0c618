/** Somebody else's text without what a terminal takes for orders: line breaks, and what is unseen or turns others around. */
export function plainText(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, " ");
}
