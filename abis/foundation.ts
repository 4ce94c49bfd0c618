import { parseAbi } from "viem";

/** Its market holds what is on sale, and is paid in ether. It had private sales until 2022. Source: Foundation's NFTMarket. */
export const foundationAbi = parseAbi([
  "event BuyPriceAccepted(address indexed nftContract, uint256 indexed tokenId, address indexed seller, address buyer, uint256 totalFees, uint256 creatorRev, uint256 sellerRev)",
  "event OfferAccepted(address indexed nftContract, uint256 indexed tokenId, address indexed buyer, address seller, uint256 totalFees, uint256 creatorRev, uint256 sellerRev)",
  "event ReserveAuctionCreated(address indexed seller, address indexed nftContract, uint256 indexed tokenId, uint256 duration, uint256 extensionDuration, uint256 reservePrice, uint256 auctionId)",
  "event ReserveAuctionFinalized(uint256 indexed auctionId, address indexed seller, address indexed bidder, uint256 totalFees, uint256 creatorRev, uint256 sellerRev)",
  "event PrivateSaleFinalized(address indexed nftContract, uint256 indexed tokenId, address indexed seller, address buyer, uint256 totalFees, uint256 creatorRev, uint256 sellerRev, uint256 deadline)",
]);

/** Foundation's NFTMarket on Ethereum. */
export const FOUNDATION_ADDRESS = "0xcda72070e455bb31c7690a170224ce43623d0b6f";
