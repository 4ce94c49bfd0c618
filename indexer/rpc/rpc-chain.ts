import { setTimeout as sleep } from "node:timers/promises";
import { ConfigError, type Network, type NetworkConfig } from "../../config.ts";
import type { Chain } from "../../history/chain-log.ts";
import { hostOf } from "../../net/node-address.ts";
import { ANSWER_TIMEOUT_MS, createRpcClient, readGenesisHash } from "./rpc-client.ts";
import { shortMessage } from "./viem-error.ts";

/** How long all nodes are waited for before it is said which are silent. After that, one answer is enough. */
const PATIENCE_MS = 3_000;

/** Thrown where no node of a network answers. */
class UnreachableError extends ConfigError {}

/**
 * Finds out which chain a network follows, by `checkRpc`. Where no node answers and `<prefix>_CHAIN_ID` is set, it is
 * that one, with an unknown genesis block: the network can be begun, and `log` gets a line that nodes are waited for.
 *
 * @throws ConfigError as `checkRpc` does, where `<prefix>_CHAIN_ID` doesn't help
 */
export async function findChain(
  prefix: string,
  settings: NetworkConfig,
  { log }: { log: (line: string) => void },
): Promise<Chain> {
  try {
    return await checkRpc(prefix, settings, { log });
  } catch (error) {
    if (!(error instanceof UnreachableError) || settings.chainId === undefined) throw error;
    log(`${error.message} It is waited for, as ${prefix}_CHAIN_ID is set`);
    return { chainId: settings.chainId, genesisHash: "" };
  }
}

/**
 * Asks every URL for its chain id. URLs that don't answer are left to later as long as one does; `log` is told of those
 * that are waited for.
 *
 * @throws ConfigError where none answers, or one answers for another chain than the rest or than `<prefix>_CHAIN_ID`
 */
export async function checkRpc(
  prefix: string,
  { rpcUrls, chainId: expected }: NetworkConfig,
  { log }: { log: (line: string) => void },
): Promise<Chain> {
  const answers = await askForChains(rpcUrls, {
    onSilence: (hosts) => {
      const silence = `no answer to eth_chainId for ${PATIENCE_MS / 1000} s`;
      log(
        `${prefix}_RPC_URL ${hosts.join(", ")}: ${silence}. Waits ${ANSWER_TIMEOUT_MS / 1000} s where no other answers`,
      );
    },
  });
  const reachable = answers.flatMap(({ url, chainId }) => (chainId === undefined ? [] : [{ url, chainId }]));
  const [first] = reachable;
  if (!first) {
    const failures = answers.map(({ url, error }) => `${hostOf(url)}: ${error}`).join("; ");
    throw new UnreachableError(
      `${prefix}_RPC_URL is unreachable (${failures}). Expected a JSON-RPC node that answers.`,
    );
  }
  for (const { url, chainId } of reachable) {
    if (expected !== undefined && chainId !== expected)
      throw new ConfigError(
        `${prefix}_CHAIN_ID is ${expected}, but ${prefix}_RPC_URL ${hostOf(url)} answers for chain ${chainId}. Expected the same.`,
      );
    if (chainId !== first.chainId)
      throw new ConfigError(
        `${prefix}_RPC_URL names two chains: ${hostOf(first.url)} is ${first.chainId}, ${hostOf(url)} is ${chainId}. Expected one.`,
      );
  }
  const genesisHash = await readGenesisHash(createRpcClient(reachable.map(({ url }) => url)));
  return { chainId: first.chainId, genesisHash: genesisHash ?? "" };
}

type ChainAnswer = { url: string; chainId?: number; error?: string };

/** Asks all URLs at once. `onSilence` is told which hosts haven't answered after `PATIENCE_MS`. */
async function askForChains(
  rpcUrls: string[],
  { onSilence }: { onSilence: (hosts: string[]) => void },
): Promise<ChainAnswer[]> {
  const answers = new Map<string, ChainAnswer>();
  const asked = rpcUrls.map(async (url) => {
    try {
      answers.set(url, { url, chainId: await createRpcClient([url]).getChainId() });
    } catch (error) {
      answers.set(url, { url, error: shortMessage(error) });
      throw error;
    }
  });
  const all = Promise.allSettled(asked);
  const first = Promise.any(asked).catch(() => all);
  // The requests keep the process alive, not this timer.
  const within = (promise: Promise<unknown>, ms: number) =>
    Promise.race([promise, sleep(ms, undefined, { ref: false })]);
  await within(all, PATIENCE_MS);
  const silent = rpcUrls.filter((url) => !answers.has(url));
  if (silent.length > 0) {
    onSilence(silent.map(hostOf));
    await within(first, ANSWER_TIMEOUT_MS - PATIENCE_MS);
  }
  return rpcUrls.map((url) => answers.get(url) ?? { url, error: `No answer for ${ANSWER_TIMEOUT_MS / 1000} s.` });
}

/** @throws ConfigError where both networks are of one chain: what is kept of a chain is kept under its id */
export function requireDifferentChains({ mainnet, testnet }: Partial<Record<Network, number>>): void {
  if (testnet !== undefined && testnet === mainnet)
    throw new ConfigError(`TESTNET_RPC_URL answers for chain ${testnet}, as the main network does. Expected another.`);
}
