import type { Dispatcher } from "undici";
import { decodeText } from "../text.ts";
import { authorizationOf } from "../../net/node-address.ts";
import { readRetryAfter } from "../../net/retry-after.ts";
import { codingsOf, createDecoder, type Decoder, hasLargeWindow } from "./decoder.ts";
import { type Failure, failure, networkFailure, RESET, sinkFailure } from "./failure.ts";
import type { GuardedAgents } from "./guarded-agent.ts";
import { hostAndPort } from "./host.ts";
import type { Slot } from "./large-body-slots.ts";
import type { Sink } from "./sink.ts";

/** How much of a refusal's body is read, and for how long, so that its connection can be used again. */
const MAX_IGNORED_BYTES = 64 * 1024;
const MAX_IGNORED_MS = 1000;
/** A longer Retry-After is cut to this. */
const MAX_RETRY_AFTER_SECONDS = 86_400;

const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const HEADERS = [
  ["accept", "application/json, image/*, video/*, audio/*, */*;q=0.8"],
  // Neither br nor zstd, which take megabytes of memory even for small bodies. Servers that have them have gzip, too.
  ["accept-encoding", "gzip"],
  ["user-agent", "Mozilla/5.0 (compatible; nft-index)"],
].flat();

/** The whole body was written to the sink. */
export type HttpDone = { kind: "done"; url: string; contentType: string | undefined; headers: Headers };
/** Another URL to ask. It isn't checked yet. */
export type Redirect = { kind: "redirect"; url: URL };
type Outcome = HttpDone | Failure | Redirect;
type Headers = Record<string, string | string[] | undefined>;

/** What to get, and into which sink. `enterDecoder`: asks for a slot where decompressing takes much memory. */
export type GetOptions = { url: URL; maxBytes: number; sink: Sink; enterDecoder: (host: string) => Slot };

/** A request and its outcome. `abort` ends it at any time. Failures are data and never thrown. */
type Get = {
  outcome: Promise<Outcome>;
  abort: (reason: Failure) => void;
  /** Whether the sink hasn't taken the last chunk yet. */
  isHeldBack: () => boolean;
};

/**
 * GETs a URL into a sink, straight from undici's parser: a stream between them takes half of the time of a small
 * document. Bytes are counted before and after decompression, and nothing above the limit is read. A host may close a
 * kept connection just as it is used, which says nothing about the document: then it is asked once more by a fresh one.
 */
