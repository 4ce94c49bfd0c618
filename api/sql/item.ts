import { EMPTY_NORMALIZED } from "../token/metadata.ts";

/*
 * SQL that writes the JSON of items. With a column for each field a page of 100 tokens was 1,300 Buffers in this
 * process; now it is 100 texts that are copied into the body.
 */

/** JSON of bytes as 0x and hex, null where there are none. */
export const hexJson = (column: string) => `coalesce('"0x' || encode(${column}, 'hex') || '"', 'null')`;

/** JSON of a number, null where there is none. */
export const numberJson = (column: string) => `coalesce(${column}::text, 'null')`;

/** JSON of a text, empty where there is none. */
export const textJson = (column: string) => `coalesce(to_json(${column})::text, '""')`;

const HEX_DIGITS_OF_INT8 = 16;
/** How many hex digits each part of a large id has: as many as are a positive int8. */
const PART_DIGITS = 15;
const PARTS = [4, 3, 2, 1, 0];

/** 0x and 64 hex digits of a token id. Most ids fit an int8; others are written in five parts. */
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

/** JSON of `mint_info`, made of columns of `token`. */
export const MINT_INFO = `${mintFields} || '}'`;
/** The same with the number of its block. */
export const MINT_INFO_WITH_BLOCK = `${mintFields} || ',"block_number":' || ${numberJson("token.mint_block_number")} || '}'`;

/** `normalized` and `raw` of `token_metadata`. They are stored in the form that answers have. */
export const NORMALIZED = `coalesce(token_metadata.normalized, '${EMPTY_NORMALIZED}')`;
/** The document as it came, as JSON text. */
export const RAW = `coalesce(token_metadata.raw_json, '""')`;

/**
 * The end of an item whose last field is `metadata`, made of columns of `token_metadata`. Documents come last and are
 * joined from the right, because each `||` copies what it joins: fields behind a document of 1.7 kB would copy it seven
 * times.
 */
export const METADATA_END = `
  ',"metadata":{"normalized":' || ${NORMALIZED}
  || (',"raw":' || ${RAW} || ',"metadata_updated_at":' || ${numberJson("token_metadata.metadata_updated_at")} || '}}')
`;

/** Documents up to this size are read before it is known whether they fit: 250 of them have 4 MB. */
export const SMALL_DOCUMENT_BYTES = 16_384;
/** No limit, for `itemUpTo`: no text in Postgres has more bytes. */
export const ANY_BYTES = 2_147_483_647;

/** SQL of the bytes that texts of `token_metadata` have, known without reading them. */
export const bytesOf = (...columns: string[]) =>
  columns.map((column) => `coalesce(octet_length(token_metadata.${column}), 0)`).join(" + ");
/** SQL of the bytes of a token's documents, raw and normalized. */
export const DOCUMENT_BYTES = bytesOf("raw_json", "normalized");

/** SQL of `item`, or of the size of its documents where they have more than `most` bytes. */
export const itemUpTo = (most: string, item: string, bytes: string = DOCUMENT_BYTES) => `
  case
    when ${bytes} <= ${most} then ${item}
    else (${bytes})::text
  end
`;

/** Whether `itemUpTo` has returned the item, and not the size. */
export const isWholeItem = (item: string | Buffer) => item[0] === "{" || item[0] === OPENING_BRACE;
const OPENING_BRACE = 0x7b;
