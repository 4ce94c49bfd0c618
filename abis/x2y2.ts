import { parseAbi } from "viem";

/** One event for whatever happens to an order: `detail.op` says what. Source: X2Y2_r1. */
export const x2y2Abi = parseAbi([
  "struct Fee { uint256 percentage; address to; }",
  "struct OrderItem { uint256 price; bytes data; }",
  "struct SettleDetail { uint8 op; uint256 orderIdx; uint256 itemIdx; uint256 price; bytes32 itemHash; address executionDelegate; bytes dataReplacement; uint256 bidIncentivePct; uint256 aucMinIncrementPct; uint256 aucIncDurationSecs; Fee[] fees; }",
  "event EvInventory(bytes32 indexed itemHash, address maker, address taker, uint256 orderSalt, uint256 settleSalt, uint256 intent, uint256 delegateType, uint256 deadline, address currency, bytes dataMask, OrderItem item, SettleDetail detail)",
]);

/** X2Y2_r1 on Ethereum. */
export const X2Y2_ADDRESS = "0x74312363e45dcaba76c59ec49a7aa8a65a67eed3";
