import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { pipeline } from "node:stream/promises";
import { Agent, type Dispatcher } from "undici";
import { addressOf, hostOf } from "../../net/node-address.ts";
import { asksForBlockLogs, blockNumberOf, blockOf, logIndexesOf, rangeEndOf, readCall } from "./block-call.ts";
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
 * Several nodes behind one URL, because Ponder by itself
 *
 * - keeps to a node that was fast until it died, and ends after ten failed attempts: here the next node is asked, and one
 *   that failed is left alone for a while;
 * - takes an old head for a reorg, and a block that a node doesn't have yet for one that doesn't exist: here the next node
 *   is asked;
 * - believes whatever logs a node gives: here another node is asked where some of a block's are missing, and a node that
 *   lacks the end of a range isn't asked for its logs;
 * - takes no URL with a user and a password.
 */

/** Shorter than the 10 s that Ponder waits, so that its next attempt already goes to another node. */
const ANSWER_TIMEOUT_MS = 9_000;

/** How often nodes are asked for their chain and head: a silent one would hold up whatever it is asked. */
const HEADS_EVERY_MS = 10_000;

/** After so many blocks in a row in which two nodes have the same gaps, that is taken for how the chain numbers logs. */
const GAPS_OF_A_CHAIN = 5;

/** What all requests share. `head`: the newest that any node told. `gaps.sameInARow`: see `GAPS_OF_A_CHAIN`. */
type Failover = { agent: Agent; chainId: number; head: { block: number }; gaps: { sameInARow: number } };

/**
 * Listens on loopback until `close`. Where there are several nodes, only those are asked that say they are of the chain
 * `chainId`: they are asked for it whenever heads are compared. `onOther` is told the host and chain of a node of another
 * one, once as long as it stays so.
 */
export async function startRpcFailover(
  rpcUrls: string[],
  { chainId, onOther }: { chainId: number; onOther?: (host: string, chainId: number) => void },
): Promise<{ url: string; close: () => Promise<void> }> {
  const nodes: Node[] = rpcUrls.map((url) => ({
    ...addressOf(url),
    restsUntil: 0,
    isLast: false,
    // A single node was asked for its chain when the service started.
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
  const isOnly = nodes.length === 1;
  const call = isOnly ? undefined : readCall(body);
  const wanted = call && blockOf(call);
  const rangeEnd = call && rangeEndOf(call);
  const isOfLogs = call !== undefined && asksForBlockLogs(call);
  const isRead = isOfLogs || wanted !== undefined;
  let isLimited = false;
  /** The best answer with a block that is older than a known one, or with none: used if no node has better. */
  let poor: { response: Dispatcher.ResponseData; bytes: Buffer; number: number } | undefined;
  for (const node of nodes) {
    if (rangeEnd !== undefined && !(await hasBlock(node, { agent, chainId, number: rangeEnd }))) continue;
    const given = await ask(node, { agent, chainId, body, isRead, isOnly });
    if (!given.response) {
      isLimited ||= given.isLimited;
      continue;
    }
    const { response, bytes } = given;
    if (!bytes) {
      writeHead(outgoing, response);
      await pipeline(response.body, outgoing);
      return;
    }
    if (isOfLogs) {
      const indexes = logIndexesOf(bytes);
      if (!indexes) {
        poor ??= { response, bytes, number: -1 };
        continue;
      }
      const other = nodes.find((one) => one !== node && isWell(one));
      const more = other && (await findMissing(indexes, other, { agent, body, gaps }));
      outgoing.writeHead(response.statusCode, { "content-type": "application/json" }).end(more ?? bytes);
      return;
    }
    const number = blockNumberOf(bytes, wanted!);
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
  // Only a 429 makes Ponder ask less often.
  outgoing.writeHead(isLimited ? 429 : 503, { "content-type": "text/plain" }).end("No node answers.");
}

/**
 * What a node answers, with its bytes where these are to be read. One that fails, or turns us away, has no response and
 * is left alone for a while. `isOnly`: what a single node says goes to Ponder as it is.
 */
async function ask(
  node: Node,
  {
    agent,
    chainId,
    body,
    isRead,
    isOnly,
  }: Pick<Failover, "agent" | "chainId"> & { body: Buffer; isRead: boolean; isOnly: boolean },
): Promise<{ response: Dispatcher.ResponseData; bytes?: Buffer } | { response?: undefined; isLimited: boolean }> {
  const response = await postOfChain(node, { agent, body, chainId }).catch(() => undefined);
  const isTaken = response !== undefined && (isOnly || !isTurnedAway(response.statusCode));
  const bytes = isTaken && isRead ? await readWhole(response) : undefined;
  if (isTaken && (bytes || !isRead)) {
    node.restsUntil = 0;
    return { response, ...(bytes && { bytes }) };
  }
  node.restsUntil = performance.now() + restOf(response?.headers["retry-after"]);
  if (!isTaken) await response?.body.dump();
  return { isLimited: response?.statusCode === 429 };
}

/**
 * The answer of another node for a block's logs, where those of the first have gaps, or there are none, and the other has
 * more. Logs of a block are numbered from 0 on; on a chain that numbers them otherwise both nodes have the same, which is
 * believed after a while.
 */
async function findMissing(
  indexes: number[],
  other: Node,
  { agent, body, gaps }: Pick<Failover, "agent" | "gaps"> & { body: Buffer },
): Promise<Buffer | undefined> {
  const hasGaps = indexes.some((logIndex, at) => logIndex !== at);
  if (indexes.length > 0 && !(hasGaps && gaps.sameInARow < GAPS_OF_A_CHAIN)) return undefined;
  try {
    const response = await post(other, { agent, body, signal: AbortSignal.timeout(HEAD_TIMEOUT_MS) });
    const theirs = Buffer.from(await response.body.arrayBuffer());
    const { length } = logIndexesOf(theirs) ?? [];
    if (hasGaps) gaps.sameInARow = length === indexes.length ? gaps.sameInARow + 1 : 0;
    if (length <= indexes.length) return undefined;
    return theirs;
  } catch {
    return undefined;
  }
}

/** An answer's bytes, undefined where it is cut. */
async function readWhole({ body }: Dispatcher.ResponseData): Promise<Buffer | undefined> {
  try {
    return Buffer.from(await body.arrayBuffer());
  } catch {
    return undefined;
  }
}

function writeHead(outgoing: ServerResponse, { statusCode, headers }: Dispatcher.ResponseData): ServerResponse {
  for (const name of ["content-type", "content-encoding", "content-length"])
    if (headers[name] !== undefined) outgoing.setHeader(name, headers[name]);
  return outgoing.writeHead(statusCode);
}
