import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { pipeline } from "node:stream/promises";
import { Agent, request } from "undici";
import { addressOf, type NodeAddress } from "../offchain/chain/rpc-url.ts";

/**
 * Several nodes behind one URL. Ponder by itself goes on preferring a node that was fast until it died, and ends when ten
 * attempts fail; here a request that one node doesn't answer goes to the next, and a node that failed is left alone for a
 * while. Nor does Ponder take a URL with a user and a password.
 */

/** Ponder gives a request 10 s: less, so that the next one already goes elsewhere. */
const ANSWER_TIMEOUT_MS = 9_000;
const REST_MS = 5_000;
const LONGEST_REST_MS = 60_000;

type Node = NodeAddress & { restsUntil: number };

/** What Ponder can't be told to ask by itself. */
export const needsFailover = (rpcUrls: string[]) =>
  rpcUrls.length > 1 || rpcUrls.some((url) => addressOf(url).authorization !== undefined);

/** Listens on loopback until `close`. */
export async function startRpcFailover(rpcUrls: string[]): Promise<{ url: string; close: () => Promise<void> }> {
  const nodes: Node[] = rpcUrls.map((url) => ({ ...addressOf(url), restsUntil: 0 }));
  const agent = new Agent({
    headersTimeout: ANSWER_TIMEOUT_MS,
    connect: { timeout: ANSWER_TIMEOUT_MS },
    pipelining: 1,
  });
  let turn = 0;
  const server = createServer((incoming, outgoing) => {
    turn++;
    answer(nodesInTurn(nodes, turn), { agent, incoming, outgoing }).catch(() => outgoing.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(0, "127.0.0.1", resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => void server.close(() => resolve()));
      await agent.destroy();
    },
  };
}

/** The nodes that aren't resting share the work; the others are tried after them. */
function nodesInTurn(nodes: Node[], turn: number): Node[] {
  const now = Date.now();
  const rotated = nodes.map((_, index) => nodes[(turn + index) % nodes.length]!);
  return [...rotated.filter((node) => node.restsUntil <= now), ...rotated.filter((node) => node.restsUntil > now)];
}

async function answer(
  nodes: Node[],
  { agent, incoming, outgoing }: { agent: Agent; incoming: IncomingMessage; outgoing: ServerResponse },
): Promise<void> {
  const body = Buffer.concat(await incoming.toArray());
  let isLimited = false;
  for (const node of nodes) {
    const { authorization } = node;
    const response = await request(node.url, {
      dispatcher: agent,
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json",
        ...(authorization !== undefined && { authorization }),
      },
      body,
    }).catch(() => undefined);
    // What an only node says is said to Ponder as it is.
    if (!response || (nodes.length > 1 && isTurnedAway(response.statusCode))) {
      isLimited ||= response?.statusCode === 429;
      node.restsUntil = Date.now() + restOf(response?.headers["retry-after"]);
      await response?.body.dump();
      continue;
    }
    node.restsUntil = 0;
    for (const name of ["content-type", "content-encoding", "content-length"])
      if (response.headers[name] !== undefined) outgoing.setHeader(name, response.headers[name]);
    outgoing.writeHead(response.statusCode);
    await pipeline(response.body, outgoing);
    return;
  }
  // At 429, and only then, Ponder asks less often.
  outgoing.writeHead(isLimited ? 429 : 503, { "content-type": "text/plain" }).end("No node answers.");
}

/** A limit or a fault, or a key that one node no longer takes: nothing to the others. */
function isTurnedAway(status: number): boolean {
  return status >= 500 || status === 429 || status === 401 || status === 403;
}

function restOf(retryAfter: string | string[] | undefined): number {
  const seconds = Number(retryAfter);
  return seconds > 0 ? Math.min(seconds * 1000, LONGEST_REST_MS) : REST_MS;
}
