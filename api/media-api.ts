import { PassThrough, Readable } from "node:stream";
import { z } from "@hono/zod-openapi";
import { Hono } from "hono";
import { parseRange } from "../offchain/media/byte-range.ts";
import { mediaHeaders } from "../offchain/media/media-headers.ts";
import { isMediaKey, type MediaStore } from "../offchain/media/media-store.ts";
import { createLogThrottle, kindOf } from "../offchain/log-throttle.ts";
import { HttpError, notFound, quote, unavailable } from "./http/errors.ts";
import type { Env } from "./http/request-state.ts";
import { isFresh } from "./http/send.ts";
import { refuseOtherMethods } from "./http/route.ts";
import { describeError, type Log } from "./log.ts";

/** The route as the OpenAPI document describes it. */
export const MEDIA_ROUTE = {
  method: "get",
  path: "/media/{key}",
  operationId: "getMedia",
  summary: "Media of tokens, by key",
  description:
    "`image_key` and `animation_key` of normalized metadata are keys. Content never changes under its key. Pages and " +
    "drawings come in a sandbox without scripts; what a browser shouldn't show by itself is a download. Where `accept` names " +
    "`text/html`, as browsers do for what they show by itself, an error is a page.",
  request: {
    params: z.object({
      key: z.string().openapi({
        description: "SHA-256 of the content in hex, a dot, and the extension of its type.",
        example: `${"5e".repeat(32)}.png`,
      }),
    }),
    headers: z.object({
      Range: z.string().optional().openapi({
        description: "One range of bytes. Several, or another unit, are answered with the whole.",
        example: "bytes=0-1023",
      }),
    }),
  },
} as const;

/** Serves images, films and pages of tokens by the hash of their content. The content of a path never changes. */
export function createMediaApi({ store, log }: { store: MediaStore; log: Log }): Hono<Env> {
  const mayLog = createLogThrottle();
  const read: MediaStore["get"] = (key, range) =>
    store.get(key, range).catch((error: unknown) => {
      if (mayLog(kindOf(error))) log("error", "media store failed", describeError(error));
      throw unavailable("The media store does not answer as it should.");
    });

  const app = new Hono<Env>();
  app.get("/media/:key", async (c) => {
    const state = c.get("state");
    state.route = MEDIA_ROUTE.path;
    const key = c.req.param("key");
    const headers = { ...state.headers, ...(isMediaKey(key) && mediaHeaders(key)) };
    const answer = (status: number, more: Record<string, string> = {}, body: ReadableStream | null = null) => {
      state.status = status;
      return new Response(body, { status, headers: { ...headers, ...more } });
    };

    // A range counts for GET only, and only if a given If-Range matches. Source: RFC 9110, 13.1.5 and 14.2.
    const isRanged = c.req.method === "GET" && (c.req.header("if-range") ?? headers.etag) === headers.etag;
    const asked = isRanged ? parseRange(c.req.header("range")) : undefined;
    const media = isMediaKey(key) ? await read(key, asked) : undefined;
    if (media === undefined) throw notFound(`There is no media ${quote(key)}. Expected a key from a token's metadata.`);
    if (headers.etag !== undefined && isFresh(c.req.header("if-none-match"), headers.etag)) {
      if (media !== "unsatisfiable") media.stream.destroy();
      return answer(304);
    }
    if (media === "unsatisfiable") {
      const whole = await read(key);
      if (!whole || whole === "unsatisfiable") throw notFound(`There is no media ${quote(key)} any more.`);
      whole.stream.destroy();
      throw new HttpError(416, `The range is beyond the end. Expected one of ${whole.size} bytes.`, {
        "content-range": `bytes */${whole.size}`,
      });
    }
    const { stream, size, length, range } = media;
    state.bytes = length;
    const sizes = {
      "content-length": String(length),
      ...(range && { "content-range": `bytes ${range.start}-${range.end}/${size}` }),
    };
    if (c.req.method === "HEAD") {
      stream.destroy();
      return answer(200, sizes);
    }
    const onBreak = (error: Error) => {
      log("error", "media store broke off", { request_id: state.requestId, ...describeError(error) });
      c.env?.outgoing?.destroy();
    };
    return answer(range ? 206 : 200, sizes, Readable.toWeb(keepApart(stream, onBreak)) as ReadableStream);
  });
  refuseOtherMethods(app);
  return app;
}

/** Passes on the bytes of `stream` but not its error, which the server would only print. */
function keepApart(stream: Readable, onError: (error: Error) => void): Readable {
  const body = new PassThrough();
  body.once("close", () => stream.destroy());
  stream.once("error", onError);
  return stream.pipe(body);
}
