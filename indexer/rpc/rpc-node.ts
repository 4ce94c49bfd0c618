import { type Agent, type Dispatcher, request } from "undici";
import type { NodeAddress } from "../../net/node-address.ts";
import { readRetryAfter } from "../../net/retry-after.ts";

const REST_MS = 5_000;
const LONGEST_REST_MS = 60_000;

/** For what a node is asked beside Ponder's requests: its chain, its head, logs that another node may lack. */
export const HEAD_TIMEOUT_MS = 3_000;

/** A node so far below the best one may lack final blocks, and would answer that they have no logs. */
const FAR_BEHIND_BLOCKS = 30;

/**
 * A node and what is known of it. `isLast`: it didn't tell its head, or is far behind, and is asked after the others.
 * `chainId` and `head`: what it told last.
 */
export type Node = NodeAddress & {
  restsUntil: number;
  isLast: boolean;
  chainId: number | undefined;
  head: number | undefined;
};

/** Nodes in the order to ask them: those that are well take turns, the others come last. */
export function nodesInTurn(nodes: Node[], turn: number): Node[] {
  const rotated = nodes.map((_, index) => nodes[(turn + index) % nodes.length]!);
  return [...rotated.filter(isWell), ...rotated.filter((node) => !isWell(node))];
}

/** Whether a node neither failed a moment ago nor is asked last. */
export const isWell = ({ restsUntil, isLast }: Node) => restsUntil <= performance.now() && !isLast;

/** Asks each node for its chain and head, and notes which are asked last: silent, far behind, or of another chain. */
export async function compareHeads(
  nodes: Node[],
  { agent, chainId }: { agent: Agent; chainId: number },
): Promise<void> {
  const heads = await Promise.all(
    nodes.map(async (node) => {
      // A silent node isn't waited for twice.
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
 * Whether a node is of the chain `chainId` and has block `number`. It is asked unless it has said so before. A node
 * answers for blocks that it lacks as if they had no logs.
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
 * Sends a request to a node of the chain `chainId`, which is asked for its chain first where that isn't known. If it turns
 * that question away, this is the answer. Undefined where it is of another chain, or doesn't tell.
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

/** Whether a status says that another node should be asked: a limit, a fault, or a key that this node refuses. */
export function isTurnedAway(status: number): boolean {
  return status >= 500 || [401, 402, 403, 429].includes(status);
}

/** How long a node that failed is left alone, in milliseconds. `retryAfter`: the header of its answer. */
export function restOf(retryAfter: string | string[] | undefined): number {
  const seconds = readRetryAfter(retryAfter) ?? 0;
  return seconds > 0 ? Math.min(seconds * 1000, LONGEST_REST_MS) : REST_MS;
}

/**
 * Whether the node says now that it is of the chain `chainId`. One that was down at the start may be of any chain, and a
 * URL may come to lead to another. If it is silent, `node.chainId` stays what it told before.
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
