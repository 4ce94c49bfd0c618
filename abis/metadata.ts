import { parseAbi } from "viem";

/** Events by which a contract says that what its URIs point at has changed. Source: EIP-4906, EIP-1155, EIP-7572. */
export const metadataAbi = parseAbi([
  "event MetadataUpdate(uint256 _tokenId)",
  "event BatchMetadataUpdate(uint256 _fromTokenId, uint256 _toTokenId)",
  "event URI(string _value, uint256 indexed _id)",
  "event ContractURIUpdated()",
]);

/** Those of ERC-4906 as many contracts write them: the same topics, with the ids indexed. */
export const metadataIndexedAbi = parseAbi([
  "event MetadataUpdate(uint256 indexed _tokenId)",
  "event BatchMetadataUpdate(uint256 indexed _fromTokenId, uint256 indexed _toTokenId)",
]);
