import type { Sql } from "postgres";
import type { Key, NewRow, Row, Store, TableName } from "../../src/store.ts";
import { copyInto } from "./copy.ts";
import { createCopyBuffer, putRow, takeBytes } from "./copy-buffer.ts";
import { type Column, primaryKeyName, type TableShape, tableShapes } from "./onchain-schema.ts";

/**
 * Rows that definitions read and write, kept for one batch of logs. Rows that they find are read for a whole chunk at
 * once, and changed rows are written with the batch. So memory is bounded by the batch, however large the tables are.
 */
export type RowStore = Store & { entries: Map<TableName, Map<string, Entry>> };

type AnyRow = Record<string, unknown>;
type Entry = { key: AnyKey; row: AnyRow | null; isStored: boolean; isChanged: boolean };
type AnyKey = Record<string, unknown>;

/** A row that a definition reads. */
export type Want = { table: TableName; key: AnyKey };

/** Keys of the rows that definitions read, by table. */
export type Wanted = Map<TableName, Map<string, AnyKey>>;

/** A promise that is shared by all calls which are done at once. */
const DONE = Promise.resolve();

/** @param load reads a row that isn't in the store yet */
export function createRowStore(load: (table: TableName, key: AnyKey) => Promise<AnyRow | null>): RowStore {
  const entries: RowStore["entries"] = new Map();

  // No async functions: nearly every row is in the store, and each async call would take a kilobyte of memory.
  const at = (table: TableName, key: AnyKey): Entry | Promise<Entry> => {
    const rows = entriesOf(entries, table);
    const text = keyText(table, key);
    return (
      rows.get(text) ??
      load(table, key).then((row) => {
        const entry = { key, row, isStored: row !== null, isChanged: false };
        rows.set(text, entry);
        return entry;
      })
    );
  };
  const withEntry = <T>(table: TableName, key: AnyKey, use: (entry: Entry) => T): Promise<T> => {
    const entry = at(table, key);
    return entry instanceof Promise ? entry.then(use) : Promise.resolve(use(entry));
  };
  const change = (entry: Entry, changes: AnyRow) => {
    entry.row = { ...entry.row, ...changes };
    entry.isChanged = true;
  };

  return {
    entries,
    find: <name extends TableName>(table: name, key: Key<name>) =>
      withEntry(table, key, ({ row }) => row && (withNulls(table, row) as Row<name>)),
    insert: <name extends TableName>(table: name, row: NewRow<name>) => {
      const rows = entriesOf(entries, table);
      const text = keyText(table, row as AnyRow);
      const entry = rows.get(text);
      if (entry?.row) throw new Error(`A row ${text} is in ${table} already.`);
      if (entry) Object.assign(entry, { row, isChanged: true });
      else rows.set(text, { key: row as AnyRow, row: row as AnyRow, isStored: false, isChanged: true });
      return DONE;
    },
    upsert: (table, row, changes) =>
      withEntry(table, row as AnyRow, (entry) => change(entry, entry.row ? changes : (row as AnyRow))),
    update: (table, key, changes) =>
      withEntry(table, key, (entry) => {
        if (!entry.row) throw new Error(`No row ${keyText(table, key)} is in ${table}.`);
        change(entry, changes);
      }),
    delete: (table, key) => withEntry(table, key, (entry) => void Object.assign(entry, { row: null, isChanged: true })),
    load: () => DONE,
    listHops: () => Promise.reject(new Error("A batch of logs begins with whole transactions.")),
  };
}

/** A store on which definitions are run only to learn which rows they read. */
export function createRehearsal(): { store: RowStore; wanted: Wanted } {
  const wanted: Wanted = new Map();
  const store = createRowStore((table, key) => {
    addWanted(wanted, { table, key });
    return Promise.resolve(null);
  });
  return { store, wanted };
}

/** Adds the key of a wanted row, if there is one. */
export function addWanted(wanted: Wanted, want: Want | undefined): void {
  if (!want) return;
  const { table, key } = want;
  let keys = wanted.get(table);
  if (!keys) wanted.set(table, (keys = new Map()));
  keys.set(keyText(table, key), key);
}

/** Reads rows by primary key. The first call for a table makes the index for it. */
export type Finder = (table: TableName, keys: readonly AnyKey[]) => Promise<AnyRow[]>;

/** Finds rows in the tables that are being made. */
export function createFinder(sql: Sql, { schemaName }: { schemaName: string }): Finder {
  const indexed = new Set<TableName>();
  return async (table, keys) => {
    const shape = tableShapes.get(table)!;
    if (!indexed.has(table)) await sql.unsafe(createKeyStatement(schemaName, shape));
    indexed.add(table);
    const rows = await sql.unsafe<AnyRow[]>(
      `
        select ${shape.columns.map(({ name }) => `t."${name}"`).join(", ")}
        from "${schemaName}"."${shape.name}" t
        join ${keyList(shape)} on ${keyCondition(shape)}
      `,
      keyValues(shape, keys),
    );
    return rows.map((row) => readRow(shape.columns, row));
  };
}

