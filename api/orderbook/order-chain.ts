import { setImmediate as immediate } from "node:timers/promises";
import { type Abi, decodeFunctionResult, encodeFunctionData, type Hex, numberToHex, parseAbi } from "viem";
import { orderStatusAbi } from "../../abis/contract.ts";
import { CONDUIT_CONTROLLER_ADDRESS } from "../../abis/seaport.ts";
import {
  approvalCalls,
  fundsCalls,
  readApproval,
  readFunds,
  type TokenToMove,
} from "../../offchain/chain/allowance.ts";
import type { Call, CallAnswer, ReadCalls } from "../../offchain/chain/call.ts";
import { type ContractSignature, readSignature, signatureCall } from "../../offchain/chain/signature.ts";
import { unavailable } from "../http/errors.ts";

/** What an exchange says of an order: `filledParts` of its `parts` are filled. Both are 0 if it was never filled. */
type OrderStatus = { isCancelled: boolean; filledParts: bigint; parts: bigint };

/**
 * Facts about an order that only a node can tell: signatures of contracts, approvals without a log, a bidder's money,
 * whether an address has code, and a maker's counter and an order's state where the blocks that changed them aren't
 * indexed. Undefined: only the contract could tell, and it doesn't answer.
 *
 * @throws HttpError 503 where the nodes fail
 */
export type OrderChain = {
  hasCode: (address: Hex) => Promise<boolean>;
  /** The same for an exchange; a "no" may be a minute old. Most chains lack some of the known exchanges. */
  hasExchange: (exchange: Hex) => Promise<boolean>;
  /** The version that a Seaport contract gives for itself. */
  versionOf: (exchange: Hex) => Promise<string | undefined>;
  /** Whether a contract tells an exchange that it signed. */
  isSignedByContract: (signature: ContractSignature, options: { exchange: Hex }) => Promise<boolean>;
  /** Whether `operator` may move the token. */
  isApproved: (token: TokenToMove) => Promise<boolean | undefined>;
  /** How much of a currency `operator` can take from `owner`: 0 if the currency's contract doesn't answer. */
  spendable: (currency: Hex, options: { owner: Hex; operator: Hex }) => Promise<bigint>;
  /**
   * Conduit of a key at an exchange with a conduit controller of its own: its address doesn't follow from the key.
   * Undefined where the controller is the usual one, whose conduits the logs have.
   */
  conduitOf: (conduitKey: Hex, options: { exchange: Hex }) => Promise<Hex | undefined>;
  /** Whether a conduit lets an exchange move the tokens that the conduit may move. */
  hasChannel: (conduit: Hex, exchange: Hex) => Promise<boolean | undefined>;
  /**
   * Whether an address takes an amount of the chain's own currency from an exchange: a contract may refuse it. Undefined
   * where the nodes can't try that.
   */
  takesNative: (recipient: Hex, options: { exchange: Hex; amount: bigint }) => Promise<boolean | undefined>;
  /** Whether an address takes units of an ERC-1155 token: a contract must say that it does. */
  takesUnits: (
    recipient: Hex,
    options: { exchange: Hex; contract: Hex; tokenId: bigint; units: bigint },
  ) => Promise<boolean>;
  counterOf: (exchange: Hex, maker: Hex) => Promise<bigint | undefined>;
  /** The same as it was at the end of a block. Undefined where the nodes can't tell that of it. */
  counterAt: (exchange: Hex, maker: Hex, block: number) => Promise<bigint | undefined>;
  statusOf: (exchange: Hex, orderHash: Hex) => Promise<OrderStatus | undefined>;
};

const abi: Abi = [
  ...orderStatusAbi,
  ...parseAbi([
    "function getChannelStatus(address conduit, address channel) view returns (bool isOpen)",
    "function getConduit(bytes32 conduitKey) view returns (address conduit, bool exists)",
    "function getCounter(address offerer) view returns (uint256 counter)",
    "function onERC1155Received(address operator, address from, uint256 id, uint256 value, bytes data) returns (bytes4 selector)",
    "function information() view returns (string version, bytes32 domainSeparator, address conduitController)",
  ]),
];

/** The length of a value that a contract answers. */
export const WORD_BYTES = 32;
/** What a contract answers that takes units of an ERC-1155 token. Source: ERC-1155. */
const UNITS_TAKEN = Buffer.from("f23a6e61", "hex");

/** What a Seaport contract says of itself. */
export type Information = { version: string; controller: Hex };

