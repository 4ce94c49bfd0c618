import { type Hex, hexToNumber, keccak256, numberToHex, toHex } from "viem";
import type { RawLog } from "./log-oracle.ts";
import { serveCalls } from "./node-server.ts";
import type { Call } from "./sales-of-logs.ts";

/** Ponder takes blocks so deep for final on mainnet. */
export const MAINNET_FINALITY = 65;

const NO_BLOOM: Hex = `0x${"0".repeat(512)}`;
const ZERO_HASH: Hex = `0x${"0".repeat(64)}`;

/** What nobody reads and everybody wants to be there. */
const HEADER = {
  miner: "0x0000000000000000000000000000000000000000",
  difficulty: "0x0",
  gasLimit: "0x0",
  gasUsed: "0x0",
  extraData: "0x",
  mixHash: ZERO_HASH,
  nonce: "0x0000000000000000",
  receiptsRoot: ZERO_HASH,
  sha3Uncles: ZERO_HASH,
  stateRoot: ZERO_HASH,
  transactionsRoot: ZERO_HASH,
  size: "0x0",
};

/** A block as `eth_getBlockByNumber` answers it with whole transactions, and its logs. */
export type ServedBlock = {
  block: {
    number: Hex;
    hash: Hex;
    parentHash: Hex;
    timestamp: Hex;
    logsBloom: Hex;
    transactions: { hash: Hex; nonce?: Hex }[];
  };
  logs: RawLog[];
};

/** A node whose head is where it is told to be. */
export type BlockServer = { url: string; setHead: (head: number) => void; stop: () => Promise<void> };

type Filter = {
  fromBlock?: Hex;
  toBlock?: Hex;
  blockHash?: Hex;
  address?: Hex | Hex[];
  topics?: (Hex | Hex[] | null)[];
};

/**
 * A node that knows some blocks. All others up to the head are empty; the one before a known block has the hash that the
 * known one names as its parent's, so that the chain holds together.
 */
export async function startBlockServer({
  chainId,
  blocks,
  head: firstHead,
  finalized,
}: {
  chainId: number;
  blocks: ServedBlock[];
  head: number;
  /** The block that it calls final. Else the head. */
  finalized?: number;
}): Promise<BlockServer> {
  let head = firstHead;
  const known = new Map(blocks.map((served) => [hexToNumber(served.block.number), served]));
  const numbers = [...known.keys()].toSorted((a, b) => a - b);
  const transactions = new Map(blocks.flatMap(({ block }) => block.transactions.map((one) => [one.hash, one])));

  const hashOf = (number: number): Hex => {
    if (number < 0) return ZERO_HASH;
    return known.get(number)?.block.hash ?? known.get(number + 1)?.block.parentHash ?? keccak256(toHex(number));
  };
  const numberOf = (hash: Hex): number | undefined => {
    const around = numbers.flatMap((number) => [number - 1, number]);
    return around.find((number) => hashOf(number) === hash) ?? recent().find((number) => hashOf(number) === hash);
  };
  // Whatever an indexer asks for by hash is near the head.
  const recent = () => Array.from({ length: 300 }, (_, back) => head - back);

  const blockAt = (number: number | undefined, isFull: boolean) => {
    if (number === undefined || number > head || number < 0) return null;
    const block = known.get(number)?.block ?? emptyBlock(number);
    return isFull ? block : { ...block, transactions: block.transactions.map(({ hash }) => hash) };
  };
  const emptyBlock = (number: number): ServedBlock["block"] => {
    const before = numbers.findLast((one) => one < number);
    const timestamp = before === undefined ? number : hexToNumber(known.get(before)!.block.timestamp) + 1;
    return {
      ...HEADER,
      number: numberToHex(number),
      hash: hashOf(number),
      parentHash: hashOf(number - 1),
      timestamp: numberToHex(timestamp),
      logsBloom: NO_BLOOM,
      transactions: [],
    };
  };
  const tagged: Record<string, number | undefined> = { earliest: 0, finalized };
  const numberAt = (tag: string) => (tag.startsWith("0x") ? Number(tag) : (tagged[tag] ?? head));

  const findLogs = ({ fromBlock = "0x0", toBlock, blockHash, address, topics = [] }: Filter): RawLog[] => {
    const addresses = address && [address].flat().map((one) => one.toLowerCase());
    const isWanted = (log: RawLog) =>
      (!addresses || addresses.includes(log.address.toLowerCase())) &&
      topics.every((topic, place) => topic === null || [topic].flat().includes(log.topics[place]!));
    const isInRange = (number: number) =>
      number <= head &&
      (blockHash
        ? hashOf(number) === blockHash
        : number >= numberAt(fromBlock) && number <= numberAt(toBlock ?? "latest"));
    return numbers.filter(isInRange).flatMap((number) => known.get(number)!.logs.filter(isWanted));
  };

  const methods: Record<string, (...params: never[]) => unknown> = {
    eth_chainId: () => numberToHex(chainId),
    eth_blockNumber: () => numberToHex(head),
    eth_getBlockByNumber: (tag: string, isFull: boolean) => blockAt(numberAt(tag), isFull),
    eth_getBlockByHash: (hash: Hex, isFull: boolean) => blockAt(numberOf(hash), isFull),
    eth_getTransactionByHash: (hash: Hex) => transactions.get(hash) ?? null,
    eth_getLogs: findLogs,
  };
  type Request = { id: unknown; method: string; params?: never[] };
  const answer = ({ id, method, params = [] }: Request) => {
    const call = methods[method];
    if (!call) return { jsonrpc: "2.0", id, error: { code: -32_601, message: `There is no ${method}` } };
    return { jsonrpc: "2.0", id, result: call(...params) };
  };

  const { url, close } = await serveCalls(answer);
  return { url, setHead: (next) => void (head = next), stop: close };
}

