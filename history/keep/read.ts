import { setTimeout as sleep } from "node:timers/promises";
import type { Sql } from "postgres";
import type { Chain, Chunk } from "../chain-log.ts";
import { ensureFilter, type KeptFilter, keepChunk, listKept, readChunk } from "./chunk-store.ts";
import { fetchLogs } from "../fetch/fetch.ts";
import { needsForm, type QueryForm } from "../fetch/log-query.ts";
import { appendLogs, columnsOf, createLogTable } from "../fetch/log-table.ts";
import { dropReplaced } from "./kept-check.ts";
import { mergeChunks } from "./merge.ts";
import { probeForm } from "../fetch/probe.ts";
import { releaseLogs } from "../release.ts";
import type { RpcNode, RpcPool } from "../rpc/rpc-pool.ts";
import { addTransactionParts } from "../fetch/transaction.ts";
import { listMatching } from "../matching-logs.ts";
import { createMatcher, type LogFilter, missingOf, normalize, otherNotesOf } from "../wanted.ts";

/** Logs in a chunk. More of them compress better, and take more memory. */
const CHUNK_LOGS = 16_000;

/** A chunk is kept after so long however few logs it has: a killed process has to fetch no more than that again. */
const CHUNK_MS = 10_000;

/** How long to wait until one URL has told which form of query it understands, and then for the other URLs. */
const PROBE_TIMEOUT_MS = 10_000;
const FURTHER_PROBES_MS = 500;

/** Which logs to read. `onProblem` gets a line about a node that fails, a wrong answer, a damaged chunk. */
type ReadOptions = {
  chain: Chain;
  filter: LogFilter;
  fromBlock: number;
  toBlock: number;
  signal: AbortSignal;
  onProblem: (line: string) => void;
};

/** Blocks up to `toBlock` for which the same filters are kept and the same logs are missing. */
type Segment = { toBlock: number; kept: KeptFilter[]; missing: LogFilter };

/** Thrown where a kept chunk was damaged: then it is looked up again what is kept. */
class DamageError extends Error {}

/** All logs of a filter, in order. Logs that aren't kept yet are fetched and kept. */
export async function* readLogs(sql: Sql, pool: RpcPool, options: ReadOptions): AsyncGenerator<Chunk> {
  const wanted = normalize(options.filter);
  const forms = new Map<RpcNode, QueryForm>();
  let isProbed = false;
  let isChecked = false;
  for (let next = options.fromBlock; next <= options.toBlock;) {
    const all = await listKept(sql, options.chain);
    const useful = all.filter(({ filter }) => addsTo([], filter, wanted));
    for (const kept of isChecked ? [] : useful) {
      const from = await dropReplaced(sql, pool, { kept, toBlock: options.toBlock });
      if (from !== undefined) options.onProblem(`The chain has replaced what was kept from block ${from} on.`);
    }
    isChecked = true;
    try {
      while (next <= options.toBlock) {
        const segment = segmentAt(next, { wanted, kept: useful, toBlock: options.toBlock });
        if (needsForm(segment.missing) && !isProbed) {
          await probeForms(pool, forms, { ...options, filter: segment.missing });
          isProbed = true;
        }
        const range = { fromBlock: next, toBlock: segment.toBlock };
        const streams = segment.kept.map((kept) => readKept(sql, { ...options, ...range, filter: wanted, kept }));
        if (segment.missing.length > 0)
          streams.push(fetchAndKeep(sql, pool, { ...options, ...range, filter: segment.missing, forms }));
        const isWhole = isExact(segment, wanted);
        for await (const chunk of mergeChunks(streams, { ...range, filter: wanted, isExact: isWhole })) {
          const asking = { order: chunk.fromBlock, filter: wanted };
          // Also where all is of one stream: a contract that is named since as one of the draft moved no tokens for it.
          if (!isWhole) await addTransactionParts(pool, chunk.logs, asking);
          next = chunk.toBlock + 1;
          yield chunk;
        }
      }
    } catch (error) {
      if (!(error instanceof DamageError)) throw error;
      options.onProblem(error.message);
    }
  }
}

/** The segment that begins at a block. */
function segmentAt(
  block: number,
  { wanted, kept, toBlock }: { wanted: LogFilter; kept: KeptFilter[]; toBlock: number },
): Segment {
  let end = toBlock;
  const here: KeptFilter[] = [];
  for (const one of kept) {
    const { ranges } = one;
    let at = ranges.findIndex((range) => range.toBlock >= block);
    if (at < 0) continue;
    if (ranges[at]!.fromBlock > block) {
      end = Math.min(end, ranges[at]!.fromBlock - 1);
      continue;
    }
    while (ranges[at + 1]?.fromBlock === ranges[at]!.toBlock + 1) at++;
    end = Math.min(end, ranges[at]!.toBlock);
    here.push(one);
  }
  // Filters that add nothing to those before them are not read.
  const used = here.filter((one, at) => {
    const before = here.slice(0, at).map(({ filter }) => filter);
    return addsTo(before, one.filter, wanted);
  });
  const filters = used.map(({ filter }) => filter);
  return { toBlock: end, kept: used, missing: missingOf(wanted, filters) };
}

