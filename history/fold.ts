import { Buffer } from "node:buffer";
import { MAX_UINT256 } from "../src/limits.ts";
import {
  type CopyBuffer,
  fieldOf,
  newCopyBuffer,
  putBytes,
  putColumnCount,
  putField,
  putInt4,
  putInt8,
  putNull,
  putNumeric,
  putSmallNumeric,
  putWordNumeric,
  reserve,
} from "./copy-buffer.ts";
import {
  IS_ERC1155,
  IS_FROM_ZERO,
  IS_TO_ZERO,
  type MovementView,
  SKIPS_RECEIVER,
  SKIPS_SENDER,
  SKIPS_TOKEN,
} from "./movement-record.ts";

/**
 * What the rows of tokens and of ownerships are after all their movements: `applyMovement` of `src/movement.ts` again and
 * again, on numbers and bytes in place of rows, twenty times as fast. A property test holds the two together.
 */
export type Fold = {
  tokens: Tokens;
  holders: Holders;
  places: Places;
  /** Addresses by contract number: those of the reader that the movements come from. */
  contracts: readonly Buffer[];
  /** Token numbers in the order of their keys, once all is folded. */
  order?: Uint32Array;
};

/** By number, in the order in which they were first seen. */
type Tokens = {
  count: number;
  slots: Uint32Array;
  contractOf: Uint32Array;
  isErc1155: Uint8Array;
  /** 1 where its own row is made here, and not only some of its holders'. */
  hasRow: Uint8Array;
  /** A word each. */
  ids: Buffer;
  /** 20 bytes each; zeros where nobody has it. */
  owners: Buffer;
  mintAddresses: Buffer;
  /** Number of the place from 1, 0 where its mint was not seen. */
  mintPlaceOf: Uint32Array;
};

type Holders = {
  count: number;
  slots: Uint32Array;
  tokenOf: Uint32Array;
  owners: Buffer;
  /** NaN where a number can't hold it: then it is in `large`. */
  balanceOf: Float64Array;
  large: Map<number, bigint>;
  blockOf: Float64Array;
  logIndexOf: Uint32Array;
  batchIndexOf: Uint16Array;
};

/** Of mints: block, timestamp and transaction hash. */
type Places = { count: number; last: number; blockOf: Float64Array; timestampOf: Float64Array; hashes: Buffer };

const ADDRESS = 20;
const WORD = 32;
const FIRST_SIZE = 1024;

export const newFold = (contracts: readonly Buffer[]): Fold => ({
  tokens: {
    count: 0,
    slots: new Uint32Array(FIRST_SIZE * 2),
    contractOf: new Uint32Array(FIRST_SIZE),
    isErc1155: new Uint8Array(FIRST_SIZE),
    hasRow: new Uint8Array(FIRST_SIZE),
    ids: Buffer.alloc(FIRST_SIZE * WORD),
    owners: Buffer.alloc(FIRST_SIZE * ADDRESS),
    mintAddresses: Buffer.alloc(FIRST_SIZE * ADDRESS),
    mintPlaceOf: new Uint32Array(FIRST_SIZE),
  },
  holders: {
    count: 0,
    slots: new Uint32Array(FIRST_SIZE * 2),
    tokenOf: new Uint32Array(FIRST_SIZE),
    owners: Buffer.alloc(FIRST_SIZE * ADDRESS),
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
    hashes: Buffer.alloc(FIRST_SIZE * WORD),
  },
  contracts,
});

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
  const at = number * ADDRESS;
  if (isZero) to.fill(0, at, at + ADDRESS);
  else for (let place = 0; place < ADDRESS; place++) to[at + place] = toBytes[toStart + place]!;
}

// ------------------------------------------------------------------------------------------------ balances

