import { Buffer } from "node:buffer";
import type { Fold, Holders, Places, Tokens } from "./fold.ts";
import { IS_ERC1155, type MovementView } from "./movement-record.ts";
import { ADDRESS_BYTES, WORD_BYTES } from "../word.ts";

/**
 * Numbers of tokens, holders and places in a fold. Each gets its number when first seen; tokens and holders are found
 * by hash.
 */

/** The number of the movement's token. A new token gets a number. */
export function tokenNumber({ tokens }: Fold, move: MovementView): number {
  const { contract, idBytes, idStart, idEnd } = move;
  const start = WORD_BYTES - (idEnd - idStart);
  const hash = hashOfToken(contract, idBytes, idStart, idEnd);
  const { slots, contractOf, ids } = tokens;
  const mask = slots.length - 1;
  let slot = hash & mask;
  for (; slots[slot] !== 0; slot = (slot + 1) & mask) {
    const token = slots[slot]! - 1;
    if (contractOf[token] === contract && isId(ids, token * WORD_BYTES, start, move)) return token;
  }
  const token = tokens.count++;
  slots[slot] = token + 1;
  contractOf[token] = contract;
  tokens.isErc1155[token] = move.flags & IS_ERC1155;
  ids.fill(0, token * WORD_BYTES, token * WORD_BYTES + start);
  idBytes.copy(ids, token * WORD_BYTES + start, idStart, idEnd);
  if (tokens.count === contractOf.length) growTokens(tokens);
  return token;
}

function isId(ids: Buffer, at: number, start: number, { idBytes, idStart }: MovementView): boolean {
  for (let place = 0; place < start; place++) if (ids[at + place] !== 0) return false;
  for (let place = start; place < WORD_BYTES; place++)
    if (ids[at + place] !== idBytes[idStart + place - start]!) return false;
  return true;
}

/** The number of a token's holder, whose address begins at `start` in `bytes`; -1 if it has no number yet. */
export function findHolder({ holders }: Fold, token: number, bytes: Buffer, start: number): number {
  const { slots, tokenOf, owners } = holders;
  const mask = slots.length - 1;
  for (let slot = hashOfHolder(token, bytes, start) & mask; slots[slot] !== 0; slot = (slot + 1) & mask) {
    const holder = slots[slot]! - 1;
    if (tokenOf[holder] === token && isAddress(owners, holder * ADDRESS_BYTES, bytes, start)) return holder;
  }
  return -1;
}

function isAddress(owners: Buffer, at: number, bytes: Buffer, start: number): boolean {
  for (let place = 0; place < ADDRESS_BYTES; place++) if (owners[at + place] !== bytes[start + place]) return false;
  return true;
}

/** Numbers the receiver of a movement, who must be new to the token. */
export function addHolder({ holders }: Fold, token: number, { toBytes, toStart }: MovementView): number {
  const holder = holders.count++;
  holders.tokenOf[holder] = token;
  toBytes.copy(holders.owners, holder * ADDRESS_BYTES, toStart, toStart + ADDRESS_BYTES);
  putSlot(holders.slots, hashOfHolder(token, toBytes, toStart), holder);
  if (holders.count === holders.tokenOf.length) growHolders(holders);
  return holder;
}

/** The number, from 1, of a mint's place. A mint in another transaction than the last one gets a new number. */
export function placeNumber(
  places: Places,
  { place, blockNumber, timestamp, hashBytes, hashStart }: MovementView,
): number {
  if (places.last === place) return places.count;
  if (places.count === places.blockOf.length) {
    places.blockOf = longer(places.blockOf, new Float64Array(places.count * 2));
    places.timestampOf = longer(places.timestampOf, new Float64Array(places.count * 2));
    places.hashes = longer(places.hashes, Buffer.alloc(places.count * 2 * WORD_BYTES));
  }
  places.last = place;
  places.blockOf[places.count] = blockNumber;
  places.timestampOf[places.count] = timestamp;
  hashBytes.copy(places.hashes, places.count * WORD_BYTES, hashStart, hashStart + WORD_BYTES);
  return ++places.count;
}

function growTokens(tokens: Tokens): void {
  const size = tokens.count * 2;
  tokens.contractOf = longer(tokens.contractOf, new Uint32Array(size));
  tokens.isErc1155 = longer(tokens.isErc1155, new Uint8Array(size));
  tokens.hasRow = longer(tokens.hasRow, new Uint8Array(size));
  tokens.ids = longer(tokens.ids, Buffer.alloc(size * WORD_BYTES));
  tokens.owners = longer(tokens.owners, Buffer.alloc(size * ADDRESS_BYTES));
  tokens.mintAddresses = longer(tokens.mintAddresses, Buffer.alloc(size * ADDRESS_BYTES));
  tokens.mintPlaceOf = longer(tokens.mintPlaceOf, new Uint32Array(size));
  tokens.slots = new Uint32Array(size * 2);
  for (let token = 0; token < tokens.count; token++) {
    let first = token * WORD_BYTES;
    const end = first + WORD_BYTES;
    while (first < end && tokens.ids[first] === 0) first++;
    putSlot(tokens.slots, hashOfToken(tokens.contractOf[token]!, tokens.ids, first, end), token);
  }
}

function growHolders(holders: Holders): void {
  const size = holders.count * 2;
  holders.tokenOf = longer(holders.tokenOf, new Uint32Array(size));
  holders.owners = longer(holders.owners, Buffer.alloc(size * ADDRESS_BYTES));
  holders.balanceOf = longer(holders.balanceOf, new Float64Array(size));
  holders.blockOf = longer(holders.blockOf, new Float64Array(size));
  holders.logIndexOf = longer(holders.logIndexOf, new Uint32Array(size));
  holders.batchIndexOf = longer(holders.batchIndexOf, new Uint16Array(size));
  holders.slots = new Uint32Array(size * 2);
  for (let holder = 0; holder < holders.count; holder++)
    putSlot(holders.slots, hashOfHolder(holders.tokenOf[holder]!, holders.owners, holder * ADDRESS_BYTES), holder);
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

/** Different in each process, so that nobody can choose token ids that all have the same hash. */
const SEED = Math.floor(Math.random() * 2 ** 32);

/** Hash of a token. The id must be without leading zeros. */
export function hashOfToken(contract: number, id: Buffer, start: number, end: number): number {
  let hash = mix(SEED, contract);
  for (let place = start; place < end; place++) hash = mix(hash, id[place]!);
  return finish(hash);
}

/** Hash of a token's holder, whose address begins at `start` in `owner`. `token`: the token's number or hash. */
export function hashOfHolder(token: number, owner: Buffer, start: number): number {
  let hash = mix(SEED, token);
  for (let place = start; place < start + ADDRESS_BYTES; place += 4) hash = mix(hash, owner.readInt32LE(place));
  return finish(hash);
}

const mix = (hash: number, value: number) => Math.imul(hash ^ value, 0x9e3779b1) ^ (hash >>> 15);
const finish = (hash: number) => (Math.imul(hash ^ (hash >>> 16), 0x85ebca6b) ^ (hash >>> 13)) >>> 0;
