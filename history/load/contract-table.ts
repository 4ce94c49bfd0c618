import { Buffer } from "node:buffer";
import { ADDRESS_BYTES } from "../word.ts";

/**
 * The contracts whose tokens have moved, numbered from 0 in the order of their first movement. Each takes 40 bytes,
 * because a chain has millions of them.
 */
export type ContractTable = {
  count: number;
  /** 20 bytes per contract. */
  addresses: Buffer;
  /** 1 where it is an ERC-1155 contract, 0 for ERC-721. */
  isErc1155: Uint8Array;
  /** 1 where the contract is tracked, that is, its movements are applied to rows: see `log-loader.ts`. */
  isTracked: Uint8Array;
  /** The partition, a file, to which its movements are written. */
  partitionOf: Uint8Array;
  /**
   * Hash table by address of contract number + 1; 0 is a free slot. Its length is a power of two, at most half is used.
   */
  slots: Uint32Array;
};

/** A table without contracts. It grows. */
export const createContractTable = (): ContractTable => ({
  count: 0,
  addresses: Buffer.alloc(1024 * ADDRESS_BYTES),
  isErc1155: new Uint8Array(1024),
  isTracked: new Uint8Array(1024),
  partitionOf: new Uint8Array(1024),
  slots: new Uint32Array(2048),
});

/** The number of the contract with the address that stands in `from` at `at`, or -1. */
export function findContract({ slots, addresses }: ContractTable, from: Buffer, at: number): number {
  const mask = slots.length - 1;
  for (let slot = hashOf(from, at) & mask; ; slot = (slot + 1) & mask) {
    const number = slots[slot]! - 1;
    if (number < 0) return -1;
    if (from.compare(addresses, number * ADDRESS_BYTES, (number + 1) * ADDRESS_BYTES, at, at + ADDRESS_BYTES) === 0)
      return number;
  }
}

/** Adds a contract that isn't in the table yet and returns its number. */
export function addContract(
  table: ContractTable,
  from: Buffer,
  at: number,
  { isErc1155 }: { isErc1155: boolean },
): number {
  if (table.count * 2 >= table.slots.length) grow(table);
  const number = table.count++;
  from.copy(table.addresses, number * ADDRESS_BYTES, at, at + ADDRESS_BYTES);
  table.isErc1155[number] = isErc1155 ? 1 : 0;
  // The partition depends on the address alone, so it never changes. It follows the order of addresses, so that rows
  // are written in the order of their keys.
  table.partitionOf[number] = (from[at]! * PARTITION_COUNT) >> 8;
  put(table, number);
  return number;
}

/** Whether a contract is tracked: its movements are applied to rows. */
export function isTracked(table: ContractTable, address: Buffer): boolean {
  const number = findContract(table, address, 0);
  return number >= 0 && table.isTracked[number] === 1;
}

/** Tracks a contract from now on. A contract that has moved nothing yet is added. */
export function markTracked(table: ContractTable, address: Buffer): void {
  const known = findContract(table, address, 0);
  const number = known >= 0 ? known : addContract(table, address, 0, { isErc1155: false });
  // Only now, because an addition may have made its columns longer, which are others then.
  table.isTracked[number] = 1;
}

function put({ slots, addresses }: ContractTable, number: number): void {
  const mask = slots.length - 1;
  let slot = hashOf(addresses, number * ADDRESS_BYTES) & mask;
  while (slots[slot] !== 0) slot = (slot + 1) & mask;
  slots[slot] = number + 1;
}

function grow(table: ContractTable): void {
  const size = table.slots.length;
  const addresses = Buffer.alloc(size * ADDRESS_BYTES);
  table.addresses.copy(addresses);
  table.addresses = addresses;
  for (const column of ["isErc1155", "isTracked", "partitionOf"] as const) {
    const longer = new Uint8Array(size);
    longer.set(table[column]);
    table[column] = longer;
  }
  table.slots = new Uint32Array(size * 2);
  for (let number = 0; number < table.count; number++) put(table, number);
}

/** Hash of a whole address, because anybody can choose parts of an address. */
function hashOf(from: Buffer, at: number): number {
  let hash = SEED;
  for (let place = at; place < at + ADDRESS_BYTES; place += 4)
    hash = Math.imul(hash ^ from.readUInt32LE(place), 0x9e3779b1) ^ (hash >>> 15);
  return (hash ^ (hash >>> 13)) >>> 0;
}

/** Number of files for movements. At most 256, and a power of two. */
export const PARTITION_COUNT = 64;

/** Different in each process, so that nobody can make addresses that all have the same hash. */
const SEED = Math.floor(Math.random() * 2 ** 32);
