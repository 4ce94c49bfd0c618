import type { SortKey } from "./cursor.ts";

/** Bytes that the body of a list may have. A single item larger than that is a page of its own. */
export const MAX_BODY_BYTES = 1_048_576;

/**
 * A piece of a body: ASCII text, or UTF-8 bytes. What Postgres sends of a document is passed on as it is, because
 * decoding and encoding it again would be most of a page's cost.
 */
export type Chunk = string | Buffer;

/** How a list is written: `encode` makes the cursor after an item, whose length counts too. */
type Writer<Row> = {
  limit: number;
  keyOf: (row: Row) => SortKey;
  encode: (key: SortKey) => string;
  write: (row: Row) => Chunk[];
};

/** Where a group of items begins and ends. */
export type Group = { id: string; head: Buffer; tail: string };

/**
 * The body of a list of up to `limit` of `rows`, which are one more where the list goes on.
 *
 * Items are written once and measured as they come, so that a body of exactly the cap is built in one go.
 */
export function writePage<Row>(rows: readonly Row[], writer: Writer<Row>): Buffer {
  return writeGroupedPage(rows, { ...writer, groupOf: () => undefined });
}

/** The same for items in groups: `groupOf` tells the group of an item, which are next to each other. */
export function writeGroupedPage<Row>(
  rows: readonly Row[],
  { limit, keyOf, encode, write, groupOf }: Writer<Row> & { groupOf: (row: Row) => Group | undefined },
): Buffer {
  const chunks: Chunk[] = [];
  /** For each item: chunks up to and with it, their bytes with the tail of its group, and that tail. */
  const ends: { chunks: number; size: number; tail: string }[] = [];
  let group: Group | undefined;
  let size = 0;

  const count = Math.min(rows.length, limit);
  for (let place = 0; place < count; place += 1) {
    const row = rows[place] as Row;
    const own = groupOf(row);
    const start = chunks.length;
    const startSize = size;
    if (place > 0) chunks.push(own?.id === group?.id ? "," : `${group?.tail ?? ""},`);
    if (own && own.id !== group?.id) chunks.push(own.head);
    for (const chunk of write(row)) chunks.push(chunk);
    for (let n = start; n < chunks.length; n += 1) size += (chunks[n] as Chunk).length;
    const tail = own?.tail ?? "";
    if (place > 0 && size + tail.length + envelopeSize(null) > MAX_BODY_BYTES) {
      chunks.length = start;
      size = startSize;
      break;
    }
    group = own;
    ends.push({ chunks: chunks.length, size: size + tail.length, tail });
  }

  // The cursor is longer than null: it may cost the last item its place.
  let cursor: string | null = null;
  let kept = ends.length;
  while (kept > 0) {
    cursor = kept < rows.length ? encode(keyOf(rows[kept - 1] as Row)) : null;
    if (kept === 1 || (ends[kept - 1]?.size ?? 0) + envelopeSize(cursor) <= MAX_BODY_BYTES) break;
    kept -= 1;
  }
  const end = ends[kept - 1] ?? { chunks: 0, size: 0, tail: "" };
  chunks.length = end.chunks;
  return concat([`{"cursor":${JSON.stringify(cursor)},"result":[`, ...chunks, `${end.tail}]}`]);
}

/** Chunks in a row, as one buffer. */
export function concat(chunks: readonly Chunk[]): Buffer {
  let size = 0;
  for (const chunk of chunks) size += chunk.length;
  const body = Buffer.allocUnsafe(size);
  let offset = 0;
  for (const chunk of chunks) {
    if (typeof chunk === "string") body.write(chunk, offset, "latin1");
    else body.set(chunk, offset);
    offset += chunk.length;
  }
  return body;
}

/** Bytes of `{"cursor":…,"result":[]}`. Cursors are ASCII without anything to escape. */
function envelopeSize(cursor: string | null): number {
  return 23 + (cursor === null ? 4 : cursor.length + 2);
}
