import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { numberToHex } from "viem";
import { serveOrigin } from "./origin.ts";

type Call = { id: unknown; method: string; params: unknown[] };
type Answer = { jsonrpc: string; id: unknown; result?: unknown; error?: { code: number; message: string } };

/** A node in front of another one: counts what is asked, and behaves badly when it is told to. */
export type RpcProxy = {
  url: string;
  /**
   * Calls by method since the start or the last `resetCounts`; logs of one block by its hash count as `logsOfBlock`, the
   * head as `head`, with its transactions as `wholeHead`.
   */
  counts: () => Record<string, number>;
  /** The most requests since then that waited for their answers at one moment. */
  mostAtOnce: () => number;
  /** Of each eth_getLogs since then that isn't of one block by its hash. */
  logFilters: () => LogFilter[];
  resetCounts: () => void;
  /** From now on every request is answered so. */
  set: (behaviour: Partial<Behaviour>) => void;
  stop: () => Promise<void>;
};

type LogFilter = { fromBlock: string; toBlock: string; address?: string | string[]; topics?: unknown[] };

type Block = { logsBloom: string; transactions: unknown[] };

type Behaviour = {
  /** The node behind it. */
  target: string;
  /** The connection is cut without an answer. */
  isDown: boolean;
  /** Connections are taken, and nothing is said. */
  isSilent: boolean;
  /** Blocks above it don't exist yet: a node that has fallen behind. */
  head: number | undefined;
  delayMs: number;
  /** The backend that is asked for a block's logs doesn't know the block yet, and finds none. */
  lagsWithLogs: boolean;
  /** Hashes of blocks that what is asked for their logs doesn't know. */
  lacksLogsOf: unknown[];
  /** The backend that is asked for a block by its hash doesn't know it: it is of another branch, or behind. */
  lacksHashes: boolean;
  /** Blocks above it don't exist yet for the backend that is asked for the logs of a range. */
  headOfLogs: number | undefined;
  /** Logs of so many blocks at once; more are refused in words that nobody foresaw. */
  maxBlocks: number;
  /** Every bit of every block's bloom is set, or there is none. */
  blooms: "right" | "full" | "null";
  /** What it makes of a block. */
  bendsBlock: ((block: Block) => Block) | undefined;
  /** Logs of one block by its hash; more are refused as Erigon does. */
  maxLogsOfBlock: number;
  /** What it makes of the logs of one block by its hash. */
  bendsLogs: ((logs: unknown[]) => unknown[]) | undefined;
  /** What it makes of the logs of a range. */
  bendsRanges: ((logs: unknown[]) => unknown[]) | undefined;
  /** What is asked for logs of a range answers null. */
  hasNoLogs: boolean;
  /** The node has blocks, and has thrown away their logs. */
  isPruned: boolean;
  /** The header without which it answers 401. */
  authorization: string | undefined;
};

