import { parseAbi } from "viem";

/** What any token contract may say of itself. Source: EIP-165, EIP-721, EIP-20, EIP-7572. */
export const contractAbi = parseAbi([
  "function name() view returns (string)",
  "function symbol() view returns (string)",
  "function decimals() view returns (uint8)",
  "function supportsInterface(bytes4 interfaceId) view returns (bool)",
  "function ownerOf(uint256 tokenId) view returns (address)",
  "function contractURI() view returns (string)",
]);
