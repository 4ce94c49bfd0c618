import { isMediaType, mimeTypeOfExtension } from "./media-type.ts";

/** Pages and drawings are shown in a sandbox without scripts, forms or requests. */
const MARKUP_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; media-src data:; sandbox";
/** Around a film that is opened by itself browsers make a page, which has to load it. */
const PLAYER_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; media-src 'self'";

/** Headers for stored content. Nothing in it may run, and browsers must not guess other types. */
export function mediaHeaders(key: string): Record<string, string> {
  const mimeType = mimeTypeOfExtension(key.split(".").at(-1) ?? "");
  const isMarkup = mimeType === "text/html" || mimeType === "image/svg+xml";
  return {
    "content-type": isMarkup ? `${mimeType}; charset=utf-8` : mimeType,
    "cache-control": "public, max-age=31536000, immutable",
    etag: `"${key.split(".")[0]}"`,
    "accept-ranges": "bytes",
    "x-content-type-options": "nosniff",
    "cross-origin-resource-policy": "cross-origin",
    "content-security-policy": isMarkup ? MARKUP_POLICY : PLAYER_POLICY,
    ...(!isShown(mimeType) && { "content-disposition": "attachment" }),
  };
}

/** Whether a browser may show this type. Other types are downloads. */
function isShown(mimeType: string): boolean {
  return isMediaType(mimeType) || mimeType === "text/html" || mimeType === "application/pdf";
}
