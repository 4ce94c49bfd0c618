import { encodeFunctionData, type Hex, toFunctionSelector } from "viem";
import { contractAbi, moduleApprovalAbi } from "../abis/contract.ts";

/** What a made-up contract does when called: returns these bytes, reverts, or burns all its gas. */
export type Reaction = Hex | "revert" | "burn";

/**
 * Runtime code that reacts to calls by the first eight bytes of their data, which tell apart functions and, for
 * supportsInterface, interfaces. Anything else reverts.
 */
export function assemble(reactions: Record<Hex, Reaction>): Hex {
  const entries = Object.entries(reactions);
  // PUSH1 0 CALLDATALOAD PUSH1 192 SHR, then per entry DUP1 PUSH8 key EQ PUSH3 destination JUMPI, then a revert.
  const headLength = 6 + entries.length * (1 + 9 + 1 + 4 + 1) + 5;
  // JUMPDEST PUSH3 length PUSH3 offset PUSH1 0 CODECOPY PUSH3 length PUSH1 0 RETURN.
  const bodyLength = 1 + 4 + 4 + 2 + 1 + 4 + 2 + 1;
  const hex = (value: number, size: number) => value.toString(16).padStart(size * 2, "0");
  let head = "60003560c01c";
  let bodies = "";
  let data = "";
  const dataStart = headLength + entries.length * bodyLength;
  entries.forEach(([key, reaction], i) => {
    head += `8067${key.slice(2).padEnd(16, "0").slice(0, 16)}1462${hex(headLength + i * bodyLength, 3)}57`;
    const code =
      reaction === "revert"
        ? "60006000fd"
        : reaction === "burn"
          ? "fe"
          : `62${hex(reaction.length / 2 - 1, 3)}62${hex(dataStart + data.length / 2, 3)}60003962${hex(reaction.length / 2 - 1, 3)}6000f3`;
    bodies += `5b${code}`.padEnd(bodyLength * 2, "0");
    if (reaction.startsWith("0x")) data += reaction.slice(2);
  });
  return `0x${head}60006000fd${bodies}${data}`;
}

/** Keys of `assemble` for the functions of any contract. */
export const callKey = {
  name: encodeFunctionData({ abi: contractAbi, functionName: "name" }),
  symbol: encodeFunctionData({ abi: contractAbi, functionName: "symbol" }),
  decimals: encodeFunctionData({ abi: contractAbi, functionName: "decimals" }),
  contractURI: encodeFunctionData({ abi: contractAbi, functionName: "contractURI" }),
  ownerOf: "0x6352211e",
  /** Of a token whose id begins with these four bytes. */
  ownerOfLarge: (id: Hex): Hex => `0x6352211e${id.slice(2)}`,
  isApprovedForAll: "0xe985e9c5",
  allowance: "0xdd62ed3e",
  isModuleApproved: toFunctionSelector(moduleApprovalAbi[0]),
  supports: (interfaceId: Hex): Hex => `0x01ffc9a7${interfaceId.slice(2)}`,
} as const;
