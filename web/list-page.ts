import { decodeCursor, encodeCursor, scopeOf, type SortKey } from "../api/http/cursor.ts";
import type { Reader } from "./reader.ts";

/** The key after which a page of a list begins, and how many rows it reads. */
export type ListPlace<Key extends SortKey> = { after: Key | undefined; limit: number };

/** The scope to which cursors of a list are bound. */
export const scopeOfList = (name: string) => scopeOf("explorer", name);

/** One page of a list: its rows, and the cursor of the next page. */
export type ListPage<Row> = { rows: Row[]; next: string | undefined; isFirst: boolean };

/**
 * Loads a page of a list. The cursor is valid for this `scope` only, like cursors of the API for their lists.
 *
 * @throws HttpError 400 for a cursor of another list
 */
export async function loadPage<Row, Key extends SortKey>(
  reader: Reader,
  {
    scope,
    cursor,
    limit,
    load,
    keyOf,
  }: {
    scope: string;
    cursor: string | undefined;
    limit: number;
    load: (place: ListPlace<Key>) => Promise<readonly Row[]>;
    keyOf: (row: Row) => Key;
  },
): Promise<ListPage<Row>> {
  return loadWindow<Row, Key>(reader, {
    scope,
    cursor,
    load: async (after) => {
      const found = await load({ after, limit: limit + 1 });
      const rows = found.slice(0, limit);
      const last = rows.at(-1);
      return { rows, next: found.length > limit && last ? keyOf(last) : undefined };
    },
  });
}

/**
 * The same for a list that determines itself where the next page begins, for example if rows are searched within a
 * window: then a page may be short although the next one has more rows. `end`: the key that the cursor holds.
 *
 * @throws HttpError 400 for a cursor of another list
 */
export async function loadWindow<Row, Key extends SortKey>(
  { secret }: Reader,
  {
    scope,
    cursor,
    load,
  }: {
    scope: string;
    cursor: string | undefined;
    load: (after: Key | undefined) => Promise<{ rows: Row[]; next: Key | undefined }>;
  },
): Promise<ListPage<Row> & { end: Key | undefined }> {
  const own = scopeOfList(scope);
  const after = cursor === undefined ? undefined : (decodeCursor(secret, { scope: own, cursor }) as Key);
  const { rows, next: end } = await load(after);
  return { rows, next: end && encodeCursor(secret, { scope: own, key: end }), end, isFirst: cursor === undefined };
}
