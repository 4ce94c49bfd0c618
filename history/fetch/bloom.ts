import { hexToBytes, keccak256, type Hex } from "viem";
import type { LogFilter } from "../wanted.ts";

const BLOOM_BYTES = 256;

/** Whether a block may have logs of a filter, by its header's bloom. False is certain. Source: Yellow Paper, 4.3.1. */
export function mayHaveLogs(bloom: Hex, filter: LogFilter): boolean {
  const bytes = hexToBytes(bloom);
  const has = (value: Hex) => isInBloom(bytes, value);
  return filter.some(({ addresses, topics }) => (addresses === "*" || addresses.some(has)) && topics.some(has));
}

/**
 * Whether a value may be in the bloom: whether three of its bits are set, each selected by eleven bits of the value's
 * hash.
 */
function isInBloom(bloom: Uint8Array, value: Hex): boolean {
  const hash = hashOf(value);
  return [0, 2, 4].every((at) => {
    const bit = ((hash[at]! << 8) | hash[at + 1]!) & 2047;
    return (bloom[BLOOM_BYTES - 1 - (bit >> 3)]! & (1 << (bit & 7))) !== 0;
  });
}

/** Hashes of values, because the same few addresses and topics are asked for again and again. */
const hashes = new Map<Hex, Uint8Array>();

function hashOf(value: Hex): Uint8Array {
  let hash = hashes.get(value);
  if (!hash) {
    hash = keccak256(value, "bytes");
    hashes.set(value, hash);
  }
  return hash;
}
