import { createPublicClient, fallback, http, type HttpTransport, numberToHex, type PublicClient } from "viem";
import { addressOf, hostOf } from "../../net/node-address.ts";
import { SKIPPED_BLOCK } from "../../net/skipped-block.ts";

/** How long a node is waited for. */
export const ANSWER_TIMEOUT_MS = 10_000;

/** A client that fails over from one URL to the next. With `chain`, nodes of another chain count as failed. */
export function createRpcClient(rpcUrls: string[], chain?: { chainId: number }): PublicClient {
  return createPublicClient({
    transport: fallback(
      rpcUrls.map((url) => transportTo(url, chain)),
      { retryCount: 1 },
    ),
  });
}

/**
 * A transport to one node, without retries. With `chain`, the node is first asked whether it is of that chain. For a
 * number that the chain has skipped it gives the block before it.
 */
export function transportTo(rpcUrl: string, chain?: { chainId: number }): HttpTransport {
  // Some providers want a password without a user. viem would leave that in the URL, which fetch refuses.
  const { url, authorization } = addressOf(rpcUrl);
  const fetchOptions = authorization === undefined ? {} : { headers: { authorization } };
  const transport = http(url, { timeout: ANSWER_TIMEOUT_MS, retryCount: 0, fetchOptions });
  let isOfChain = chain === undefined;
  return (options) => {
    const node = transport(options);
    const ask = async (...[call, ...others]: Parameters<typeof node.request>): Promise<unknown> => {
      const result = await node.request(call, ...others);
      // viem takes an empty body for an answer, and so for a block that the node lacks. What is lacking is null.
      if (result === undefined) throw new Error(`${hostOf(url)} answered ${call.method} without a result.`);
      return result;
    };
    const request = async (...[call, ...others]: Parameters<typeof node.request>): Promise<unknown> => {
      if (chain && !isOfChain) {
        const chainId = Number(await ask({ method: "eth_chainId" }));
        if (chainId !== chain.chainId)
          throw new Error(`${hostOf(url)} answers for chain ${chainId}. Expected ${chain.chainId}.`);
        isOfChain = true;
      }
      try {
        return await ask(call, ...others);
      } catch (error) {
        const { method, params } = call as { method: string; params?: [string, boolean] };
        if (method !== "eth_getBlockByNumber" || !SKIPPED_BLOCK.test((error as Error).message)) throw error;
        const before = numberToHex(Number(params![0]) - 1);
        return request({ method, params: [before, params![1]] }, ...others);
      }
    };
    return { ...node, request: request as typeof node.request };
  };
}

/** Whether Ponder can't ask these nodes by itself: see `rpc-failover.ts`. */
export const needsFailover = (rpcUrls: string[]) =>
  rpcUrls.length > 1 || rpcUrls.some((url) => addressOf(url).authorization !== undefined);

/** The hash of the genesis block, undefined where no node tells it now. */
export async function readGenesisHash(client: PublicClient): Promise<string | undefined> {
  const genesis = await client.getBlock({ blockNumber: 0n }).catch(() => undefined);
  return genesis?.hash;
}