/** Starts one in front of the node at `target`. */
export async function startRpcProxy(target: string): Promise<RpcProxy> {
  const behaviour: Behaviour = {
    target,
    isDown: false,
    isSilent: false,
    head: undefined,
    delayMs: 0,
    lagsWithLogs: false,
    lacksLogsOf: [],
    lacksHashes: false,
    headOfLogs: undefined,
    maxBlocks: Infinity,
    blooms: "right",
    bendsBlock: undefined,
    maxLogsOfBlock: Infinity,
    bendsLogs: undefined,
    bendsRanges: undefined,
    hasNoLogs: false,
    isPruned: false,
    authorization: undefined,
  };
  let counts: Record<string, number> = {};
  let logFilters: LogFilter[] = [];
  let open = 0;
  let mostOpen = 0;

  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { authorization } = behaviour;
    if (authorization !== undefined && request.headers.authorization !== authorization)
      return void response.writeHead(401).end("Who are you?");
    const body = JSON.parse(Buffer.concat(chunks).toString()) as Call | Call[];
    const calls = [body].flat();
    for (const call of calls) {
      const name = nameOf(call);
      counts[name] = (counts[name] ?? 0) + 1;
      if (name === "eth_getLogs") logFilters.push(call.params[0] as LogFilter);
    }
    if (behaviour.delayMs > 0) await sleep(behaviour.delayMs);
    if (behaviour.isSilent) return;
    if (behaviour.isDown) return void request.socket.destroy();
    if (behaviour.hasNoLogs && calls.some((call) => nameOf(call) === "eth_getLogs")) {
      const answers = calls.map(({ id }) => ({ jsonrpc: "2.0", id, result: null }));
      return void response.end(JSON.stringify(Array.isArray(body) ? answers : answers[0]));
    }
    if (calls.some((call) => blocksOf(call) > behaviour.maxBlocks)) {
      const error = { code: -32_000, message: "That is not for you." };
      const refusals = calls.map(({ id }) => ({ jsonrpc: "2.0", id, error }));
      return void response.end(JSON.stringify(Array.isArray(body) ? refusals : refusals[0]));
    }
    const isOfRange = calls.some((call) => nameOf(call) === "eth_getLogs");
    const head = (isOfRange ? behaviour.headOfLogs : undefined) ?? behaviour.head;
    const clamped = Array.isArray(body) ? body.map((call) => clamp(call, head)) : clamp(body, head);
    const { status, text } = await forward(behaviour.target, clamped);
    const { blooms, bendsBlock } = behaviour;
    const isOfBlock = !Array.isArray(body) && body.method.startsWith("eth_getBlockBy");
    if (bendsBlock && isOfBlock) {
      const { result } = JSON.parse(text) as { result: Block | null };
      const block = result && bendsBlock(result);
      return void response.end(JSON.stringify({ jsonrpc: "2.0", id: body.id, result: block }));
    }
    const bends = calls.map((call) => bendOf(call, calls));
    if (bends.some((bend) => bend !== undefined)) {
      const answers = [JSON.parse(text) as Answer | Answer[]].flat();
      const bentAnswers = calls.map(({ id }, place) => {
        const answer = answers.find((one) => one.id === id)!;
        const changes = bends[place]?.(answer);
        return changes ? { jsonrpc: "2.0", id, ...changes } : answer;
      });
      return void response.end(JSON.stringify(Array.isArray(body) ? bentAnswers : bentAnswers[0]));
    }
    const bent =
      blooms === "right"
        ? text
        : text.replace(/(?<="logsBloom":)"0x[0-9a-f]+"/g, blooms === "null" ? "null" : `"0x${"f".repeat(512)}"`);
    response.writeHead(status, { "content-type": "application/json" }).end(bent);
  };

  /** What it makes of a call's answer, undefined where that stays. `calls`: all that came with it. */
  const bendOf = (call: Call, calls: Call[]): ((answer: Answer) => Partial<Answer>) | undefined => {
    const { lagsWithLogs, lacksHashes, lacksLogsOf, bendsLogs, bendsRanges, maxLogsOfBlock, isPruned } = behaviour;
    const isOfLogs = nameOf(call) === "logsOfBlock";
    if (isOfLogsOf(call, lacksLogsOf)) return () => ({ error: { code: -32_000, message: "unknown block" } });
    if (lagsWithLogs && calls.some((one) => nameOf(one) === "logsOfBlock"))
      return () => ({ result: isOfLogs ? [] : null });
    if (isPruned && nameOf(call) === "eth_getLogs") return () => ({ result: [] });
    if (lacksHashes && call.method === "eth_getBlockByHash") return () => ({ result: null });
    if (maxLogsOfBlock < Infinity && isOfLogs)
      return ({ result }) => {
        const message = `query returns too many logs, narrow your filter: ${maxLogsOfBlock}`;
        return (result as unknown[]).length > maxLogsOfBlock ? { error: { code: -32_000, message } } : { result };
      };
    if (bendsRanges && nameOf(call) === "eth_getLogs")
      return ({ result }) => ({ result: bendsRanges(result as unknown[]) });
    if (bendsLogs && isOfLogs) return ({ result }) => ({ result: bendsLogs(result as unknown[]) });
    return undefined;
  };

  /** The same call to a node that knows no block above `head`. */
  const clamp = (call: Call, head: number | undefined): Call => {
    if (head === undefined) return call;
    const { method, params } = call;
    const isAbove = (tag: unknown) => typeof tag === "string" && tag.startsWith("0x") && Number(tag) > head;
    if (method === "eth_call" && params[1] === "latest") return { ...call, params: [params[0], numberToHex(head)] };
    if (nameOf(call) === "eth_getLogs" && behaviour.headOfLogs !== undefined) {
      const filter = params[0] as LogFilter;
      // Nothing is in the genesis block.
      const range = isAbove(filter.fromBlock) ? { fromBlock: "0x0", toBlock: "0x0" } : {};
      const toBlock = isAbove(filter.toBlock) ? numberToHex(head) : filter.toBlock;
      return { ...call, params: [{ ...filter, toBlock, ...range }] };
    }
    if (method === "eth_blockNumber")
      return { ...call, method: "eth_getBlockByNumber", params: [numberToHex(head), false] };
    if (method === "eth_getBlockByNumber") {
      const [tag, isFull] = params;
      if (["latest", "safe", "finalized"].includes(tag as string))
        return { ...call, params: [numberToHex(head), isFull] };
      // A hash that nobody has answers null, as a number above the head does.
      if (isAbove(tag))
        return { ...call, method: "eth_getBlockByHash", params: [numberToHex(1n, { size: 32 }), false] };
    }
    return call;
  };

  const { url, close } = await serveOrigin((request, response) => {
    mostOpen = Math.max(mostOpen, ++open);
    response.once("close", () => open--);
    answer(request, response).catch(() => request.socket.destroy());
  });
  return {
    url,
    counts: () => counts,
    mostAtOnce: () => mostOpen,
    logFilters: () => logFilters,
    resetCounts: () => {
      counts = {};
      logFilters = [];
      mostOpen = open;
    },
    set: (changes) => void Object.assign(behaviour, changes),
    stop: close,
  };
}

function nameOf({ method, params }: Call): string {
  if (method === "eth_getBlockByNumber" && params[0] === "latest") return params[1] === true ? "wholeHead" : "head";
  return method === "eth_getLogs" && (params[0] as { blockHash?: string }).blockHash ? "logsOfBlock" : method;
}

function isOfLogsOf(call: Call, hashes: unknown[]): boolean {
  return nameOf(call) === "logsOfBlock" && hashes.includes((call.params[0] as { blockHash: string }).blockHash);
}

/** How many blocks are asked for their logs at once. */
function blocksOf(call: Call): number {
  if (nameOf(call) !== "eth_getLogs") return 0;
  const { fromBlock, toBlock } = call.params[0] as LogFilter;
  return Number(toBlock) - Number(fromBlock) + 1;
}

async function forward(target: string, body: Call | Call[]): Promise<{ status: number; text: string }> {
  const response = await fetch(target, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return { status: response.status, text: await response.text() };
}
