/** The thread that fetches, keeps and reads logs, so that loading has a core of its own. See `readHistory`. */
import { createPool } from "../../postgres/pool.ts";
import { parentPort, workerData } from "node:worker_threads";
import type { Chunk } from "../chain-log.ts";
import { readLogs } from "./read.ts";
import type { FromReader, HistoryOptions, ToReader } from "./read-history.ts";
import { viewsOf } from "../release.ts";
import { createRpcPool } from "../rpc/rpc-pool.ts";

const port = parentPort!;
const options = workerData as Pick<
  HistoryOptions,
  "databaseUrl" | "chain" | "rpcUrls" | "filter" | "fromBlock" | "toBlock"
>;
const send = (message: FromReader, transfer: ArrayBuffer[] = []) => port.postMessage(message, transfer);
const stop = new AbortController();
/** How many chunks were asked for and not sent yet. */
const asked = { count: 0, more: Promise.withResolvers<void>() };
port.on("message", (message: ToReader) => {
  if (message === "stop") stop.abort(new Error("It was told to stop."));
  else asked.count++;
  asked.more.resolve();
});

const onProblem = (line: string) => send({ kind: "problem", line });
const sql = createPool(options.databaseUrl, { max: 3 });
const pool = createRpcPool(options.rpcUrls, { chain: options.chain, signal: stop.signal, onProblem });
try {
  for await (const chunk of readLogs(sql, pool, { ...options, signal: stop.signal, onProblem })) {
    while (asked.count === 0) {
      stop.signal.throwIfAborted();
      asked.more = Promise.withResolvers();
      await asked.more.promise;
    }
    asked.count--;
    send({ kind: "chunk", chunk }, buffersOf(chunk));
  }
  send({ kind: "end" });
} catch (error) {
  send({ kind: "failure", error: error as Error });
} finally {
  stop.abort();
  pool.close();
  await sql.end({ timeout: 1 });
  port.close();
}

/** All memory of a chunk, to be transferred instead of copied. */
function buffersOf({ logs }: Chunk): ArrayBuffer[] {
  return viewsOf(logs).map(({ buffer }) => buffer as ArrayBuffer);
}