export function startGet({ kept, fresh }: GuardedAgents, { url, maxBytes, sink, enterDecoder }: GetOptions): Get {
  const { promise, resolve } = Promise.withResolvers<Outcome>();
  const host = hostAndPort(url);
  let controller: Dispatcher.DispatchController | undefined;
  let done: HttpDone | undefined;
  let decoder: Decoder | undefined;
  let slot: Slot | undefined;
  let ignoring: NodeJS.Timeout | undefined;
  let isOver = false;
  let isHeldBack = false;
  let mayAskAgain = true;
  /** What the sink is being given. */
  let writing: Promise<void> | undefined;
  /** The bytes that the body has by its header. */
  let wholeSize = Number.NaN;
  let wireSize = 0;
  let size = 0;

  /** Sets the outcome. Only the first one counts. */
  function finish(outcome: Outcome): void {
    isOver = true;
    slot?.leave();
    resolve(outcome);
  }
  function close(): void {
    controller?.abort(new Error("Not read any further."));
  }
  function abort(outcome: Outcome): void {
    if (isOver) return;
    finish(outcome);
    decoder?.destroy();
    close();
  }
  const fail = (error: unknown) => abort(networkFailure(error, { host }));
  const failSink = (error: unknown) => abort(sinkFailure(error, { host }));
  const failTooLarge = () => abort(failure("too_large", `${host} sends more than ${maxBytes} bytes.`, { host }));

  function take(chunk: Buffer): Promise<void> | void {
    size += chunk.length;
    if (size > maxBytes) return failTooLarge();
    const written = sink.write(chunk);
    if (!written) return;
    isHeldBack = true;
    return written.then(() => void (isHeldBack = false), failSink);
  }
  /**
   * Decodes a chunk. With a large window it waits for a slot first, because brotli fills its window before anything
   * comes out.
   */
  function decode(into: Decoder, chunk: Buffer): Promise<void> | void {
    if (!slot) return into.write(chunk);
    isHeldBack = true;
    return slot.taken.then(() => {
      isHeldBack = false;
      return isOver ? undefined : into.write(chunk);
    });
  }
  /**
   * Pauses the connection until a chunk is written. Not for the last one: a host may close the connection right behind
   * it, which a paused parser takes for a body that was broken off.
   */
  function holdBack(written: Promise<void>): void {
    writing = written;
    if (wireSize === wholeSize) return void written.catch(fail);
    controller?.pause();
    written.then(() => controller?.resume(), fail);
  }
  function end(): void {
    if (isOver || !done) return;
    if (decoder) decoder.end();
    else finish(done);
  }

  const handler: Dispatcher.DispatchHandler = {
    onRequestStart(started) {
      controller = started;
      if (isOver) close();
    },
    onResponseStart(_, status, headers) {
      mayAskAgain = false;
      if (status < 200) return;
      const verdict = judge({ url, host, status, headers });
      if (verdict.kind !== "done") {
        finish(verdict);
        ignoring = setTimeout(close, MAX_IGNORED_MS);
        return;
      }
      done = verdict;
      wholeSize = Number(headers["content-length"]);
      if (wholeSize > maxBytes) return failTooLarge();
      const codings = codingsOf(first(headers["content-encoding"]) ?? "");
      if (codings.length === 0) return;
      decoder = createDecoder(codings, { write: take });
      if (!decoder) return abort(failure("bad_encoding", `${host} sends "${codings.join(", ")}".`, { host }));
      if (hasLargeWindow(codings)) slot = enterDecoder(host);
      decoder.ended.then(() => finish(verdict), fail);
    },
    onResponseData(_, chunk) {
      // The parser sends an empty chunk after each pause. Pausing for that would never end.
      if (chunk.length === 0) return;
      wireSize += chunk.length;
      if (isOver) return wireSize > MAX_IGNORED_BYTES ? close() : undefined;
      if (wireSize > maxBytes) return failTooLarge();
      const written = decoder ? decode(decoder, chunk) : take(chunk);
      if (written) holdBack(written);
    },
    onResponseEnd() {
      clearTimeout(ignoring);
      // The body may have ended with the connection, while the sink is still taking it.
      if (writing) writing.then(end, fail);
      else end();
    },
    onResponseError(_, error) {
      clearTimeout(ignoring);
      const result = networkFailure(error, { host });
      if (isOver || !mayAskAgain || result.code !== RESET) return abort(result);
      mayAskAgain = false;
      ask(fresh);
    },
  };

  const { origin, pathname, search } = url;
  const authorization = authorizationOf(url);
  const headers = authorization === undefined ? HEADERS : [...HEADERS, "authorization", authorization];
  const ask = (agent: Dispatcher) =>
    agent.dispatch({ origin, path: pathname + search, method: "GET", headers }, handler);
  ask(kept);
  return { outcome: promise, abort, isHeldBack: () => isHeldBack };
}

/** The outcome that follows from status and headers. */
function judge({ url, host, status, headers }: { url: URL; host: string; status: number; headers: Headers }): Outcome {
  const location = first(headers["location"]);
  if (REDIRECTS.has(status) && location !== undefined) {
    // Headers are read as Latin-1, but servers may write a path in UTF-8.
    const target = URL.parse(decodeText(Buffer.from(location, "latin1")), url.href);
    if (target) return { kind: "redirect", url: target };
    return failure("bad_redirect", `${host} redirects to "${location.slice(0, 200)}".`, { host });
  }
  if (status < 200 || status > 299 || status === 204 || (status === 206 && isPart(headers))) {
    const told = readRetryAfter(headers["retry-after"]);
    const retryAfterSeconds = told && Math.min(told, MAX_RETRY_AFTER_SECONDS);
    return failure(`http_${status}`, `${host} answered ${status}.`, { host, retryAfterSeconds });
  }
  return { kind: "done", url: url.href, contentType: first(headers["content-type"]), headers };
}

/** Whether the headers say that the body is a part of the content. Source: RFC 9110, 14.4. */
function isPart(headers: Headers): boolean {
  const [, start, end, size] = /^bytes (\d+)-(\d+)\/(\d+|\*)$/i.exec(first(headers["content-range"]) ?? "") ?? [];
  return start !== undefined && (Number(start) > 0 || Number(end) + 1 < Number(size));
}

function first(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}
