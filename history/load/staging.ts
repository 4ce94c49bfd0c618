import type { Sql } from "postgres";
import type { TableName } from "../../src/store.ts";
import { addContract, type ContractTable, markTracked, createContractTable } from "./contract-table.ts";
import { tableShapes } from "./onchain-schema.ts";
import { createKeyStatement } from "./row-store.ts";
import type { SpillMark } from "../fold/spill.ts";

/** The schema in which a deployment's tables are made, with tables that note how far the load is. */

/** All logs before `nextBlock` are in the tables, and none from it on. */
export type LoadMark = { nextBlock: number; logCount: number; spill: SpillMark[] | undefined };

/**
 * Tables in which no row is looked up while logs are read, or none before an order is filled twice. Their keys are made
 * at the end, or when a row is first looked up.
 */
const KEYLESS_TABLES = new Set<TableName>(["tokenEvent", "approval", "metadataUpdate", "skippedLog", "tradeOrder"]);

/** Makes the schema with its empty tables, if it doesn't exist. */
export async function createStaging(sql: Sql, { schemaName }: { schemaName: string }): Promise<void> {
  await sql.begin(async (tx) => {
    const [existing] = await tx`select from pg_namespace where nspname = ${schemaName}`;
    if (existing) return;
    await tx.unsafe(`create schema "${schemaName}"`);
    for (const shape of tableShapes.values()) {
      // Vacuum has nothing to do here while the load adds rows, and would take a core from it.
      await tx.unsafe(`${shape.createStatement(schemaName)} with (autovacuum_enabled = false)`);
      if (!KEYLESS_TABLES.has(shape.key)) await tx.unsafe(createKeyStatement(schemaName, shape));
    }
    await tx.unsafe(`create table "${schemaName}".load_mark (content jsonb not null)`);
    await tx.unsafe(`create table "${schemaName}".tracked_contract (contract_address bytea primary key)`);
    await tx.unsafe(`create table "${schemaName}".folded_partition (partition integer primary key)`);
  });
}

/** Drops the schema with all that is in it: the logs are read again from the first one on. */
export async function dropStaging(sql: Sql, { schemaName }: { schemaName: string }): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`set local client_min_messages = warning`;
    await tx.unsafe(`drop schema if exists "${schemaName}" cascade`);
  });
}

/** How far the logs are in; undefined before the first commit. */
export async function readMark(sql: Sql, { schemaName }: { schemaName: string }): Promise<LoadMark | undefined> {
  const [row] = await sql<{ content: LoadMark }[]>`select content from ${sql(schemaName)}.load_mark`;
  return row?.content;
}

/** Partitions of movements that are folded: their rows are in the tables. */
export async function listFolded(sql: Sql, { schemaName }: { schemaName: string }): Promise<Set<number>> {
  const rows = await sql<{ partition: number }[]>`select partition from ${sql(schemaName)}.folded_partition`;
  return new Set(rows.map(({ partition }) => partition));
}

/** Notes how far the logs are in. Must be called in the transaction that writes their rows. */
export async function writeMark(
  connection: Pick<Sql, "unsafe">,
  { schemaName, mark }: { schemaName: string; mark: LoadMark },
): Promise<void> {
  await connection.unsafe(`delete from "${schemaName}".load_mark`);
  await connection.unsafe(`insert into "${schemaName}".load_mark (content) values ($1::text::jsonb)`, [
    JSON.stringify(mark),
  ]);
}

/** The contracts that moved tokens before the mark, and those that are tracked. */
export async function readContracts(sql: Sql, { schemaName }: { schemaName: string }): Promise<ContractTable> {
  const contracts = createContractTable();
  const rows = sql<{ contract_address: Buffer; contract_type: string }[]>`
    select
      contract_address,
      contract_type
    from ${sql(schemaName)}.contract
    order by
      block_number,
      log_index
  `.cursor(10_000);
  for await (const page of rows)
    for (const { contract_address, contract_type } of page)
      addContract(contracts, contract_address, 0, { isErc1155: contract_type === "ERC1155" });
  const tracked = await sql<{ contract_address: Buffer }[]>`
    select contract_address
    from ${sql(schemaName)}.tracked_contract
  `;
  for (const { contract_address } of tracked) markTracked(contracts, contract_address);
  return contracts;
}
