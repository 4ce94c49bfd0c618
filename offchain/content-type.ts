/** The MIME type of a Content-Type: `text/html` of `Text/HTML; charset=x`. Empty where there is none. */
export function mimeTypeOf(contentType: string | undefined): string {
  const type = (contentType ?? "").split(";")[0]!.trim().toLowerCase();
  return /^[!#$%&'*+.^_`|~\w-]+\/[!#$%&'*+.^_`|~\w-]+$/.test(type) ? type : "";
}

/** The charset of a Content-Type. */
export function charsetOf(contentType: string | undefined): string | undefined {
  return /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(contentType ?? "")?.[1];
}
