import { setTimeout as sleep } from "node:timers/promises";
import { JsonError, skipValue } from "../json-scan.ts";
import { readAnswers, sortAnswers } from "./rpc-answer.ts";
import { BatchError, NodeError, TooLargeError } from "./rpc-error.ts";
import type { RpcNode } from "./rpc-pool.ts";
import { CHEAPEST_CALL, type RpcCall } from "./rpc-post.ts";

/**
 * A rate limit passes after a rest. After so many in a row the batch is suspected: the node may count each of its
 * calls.
 */
const LIMITS_BEFORE_DOUBT = 4;

/**
 * After this rest a node that limits calls per second has forgotten earlier ones, so a test shows what the batch does.
 */
const FORGOTTEN_MS = 1_100;

type Post = (calls: RpcCall[]) => Promise<Buffer>;

/**
 * Sends calls as one request. Nodes refuse batches with any error or with none, or leave answers out. So after
 * `failures` failures, a batch that fails again is compared with a batch of as many of the cheapest calls: if that
 * fails too, and a single call doesn't, the node wants smaller batches.
 *
 * @throws BatchError where the node wants fewer calls at once
 *
 * @throws NodeError, TooLargeError
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

/** Whether a batch of so many of the cheapest calls is answered, after a rest. */
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
