import { type Abi, encodeDeployData, encodeFunctionData, type Hex, hexToNumber, numberToHex, toHex } from "viem";
import { startAnvil } from "../demo/anvil.ts";
import type { Artifact } from "./solidity.ts";

const GENESIS_TIMESTAMP = 1_700_000_000;
const ACCOUNTS = 6;

/** Below what one transaction may use since Osaka: 2^24. */
const GAS = numberToHex(16_000_000);

/** A deployed contract. */
export type Contract = { address: Hex; abi: Abi };

/** A call that will be part of the next block. */
export type Call = { to: Contract; name: string; args?: readonly unknown[]; from?: Hex; value?: bigint };

/** A chain that mines when it is told to. */
export type TestChain = {
  rpcUrl: string;
  /** Accounts whose transactions need no signature. */
  accounts: Hex[];
  request: <T>(method: string, ...params: unknown[]) => Promise<T>;
  /** Puts a contract on the chain, in a block of its own. */
  deploy: (artifact: Artifact, ...args: unknown[]) => Promise<Contract>;
  /** Mines one block with these calls in this order, one transaction each. @throws Error where one of them failed */
  mine: (...calls: Call[]) => Promise<void>;
  /** Mines so many empty blocks. */
  mineEmpty: (count: number) => Promise<void>;
  /** Reads from a contract at the head; undefined where the call reverts. */
  read: <T>(contract: Contract, name: string, ...args: unknown[]) => Promise<T | undefined>;
  head: () => Promise<number>;
  stop: () => Promise<void>;
};

/** A chain of its own on a free port: a real anvil that mines when it is told to, and dies with this process. */
export async function startChain({
  chainId = 31_337,
  timestamp = GENESIS_TIMESTAMP,
}: {
  chainId?: number;
  /** Of the genesis block, Unix seconds: another one makes another chain. */
  timestamp?: number;
} = {}): Promise<TestChain> {
  const anvil = await startAnvil({ port: 0, timestamp: BigInt(timestamp), accounts: ACCOUNTS });
  const request = createRequest(anvil.rpcUrl);
  await request("anvil_setChainId", chainId);
  // The accounts' own signers go on with the chain id that anvil was started with.
  await request("anvil_autoImpersonateAccount", true);
  await request("anvil_setBlockTimestampInterval", 12);
  const accounts = (await request<Hex[]>("eth_accounts")).map((account) => account.toLowerCase() as Hex);

  const mineAll = async (hashes: Hex[]) => {
    await request("evm_mine");
    for (const hash of hashes) {
      const receipt = await request<{ status: Hex } | null>("eth_getTransactionReceipt", hash);
      if (receipt?.status !== "0x1") throw new Error(`Transaction ${hash} ${receipt ? "failed" : "was not mined"}.`);
    }
  };

  return {
    rpcUrl: anvil.rpcUrl,
    accounts,
    request,
    deploy: async ({ abi, bytecode }, ...args) => {
      const data = encodeDeployData({ abi, bytecode, args });
      const hash = await request<Hex>("eth_sendTransaction", { from: accounts[0], data, gas: GAS });
      await mineAll([hash]);
      const receipt = await request<{ contractAddress: Hex }>("eth_getTransactionReceipt", hash);
      return { address: receipt.contractAddress, abi };
    },
    mine: async (...calls) => {
      const hashes: Hex[] = [];
      for (const { to, name, args = [], from = accounts[0], value = 0n } of calls) {
        const data = encodeFunctionData({ abi: to.abi, functionName: name, args: [...args] });
        hashes.push(
          await request("eth_sendTransaction", { from, to: to.address, data, gas: GAS, value: toHex(value) }),
        );
      }
      await mineAll(hashes);
    },
    mineEmpty: async (count) => void (await request("anvil_mine", toHex(count), toHex(12))),
    read: async <T>({ address, abi }: Contract, name: string, ...args: unknown[]) => {
      const data = encodeFunctionData({ abi, functionName: name, args });
      const answer = await request<Hex>("eth_call", { to: address, data }, "latest").catch(() => undefined);
      // One word is all that is read in tests: an address, a number.
      return answer === undefined || answer === "0x" ? undefined : (answer as T);
    },
    head: async () => hexToNumber(await request<Hex>("eth_blockNumber")),
    stop: anvil.stop,
  };
}

/** One JSON-RPC call a request. @throws Error with the node's own message */
export function createRequest(rpcUrl: string) {
  return async <T>(method: string, ...params: unknown[]): Promise<T> => {
    const response = await fetch(rpcUrl, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    });
    const { result, error } = (await response.json()) as { result: T; error?: { message: string } };
    if (error) throw new Error(`${method}: ${error.message}`);
    return result;
  };
}
