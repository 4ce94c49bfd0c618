import { JsonError, skipValue } from "./json-scan.ts";
import { readAnswers, sortAnswers } from "./rpc-answer.ts";
import { BatchError, NodeError } from "./rpc-error.ts";
import type { RpcNode } from "./rpc-pool.ts";
import { CHEAPEST_CALL, type RpcCall } from "./rpc-post.ts";

/** Who is asked too often answers after a rest, but not where each call of a batch counts and there are too many in it. */
const LIMITS_BEFORE_DOUBT = 4;

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
    const isRefused =
      failure instanceof BatchError ||
      (failure instanceof NodeError &&
        failures >= (failure.isRateLimit ? LIMITS_BEFORE_DOUBT : 1) &&
        !(await isAnswered(post, calls.length)) &&
        (await isAnswered(post, 1)));
    if (!isRefused) throw failure;
    node.batchSize = Math.min(node.batchSize, Math.floor(calls.length / 2));
    throw new BatchError(failure.message, { cause: failure });
  }
}

async function isAnswered(post: Post, count: number): Promise<boolean> {
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
