import { promisify } from "node:util";
import { brotliCompress, constants, crc32, gzip } from "node:zlib";
import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { giveMemory } from "./body-memory.ts";
import type { Env } from "./request-state.ts";

/** Bodies from this size on are compressed: below, headers outweigh what is saved. */
const COMPRESS_FROM_BYTES = 1400;
/** Longer strings travel slowly through node:http: 7,200 answers a second at 131 KB where buffers reach 26,000. */
const BUFFER_FROM_LENGTH = 65_536;
/** Shorter bytes are sent as text. */
const TEXT_TO_LENGTH = 16_384;
/** Fast levels: the usual ones take ten times as long for a tenth less. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };
const GZIP = { level: 4 };

const compress = {
  br: (body: Buffer) => promisify(brotliCompress)(body, BROTLI),
  gzip: (body: Buffer) => promisify(gzip)(body, GZIP),
};

/** Answers the request, in one place, so that all headers are set at once: adding them to a response later is slow. */
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
  // A short text leaves in one piece with the headers; bytes are a second piece.
  if (bytes === undefined || bytes.length <= TEXT_TO_LENGTH) {
    const text = body.toString();
    if (bytes) giveMemory(bytes);
    return new Response(text, { status, headers: all });
  }
  // Sent or given up: nothing reads it then.
  c.env?.outgoing?.once("close", () => giveMemory(bytes));
  return new Response(bytes as Uint8Array<ArrayBuffer>, { status, headers: all });
}

/**
 * A weak validator: the same for every content encoding. CRC-32 and length, because it takes 25 µs for a page of 180 KB
 * where SHA-1 takes 83, and a collision shows one client a stale page once in four thousand million changes.
 */
function entityTag(body: string | Buffer, size: number): string {
  return `W/"${crc32(body).toString(36)}-${size.toString(36)}"`;
}

/** Whether a client has what `etag` is of. Compared as weak ones, as RFC 9110 says. */
export function isFresh(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  const opaque = etag.replace(/^W\//, "");
  return ifNoneMatch.split(",").some((tag) => {
    const trimmed = tag.trim();
    return trimmed === "*" || trimmed.replace(/^W\//, "") === opaque;
  });
}

/** The encoding that the client likes best of those that we have, ours on a tie: br, gzip. */
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
