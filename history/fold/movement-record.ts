import { Buffer } from "node:buffer";
import { ADDRESS_BYTES, WORD_BYTES } from "../word.ts";

/**
 * Format of the files in which movements of tokens are put aside until all logs are read. They are in log order, have
 * only what token and ownership rows need, and take 25 to 60 bytes each. A file defines all numbers that it uses.
 *
 *   contract   1 byte CONTRACT, number u32, address
 *   place      1 byte PLACE, block u48, timestamp u48, transaction hash. Holds for the movements after it.
 *   movement   1 byte flags, contract number u32, token id, from?, to?, quantity?, log index u32?, batch index u16?
 *
 * Token ids and quantities are one byte with their length, then their bytes, big-endian. Other numbers are
 * little-endian.
 */
const CONTRACT = 0;
const PLACE = 1;

/** The flags of a movement. */
const MOVEMENT = 0x80;
export const IS_ERC1155 = 0x01;
export const IS_FROM_ZERO = 0x02;
export const IS_TO_ZERO = 0x04;
const IS_ONE = 0x08;
/** The movement's effect on the token, the sender or the receiver must be skipped: it is in another file. */
export const SKIPS_TOKEN = 0x10;
export const SKIPS_SENDER = 0x20;
export const SKIPS_RECEIVER = 0x40;

const PLACE_BYTES = 1 + 6 + 6 + WORD_BYTES;
const MAX_RECORD_BYTES = 21 + 4 + PLACE_BYTES + 1 + 4 + 33 + 40 + 33 + 6;

/** A buffer to which records are written. */
export type RecordWriter = {
  bytes: Buffer;
  length: number;
  /** The transaction of the last place record, by a number that the caller chooses. */
  place: number;
  /** 1 for each contract number whose contract record was written. */
  contracts: Uint8Array;
};

/** One movement, as offsets into other buffers. One view is reused for all movements. */
export type MovementView = {
  flags: number;
  contract: number;
  idBytes: Buffer;
  idStart: number;
  idEnd: number;
  fromBytes: Buffer;
  fromStart: number;
  toBytes: Buffer;
  toStart: number;
  quantityBytes: Buffer;
  quantityStart: number;
  quantityEnd: number;
  /** Number of the movement's transaction: see `RecordWriter`. */
  place: number;
  blockNumber: number;
  timestamp: number;
  hashBytes: Buffer;
  hashStart: number;
  logIndex: number;
  batchIndex: number;
};

const NOTHING = Buffer.alloc(0);

/** A view of nothing, to be set before it is used. */
export const createMovementView = (): MovementView => ({
  flags: 0,
  contract: 0,
  idBytes: NOTHING,
  idStart: 0,
  idEnd: 0,
  fromBytes: NOTHING,
  fromStart: 0,
  toBytes: NOTHING,
  toStart: 0,
  quantityBytes: NOTHING,
  quantityStart: 0,
  quantityEnd: 0,
  place: -1,
  blockNumber: 0,
  timestamp: 0,
  hashBytes: NOTHING,
  hashStart: 0,
  logIndex: 0,
  batchIndex: 0,
});

/** A writer of a file's first records. */
export const createRecordWriter = (): RecordWriter => ({
  bytes: Buffer.allocUnsafe(16 * 1024),
  length: 0,
  place: -1,
  contracts: new Uint8Array(64),
});

/**
 * Writes a movement. The address is its contract's. Leading zeros of ids and quantities are left out.
 */
export function writeMovement(writer: RecordWriter, move: MovementView, addresses: Buffer, addressStart: number): void {
  if (writer.length + MAX_RECORD_BYTES > writer.bytes.length) {
    const larger = Buffer.allocUnsafe(writer.bytes.length * 2);
    writer.bytes.copy(larger, 0, 0, writer.length);
    writer.bytes = larger;
  }
  const { bytes } = writer;
  const isErc1155 = (move.flags & IS_ERC1155) !== 0;
  let at = writer.length;

  if (writer.contracts[move.contract] !== 1) {
    if (move.contract >= writer.contracts.length) {
      const longer = new Uint8Array(move.contract * 2);
      longer.set(writer.contracts);
      writer.contracts = longer;
    }
    writer.contracts[move.contract] = 1;
    bytes[at] = CONTRACT;
    bytes.writeUInt32LE(move.contract, at + 1);
    at = copyTo(bytes, at + 5, addresses, addressStart, addressStart + ADDRESS_BYTES);
  }
  const needsPlace = isErc1155 || (move.flags & IS_FROM_ZERO) !== 0;
  if (needsPlace && writer.place !== move.place) {
    writer.place = move.place;
    bytes[at] = PLACE;
    bytes.writeUIntLE(move.blockNumber, at + 1, 6);
    bytes.writeUIntLE(move.timestamp, at + 7, 6);
    at = copyTo(bytes, at + 13, move.hashBytes, move.hashStart, move.hashStart + WORD_BYTES);
  }

  const flagsAt = at++;
  let flags = (move.flags & ~IS_ONE) | MOVEMENT;
  bytes.writeUInt32LE(move.contract, at);
  at = copyNumber(bytes, at + 4, move.idBytes, move.idStart, move.idEnd);
  if (isErc1155 && (flags & IS_FROM_ZERO) === 0)
    at = copyTo(bytes, at, move.fromBytes, move.fromStart, move.fromStart + ADDRESS_BYTES);
  if ((flags & IS_TO_ZERO) === 0) at = copyTo(bytes, at, move.toBytes, move.toStart, move.toStart + ADDRESS_BYTES);
  if (isErc1155) {
    const end = copyNumber(bytes, at, move.quantityBytes, move.quantityStart, move.quantityEnd);
    if (end === at + 2 && bytes[at + 1] === 1) flags |= IS_ONE;
    else at = end;
    bytes.writeUInt32LE(move.logIndex, at);
    bytes.writeUInt16LE(move.batchIndex, at + 4);
    at += 6;
  }
  bytes[flagsAt] = flags;
  writer.length = at;
}

