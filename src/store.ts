import type * as schema from "ponder:schema";
import type { Hex } from "viem";
import type { SkipReason } from "./limits.ts";
import type { LogPlace, Movement } from "./movement.ts";
import type { Hop } from "./sale.ts";
import type { StepContent } from "./transaction-sales.ts";

/**
 * All that handlers may use. They name tables and know no engine, so that Ponder (`index.ts`) and the history engine
 * can both run them.
 */
export type Context = {
  store: Store;
  /** Runs the core on all movements of one log, or notes why the log is left out. */
  recordLog: RecordLog;
  /** Adds an exchange's log to its transaction's sales (`transaction-sales.ts`) and writes those that follow from it. */
  recordStep: RecordStep;
  /** Whether a token contract's logs are indexed: exchanges sell tokens of others, too. */
  isIndexed: (contractAddress: Hex) => boolean;
  chainId: number;
};

/** Records all movements of one log. `isFirstGeneration`: the contract's Transfers don't index the token id. */
export type RecordLog = (
  place: LogPlace,
  movements: Movement[] | SkipReason,
  options?: { isFirstGeneration?: boolean },
) => Promise<void>;

/** Records what one exchange's log says of sales. */
type RecordStep = (place: LogPlace, step: StepContent) => Promise<void>;

type Tables = typeof schema;
/** A table by its name in `ponder.schema.ts`. */
export type TableName = keyof Tables;
/** A row as it is read: hex in lower case, numeric as bigint. */
export type Row<name extends TableName> = Tables[name] extends { $inferSelect: infer row } ? row : never;
/** A row as it is written. Columns that may be null may be left out. */
export type NewRow<name extends TableName> = Tables[name] extends { $inferInsert: infer row } ? row : never;

/** The columns of a table's primary key. */
export type Key<name extends TableName> = Pick<Row<name>, KeyColumn<name> & keyof Row<name>>;

/** New values of columns that are not in the table's primary key. */
type Changes<name extends TableName> = Partial<Omit<NewRow<name>, KeyColumn<name>>>;

/** Finds and writes rows by primary key. Every read sees all writes before it. */
export type Store = {
  find: <name extends TableName>(table: name, key: Key<name>) => Promise<Row<name> | null>;
  /** The row must be new. Columns that are left out are null. */
  insert: <name extends TableName>(table: name, row: NewRow<name>) => Promise<void>;
  /** Inserts the row, or changes the one that has its key. */
  upsert: <name extends TableName>(table: name, row: NewRow<name>, changes: Changes<name>) => Promise<void>;
  /** The row must be there. */
  update: <name extends TableName>(table: name, key: Key<name>, changes: Changes<name>) => Promise<void>;
  delete: <name extends TableName>(table: name, key: Key<name>) => Promise<void>;
  /** Reads the rows of several movements together: each `find` of its own might wait for the database. */
  load: (movements: readonly Movement[]) => Promise<void>;
  /** All movements in the place's transaction by logs before the log index `end`, in order. */
  listHops: (place: LogPlace, options: { end: number }) => Promise<Hop[]>;
};

type KeyColumn<name extends TableName> = [CompositeKey<Tables[name]>] extends [never]
  ? SingleKey<Tables[name]>
  : CompositeKey<Tables[name]>;
type CompositeKey<table> = table extends { _: { config: { extra: { pk: { columnNames: infer column } } } } }
  ? Extract<column, string>
  : never;
type SingleKey<table> = table extends { _: { columns: infer columns } }
  ? { [name in keyof columns]: columns[name] extends { _: { isPrimaryKey: true } } ? name : never }[keyof columns]
  : never;
