import type { Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from "node:zlib";
import { type Agent, request } from "undici";
import { type Failure, failure, networkFailure } from "./failure.ts";

const TOTAL_TIMEOUT_MS = 30_000;
const MAX_REDIRECTS = 5;
/** More than one coding on top of another is somebody trying something. */
const MAX_ENCODINGS = 2;
/** Shorter bodies of a stated length are read whole. */
const SMALL_BYTES = 64 * 1024;
/** Longer Retry-After than this is not waited for at once. */
const MAX_RETRY_AFTER_SECONDS = 86_400;

/** Where a body goes as it arrives. A promise holds the stream back. */
export type Sink = { write: (chunk: Buffer) => Promise<void> | void };

export type HttpRequest = { url: string; maxBytes: number; sink: Sink; signal?: AbortSignal | undefined };

/** The whole body went into the sink. `url` is the last one of the redirects. */
export type HttpDone = { kind: "done"; url: string; contentType: string | undefined; headers: Record<string, unknown> };

/**
 * GETs a URL into a sink. Failures are data, never thrown. At most 5 redirects, each connected to anew through the
 * agent's check; decompressed bytes are counted as they come and the rest is never read.
 */
export async function fetchInto(
  agent: Agent,
  { url, maxBytes, sink, signal }: HttpRequest,
): Promise<HttpDone | Failure> {
  const controller = new AbortController();
  const abort = () => controller.abort();
  const timer = setTimeout(abort, TOTAL_TIMEOUT_MS);
  signal?.addEventListener("abort", abort, { once: true });
  let target = url;
  let isWhole = false;
  try {
    for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
      const result = await fetchOnce(agent, { url: target, maxBytes, sink, signal: controller.signal });
      isWhole = result.kind === "done";
      if (result.kind !== "redirect") return result;
      target = result.url;
    }
    return failure("too_many_redirects", `${url} redirects more than ${MAX_REDIRECTS} times.`, { host: hostOf(url) });
  } catch (error) {
    return networkFailure(error, { host: hostOf(target) });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", abort);
    // Ends what is still coming where we stopped reading early.
    if (!isWhole) controller.abort();
  }
}

/** host:port, with the port always there, as limits and exemptions name it. */
export function hostOf(url: string): string {
  if (!URL.canParse(url)) return "";
  const { hostname, port, protocol } = new URL(url);
  return `${hostname}:${port || (protocol === "https:" ? "443" : "80")}`;
}

type Redirect = { kind: "redirect"; url: string };

async function fetchOnce(
  agent: Agent,
  { url, maxBytes, sink, signal }: HttpRequest & { signal: AbortSignal },
): Promise<HttpDone | Failure | Redirect> {
  const host = hostOf(url);
  const { protocol, username, password, href } = stripped(url);
  if (!/^https?:$/.test(protocol))
    return failure("bad_redirect", `${url.slice(0, 200)} is neither http nor https.`, { host });
  const response = await request(href, {
    dispatcher: agent,
    signal,
    headers: {
      accept: "application/json, image/*, video/*, audio/*, */*;q=0.8",
      "accept-encoding": "gzip, br",
      "user-agent": "Mozilla/5.0 (compatible; nft-index)",
      ...(username && { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}` }),
    },
  });
  // An error of a body that nobody reads any more would end the process.
  response.body.on("error", () => {});
  const { statusCode, headers } = response;
  const header = (name: string) => {
    const value = headers[name];
    return Array.isArray(value) ? value[0] : value;
  };

  const location = header("location");
  if ([301, 302, 303, 307, 308].includes(statusCode) && location !== undefined) {
    response.body.destroy();
    if (!URL.canParse(location, href))
      return failure("bad_redirect", `${host} redirects to "${location.slice(0, 200)}".`, { host });
    return { kind: "redirect", url: new URL(location, href).href };
  }
  if (statusCode < 200 || statusCode > 299 || statusCode === 204) {
    response.body.destroy();
    const retryAfterSeconds = readRetryAfter(header("retry-after"));
    return failure(`http_${statusCode}`, `${host} answered ${statusCode}.`, { host, retryAfterSeconds });
  }
  const tooLarge = () => failure("too_large", `${host} sends more than ${maxBytes} bytes.`, { host });
  if (Number(header("content-length") ?? 0) > maxBytes) {
    response.body.destroy();
    return tooLarge();
  }

  if (header("content-encoding") === undefined && Number(header("content-length") ?? SMALL_BYTES) < SMALL_BYTES) {
    // It can't be longer than it says, and reading it whole takes half the time.
    await sink.write(Buffer.from(await response.body.arrayBuffer()));
    return { kind: "done", url, contentType: header("content-type"), headers };
  }
  const body = decompress(response.body, header("content-encoding"));
  if (!body) {
    response.body.destroy();
    return failure("bad_encoding", `${host} sends "${header("content-encoding")}".`, { host });
  }
  let size = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) {
      body.destroy();
      return tooLarge();
    }
    await sink.write(chunk);
  }
  return { kind: "done", url, contentType: header("content-type"), headers };
}

/** Undefined for a coding that we don't know. */
function decompress(body: Readable, encoding: string | undefined): Readable | undefined {
  const codings = (encoding ?? "")
    .toLowerCase()
    .split(",")
    .map((coding) => coding.trim())
    .filter((coding) => coding !== "" && coding !== "identity");
  if (codings.length > MAX_ENCODINGS) return undefined;
  let stream = body;
  for (const coding of codings.toReversed()) {
    const decoder = createDecoder(coding);
    if (!decoder) return undefined;
    const source = stream;
    source.on("error", (error) => decoder.destroy(error));
    decoder.on("close", () => source.destroy());
    stream = source.pipe(decoder);
  }
  return stream;
}

function createDecoder(coding: string) {
  if (coding === "gzip" || coding === "x-gzip") return createGunzip();
  if (coding === "deflate") return createInflate();
  if (coding === "br") return createBrotliDecompress();
  return coding === "zstd" ? createZstdDecompress() : undefined;
}

/** Seconds, or a date. */
function readRetryAfter(value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  const seconds = /^\d+$/.test(value.trim()) ? Number(value) : (Date.parse(value) - Date.now()) / 1000;
  return Number.isFinite(seconds) ? Math.min(Math.max(seconds, 0), MAX_RETRY_AFTER_SECONDS) : undefined;
}

/** User and password are for a header, not for the request line. */
function stripped(url: string) {
  const parsed = new URL(url);
  const { username, password } = parsed;
  parsed.username = "";
  parsed.password = "";
  parsed.hash = "";
  return { href: parsed.href, protocol: parsed.protocol, username, password };
}
