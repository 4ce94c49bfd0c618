import type { Hex } from "viem";
import { askBatch } from "../rpc/batch.ts";
import {
  keysOf,
  readHexStart,
  readQuantity,
  type Scan,
  scanObject,
  scanString,
  takeNull,
  unexpected,
} from "../json-scan.ts";
import { readAnswers, sortAnswers } from "../rpc/rpc-answer.ts";
import { BatchError, NodeError, TooLargeError } from "../rpc/rpc-error.ts";
import type { AskOptions, RpcPool } from "../rpc/rpc-pool.ts";
import { quantityOf, type RpcCall } from "../rpc/rpc-post.ts";

/** What is read of a block. */
export type BlockHeader = { number: number; hash: Hex; parentHash: Hex; timestamp: number; logsBloom: Hex };

const FIELDS = keysOf("number", "timestamp", "hash", "parentHash", "logsBloom");
const BLOOM_DIGITS = 512;

/** Where a node tells no bloom: one that says nothing. */
const NO_BLOOM: Hex = `0x${"0".repeat(BLOOM_DIGITS)}`;

/**
 * Headers of blocks, in their order, by batched requests.
 *
 * `order` and `avoid` as in `RpcPool.ask`: hashes from another node than the logs came from say more.
 */
export async function fetchHeaders(pool: RpcPool, numbers: number[], options: AskOptions): Promise<BlockHeader[]> {
  const calls = numbers.map((number): RpcCall => ({
    method: "eth_getBlockByNumber",
    params: [quantityOf(number), false],
  }));
  return fetchAll(pool, calls, {
    ...options,
    readResult: readHeader,
    check: (header, call) => {
      const number = numbers[call]!;
      if (header?.number !== number) throw new NodeError(`It doesn't have block ${number}.`);
    },
  });
}

/** The results of many calls, in batches as large as nodes take them. */
export async function fetchAll<T>(
  pool: RpcPool,
  calls: RpcCall[],
  options: AskOptions & {
    readResult: (scan: Scan) => T;
    /** @throws NodeError where the result of the call can't be right */
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
          // Others of the same size may have failed instead of this one.
          const before = Math.max(failures++, node.failuresInARow);
          return await askBatch(node, { calls: part, post, failures: before }, (bytes) => {
            const results = sortAnswers(readAnswers(bytes, options.readResult), part.length);
            for (const [at, result] of results.entries()) options.check(result, start + at);
            return results as T[];
          });
        } catch (error) {
          // A limit of another kind, or time that ran out: nothing smaller can be asked for.
          const isSmallest = part.length === 1 && (error instanceof TooLargeError || error instanceof BatchError);
          throw isSmallest ? new NodeError(error.message, { cause: error }) : error;
        }
      });
    } catch (error) {
      // Too many calls, or answers that are too large together.
      if (!(error instanceof TooLargeError || error instanceof BatchError)) throw error;
      const middle = Math.ceil((start + end) / 2);
      return (await Promise.all([fetchPart(start, middle, failures), fetchPart(middle, end, failures)])).flat();
    }
  };
  const starts = Array.from({ length: Math.ceil(calls.length / size) }, (_, index) => index * size);
  const parts = await Promise.all(starts.map((start) => fetchPart(start, Math.min(calls.length, start + size))));
  return parts.flat();
}

function readHeader(scan: Scan): BlockHeader {
  const header: Partial<BlockHeader> = { logsBloom: NO_BLOOM };
  const { bytes } = scan;
  const hexAt = (digits: number): Hex => {
    const start = readHexStart(scan, digits);
    return `0x${Buffer.from(bytes.buffer, bytes.byteOffset + start, digits)
      .toString("latin1")
      .toLowerCase()}`;
  };
  const quantity = () => {
    scanString(scan);
    return readQuantity(scan);
  };
  scanObject(scan, FIELDS, (key) => {
    if (key === 0) header.number = quantity();
    else if (key === 1) header.timestamp = quantity();
    else if (key === 2) header.hash = hexAt(64);
    else if (key === 3) header.parentHash = hexAt(64);
    else if (!takeNull(scan)) header.logsBloom = hexAt(BLOOM_DIGITS);
  });
  if (Object.keys(header).length < FIELDS.length) throw unexpected(scan);
  return header as BlockHeader;
}
