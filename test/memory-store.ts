import type { ChainLog } from "../history/chain-log.ts";
import { createDispatch } from "../history/load/dispatch.ts";
import { tableShapes } from "../history/load/onchain-schema.ts";
import { type Source, tokenContractsOf } from "../sources.ts";
import { createIsIndexed } from "../src/indexed-contract.ts";
import type { TokenEventRow } from "../src/movement.ts";
import { contextOf, createSalesState, type SalesState } from "../src/record-sale.ts";
import type { Store, TableName } from "../src/store.ts";

type AnyRow = Record<string, unknown>;

/** All rows of all tables, by primary key. */
export type Tables = Map<TableName, Map<string, AnyRow>>;

/** All tables without rows. */
export const createTables = (): Tables => new Map([...tableShapes.keys()].map((key) => [key, new Map()]));

/**
 * What `src/index.ts` does, without Ponder: each log to the definitions that want it, one after the other, on all rows.
 * Without `sales` the process starts with the first of these logs.
 */
export async function applyLogs(
  tables: Tables,
  logs: readonly ChainLog[],
  {
    sources,
    chainId = 1,
    sales = createSalesState(),
  }: { sources: readonly Source[]; chainId?: number; sales?: SalesState },
): Promise<void> {
  const dispatch = createDispatch(sources);
  const isIndexed = createIsIndexed(tokenContractsOf(sources));
  const store = memoryStore(tables);
  const signerOf = ({ sender }: ChainLog) => {
    if (!sender) throw new Error("Nobody knows who signed.");
    return sender;
  };
  for (const log of logs)
    for (const match of log.topics[0] ? dispatch(log.topics[0], log.address) : []) {
      const decoded = match.decode(log);
      if (!decoded) continue;
      const { address: contractAddress, topics, data, sender: _, note, ...place } = log;
      await match.handle(
        { place: { contractAddress, ...place }, args: decoded[0], topics, data, note },
        contextOf({ store, sales, signer: () => signerOf(log), isIndexed, chainId }),
      );
    }
}

/** Rows as Ponder's store treats them. */
function memoryStore(tables: Tables): Store {
  const at = (table: TableName, key: AnyRow) => {
    const text = keyOf(table, key);
    return { rows: tables.get(table)!, text, row: tables.get(table)!.get(text) };
  };
  const whole = (table: TableName, row: AnyRow) =>
    Object.fromEntries(tableShapes.get(table)!.columns.map(({ name }) => [name, row[name] ?? null]));
  return {
    find: (table, key) => Promise.resolve((at(table, key).row ?? null) as never),
    insert: async (table, row) => {
      const { rows, text, row: before } = at(table, row as AnyRow);
      if (before) throw new Error(`${table} has ${text} already.`);
      rows.set(text, whole(table, row as AnyRow));
    },
    upsert: async (table, row, changes) => {
      const { rows, text, row: before } = at(table, row as AnyRow);
      rows.set(text, before ? { ...before, ...changes } : whole(table, row as AnyRow));
    },
    update: async (table, key, changes) => {
      const { rows, text, row } = at(table, key);
      if (!row) throw new Error(`${table} has no ${text}.`);
      rows.set(text, { ...row, ...changes });
    },
    delete: async (table, key) => {
      const { rows, text } = at(table, key);
      rows.delete(text);
    },
    load: () => Promise.resolve(),
    listHops: async ({ blockNumber, transactionHash }, { end }) =>
      ([...tables.get("tokenEvent")!.values()] as TokenEventRow[])
        .filter((row) => row.block_number === blockNumber && row.transaction_hash === transactionHash)
        .filter((row) => row.log_index < end && row.event_type !== "sale")
        .toSorted((a, b) => a.log_index - b.log_index || a.batch_index - b.batch_index)
        .map((row) => ({
          logIndex: row.log_index,
          contractAddress: row.contract_address,
          tokenId: row.token_id,
          from: row.from_address,
          to: row.to_address,
          quantity: row.quantity,
        })),
  };
}

/** A row's place in `Tables`. */
export const keyOf = (table: TableName, row: AnyRow) =>
  tableShapes
    .get(table)!
    .primaryKey.map((name) => String(row[name]))
    .join(" ");

/** Rows of each table as texts in one order: equal tables are equal texts. */
export function textsOf(tables: Tables): Record<string, string[]> {
  return Object.fromEntries(
    [...tables].map(([table, rows]) => [table, [...rows.values()].map((row) => rowText(table, row)).toSorted()]),
  );
}

const rowText = (table: TableName, row: AnyRow) =>
  tableShapes
    .get(table)!
    .columns.map(({ name }) => `${name} ${String(row[name])}`)
    .join(", ");