/** Whether a filter has logs that are wanted and that the filters before it don't have. */
function addsTo(before: LogFilter[], filter: LogFilter, wanted: LogFilter): boolean {
  return isDifferent(missingOf(wanted, before), missingOf(wanted, [...before, filter]));
}

const isDifferent = (a: LogFilter, b: LogFilter) => JSON.stringify(a) !== JSON.stringify(b);

/** Whether a segment is read as one stream, all of whose logs are wanted. */
function isExact({ kept, missing }: Segment, wanted: LogFilter): boolean {
  const filters = [...kept.map(({ filter }) => filter), ...(missing.length > 0 ? [missing] : [])];
  return filters.length === 1 && !isDifferent(filters[0]!, wanted);
}

/** The kept chunks of a filter, without notes that aren't wanted. @throws DamageError where a chunk can't be read */
async function* readKept(
  sql: Sql,
  { kept, filter, fromBlock, toBlock }: ReadOptions & { kept: KeptFilter },
): AsyncGenerator<Chunk> {
  const otherNotes = otherNotesOf(kept.filter, filter);
  const matches = createMatcher(otherNotes);
  const ranges = kept.ranges.filter((range) => range.toBlock >= fromBlock && range.fromBlock <= toBlock);
  // The next chunk is read while this one is worked on.
  const read = (at: number) => {
    const range = ranges[at];
    const chunk = range && readChunk(sql, { ...range, filterId: kept.filterId });
    chunk?.catch(() => {});
    return chunk;
  };
  let upcoming = read(0);
  for (const [at, range] of ranges.entries()) {
    const chunk = await upcoming;
    if (!chunk) {
      const blocks = `${range.fromBlock} to ${range.toBlock}`;
      throw new DamageError(`What was kept of blocks ${blocks} is damaged; it is fetched again`);
    }
    upcoming = read(at + 1);
    if (otherNotes.length > 0)
      for (const log of listMatching(chunk.logs, { ...chunk, matches })) chunk.logs.notes?.delete(log);
    yield chunk;
  }
}

async function* fetchAndKeep(
  sql: Sql,
  pool: RpcPool,
  options: ReadOptions & { forms: Map<RpcNode, QueryForm> },
): AsyncGenerator<Chunk> {
  const { chain, filter, fromBlock, toBlock } = options;
  const filterId = await ensureFilter(sql, chain, filter);
  let next = fromBlock;
  let table = createLogTable();
  let keeping: Promise<unknown> = Promise.resolve();
  let keptAt = performance.now();
  try {
    for await (const range of fetchLogs(pool, options)) {
      const { logs, order } = range;
      appendLogs(table, logs, order ?? logs.blockOf.keys());
      releaseLogs(logs);
      const isDue = table.count >= CHUNK_LOGS || performance.now() - keptAt > CHUNK_MS;
      if (!isDue && range.toBlock < toBlock) continue;
      const chunk = { fromBlock: next, toBlock: range.toBlock, logs: columnsOf(table) };
      await keeping;
      keeping = keepChunk(sql, { filterId, chunk, lastBlockHash: range.lastHeader.hash });
      keeping.catch(() => {});
      yield chunk;
      next = range.toBlock + 1;
      table = createLogTable();
      keptAt = performance.now();
    }
  } finally {
    await keeping;
  }
}

/**
 * Finds out which form of query each URL understands. Until a URL has told, it is asked in the form that all
 * understand.
 */
async function probeForms(
  pool: RpcPool,
  forms: Map<RpcNode, QueryForm>,
  { filter, toBlock }: { filter: LogFilter; toBlock: number },
): Promise<void> {
  const probes = pool.nodes.map(async (node) => {
    const form = await probeForm(pool, node, { filter, toBlock });
    if (form) forms.set(node, form);
  });
  const withTimeout = (promise: Promise<unknown>, ms: number) =>
    Promise.race([promise.catch(() => {}), sleep(ms, undefined, { ref: false })]);
  await withTimeout(Promise.any(probes), PROBE_TIMEOUT_MS);
  await withTimeout(Promise.allSettled(probes), FURTHER_PROBES_MS);
}
