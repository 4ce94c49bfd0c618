import type { LogColumns } from "./chain-log.ts";

/** Smaller buffers may be a part of a pool that Node shares among buffers. */
const LEAST_BYTES = 2 ** 17;

/**
 * Frees memory at once. The garbage collector would let some 64 MB of unused buffers pile up in each thread. What is
 * released must not be read again.
 */
export function release(...views: ArrayBufferView[]): void {
  for (const { buffer } of views)
    if (buffer instanceof ArrayBuffer && buffer.byteLength >= LEAST_BYTES) buffer.transfer(0);
}

/** Frees the memory of logs that aren't needed any more. */
export function releaseLogs(logs: LogColumns): void {
  release(...viewsOf(logs));
}

/** All buffers of logs. Each has an ArrayBuffer of its own. */
export function viewsOf(logs: LogColumns): ArrayBufferView[] {
  const { blocks, transactions } = logs;
  return [
    logs.blockOf,
    logs.transactionOf,
    logs.logIndexOf,
    logs.addressOf,
    logs.topicCountOf,
    logs.wordStartOf,
    logs.wordOf,
    logs.words,
    blocks.numbers,
    blocks.timestamps,
    blocks.hashes,
    transactions.hashes,
    transactions.senders,
    transactions.hasSender,
  ];
}
