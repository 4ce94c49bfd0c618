import { setTimeout as sleep } from "node:timers/promises";
import { JsonError, skipValue } from "../json-scan.ts";
import { readAnswers, sortAnswers } from "./rpc-answer.ts";
import { BatchError, NodeError, TooLargeError } from "./rpc-error.ts";
import type { RpcNode } from "./rpc-pool.ts";
import { CHEAPEST_CALL, type RpcCall } from "./rpc-post.ts";

/** Who is asked too often answers after a rest, but not where each call of a batch counts and there are too many in it. */
const LIMITS_BEFORE_DOUBT = 4;

/** By then a node that counts by the second has forgotten what was asked before: what is asked now is judged alone. */
const FORGOTTEN_MS = 1_100;

type Post = (calls: RpcCall[]) => Promise<Buffer>;

/**
 * Sends calls as one request. Nodes refuse batches in any words, with none, or leave answers out: one that failed before
 * (`failures`: so often) is compared with as many of the cheapest calls.
 *
 * @throws BatchError where the node wants fewer calls at once, NodeError, TooLargeError
 */
export async function askBatch<T>(
  node: RpcNode,
  { calls, post, failures }: { calls: RpcCall[]; post: Post; failures: number },
  read: (bytes: Buffer) => T,
): Promise<T> {
  try {
    return read(await post(calls));
  } catch (error) {
    const failure =
      error instanceof JsonError
        ? Object.assign(new NodeError(error.message, { cause: error }), { isAnswer: true })
        : error;
    if (calls.length === 1) throw failure;
    const isDoubted =
      failure instanceof NodeError
        ? failures >= (failure.isRateLimit ? LIMITS_BEFORE_DOUBT : 1)
        : failure instanceof TooLargeError && failure.isOfRequest;
    const restMs = failure instanceof NodeError && failure.isRateLimit ? FORGOTTEN_MS : 0;
    const isRefused =
      failure instanceof BatchError ||
      (isDoubted &&
        !(await isAnswered(post, { count: calls.length, restMs })) &&
        (await isAnswered(post, { count: 1, restMs })));
    if (!isRefused) throw failure;
    node.batchSize = Math.min(node.batchSize, Math.floor(calls.length / 2));
    throw new BatchError((failure as Error).message, { cause: failure });
  }
}

/** Whether so many of the cheapest calls at once are answered, after a rest. */
async function isAnswered(post: Post, { count, restMs }: { count: number; restMs: number }): Promise<boolean> {
  if (restMs > 0) await sleep(restMs, undefined, { ref: false });
  try {
    const bytes = await post(Array.from({ length: count }, () => CHEAPEST_CALL));
    const answers = readAnswers(bytes, (scan) => {
      skipValue(scan);
      return true;
    });
    return sortAnswers(answers, count).every((isThere) => isThere);
  } catch {
    return false;
  }
}
