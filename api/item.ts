import type { Parameter, RawRow, RowStream } from "./database.ts";
import { EMPTY_NORMALIZED } from "./metadata.ts";
import { createPage, type Group, MAX_BODY_BYTES, type Page } from "./page.ts";

/*
 * SQL that writes the JSON of items. With a column for each field a page of 100 tokens was 1,300 Buffers in this
 * process; now it is 100 texts that are copied into the body.
 */

/** 0x and hex digits of bytes, quoted; JSON's null where there are none. */
export const hexJson = (column: string) => `coalesce('"0x' || encode(${column}, 'hex') || '"', 'null')`;

/** Digits of a number; JSON's null where there is none. */
export const numberJson = (column: string) => `coalesce(${column}::text, 'null')`;

/** A text, quoted and escaped; empty where there is none. */
export const textJson = (column: string) => `coalesce(to_json(${column})::text, '""')`;

const HEX_DIGITS_OF_INT8 = 16;
/** Digits that a part of a large id has: as many as stay positive in an int8. */
const PART_DIGITS = 15;
const PARTS = [4, 3, 2, 1, 0];

/** 0x and 64 hex digits of a token id: those of most fit an int8, the others are put together of five parts. */
export const tokenIdHex = (column: string): string => {
  const part = (place: number) => {
    const shifted = place === 0 ? column : `div(${column}, ${16n ** BigInt(PART_DIGITS * place)})`;
    const value = place === 4 ? shifted : `mod(${shifted}, ${16n ** BigInt(PART_DIGITS)})`;
    return `right(encode(int8send((${value})::bigint), 'hex'), ${place === 4 ? 4 : PART_DIGITS})`;
  };
  return `
    case
      when ${column} < ${2n ** 63n} then
        '0x${"0".repeat(64 - HEX_DIGITS_OF_INT8)}' || encode(int8send(${column}::bigint), 'hex')
      else '0x' || ${PARTS.map(part).join(" || ")}
    end
  `;
};

const mintFields = `
  '{"address":' || ${hexJson("token.mint_address")}
  || ',"timestamp":' || ${numberJson("token.mint_timestamp")}
  || ',"transaction_hash":' || ${hexJson("token.mint_transaction_hash")}
`;

/** `mint_info` out of the columns of `token`. */
export const MINT_INFO = `${mintFields} || '}'`;
export const MINT_INFO_WITH_BLOCK = `${mintFields} || ',"block_number":' || ${numberJson("token.mint_block_number")} || '}'`;

/** `normalized` and `raw` of `token_metadata`, which are stored as the answer shows them. */
export const NORMALIZED = `coalesce(token_metadata.normalized, '${EMPTY_NORMALIZED}')`;
export const RAW = `coalesce(token_metadata.raw_json, '""')`;

/** `metadata` out of the columns of `token_metadata`. */
export const METADATA = `
  ('{"normalized":' || ${NORMALIZED}
  || (',"raw":' || ${RAW} || ',"metadata_updated_at":' || ${numberJson("token_metadata.metadata_updated_at")} || '}'))
`;

/** Bytes of a row's documents, known without reading them. */
const DOCUMENT_BYTES = `
  coalesce(octet_length(token_metadata.raw_json), 0) + coalesce(octet_length(token_metadata.normalized), 0)
`;

/** `item`, or where its documents have more than `most` bytes only their number. */
export const itemUpTo = (most: string, item: string) => `
  case
    when ${DOCUMENT_BYTES} <= ${most} then ${item}
    else (${DOCUMENT_BYTES})::text
  end
`;

/**
 * SQL of a page in pieces of several items: of `page`, whose rows are in `order`, with the metadata of each. The
 * parameters are rows first, and bytes of documents and items of a piece last. The last item of a full page is a piece of
 * its own, because the cursor is made of it, and so is what follows it.
 *
 * Postgres sends 8 kB at a time, and each time costs both sides: row by row a page of 100 tokens took 1308 µs of CPU
 * together, in pieces of 25 it takes 948. Larger pieces cost Postgres more memory than they save.
 */
export const inPieces = ({
  item,
  columns,
  page,
  order,
  join,
  documentBytes,
  pieceItems,
}: {
  item: string;
  columns: readonly string[];
  page: string;
  order: string;
  join: string;
  documentBytes: string;
  pieceItems: string;
}) => `
  select
    string_agg(${itemUpTo(documentBytes, item)}, ','),
    count(*),
    max(${DOCUMENT_BYTES})
  from (
    select
      ${columns.join(", ")},
      case
        when place < $1 - 1 then (place - 1) / ${pieceItems}
        else $1 + place
      end as piece
    from (
      select
        ${columns.join(", ")},
        row_number() over (order by ${order}) as place
      from (${page}) as page
    ) as numbered
    order by
      piece,
      place
  ) as token
  ${join}
  group by token.piece
  order by token.piece
`;

const PIECE_ITEMS = 25;
/** Documents up to this size are read before it is known whether they fit: 250 of them are 4 MB. */
const SMALL_DOCUMENT_BYTES = 16_384;
const ANY_BYTES = 2_147_483_647;

type ListOptions = { limit: number; parameters: readonly Parameter[] };

/** The page of a statement by `inPieces`. Items go from the connection into the body, without a stop. */
export async function loadPage(stream: RowStream, text: string, { limit, parameters }: ListOptions): Promise<Page> {
  const page = createPage({ limit });
  let rows = 0;
  let hasLarge = false;
  await stream(text, [limit + 1, ...parameters, SMALL_DOCUMENT_BYTES, PIECE_ITEMS], (row) => {
    rows += Number(row[1]);
    hasLarge ||= Number(row[2]) > SMALL_DOCUMENT_BYTES;
    if (rows > limit) page.goOn();
    else page.add([itemOf(row)]);
  });
  if (!hasLarge && page.fitsWithCursor()) return page;
  page.drop();
  return loadRows(stream, text, {
    limit,
    parametersOf: (count, documentBytes) => [count, ...parameters, documentBytes, 1],
  });
}

/**
 * The page of a statement whose rows are an item each, and that takes a number of rows and the bytes that documents may
 * have. Where larger ones turn up, the rows that can fit into a body are read again with them: reading all would be
 * 250 MB for a page of documents of 1 MB.
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
  /** Of each item, or of the documents of one that is too large. */
  const sizes: number[] = [];
  let hasLarge = false;
  await stream(text, parametersOf(limit + 1, SMALL_DOCUMENT_BYTES), (row) => {
    const item = itemOf(row);
    const isWhole = item[0] === OPENING_BRACE;
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
  const whole = createPage({ limit });
  await stream(text, parametersOf(fitting, ANY_BYTES), (row) => whole.add([itemOf(row)], groupOf?.(row)));
  if (fitting < sizes.length) whole.goOn();
  return whole;
}

const OPENING_BRACE = 0x7b;

/** The first column of a row, which is never null. */
export const itemOf = ([item]: RawRow): Buffer => item as Buffer;
