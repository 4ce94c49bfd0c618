import { type Hex, isHex, numberToHex, size } from "viem";
import { createCallReader } from "../../offchain/chain/call.ts";
import { isRevert } from "../../offchain/chain/revert.ts";
import { createRpc, type ExpectedChain, type RpcAnswer, RpcFault, type RpcRequest } from "../../offchain/chain/rpc.ts";
import {
  counterData,
  createOrderChain,
  type Information,
  type OrderChain,
  unanswered,
  WORD_BYTES,
} from "./order-chain.ts";

/** How long a node has to answer before it is given up, in milliseconds. */
const CALL_TIMEOUT_MS = 2000;
/** How many addresses with code are remembered: exchanges, and currencies that people use. */
const MAX_KNOWN = 1000;
/** How long an exchange without code is taken to be missing before it is looked up again, in milliseconds. */
const RECHECK_MS = 60_000;

/**
 * Asks the nodes at `rpcUrls`, which must be of `chain`. Created once: facts that never change are remembered for all
 * orders. The returned function is called once per order; the calls that one order makes at the same moment are sent
 * together.
 */
export function createOrderNodes({
  rpcUrls,
  chain,
}: {
  rpcUrls: readonly string[];
  chain: ExpectedChain;
}): () => OrderChain {
  const rpc = createRpc({ urls: [...rpcUrls], timeoutMs: CALL_TIMEOUT_MS, chain });
  const withCode = new Set<Hex>();
  const missingSince = new Map<Hex, number>();
  const informations = new Map<Hex, Information>();
  const readCalls = createCallReader({ ...rpc, send });

  async function send(requests: RpcRequest[]): Promise<RpcAnswer[]> {
    const startedAt = performance.now();
    try {
      return await rpc.send(requests);
    } catch (error) {
      if (!(error instanceof RpcFault)) throw error;
      // A node that doesn't accept batches says so quickly; the caller then sends the calls one by one.
      if (requests.length > 1 && performance.now() - startedAt < CALL_TIMEOUT_MS) throw error;
      throw unanswered();
    }
  }

  async function hasCodeNow(address: Hex): Promise<boolean> {
    const [answer] = await send([{ method: "eth_getCode", params: [address, "latest"] }]);
    const result = answer?.result;
    if (typeof result !== "string") throw unanswered();
    return result.length > "0x".length;
  }

  async function hasCode(address: Hex): Promise<boolean> {
    if (withCode.has(address)) return true;
    const isThere = await hasCodeNow(address);
    if (isThere && withCode.size < MAX_KNOWN) withCode.add(address);
    return isThere;
  }

  async function hasExchange(exchange: Hex): Promise<boolean> {
    if (performance.now() - (missingSince.get(exchange) ?? -Infinity) < RECHECK_MS) return false;
    const isThere = await hasCode(exchange);
    // Exchanges are few, so they are remembered even when `withCode` is full.
    if (isThere) withCode.add(exchange);
    else missingSince.set(exchange, performance.now());
    return isThere;
  }

  const takesNative: OrderChain["takesNative"] = async (to, { exchange: from, amount }) => {
    const value = numberToHex(amount);
    // For this call the exchange has so much. Nodes that don't know such a setting say that it has too little.
    const params = [{ from, to, value }, "latest", { [from]: { balance: value } }];
    // Nor is it known where they don't answer that.
    const [answer] = await send([{ method: "eth_call", params }]).catch((): RpcAnswer[] => []);
    if (answer?.error) return isRevert(answer.error) ? false : undefined;
    return answer === undefined ? undefined : true;
  };

  const counterAt: OrderChain["counterAt"] = async (to, maker, block) => {
    const params = [{ to, data: counterData(maker) }, numberToHex(block)];
    // A node may not have the block yet, or no longer its state.
    const [answer] = await send([{ method: "eth_call", params }]).catch((): RpcAnswer[] => []);
    const result = answer?.result;
    return isHex(result) && size(result) === WORD_BYTES ? BigInt(result) : undefined;
  };

  return () => createOrderChain(readCalls, { hasCode, hasCodeNow, hasExchange, takesNative, counterAt, informations });
}