function take(holders: Holders, holder: number, quantity: number, move: MovementView): void {
  const balance = holders.balanceOf[holder]!;
  // Neither is NaN: both are numbers.
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

// ------------------------------------------------------------------------------------------------ who is who

/** The number of the movement's token; it gets one where it is new. */
function tokenNumber({ tokens }: Fold, move: MovementView): number {
  const { contract, idBytes, idStart, idEnd } = move;
  const start = WORD - (idEnd - idStart);
  const hash = hashOfToken(contract, idBytes, idStart, idEnd);
  const { slots, contractOf, ids } = tokens;
  const mask = slots.length - 1;
  let slot = hash & mask;
  for (; slots[slot] !== 0; slot = (slot + 1) & mask) {
    const token = slots[slot]! - 1;
    if (contractOf[token] === contract && isId(ids, token * WORD, start, move)) return token;
  }
  const token = tokens.count++;
  slots[slot] = token + 1;
  contractOf[token] = contract;
  tokens.isErc1155[token] = move.flags & IS_ERC1155;
  ids.fill(0, token * WORD, token * WORD + start);
  idBytes.copy(ids, token * WORD + start, idStart, idEnd);
  if (tokens.count === contractOf.length) growTokens(tokens);
  return token;
}

function isId(ids: Buffer, at: number, start: number, { idBytes, idStart }: MovementView): boolean {
  for (let place = 0; place < start; place++) if (ids[at + place] !== 0) return false;
  for (let place = start; place < WORD; place++)
    if (ids[at + place] !== idBytes[idStart + place - start]!) return false;
  return true;
}

function findHolder({ holders }: Fold, token: number, bytes: Buffer, start: number): number {
  const { slots, tokenOf, owners } = holders;
  const mask = slots.length - 1;
  for (let slot = hashOfHolder(token, bytes, start) & mask; slots[slot] !== 0; slot = (slot + 1) & mask) {
    const holder = slots[slot]! - 1;
    if (tokenOf[holder] === token && isAddress(owners, holder * ADDRESS, bytes, start)) return holder;
  }
  return -1;
}

function isAddress(owners: Buffer, at: number, bytes: Buffer, start: number): boolean {
  for (let place = 0; place < ADDRESS; place++) if (owners[at + place] !== bytes[start + place]) return false;
  return true;
}

function addHolder({ holders }: Fold, token: number, { toBytes, toStart }: MovementView): number {
  const holder = holders.count++;
  holders.tokenOf[holder] = token;
  toBytes.copy(holders.owners, holder * ADDRESS, toStart, toStart + ADDRESS);
  putSlot(holders.slots, hashOfHolder(token, toBytes, toStart), holder);
  if (holders.count === holders.tokenOf.length) growHolders(holders);
  return holder;
}

function placeNumber(places: Places, { place, blockNumber, timestamp, hashBytes, hashStart }: MovementView): number {
  if (places.last === place) return places.count;
  if (places.count === places.blockOf.length) {
    places.blockOf = longer(places.blockOf, new Float64Array(places.count * 2));
    places.timestampOf = longer(places.timestampOf, new Float64Array(places.count * 2));
    places.hashes = longer(places.hashes, Buffer.alloc(places.count * 2 * WORD));
  }
  places.last = place;
  places.blockOf[places.count] = blockNumber;
  places.timestampOf[places.count] = timestamp;
  hashBytes.copy(places.hashes, places.count * WORD, hashStart, hashStart + WORD);
  return ++places.count;
}

function growTokens(tokens: Tokens): void {
  const size = tokens.count * 2;
  tokens.contractOf = longer(tokens.contractOf, new Uint32Array(size));
  tokens.isErc1155 = longer(tokens.isErc1155, new Uint8Array(size));
  tokens.hasRow = longer(tokens.hasRow, new Uint8Array(size));
  tokens.ids = longer(tokens.ids, Buffer.alloc(size * WORD));
  tokens.owners = longer(tokens.owners, Buffer.alloc(size * ADDRESS));
  tokens.mintAddresses = longer(tokens.mintAddresses, Buffer.alloc(size * ADDRESS));
  tokens.mintPlaceOf = longer(tokens.mintPlaceOf, new Uint32Array(size));
  tokens.slots = new Uint32Array(size * 2);
  for (let token = 0; token < tokens.count; token++) {
    let first = token * WORD;
    const end = first + WORD;
    while (first < end && tokens.ids[first] === 0) first++;
    putSlot(tokens.slots, hashOfToken(tokens.contractOf[token]!, tokens.ids, first, end), token);
  }
}

function growHolders(holders: Holders): void {
  const size = holders.count * 2;
  holders.tokenOf = longer(holders.tokenOf, new Uint32Array(size));
  holders.owners = longer(holders.owners, Buffer.alloc(size * ADDRESS));
  holders.balanceOf = longer(holders.balanceOf, new Float64Array(size));
  holders.blockOf = longer(holders.blockOf, new Float64Array(size));
  holders.logIndexOf = longer(holders.logIndexOf, new Uint32Array(size));
  holders.batchIndexOf = longer(holders.batchIndexOf, new Uint16Array(size));
  holders.slots = new Uint32Array(size * 2);
  for (let holder = 0; holder < holders.count; holder++)
    putSlot(holders.slots, hashOfHolder(holders.tokenOf[holder]!, holders.owners, holder * ADDRESS), holder);
}

function longer<T extends Uint8Array | Uint16Array | Uint32Array | Float64Array>(from: T, to: T): T {
  to.set(from);
  return to;
}

function putSlot(slots: Uint32Array, hash: number, number: number): void {
  const mask = slots.length - 1;
  let slot = hash & mask;
  while (slots[slot] !== 0) slot = (slot + 1) & mask;
  slots[slot] = number + 1;
}

/** Another one in each process, so that nobody can choose ids that all meet in one place. */
const SEED = Math.floor(Math.random() * 2 ** 32);

/** Of an id without zeros before it. */
export function hashOfToken(contract: number, id: Buffer, start: number, end: number): number {
  let hash = mix(SEED, contract);
  for (let place = start; place < end; place++) hash = mix(hash, id[place]!);
  return finish(hash);
}

export function hashOfHolder(token: number, owner: Buffer, start: number): number {
  let hash = mix(SEED, token);
  for (let place = start; place < start + ADDRESS; place += 4) hash = mix(hash, owner.readInt32LE(place));
  return finish(hash);
}

const mix = (hash: number, value: number) => Math.imul(hash ^ value, 0x9e3779b1) ^ (hash >>> 15);
const finish = (hash: number) => (Math.imul(hash ^ (hash >>> 16), 0x85ebca6b) ^ (hash >>> 13)) >>> 0;

// ------------------------------------------------------------------------------------------------ rows

const STANDARDS = [fieldOf("ERC721"), fieldOf("ERC1155")] as const;
const MAX_TOKEN_BYTES = 300;
const MAX_OWNERSHIP_BYTES = 300;

/** Rows for COPY so many at a time, in the order of their keys, or nearly: so indexes on them are made much faster. */
export function* tokenRows(fold: Fold, rowsAtOnce: number): Generator<CopyBuffer> {
  const { tokens, places, contracts } = fold;
  const order = (fold.order ??= orderTokens(fold));
  for (let row = 0; row < order.length;) {
    const end = Math.min(order.length, row + rowsAtOnce);
    const out = newCopyBuffer((end - row) * 180);
    for (; row < end; row++) {
      const next = order[row]!;
      if (tokens.hasRow[next] !== 1) continue;
      reserve(out, MAX_TOKEN_BYTES);
      putColumnCount(out, 8);
      putBytes(out, contracts[tokens.contractOf[next]!]!, 0, ADDRESS);
      putWordNumeric(out, tokens.ids, next * WORD);
      putField(out, STANDARDS[tokens.isErc1155[next]! as 0 | 1]);
      if (tokens.isErc1155[next]) putNull(out);
      else putBytes(out, tokens.owners, next * ADDRESS, (next + 1) * ADDRESS);
      const mint = tokens.mintPlaceOf[next]! - 1;
      if (mint < 0) for (let column = 0; column < 4; column++) putNull(out);
      else {
        putBytes(out, tokens.mintAddresses, next * ADDRESS, (next + 1) * ADDRESS);
        putInt8(out, places.blockOf[mint]!);
        putInt8(out, places.timestampOf[mint]!);
        putBytes(out, places.hashes, mint * WORD, (mint + 1) * WORD);
      }
    }
    yield out;
  }
}

export function* ownershipRows(fold: Fold, rowsAtOnce: number): Generator<CopyBuffer> {
  const { tokens, holders, contracts } = fold;
  const order = orderHolders(fold);
  for (let row = 0; row < order.length;) {
    const end = Math.min(order.length, row + rowsAtOnce);
    const out = newCopyBuffer((end - row) * 130);
    for (; row < end; row++) {
      const next = order[row]!;
      const token = holders.tokenOf[next]!;
      reserve(out, MAX_OWNERSHIP_BYTES);
      putColumnCount(out, 7);
      putBytes(out, contracts[tokens.contractOf[token]!]!, 0, ADDRESS);
      putWordNumeric(out, tokens.ids, token * WORD);
      putBytes(out, holders.owners, next * ADDRESS, (next + 1) * ADDRESS);
      const balance = holders.balanceOf[next]!;
      if (balance >= 0) putSmallNumeric(out, balance);
      else putNumeric(out, holders.large.get(next)!);
      putInt8(out, holders.blockOf[next]!);
      putInt4(out, holders.logIndexOf[next]!);
      putInt4(out, holders.batchIndexOf[next]!);
    }
    yield out;
  }
}

/** Tokens by contract and id. Ids that are one number when rounded stand as they came. */
function orderTokens({ tokens, contracts }: Fold): Uint32Array {
  const { count, contractOf, ids } = tokens;
  const ranks = new Uint32Array(contracts.length);
  const byAddress = [...contracts.keys()].toSorted((a, b) => contracts[a]!.compare(contracts[b]!));
  for (const [rank, contract] of byAddress.entries()) ranks[contract] = rank;
  const numbers = new Float64Array(count);
  for (let token = 0; token < count; token++)
    for (let at = token * WORD; at < (token + 1) * WORD; at += 4)
      numbers[token] = numbers[token]! * 2 ** 32 + ids.readUInt32BE(at);
  return Uint32Array.from({ length: count }, (_, token) => token).toSorted(
    (a, b) => ranks[contractOf[a]!]! - ranks[contractOf[b]!]! || numbers[a]! - numbers[b]!,
  );
}

/** Holders by token, in its order, and the first bytes of their addresses. */
function orderHolders(fold: Fold): Uint32Array {
  const { count, tokenOf, owners } = fold.holders;
  const ranks = new Uint32Array(fold.tokens.count);
  const order = (fold.order ??= orderTokens(fold));
  for (let rank = 0; rank < order.length; rank++) ranks[order[rank]!] = rank;
  const keys = new Float64Array(count);
  for (let holder = 0; holder < count; holder++)
    keys[holder] = ranks[tokenOf[holder]!]! * 2 ** 32 + owners.readUInt32BE(holder * ADDRESS);
  return Uint32Array.from({ length: count }, (_, holder) => holder).toSorted((a, b) => keys[a]! - keys[b]!);
}
