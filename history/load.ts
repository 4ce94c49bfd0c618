import type { Sql } from "postgres";
import type { Source } from "../sources.ts";
import type { Chunk } from "./chain-log.ts";
import { connectForLoading } from "./connection.ts";
import { type ContractTable, findContract, PARTITION_COUNT } from "./contract-table.ts";
import { copyFold, foldPartition } from "./fold-partition.ts";
import { createBuilder } from "./index-builder.ts";
import { loadLogs, trackContracts } from "./load-logs.ts";
import { UntrackedError } from "./log-loader.ts";
import { closeSpill, openSpill, type Spill, SpillError } from "./spill.ts";
import { createStaging, dropStaging, readContracts, readMark, type LoadMark } from "./staging.ts";

export type LoadOptions = {
  databaseUrl: string;
  /** Of the tables that are made. */
  schemaName: string;
  sources: readonly Source[];
  fromBlock: number;
  toBlock: number;
  /** All logs from a block up to `toBlock`. */
  readChunks: (fromBlock: number) => AsyncIterable<Chunk>;
  /** For what doesn't fit into memory. */
  directory: string;
  onMark?: (mark: LoadMark) => void;
  onStage?: (stage: string) => void;
  /** Logs after which all is committed, and bytes of movements that are folded at once. */
  batchLogs?: number;
  foldBytes?: number;
};

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
  const { schemaName, sources, fromBlock, toBlock, readChunks, directory, batchLogs, onMark = () => {} } = options;
  await createStaging(sql, { schemaName });
  const mark = await readMark(sql, { schemaName });
  const spill = openSpill(directory, { partitions: PARTITION_COUNT, marks: mark?.spill });
  try {
    const start = mark ?? { nextBlock: fromBlock, logCount: 0, spill: [] };
    if (start.nextBlock <= toBlock) {
      const { nextBlock } = await loadLogs(sql, {
        schemaName,
        sources,
        spill,
        mark: start,
        readChunks,
        onMark,
        batchLogs,
      });
      if (nextBlock <= toBlock)
        throw new Error(`Logs ended before block ${nextBlock}. Expected them up to ${toBlock}.`);
    }
    options.onStage?.("logs");
    const builder = await createBuilder(sql, { schemaName });
    const built = builder.build((table) => table !== "token" && table !== "ownership");
    built.catch(() => {});
    await foldAll(sql, spill, options);
    options.onStage?.("folded");
    await Promise.all([built, builder.build((table) => table === "token" || table === "ownership")]);
    options.onStage?.("built");
    await builder.finish();
    options.onStage?.("finished");
  } finally {
    closeSpill(spill);
  }
}

/** Makes the rows of tokens and ownerships of all contracts that aren't tracked. */
async function foldAll(sql: Sql, spill: Spill, { schemaName, foldBytes }: LoadOptions): Promise<void> {
  const contracts = await readContracts(sql, { schemaName });
  const done = await sql<{ partition: number }[]>`select partition from ${sql(schemaName)}.folded_partition`;
  const isDone = new Set(done.map(({ partition }) => partition));
  for (const [index] of spill.partitions.entries()) {
    if (isDone.has(index)) continue;
    const folds = foldPartition(spill, index, { isWanted: (address) => !isTracked(contracts, address), foldBytes });
    await sql.begin(async (tx) => {
      for (const fold of folds) await copyFold(tx, fold, { schemaName });
      await tx.unsafe(`insert into "${schemaName}".folded_partition values ($1)`, [index]);
    });
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

function isTracked(contracts: ContractTable, address: string): boolean {
  const number = findContract(contracts, Buffer.from(address, "hex"), 0);
  return number >= 0 && contracts.isTracked[number] === 1;
}
