import { Buffer } from "node:buffer";
import { MAX_UINT256 } from "../../src/limits.ts";
import { addHolder, findHolder, placeNumber, tokenNumber } from "./fold-numbers.ts";
import {
  IS_ERC1155,
  IS_FROM_ZERO,
  IS_TO_ZERO,
  type MovementView,
  SKIPS_RECEIVER,
  SKIPS_SENDER,
  SKIPS_TOKEN,
} from "./movement-record.ts";
import { ADDRESS_BYTES, WORD_BYTES } from "../word.ts";

/**
 * The rows of tokens and ownerships after all their movements. The result is that of `applyMovement` of
 * `src/movement.ts` for each movement, but worked out on numbers and bytes instead of rows, twenty times as fast. A
 * property test compares the two.
 */
export type Fold = {
  tokens: Tokens;
  holders: Holders;
  places: Places;
  /** Addresses by contract number. The array is that of the reader from which the movements come. */
  contracts: readonly Buffer[];
  /** Token numbers in the order of their keys, once all is folded. */
  order?: Uint32Array;
};

/** Columns of tokens by number, in the order in which they were first seen. */
export type Tokens = {
  count: number;
  slots: Uint32Array;
  contractOf: Uint32Array;
  isErc1155: Uint8Array;
  /** 1 where the token's row is made here; 0 where only rows of some of its holders are. */
  hasRow: Uint8Array;
  /** A word each. */
  ids: Buffer;
  /** 20 bytes each; zeros where nobody has it. */
  owners: Buffer;
  mintAddresses: Buffer;
  /** Number of the mint's place from 1; 0 where no mint was seen. */
  mintPlaceOf: Uint32Array;
};

/** Columns of holders by number: one for each token and account that has ever held it. */
export type Holders = {
  count: number;
  slots: Uint32Array;
  tokenOf: Uint32Array;
  owners: Buffer;
  /** NaN where a number can't hold the balance: then it is in `large`. */
  balanceOf: Float64Array;
  large: Map<number, bigint>;
  blockOf: Float64Array;
  logIndexOf: Uint32Array;
  batchIndexOf: Uint16Array;
};

/** Places of mints: block, timestamp and transaction hash. */
export type Places = { count: number; last: number; blockOf: Float64Array; timestampOf: Float64Array; hashes: Buffer };

const FIRST_SIZE = 1024;

/** A fold without movements. `contracts`: the reader's array, which grows while it reads. */
export const createFold = (contracts: readonly Buffer[]): Fold => ({
  tokens: {
    count: 0,
    slots: new Uint32Array(FIRST_SIZE * 2),
    contractOf: new Uint32Array(FIRST_SIZE),
    isErc1155: new Uint8Array(FIRST_SIZE),
    hasRow: new Uint8Array(FIRST_SIZE),
    ids: Buffer.alloc(FIRST_SIZE * WORD_BYTES),
    owners: Buffer.alloc(FIRST_SIZE * ADDRESS_BYTES),
    mintAddresses: Buffer.alloc(FIRST_SIZE * ADDRESS_BYTES),
    mintPlaceOf: new Uint32Array(FIRST_SIZE),
  },
  holders: {
    count: 0,
    slots: new Uint32Array(FIRST_SIZE * 2),
    tokenOf: new Uint32Array(FIRST_SIZE),
    owners: Buffer.alloc(FIRST_SIZE * ADDRESS_BYTES),
    balanceOf: new Float64Array(FIRST_SIZE),
    large: new Map(),
    blockOf: new Float64Array(FIRST_SIZE),
    logIndexOf: new Uint32Array(FIRST_SIZE),
    batchIndexOf: new Uint16Array(FIRST_SIZE),
  },
  places: {
    count: 0,
    last: -1,
    blockOf: new Float64Array(FIRST_SIZE),
    timestampOf: new Float64Array(FIRST_SIZE),
    hashes: Buffer.alloc(FIRST_SIZE * WORD_BYTES),
  },
  contracts,
});

