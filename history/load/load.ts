import { rmSync } from "node:fs";
import type { Sql } from "postgres";
import type { Source } from "../../sources.ts";
import type { Chunk } from "../chain-log.ts";
import { connectForLoading } from "./connection.ts";
import { isTracked, PARTITION_COUNT } from "./contract-table.ts";
import { copyFold, foldPartition } from "../fold/fold-partition.ts";
import { createBuilder, dropFoldedKeys, finishTables, type IndexStatement } from "./index-builder.ts";
import { loadLogs, trackContracts } from "./load-logs.ts";
import { UntrackedError } from "./log-loader.ts";
import { closeSpill, openSpill, type Spill, SpillError } from "../fold/spill.ts";
import { createProgress, type HistoryProgress, type Progress } from "./progress.ts";
import { createStaging, dropStaging, listFolded, type LoadMark, readContracts, readMark } from "./staging.ts";

/** What to load, and into which schema. */
export type LoadOptions = {
  databaseUrl: string;
  /** Schema of the tables that are made. */
  schemaName: string;
  chainId: number;
  sources: readonly Source[];
  /** SQL of the indexes besides the primary keys. */
  indexes: readonly IndexStatement[];
  fromBlock: number;
  toBlock: number;
  /** All logs from a block up to `toBlock`. */
  readChunks: (fromBlock: number) => AsyncIterable<Chunk>;
  /** Directory for the files of movements, which don't fit into memory. */
  directory: string;
  onProgress?: (progress: HistoryProgress) => void;
  /** For tests: after how many logs everything is committed, and how many bytes of movements are folded at once. */
  batchLogs?: number;
  foldBytes?: number;
};

const REPORT_EVERY_MS = 250;

/**
 * Shares of the work after the last log: folding tokens and ownerships, indexes of other tables, indexes of these two.
 */
const PARTS = { folded: 0.3, others: 0.55, tokens: 0.15 };

/**
 * Makes all on-chain tables with their keys and indexes from logs. A load that was interrupted goes on where it
 * stopped. Memory doesn't grow with the number of logs. If the files in `directory` are lost, all logs are read again.
 */
export async function loadHistory(options: LoadOptions): Promise<void> {
  for (;;) {
    const { databaseUrl, schemaName } = options;
    const sql = connectForLoading(databaseUrl, { name: schemaName });
    try {
      await loadFromMark(sql, options);
      return await sql.end();
    } catch (error) {
      if (error instanceof SpillError) await dropStaging(sql, options);
      else if (error instanceof UntrackedError) await track(sql, options, error);
      else throw error;
    } finally {
      // A connection in the middle of a COPY can't be used again.
      await sql.end({ timeout: 0 });
    }
  }
}

async function loadFromMark(sql: Sql, options: LoadOptions): Promise<void> {
  const { schemaName, fromBlock, toBlock, directory, onProgress = () => {} } = options;
  await createStaging(sql, { schemaName });
  const mark = (await readMark(sql, { schemaName })) ?? { nextBlock: fromBlock, logCount: 0, spill: undefined };
  const progress = createProgress({ fromBlock: mark.nextBlock, toBlock, logCount: mark.logCount, onProgress });
  const timer = setInterval(progress.report, REPORT_EVERY_MS);
  try {
    await loadParts(sql, { ...options, mark, progress });
  } finally {
    clearInterval(timer);
  }
  rmSync(directory, { recursive: true, force: true });
}

/** Does what isn't done yet: reads the logs, makes the rows and the indexes. */
async function loadParts(sql: Sql, options: LoadOptions & { mark: LoadMark; progress: Progress }): Promise<void> {
  const { schemaName, toBlock, directory, mark } = options;
  const folded = await listFolded(sql, { schemaName });
  if (folded.size < PARTITION_COUNT) {
    const spill = openSpill(directory, { partitions: PARTITION_COUNT, marks: mark.spill });
    try {
      if (mark.nextBlock <= toBlock) await loadLogs(sql, { ...options, spill });
      await finish(sql, { ...options, spill, folded });
    } finally {
      closeSpill(spill);
    }
  } else await finish(sql, { ...options, spill: undefined, folded });
}

/** Does the work after the last log. Folding and indexing run at the same time, on two cores of the database. */
async function finish(
  sql: Sql,
  options: LoadOptions & { spill: Spill | undefined; folded: Set<number>; progress: Progress },
): Promise<void> {
  const { folded, progress } = options;
  const shares = { folded: 0, others: 0, tokens: 0 };
  const onShare = (part: keyof typeof shares) => (share: number) => {
    shares[part] = share;
    progress.finishPart(Object.entries(shares).reduce((sum, [name, one]) => sum + one * PARTS[name as typeof part], 0));
  };
  if (folded.size === 0) await dropFoldedKeys(sql, options);
  const builder = createBuilder(sql, options);
  const isFolded = (table: string) => table === "token" || table === "ownership";
  const built = builder.build((table) => !isFolded(table), onShare("others"));
  // `built` is awaited below. Until then its failure must not count as unhandled.
  built.catch(() => {});
  await foldAll(sql, options, onShare("folded"));
  await Promise.all([built, builder.build(isFolded, onShare("tokens"))]);
  await finishTables(sql, options);
}

/** Makes the rows of token and ownership for all contracts that aren't tracked. */
async function foldAll(
  sql: Sql,
  { schemaName, foldBytes, spill, folded }: LoadOptions & { spill: Spill | undefined; folded: Set<number> },
  onFolded: (share: number) => void,
): Promise<void> {
  if (!spill) return;
  const contracts = await readContracts(sql, { schemaName });
  const isWanted = (address: string) => !isTracked(contracts, Buffer.from(address, "hex"));
  // One more than the bytes there are, so that it is never 0.
  const bytes = spill.partitions.reduce((sum, { size }) => sum + size, 1);
  // Empty partitions are noted in one statement: 64 transactions took a sixth of the time of a short history.
  const empty = [...spill.partitions.keys()].filter(
    (index) => spill.partitions[index]!.size === 0 && !folded.has(index),
  );
  await sql.unsafe(`insert into "${schemaName}".folded_partition select unnest($1::text::int[])`, [
    `{${empty.join()}}`,
  ]);
  let done = 1;
  for (const [index, { size }] of spill.partitions.entries()) {
    done += size;
    if (folded.has(index) || size === 0) continue;
    await sql.begin(async (tx) => {
      for (const fold of foldPartition(spill, index, { isWanted, foldBytes })) await copyFold(tx, fold, { schemaName });
      await tx.unsafe(`insert into "${schemaName}".folded_partition values ($1)`, [index]);
    });
    onFolded(done / bytes);
  }
}

async function track(
  sql: Sql,
  { schemaName, directory }: LoadOptions,
  { contractAddress }: UntrackedError,
): Promise<void> {
  const mark = await readMark(sql, { schemaName });
  const spill = openSpill(directory, { partitions: PARTITION_COUNT, marks: mark?.spill });
  const contracts = await readContracts(sql, { schemaName });
  const connection = await sql.reserve();
  await trackContracts(connection, { contracts, spill }, { schemaName, addresses: [contractAddress] });
  connection.release();
  closeSpill(spill);
}
