import { parseAbi } from "viem";

/** Names the marketplace that brought both sides together. Source: limitbreakinc/payment-processor, IPaymentProcessor. */
export const paymentProcessorV1Abi = parseAbi([
  "event BuySingleListing(address indexed marketplace, address indexed tokenAddress, address indexed paymentCoin, address buyer, address seller, uint256 tokenId, uint256 amount, uint256 salePrice)",
  "event BuyBundledListingERC721(address indexed marketplace, address indexed tokenAddress, address indexed paymentCoin, address buyer, address seller, bool[] unsuccessfulFills, uint256[] tokenIds, uint256[] salePrices)",
  "event BuyBundledListingERC1155(address indexed marketplace, address indexed tokenAddress, address indexed paymentCoin, address buyer, address seller, bool[] unsuccessfulFills, uint256[] tokenIds, uint256[] amounts, uint256[] salePrices)",
  "event SweepCollectionERC721(address indexed marketplace, address indexed tokenAddress, address indexed paymentCoin, address buyer, bool[] unsuccessfulFills, address[] sellers, uint256[] tokenIds, uint256[] salePrices)",
  "event SweepCollectionERC1155(address indexed marketplace, address indexed tokenAddress, address indexed paymentCoin, address buyer, bool[] unsuccessfulFills, address[] sellers, uint256[] tokenIds, uint256[] amounts, uint256[] salePrices)",
]);

/** By chain id: what its README names, and what reservoirprotocol/indexer (6dceb71) followed. */
export const PAYMENT_PROCESSOR_V1_ADDRESSES: Record<number, string[]> = {
  1: ["0x009a1dc629242961c9e4f089b437afd394474cc0", "0x009a1dc9f1a6e2134ad4236fcd75b1ae62858507"],
  137: ["0x009a1daf6b5b8adc6b3db720c58d43caa2fdac56", "0x009a1d0fecd7d6475188082f3f542e93f5e07ff1"],
  11155111: ["0x009a1d8de8d80fcd9c6aaafe97a237dc663f2978"],
};

/**
 * The beneficiary gets the token, whoever buys it. Version 3 logs the same. Source: limitbreakinc/payment-processor-v2,
 * IPaymentProcessorEvents.
 */
export const paymentProcessorV2Abi = parseAbi([
  "event BuyListingERC721(address indexed buyer, address indexed seller, address indexed tokenAddress, address beneficiary, address paymentCoin, uint256 tokenId, uint256 salePrice)",
  "event BuyListingERC1155(address indexed buyer, address indexed seller, address indexed tokenAddress, address beneficiary, address paymentCoin, uint256 tokenId, uint256 amount, uint256 salePrice)",
  "event AcceptOfferERC721(address indexed seller, address indexed buyer, address indexed tokenAddress, address beneficiary, address paymentCoin, uint256 tokenId, uint256 salePrice)",
  "event AcceptOfferERC1155(address indexed seller, address indexed buyer, address indexed tokenAddress, address beneficiary, address paymentCoin, uint256 tokenId, uint256 amount, uint256 salePrice)",
]);

/**
 * Versions 2.0.0, 2.0.1 and 3.0.0, the same on every chain. Source: reservoirprotocol/indexer (6dceb71, b4b9185), Limit
 * Break's documentation of the third.
 */
export const PAYMENT_PROCESSOR_V2_ADDRESSES = [
  "0x9a1d00bed7cd04bcda516d721a596eb22aac6834",
  "0x9a1d001670c8b17f8b7900e8d7a41e785b3f0515",
  "0x9a1d00000000fc540e2000560054812452eb5366",
];
