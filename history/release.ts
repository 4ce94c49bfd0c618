import type { LogColumns } from "./chain-log.ts";

/** Below, memory may be a piece of what Node shares among buffers. */
const LEAST_BYTES = 2 ** 17;

/**
 * Gives memory back at once. Left to the garbage collector, some 64 MB of buffers that nobody needs any more pile up in
 * each thread before it looks at them. What is released must not be read again.
 */
export function release(...views: ArrayBufferView[]): void {
  for (const { buffer } of views)
    if (buffer instanceof ArrayBuffer && buffer.byteLength >= LEAST_BYTES) buffer.transfer(0);
}

/** Gives back the memory of logs that have been worked on. */
export function releaseLogs(logs: LogColumns): void {
  release(...viewsOf(logs));
}

/** All memory of logs, each piece with an array buffer of its own. */
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
