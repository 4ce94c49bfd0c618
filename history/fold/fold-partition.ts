import { rmSync } from "node:fs";
import { join } from "node:path";
import type { Sql } from "postgres";
import { startCopy } from "../load/copy.ts";
import { type Fold, foldMovement, createFold } from "./fold.ts";
import { hashOfHolder, hashOfToken } from "./fold-numbers.ts";
import { ownershipRows, tokenRows } from "./fold-rows.ts";
import {
  IS_ERC1155,
  IS_FROM_ZERO,
  IS_TO_ZERO,
  type MovementView,
  createRecordReader,
  readMovements,
  SKIPS_RECEIVER,
  SKIPS_SENDER,
  SKIPS_TOKEN,
} from "./movement-record.ts";
import { closeSpill, markSpill, openSpill, readPartition, type Spill, spillMovement } from "./spill.ts";

/** Bytes of movements that are folded in memory at once. Their rows take at most about twice as much memory. */
const FOLD_BYTES = 32 * 2 ** 20;

/** Rows that are made at a time: about a quarter of a megabyte. */
const ROWS_AT_ONCE = 1_500;

/** Most files that a partition is split into. */
const MAX_PARTS = 64;

/**
 * How often a partition is split: by token, then by holder, for tokens with millions of holders. A third split would be
 * useless.
 */
const MAX_DEPTH = 2;

type Options = {
  /** Whether a contract's movements are folded, by its address in hex without 0x. */
  isWanted: (address: string) => boolean;
  foldBytes?: number;
};

/**
 * Folds a partition's movements into rows, in parts if there are too many of them.
 *
 * @throws SpillError
 */
export function* foldPartition(spill: Spill, index: number, options: Options, depth = 0): Generator<Fold> {
  const { isWanted, foldBytes = FOLD_BYTES } = options;
  const { size } = spill.partitions[index]!;
  if (size === 0) return;
  const reader = createRecordReader();
  const wanted: boolean[] = [];
  const read = (onMovement: (move: MovementView) => void) => {
    const visit = () => {
      const { contract } = reader.view;
      wanted[contract] ??= isWanted(reader.contracts[contract]!.toString("hex"));
      if (wanted[contract]) onMovement(reader.view);
    };
    readPartition(spill, index, (piece) => readMovements(reader, piece, visit));
  };

  if (size <= foldBytes || depth === MAX_DEPTH) {
    const fold = createFold(reader.contracts);
    read((move) => foldMovement(fold, move));
    yield fold;
    return;
  }
  const directory = join(spill.directory, `split-${depth}`);
  const parts = openSpill(directory, { partitions: Math.min(MAX_PARTS, Math.ceil((size / foldBytes) * 2)) });
  try {
    const put = depth === 0 ? putByToken : putByHolder;
    read((move) => put(parts, move, { address: reader.contracts[move.contract]!, depth }));
    markSpill(parts);
    for (const part of parts.partitions.keys()) yield* foldPartition(parts, part, options, depth + 1);
  } finally {
    closeSpill(parts);
    rmSync(directory, { recursive: true });
  }
}

type Put = { address: Buffer; depth: number };

function putByToken(parts: Spill, move: MovementView, { address, depth }: Put): void {
  spillMovement(parts, tokenHash(move, depth) % parts.partitions.length, move, { bytes: address, start: 0 });
}

/**
 * Writes a movement to the parts of its token, its sender and its receiver, once per part. Flags skip what isn't the
 * part's.
 */
function putByHolder(parts: Spill, move: MovementView, { address, depth }: Put): void {
  const count = parts.partitions.length;
  const token = tokenHash(move, depth);
  const { flags } = move;
  const sides = [{ part: token % count, skips: SKIPS_TOKEN }];
  const isErc1155 = (flags & IS_ERC1155) !== 0;
  if (isErc1155 && (flags & (IS_FROM_ZERO | SKIPS_SENDER)) === 0)
    sides.push({ part: hashOfHolder(token, move.fromBytes, move.fromStart) % count, skips: SKIPS_SENDER });
  if (isErc1155 && (flags & (IS_TO_ZERO | SKIPS_RECEIVER)) === 0)
    sides.push({ part: hashOfHolder(token, move.toBytes, move.toStart) % count, skips: SKIPS_RECEIVER });
  for (const part of new Set(sides.map((side) => side.part))) {
    const others = sides.filter((side) => side.part !== part);
    move.flags = others.reduce((all, { skips }) => all | skips, flags);
    spillMovement(parts, part, move, { bytes: address, start: 0 });
  }
  move.flags = flags;
}

/**
 * A token's hash, which differs at each depth: the tokens of one part share their hash's remainder of the depth before.
 */
function tokenHash({ contract, idBytes, idStart, idEnd }: MovementView, depth: number): number {
  const hash = Math.imul(hashOfToken(contract, idBytes, idStart, idEnd) + depth, 0x85ebca6b);
  return Math.imul(hash ^ (hash >>> 15), 0x27d4eb2f) >>> 0;
}

/** Writes a fold's rows by COPY. */
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
