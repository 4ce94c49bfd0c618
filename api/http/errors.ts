import type { ContentfulStatusCode } from "hono/utils/http-status";

/** Whether the request is at fault, or we are. */
type ErrorType = "invalid_request" | "api_error";

/** An error answer. Its message is sent to the client. */
export class HttpError extends Error {
  readonly status: ContentfulStatusCode;
  readonly headers: Record<string, string>;

  constructor(status: ContentfulStatusCode, message: string, headers: Record<string, string> = {}) {
    super(message);
    this.status = status;
    this.headers = headers;
  }

  get type(): ErrorType {
    return this.status >= 500 ? "api_error" : "invalid_request";
  }
}

/** An error of 400: the request is at fault. */
export const invalid = (message: string) => new HttpError(400, message);
/** An error of 404: what was asked for isn't there. */
export const notFound = (message: string) => new HttpError(404, message);
/** An error of 404 for a contract that isn't indexed, or is hidden. */
export const unknownContract = (contractAddress: string) => notFound(`Contract ${contractAddress} is unknown.`);
/** An error of 404 for a token that isn't indexed, or is of a hidden contract. */
export const unknownToken = (contractAddress: string, tokenId: string) =>
  notFound(`Token ${tokenId} of contract ${contractAddress} is unknown.`);

/** An error of 404 for an order that isn't among the signed ones. */
export const unknownOrder = (orderHash: string) =>
  notFound(
    `Order ${orderHash} was not sent here. Expected the hash of a signed one that was: what makers put on the chain has its terms in the exchange's logs.`,
  );

/** After how many seconds a client may try again if we can't answer now. */
const RETRY_AFTER_SECONDS = "2";

/** An error of 503, which says when to come again. */
export const unavailable = (message: string) => new HttpError(503, message, { "retry-after": RETRY_AFTER_SECONDS });

/**
 * A value of the request for an error message: quoted, shortened, without control characters. Of arrays and objects
 * only the kind, because they may be nested deeper than the call stack allows.
 */
export function quote(value: unknown): string {
  if (Array.isArray(value)) return "[…]";
  if (typeof value === "object" && value !== null) return "{…}";
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}

/** SQLSTATEs, and codes of the database driver, that mean "try again later". */
const UNAVAILABLE: Record<string, string> = {
  "42P01": "Nothing is indexed yet.",
  "3F000": "Nothing is indexed yet.",
  "57014": "The query took too long.",
  "40001": "The replica is busy.",
  "53300": "The database takes no more connections.",
};
const UNREACHABLE =
  /^(08|28|53|57P|58)|^(25006|3D000)$|^(CONNECTION_|CONNECT_TIMEOUT|ECONN|ENOTFOUND|EAI_AGAIN|EPIPE|ETIMEDOUT|EHOST|ENETUNREACH)/;

/** The error to send to the client. Undefined where `error` is a fault of ours. */
export function toHttpError(error: unknown): HttpError | undefined {
  if (error instanceof HttpError) return error;
  const { code = "", syscall } = error instanceof Error ? (error as NodeJS.ErrnoException) : {};
  const message = UNAVAILABLE[code];
  if (message !== undefined) return unavailable(message);
  // A Unix socket fails in ways of its own: ENOENT while Postgres starts anew, EAGAIN where too many wait.
  if (UNREACHABLE.test(code) || syscall === "connect") return unavailable("The database is unreachable.");
  return undefined;
}
