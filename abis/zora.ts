import { parseAbi } from "viem";

/** Source: Zora v3, modules Asks v1 and v1.1 and Offers v1. */
export const zoraAbi = parseAbi([
  "struct Ask { address seller; address sellerFundsRecipient; address askCurrency; uint16 findersFeeBps; uint256 askPrice; }",
  "struct Offer { address maker; address currency; uint16 findersFeeBps; uint256 amount; }",
  "event AskCreated(address indexed tokenContract, uint256 indexed tokenId, Ask ask)",
  "event AskPriceUpdated(address indexed tokenContract, uint256 indexed tokenId, Ask ask)",
  "event AskCanceled(address indexed tokenContract, uint256 indexed tokenId, Ask ask)",
  "event AskFilled(address indexed tokenContract, uint256 indexed tokenId, address indexed buyer, address finder, Ask ask)",
  "event OfferFilled(address indexed tokenContract, uint256 indexed tokenId, uint256 indexed id, address taker, address finder, Offer offer)",
]);

/** Asks v1.1, Asks v1, Offers v1. */
export const ZORA_ADDRESSES = [
  "0x6170b3c3a54c3d8c854934cbc314ed479b2b29a3",
  "0xce6cef2a9028e1c3b21647ae3b4251038109f42a",
  "0x76744367ae5a056381868f716bdf0b13ae1aeaa3",
];

/** Who people let use a module. Source: Zora v3, ZoraModuleManager. */
export const zoraModuleAbi = parseAbi([
  "event ModuleApprovalSet(address indexed user, address indexed module, bool approved)",
]);
/** ZoraModuleManager on Ethereum. Source: Zora v3, addresses on mainnet. */
export const ZORA_MODULE_MANAGER_ADDRESS = "0x850a7c6fe2cf48eea1393554c8a3ba23f20cc401";

/** Whom sellers approve: it moves the tokens for every module. Source: Zora v3, addresses on mainnet. */
export const ZORA_TRANSFER_HELPER_ADDRESS = "0x909e9efe4d87d1a6018c2065ae642b6d0447bc91";

/** Holds the token from the first bid on, and is paid in ether. Source: Zora v3, ReserveAuctionCoreEth. */
export const zoraReserveAuctionAbi = parseAbi([
  "struct Auction { address seller; uint96 reservePrice; address sellerFundsRecipient; uint96 highestBid; address highestBidder; uint32 duration; uint32 startTime; uint32 firstBidTime; }",
  "event AuctionEnded(address indexed tokenContract, uint256 indexed tokenId, Auction auction)",
]);

/** By chain id. Source: Zora v3, addresses. */
export const ZORA_RESERVE_AUCTION_ADDRESSES: Record<number, string[]> = {
  1: ["0x5f7072e1fa7c01dfac7cf54289621afaad2184d0"],
};

/** Zora's auctions before that. Holds the token, wraps the ether it is sent. Source: ourzora/auction-house, IAuctionHouse. */
export const zoraAuctionHouseAbi = parseAbi([
  "event AuctionBid(uint256 indexed auctionId, uint256 indexed tokenId, address indexed tokenContract, address sender, uint256 value, bool firstBid, bool extended)",
  "event AuctionEnded(uint256 indexed auctionId, uint256 indexed tokenId, address indexed tokenContract, address tokenOwner, address curator, address winner, uint256 amount, uint256 curatorFee, address auctionCurrency)",
]);

/** By chain id. Source: ourzora/auction-house, addresses. */
export const ZORA_AUCTION_HOUSE_ADDRESSES: Record<number, string[]> = {
  1: ["0xe468ce99444174bd3bbbed09209577d25d1ad673"],
  137: ["0x48f1c97259dc7f3900965391651693baebfd59a2"],
};
