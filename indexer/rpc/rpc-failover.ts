import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { pipeline } from "node:stream/promises";
import { Agent, type Dispatcher } from "undici";
import { addressOf } from "../../offchain/chain/rpc-url.ts";
import { blockOf, isOfBlockLogs, logNumbersOf, numberOf, rangeEndOf, readCall } from "./block-call.ts";
import { hostOf } from "./rpc.ts";
import {
  compareHeads,
  hasBlock,
  HEAD_TIMEOUT_MS,
  isTurnedAway,
  isWell,
  type Node,
  nodesInTurn,
  post,
  postOfChain,
  restOf,
} from "./rpc-node.ts";

/**
 * Several nodes behind one URL. Ponder by itself goes on preferring a node that was fast until it died, and ends when ten
 * attempts fail; here a request that one node doesn't answer goes to the next, and a node that failed is left alone for a
 * while. Ponder takes an old head for a reorg, and a block that a node doesn't have yet for none: here the next node is
 * asked for it. It takes whatever logs a node gives for a block or a range: here another node is asked where some are
 * missing, and none for a range that it doesn't have to its end. Nor does Ponder take a URL with a user and a password.
 */

/** Ponder gives a request 10 s: less, so that the next one already goes elsewhere. */
const ANSWER_TIMEOUT_MS = 9_000;

/** Each of several nodes is asked for its chain and head so often: a silent one would hold up whatever it is asked. */
const HEADS_EVERY_MS = 10_000;

/** So often another node must have the same gaps in a block's logs, and none others, until that is how the chain is. */
const GAPS_OF_A_CHAIN = 5;

/** What its requests have in common. `head`: the newest that was told; `gaps`: how often two nodes had the same. */
type Failover = { agent: Agent; chainId: number; head: { block: number }; gaps: { sameInARow: number } };

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
    head: undefined,
  }));
  const agent = new Agent({
    headersTimeout: ANSWER_TIMEOUT_MS,
    connect: { timeout: ANSWER_TIMEOUT_MS },
    pipelining: 1,
  });
  const failover: Failover = { agent, chainId, head: { block: 0 }, gaps: { sameInARow: 0 } };
  const mayBeOfChain = (node: Node) => node.chainId === undefined || node.chainId === chainId;
  let turn = 0;
  const server = createServer((incoming, outgoing) => {
    turn++;
    answer(nodesInTurn(nodes.filter(mayBeOfChain), turn), { ...failover, incoming, outgoing }).catch(() =>
      outgoing.destroy(),
    );
  });
  const others = new Set<Node>();
  const compare = async () => {
    await compareHeads(nodes, failover);
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

async function answer(
  nodes: Node[],
  {
    agent,
    chainId,
    head,
    gaps,
    incoming,
    outgoing,
  }: Failover & { incoming: IncomingMessage; outgoing: ServerResponse },
): Promise<void> {
  const body = Buffer.concat(await incoming.toArray());
  const call = nodes.length > 1 ? readCall(body) : undefined;
  const wanted = call && blockOf(call);
  const rangeEnd = call && rangeEndOf(call);
  const isOfLogs = call !== undefined && gaps.sameInARow < GAPS_OF_A_CHAIN && isOfBlockLogs(call);
  let isLimited = false;
  /** The best of the blocks that are older than one that was known before, or aren't there. */
  let poor: { response: Dispatcher.ResponseData; bytes: Buffer; number: number } | undefined;
  for (const node of nodes) {
    if (rangeEnd !== undefined && !(await hasBlock(node, { agent, chainId, number: rangeEnd }))) continue;
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
  { agent, body, gaps }: Pick<Failover, "agent" | "gaps"> & { body: Buffer },
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

function writeHead(outgoing: ServerResponse, { statusCode, headers }: Dispatcher.ResponseData): ServerResponse {
  for (const name of ["content-type", "content-encoding", "content-length"])
    if (headers[name] !== undefined) outgoing.setHeader(name, headers[name]);
  return outgoing.writeHead(statusCode);
}
