import { decodeFunctionData, encodeAbiParameters, encodeFunctionResult, type Hex, numberToHex } from "viem";
import { contractAbi } from "../abis/contract.ts";
import { MULTICALL3_ADDRESS, multicall3Abi } from "../abis/multicall3.ts";
import { serveCalls } from "./node-server.ts";
import type { Origin } from "./origin.ts";
import { CHAIN_ID, type FakeContract } from "./tokens.ts";

type Request = { id: unknown; method: string; params: [{ to: Hex; data: Hex }] };

/** A node that knows nothing but reads of contracts, which are functions of this program; Multicall3 is there too. */
export async function serveRpc(contracts: Record<Hex, FakeContract>): Promise<Origin> {
  const call = (to: Hex, data: Hex): Hex | undefined => {
    try {
      const { functionName, args } = decodeFunctionData({ abi: contractAbi, data });
      const text = contracts[to.toLowerCase() as Hex]?.(functionName, args ?? []);
      return text === undefined ? undefined : encodeAbiParameters([{ type: "string" }], [text]);
    } catch {
      return undefined;
    }
  };
  const aggregate = (data: Hex): Hex => {
    const [calls] = decodeFunctionData({ abi: multicall3Abi, data }).args;
    const result = calls.map(({ target, callData }) => {
      const returnData = call(target, callData);
      return { success: returnData !== undefined, returnData: returnData ?? "0x" };
    });
    return encodeFunctionResult({ abi: multicall3Abi, result });
  };
  return serveCalls(({ id, method, params: [parameters] }: Request) => {
    if (method === "eth_chainId") return { jsonrpc: "2.0", id, result: numberToHex(CHAIN_ID) };
    if (method === "eth_getCode") return { jsonrpc: "2.0", id, result: "0x01" };
    if (method !== "eth_call") return { jsonrpc: "2.0", id, error: { code: -32_601, message: "no such method" } };
    const { to, data } = parameters;
    const result = to === MULTICALL3_ADDRESS ? aggregate(data) : call(to, data);
    return result === undefined
      ? { jsonrpc: "2.0", id, error: { code: 3, message: "execution reverted" } }
      : { jsonrpc: "2.0", id, result };
  });
}
