import { setImmediate as immediate } from "node:timers/promises";
import { type Abi, decodeFunctionResult, encodeFunctionData, type Hex, parseAbi } from "viem";
import { CONDUIT_CONTROLLER_ADDRESS } from "../../abis/seaport.ts";
import {
  approvalCalls,
  fundsCalls,
  readApproval,
  readFunds,
  type TokenToMove,
} from "../../offchain/chain/allowance.ts";
import { type Call, type CallAnswer, createCallReader, type ReadCalls } from "../../offchain/chain/call.ts";
import { type ContractSignature, readSignature, signatureCall } from "../../offchain/chain/signature.ts";
import { createRpc, type ExpectedChain, RpcFault, type RpcAnswer, type RpcRequest } from "../../offchain/chain/rpc.ts";
import { unavailable } from "../http/errors.ts";

/** What an exchange says of an order: of how many parts it was filled how many. None where it was never filled. */
type OrderStatus = { isCancelled: boolean; filledParts: bigint; parts: bigint };

/**
 * What of an order only the chain itself can tell: signatures of contracts, approvals without a log, a bidder's money,
 * whether there is anything at an address, and what became of a maker and an order in blocks that aren't indexed.
 * Undefined: it is for the contract to say and it doesn't.
 *
 * @throws HttpError 503 where the nodes fail
 */
export type OrderChain = {
  hasCode: (address: Hex) => Promise<boolean>;
  /** The same of an exchange, as of a minute ago at most: of those that are known most chains lack some. */
  hasExchange: (exchange: Hex) => Promise<boolean>;
  /** What a Seaport says of its version. */
  versionOf: (exchange: Hex) => Promise<string | undefined>;
  /** Whether a contract says that it signed. */
  isSignedByContract: (signature: ContractSignature) => Promise<boolean>;
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
  "function getChannelStatus(address conduit, address channel) view returns (bool isOpen)",
  "function getCounter(address offerer) view returns (uint256 counter)",
  "function information() view returns (string version, bytes32 domainSeparator, address conduitController)",
  "function getOrderStatus(bytes32 orderHash) view returns (bool isValidated, bool isCancelled, uint256 totalFilled, uint256 totalSize)",
]);

const WORD_BYTES = 32;
/** A node that doesn't answer by then is left out of account, in milliseconds. */
const CALL_TIMEOUT_MS = 2000;
/** Addresses with code that are remembered: those of exchanges, and of currencies that people use. */
const MAX_KNOWN = 1000;
/** How long an exchange that wasn't there is taken to be still missing. */
const RECHECK_MS = 60_000;

/**
 * The nodes at `rpcUrls`, which are to be of `chain`. Made once: what it remembers, because it never changes, is for all
 * orders. Each order asks by a function of its own, what it asks for at one moment together.
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
  const versions = new Map<Hex, string>();
  const readCalls = createCallReader({ ...rpc, send });

  async function send(requests: RpcRequest[]): Promise<RpcAnswer[]> {
    const startedAt = performance.now();
    try {
      return await rpc.send(requests);
    } catch (error) {
      if (!(error instanceof RpcFault)) throw error;
      // A node that takes no batches says so at once: what comes next is one by one.
      if (requests.length > 1 && performance.now() - startedAt < CALL_TIMEOUT_MS) throw error;
      throw unanswered();
    }
  }

  async function hasCode(address: Hex): Promise<boolean> {
    if (withCode.has(address)) return true;
    const [answer] = await send([{ method: "eth_getCode", params: [address, "latest"] }]);
    const result = answer?.result;
    if (typeof result !== "string") throw unanswered();
    const isThere = result.length > "0x".length;
    if (isThere && withCode.size < MAX_KNOWN) withCode.add(address);
    return isThere;
  }

  async function hasExchange(exchange: Hex): Promise<boolean> {
    if (performance.now() - (missingSince.get(exchange) ?? -Infinity) < RECHECK_MS) return false;
    const isThere = await hasCode(exchange);
    // They are few: however much else is remembered.
    if (isThere) withCode.add(exchange);
    else missingSince.set(exchange, performance.now());
    return isThere;
  }

  return () => createOrderChain(readCalls, { hasCode, hasExchange, versions });
}

type Remembered = Pick<OrderChain, "hasCode" | "hasExchange"> & { versions: Map<Hex, string> };

function createOrderChain(readCalls: ReadCalls, { hasCode, hasExchange, versions }: Remembered): OrderChain {
  const collect = createCollector(readCalls);

  /** What a contract answers; never a fault of the node. */
  async function ask(call: Call): Promise<CallAnswer> {
    const answer = await collect(call);
    if (answer.kind === "fault") throw unanswered();
    return answer;
  }

  const askFor = (to: Hex, functionName: string, args: unknown[]) =>
    ask({ to, data: encodeFunctionData({ abi, functionName, args }) });

  /** The words that a contract answers; none where it answers anything else, or fails. */
  async function callWords(to: Hex, functionName: string, args: unknown[], count: number): Promise<bigint[]> {
    const answer = await askFor(to, functionName, args);
    if (answer.kind !== "data" || answer.data.length !== count * WORD_BYTES) return [];
    const hex = answer.data.toString("hex");
    return Array.from({ length: count }, (_, n) => BigInt(`0x${hex.slice(n * 64, (n + 1) * 64)}`));
  }

  const call = async (to: Hex, functionName: string, args: unknown[]) =>
    (await callWords(to, functionName, args, 1))[0];

  return {
    hasCode,
    hasExchange,
    versionOf: async (exchange) => {
      const known = versions.get(exchange);
      if (known !== undefined) return known;
      const answer = await askFor(exchange, "information", []);
      const version = answer.kind === "data" ? readVersion(answer.data) : undefined;
      if (version !== undefined) versions.set(exchange, version);
      return version;
    },
    // Known, as no answer is a fault.
    isSignedByContract: async (signature) => readSignature(await ask(signatureCall(signature)))!,
    isApproved: async (token) => readApproval(await Promise.all(approvalCalls(token).map(ask)), token),
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

function readVersion(data: Buffer): string | undefined {
  try {
    const [version] = decodeFunctionResult({ abi, functionName: "information", data: `0x${data.toString("hex")}` }) as [
      string,
    ];
    return version;
  } catch {
    // A contract that means something else by it.
    return undefined;
  }
}

/** Gathers what is asked for before anything else happens, and asks it at once. */
function createCollector(readCalls: ReadCalls): (call: Call) => Promise<CallAnswer> {
  let gathered: Call[] = [];
  let answers: Promise<CallAnswer[]> | undefined;
  return async (call) => {
    const place = gathered.push(call) - 1;
    answers ??= immediate().then(() => {
      const calls = gathered;
      [gathered, answers] = [[], undefined];
      return readCalls(calls);
    });
    return (await answers)[place]!;
  };
}

const unanswered = () => unavailable("The network's nodes don't answer what only they can tell of the order.");
