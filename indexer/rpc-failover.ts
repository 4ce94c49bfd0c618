import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { pipeline } from "node:stream/promises";
import { Agent, type Dispatcher, request } from "undici";
import { addressOf, type NodeAddress } from "../offchain/chain/rpc-url.ts";
import { hostOf } from "./rpc.ts";

/**
 * Several nodes behind one URL. Ponder by itself goes on preferring a node that was fast until it died, and ends when ten
 * attempts fail; here a request that one node doesn't answer goes to the next, and a node that failed is left alone for a
 * while. Ponder takes an old head for a reorg, and a block that a node doesn't have yet for none: here the next node is
 * asked for it. It takes whatever logs a node gives for a block: here another node is asked where some are missing. Nor
 * does Ponder take a URL with a user and a password.
 */

/** Ponder gives a request 10 s: less, so that the next one already goes elsewhere. */
const ANSWER_TIMEOUT_MS = 9_000;
const REST_MS = 5_000;
const LONGEST_REST_MS = 60_000;

/** Each of several nodes is asked for its chain and head so often: a silent one would hold up whatever it is asked. */
const HEADS_EVERY_MS = 10_000;
const HEAD_TIMEOUT_MS = 3_000;

/** A node so far below the best one may lack blocks that are final, and finds no logs in them. */
const FAR_BEHIND_BLOCKS = 30;

/** So often another node must have the same gaps in a block's logs, and none others, until that is how the chain is. */
const GAPS_OF_A_CHAIN = 5;

/** A node that doesn't have a block says so in fewer. */
const NO_BLOCK_BYTES = 200;

/** `isLast`: it said nothing when it was asked for its head, or one that is far behind. `chainId`: what it told last. */
type Node = NodeAddress & { restsUntil: number; isLast: boolean; chainId: number | undefined };

/**
 * Listens on loopback until `close`. Of several nodes one is asked once it has said that it is of the chain `chainId`, and
 * left out while it says that it is of another: each is asked for its chain with each comparison of heads. `onOther` is
 * told the host of one that is of another, once until it is of ours.
 */
export async function startRpcFailover(
  rpcUrls: string[],
  { chainId, onOther }: { chainId: number; onOther?: (host: string, chainId: number) => void },
): Promise<{ url: string; close: () => Promise<void> }> {
  const nodes: Node[] = rpcUrls.map((url) => ({
    ...addressOf(url),
    restsUntil: 0,
    isLast: false,
    // An only node was asked when the service started.
    chainId: rpcUrls.length > 1 ? undefined : chainId,
  }));
  const agent = new Agent({
    headersTimeout: ANSWER_TIMEOUT_MS,
    connect: { timeout: ANSWER_TIMEOUT_MS },
    pipelining: 1,
  });
  let turn = 0;
  const head = { block: 0 };
  const gaps = { sameInARow: 0 };
  const server = createServer((incoming, outgoing) => {
    turn++;
    answer(nodesInTurn(nodes.filter(mayBeOfChain), turn), { agent, chainId, head, gaps, incoming, outgoing }).catch(
      () => outgoing.destroy(),
    );
  });
  const mayBeOfChain = (node: Node) => node.chainId === undefined || node.chainId === chainId;
  const others = new Set<Node>();
  const compare = async () => {
    await compareHeads(nodes, { agent, chainId });
    for (const node of nodes) {
      if (mayBeOfChain(node)) others.delete(node);
      else if (!others.has(node)) {
        others.add(node);
        onOther?.(hostOf(node.url), node.chainId!);
      }
    }
  };
  if (nodes.length > 1) await compare();
  const timer = nodes.length > 1 ? setInterval(() => void compare(), HEADS_EVERY_MS) : undefined;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(0, "127.0.0.1", resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      clearInterval(timer);
      server.closeAllConnections();
      await new Promise<void>((resolve) => void server.close(() => resolve()));
      await agent.destroy();
    },
  };
}

/** Those that are well share the work; the others are tried after them. */
function nodesInTurn(nodes: Node[], turn: number): Node[] {
  const rotated = nodes.map((_, index) => nodes[(turn + index) % nodes.length]!);
  return [...rotated.filter(isWell), ...rotated.filter((node) => !isWell(node))];
}

const isWell = ({ restsUntil, isLast }: Node) => restsUntil <= performance.now() && !isLast;

