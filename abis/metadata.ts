import { parseAbi } from "viem";

/** Events by which a contract says that what its URIs point at has changed. Source: EIP-4906, EIP-1155, EIP-7572. */
export const metadataAbi = parseAbi([
  "event MetadataUpdate(uint256 _tokenId)",
  "event BatchMetadataUpdate(uint256 _fromTokenId, uint256 _toTokenId)",
  "event URI(string _value, uint256 indexed _id)",
  "event ContractURIUpdated()",
]);

/**
 * The same as many contracts write them: those of ERC-4906 with the ids indexed under the same topics, and that of
 * ERC-7572 with the URIs, as thirdweb's contracts do.
 */
export const metadataVariantAbi = parseAbi([
  "event MetadataUpdate(uint256 indexed _tokenId)",
  "event BatchMetadataUpdate(uint256 indexed _fromTokenId, uint256 indexed _toTokenId)",
  "event ContractURIUpdated(string prevURI, string newURI)",
]);
