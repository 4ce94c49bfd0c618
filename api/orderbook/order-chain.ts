import { type Abi, encodeFunctionData, type Hex, parseAbi } from "viem";
import { CONDUIT_CONTROLLER_ADDRESS } from "../../abis/seaport.ts";
import {
  approvalCalls,
  fundsCalls,
  readApproval,
  readFunds,
  type TokenToMove,
} from "../../offchain/chain/allowance.ts";
import { type Call, type CallAnswer, toCallAnswer } from "../../offchain/chain/call.ts";
import { createRpc, type ExpectedChain, RpcFault, type RpcAnswer } from "../../offchain/chain/rpc.ts";
import { unavailable } from "../http/errors.ts";

/** What an exchange says of an order: of how many parts it was filled how many. None where it was never filled. */
export type OrderStatus = { isCancelled: boolean; filledParts: bigint; parts: bigint };

/**
 * What of an order only the chain itself can tell: signatures of contracts, approvals without a log, a bidder's money,
 * whether there is anything at an address, and what became of a maker and an order in blocks that aren't indexed.
 * Undefined: it is for the contract to say and it doesn't.
 *
 * @throws HttpError 503 where the nodes fail
 */
export type OrderChain = {
  hasCode: (address: Hex) => Promise<boolean>;
  /** Whether a contract says that it signed. */
  isSignedByContract: (signer: Hex, options: { digest: Hex; signature: Hex }) => Promise<boolean>;
  /** Whether `operator` may move the token. */
  isApproved: (token: TokenToMove) => Promise<boolean | undefined>;
  /** What `operator` can take of a currency from `owner`: nothing of a contract that doesn't say. */
  spendable: (currency: Hex, options: { owner: Hex; operator: Hex }) => Promise<bigint>;
  /** Whether a conduit lets an exchange move what it may move itself. */
  hasChannel: (conduit: Hex, exchange: Hex) => Promise<boolean | undefined>;
  counterOf: (exchange: Hex, maker: Hex) => Promise<bigint | undefined>;
  statusOf: (exchange: Hex, orderHash: Hex) => Promise<OrderStatus | undefined>;
};

const abi: Abi = parseAbi([
  "function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)",
  "function getChannelStatus(address conduit, address channel) view returns (bool isOpen)",
  "function getCounter(address offerer) view returns (uint256 counter)",
  "function getOrderStatus(bytes32 orderHash) view returns (bool isValidated, bool isCancelled, uint256 totalFilled, uint256 totalSize)",
]);

/** A word that says yes. Source: EIP-1271. */
const VALID_SIGNATURE = BigInt("0x1626ba7e".padEnd(66, "0"));
const WORD_BYTES = 32;
/** A node that doesn't answer by then is left out of account, in milliseconds. */
const CALL_TIMEOUT_MS = 2000;
/** Addresses with code that are remembered: those of exchanges, and of currencies that people use. */
const MAX_KNOWN = 1000;

/** Asks the network's nodes. */
export function createOrderChain({ rpcUrls, chain }: { rpcUrls: readonly string[]; chain: ExpectedChain }): OrderChain {
  const rpc = createRpc({ urls: [...rpcUrls], timeoutMs: CALL_TIMEOUT_MS, chain });
  const withCode = new Set<Hex>();

  async function send(method: string, params: unknown[]): Promise<RpcAnswer> {
    try {
      return (await rpc.send([{ method, params }]))[0]!;
    } catch (error) {
      if (error instanceof RpcFault) throw unanswered();
      throw error;
    }
  }

  /** What a contract answers; never a fault of the node. */
  async function ask({ to, data }: Call): Promise<CallAnswer> {
    const answer = toCallAnswer(await send("eth_call", [{ to, data }, "latest"]));
    if (answer.kind === "fault") throw unanswered();
    return answer;
  }

  /** The words that a contract answers; none where it answers anything else, or fails. */
  async function callWords(to: Hex, functionName: string, args: unknown[], count: number): Promise<bigint[]> {
    const answer = await ask({ to, data: encodeFunctionData({ abi, functionName, args }) });
    if (answer.kind !== "data" || answer.data.length !== count * WORD_BYTES) return [];
    const hex = answer.data.toString("hex");
    return Array.from({ length: count }, (_, n) => BigInt(`0x${hex.slice(n * 64, (n + 1) * 64)}`));
  }

  const call = async (to: Hex, functionName: string, args: unknown[]) =>
    (await callWords(to, functionName, args, 1))[0];

  async function hasCode(address: Hex): Promise<boolean> {
    if (withCode.has(address)) return true;
    const { result } = await send("eth_getCode", [address, "latest"]);
    if (typeof result !== "string") throw unanswered();
    const isThere = result.length > "0x".length;
    if (isThere && withCode.size < MAX_KNOWN) withCode.add(address);
    return isThere;
  }

  return {
    hasCode,
    isSignedByContract: async (signer, { digest, signature }) =>
      (await call(signer, "isValidSignature", [digest, signature])) === VALID_SIGNATURE,
    isApproved: async (token) => readApproval(await Promise.all(approvalCalls(token).map(ask)), token),
    // Known, as no answer is a fault.
    spendable: async (currency, { owner, operator }) =>
      readFunds(await Promise.all(fundsCalls({ currency, owner, operator }).map(ask)))!,
    hasChannel: async (conduit, exchange) => {
      const [isThere, status] = await Promise.all([
        hasCode(CONDUIT_CONTROLLER_ADDRESS),
        call(CONDUIT_CONTROLLER_ADDRESS, "getChannelStatus", [conduit, exchange]),
      ]);
      return isThere ? status === 1n : undefined;
    },
    counterOf: (exchange, maker) => call(exchange, "getCounter", [maker]),
    statusOf: async (exchange, orderHash) => {
      const [, isCancelled, filledParts, parts] = await callWords(exchange, "getOrderStatus", [orderHash], 4);
      return filledParts === undefined || parts === undefined
        ? undefined
        : { isCancelled: isCancelled === 1n, filledParts, parts };
    },
  };
}

const unanswered = () => unavailable("The network's nodes don't answer what only they can tell of the order.");