/** Applies a movement to its token and holders. Movements must come in the order of the chain. */
export function foldMovement(fold: Fold, move: MovementView): void {
  const token = tokenNumber(fold, move);
  const { flags } = move;
  if ((flags & SKIPS_TOKEN) === 0) foldToken(fold, token, move);
  if ((flags & IS_ERC1155) === 0) return;
  const isLarge = move.quantityEnd - move.quantityStart > 6;
  const quantity = isLarge ? Number.NaN : readNumber(move);
  if (quantity === 0) return;
  if ((flags & (IS_FROM_ZERO | SKIPS_SENDER)) === 0) {
    const sender = findHolder(fold, token, move.fromBytes, move.fromStart);
    if (sender >= 0) take(fold.holders, sender, quantity, move);
  }
  if ((flags & (IS_TO_ZERO | SKIPS_RECEIVER)) !== 0) return;
  const { holders } = fold;
  let receiver = findHolder(fold, token, move.toBytes, move.toStart);
  if (receiver < 0) receiver = addHolder(fold, token, move);
  give(holders, receiver, quantity, move);
  holders.blockOf[receiver] = move.blockNumber;
  holders.logIndexOf[receiver] = move.logIndex;
  holders.batchIndexOf[receiver] = move.batchIndex;
}

function foldToken({ tokens, places }: Fold, token: number, move: MovementView): void {
  const { flags } = move;
  tokens.hasRow[token] = 1;
  if ((flags & IS_ERC1155) === 0) copyAddress(tokens.owners, token, flags & IS_TO_ZERO, move);
  if ((flags & IS_FROM_ZERO) === 0 || tokens.mintPlaceOf[token] !== 0) return;
  copyAddress(tokens.mintAddresses, token, flags & IS_TO_ZERO, move);
  tokens.mintPlaceOf[token] = placeNumber(places, move);
}

function copyAddress(to: Buffer, number: number, isZero: number, { toBytes, toStart }: MovementView): void {
  const at = number * ADDRESS_BYTES;
  if (isZero) to.fill(0, at, at + ADDRESS_BYTES);
  else for (let place = 0; place < ADDRESS_BYTES; place++) to[at + place] = toBytes[toStart + place]!;
}

function take(holders: Holders, holder: number, quantity: number, move: MovementView): void {
  const balance = holders.balanceOf[holder]!;
  // The condition holds only if neither is NaN.
  if (balance >= 0 && quantity >= 0) holders.balanceOf[holder] = balance > quantity ? balance - quantity : 0;
  else {
    const [before, less] = [balanceAt(holders, holder), bigintOf(move)];
    setBalance(holders, holder, before > less ? before - less : 0n);
  }
}

function give(holders: Holders, holder: number, quantity: number, move: MovementView): void {
  const sum = holders.balanceOf[holder]! + quantity;
  if (sum <= Number.MAX_SAFE_INTEGER) holders.balanceOf[holder] = sum;
  else {
    const exact = balanceAt(holders, holder) + bigintOf(move);
    setBalance(holders, holder, exact > MAX_UINT256 ? MAX_UINT256 : exact);
  }
}

const balanceAt = ({ balanceOf, large }: Holders, holder: number): bigint =>
  large.get(holder) ?? BigInt(balanceOf[holder]!);

function setBalance({ balanceOf, large }: Holders, holder: number, balance: bigint): void {
  const isLarge = balance > Number.MAX_SAFE_INTEGER;
  balanceOf[holder] = isLarge ? Number.NaN : Number(balance);
  if (isLarge) large.set(holder, balance);
  else large.delete(holder);
}

const bigintOf = ({ quantityBytes, quantityStart, quantityEnd }: MovementView): bigint =>
  quantityEnd > quantityStart ? BigInt(`0x${quantityBytes.toString("hex", quantityStart, quantityEnd)}`) : 0n;

function readNumber({ quantityBytes, quantityStart, quantityEnd }: MovementView): number {
  let value = 0;
  for (let place = quantityStart; place < quantityEnd; place++) value = value * 256 + quantityBytes[place]!;
  return value;
}
