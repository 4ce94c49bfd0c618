/**
 * Stands in for what `ponder.schema.ts` imports from Ponder and drizzle, which take 2 s and 300 MB to load, where only
 * the shapes of the tables are needed. A test compares them with the real ones.
 */
type BuiltColumn = { name: string; type: string; isNullable: boolean; isKey: boolean };
/** What a table comes to. Types are those of SQL: `bigint` for Ponder's int8, `numeric(78)` for its bigint. */
export type BuiltTable = { name: string; columns: BuiltColumn[]; primaryKey: string[] };

type ColumnBuilder = { column: BuiltColumn; notNull: () => ColumnBuilder; primaryKey: () => ColumnBuilder };
type ColumnNames = { columns: { name: string }[] };

const build = (type: string) => (): ColumnBuilder => {
  const column: BuiltColumn = { name: "", type, isNullable: true, isKey: false };
  const builder: ColumnBuilder = {
    column,
    notNull: () => {
      column.isNullable = false;
      return builder;
    },
    primaryKey: () => {
      column.isKey = true;
      column.isNullable = false;
      return builder;
    },
  };
  return builder;
};

const BUILDERS = {
  text: build("text"),
  boolean: build("boolean"),
  integer: build("integer"),
  int8: build("bigint"),
  bigint: build("numeric(78)"),
};

/** Stands in for drizzle's `customType`. A custom type is named by its type in Postgres. */
export const customType = ({ dataType }: { dataType: () => string }) => build(dataType());

/** Stands in for Ponder's `primaryKey`. */
export const primaryKey = ({ columns }: ColumnNames): ColumnNames => ({ columns });

/** Stands in for Ponder's `onchainTable`. */
export function onchainTable(
  name: string,
  columns: (builders: typeof BUILDERS) => Record<string, ColumnBuilder>,
  extra?: (columns: Record<string, { name: string }>) => { pk: ColumnNames },
): BuiltTable {
  const built = Object.entries(columns(BUILDERS)).map(([name, { column }]) => ({ ...column, name }));
  const keys = extra?.(Object.fromEntries(built.map((column) => [column.name, column]))).pk.columns;
  const primaryKey = (keys ?? built.filter(({ isKey }) => isKey)).map((column) => column.name);
  return { name, columns: built, primaryKey };
}
