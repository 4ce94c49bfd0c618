import { Readable } from "node:stream";
import { Hono } from "hono";
import { parseRange } from "../offchain/media/byte-range.ts";
import { mediaHeaders } from "../offchain/media/media-headers.ts";
import { isMediaKey, type MediaStore } from "../offchain/media/media-store.ts";
import { notFound, quote } from "./errors.ts";
import type { Env } from "./exchange.ts";
import { refuseOtherMethods } from "./route.ts";

const PATH = "/media/{key}";

/** Images, films and pages of tokens, by the hash of their content: the same bytes for ever. */
export function createMediaApi(store: MediaStore): Hono<Env> {
  const app = new Hono<Env>();
  app.get("/media/:key", async (c) => {
    const exchange = c.get("exchange");
    exchange.route = PATH;
    const key = c.req.param("key");
    const headers = { ...exchange.headers, ...(isMediaKey(key) && mediaHeaders(key)) };
    const answer = (status: number, more: Record<string, string> = {}, body: ReadableStream | null = null) => {
      exchange.status = status;
      return new Response(body, { status, headers: { ...headers, ...more } });
    };

    const media = isMediaKey(key) ? await store.get(key, parseRange(c.req.header("range"))) : undefined;
    if (media === undefined) throw notFound(`There is no media ${quote(key)}. Expected a key from a token's metadata.`);
    if (media === "unsatisfiable") {
      const whole = await store.get(key);
      if (whole && whole !== "unsatisfiable") whole.stream.destroy();
      return answer(416, whole && whole !== "unsatisfiable" ? { "content-range": `bytes */${whole.size}` } : {});
    }
    const { stream, size, length, range } = media;
    if (headers.etag !== undefined && c.req.header("if-none-match")?.includes(headers.etag)) {
      stream.destroy();
      return answer(304);
    }
    exchange.bytes = length;
    const sizes = {
      "content-length": String(length),
      ...(range && { "content-range": `bytes ${range.start}-${range.end}/${size}` }),
    };
    if (c.req.method === "HEAD") {
      stream.destroy();
      return answer(range ? 206 : 200, sizes);
    }
    return answer(range ? 206 : 200, sizes, Readable.toWeb(stream) as ReadableStream);
  });
  refuseOtherMethods(app, [{ method: "get", path: PATH }]);
  return app;
}
