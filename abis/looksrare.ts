import { parseAbi } from "viem";

/** Source: LooksRareExchange, the first version. */
export const looksrareV1Abi = parseAbi([
  "event TakerAsk(bytes32 orderHash, uint256 orderNonce, address indexed taker, address indexed maker, address indexed strategy, address currency, address collection, uint256 tokenId, uint256 amount, uint256 price)",
  "event TakerBid(bytes32 orderHash, uint256 orderNonce, address indexed taker, address indexed maker, address indexed strategy, address currency, address collection, uint256 tokenId, uint256 amount, uint256 price)",
]);

/** `feeAmounts` is what the seller, the creator and the protocol get of the price. Source: LooksRareProtocol. */
export const looksrareV2Abi = parseAbi([
  "struct NonceInvalidationParameters { bytes32 orderHash; uint256 orderNonce; bool isNonceInvalidated; }",
  "event TakerAsk(NonceInvalidationParameters nonceInvalidationParameters, address askUser, address bidUser, uint256 strategyId, address currency, address collection, uint256[] itemIds, uint256[] amounts, address[2] feeRecipients, uint256[3] feeAmounts)",
  "event TakerBid(NonceInvalidationParameters nonceInvalidationParameters, address bidUser, address bidRecipient, uint256 strategyId, address currency, address collection, uint256[] itemIds, uint256[] amounts, address[2] feeRecipients, uint256[3] feeAmounts)",
]);

/** LooksRareExchange, the first version, on Ethereum. */
export const LOOKSRARE_V1_ADDRESS = "0x59728544b08ab483533076417fbbb2fd0b17ce3a";
/** LooksRareProtocol, the second version, on Ethereum. */
export const LOOKSRARE_V2_ADDRESS = "0x0000000000e655fae4d56241588680f86e3b2377";
