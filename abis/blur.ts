import { parseAbi } from "viem";

/** Source: BlurExchange, the first version. */
export const blurV1Abi = parseAbi([
  "struct Fee { uint16 rate; address recipient; }",
  "struct Order { address trader; uint8 side; address matchingPolicy; address collection; uint256 tokenId; uint256 amount; address paymentToken; uint256 price; uint256 listingTime; uint256 expirationTime; Fee[] fees; uint256 salt; bytes extraParams; }",
  "event OrdersMatched(address indexed maker, address indexed taker, Order sell, bytes32 sellHash, Order buy, bytes32 buyHash)",
]);

/** Nothing is indexed; the packed events hold several values in one word. Source: BlurExchangeV2. */
export const blurV2Abi = parseAbi([
  "struct FeeRate { address recipient; uint16 rate; }",
  "struct Transfer { address trader; uint256 id; uint256 amount; address collection; uint8 assetType; }",
  "struct Fees { FeeRate protocolFee; FeeRate takerFee; }",
  "event Execution721Packed(bytes32 orderHash, uint256 tokenIdListingIndexTrader, uint256 collectionPriceSide)",
  "event Execution721TakerFeePacked(bytes32 orderHash, uint256 tokenIdListingIndexTrader, uint256 collectionPriceSide, uint256 takerFeeRecipientRate)",
  "event Execution721MakerFeePacked(bytes32 orderHash, uint256 tokenIdListingIndexTrader, uint256 collectionPriceSide, uint256 makerFeeRecipientRate)",
  "event Execution(Transfer transfer, bytes32 orderHash, uint256 listingIndex, uint256 price, FeeRate makerFee, Fees fees, uint8 orderType)",
]);

/** BlurExchange, the first version, on Ethereum. */
export const BLUR_V1_ADDRESS = "0x000000000000ad05ccc4f10045630fb830b95127";
/** BlurExchangeV2 on Ethereum. */
export const BLUR_V2_ADDRESS = "0xb2ecfe4e4d61f8790bbb9de2d1259b9e2410cea5";

/** Ether that bidders have paid in. One unit is one wei. Only Blur's own contracts may move it. Source: BlurPool. */
export const BLUR_POOL_ADDRESS = "0x0000000000a39bb272e79075ade125fd351887ac";
