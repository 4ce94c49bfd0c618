import { Buffer } from "node:buffer";
import type { ContractTable } from "./contract-table.ts";
import {
  type CopyBuffer,
  fieldOf,
  createCopyBuffer,
  putBoolean,
  putBytes,
  putColumnCount,
  putField,
  putInt4,
  putInt8,
  putNull,
  putWordNumeric,
  reserve,
} from "./copy-buffer.ts";
import { IS_FROM_ZERO, IS_TO_ZERO, type MovementView } from "../fold/movement-record.ts";
import { type Spill, spillMovement } from "../fold/spill.ts";
import { ADDRESS_BYTES, WORD_BYTES } from "../word.ts";

/**
 * Records movements that can be applied without their token's row, which is any movement of a contract with one
 * standard: their `token_event` row is written at once, the rest is put aside.
 */
export type Recorder = {
  contracts: ContractTable;
  spill: Spill;
  /** Rows of `token_event`, of `approval` and of `trade_order`. */
  events: CopyBuffer;
  approvals: CopyBuffer;
  orders: CopyBuffer;
};

/** Sizes of the largest rows, in bytes. */
const MAX_EVENT_BYTES = 500;
const MAX_APPROVAL_BYTES = 120;
const MAX_ORDER_BYTES = 300;

/** Columns of `token_event`, and those of them that movements have. */
const EVENT_COLUMNS = 17;
const MOVE_COLUMNS = 11;

/** Columns of `trade_order`, and those of them that are an order's terms. */
const ORDER_COLUMNS = 25;
const TERM_COLUMNS = 18;

const MINT = fieldOf("mint");
const TRANSFER = fieldOf("transfer");
const BURN = fieldOf("burn");
/** The name of Seaport in the tables. */
export const SEAPORT = fieldOf("seaport");

/** The quantity 1 as a word. */
export const ONE_WORD = Buffer.alloc(WORD_BYTES);
ONE_WORD[WORD_BYTES - 1] = 1;

/** A recorder without rows. */
export const createRecorder = (contracts: ContractTable, spill: Spill): Recorder => ({
  contracts,
  spill,
  events: createCopyBuffer(160 * 1024),
  approvals: createCopyBuffer(),
  orders: createCopyBuffer(),
});

/**
 * Records a movement whose id and quantity are whole words. Sets the flags for the zero address as sender or receiver.
 */
export function recordMovement({ contracts, spill, events }: Recorder, move: MovementView): void {
  const { fromBytes, fromStart, toBytes, toStart } = move;
  const isFromZero = isZero(fromBytes, fromStart);
  const isToZero = isZero(toBytes, toStart);
  move.flags |= (isFromZero ? IS_FROM_ZERO : 0) | (isToZero ? IS_TO_ZERO : 0);
  const { addresses, partitionOf } = contracts;
  spillMovement(spill, partitionOf[move.contract]!, move, { bytes: addresses, start: move.contract * ADDRESS_BYTES });

  const type = isFromZero ? MINT : isToZero ? BURN : TRANSFER;
  putMoveColumns(events, move, { type, addresses, contractStart: move.contract * ADDRESS_BYTES });
  for (let column = MOVE_COLUMNS; column < EVENT_COLUMNS; column++) putNull(events);
}

/**
 * Begins a row of `token_event`, with room for all of it: puts what a movement and a sale have both. The columns from
 * `price` on must follow. `contractStart`: where in `addresses` the contract's begins; the view's number isn't used.
 */
export function putMoveColumns(
  events: CopyBuffer,
  move: MovementView,
  { type, addresses, contractStart }: { type: Buffer; addresses: Buffer; contractStart: number },
): void {
  // In the order of the columns of `ponder.schema.ts`.
  reserve(events, MAX_EVENT_BYTES);
  putColumnCount(events, EVENT_COLUMNS);
  putInt8(events, move.blockNumber);
  putInt4(events, move.logIndex);
  putInt4(events, move.batchIndex);
  putInt8(events, move.timestamp);
  putField(events, type);
  putBytes(events, addresses, contractStart, contractStart + ADDRESS_BYTES);
  putWordNumeric(events, move.idBytes, move.idStart);
  putBytes(events, move.fromBytes, move.fromStart, move.fromStart + ADDRESS_BYTES);
  putBytes(events, move.toBytes, move.toStart, move.toStart + ADDRESS_BYTES);
  putWordNumeric(events, move.quantityBytes, move.quantityStart);
  putBytes(events, move.hashBytes, move.hashStart, move.hashStart + WORD_BYTES);
}

/** Does what `ApprovalForAll` of `src/seaport-events.ts` does. `owner` and `operator` are offsets in `words`. */
export function recordApproval(
  { approvals }: Recorder,
  { place, address, words, owner, operator, isApproved }: ApprovalLog,
): void {
  reserve(approvals, MAX_APPROVAL_BYTES);
  putColumnCount(approvals, 6);
  putInt8(approvals, place.blockNumber);
  putInt4(approvals, place.logIndex);
  putBytes(approvals, address.bytes, address.start, address.start + ADDRESS_BYTES);
  putBytes(approvals, words, owner, owner + ADDRESS_BYTES);
  putBytes(approvals, words, operator, operator + ADDRESS_BYTES);
  putBoolean(approvals, isApproved);
}

/**
 * Records an order of Seaport's that the first log to name it fills: its terms aren't known. `orderHash` and `units` are
 * offsets in `words`.
 */
export function recordFilledOrder(
  { orders }: Recorder,
  { exchange, words, orderHash, units, timestamp }: FilledOrder,
): void {
  reserve(orders, MAX_ORDER_BYTES);
  putColumnCount(orders, ORDER_COLUMNS);
  putBytes(orders, exchange.bytes, exchange.start, exchange.start + ADDRESS_BYTES);
  putBytes(orders, words, orderHash, orderHash + WORD_BYTES);
  putField(orders, SEAPORT);
  // Neither open nor cancelled.
  putBoolean(orders, false);
  putBoolean(orders, false);
  putWordNumeric(orders, words, units);
  for (let column = 0; column < TERM_COLUMNS; column++) putNull(orders);
  putInt8(orders, timestamp);
}

type FilledOrder = {
  exchange: { bytes: Buffer; start: number };
  words: Buffer;
  orderHash: number;
  units: number;
  /** In Unix seconds. */
  timestamp: number;
};

type ApprovalLog = {
  place: { blockNumber: number; logIndex: number };
  address: { bytes: Buffer; start: number };
  words: Buffer;
  /** Offsets in `words` at which the addresses begin. */
  owner: number;
  operator: number;
  isApproved: boolean;
};

function isZero(bytes: Buffer, start: number): boolean {
  for (let place = start; place < start + ADDRESS_BYTES; place++) if (bytes[place] !== 0) return false;
  return true;
}
