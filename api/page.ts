import type { SortKey } from "./cursor.ts";

/** Bytes that the body of a list may have. A single item larger than that is a page of its own. */
export const MAX_BODY_BYTES = 1_048_576;

/** How a list is written: `encode` makes the cursor after an item, whose length counts too. */
type Writer<Row> = {
  limit: number;
  keyOf: (row: Row) => SortKey;
  encode: (key: SortKey) => string;
  write: (row: Row) => string;
};

/**
 * The body of a list of up to `limit` of `rows`, which are one more where the list goes on.
 *
 * Items are written once and measured as they come, so that a body of exactly the cap is built in one go.
 */
export function writePage<Row>(rows: readonly Row[], { limit, keyOf, encode, write }: Writer<Row>): string {
  return writeGroupedPage(rows, { limit, keyOf, encode, write, groupOf: () => undefined });
}

/** Where a group of items begins and ends. */
export type Group = { id: string; head: string; tail: string };

/** The same for items in groups: `groupOf` tells the group of an item, which are next to each other. */
export function writeGroupedPage<Row>(
  rows: readonly Row[],
  { limit, keyOf, encode, write, groupOf }: Writer<Row> & { groupOf: (row: Row) => Group | undefined },
): string {
  const parts: string[] = [];
  /** Bytes of the parts up to and with each item, with the tail of its group. */
  const sizes: number[] = [];
  const tails: string[] = [];
  let group: Group | undefined;
  let size = 0;

  const count = Math.min(rows.length, limit);
  for (const row of rows.slice(0, count)) {
    const item = write(row);
    const own = groupOf(row);
    const isNewGroup = own?.id !== group?.id;
    let part = parts.length === 0 ? "" : ",";
    if (isNewGroup && group) part = `${group.tail},`;
    if (isNewGroup && own) part += own.head;
    part += item;
    size += Buffer.byteLength(part);
    const tail = own?.tail ?? "";
    const total = size + Buffer.byteLength(tail);
    if (parts.length > 0 && total + envelopeSize(null) > MAX_BODY_BYTES) break;
    group = own;
    parts.push(part);
    tails.push(tail);
    sizes.push(total);
  }

  // The cursor is longer than null: it may cost the last item its place.
  let cursor: string | null = null;
  let kept = parts.length;
  while (kept > 0) {
    cursor = kept < rows.length ? encode(keyOf(rows[kept - 1] as Row)) : null;
    if (kept === 1 || (sizes[kept - 1] ?? 0) + envelopeSize(cursor) <= MAX_BODY_BYTES) break;
    kept -= 1;
  }
  return `{"cursor":${JSON.stringify(cursor)},"result":[${parts.slice(0, kept).join("")}${tails[kept - 1] ?? ""}]}`;
}

/** Bytes of `{"cursor":…,"result":[]}`. Cursors are ASCII without anything to escape. */
function envelopeSize(cursor: string | null): number {
  return 23 + (cursor === null ? 4 : cursor.length + 2);
}
