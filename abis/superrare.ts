import { parseAbi } from "viem";

/** The first two markets, paid in ether. Source: superrare/pixura-contracts, SuperRareMarketAuction and its V2. */
export const superRareAbi = parseAbi([
  "event Sold(address indexed _originContract, address indexed _buyer, address indexed _seller, uint256 _amount, uint256 _tokenId)",
  "event AcceptBid(address indexed _originContract, address indexed _bidder, address indexed _seller, uint256 _amount, uint256 _tokenId)",
]);

/** By chain id: version 2 and version 1. */
export const SUPER_RARE_ADDRESSES: Record<number, string[]> = {
  1: ["0x65b49f7aee40347f5a90b714be4ef086f3fe5e2c", "0x2947f98c42597966a0ec25e92843c09ac17fbaa7"],
};

/** It holds what it auctions. Source: superrare/core, SuperRareBazaarStorage. */
export const superRareBazaarAbi = parseAbi([
  "event Sold(address indexed _originContract, address indexed _buyer, address indexed _seller, address _currencyAddress, uint256 _amount, uint256 _tokenId)",
  "event AcceptOffer(address indexed _originContract, address indexed _bidder, address indexed _seller, address _currencyAddress, uint256 _amount, uint256 _tokenId, address[] _splitAddresses, uint8[] _splitRatios)",
  "event AuctionSettled(address indexed _contractAddress, address indexed _bidder, address _seller, uint256 indexed _tokenId, address _currencyAddress, uint256 _amount)",
]);

/** By chain id. */
export const SUPER_RARE_BAZAAR_ADDRESSES: Record<number, string[]> = {
  1: ["0x6d7c44773c52d396f43c2d511b81aa168e9a7a42"],
};
