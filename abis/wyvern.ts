import { decodeFunctionData, type Hex, parseAbi } from "viem";

/** OpenSea's exchange before Seaport. Its event names neither token nor currency. Source: WyvernExchange 2.2, 2.3. */
export const wyvernAbi = parseAbi([
  "event OrdersMatched(bytes32 buyHash, bytes32 sellHash, address indexed maker, address indexed taker, uint256 price, bytes32 indexed metadata)",
  "function atomicMatch_(address[14] addrs, uint256[18] uints, uint8[8] feeMethodsSidesKindsHowToCalls, bytes calldataBuy, bytes calldataSell, bytes replacementPatternBuy, bytes replacementPatternSell, bytes staticExtradataBuy, bytes staticExtradataSell, uint8[2] vs, bytes32[5] rssMetadata) payable",
]);

/** WyvernExchange 2.2 and 2.3 on Ethereum. */
export const WYVERN_ADDRESSES = [
  "0x7be8076f4ea4a4ad08075c2508e481d6c946d12b",
  "0x7f268357a8c2552623316e2562d90e642bb538e5",
];

/** The currency by the call of the transaction: null where a contract called the exchange. */
export function findCurrency({ to, input }: { to: Hex | null; input: Hex }, exchange: Hex): Hex | null {
  if (to !== exchange) return null;
  try {
    const { args } = decodeFunctionData({ abi: wyvernAbi, data: input });
    // Seventh of the buy order's addresses; the exchange insists that the sell order's is the same.
    return args[0][6].toLowerCase() as Hex;
  } catch {
    return null;
  }
}