/** Reads the wanted rows into the store. Rows that don't exist are noted as missing. */
export async function prefetch({ entries }: RowStore, wanted: Wanted, find: Finder): Promise<void> {
  for (const [table, keys] of wanted) {
    const rows = entriesOf(entries, table);
    const missing = [...keys].filter(([text]) => !rows.has(text));
    if (missing.length === 0) continue;
    for (const [text, key] of missing) rows.set(text, { key, row: null, isStored: false, isChanged: false });
    for (const row of await find(
      table,
      missing.map(([, key]) => key),
    ))
      rows.set(keyText(table, row), { key: row, row, isStored: true, isChanged: false });
  }
}

/** SQL of a table `wanted` with the keys as texts. */
const keyList = ({ primaryKey }: TableShape) =>
  `unnest(${primaryKey.map((_, index) => `$${index + 1}::text[]`).join(", ")})
    as wanted (${primaryKey.map((_, index) => `k${index}`).join(", ")})`;

const keyCondition = ({ primaryKey, columns }: TableShape) =>
  primaryKey
    .map((name, index) => `t."${name}" = wanted.k${index}::${columns.find((column) => column.name === name)!.type}`)
    .join(" and ");

const keyValues = ({ primaryKey }: TableShape, keys: readonly AnyKey[]) =>
  primaryKey.map((name) => toArray(keys.map((key) => elementOf(key[name]))));

/** The text of an array in Postgres. */
const toArray = (texts: readonly string[]) => `{${texts.join(",")}}`;

/** The unique index that becomes the primary key in the end. */
export function createKeyStatement(schemaName: string, shape: TableShape): string {
  const columns = shape.primaryKey.map((name) => `"${name}"`).join(", ");
  return `create unique index if not exists "${primaryKeyName(shape)}" on "${schemaName}"."${shape.name}" (${columns})`;
}

/** Writes the changed rows and empties the store. */
export async function flush(
  tx: Pick<Sql, "unsafe">,
  store: RowStore,
  { schemaName }: { schemaName: string },
): Promise<void> {
  for (const [table, entries] of store.entries) {
    const shape = tableShapes.get(table)!;
    const changes = [...entries.values()].filter(({ isChanged }) => isChanged);
    const rowsOf = (isStored: boolean) =>
      changes.flatMap((entry) => (entry.row && entry.isStored === isStored ? [entry.row] : []));
    const gone = changes.flatMap(({ row, isStored, key }) => (!row && isStored ? [key] : []));
    const target = `"${schemaName}"."${shape.name}"`;
    await copyRows(tx, shape, target, rowsOf(false));
    await replaceRows(tx, shape, target, rowsOf(true));
    if (gone.length === 0) continue;
    const statement = `delete from ${target} t using ${keyList(shape)} where ${keyCondition(shape)}`;
    await tx.unsafe(statement, keyValues(shape, gone));
  }
  store.entries.clear();
}

async function copyRows(
  tx: Pick<Sql, "unsafe">,
  { columns }: TableShape,
  target: string,
  rows: AnyRow[],
): Promise<void> {
  if (rows.length === 0) return;
  await copyInto(tx, target, async (write) => {
    const out = createCopyBuffer();
    for (const row of rows) {
      putRow(out, columns, row);
      if (out.length > 48 * 1024) await write(takeBytes(out));
    }
    await write(takeBytes(out));
  });
}

async function replaceRows(tx: Pick<Sql, "unsafe">, shape: TableShape, target: string, rows: AnyRow[]): Promise<void> {
  if (rows.length === 0) return;
  await tx.unsafe(`create temp table changed (like ${target}) on commit drop`);
  await copyRows(tx, shape, "changed", rows);
  const others = shape.columns.filter(({ name }) => !shape.primaryKey.includes(name));
  await tx.unsafe(`
    update ${target} t
    set ${others.map(({ name }) => `"${name}" = changed."${name}"`).join(", ")}
    from changed
    where ${shape.primaryKey.map((name) => `t."${name}" = changed."${name}"`).join(" and ")}
  `);
  await tx.unsafe("drop table changed");
}

function entriesOf(entries: RowStore["entries"], table: TableName): Map<string, Entry> {
  const known = entries.get(table);
  if (known) return known;
  const rows = new Map<string, Entry>();
  entries.set(table, rows);
  return rows;
}

function keyText(table: TableName, key: AnyKey): string {
  let text = "";
  for (const name of tableShapes.get(table)!.primaryKey) text += `${key[name] as string} `;
  return text;
}

/** Sets omitted columns to null, as in a row read from Postgres. */
const withNulls = (table: TableName, row: AnyRow): AnyRow => ({ ...EMPTY_ROWS.get(table)!, ...row });

const EMPTY_ROWS = new Map(
  [...tableShapes].map(([table, { columns }]) => [table, Object.fromEntries(columns.map(({ name }) => [name, null]))]),
);

/** The text of a value as an element of an array. */
function elementOf(value: unknown): string {
  if (typeof value !== "string") return String(value);
  // Nothing in hex needs escaping.
  if (value.startsWith("0x")) return `"\\\\x${value.slice(2)}"`;
  return `"${value.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}

function readRow(columns: readonly Column[], row: AnyRow): AnyRow {
  for (const { name, type } of columns) {
    const value = row[name];
    if (value === null) continue;
    if (type === "bytea") row[name] = `0x${(value as Buffer).toString("hex")}`;
    else if (type === "numeric") row[name] = BigInt(value as string);
    else if (type === "int8") row[name] = Number(value);
  }
  return row;
}
