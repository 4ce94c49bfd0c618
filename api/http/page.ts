import { giveMemory, growMemory, takeMemory } from "./body-memory.ts";
import type { SortKey } from "./cursor.ts";

/** Bytes that the body of a list may have. A single item larger than that is a page of its own. */
export const MAX_BODY_BYTES = 1_048_576;

/** A piece of a body: ASCII text, or UTF-8 bytes. */
export type Chunk = string | Buffer;

/** Where a group of items begins and ends. Items of one group are next to each other. */
export type Group = { head: Buffer; tail: string };

/** An item that may be the last one: which of the page, its bytes and its group. */
export type LastItem = { place: number; item: Buffer; group: Group | undefined };

/** An item as it is on the wire: its place in the list is read from it, so that no row needs columns for that. */
export const parseItem = ({ item }: LastItem): unknown => JSON.parse(item.toString());

/** The body of a list while it is written. */
export type Page = {
  /** Writes an item behind the others. What is beyond the limit or the cap isn't, but makes the list go on. */
  add: (chunks: readonly Chunk[], group?: Group) => void;
  /** The list goes on behind what was added, even where all of that fits. */
  goOn: () => void;
  count: () => number;
  /** Whether all that was added is in it, and any cursor fits too. */
  fitsWithCursor: () => boolean;
  /**
   * The whole body. `cursorAfter` makes the cursor after an item, whose length counts too. The body's memory is to be
   * given back.
   */
  finish: (cursorAfter: (last: LastItem) => string) => Buffer;
  /** Gives it up. */
  drop: () => void;
};

/** What most pages take. */
const USUAL_BYTES = 262_144;
/** Room in front of the items for what is known last, the cursor, which has less than 1,024 characters. */
const ROOM_BYTES = 1100;
const MAX_ENVELOPE_BYTES = ROOM_BYTES;

/** What is known of an item: where its bytes begin and end, and its group. */
type Place = { start: number; end: number; group: Group | undefined };

/**
 * A page of up to `limit` items. They are written once, as they come, and measured by that, so that a body of exactly
 * the cap is built in one go.
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
      // The cursor is longer than null: it may cost the last item its place.
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

/** How rows are written: `encode` makes the cursor after one. */
type Writer<Row> = {
  limit: number;
  keyOf: (row: Row) => SortKey;
  encode: (key: SortKey) => string;
  write: (row: Row) => Chunk[];
};

/** The body of a list of up to `limit` of `rows`, which are one more where the list goes on. */
export function writePage<Row>(rows: readonly Row[], { limit, keyOf, encode, write }: Writer<Row>): Buffer {
  const page = createPage({ limit });
  for (const row of rows) page.add(write(row));
  return page.finish(({ place }) => encode(keyOf(rows[place] as Row)));
}

/** Bytes of `{"cursor":…,"result":[]}`. Cursors are ASCII without anything to escape. */
function envelopeSize(cursor: string | null): number {
  return 23 + (cursor === null ? 4 : cursor.length + 2);
}
