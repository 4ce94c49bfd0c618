import type { Sql } from "postgres";
import { startCopy } from "./copy.ts";
import { type Fold, foldMovement, newFold, ownershipRows, tokenRows } from "./fold.ts";
import { newRecordReader, readMovements } from "./movement-record.ts";

/** Rows that are made at once: about a quarter of a megabyte. */
const ROWS_AT_ONCE = 1_500;

/** Folds the movements that `readPieces` brings, of contracts (hex without 0x) that `isWanted`. */
export function foldMovements(
  readPieces: (read: (piece: Buffer) => number) => void,
  { isWanted }: { isWanted: (address: string) => boolean },
): Fold {
  const fold = newFold();
  const reader = newRecordReader();
  const wanted = new Map<string, boolean>();
  const onMovement = () => {
    const address = reader.addresses.get(reader.view.contract)!;
    let is = wanted.get(address);
    if (is === undefined) wanted.set(address, (is = isWanted(address)));
    if (is) foldMovement(fold, reader.view, address);
  };
  readPieces((piece) => readMovements(reader, piece, onMovement));
  return fold;
}

/** Writes a fold's rows. */
export async function copyFold(
  connection: Pick<Sql, "unsafe">,
  fold: Fold,
  { schemaName }: { schemaName: string },
): Promise<void> {
  for (const [table, count, rows] of [
    ["token", fold.tokens.count, tokenRows(fold, ROWS_AT_ONCE)],
    ["ownership", fold.holders.count, ownershipRows(fold, ROWS_AT_ONCE)],
  ] as const) {
    if (count === 0) continue;
    const copy = await startCopy(connection, `"${schemaName}"."${table}"`);
    for (const { bytes, length } of rows) await copy.write(bytes.subarray(0, length));
    await copy.end();
  }
}
