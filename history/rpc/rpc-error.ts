import { classifyError } from "./provider-error.ts";

/** A node's error to a call. */
export type RpcError = { code: number; message: string };

/**
 * Thrown where a node fails, doesn't answer or limits the rate. The call is repeated, elsewhere at once or here later.
 */
export class NodeError extends Error {
  /** How long the node wants to be left alone, in milliseconds, if it says so. */
  restMs?: number | undefined;
  isRateLimit = false;
  isTimeout = false;
  /** Whether the node, or a proxy before it, has answered with this error, or has cut its answer. */
  isAnswer = false;
  /** Whether it is no fault that passes: the node doesn't give what it was asked for. */
  isRefusal = false;
}

/** Thrown where more was asked for than the node gives at once. */
export class TooLargeError extends Error {
  maxBlocks?: number | undefined;
  maxLogs?: number | undefined;
  upTo?: number | undefined;
  /** Whether it may be the request that is too large, and not the answer. */
  isOfRequest = false;
}

/** Thrown where the node accepts fewer calls in one request. */
export class BatchError extends Error {}

/** Thrown where the node accepts fewer contracts in one query. */
export class AddressesError extends NodeError {
  override isAnswer = true;
}

/**
 * Whether a node has answered with an error that we don't know. What gives up on large answers may say so in any words,
 * or cut them: where such errors come again, less is to be asked for.
 */
export function isUnforeseen(error: unknown): error is NodeError {
  return error instanceof NodeError && error.isAnswer && !error.isRateLimit;
}

/**
 * Throws the error as what it means, and does nothing where there is none. @throws NodeError, TooLargeError,
 * BatchError, AddressesError
 */
export function throwIfError(error: RpcError | undefined): void {
  if (!error) return;
  const problem = classifyError(error);
  const message = `${error.message} (${error.code})`;
  if (problem.kind === "too large") throw Object.assign(new TooLargeError(message), problem);
  if (problem.kind === "batch too large") throw new BatchError(message);
  if (problem.kind === "too many addresses") throw new AddressesError(message);
  const isRateLimit = problem.kind === "rate limit";
  throw Object.assign(new NodeError(message), { isAnswer: true, isRateLimit, isRefusal: !isRateLimit });
}
