import { Buffer } from "node:buffer";
import { closeSync, fstatSync, ftruncateSync, mkdirSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { type MovementView, createRecordWriter, type RecordWriter, writeMovement } from "./movement-record.ts";

/**
 * Movements put aside in files until all logs are read. A file is valid up to its mark. Bytes after the mark were
 * written by a process that was killed.
 */
export type Spill = { directory: string; partitions: Partition[] };

type Partition = { file: number; size: number; checksum: number; writer: RecordWriter };

/** Up to which size a partition's file is valid, and the checksum of these bytes. */
export type SpillMark = { size: number; checksum: number };

/** The files are lost or damaged: the logs must be read again. */
export class SpillError extends Error {}

const PIECE_BYTES = 2 ** 20;

/** Most bytes of a partition that wait in memory. */
const PENDING_BYTES = 256 * 1024;

/** @throws SpillError where the files end before their marks */
export function openSpill(
  directory: string,
  { partitions: count, marks }: { partitions: number; marks?: readonly SpillMark[] | undefined },
): Spill {
  if (!marks) rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  const partitions = Array.from({ length: count }, (_, index) => {
    const { size, checksum } = marks?.[index] ?? { size: 0, checksum: 0 };
    const file = openFile(join(directory, `${index}.movements`), { isNew: !marks });
    if (fstatSync(file).size < size) throw new SpillError(`${directory} has lost movements`);
    ftruncateSync(file, size);
    return { file, size, checksum, writer: createRecordWriter() };
  });
  return { directory, partitions };
}

/**
 * Puts a movement aside. `bytes` has its contract's address at `start`. It is in the file after the next `markSpill`.
 */
export function spillMovement(
  { partitions }: Spill,
  partition: number,
  move: MovementView,
  { bytes, start }: { bytes: Buffer; start: number },
): void {
  const { writer } = partitions[partition]!;
  writeMovement(writer, move, bytes, start);
  if (writer.length > PENDING_BYTES) writeOut(partitions[partition]!);
}

/** Writes everything to the files, and returns their marks. */
export function markSpill({ partitions }: Spill): SpillMark[] {
  for (const partition of partitions) writeOut(partition);
  return partitions.map(({ size, checksum }) => ({ size, checksum }));
}

/**
 * Reads a partition up to its mark in pieces. Each piece begins with the bytes that the reader left of the one before.
 *
 * @param read returns how many bytes of a piece it used
 * @throws SpillError where the bytes aren't those that were written
 */
export function readPartition({ partitions, directory }: Spill, index: number, read: (piece: Buffer) => number): void {
  const { file, size, checksum } = partitions[index]!;
  let sum = 0;
  let rest: Buffer = Buffer.alloc(0);
  for (let at = 0; at < size;) {
    const fresh = Buffer.allocUnsafe(Math.min(PIECE_BYTES, size - at));
    const count = readSync(file, fresh, 0, fresh.length, at);
    if (count === 0) throw new SpillError(`${directory} has lost movements`);
    at += count;
    const bytes = fresh.subarray(0, count);
    sum = crc32(bytes, sum);
    const piece: Buffer = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
    rest = piece.subarray(read(piece));
  }
  if (sum !== checksum || rest.length > 0) throw new SpillError(`${directory} has damaged movements`);
}

/** Closes the files. They stay where they are. */
export function closeSpill({ partitions }: Spill): void {
  for (const { file } of partitions) closeSync(file);
}

function writeOut(partition: Partition): void {
  const { writer, file, size } = partition;
  if (writer.length === 0) return;
  const bytes = writer.bytes.subarray(0, writer.length);
  for (let done = 0; done < bytes.length;) done += writeSync(file, bytes, done, bytes.length - done, size + done);
  partition.size += bytes.length;
  partition.checksum = crc32(bytes, partition.checksum);
  writer.length = 0;
}

function openFile(path: string, { isNew }: { isNew: boolean }): number {
  try {
    return openSync(path, isNew ? "w+" : "r+");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") throw new SpillError(`${path} is gone`);
    throw error;
  }
}