/**
 * Whether it says now that it is of the chain `chainId`. One that was down when the service started may be of any, and a
 * URL may come to be another one's. Where it says nothing, what it said before stands.
 */
async function askForChain(node: Node, { agent, chainId }: { agent: Agent; chainId: number }): Promise<boolean> {
  const told = await askNumber(node, { agent, method: "eth_chainId" });
  node.chainId = told ?? node.chainId;
  return told === chainId;
}

async function compareHeads(nodes: Node[], { agent, chainId }: { agent: Agent; chainId: number }): Promise<void> {
  const heads = await Promise.all(
    nodes.map(async (node) => {
      // Nobody waits twice for one that is silent.
      if (await askForChain(node, { agent, chainId })) return askNumber(node, { agent, method: "eth_blockNumber" });
    }),
  );
  const best = Math.max(...heads.filter((head) => head !== undefined));
  for (const [index, node] of nodes.entries()) node.isLast = !(heads[index]! >= best - FAR_BEHIND_BLOCKS);
}

/** Undefined where the node doesn't tell. */
async function askNumber(node: Node, options: { agent: Agent; method: string }): Promise<number | undefined> {
  return postNumberCall(node, options)
    .then(readNumber)
    .catch(() => undefined);
}

function postNumberCall(node: Node, { agent, method }: { agent: Agent; method: string }) {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: [] });
  return post(node, { agent, body, signal: AbortSignal.timeout(HEAD_TIMEOUT_MS) });
}

async function readNumber({ body }: Dispatcher.ResponseData): Promise<number | undefined> {
  const { result } = (await body.json()) as { result: unknown };
  return typeof result === "string" && Number.isSafeInteger(Number(result)) ? Number(result) : undefined;
}

/**
 * Asks a node that is of the chain `chainId`, as it has said before or is asked to say first: how it turns that away is
 * its answer. Undefined: it is of another one, or doesn't tell.
 */
async function postOfChain(
  node: Node,
  { agent, body, chainId }: { agent: Agent; body: Buffer; chainId: number },
): Promise<Dispatcher.ResponseData | undefined> {
  if (node.chainId === undefined) {
    const response = await postNumberCall(node, { agent, method: "eth_chainId" });
    if (isTurnedAway(response.statusCode)) return response;
    node.chainId = await readNumber(response);
  }
  return node.chainId === chainId ? post(node, { agent, body }) : undefined;
}

function post(
  { url, authorization }: Node,
  { agent, body, signal }: { agent: Agent; body: string | Buffer; signal?: AbortSignal },
): Promise<Dispatcher.ResponseData> {
  return request(url, {
    dispatcher: agent,
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json",
      ...(authorization !== undefined && { authorization }),
    },
    body,
    signal,
  });
}

async function answer(
  nodes: Node[],
  {
    agent,
    chainId,
    head,
    gaps,
    incoming,
    outgoing,
  }: {
    agent: Agent;
    chainId: number;
    head: { block: number };
    gaps: { sameInARow: number };
    incoming: IncomingMessage;
    outgoing: ServerResponse;
  },
): Promise<void> {
  const body = Buffer.concat(await incoming.toArray());
  const call = nodes.length > 1 ? readCall(body) : undefined;
  const wanted = call && blockOf(call);
  const isOfLogs = call !== undefined && gaps.sameInARow < GAPS_OF_A_CHAIN && isOfBlockLogs(call);
  let isLimited = false;
  /** The best of the blocks that are older than one that was known before, or aren't there. */
  let poor: { response: Dispatcher.ResponseData; bytes: Buffer; number: number } | undefined;
  for (const node of nodes) {
    const response = await postOfChain(node, { agent, body, chainId }).catch(() => undefined);
    // What an only node says is said to Ponder as it is.
    if (!response || (nodes.length > 1 && isTurnedAway(response.statusCode))) {
      isLimited ||= response?.statusCode === 429;
      node.restsUntil = performance.now() + restOf(response?.headers["retry-after"]);
      await response?.body.dump();
      continue;
    }
    node.restsUntil = 0;
    if (isOfLogs) {
      const own = Buffer.from(await response.body.arrayBuffer());
      const other = nodes.find((one) => one !== node && isWell(one));
      const bytes = other && (await findMissing(own, other, { agent, body, gaps }));
      outgoing.writeHead(response.statusCode, { "content-type": "application/json" }).end(bytes ?? own);
      return;
    }
    if (wanted === undefined) {
      writeHead(outgoing, response);
      await pipeline(response.body, outgoing);
      return;
    }
    const bytes = Buffer.from(await response.body.arrayBuffer());
    const number = numberOf(bytes, wanted);
    if (number === undefined || number >= (wanted === "latest" ? head.block : 0)) {
      if (wanted === "latest") head.block = number ?? head.block;
      writeHead(outgoing, response).end(bytes);
      return;
    }
    if (!poor || number > poor.number) poor = { response, bytes, number };
  }
  if (poor) {
    if (wanted === "latest") head.block = Math.max(0, poor.number);
    writeHead(outgoing, poor.response).end(poor.bytes);
    return;
  }
  // At 429, and only then, Ponder asks less often.
  outgoing.writeHead(isLimited ? 429 : 503, { "content-type": "text/plain" }).end("No node answers.");
}

