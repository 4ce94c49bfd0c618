import { classifyError } from "./provider-error.ts";

/** What a node says of a call. */
export type RpcError = { code: number; message: string };

/** The node didn't answer, or says that it was asked too often. It is asked again later, another one at once. */
export class NodeError extends Error {
  /** How long it wants to be left alone, if it says so. */
  restMs?: number | undefined;
  isRateLimit = false;
  isTimeout = false;
  /** It is what the node, or what stands before it, said of a call. */
  isAnswer = false;
}

/** More than the node gives at once. */
export class TooLargeError extends Error {
  maxBlocks?: number | undefined;
  maxLogs?: number | undefined;
  upTo?: number | undefined;
  /** It may be the request that is too large, and not its answer. */
  isOfRequest = false;
}

/** The node gives fewer calls in one request than it was sent. */
export class BatchError extends Error {}

/** The node looks for the logs of fewer contracts at once. */
export class AddressesError extends NodeError {
  override isAnswer = true;
}

/** @throws NodeError, TooLargeError, BatchError, AddressesError as the node's error means; nothing where there is none */
export function throwIfError(error: RpcError | undefined): void {
  if (!error) return;
  const problem = classifyError(error);
  const message = `${error.message} (${error.code})`;
  if (problem.kind === "too large") throw Object.assign(new TooLargeError(message), problem);
  if (problem.kind === "batch too large") throw new BatchError(message);
  if (problem.kind === "too many addresses") throw new AddressesError(message);
  throw Object.assign(new NodeError(message), { isAnswer: true, isRateLimit: problem.kind === "rate limit" });
}
