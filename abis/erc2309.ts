import { parseAbi } from "viem";

/** Mint, transfer or burn of a whole range of ERC-721 ids in one log. Source: EIP-2309. */
export const erc2309Abi = parseAbi([
  "event ConsecutiveTransfer(uint256 indexed fromTokenId, uint256 toTokenId, address indexed fromAddress, address indexed toAddress)",
]);
