import type { Column } from "../history/load/onchain-schema.ts";

/** Rows of Postgres' binary COPY format, without header and trailer, read as its manual says. */
export function readCopyRows(bytes: Buffer, columns: readonly Column[]): Record<string, unknown>[] {
  const rows: Record<string, unknown>[] = [];
  for (let at = 0; at < bytes.length;) {
    if (bytes.readInt16BE(at) !== columns.length) throw new Error(`A row has ${bytes.readInt16BE(at)} columns.`);
    at += 2;
    const row: Record<string, unknown> = {};
    for (const { name, type } of columns) {
      const size = bytes.readInt32BE(at);
      const field = bytes.subarray(at + 4, at + 4 + Math.max(0, size));
      row[name] = size < 0 ? null : readField(field, type);
      at += 4 + field.length;
    }
    rows.push(row);
  }
  return rows;
}

function readField(field: Buffer, type: Column["type"]): unknown {
  switch (type) {
    case "bytea":
      return `0x${field.toString("hex")}`;
    case "text":
      return field.toString();
    case "int4":
      return field.readInt32BE(0);
    case "int8":
      return Number(field.readBigInt64BE(0));
    case "boolean":
      return field[0] === 1;
    case "numeric":
      return readNumeric(field);
  }
}

/** Digits to the base of 10,000, the first of them worth 10,000 to the power of `weight`. */
function readNumeric(field: Buffer): bigint {
  const [count, weight] = [field.readInt16BE(0), field.readInt16BE(2)];
  let value = 0n;
  for (let digit = 0; digit < count; digit++)
    value += BigInt(field.readInt16BE(8 + digit * 2)) * 10_000n ** BigInt(weight - digit);
  return value;
}