/**
 * A block's logs are numbered from 0 on: where one's answer has gaps, another node's is returned that has more logs. On a
 * chain that numbers them otherwise it has as many, which is soon believed.
 */
async function findMissing(
  own: Buffer,
  other: Node,
  { agent, body, gaps }: { agent: Agent; body: Buffer; gaps: { sameInARow: number } },
): Promise<Buffer | undefined> {
  const numbers = logNumbersOf(own);
  if (numbers.every((number, at) => number === at)) return undefined;
  try {
    const response = await post(other, { agent, body, signal: AbortSignal.timeout(HEAD_TIMEOUT_MS) });
    const theirs = Buffer.from(await response.body.arrayBuffer());
    const { length } = logNumbersOf(theirs);
    if (length === numbers.length) gaps.sameInARow++;
    if (length <= numbers.length) return undefined;
    gaps.sameInARow = 0;
    return theirs;
  } catch {
    return undefined;
  }
}

/** Of the logs in an answer, in order. None where it is something else. */
function logNumbersOf(bytes: Buffer): number[] {
  try {
    const { result } = JSON.parse(bytes.toString()) as { result: { logIndex: string }[] };
    return result.map(({ logIndex }) => Number(logIndex)).toSorted((a, b) => a - b);
  } catch {
    return [];
  }
}

function writeHead(outgoing: ServerResponse, { statusCode, headers }: Dispatcher.ResponseData): ServerResponse {
  for (const name of ["content-type", "content-encoding", "content-length"])
    if (headers[name] !== undefined) outgoing.setHeader(name, headers[name]);
  return outgoing.writeHead(statusCode);
}

type Call = { method: string; params: unknown[] };

function readCall(body: Buffer): Call | undefined {
  try {
    const { method, params = [] } = JSON.parse(body.toString()) as { method: string; params?: unknown[] };
    return { method, params };
  } catch {
    return undefined;
  }
}

/** The number, tag or hash of the block that is asked for, if one is. */
function blockOf({ method, params }: Call): string | undefined {
  return method === "eth_getBlockByNumber" || method === "eth_getBlockByHash" ? (params[0] as string) : undefined;
}

/** Whether all logs of one block are asked for. */
function isOfBlockLogs({ method, params }: Call): boolean {
  return method === "eth_getLogs" && (params[0] as { blockHash?: string } | undefined)?.blockHash !== undefined;
}

/** Of the block in an answer; -1: it has none. Undefined where it is something else. */
function numberOf(bytes: Buffer, wanted: string): number | undefined {
  // Of the others only whether they are there matters, and they are large.
  if (wanted !== "latest" && bytes.length > NO_BLOCK_BYTES) return undefined;
  try {
    const { result } = JSON.parse(bytes.toString()) as { result?: { number: string } | null };
    return result === null ? -1 : result && Number(result.number);
  } catch {
    return undefined;
  }
}

/** A limit or a fault, or a key that one node no longer takes: nothing to the others. */
function isTurnedAway(status: number): boolean {
  return status >= 500 || [401, 402, 403, 429].includes(status);
}

function restOf(retryAfter: string | string[] | undefined): number {
  const seconds = Number(retryAfter);
  return seconds > 0 ? Math.min(seconds * 1000, LONGEST_REST_MS) : REST_MS;
}
