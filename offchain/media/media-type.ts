import { fileTypeFromBuffer } from "file-type";
import { mimeTypeOf } from "../bytes.ts";

/** As many first bytes as tell every type that we know. */
export const SNIFF_BYTES = 4100;

export type MediaType = { mimeType: string; extension: string };

/** Types that first bytes don't tell, with their extensions; also the other way round, for serving. */
const EXTENSIONS: Record<string, string> = {
  "image/png": "png",
  "image/jpeg": "jpg",
  "image/gif": "gif",
  "image/webp": "webp",
  "image/avif": "avif",
  "image/apng": "apng",
  "image/bmp": "bmp",
  "image/tiff": "tif",
  "image/heic": "heic",
  "image/svg+xml": "svg",
  "image/x-icon": "ico",
  "video/mp4": "mp4",
  "video/quicktime": "mov",
  "video/x-m4v": "m4v",
  "video/webm": "webm",
  "video/matroska": "mkv",
  "video/ogg": "ogv",
  "audio/mpeg": "mp3",
  "audio/wav": "wav",
  "audio/ogg": "ogg",
  "audio/flac": "flac",
  "audio/aac": "aac",
  "audio/x-m4a": "m4a",
  "model/gltf-binary": "glb",
  "model/gltf+json": "gltf",
  "text/html": "html",
  "application/pdf": "pdf",
  "application/json": "json",
  "text/plain": "txt",
};
const MIME_TYPES = new Map(Object.entries(EXTENSIONS).map(([mimeType, extension]) => [extension, mimeType]));
const UNKNOWN: MediaType = { mimeType: "application/octet-stream", extension: "bin" };

/** What content is: by its first bytes, then by what its server says, then by the end of its URL. */
export async function sniffMediaType(
  head: Buffer,
  { contentType, url = "" }: { contentType?: string | undefined; url?: string } = {},
): Promise<MediaType> {
  const text = sniffMarkup(head);
  if (text) return text;
  const found = await fileTypeFromBuffer(head).catch(() => undefined);
  if (found) return fixUp({ mimeType: found.mime, extension: found.ext });
  const declared = mimeTypeOf(contentType);
  const path = /\.([a-z\d]{2,5})(?:[?#]|$)/i.exec(url.slice(-300))?.[1]?.toLowerCase() ?? "";
  const isGltf =
    declared === "model/gltf+json" || path === "gltf" || /"asset"\s*:\s*\{[^}]*"version"/.test(head.toString("latin1"));
  if (isGltf && /^\s*\{/.test(head.toString("latin1", 0, 64))) return typeFor("model/gltf+json");
  if (declared in EXTENSIONS && isBelievable(declared)) return typeFor(declared);
  const byPath = MIME_TYPES.get(path);
  if (byPath !== undefined && isBelievable(byPath)) return typeFor(byPath);
  return declared === "text/plain" ? typeFor("text/plain") : UNKNOWN;
}

/** The type of a stored file, by the extension in its key. */
export function mimeTypeOfExtension(extension: string): string {
  return MIME_TYPES.get(extension) ?? UNKNOWN.mimeType;
}

/** For an image: shown as one; or as what moves or sounds. */
export function isAnimation(mimeType: string): boolean {
  return /^(?:video|audio|model)\//.test(mimeType) || mimeType === "text/html";
}

function typeFor(mimeType: string): MediaType {
  return { mimeType, extension: EXTENSIONS[mimeType]! };
}

/** Markup shows itself at once: a picture with the right first bytes would have been found before. */
function isBelievable(mimeType: string): boolean {
  return mimeType !== "text/html" && mimeType !== "image/svg+xml" && mimeType !== "text/plain";
}

/** SVG and HTML, after whatever may stand before the first element. */
function sniffMarkup(head: Buffer): MediaType | undefined {
  const text = head.toString(head[0] === 0xff && head[1] === 0xfe ? "utf16le" : "utf8");
  if (!/^[\ufeff\s\0]*</.test(text)) return undefined;
  const start = text.replace(
    /^(?:[\ufeff\s\0]+|<\?xml[^>]*>|<!--[\s\S]*?-->|<!DOCTYPE\s+svg[^>[]*(?:\[[\s\S]*?\])?[^>]*>)*/i,
    "",
  );
  if (/^<(?:[a-z\d_-]+:)?svg[\s>/]/i.test(start)) return typeFor("image/svg+xml");
  if (
    /^<(?:!doctype html|html|head|body|title|script|style|meta|link|div|iframe|canvas|p|a|h1|br|table)[\s>/]/i.test(
      start,
    )
  )
    return typeFor("text/html");
  return undefined;
}

/** Names that players know. */
function fixUp({ mimeType, extension }: MediaType): MediaType {
  if (mimeType === "audio/vnd.wave" || mimeType === "audio/x-wav") return typeFor("audio/wav");
  if (mimeType === "video/x-matroska") return typeFor("video/matroska");
  return { mimeType: mimeType.split(";")[0]!, extension };
}
