import { promisify } from "node:util";
import { brotliCompress, constants, crc32, gzip } from "node:zlib";
import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { giveMemory } from "./body-memory.ts";
import type { Env } from "./request-state.ts";

/** Smaller bodies aren't compressed, because headers would take more than that saves. */
export const COMPRESS_FROM_BYTES = 1400;
/**
 * Longer texts are sent as buffers. node:http is slow with long strings: 7,200 answers a second of 131 KB, and 26,000
 * as buffers.
 */
const BUFFER_FROM_LENGTH = 65_536;
/** Shorter buffers are sent as text. */
const TEXT_TO_LENGTH = 16_384;
/** Fast levels. The default ones take ten times as long for a tenth less. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };
const GZIP = { level: 4 };

const compress = {
  br: (body: Buffer) => promisify(brotliCompress)(body, BROTLI),
  gzip: (body: Buffer) => promisify(gzip)(body, GZIP),
};

/** Sends an answer with all headers at once, because adding headers to a response later is slow. */
export async function send(
  c: Context<Env>,
  {
    status = 200,
    body,
    headers = {},
    contentType = "application/json",
    isCacheable = false,
  }: {
    status?: ContentfulStatusCode;
    body: string | Buffer;
    headers?: Record<string, string>;
    contentType?: string;
    isCacheable?: boolean;
  },
): Promise<Response> {
  const state = c.get("state");
  const bytes = typeof body !== "string" ? body : body.length >= BUFFER_FROM_LENGTH ? Buffer.from(body) : undefined;
  const size = bytes?.length ?? Buffer.byteLength(body);
  const all: Record<string, string> = { ...state.headers, ...headers, "content-type": contentType };
  if (isCacheable) {
    all.etag = entityTag(bytes ?? body, size);
    all["cache-control"] = "private, no-cache";
    if (isFresh(c.req.header("if-none-match"), all.etag)) {
      delete all["content-type"];
      state.status = 304;
      if (bytes) giveMemory(bytes);
      return new Response(null, { status: 304, headers: all });
    }
  }

  state.status = status;
  const encoding = body.length >= COMPRESS_FROM_BYTES ? acceptedEncoding(c.req.header("accept-encoding")) : undefined;
  if (encoding) {
    const compressed = await compress[encoding](bytes ?? Buffer.from(body));
    if (bytes) giveMemory(bytes);
    all["content-encoding"] = encoding;
    all["content-length"] = String(compressed.length);
    state.bytes = compressed.length;
    return new Response(new Uint8Array(compressed.buffer, compressed.byteOffset, compressed.length), {
      status,
      headers: all,
    });
  }
  state.bytes = size;
  all["content-length"] = String(size);
  // A short text is sent in one piece with the headers. A buffer would be a second piece.
  if (bytes === undefined || bytes.length <= TEXT_TO_LENGTH) {
    const text = body.toString();
    if (bytes) giveMemory(bytes);
    return new Response(text, { status, headers: all });
  }
  // After "close" nobody reads the body any more, whether it was sent or given up.
  c.env?.outgoing?.once("close", () => giveMemory(bytes));
  return new Response(bytes as Uint8Array<ArrayBuffer>, { status, headers: all });
}

/**
 * A weak ETag, the same for all content encodings. CRC-32 and length take 25 µs for a page of 180 KB, SHA-1 takes 83. A
 * collision shows one client an old page once in four thousand million changes.
 */
function entityTag(body: string | Buffer, size: number): string {
  return `W/"${crc32(body).toString(36)}-${size.toString(36)}"`;
}

/** Whether the client has this version, by weak comparison. Source: RFC 9110. */
export function isFresh(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  const opaque = etag.replace(/^W\//, "");
  return ifNoneMatch.split(",").some((tag) => {
    const trimmed = tag.trim();
    return trimmed === "*" || trimmed.replace(/^W\//, "") === opaque;
  });
}

/** The encoding that the client prefers, of br and gzip. If it has no preference, the first of these. */
function acceptedEncoding(header: string | undefined): "br" | "gzip" | undefined {
  if (!header) return undefined;
  const weights = new Map<string, number>();
  for (const part of header.toLowerCase().split(",")) {
    const [name = "", ...parameters] = part.split(";").map((text) => text.trim());
    const q = parameters.find((parameter) => parameter.startsWith("q="));
    weights.set(name === "x-gzip" ? "gzip" : name, q === undefined ? 1 : Number(q.slice(2)) || 0);
  }
  const weightOf = (name: string) => weights.get(name) ?? weights.get("*") ?? 0;
  const best = weightOf("gzip") > weightOf("br") ? "gzip" : "br";
  return weightOf(best) > 0 && weightOf(best) >= (weights.get("identity") ?? 0) ? best : undefined;
}