/** State of reading a file. The bytes of the view are those of the piece that is being read. */
type RecordReader = {
  view: MovementView;
  /** Addresses of contracts. `view.contract` is an index into it, because a file may give one contract two numbers. */
  contracts: Buffer[];
  /** Indexes into `contracts`, by the file's number and by address in hex. */
  placeOf: Map<number, number>;
  placeOfAddress: Map<string, number>;
  /** Number of the last place record. */
  place: number;
};

/** A reader that is at the beginning of a file. */
export const createRecordReader = (): RecordReader => ({
  view: createMovementView(),
  contracts: [],
  placeOf: new Map(),
  placeOfAddress: new Map(),
  place: -1,
});

const ONE = Buffer.from([1]);

/**
 * Reads the records of a piece of a file, and calls `onMovement` for each movement, which `reader.view` then holds.
 * Returns how many bytes were whole records. The caller has to put the rest before the next piece.
 */
export function readMovements(reader: RecordReader, piece: Buffer, onMovement: () => void): number {
  const { view, placeOf } = reader;
  let at = 0;
  for (;;) {
    const start = at;
    if (start >= piece.length) return start;
    const flags = piece[at]!;
    if (flags === CONTRACT) {
      at += 5 + ADDRESS_BYTES;
      if (at > piece.length) return start;
      placeOf.set(piece.readUInt32LE(start + 1), placeContract(reader, piece.subarray(start + 5, at)));
      continue;
    }
    if (flags === PLACE) {
      at += PLACE_BYTES;
      if (at > piece.length) return start;
      view.place = ++reader.place;
      view.blockNumber = piece.readUIntLE(start + 1, 6);
      view.timestamp = piece.readUIntLE(start + 7, 6);
      // Copied, because movements of the next piece may need the hash.
      view.hashBytes = Buffer.from(piece.subarray(start + 13, start + 45));
      view.hashStart = 0;
      continue;
    }
    const isErc1155 = (flags & IS_ERC1155) !== 0;
    at += 5;
    if (at >= piece.length) return start;
    view.flags = flags & ~(MOVEMENT | IS_ONE);
    view.contract = placeOf.get(piece.readUInt32LE(start + 1))!;
    view.idBytes = piece;
    view.idStart = at + 1;
    at = view.idEnd = at + 1 + piece[at]!;
    view.fromBytes = piece;
    view.fromStart = at;
    if (isErc1155 && (flags & IS_FROM_ZERO) === 0) at += ADDRESS_BYTES;
    view.toBytes = piece;
    view.toStart = at;
    if ((flags & IS_TO_ZERO) === 0) at += ADDRESS_BYTES;
    if (isErc1155) {
      if (flags & IS_ONE) {
        view.quantityBytes = ONE;
        view.quantityStart = 0;
        view.quantityEnd = 1;
      } else {
        if (at >= piece.length) return start;
        view.quantityBytes = piece;
        view.quantityStart = at + 1;
        at = view.quantityEnd = at + 1 + piece[at]!;
      }
      if (at + 6 > piece.length) return start;
      view.logIndex = piece.readUInt32LE(at);
      view.batchIndex = piece.readUInt16LE(at + 4);
      at += 6;
    }
    if (at > piece.length) return start;
    onMovement();
  }
}

function placeContract({ contracts, placeOfAddress }: RecordReader, address: Buffer): number {
  const text = address.toString("hex");
  const known = placeOfAddress.get(text);
  if (known !== undefined) return known;
  placeOfAddress.set(text, contracts.length);
  return contracts.push(Buffer.from(address)) - 1;
}

/** Copies a number without leading zeros, after a byte with its length. */
function copyNumber(bytes: Buffer, at: number, from: Buffer, start: number, end: number): number {
  let first = start;
  while (first < end && from[first] === 0) first++;
  bytes[at] = end - first;
  return copyTo(bytes, at + 1, from, first, end);
}

function copyTo(bytes: Buffer, at: number, from: Buffer, start: number, end: number): number {
  let to = at;
  for (let place = start; place < end; place++) bytes[to++] = from[place]!;
  return to;
}
