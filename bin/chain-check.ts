import { type Config, type Network, NETWORKS } from "../config.ts";
import { createRpc } from "../offchain/chain/rpc.ts";
import { exit } from "./process.ts";

/** What is wrong where a node answers for another chain than its network is set to. */
export const describeOtherChain = (network: Network, { chainId, host, other }: OtherChain): string => {
  const prefix = network.toUpperCase();
  return `${prefix}_CHAIN_ID is ${chainId}, but ${prefix}_RPC_URL ${host} answers for chain ${other}. Expected the same`;
};
type OtherChain = { chainId: number; host: string; other: number };

/**
 * Ends the process where a node answers for another chain than its network is set to. Nothing waits for it: a node that
 * doesn't answer keeps a part from nothing that goes without one.
 */
export async function exitOnOtherChain({ networks }: Pick<Config, "networks">): Promise<void> {
  await Promise.all(
    NETWORKS.map(async (network) => {
      const { chainId, rpcUrls: urls = [] } = networks[network] ?? {};
      if (chainId === undefined) return;
      const onOther = (host: string, other: number) =>
        exit(`${describeOtherChain(network, { chainId, host, other })}.`);
      const rpc = createRpc({ urls, chain: { id: () => chainId, onOther } });
      await rpc.checkChains();
      await rpc.close();
    }),
  );
}

/** What is asked before a part begins may keep it from ending for so long. */
const ASK_TIMEOUT_MS = 5_000;

/** The chain that nodes answer for where one of them answers for another than `chainId`, else that. */
export async function findOtherChain(urls: string[], { chainId }: { chainId: number }): Promise<number> {
  let found = chainId;
  const chain = { id: () => chainId, onOther: (_: string, other: number) => (found = other) };
  const rpc = createRpc({ urls, timeoutMs: ASK_TIMEOUT_MS, chain });
  await rpc.checkChains();
  await rpc.close();
  return found;
}
