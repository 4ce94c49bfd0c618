import { parseAbi } from "viem";

/** Events by which a contract says that what its URIs point at has changed. Source: EIP-4906, EIP-1155, EIP-7572. */
export const metadataAbi = parseAbi([
  "event MetadataUpdate(uint256 _tokenId)",
  "event BatchMetadataUpdate(uint256 _fromTokenId, uint256 _toTokenId)",
  "event URI(string _value, uint256 indexed _id)",
  "event ContractURIUpdated()",
]);
