import { parseAbi } from "viem";

/** Transfer with everything indexed: four topics. An ERC-20 Transfer shares the topic with three. Source: EIP-721. */
export const erc721Abi = parseAbi([
  "event Transfer(address indexed from, address indexed to, uint256 indexed tokenId)",
]);

/** Transfer as contracts wrote it before EIP-721 was final (CryptoKitties): the same topic, nothing indexed. */
export const erc721FirstGenerationAbi = parseAbi(["event Transfer(address from, address to, uint256 tokenId)"]);

/** Transfer as the drafts of early 2018 had it: three topics, so that it is an ERC-20 one to the letter. */
export const erc721DraftAbi = parseAbi(["event Transfer(address indexed from, address indexed to, uint256 tokenId)"]);
