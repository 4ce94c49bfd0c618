import { parseAbi } from "viem";

/** Many reads in one, each allowed to fail. Source: the Multicall3 contract, at one address on most chains. */
export const multicall3Abi = parseAbi([
  "function aggregate3((address target, bool allowFailure, bytes callData)[] calls) payable returns ((bool success, bytes returnData)[] returnData)",
]);

/** Its address, the same on most chains. */
export const MULTICALL3_ADDRESS = "0xca11bde05977b3631167028862be2a173976ca11";
