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

/**
 * What contracts write in place of ERC-7572's event, in an ABI of its own because that has it by the same name with other
 * fields: OpenSea's drops, and Zora's ERC-1155 contracts, which may have a new name by then, too.
 *
 * Source: SeaDrop, ISeaDropTokenContractMetadata; Zora, IZoraCreator1155
 */
export const contractUpdateAbi = parseAbi([
  "event ContractURIUpdated(string newContractURI)",
  "event ContractMetadataUpdated(address indexed updater, string uri, string name)",
]);
