import type { Hex } from "viem";

/** Makes the function that tells whether a token contract's logs are indexed. `addresses`: of those that are. */
export function createIsIndexed(addresses: readonly Hex[] | "*"): (contractAddress: Hex) => boolean {
  if (addresses === "*") return () => true;
  const indexed = new Set(addresses);
  return (contractAddress) => indexed.has(contractAddress);
}
