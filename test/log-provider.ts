import type { ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";
import { bytesToHex, hexToBytes, type Hex, keccak256, numberToHex, toHex } from "viem";
import type { RawLog } from "./log-oracle.ts";
import { serveNode } from "./node-server.ts";

/** A block of a made chain, with what a node says of it. */
export type MadeBlock = {
  number: number;
  hash: Hex;
  parentHash: Hex;
  timestamp: number;
  logsBloom: Hex;
  logs: MadeLog[];
  /** The chain has no block of this number: see `net/skipped-block.ts`. */
  isSkipped: boolean;
};
type MadeLog = RawLog & { transactionIndex: Hex; removed: boolean };

/** A log before it has a place. Logs of one transaction name the same `transaction`. */
export type LogToMake = { address: Hex; topics: Hex[]; data: Hex; transaction: number };

/**
 * A chain whose hashes are made of names, and whose blooms are right. `name`: another one makes other hashes. `skips`:
 * numbers of which there is no block.
 */
export function makeChain(
  blocks: LogToMake[][],
  {
    name = "chain",
    time = 1_600_000_000,
    skips,
  }: { name?: string; time?: number; skips?: (number: number) => boolean } = {},
): MadeBlock[] {
  let next: Hex = `0x${"0".repeat(64)}`;
  return blocks.map((written, number) => {
    const isSkipped = skips?.(number) ?? false;
    const logs = isSkipped ? [] : written;
    const [hash, parentHash] = [keccak256(toHex(`${name} block ${number}`)), next];
    if (!isSkipped) next = hash;
    return {
      number,
      hash,
      parentHash,
      isSkipped,
      timestamp: time + number * 12,
      logsBloom: bloomOf(logs),
      logs: logs.map(({ transaction, ...log }, index) => ({
        ...log,
        blockNumber: numberToHex(number),
        blockHash: hash,
        logIndex: numberToHex(index * 2),
        transactionHash: keccak256(toHex(`${name} transaction ${number} ${transaction}`)),
        transactionIndex: numberToHex(transaction),
        removed: false,
      })),
    };
  });
}

/** Who signed a transaction of a made chain, whom it called and with what. */
export type MadeTransaction = (hash: Hex) => { from: Hex; to: Hex; input: Hex };

/** How a provider behaves. Absent: as a good one. */
export type Behaviour = {
  /** 1 where nothing is said. */
  chainId?: number;
  /** Blocks in one range; more is refused in these words. */
  maxBlocks?: number;
  blocksError?: (limit: number, from: number) => { code: number; message: string };
  /** Logs in one answer; more is refused in these words. */
  maxLogs?: number;
  logsError?: (limit: number, from: number) => { code: number; message: string };
  /** Logs in one answer; what is more is left out without a word. */
  cutAt?: number;
  /** Calls in one request; more is refused, or so. */
  maxBatch?: number;
  batchRefusal?: (calls: Call[]) => { status: number; body: string };
  /** Characters of the answers to one batch; the calls beyond are refused. */
  maxBatchText?: number;
  /** Contracts in one query; more are refused. */
  maxAddresses?: number;
  /** What it makes of the text of an answer. */
  writes?: (text: string) => string;
  isCompressing?: boolean;
  /** Calls in one second, whether alone or in a batch; what is more is refused with its whole request, or by itself. */
  rate?: { calls: number; refuses: "requests" | "calls" };
  /** Bytes in one answer; instead of more there is this, or as many of them, or the connection is cut after those. */
  heavyAnswer?: { above: number; status: number | "cut"; body?: string };
  /** A filter with places for four topics: logs with fewer are left out, the places are ignored, or nothing is found. */
  positions?: "honoured" | "ignored" | "nothing";
  /** Blocks below it aren't in the index by which it finds logs that are asked for by topics. */
  indexedFrom?: number;
  /** Logs that it doesn't have. */
  loses?: (log: MadeLog) => boolean;
  /** What it makes of a log. */
  bends?: (log: MadeLog) => MadeLog;
  /** What its logs say of when their block was. */
  blockTimestamp?: (block: MadeBlock) => string | number;
  /** Answers to requests instead of what they ask for: undefined is a normal one. */
  refuses?: (request: number) => { status: number; headers?: Record<string, string>; body?: string } | undefined;
  isDown?: boolean;
  /** The last block that the backend knows which answers a request, where one lags. */
  headOf?: (request: number) => number;
  /** It has forgotten where transactions are. */
  hasNoTransactions?: boolean;
  /** It gives the receipts of blocks. `bends` holds for their logs, too, and no limit of logs. */
  hasReceipts?: boolean;
};

/** A node that serves a made chain, and what it was asked. */
export type Provider = {
  url: string;
  set: (behaviour: Behaviour) => void;
  setChain: (chain: MadeBlock[]) => void;
  /** Times of the requests, by Date.now(). */
  requests: number[];
  /** Ranges that it was asked for logs of, with their filters, and whether it gave them. */
  queries: { fromBlock: number; toBlock: number; filter: Filter; isGiven: boolean }[];
  /** Calls by method. */
  calls: Record<string, number>;
  stop: () => Promise<void>;
};

type Filter = { address?: Hex[]; topics?: (Hex[] | null)[]; fromBlock: Hex; toBlock: Hex };
type Call = { id: number; method: string; params?: never[] };

/** A node with a made chain, that behaves as it is told. */
export async function startProvider(
  first: MadeBlock[],
  { transactionOf }: { transactionOf?: MadeTransaction } = {},
): Promise<Provider> {
  let whole = first;
  /** What of it the request knows that is being answered. */
  let chain = first;
  let behaviour: Behaviour = {};
  const used = { second: 0, calls: 0 };
  const provider: Pick<Provider, "requests" | "queries" | "calls"> = { requests: [], queries: [], calls: {} };

  const findLogs = (filter: Filter) => {
    const { positions = "honoured", loses, bends, cutAt, blockTimestamp } = behaviour;
    const { address, topics = [], fromBlock, toBlock } = filter;
    const [from, to] = [Number(fromBlock), Number(toBlock)];
    const query = { fromBlock: from, toBlock: to, filter, isGiven: false };
    provider.queries.push(query);
    const { maxBlocks = Infinity, maxLogs = Infinity } = behaviour;
    if (to - from + 1 > maxBlocks)
      return { error: behaviour.blocksError?.(maxBlocks, from) ?? rpcError(`block range exceeds ${maxBlocks}`) };
    if (address && address.length > (behaviour.maxAddresses ?? Infinity))
      return { error: rpcError("exceed max addresses or topics per search position") };
    if (positions === "nothing" && topics.length > 1) return { result: [] };
    const isWanted = (log: MadeLog) =>
      (!address || address.includes(log.address)) &&
      (topics.length === 0 || Number(log.blockNumber) >= (behaviour.indexedFrom ?? 0)) &&
      (positions === "ignored" || log.topics.length >= topics.length) &&
      topics.every((topic, place) => topic === null || topic.includes(log.topics[place]!));
    const logs = chain
      .slice(from, to + 1)
      .flatMap((block) =>
        block.logs
          .filter(isWanted)
          .map((log) => (blockTimestamp ? { ...log, blockTimestamp: blockTimestamp(block) } : log)),
      );
    if (logs.length > maxLogs)
      return { error: behaviour.logsError?.(maxLogs, from) ?? rpcError(`query returned more than ${maxLogs} results`) };
    query.isGiven = true;
    const kept = logs.filter((log) => !loses?.(log)).map((log) => bends?.(log) ?? log);
    return { result: kept.slice(0, cutAt) };
  };

  const blockAt = (block: MadeBlock | undefined, isFull: boolean) => {
    if (!block) return null;
    const { number, hash, parentHash, timestamp, logsBloom, logs } = block;
    const hashes = [...new Set(logs.map(({ transactionHash }) => transactionHash))];
    return {
      number: numberToHex(number),
      hash,
      parentHash,
      timestamp: numberToHex(timestamp),
      logsBloom,
      transactions: isFull ? hashes.map((each) => transactionAt(each)) : hashes,
    };
  };
  const transactionAt = (hash: Hex) => {
    const block = chain.find(({ logs }) => logs.some((log) => log.transactionHash === hash));
    return block && transactionOf ? { hash, blockHash: block.hash, ...transactionOf(hash) } : null;
  };
  const methods: Record<string, (...params: never[]) => { result?: unknown; error?: unknown }> = {
    eth_chainId: () => ({ result: numberToHex(behaviour.chainId ?? 1) }),
    eth_getLogs: findLogs,
    eth_getBlockByNumber: (tag: Hex, isFull: boolean) =>
      chain[Number(tag)]?.isSkipped
        ? { error: { code: 12, message: `requested epoch was a null round (${Number(tag)})`, data: Number(tag) } }
        : { result: blockAt(chain[Number(tag)], isFull) },
    eth_getBlockByHash: (hash: Hex, isFull: boolean) => ({
      result: blockAt(
        chain.find((block) => block.hash === hash),
        isFull,
      ),
    }),
    eth_getBlockReceipts: (number: Hex) => {
      const block = chain[Number(number)];
      if (!behaviour.hasReceipts) return { error: rpcError("no such method") };
      return { result: block ? receiptsOf(block) : null };
    },
    eth_getTransactionByHash: (hash: Hex) => ({ result: behaviour.hasNoTransactions ? null : transactionAt(hash) }),
  };
  const receiptsOf = ({ logs }: MadeBlock) => {
    const { loses, bends } = behaviour;
    const kept = logs.filter((log) => !loses?.(log)).map((log) => bends?.(log) ?? log);
    const transactions = Map.groupBy(kept, ({ transactionHash }) => transactionHash);
    return [...transactions].map(([transactionHash, own]) => ({ transactionHash, logs: own }));
  };
  const answer = ({ id, method, params = [] }: Call) => {
    provider.calls[method] = (provider.calls[method] ?? 0) + 1;
    return { jsonrpc: "2.0", id, ...(methods[method]?.(...params) ?? { error: rpcError("no such method") }) };
  };
  const respond = (body: Call | Call[], response: ServerResponse) => {
    if (behaviour.isDown) return response.destroy();
    provider.requests.push(Date.now());
    chain = whole.slice(0, (behaviour.headOf?.(provider.requests.length) ?? Infinity) + 1);
    const refusal = behaviour.refuses?.(provider.requests.length);
    const { maxBatch = Infinity } = behaviour;
    if (refusal) return response.writeHead(refusal.status, refusal.headers).end(refusal.body);
    if (Array.isArray(body) && body.length > maxBatch) {
      const other = behaviour.batchRefusal?.(body);
      if (other) return response.writeHead(other.status).end(other.body);
      return response.end(JSON.stringify({ jsonrpc: "2.0", id: null, error: rpcError("batch too large") }));
    }
    const { calls = Infinity, refuses } = behaviour.rate ?? {};
    const second = Math.floor(Date.now() / 1000);
    if (used.second !== second) Object.assign(used, { second, calls: 0 });
    if (refuses === "requests" && used.calls + [body].flat().length > calls) {
      used.calls = calls;
      return response.writeHead(429).end("Too many requests");
    }
    const answerInTime = (call: Call) =>
      ++used.calls > calls ? { jsonrpc: "2.0", id: call.id, error: { code: 429, message: "slow down" } } : answer(call);
    let left = behaviour.maxBatchText;
    const answerWithin = (call: Call) => {
      const answered = answerInTime(call);
      if (left === undefined) return answered;
      left -= JSON.stringify(answered).length;
      return left < 0 ? { jsonrpc: "2.0", id: call.id, error: rpcError("response too large") } : answered;
    };
    const json = JSON.stringify(Array.isArray(body) ? body.map(answerWithin) : answerInTime(body));
    const text = Buffer.from(behaviour.writes?.(json) ?? json);
    const { heavyAnswer, isCompressing } = behaviour;
    if (isCompressing) response.setHeader("content-encoding", "gzip");
    const bytes = isCompressing ? gzipSync(text) : text;
    if (!heavyAnswer || bytes.length <= heavyAnswer.above) return response.end(bytes);
    const { above, status, body: instead = bytes.subarray(0, above) } = heavyAnswer;
    if (status !== "cut") return response.writeHead(status).end(instead);
    return response.write(instead, () => response.destroy());
  };

  const { url, close } = await serveNode(respond);
  return {
    ...provider,
    url,
    set: (next) => void (behaviour = next),
    setChain: (next) => void (whole = next),
    stop: close,
  };
}

const rpcError = (message: string) => ({ code: -32_000, message });

function bloomOf(logs: LogToMake[]): Hex {
  const bloom = new Uint8Array(256);
  for (const { address, topics } of logs)
    for (const bit of [address, ...topics].flatMap(bitsOf)) bloom[255 - Math.floor(bit / 8)]! |= 2 ** (bit % 8);
  return bytesToHex(bloom);
}

/** Bits of a bloom that a value sets. Source: Yellow Paper, 4.3.1. */
function bitsOf(value: Hex): number[] {
  const known = knownBits.get(value);
  if (known) return known;
  const hash = hexToBytes(keccak256(value));
  const bits = [0, 2, 4].map((at) => (hash[at]! * 256 + hash[at + 1]!) % 2048);
  knownBits.set(value, bits);
  return bits;
}
/** Chains of one seed have the same values, and to hash them takes longest of what makes a chain. */
const knownBits = new Map<Hex, number[]>();
