import { fileTypeFromBuffer } from "file-type";
import { mimeTypeOf } from "../content-type.ts";
import { decodeText } from "../text.ts";

/** So many first bytes are enough to recognize every known type, and markup behind a long comment. */
export const SNIFF_BYTES = 16 * 1024;

/** A type that first bytes show, and the extension of its keys, without a dot. */
export type MediaType = { mimeType: string; extension: string };

/**
 * Types with their extensions. Keys have the first extension, and content is served with the type of its key, so all
 * types of images, films, sound and models that first bytes can show must be here. Each extension is listed once.
 */
const EXTENSIONS: Record<string, string> = {
  "image/png": "png",
  "image/jpeg": "jpg jpeg",
  "image/gif": "gif",
  "image/webp": "webp",
  "image/avif": "avif",
  "image/apng": "apng",
  "image/bmp": "bmp",
  "image/tiff": "tif tiff",
  "image/heic": "heic",
  "image/heic-sequence": "heics",
  "image/heif": "heif",
  "image/heif-sequence": "heifs",
  "image/svg+xml": "svg",
  "image/x-icon": "ico cur",
  "image/icns": "icns",
  "image/jxl": "jxl",
  "image/jp2": "jp2",
  "image/jpm": "jpm",
  "image/jpx": "jpx",
  "image/mj2": "mj2",
  "image/j2c": "j2c",
  "image/jls": "jls",
  "image/bpg": "bpg",
  "image/flif": "flif",
  "image/ktx": "ktx",
  "image/vnd.adobe.photoshop": "psd",
  "image/vnd.dwg": "dwg",
  "image/vnd.ms-photo": "jxr",
  "image/x-adobe-dng": "dng",
  "image/x-canon-cr2": "cr2",
  "image/x-canon-cr3": "cr3",
  "image/x-fujifilm-raf": "raf",
  "image/x-nikon-nef": "nef",
  "image/x-olympus-orf": "orf",
  "image/x-panasonic-rw2": "rw2",
  "image/x-sony-arw": "arw",
  "image/x-xcf": "xcf",
  "video/mp4": "mp4 m4p f4v f4p",
  "video/quicktime": "mov",
  "video/x-m4v": "m4v",
  "video/webm": "webm",
  "video/matroska": "mkv",
  "video/ogg": "ogv ogm",
  "video/3gpp": "3gp",
  "video/3gpp2": "3g2",
  "video/mp2t": "mts",
  "video/mpeg": "mpg mpeg",
  "video/vnd.avi": "avi",
  "video/x-flv": "flv",
  "video/x-ms-asf": "asf",
  "audio/mpeg": "mp3 mp2 mp1",
  "audio/mp4": "m4b f4a f4b",
  "audio/wav": "wav",
  "audio/ogg": "ogg oga opus spx",
  "audio/flac": "flac",
  "audio/aac": "aac",
  "audio/x-m4a": "m4a",
  "audio/aiff": "aif aiff",
  "audio/amr": "amr",
  "audio/ape": "ape",
  "audio/midi": "mid midi",
  "audio/qcelp": "qcp",
  "audio/vnd.dolby.dd-raw": "ac3",
  "audio/wavpack": "wv",
  "audio/x-caf": "caf",
  "audio/x-dff": "dff",
  "audio/x-dsf": "dsf",
  "audio/x-it": "it",
  "audio/x-ms-asf": "wma",
  "audio/x-musepack": "mpc",
  "audio/x-s3m": "s3m",
  "audio/x-voc": "voc",
  "audio/x-xm": "xm",
  "model/gltf-binary": "glb",
  "model/gltf+json": "gltf",
  "model/3mf": "3mf",
  "model/stl": "stl",
  "text/html": "html",
  "application/pdf": "pdf",
  "application/json": "json",
  "text/plain": "txt",
};
const MIME_TYPES = new Map(
  Object.entries(EXTENSIONS).flatMap(([mimeType, extensions]) =>
    extensions.split(" ").map((extension) => [extension, mimeType] as const),
  ),
);
/** What pages begin with: art on the chain is often what is in the body alone. */
const PAGE = new RegExp(
  `^<(?:${[
    "!doctype html|html|head|body|title|script|noscript|style|meta|link|base|template",
    "main|section|article|header|footer|nav|aside|div|span|center|font|p|a|h[1-6]|br|hr|ul|ol|dl|table|form|button|input",
    "iframe|embed|object|canvas|img|picture|figure|video|audio|marquee",
  ].join("|")})[\\s>/]`,
  "i",
);
/**
 * What streams of film in Ogg begin with. All streams begin at the start of a file, that of a film not always first: a
 * description of them (Skeleton) or sound may come before. Source: RFC 3533, section 4.
 */
