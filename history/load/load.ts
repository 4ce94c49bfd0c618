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

export type LoadOptions = {
  databaseUrl: string;
  /** Of the tables that are made. */
  schemaName: string;
  sources: readonly Source[];
  /** What makes the indexes beside the primary keys. */
  indexes: readonly IndexStatement[];
  fromBlock: number;
  toBlock: number;
  /** All logs from a block up to `toBlock`. */
  readChunks: (fromBlock: number) => AsyncIterable<Chunk>;
  /** For what doesn't fit into memory. */
  directory: string;
  onProgress?: (progress: HistoryProgress) => void;
  /** Logs after which all is committed, and bytes of movements that are folded at once. */
  batchLogs?: number;
  foldBytes?: number;
};

const REPORT_EVERY_MS = 250;

/** Of the work after the last log: rows of tokens and ownerships, indexes of the other tables, and theirs. */
const PARTS = { folded: 0.3, others: 0.55, tokens: 0.15 };

/**
 * Makes all on-chain tables with their keys and indexes out of logs, from where it was left off. Memory doesn't grow with
 * the number of logs. What is put aside in `directory` may be lost: then the logs are read again.
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
      // A connection in the middle of a COPY is of no more use.
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

/** What isn't done yet of the logs, the rows and the indexes. */
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

/** Makes what is made of all logs together. The two halves of the work keep two cores of the database busy. */
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
  // It is waited for below; until then its failure isn't unhandled.
  built.catch(() => {});
  await foldAll(sql, options, onShare("folded"));
  await Promise.all([built, builder.build(isFolded, onShare("tokens"))]);
  await finishTables(sql, options);
}

/** Makes the rows of tokens and ownerships of all contracts that aren't tracked. */
async function foldAll(
  sql: Sql,
  { schemaName, foldBytes, spill, folded }: LoadOptions & { spill: Spill | undefined; folded: Set<number> },
  onFolded: (share: number) => void,
): Promise<void> {
  if (!spill) return;
  const contracts = await readContracts(sql, { schemaName });
  const isWanted = (address: string) => !isTracked(contracts, Buffer.from(address, "hex"));
  // One more than there are, which may be none.
  const bytes = spill.partitions.reduce((sum, { size }) => sum + size, 1);
  // All at once: 64 transactions were a sixth of what a short history takes.
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
