import { type Hex, parseAbi } from "viem";

/** Realised values: criteria resolved, price of the moment, fraction applied. Source: Seaport 1.1 to 1.6. */
export const seaportAbi = parseAbi([
  "struct SpentItem { uint8 itemType; address token; uint256 identifier; uint256 amount; }",
  "struct ReceivedItem { uint8 itemType; address token; uint256 identifier; uint256 amount; address recipient; }",
  "struct OfferItem { uint8 itemType; address token; uint256 identifierOrCriteria; uint256 startAmount; uint256 endAmount; }",
  "struct ConsiderationItem { uint8 itemType; address token; uint256 identifierOrCriteria; uint256 startAmount; uint256 endAmount; address recipient; }",
  "struct OrderParameters { address offerer; address zone; OfferItem[] offer; ConsiderationItem[] consideration; uint8 orderType; uint256 startTime; uint256 endTime; bytes32 zoneHash; uint256 salt; bytes32 conduitKey; uint256 totalOriginalConsiderationItems; }",
  "event OrderFulfilled(bytes32 orderHash, address indexed offerer, address indexed zone, address recipient, SpentItem[] offer, ReceivedItem[] consideration)",
  "event OrdersMatched(bytes32[] orderHashes)",
  "event OrderValidated(bytes32 orderHash, OrderParameters orderParameters)",
  "event OrderCancelled(bytes32 orderHash, address indexed offerer, address indexed zone)",
  "event CounterIncremented(uint256 newCounter, address indexed offerer)",
]);

/** Whom people approve instead of Seaport itself. Source: Seaport's ConduitController. */
export const conduitControllerAbi = parseAbi(["event NewConduit(address conduit, bytes32 conduitKey)"]);

/** The same on every chain. */
export const CONDUIT_CONTROLLER_ADDRESS = "0x00000000f9490004c11cef243f5400493c00ad63";

/** Hash of the code that makes a conduit: its address follows from it and its key. */
export const CONDUIT_CODE_HASH = "0x023d904f2503c37127200ca07b976c3a53cc562623f67023115bf311f5805059";

/** Seaport 1.6 on chains where it lives elsewhere, as on Gunz, Somnia and MegaETH. */
const SEAPORT_ELSEWHERE = "0x00000000006687982678b03100b9bdc8be440814";

/**
 * Conduits that another controller made, by exchange and key: their addresses don't follow from the key. OpenSea's where
 * Seaport 1.6 lives elsewhere. Source: opensea-js (0c4323b).
 */
export const OTHER_CONDUITS: Record<Hex, Record<Hex, Hex>> = {
  [SEAPORT_ELSEWHERE]: {
    "0x86d26897267711ea4b173c8c124a0a73612001da35562f1ee3b26929b6575e89": "0x00000000001566479594a2e05532d81afa09bc52",
  },
};

/** Version by address: Seaport 1.1 to 1.6, and 1.6 where it lives elsewhere. The same on every chain. */
export const SEAPORT_VERSIONS: Record<string, string> = {
  "0x00000000006c3852cbef3e08e8df289169ede581": "1.1",
  "0x00000000000006c7676171937c444f6bde3d6282": "1.2",
  "0x0000000000000ad24e80fd803c6ac37206a45f15": "1.3",
  "0x00000000000001ad428e4906ae43d8f9852d0dd6": "1.4",
  "0x00000000000000adc04c56bf30ac9d3c0aaf14dc": "1.5",
  "0x0000000000000068f116a894984e2db1123eb395": "1.6",
  [SEAPORT_ELSEWHERE]: "1.6",
};

/** All addresses of `SEAPORT_VERSIONS`. */
export const SEAPORT_ADDRESSES = Object.keys(SEAPORT_VERSIONS);
