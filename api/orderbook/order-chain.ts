import { createPublicClient, fallback, type Hex, http, parseAbi, zeroAddress } from "viem";

/** What of an order only the chain itself can tell: signatures of contracts, approvals without a log, a bidder's money. */
export type OrderChain = {
  /** Whether a contract says that it signed. */
  isSignedByContract: (signer: Hex, options: { digest: Hex; signature: Hex }) => Promise<boolean>;
  /** Whether `operator` may move the token; undefined where the contract doesn't say. */
  isApproved: (token: { contract: Hex; tokenId: bigint; owner: Hex; operator: Hex }) => Promise<boolean | undefined>;
  /** What `operator` can take of a currency from `owner`; undefined where the contract doesn't say. */
  spendable: (currency: Hex, options: { owner: Hex; operator: Hex }) => Promise<bigint | undefined>;
};

const abi = parseAbi([
  "function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)",
  "function isApprovedForAll(address owner, address operator) view returns (bool)",
  "function getApproved(uint256 tokenId) view returns (address)",
  "function balanceOf(address owner) view returns (uint256)",
  "function allowance(address owner, address spender) view returns (uint256)",
]);

/** Source: EIP-1271. */
const VALID_SIGNATURE = "0x1626ba7e";
/** A node that doesn't answer by then is left out of account, in milliseconds. */
const CALL_TIMEOUT_MS = 2000;

/** Asks the network's nodes; where there are none, nothing is known. */
export function createOrderChain(rpcUrls: readonly string[]): OrderChain {
  const transports = rpcUrls.map((url) => http(url, { timeout: CALL_TIMEOUT_MS, retryCount: 0 }));
  const client = transports.length > 0 ? createPublicClient({ transport: fallback(transports) }) : undefined;
  const read = async <T>(call: () => Promise<T> | undefined): Promise<T | undefined> => {
    try {
      return await call();
    } catch {
      // A contract without this function, or a node that doesn't answer: either way nothing is known.
      return undefined;
    }
  };
  return {
    isSignedByContract: async (address, { digest, signature }) =>
      (await read(() =>
        client?.readContract({ address, abi, functionName: "isValidSignature", args: [digest, signature] }),
      )) === VALID_SIGNATURE,
    isApproved: async ({ contract: address, tokenId, owner, operator }) => {
      const isForAll = await read(() =>
        client?.readContract({ address, abi, functionName: "isApprovedForAll", args: [owner, operator] }),
      );
      if (isForAll !== false) return isForAll;
      const approved = await read(() =>
        client?.readContract({ address, abi, functionName: "getApproved", args: [tokenId] }),
      );
      return approved !== undefined && approved !== zeroAddress && approved.toLowerCase() === operator;
    },
    spendable: async (address, { owner, operator }) => {
      const [balance, allowance] = await Promise.all([
        read(() => client?.readContract({ address, abi, functionName: "balanceOf", args: [owner] })),
        read(() => client?.readContract({ address, abi, functionName: "allowance", args: [owner, operator] })),
      ]);
      if (balance === undefined || allowance === undefined) return undefined;
      return balance < allowance ? balance : allowance;
    },
  };
}
