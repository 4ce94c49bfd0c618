/** Why something couldn't be had: data, for the queue, the operator and the counters. */
export type Failure = {
  kind: "failure";
  /** A short word, the same for the same reason: dns, connect, timeout, http_404 … */
  code: string;
  /** host:port of the origin, "" where none is involved. */
  host: string;
  message: string;
  retryAfterSeconds?: number;
};

/** Not tried, its host is paused or busy, or there was no room for it here. No attempt, only later. */
export type Postponed = { kind: "postponed"; seconds: number; host: string };

/** The code of what was ended by its first bytes: the sink that took them has seen what it is. */
export const MEDIA_BODY = "media_body";

/** The code of what was ended because another gateway was quicker. */
export const CANCELLED = "cancelled";
/** The code of what ran out of time while it waited for a place of ours. */
export const CROWDED = "crowded";
/** The code of what our disk or store didn't take. */
export const STORE = "store";

/** `host`: host:port of the origin that it is of. `retryAfterSeconds`: when that origin wants to be asked again. */
export function failure(
  code: string,
  message: string,
  { host = "", retryAfterSeconds }: { host?: string; retryAfterSeconds?: number | undefined } = {},
): Failure {
  return { kind: "failure", code, host, message, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) };
}

/** Failures that say nothing of the origin. */
export function isOurs({ code }: Failure): boolean {
  return code === CANCELLED || code === CROWDED || code === STORE;
}

/** Failures that say that the origin itself is in trouble, not that it lacks one document. */
export function isOriginInTrouble({ code }: Failure): boolean {
  return /^(?:dns|connect|timeout|reset|tls|bad_http|network|http_429|http_5(?!04)\d\d)$/.test(code);
}

const NETWORK_CODES: [RegExp, string][] = [
  [/^PRIVATE_ADDRESS$/, "private_address"],
  [/^(?:ENOTFOUND|EAI_\w+|ENODATA|ESERVFAIL|EREFUSED|ETIMEOUT|EBADNAME|EFORMERR|ECONNABORTED_DNS)$/, "dns"],
  [/^(?:UND_ERR_HEADERS_TIMEOUT|UND_ERR_BODY_TIMEOUT|UND_ERR_ABORTED|ABORT_ERR|ETIMEDOUT)$/, "timeout"],
  [/^(?:ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|EACCES|EINVAL|UND_ERR_CONNECT_TIMEOUT)$/, "connect"],
  [/^(?:ECONNRESET|EPIPE|UND_ERR_SOCKET|UND_ERR_RES_CONTENT_LENGTH_MISMATCH|ERR_STREAM_PREMATURE_CLOSE)$/, "reset"],
  [/^(?:CERT_|DEPTH_|UNABLE_TO_|ERR_TLS|ERR_SSL|EPROTO|SELF_SIGNED|HOSTNAME_)/, "tls"],
  [/^(?:HPE_|UND_ERR_HEADERS_OVERFLOW|UND_ERR_INVALID)/, "bad_http"],
  [/^(?:Z_|ERR__ERROR|ERR_PADDING|ERR_BROTLI|ERR_ZLIB|ERR_ZSTD|ZSTD_)/, "bad_encoding"],
];

const ERROR_NAMES: Record<string, string> = {
  AbortError: "timeout",
  TimeoutError: "timeout",
  HTTPParserError: "bad_http",
};

/** The word for whatever a request threw. */
export function networkFailure(error: unknown, { host }: { host: string }): Failure {
  const { code = "", name = "", message = "" } = rootOf(error);
  const word = NETWORK_CODES.find(([pattern]) => pattern.test(code))?.[1] ?? ERROR_NAMES[name] ?? "network";
  return failure(word, `${host}: ${message || code || name}`, { host });
}

/** Of what the sink threw, which has seen what the body is, or couldn't be written to. */
export function sinkFailure(error: unknown, { host }: { host: string }): Failure {
  const { code, message = "" } = rootOf(error);
  if (code === "MEDIA_BODY") return failure(MEDIA_BODY, `${host} sends media.`, { host });
  if (code === "TOO_LARGE") return failure("too_large", message, { host });
  return storeFailure(error);
}

/** Our disk or store doesn't take it. */
export function storeFailure(error: unknown): Failure {
  const { code = "", message = "" } = rootOf(error);
  return failure(STORE, message || code);
}

/** The first error with a code below what wraps it: several addresses tried, or a stream that passed it on. */
function rootOf(error: unknown): { code?: string; name?: string; message?: string } {
  if (!(error instanceof Error)) return { message: String(error) };
  if (error instanceof AggregateError && error.errors.length > 0) return rootOf(error.errors[0]);
  if (!("code" in error) && error.cause !== undefined) return rootOf(error.cause);
  return error;
}
