import { type Chunk, type LogColumns } from "../chain-log.ts";
import {
  addKnownParts,
  appendLogs,
  columnsOf,
  createAppender,
  createLogTable,
  type LogTable,
} from "../fetch/log-table.ts";
import { listMatching } from "../matching-logs.ts";
import { createMatcher, type LogFilter, type LogMatcher } from "../wanted.ts";

/**
 * Merges streams of chunks over the same blocks into one. The result has each log once, and only those of a filter.
 * `isExact`: there is one stream, and all of its logs are wanted.
 */
export async function* mergeChunks(
  streams: AsyncGenerator<Chunk>[],
  { filter, fromBlock, toBlock, isExact }: { filter: LogFilter; fromBlock: number; toBlock: number; isExact: boolean },
): AsyncGenerator<Chunk> {
  const matches = createMatcher(filter);
  const current: (Chunk | undefined)[] = streams.map(() => undefined);
  try {
    for (let next = fromBlock; next <= toBlock;) {
      for (const [at, stream] of streams.entries()) {
        while (!current[at] || current[at].toBlock < next) {
          const { value, done } = await stream.next();
          if (done) throw new Error(`There are no logs of block ${next}.`);
          current[at] = value;
        }
      }
      const chunks = current as Chunk[];
      const end = Math.min(toBlock, ...chunks.map((chunk) => chunk.toBlock));
      const [first] = chunks;
      const isWhole = isExact && first!.fromBlock === next && first!.toBlock === end;
      yield isWhole ? first! : mergeRange(chunks, { fromBlock: next, toBlock: end, matches });
      next = end + 1;
    }
  } finally {
    await Promise.all(streams.map((stream) => stream.return(undefined)));
  }
}

function mergeRange(
  chunks: Chunk[],
  { fromBlock, toBlock, matches }: { fromBlock: number; toBlock: number; matches: LogMatcher },
): Chunk {
  const parts = chunks.map(({ logs }) => ({ logs, places: listMatching(logs, { fromBlock, toBlock, matches }) }));
  const table = createLogTable();
  const [only, ...others] = parts.filter(({ places }) => places.length > 0);
  if (only && others.length === 0) appendLogs(table, only.logs, only.places);
  else appendInOrder(table, parts);
  return { fromBlock, toBlock, logs: columnsOf(table) };
}

/** Appends logs of several parts in the order of the chain. Parts may share logs: each is appended once. */
function appendInOrder(table: LogTable, parts: { logs: LogColumns; places: number[] }[]): void {
  const all = parts.flatMap(({ logs, places }, part) =>
    places.map((log) => ({ part, log, block: logs.blocks.numbers[logs.blockOf[log]!]!, index: logs.logIndexOf[log]! })),
  );
  all.sort((a, b) => a.block - b.block || a.index - b.index || a.part - b.part);
  const append = parts.map(({ logs }) => createAppender(table, logs));
  for (const [at, { part, log, block, index }] of all.entries()) {
    const before = all[at - 1];
    if (before?.block === block && before.index === index) addKnownParts(table, parts[part]!.logs, log);
    else append[part]!(log);
  }
}
