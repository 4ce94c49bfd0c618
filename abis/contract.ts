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

/** Whether a contract signed. Source: EIP-1271. */
export const signatureAbi = parseAbi([
  "function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)",
]);

/** Who may move a token, and what of a currency somebody may take. Source: EIP-721, EIP-1155, EIP-20. */
export const allowanceAbi = parseAbi([
  "function isApprovedForAll(address owner, address operator) view returns (bool)",
  "function getApproved(uint256 tokenId) view returns (address)",
  "function balanceOf(address owner) view returns (uint256)",
  "function allowance(address owner, address spender) view returns (uint256)",
]);

/** Whether somebody lets a module of Zora's act for them. Source: Zora v3, ZoraModuleManager. */
export const moduleApprovalAbi = parseAbi([
  "function isModuleApproved(address user, address module) view returns (bool)",
]);

/** What a Seaport contract notes of an order. Source: Seaport 1.1 to 1.6. */
export const orderStatusAbi = parseAbi([
  "function getOrderStatus(bytes32 orderHash) view returns (bool isValidated, bool isCancelled, uint256 totalFilled, uint256 totalSize)",
]);
