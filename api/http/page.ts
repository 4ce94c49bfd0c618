import { giveMemory, growMemory, takeMemory } from "./body-memory.ts";
import type { SortKey } from "./cursor.ts";

/** The largest body of a list, in bytes. A single larger item is a page of its own. */
export const MAX_BODY_BYTES = 1_048_576;

/** A piece of a body: ASCII text, or UTF-8 bytes. */
type Chunk = string | Buffer;

/** The text before and after a group of items. Items of a group follow each other. */
export type Group = { head: Buffer; tail: string };

/** The last item of a page: its index in the page, its bytes and its group. */
export type LastItem = { place: number; item: Buffer; group: Group | undefined };

/** Parses an item. The sort key is read from it, so that rows need no columns for that. */
export const parseItem = ({ item }: LastItem): unknown => JSON.parse(item.toString());

/** A list's body while it is written. */
export type Page = {
  /** Appends an item. Beyond the limit or the cap it isn't written, but the list has a next page then. */
  add: (chunks: readonly Chunk[], group?: Group) => void;
  /** Notes that the list has a next page, even if everything that was added fits. */
  goOn: () => void;
  count: () => number;
  /** Whether everything that was added fits, with any cursor. */
  fitsWithCursor: () => boolean;
  /**
   * Returns the whole body. `cursorAfter` makes the cursor after an item; the cursor's length counts too. The body's
   * memory must be given back (`giveMemory`).
   */
  finish: (cursorAfter: (last: LastItem) => string) => Buffer;
  /** Gives the page up, and its memory back. */
  drop: () => void;
};

/** Enough memory for most pages. */
const USUAL_BYTES = 262_144;
/** Room before the items for what is known only at the end: the cursor, of less than 1,024 characters. */
const ROOM_BYTES = 1100;
const MAX_ENVELOPE_BYTES = ROOM_BYTES;

/** The first byte of an item, the one after its last, and its group. */
type Place = { start: number; end: number; group: Group | undefined };

/**
 * Creates a page of up to `limit` items. Each item is written only once, and measured by that, so that a body of
 * exactly the cap needs no second pass.
 */
export function createPage({ limit }: { limit: number }): Page {
  let memory = takeMemory(USUAL_BYTES);
  let end = ROOM_BYTES;
  let goesOn = false;
  let isFull = false;
  const places: Place[] = [];

  const put = (chunk: Chunk) => {
    const size = end + chunk.length;
    if (size > memory.length) memory = growMemory(memory, { used: end, size });
    if (typeof chunk === "string") memory.write(chunk, end, "latin1");
    else chunk.copy(memory, end);
    end += chunk.length;
  };

  return {
    add: (chunks, group) => {
      if (isFull || places.length >= limit) {
        goesOn = true;
        return;
      }
      const last = places.at(-1);
      if (last && last.group !== group && last.group) put(last.group.tail);
      if (last) put(",");
      if (group && last?.group !== group) put(group.head);
      const start = end;
      for (const chunk of chunks) put(chunk);
      const size = end - ROOM_BYTES + (group?.tail.length ?? 0);
      if (last && size + envelopeSize(null) > MAX_BODY_BYTES) {
        isFull = true;
        goesOn = true;
      } else places.push({ start, end, group });
    },
    goOn: () => {
      goesOn = true;
    },
    count: () => places.length,
    fitsWithCursor: () => end - ROOM_BYTES + MAX_ENVELOPE_BYTES <= MAX_BODY_BYTES,
    finish: (cursorAfter) => {
      // A cursor is longer than null, so it may push out the last item.
      let cursor: string | null = null;
      let kept = places.length;
      let size = 0;
      let tail = "";
      while (kept > 0) {
        const { group, start: from, end: to } = places[kept - 1] as Place;
        const isLast = !goesOn && kept === places.length;
        cursor = isLast ? null : cursorAfter({ place: kept - 1, item: memory.subarray(from, to), group });
        tail = group?.tail ?? "";
        size = to - ROOM_BYTES;
        if (kept === 1 || size + tail.length + envelopeSize(cursor) <= MAX_BODY_BYTES) break;
        kept -= 1;
      }
      const opening = `{"cursor":${JSON.stringify(cursor)},"result":[`;
      end = ROOM_BYTES + size;
      put(`${tail}]}`);
      const start = ROOM_BYTES - opening.length;
      memory.write(opening, start, "latin1");
      return memory.subarray(start, end);
    },
    drop: () => giveMemory(memory),
  };
}

/** How to write rows. `encode` makes the cursor of a sort key. */
type Writer<Row> = {
  limit: number;
  keyOf: (row: Row) => SortKey;
  encode: (key: SortKey) => string;
  write: (row: Row) => Chunk[];
};

/** The body of a list of up to `limit` rows. `rows` has one more where there is a next page. */
export function writePage<Row>(rows: readonly Row[], { limit, keyOf, encode, write }: Writer<Row>): Buffer {
  const page = createPage({ limit });
  for (const row of rows) page.add(write(row));
  return page.finish(({ place }) => encode(keyOf(rows[place] as Row)));
}

/** The length of `{"cursor":…,"result":[]}`. Cursors are ASCII and need no escaping. */
function envelopeSize(cursor: string | null): number {
  return 23 + (cursor === null ? 4 : cursor.length + 2);
}