/** What is known of a log whose block is not at hand. */
export type BareLog = {
  blockNumber: number;
  logIndex: number;
  transactionHash: Hex;
  timestamp: number;
  address: Hex;
  topics: Hex[];
  data: Hex;
};

/**
 * Blocks around logs: nothing in them but these, and the transactions that they name, with their calls by hash where
 * those are known.
 */
export function blocksOf(logs: BareLog[], calls = new Map<Hex, Call>()): ServedBlock[] {
  return [...Map.groupBy(logs, ({ blockNumber }) => blockNumber)].map(([number, inBlock]) => {
    const hash = bareHash(number);
    const place = { blockNumber: numberToHex(number), blockHash: hash };
    const transactionHashes = [...new Set(inBlock.map(({ transactionHash }) => transactionHash))];
    return {
      block: {
        ...HEADER,
        number: numberToHex(number),
        hash,
        parentHash: bareHash(number - 1),
        timestamp: numberToHex(inBlock[0]!.timestamp),
        logsBloom: `0x${"f".repeat(512)}`,
        transactions: transactionHashes.map((transactionHash, index) => ({
          ...place,
          hash: transactionHash,
          transactionIndex: numberToHex(index),
          ...(calls.get(transactionHash) ?? { from: inBlock[0]!.address, to: inBlock[0]!.address, input: "0x" }),
          value: "0x0",
          nonce: "0x0",
          gas: "0x0",
          gasPrice: "0x0",
          type: "0x0",
          r: "0x0",
          s: "0x0",
          v: "0x0",
        })),
      },
      logs: inBlock.map(({ logIndex, transactionHash, address, topics, data }) => ({
        ...place,
        address,
        topics,
        data,
        transactionHash,
        removed: false,
        logIndex: numberToHex(logIndex),
        transactionIndex: numberToHex(transactionHashes.indexOf(transactionHash)),
      })),
    };
  });
}

const bareHash = (number: number): Hex => keccak256(toHex(`block ${number}`));
