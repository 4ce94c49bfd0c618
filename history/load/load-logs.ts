import type { ReservedSql, Sql } from "postgres";
import type { Hex } from "viem";
import { type Source, tokenContractsOf } from "../../sources.ts";
import { createIsIndexed } from "../../src/indexed-contract.ts";
import type { Chunk } from "../chain-log.ts";
import { type Copy, copyInto, startCopy } from "./copy.ts";
import { type CopyBuffer, takeBytes } from "./copy-buffer.ts";
import { createDispatch } from "./dispatch.ts";
import { copyFold, foldPartition } from "../fold/fold-partition.ts";
import { createLogLoader, type LogLoader } from "./log-loader.ts";
import { findContract, markTracked } from "./contract-table.ts";
import { listMixed, planChunk, type Plan } from "./plan.ts";
import { createOrderFilter } from "./order-filter.ts";
import type { Progress } from "./progress.ts";
import { createRecorder, type Recorder } from "./recorder.ts";
import { createFinder, flush } from "./row-store.ts";
import { markSpill, type Spill } from "../fold/spill.ts";
import { type LoadMark, readContracts, writeMark } from "./staging.ts";
import { bytesOf } from "../word.ts";

/** After so many logs, everything is committed. */
const BATCH_LOGS = 50_000;

/** After so many rows in the store, everything is committed. */
const BATCH_ROWS = 50_000;

type State = {
  sql: Sql;
  schemaName: string;
  connection: ReservedSql;
  recorder: Recorder;
  loader: LogLoader;
  mark: LoadMark;
  /** The COPY into `token_event`, which lasts as long as a transaction. */
  events: Copy | undefined;
  batchLogs: number;
};

type Options = {
  schemaName: string;
  chainId: number;
  sources: readonly Source[];
  spill: Spill;
  mark: LoadMark;
  /** All logs from a block on. */
  readChunks: (fromBlock: number) => AsyncIterable<Chunk>;
  toBlock: number;
  progress: Progress;
  batchLogs?: number | undefined;
};

/** Applies all logs from the mark on, and commits at intervals. Movements of tokens are put aside in the spill. */
export async function loadLogs(sql: Sql, options: Options): Promise<void> {
  const { schemaName, chainId, sources, spill, mark, readChunks, toBlock, progress, batchLogs = BATCH_LOGS } = options;
  const recorder = createRecorder(await readContracts(sql, { schemaName }), spill);
  const isIndexed = createIsIndexed(tokenContractsOf(sources));
  const find = createFinder(sql, { schemaName });
  const orders = createOrderFilter({ isEmpty: mark.logCount === 0 });
  const loader = createLogLoader({ recorder, find, orders, isIndexed, chainId });
  const connection = await sql.reserve();
  const state: State = { sql, schemaName, connection, recorder, loader, mark, events: undefined, batchLogs: 0 };
  const dispatch = createDispatch(sources);
  const planOf = (chunk: Chunk) => planChunk(chunk, { dispatch, contracts: recorder.contracts });
  try {
    const cpuSeconds = createCpuClock();
    for await (const chunk of readChunks(mark.nextBlock)) {
      if (chunk.logs.count > 0) await applyChunk(state, chunk, planOf);
      state.mark = { ...state.mark, nextBlock: chunk.toBlock + 1, logCount: state.mark.logCount + chunk.logs.count };
      state.batchLogs += chunk.logs.count;
      if (state.batchLogs >= batchLogs || countRows(loader) >= BATCH_ROWS) await commit(state);
      progress.readLogs({ block: chunk.toBlock, logCount: state.mark.logCount, cpuSeconds: cpuSeconds() });
    }
    await commit(state);
    const { nextBlock } = state.mark;
    if (nextBlock <= toBlock) throw new Error(`Logs ended before block ${nextBlock}. Expected them up to ${toBlock}.`);
  } finally {
    connection.release();
  }
}

/** CPU time, in seconds, that this thread has used since the call. */
function createCpuClock(): () => number {
  const start = process.threadCpuUsage();
  return () => {
    const { user, system } = process.threadCpuUsage(start);
    return (user + system) / 1e6;
  };
}

async function applyChunk(state: State, chunk: Chunk, planOf: (chunk: Chunk) => Plan): Promise<void> {
  const { recorder, loader, connection, schemaName } = state;
  let plan = planOf(chunk);
  const track = async (addresses: Hex[]) => {
    if (addresses.length === 0) return;
    await commit(state);
    await trackContracts(connection, recorder, { schemaName, addresses });
    plan = planOf(chunk);
  };
  await track(listMixed(plan, recorder.contracts));
  for (;;) {
    const untracked = await loader.prepare(plan, { writeOrders: () => commit(state) });
    if (untracked.length === 0) break;
    await track(untracked);
  }
  if (!state.events) {
    await connection.unsafe("begin");
    state.events = await startCopy(connection, `"${schemaName}".token_event`);
  }
  const { events } = state;
  await loader.apply(plan, () => events.write(takeBytes(recorder.events)));
}

/** Commits all rows of the logs applied so far, together with the mark. */
async function commit(state: State): Promise<void> {
  const { connection, loader, recorder, schemaName } = state;
  if (state.events) await state.events.end();
  else await connection.unsafe("begin");
  const copyRows = async (table: string, rows: CopyBuffer) => {
    if (rows.length > 0) await copyInto(connection, `"${schemaName}".${table}`, (write) => write(takeBytes(rows)));
  };
  await copyRows("approval", recorder.approvals);
  await copyRows("trade_order", recorder.orders);
  await loader.complete();
  await flush(connection, loader.store, { schemaName });
  state.mark = { ...state.mark, spill: markSpill(recorder.spill) };
  await writeMark(connection, { schemaName, mark: state.mark });
  await connection.unsafe("commit");
  state.events = undefined;
  state.batchLogs = 0;
}

/** Tracks contracts: makes their rows as of now, to which their movements are applied from now on. */
export async function trackContracts(
  connection: Pick<Sql, "unsafe">,
  { contracts, spill }: Pick<Recorder, "contracts" | "spill">,
  { schemaName, addresses }: { schemaName: string; addresses: readonly Hex[] },
): Promise<void> {
  await connection.unsafe("begin");
  for (const address of addresses) {
    const bytes = bytesOf(address);
    const number = findContract(contracts, bytes, 0);
    if (number >= 0) {
      const wanted = bytes.toString("hex");
      const folds = foldPartition(spill, contracts.partitionOf[number]!, { isWanted: (one) => one === wanted });
      for (const fold of folds) await copyFold(connection, fold, { schemaName });
    }
    await connection.unsafe(`insert into "${schemaName}".tracked_contract values ($1)`, [bytes]);
    markTracked(contracts, bytes);
  }
  await connection.unsafe("commit");
}

function countRows({ store }: LogLoader): number {
  let count = 0;
  for (const rows of store.entries.values()) count += rows.size;
  return count;
}
