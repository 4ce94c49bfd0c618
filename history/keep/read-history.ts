import { Worker } from "node:worker_threads";
import type { Chain, Chunk } from "../chain-log.ts";
import { releaseLogs } from "../release.ts";
import type { LogFilter } from "../wanted.ts";

/** How many chunks are made ready ahead. Each has some megabytes. */
const PREFETCH = 2;

/** The limit of the reader thread's heap. Most of its memory is in buffers, which don't count. */
const READER_HEAP_MB = 64;
const READER_YOUNG_MB = 6;

/** Which logs to read, and from where. */
export type HistoryOptions = {
  databaseUrl: string;
  chain: Chain;
  rpcUrls: string[];
  /** See `filterOfSources`. */
  filter: LogFilter;
  /** The first block to read: a load that was interrupted goes on there. */
  fromBlock: number;
  toBlock: number;
  /** Called with a line about a node that fails, a wrong answer, a damaged chunk. */
  onProblem?: (line: string) => void;
};

/** What the reader thread tells. Nothing follows a failure or the end. */
export type FromReader =
  | { kind: "chunk"; chunk: Chunk }
  | { kind: "problem"; line: string }
  | { kind: "failure"; error: Error }
  | { kind: "end" };
/** What the reader thread is told: to send one more chunk, or to end. */
export type ToReader = "more" | "stop";

/**
 * All logs of a filter in [fromBlock, toBlock], in order. A thread fetches what isn't kept yet, keeps it, and waits
 * while the chunks it has made ready aren't taken. Nodes that fail are asked again for ever. Ending the iteration ends
 * the thread. A chunk's memory is freed when the next chunk is asked for, so it must not be read after that.
 *
 * @throws Error where the database fails
 */
export async function* readHistory(options: HistoryOptions): AsyncGenerator<Chunk> {
  const { onProblem, ...workerData } = options;
  const worker = new Worker(new URL("reader.ts", import.meta.url), {
    workerData,
    resourceLimits: { maxOldGenerationSizeMb: READER_HEAP_MB, maxYoungGenerationSizeMb: READER_YOUNG_MB },
  });
  const exited = new Promise<void>((resolve) => worker.once("exit", () => resolve()));
  const tell = (message: ToReader) => worker.postMessage(message, []);
  const chunks: Chunk[] = [];
  let end: { error?: Error } | undefined;
  let changed = Promise.withResolvers<void>();
  const announce = () => {
    changed.resolve();
    changed = Promise.withResolvers();
  };
  worker.on("message", (message: FromReader) => {
    if (message.kind === "chunk") chunks.push(withBuffers(message.chunk));
    else if (message.kind === "problem") onProblem?.(message.line);
    else end ??= message.kind === "end" ? {} : { error: message.error };
    announce();
  });
  const fail = (error: Error) => {
    end ??= { error };
    announce();
  };
  worker.once("error", fail);
  worker.once("exit", () => fail(new Error("The thread that reads history ended.")));
  for (let ahead = 0; ahead < PREFETCH; ahead++) tell("more");
  try {
    for (;;) {
      const chunk = chunks.shift();
      if (chunk) {
        tell("more");
        yield chunk;
        releaseLogs(chunk.logs);
      } else if (end?.error) throw end.error;
      else if (end) return;
      else await changed.promise;
    }
  } finally {
    tell("stop");
    await exited;
  }
}

/** Buffers come out of a thread as plain Uint8Arrays: makes them buffers again. */
function withBuffers({ logs, ...range }: Chunk): Chunk {
  const bufferOf = ({ buffer, byteOffset, length }: Uint8Array) => Buffer.from(buffer, byteOffset, length);
  const { blocks, transactions, words } = logs;
  return {
    ...range,
    logs: {
      ...logs,
      words: bufferOf(words),
      blocks: { ...blocks, hashes: bufferOf(blocks.hashes) },
      transactions: {
        ...transactions,
        hashes: bufferOf(transactions.hashes),
        senders: bufferOf(transactions.senders),
      },
    },
  };
}
