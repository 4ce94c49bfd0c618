import type { Hex } from "viem";

/** Hex as `\x…`, which Postgres reads as bytea. */
export function toBytea(hex: Hex): string {
  return `\\x${hex.slice(2)}`;
}
