import { parseAbi } from "viem";

/** Who may move all of an account's tokens of a contract. Source: EIP-721, EIP-1155. */
export const approvalAbi = parseAbi([
  "event ApprovalForAll(address indexed owner, address indexed operator, bool approved)",
]);
