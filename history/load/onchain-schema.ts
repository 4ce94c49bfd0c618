import { createRequire, registerHooks } from "node:module";
import type { TableName } from "../../src/store.ts";
import type { BuiltTable } from "./table-builder.ts";

/** The tables of `ponder.schema.ts` as Postgres has them. */

/** Type of a column in Postgres. In the program, bytea is 0x hex, numeric a bigint, and int8 a number. */
type ColumnType = "bytea" | "text" | "int4" | "int8" | "numeric" | "boolean";

/** A column of a table. */
export type Column = { name: string; type: ColumnType; isNullable: boolean };

/** A table: its columns in order, the names of those of its key, and the statement that makes it without a key. */
export type TableShape = {
  /** Its name in `ponder.schema.ts`. */
  key: TableName;
  /** Its name in Postgres. */
  name: string;
  columns: Column[];
  primaryKey: string[];
  createStatement: (schemaName: string) => string;
};

const COLUMN_TYPES: Record<string, ColumnType> = {
  bytea: "bytea",
  text: "text",
  integer: "int4",
  bigint: "int8",
  boolean: "boolean",
  "numeric(78)": "numeric",
};

const builder = new URL("./table-builder.ts", import.meta.url).href;
const hooks = registerHooks({
  resolve: (specifier, context, next) =>
    next(specifier === "ponder" || specifier.startsWith("drizzle-orm") ? builder : specifier, context),
});
const schema = createRequire(import.meta.url)("../../ponder.schema.ts") as Record<TableName, BuiltTable>;
hooks.deregister();

/** In the order of `ponder.schema.ts`. */
export const tableShapes: ReadonlyMap<TableName, TableShape> = new Map(
  (Object.entries(schema) as [TableName, BuiltTable][]).map(([key, table]) => [key, shapeOf(key, table)]),
);

function shapeOf(key: TableName, { name, columns, primaryKey }: BuiltTable): TableShape {
  const definitions = columns.map((column) => `"${column.name}" ${column.type}${column.isNullable ? "" : " not null"}`);
  return {
    key,
    name,
    columns: columns.map(({ name, type, isNullable }) => ({ name, type: COLUMN_TYPES[type]!, isNullable })),
    primaryKey,
    createStatement: (schemaName) => `create table "${schemaName}"."${name}" (${definitions.join(", ")})`,
  };
}

/** Name of a table's primary key, as Ponder would name it. */
export function primaryKeyName({ name, primaryKey }: TableShape): string {
  return primaryKey.length === 1 ? `${name}_pkey` : `${name}_${primaryKey.join("_")}_pk`;
}