// oxlint-disable-next-line no-control-regex
const OGG_FILM = /\x80theora|\x01video/;
/** A description of a glTF file has its version. Before that may stand an object, as whose work it is. */
const GLTF = /"asset"\s*:\s*\{(?:[^{}]|\{[^{}]*\})*"version"/;
const UNKNOWN: MediaType = { mimeType: "application/octet-stream", extension: "bin" };

/** The type of content, by its first bytes, else by its Content-Type, else by its URL's extension. */
export async function sniffMediaType(
  head: Buffer,
  { contentType, url = "" }: { contentType?: string | undefined; url?: string } = {},
): Promise<MediaType> {
  if (head.length === 0) return UNKNOWN;
  const text = sniffMarkup(head);
  if (text) return text;
  const found = await fileTypeFromBuffer(head).catch(() => undefined);
  if (found?.mime.includes("/ogg")) return typeFor(OGG_FILM.test(head.toString("latin1")) ? "video/ogg" : "audio/ogg");
  if (found) return isAvif(head, found.mime) ? typeFor("image/avif") : fixUp(found.mime);
  const declared = mimeTypeOf(contentType);
  const path = /\.([a-z\d]{2,5})(?:[?#]|$)/i.exec(url.slice(-300))?.[1]?.toLowerCase() ?? "";
  const isGltf = declared === "model/gltf+json" || path === "gltf" || GLTF.test(head.toString("latin1"));
  if (isGltf && /^\s*\{/.test(head.toString("latin1", 0, 64))) return typeFor("model/gltf+json");
  const claimed = declared in EXTENSIONS ? declared : MIME_TYPES.get(path);
  return claimed !== undefined && isBelievable(claimed, head) ? typeFor(claimed) : UNKNOWN;
}

/** The type of a stored file, by the extension in its key. */
export function mimeTypeOfExtension(extension: string): string {
  return MIME_TYPES.get(extension) ?? UNKNOWN.mimeType;
}

/** Whether a type is an image, film, sound or model. */
export function isMediaType(mimeType: string): boolean {
  return /^(?:image|video|audio|model)\//.test(mimeType);
}

/** Whether a type belongs in `animation_url` and not in `image`. */
export function isAnimation(mimeType: string): boolean {
  return /^(?:video|audio|model)\//.test(mimeType) || mimeType === "text/html";
}

function typeFor(mimeType: string): MediaType {
  return { mimeType, extension: EXTENSIONS[mimeType]!.split(" ")[0]! };
}

/** A byte that text has none of. */
// oxlint-disable-next-line no-control-regex
const BINARY = /[\0-\x08\x0e-\x1f]/;

/**
 * Whether a declared type can be believed. Not for drawings: one would have been recognized by its bytes. A page begins
 * with some element, as art in `<pre>` does. Nor for text where an image, film or sound should be: it says why there is
 * none.
 */
function isBelievable(mimeType: string, head: Buffer): boolean {
  if (mimeType === "text/html") return /^<[a-z]/i.test(firstElement(head));
  if (mimeType === "image/svg+xml") return false;
  return !/^(?:image|video|audio)\//.test(mimeType) || BINARY.test(head.toString("latin1"));
}

/** Recognizes SVG and HTML, whatever comes before the first element. */
export function sniffMarkup(head: Buffer): MediaType | undefined {
  const start = firstElement(head);
  if (/^<(?:[a-z\d_-]+:)?svg[\s>/]/i.test(start)) return typeFor("image/svg+xml");
  return PAGE.test(start) ? typeFor("text/html") : undefined;
}

/** Markup from its first element on, without what comes before that. Empty where it is none. */
function firstElement(head: Buffer): string {
  // In UTF-8 the first bytes may end within a character, which `decodeText` would take for another encoding.
  const isUtf16 = (head[0] === 0xff && head[1] === 0xfe) || (head[0] === 0xfe && head[1] === 0xff);
  const text = isUtf16 ? decodeText(head) : head.toString();
  if (!/^[\ufeff\s\0]*</.test(text)) return "";
  return text.replace(/^(?:[\ufeff\s\0]+|<\?[^>]*>|<!--[\s\S]*?-->|<!DOCTYPE\s+svg[^>[]*(?:\[[^\]]*\][^>]*)?>)*/i, "");
}

/** Whether HEIF is AVIF: one of the other brands in its first box says so. Source: AVIF, Image and image collection brand. */
function isAvif(head: Buffer, found: string): boolean {
  return (
    found.startsWith("image/heif") && /^.{16}(?:.{4})*avi[fs]/s.test(head.toString("latin1", 0, head.readUInt32BE()))
  );
}

/** The name of a type that players know. */
function fixUp(mimeType: string): MediaType {
  if (mimeType === "audio/vnd.wave" || mimeType === "audio/x-wav") return typeFor("audio/wav");
  if (/^video\/MP[12][PS]$/.test(mimeType)) return typeFor("video/mpeg");
  if (mimeType === "video/x-matroska") return typeFor("video/matroska");
  return mimeType in EXTENSIONS ? typeFor(mimeType) : { mimeType, extension: UNKNOWN.extension };
}
