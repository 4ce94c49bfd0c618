import { registerHooks } from "node:module";
import { getTableConfig, type PgTable } from "drizzle-orm/pg-core";
import type { TableName } from "../src/store.ts";

/** The tables of `ponder.schema.ts` as Postgres has them. */

/** How values of a column go over the wire: bytea is 0x hex in the program, numeric a bigint, int8 a number. */
export type ColumnType = "bytea" | "text" | "int4" | "int8" | "numeric" | "boolean";

export type Column = { name: string; type: ColumnType; isNullable: boolean };

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
  "numeric(78, 0)": "numeric",
};

// All of Ponder takes 4 s and 400 MB to load; only this file of it is needed to say what a table is.
const tableBuilders = new URL("drizzle/onchain.js", import.meta.resolve("ponder")).href;
const isSchema = (url: string | undefined) => url?.endsWith("/ponder.schema.ts") === true;
registerHooks({
  resolve: (specifier, context, next) =>
    next(specifier === "ponder" && isSchema(context.parentURL) ? tableBuilders : specifier, context),
});
const schema = await import("../ponder.schema.ts");

/** In the order of `ponder.schema.ts`. */
export const tableShapes: ReadonlyMap<TableName, TableShape> = new Map(
  (Object.entries(schema) as unknown as [TableName, PgTable][]).map(([key, table]) => [key, shapeOf(key, table)]),
);

function shapeOf(key: TableName, table: PgTable): TableShape {
  const { name, columns, primaryKeys } = getTableConfig(table);
  const composite = primaryKeys[0]?.columns.map((column) => column.name);
  const definitions = columns.map(
    (column) => `"${column.name}" ${column.getSQLType()}${column.notNull ? " not null" : ""}`,
  );
  return {
    key,
    name,
    columns: columns.map((column) => ({
      name: column.name,
      type: COLUMN_TYPES[column.getSQLType()] ?? unknownType(name, column),
      isNullable: !column.notNull,
    })),
    primaryKey: composite ?? columns.filter(({ primary }) => primary).map((column) => column.name),
    createStatement: (schemaName) => `create table "${schemaName}"."${name}" (${definitions.join(", ")})`,
  };
}

/** As Ponder names it. */
export function primaryKeyName({ name, primaryKey }: TableShape): string {
  return primaryKey.length === 1 ? `${name}_pkey` : `${name}_${primaryKey.join("_")}_pk`;
}

function unknownType(table: string, column: { name: string; getSQLType: () => string }): never {
  throw new Error(`${table}.${column.name} is ${column.getSQLType()}. Expected a type that history/ can write.`);
}
