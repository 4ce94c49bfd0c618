import { type Agent, type Dispatcher, request } from "undici";
import type { NodeAddress } from "../../offchain/chain/rpc-url.ts";

const REST_MS = 5_000;
const LONGEST_REST_MS = 60_000;

/** For what it is only asked beside requests: its chain, its head, or logs that another one may lack. */
export const HEAD_TIMEOUT_MS = 3_000;

/** A node so far below the best one may lack blocks that are final, and finds no logs in them. */
const FAR_BEHIND_BLOCKS = 30;

/**
 * One of several, and what is known of it. `isLast`: it said nothing when it was asked for its head, or one that is far
 * behind. `chainId` and `head`: what it told last.
 */
export type Node = NodeAddress & {
  restsUntil: number;
  isLast: boolean;
  chainId: number | undefined;
  head: number | undefined;
};

/** Those that are well share the work; the others are tried after them. */
export function nodesInTurn(nodes: Node[], turn: number): Node[] {
  const rotated = nodes.map((_, index) => nodes[(turn + index) % nodes.length]!);
  return [...rotated.filter(isWell), ...rotated.filter((node) => !isWell(node))];
}

/** Whether it neither failed a moment ago nor is asked last. */
export const isWell = ({ restsUntil, isLast }: Node) => restsUntil <= performance.now() && !isLast;

/** Asks each for its chain and its head: one that is silent, far behind or of another chain is asked last. */
export async function compareHeads(
  nodes: Node[],
  { agent, chainId }: { agent: Agent; chainId: number },
): Promise<void> {
  const heads = await Promise.all(
    nodes.map(async (node) => {
      // Nobody waits twice for one that is silent.
      if (await askForChain(node, { agent, chainId })) return askNumber(node, { agent, method: "eth_blockNumber" });
    }),
  );
  const best = Math.max(...heads.filter((head) => head !== undefined));
  for (const [index, node] of nodes.entries()) {
    node.head = heads[index];
    node.isLast = !(heads[index]! >= best - FAR_BEHIND_BLOCKS);
  }
}

/**
 * Whether a node of the chain `chainId` has a block, as it has said before or says now: of blocks that it lacks it gives
 * no logs, which looks as if they had none.
 */
export async function hasBlock(
  node: Node,
  { agent, chainId, number }: { agent: Agent; chainId: number; number: number },
): Promise<boolean> {
  if (node.chainId === undefined && !(await askForChain(node, { agent, chainId }))) return false;
  if (!(node.head! >= number)) node.head = await askNumber(node, { agent, method: "eth_blockNumber" });
  return node.head! >= number;
}

/**
 * Asks a node that is of the chain `chainId`, as it has said before or is asked to say first: how it turns that away is
 * its answer. Undefined: it is of another one, or doesn't tell.
 */
export async function postOfChain(
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

/** Sends a request to a node as it is. */
export function post(
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

/** A limit or a fault, or a key that one node no longer takes: nothing to the others. */
export function isTurnedAway(status: number): boolean {
  return status >= 500 || [401, 402, 403, 429].includes(status);
}

/** For how long a node that failed is left alone, in milliseconds. `retryAfter`: its header. */
export function restOf(retryAfter: string | string[] | undefined): number {
  const seconds = Number(retryAfter);
  return seconds > 0 ? Math.min(seconds * 1000, LONGEST_REST_MS) : REST_MS;
}

/**
 * Whether it says now that it is of the chain `chainId`. One that was down when the service started may be of any, and a
 * URL may come to be another one's. Where it says nothing, what it said before stands.
 */
async function askForChain(node: Node, { agent, chainId }: { agent: Agent; chainId: number }): Promise<boolean> {
  const told = await askNumber(node, { agent, method: "eth_chainId" });
  node.chainId = told ?? node.chainId;
  return told === chainId;
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
