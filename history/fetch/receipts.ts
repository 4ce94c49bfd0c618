import { keysOf, type Scan, scanList, scanObject, takeNull } from "../json-scan.ts";
import { addLog, BadLogError, createRawLog, type RawLog, readLog } from "./log-answer.ts";
import { dropLogs, type LogTable } from "./log-table.ts";
import { askBatch } from "../rpc/batch.ts";
import { readAnswers, sortAnswers } from "../rpc/rpc-answer.ts";
import { NodeError } from "../rpc/rpc-error.ts";
import type { RpcNode } from "../rpc/rpc-pool.ts";
import { quantityOf, type RpcCall } from "../rpc/rpc-post.ts";

const FIELDS = keysOf("logs");

type ReceiptsOptions = {
  number: number;
  isWanted: (log: RawLog) => boolean;
  post: (calls: RpcCall[]) => Promise<Buffer>;
};

/**
 * Adds a block's logs that `isWanted` keeps to a table, out of the block's receipts: these have all of them, however many
 * they are, in the order of the chain. Where indexes don't rise from log to log they are counted anew. Returns how many
 * logs the block has.
 *
 * @throws NodeError, TooLargeError
 */
export async function askForReceipts(
  node: RpcNode,
  table: LogTable,
  { number, isWanted, post }: ReceiptsOptions,
): Promise<number> {
  const { count, wordCount } = table;
  const calls = [{ method: "eth_getBlockReceipts", params: [quantityOf(number)] }];
  try {
    return await askBatch(node, { calls, post, failures: 0 }, (bytes) =>
      readReceipts(table, { bytes, number, isWanted }),
    );
  } catch (error) {
    dropLogs(table, { count, wordCount });
    if (error instanceof BadLogError) throw new NodeError(error.message, { cause: error });
    throw error;
  }
}

function readReceipts(
  table: LogTable,
  { bytes, number, isWanted }: Omit<ReceiptsOptions, "post"> & { bytes: Uint8Array },
): number {
  const log = createRawLog(bytes);
  const readLogs = (scan: Scan) => {
    const first = table.count;
    const places: number[] = [];
    let [count, last, isRising] = [0, -1, true];
    scanList(scan, () =>
      scanObject(scan, FIELDS, () => {
        if (takeNull(scan)) return;
        scanList(scan, () => {
          readLog(scan, log);
          if (log.blockNumber !== number)
            throw new BadLogError(`The receipts of block ${number} have a log of block ${log.blockNumber}.`);
          isRising &&= log.logIndex > last;
          last = log.logIndex;
          if (isWanted(log)) {
            addLog(table, log);
            places.push(count);
          }
          count++;
        });
      }),
    );
    if (!isRising) table.logIndexOf.set(places, first);
    return count;
  };
  const [count] = sortAnswers(readAnswers(bytes, readLogs), 1);
  if (count === undefined) throw new NodeError("It answers null.");
  return count;
}
