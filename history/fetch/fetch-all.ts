import { askBatch } from "../rpc/batch.ts";
import type { Scan } from "../json-scan.ts";
import { readAnswers, sortAnswers } from "../rpc/rpc-answer.ts";
import { BatchError, isUnforeseen, NodeError, TooLargeError } from "../rpc/rpc-error.ts";
import type { AskOptions, RpcPool } from "../rpc/rpc-pool.ts";
import type { RpcCall } from "../rpc/rpc-post.ts";

/** The results of many calls. They are sent in batches as large as nodes accept. */
export async function fetchAll<T>(
  pool: RpcPool,
  calls: RpcCall[],
  options: AskOptions & {
    readResult: (scan: Scan) => T;
    /** As in `readAnswers`. */
    skipped?: T;
    /** @throws NodeError where a call's result is impossible */
    check: (result: T | undefined, call: number) => void;
  },
): Promise<T[]> {
  const size = Math.min(...pool.nodes.map(({ batchSize }) => batchSize));
  const fetchPart = async (start: number, end: number, refusals = 0): Promise<T[]> => {
    const part = calls.slice(start, end);
    let failures = refusals;
    try {
      return await pool.ask(options, async (node, post) => {
        try {
          if (part.length > node.batchSize) throw new BatchError("Learned meanwhile.");
          // Other batches of the same size may have failed meanwhile: their failures count, too.
          const before = Math.max(failures++, node.failuresInARow);
          return await askBatch(node, { calls: part, post, failures: before }, (bytes) => {
            const results = sortAnswers(readAnswers(bytes, options.readResult, options), part.length);
            for (const [at, result] of results.entries()) options.check(result, start + at);
            return results as T[];
          });
        } catch (error) {
          // A single call can't be made smaller, so any other limit is the node's failure.
          const isSmallest = part.length === 1 && (error instanceof TooLargeError || error instanceof BatchError);
          if (isSmallest) throw new NodeError(error.message, { cause: error });
          const isRepeated = part.length > 1 && failures - refusals > 1;
          if (isRepeated && error instanceof NodeError && (error.isTimeout || isUnforeseen(error)))
            throw new TooLargeError(error.message, { cause: error });
          throw error;
        }
      });
    } catch (error) {
      // Too many calls, or their answers are too large together: half of them are asked for at once.
      if (!(error instanceof TooLargeError || error instanceof BatchError)) throw error;
      const middle = Math.ceil((start + end) / 2);
      return (await Promise.all([fetchPart(start, middle, failures), fetchPart(middle, end, failures)])).flat();
    }
  };
  const starts = Array.from({ length: Math.ceil(calls.length / size) }, (_, index) => index * size);
  const parts = await Promise.all(starts.map((start) => fetchPart(start, Math.min(calls.length, start + size))));
  return parts.flat();
}
