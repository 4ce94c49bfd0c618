/** Why something couldn't be fetched, as data: for the queue, the operator and the counters. */
export type Failure = {
  kind: "failure";
  /** A short word, the same for the same reason: dns, connect, timeout, http_404 … */
  code: string;
  /** The origin's host:port, empty where no origin is involved. */
  host: string;
  message: string;
  retryAfterSeconds?: number;
};

/**
 * Nothing was tried: the host is paused or busy, or we had no room. It isn't counted as an attempt. `others`: what other
 * gateways said, which were asked.
 */
export type Postponed = { kind: "postponed"; seconds: number; host: string; others?: Failure };

/** The code where a body was refused by its first bytes. The sink knows what it is. */
export const MEDIA_BODY = "media_body";

/** The code where another gateway was faster. */
export const CANCELLED = "cancelled";
/** The code where the time ran out while we had no slot for it. */
export const CROWDED = "crowded";
/** The code where the connection was closed. */
export const RESET = "reset";
/** The code where our disk or store failed. */
export const STORE = "store";

/** Creates a failure. `host`: host:port of the origin. `retryAfterSeconds`: when the origin wants to be asked again. */
export function failure(
  code: string,
  message: string,
  { host = "", retryAfterSeconds }: { host?: string; retryAfterSeconds?: number | undefined } = {},
): Failure {
  return { kind: "failure", code, host, message, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) };
}

/** Whether a failure is our own and says nothing about the origin. */
export function isOurs({ code }: Failure): boolean {
  return code === CANCELLED || code === CROWDED || code === STORE;
}

/** Whether the origin itself is in trouble, and doesn't only lack one document. */
export function isOriginInTrouble({ code }: Failure): boolean {
  return /^(?:dns|connect|timeout|reset|tls|bad_http|network|http_429|http_5(?!04)\d\d)$/.test(code);
}

const NETWORK_CODES: [RegExp, string][] = [
  [/^PRIVATE_ADDRESS$/, "private_address"],
  [/^(?:ENOTFOUND|EAI_\w+|ENODATA|ESERVFAIL|EREFUSED|ETIMEOUT|EBADNAME|EFORMERR|ECONNABORTED_DNS)$/, "dns"],
  [/^(?:UND_ERR_HEADERS_TIMEOUT|UND_ERR_BODY_TIMEOUT|UND_ERR_ABORTED|ABORT_ERR|ETIMEDOUT)$/, "timeout"],
  [/^(?:ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|EACCES|EINVAL|UND_ERR_CONNECT_TIMEOUT)$/, "connect"],
  [/^(?:ECONNRESET|EPIPE|UND_ERR_SOCKET|UND_ERR_RES_CONTENT_LENGTH_MISMATCH|ERR_STREAM_PREMATURE_CLOSE)$/, RESET],
  [/^(?:CERT_|DEPTH_|UNABLE_TO_|ERR_TLS|ERR_SSL|EPROTO|SELF_SIGNED|HOSTNAME_)/, "tls"],
  [/^(?:HPE_|UND_ERR_HEADERS_OVERFLOW|UND_ERR_INVALID)/, "bad_http"],
  [/^(?:Z_|ERR__ERROR|ERR_PADDING|ERR_BROTLI|ERR_ZLIB|ERR_ZSTD|ZSTD_)/, "bad_encoding"],
];

const ERROR_NAMES: Record<string, string> = {
  AbortError: "timeout",
  TimeoutError: "timeout",
  HTTPParserError: "bad_http",
};

/** The failure for an error that a request threw. */
export function networkFailure(error: unknown, { host }: { host: string }): Failure {
  const { code = "", name = "", message = "", reason } = rootOf(error);
  const word = NETWORK_CODES.find(([pattern]) => pattern.test(code))?.[1] ?? ERROR_NAMES[name] ?? "network";
  // The message of OpenSSL names a line of its source, and ends in a line break.
  const text = code.startsWith("ERR_SSL") && reason !== undefined ? `TLS: ${reason}` : message || code || name;
  return failure(word, `${host}: ${text}`, { host });
}

/** The failure for an error of the sink: it refused the body, or couldn't write it. */
export function sinkFailure(error: unknown, { host }: { host: string }): Failure {
  const { code, message = "" } = rootOf(error);
  if (code === "MEDIA_BODY") return failure(MEDIA_BODY, `${host} sends media.`, { host });
  if (code === "TOO_LARGE") return failure("too_large", message, { host });
  return storeFailure(error);
}

/** The failure for an error of our disk or store, which says by itself what its operator may look at. */
export function storeFailure(error: unknown): Failure {
  return failure(STORE, error instanceof Error ? error.message : String(error));
}

/** The innermost error with a code: several addresses were tried, or a stream has wrapped it. */
function rootOf(error: unknown): { code?: string; name?: string; message?: string; reason?: string } {
  if (!(error instanceof Error)) return { message: String(error) };
  if (error instanceof AggregateError && error.errors.length > 0) return rootOf(error.errors[0]);
  if (!("code" in error) && error.cause !== undefined) return rootOf(error.cause);
  return error;
}
