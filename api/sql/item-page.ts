import type { Parameter, RawRow, RowStream } from "./database.ts";
import { ANY_BYTES, DOCUMENT_BYTES, isWholeItem, itemUpTo, SMALL_DOCUMENT_BYTES } from "./item.ts";
import { createPage, type Group, MAX_BODY_BYTES, type Page } from "../http/page.ts";

/*
 * Pages in pieces of several items. Postgres sends 8 kB at a time, and each time costs both sides: row by row a page of
 * 100 tokens took 1308 µs of CPU together, in pieces of 25 it takes 948. Pieces of more than 64 kB cost Postgres more
 * memory than they save.
 *
 * The last item of a full page is a piece of its own, because the cursor is made of it, and so is what follows it.
 */
const PIECE_ITEMS = 25;
const PIECE_SMALL_ITEMS = 100;

/** A list whose statement is to return pieces. Its first parameter is the number of rows. */
type Listed = {
  /** The columns of `page` that the items need. */
  columns: readonly string[];
  page: string;
  order: string;
  /** The last parameter: how many items are in a piece. */
  pieceItems: string;
};

/** SQL of the number of the piece that has the item at `place`. */
const pieceOf = (place: string, pieceItems: string) => `
  case
    when ${place} < $1 - 1 then (${place} - 1) / ${pieceItems}
    else $1 + ${place}
  end
`;

const numbered = ({ columns, page, order, pieceItems }: Listed) => `
  select
    ${columns.join(", ")},
    place,
    ${pieceOf("place", pieceItems)} as piece
  from (
    select
      ${columns.join(", ")},
      row_number() over (order by ${order}) as place
    from (${page}) as page
  ) as numbered
  order by
    piece,
    place
`;

/** SQL of pieces of the items in `page`, which has their places, from 1. */
export const placedItemsInPieces = ({ page, pieceItems }: Pick<Listed, "page" | "pieceItems">) => `
  select
    string_agg(listed.item, ','),
    count(*),
    0
  from (
    select
      placed.item,
      ${pieceOf("placed.place", pieceItems)} as piece
    from (${page}) as placed
    order by
      piece,
      placed.place
  ) as listed
  group by listed.piece
  order by listed.piece
`;

/** SQL of pieces of the items in `page`, in its column `item`. */
export const itemsInPieces = (list: Listed) => `
  select
    string_agg(listed.item, ','),
    count(*),
    0
  from (${numbered(list)}) as listed
  group by listed.piece
  order by listed.piece
`;

/**
 * SQL of pieces of items with documents, which `join` finds for each `token` of `page`, in whose order they needn't
 * come. `documentBytes`: how many bytes the documents of an item may have; `bytes`: how many they have.
 */
export const documentsInPieces = ({
  item,
  join,
  documentBytes,
  bytes = DOCUMENT_BYTES,
  ...list
}: Listed & { item: string; join: string; documentBytes: string; bytes?: string }) => `
  select
    string_agg(${itemUpTo(documentBytes, item, bytes)}, ',' order by token.place),
    count(*),
    max(${bytes})
  from (${numbered(list)}) as token
  ${join}
  group by token.piece
  order by token.piece
`;

type ListOptions = { limit: number; parameters: readonly Parameter[] };

/** The page of a statement from `itemsInPieces`. */
export const loadItems = async (stream: RowStream, text: string, { limit, parameters }: ListOptions): Promise<Page> =>
  loadPieces(stream, text, {
    limit,
    pieceItems: PIECE_SMALL_ITEMS,
    parametersOf: (rows, pieceItems) => [rows, ...parameters, pieceItems],
  });

/**
 * The page of a statement from `documentsInPieces`. Its last parameters are the bytes of documents and the items of a
 * piece.
 */
export const loadDocuments = async (
  stream: RowStream,
  text: string,
  { limit, parameters }: ListOptions,
): Promise<Page> =>
  loadPieces(stream, text, {
    limit,
    pieceItems: PIECE_ITEMS,
    parametersOf: (rows, pieceItems, documentBytes) => [rows, ...parameters, documentBytes, pieceItems],
  });

/**
 * Makes a page of pieces, which go straight from the connection into the body. Near the cap they are read again one by
 * one.
 */
async function loadPieces(
  stream: RowStream,
  text: string,
  {
    limit,
    pieceItems,
    parametersOf,
  }: {
    limit: number;
    pieceItems: number;
    parametersOf: (rows: number, pieceItems: number, documentBytes: number) => Parameter[];
  },
): Promise<Page> {
  const page = createPage({ limit });
  let rows = 0;
  let hasLarge = false;
  await stream(text, parametersOf(limit + 1, pieceItems, SMALL_DOCUMENT_BYTES), (row) => {
    rows += Number(row[1]);
    hasLarge ||= Number(row[2]) > SMALL_DOCUMENT_BYTES;
    if (rows > limit) page.goOn();
    else page.add([itemOf(row)]);
  });
  if (!hasLarge && page.fitsWithCursor()) return page;
  page.drop();
  return loadRows(stream, text, {
    limit,
    parametersOf: (count, documentBytes) => parametersOf(count, 1, documentBytes),
  });
}

/**
 * The page of a statement whose rows are an item each. Its parameters begin with the number of rows, and have the bytes
 * that documents may have. If there are larger documents, the rows that can fit into a body are read again with them:
 * reading all rows with them would be 250 MB for a page with documents of 1 MB.
 */
export async function loadRows(
  stream: RowStream,
  text: string,
  {
    limit,
    parametersOf,
    groupOf,
  }: {
    limit: number;
    parametersOf: (rows: number, documentBytes: number) => Parameter[];
    groupOf?: (row: RawRow) => Group | undefined;
  },
): Promise<Page> {
  const page = createPage({ limit });
  /** The size of each item, or of its documents where these are too large. */
  const sizes: number[] = [];
  let hasLarge = false;
  await stream(text, parametersOf(limit + 1, SMALL_DOCUMENT_BYTES), (row) => {
    const item = itemOf(row);
    const isWhole = isWholeItem(item);
    hasLarge ||= !isWhole;
    sizes.push(isWhole ? item.length : Number(item));
    if (!hasLarge) page.add([item], groupOf?.(row));
  });
  if (!hasLarge) return page;

  page.drop();
  let bytes = 0;
  let fitting = 0;
  for (const size of sizes.slice(0, limit)) {
    bytes += size;
    if (fitting > 0 && bytes > MAX_BODY_BYTES) break;
    fitting += 1;
  }
  // One more than fits, so that the page has a next one even where a row was added between the two statements.
  const whole = createPage({ limit: fitting });
  await stream(text, parametersOf(fitting + 1, ANY_BYTES), (row) => whole.add([itemOf(row)], groupOf?.(row)));
  return whole;
}

/** The item of a row: its first column, which is never null. */
export const itemOf = ([item]: RawRow): Buffer => item as Buffer;
