import { parseAbi } from "viem";

/** What a token contract may say of itself and of its tokens. Source: EIP-165, EIP-721, EIP-1155, EIP-20, EIP-7572. */
export const contractAbi = parseAbi([
  "function name() view returns (string)",
  "function symbol() view returns (string)",
  "function decimals() view returns (uint8)",
  "function supportsInterface(bytes4 interfaceId) view returns (bool)",
  "function ownerOf(uint256 tokenId) view returns (address)",
  "function tokenURI(uint256 tokenId) view returns (string)",
  "function uri(uint256 id) view returns (string)",
  "function baseURI() view returns (string)",
  "function contractURI() view returns (string)",
]);
