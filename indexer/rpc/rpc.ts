import { setTimeout as sleep } from "node:timers/promises";
import { createPublicClient, fallback, http, type HttpTransport, numberToHex, type PublicClient } from "viem";
import { ConfigError, type Network, type NetworkConfig } from "../../config.ts";
import type { Chain } from "../../history/chain-log.ts";
import { addressOf } from "../../net/node-address.ts";
import { SKIPPED_BLOCK } from "../../net/skipped-block.ts";

const CHECK_TIMEOUT_MS = 10_000;

/** How long all nodes are waited for before it is said which are silent. After that, one answer is enough. */
const PATIENCE_MS = 3_000;

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
  const transport = http(url, { timeout: CHECK_TIMEOUT_MS, retryCount: 0, fetchOptions });
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

/** Thrown where no node of a network answers. */
class UnreachableError extends ConfigError {}

/**
 * Finds out which chain a network is of, so that it can be begun: as `checkRpc` does. Where no node answers, it is the
 * chain that `<prefix>_CHAIN_ID` names, if it does, and nodes are waited for later: `log` is told so.
 *
 * @throws ConfigError
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
        `${prefix}_RPC_URL ${hosts.join(", ")}: ${silence}. Waits ${CHECK_TIMEOUT_MS / 1000} s where no other answers`,
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

/** The hash of the genesis block, undefined where no node tells it now. */
export async function readGenesisHash(client: PublicClient): Promise<string | undefined> {
  const genesis = await client.getBlock({ blockNumber: 0n }).catch(() => undefined);
  return genesis?.hash;
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
    await within(first, CHECK_TIMEOUT_MS - PATIENCE_MS);
  }
  return rpcUrls.map((url) => answers.get(url) ?? { url, error: `No answer for ${CHECK_TIMEOUT_MS / 1000} s.` });
}

/** @throws ConfigError where both networks are of one chain: what is kept of a chain is kept under its id */
export function requireDifferentChains({ mainnet, testnet }: Partial<Record<Network, number>>): void {
  if (testnet !== undefined && testnet === mainnet)
    throw new ConfigError(`TESTNET_RPC_URL answers for chain ${testnet}, as the main network does. Expected another.`);
}

/** Host and port of a URL: its path and query are often a secret. */
export function hostOf(url: string): string {
  return new URL(url).host;
}

/** A node's page of HTML is one of its messages. */
const MAX_MESSAGE_LENGTH = 200;

/** An error of viem on one line: what it says first, the status, its details, why a fetch failed. The rest is the request. */
export function shortMessage(error: unknown): string {
  const { shortMessage: short, status, details, message } = error as Partial<ErrorOfViem>;
  const text = [
    short ?? message ?? String(error),
    status !== undefined && `Status ${status}.`,
    details !== short && details,
    details === FETCH_FAILED && `(${rootOf(error)})`,
  ]
    .flatMap((part) => (part ? [part.split("\n")[0]!] : []))
    .join(" ")
    .replace(/https?:\/\/\S+/g, (url) => (URL.canParse(url) ? hostOf(url) : "URL"));
  return text.length > MAX_MESSAGE_LENGTH ? `${text.slice(0, MAX_MESSAGE_LENGTH)}…` : text;
}
type ErrorOfViem = { shortMessage: string; status: number; details: string; message: string };

/** All that fetch says by itself. */
const FETCH_FAILED = "fetch failed";

/** What is behind an error: a code as ECONNREFUSED, or else the words. */
function rootOf(error: unknown): string {
  const { cause, code, message } = error as Error & { code?: string };
  return cause instanceof Error ? rootOf(cause) : (code ?? message);
}