/** What is remembered for all orders, or is asked by something else than a plain call. */
type NodeFacts = Pick<OrderChain, "hasCode" | "hasExchange" | "takesNative" | "counterAt"> & {
  /** Without remembering: an account may lose its code again (EIP-7702). */
  hasCodeNow: (address: Hex) => Promise<boolean>;
  informations: Map<Hex, Information>;
};

/** Asks for one order: the calls that it makes at the same moment are sent together. */
export function createOrderChain(
  readCalls: ReadCalls,
  { hasCode, hasCodeNow, hasExchange, takesNative, counterAt, informations }: NodeFacts,
): OrderChain {
  const collect = createCollector(readCalls);

  /** What a contract answers. A fault of the node is thrown. */
  async function ask(call: Call): Promise<CallAnswer> {
    const answer = await collect(call);
    if (answer.kind === "fault") throw unanswered();
    return answer;
  }

  const askFor = (to: Hex, functionName: string, args: unknown[]) =>
    ask({ to, data: encodeFunctionData({ abi, functionName, args }) });

  /** The `count` words that a contract answers. Empty if the call fails or the answer has another length. */
  async function callWords(to: Hex, functionName: string, args: unknown[], count: number): Promise<bigint[]> {
    const answer = await askFor(to, functionName, args);
    if (answer.kind !== "data" || answer.data.length !== count * WORD_BYTES) return [];
    const hex = answer.data.toString("hex");
    return Array.from({ length: count }, (_, n) => BigInt(`0x${hex.slice(n * 64, (n + 1) * 64)}`));
  }

  const call = async (to: Hex, functionName: string, args: unknown[]) =>
    (await callWords(to, functionName, args, 1))[0];

  async function informationOf(exchange: Hex): Promise<Information | undefined> {
    const known = informations.get(exchange);
    if (known) return known;
    const answer = await askFor(exchange, "information", []);
    const information = answer.kind === "data" ? readInformation(answer.data) : undefined;
    if (information) informations.set(exchange, information);
    return information;
  }

  const controllerOf = async (exchange: Hex) =>
    (await informationOf(exchange))?.controller ?? CONDUIT_CONTROLLER_ADDRESS;

  return {
    hasCode,
    hasExchange,
    takesNative,
    counterAt,
    versionOf: async (exchange) => (await informationOf(exchange))?.version,
    // Never undefined: `ask` has thrown if the node failed.
    isSignedByContract: async (signature, { exchange }) =>
      readSignature(await ask({ ...signatureCall(signature), from: exchange }))!,
    isApproved: async (token) => readApproval(await Promise.all(approvalCalls(token).map(ask)), token),
    spendable: async (currency, { owner, operator }) =>
      readFunds(await Promise.all(fundsCalls({ currency, owner, operator }).map(ask)))!,
    conduitOf: async (conduitKey, { exchange }) => {
      const controller = await controllerOf(exchange);
      if (controller === CONDUIT_CONTROLLER_ADDRESS) return undefined;
      const [conduit] = await callWords(controller, "getConduit", [conduitKey], 2);
      return conduit === undefined ? undefined : numberToHex(conduit, { size: 20 });
    },
    hasChannel: async (conduit, exchange) => {
      const controller = await controllerOf(exchange);
      const [isThere, status] = await Promise.all([
        hasCode(controller),
        call(controller, "getChannelStatus", [conduit, exchange]),
      ]);
      return isThere ? status === 1n : undefined;
    },
    takesUnits: async (recipient, { exchange, contract, tokenId, units }) => {
      const args = [exchange, exchange, tokenId, units, "0x"];
      const data = encodeFunctionData({ abi, functionName: "onERC1155Received", args });
      const answer = await ask({ to: recipient, data, from: contract });
      if (answer.kind === "data" && answer.data.subarray(0, UNITS_TAKEN.length).equals(UNITS_TAKEN)) return true;
      return !(await hasCodeNow(recipient));
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

/** What a Seaport contract is called with to tell a maker's counter. */
export const counterData = (maker: Hex): Hex => encodeFunctionData({ abi, functionName: "getCounter", args: [maker] });

function readInformation(data: Buffer): Information | undefined {
  try {
    const [version, , controller] = decodeFunctionResult({
      abi,
      functionName: "information",
      data: `0x${data.toString("hex")}`,
    }) as [string, Hex, Hex];
    return { version, controller: controller.toLowerCase() as Hex };
  } catch {
    // The contract has another function of that name.
    return undefined;
  }
}

/** Collects the calls made within one turn of the event loop and sends them together. */
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

/** The error where no node answers. */
export const unanswered = () => unavailable("The network's nodes don't answer what only they can tell of the order.");
