import { parseAbiParameters } from "viem";

/** What the data of Seaport's OrderFulfilled has, for `encodeAbiParameters`. */
export const fulfilled = parseAbiParameters([
  "bytes32 orderHash, address recipient, SpentItem[] offer, ReceivedItem[] consideration",
  "struct SpentItem { uint8 itemType; address token; uint256 identifier; uint256 amount; }",
  "struct ReceivedItem { uint8 itemType; address token; uint256 identifier; uint256 amount; address recipient; }",
]);
