import type { Hex } from "viem";

/** The bytes of hex. */
export const toBytes = (hex: string): Buffer => Buffer.from(hex.slice(2), "hex");

/** Hex as `\x…`, which Postgres reads as bytea. */
export function toBytea(hex: Hex): string {
  return `\\x${hex.slice(2)}`;
}
