import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { readAnswers, readPlain, sortAnswers } from "./rpc-answer.ts";
import { NodeError } from "./rpc-error.ts";
import { type Agents, CHEAPEST_CALL, postCalls, type RpcCall } from "./rpc-post.ts";

/** Requests at once to a URL: at first, and at most. */
const FIRST_SLOTS = 4;
const MAX_SLOTS = 16;
const FIRST_BATCH_SIZE = 100;

/** Nodes take a thousand at most by themselves. */
const FIRST_MAX_ADDRESSES = 500;

/** A node that fails so often in a row is not waited for: it is tried again when it has rested. */
const FAILURES_OF_THE_DEAD = 3;

/** Of several nodes, one that is silent says so on the cheapest call: logs would be waited for three times as long. */
const GREETING_TIMEOUT_MS = 10_000;

const FIRST_REST_MS = 250;
const LONGEST_REST_MS = 30_000;

/** One URL, and what has been learned of it. */
export type RpcNode = {
  url: string;
  host: string;
  /** Requests that it gets at once: one more for each round that went well, half as many where it says that it is too much. */
  slots: number;
  active: number;
  restsUntil: number;
  failuresInARow: number;
  /** Calls that it takes in one request. */
  batchSize: number;
  /** Contracts whose logs it looks for in one query. */
  maxAddresses: number;
  /** It hasn't answered yet, or not in time: nobody is sent to it until it does. */
  isSilent: boolean;
  isGreeted: boolean;
  /** It was wrong too often: it is asked only where there is no other. */
  isUntrusted: boolean;
};

export type RpcPool = {
  nodes: RpcNode[];
  /**
   * Runs `attempt` on a node that is free, and again, elsewhere or later, where it fails with a NodeError. Who has the
   * lowest `order` is served first.
   */
  ask: <T>(options: AskOptions, attempt: Attempt<T>) => Promise<T>;
  /** An answer of the node was wrong: it rests for a moment. */
  blame: (node: RpcNode) => void;
  /** Whether no other node is alive and trusted. */
  isAlone: (node: RpcNode) => boolean;
  close: () => void;
};

/** `avoid`: gets it only where no other is alive. `only`: no other gets it. */
export type AskOptions = { order: number; avoid?: RpcNode | undefined; only?: RpcNode | undefined };

/** `post` sends calls as one request. */
type Attempt<T> = (node: RpcNode, post: (calls: RpcCall[]) => Promise<Buffer>) => Promise<T>;

type Waiting = AskOptions & { take: (node: RpcNode) => void };

/**
 * Of several nodes one is asked once it has said that it is of `chain`. `onProblem` is told in a line of nodes that fail,
 * the less often the longer they do.
 */
export function createRpcPool(
  urls: string[],
  { chain, signal, onProblem }: { chain: { chainId: number }; signal: AbortSignal; onProblem: (line: string) => void },
): RpcPool {
  const agents: Agents = {
    http: new HttpAgent({ keepAlive: true, maxSockets: MAX_SLOTS }),
    https: new HttpsAgent({ keepAlive: true, maxSockets: MAX_SLOTS }),
  };
  const nodes = [...new Set(urls)].map((url, _, all) => createNode(url, { isSilent: all.length > 1 }));
  const queue: Waiting[] = [];
  let timer: NodeJS.Timeout | undefined;

  /** Serves who waits, as far as nodes are free. */
  const serve = () => {
    clearTimeout(timer);
    const now = Date.now();
    for (const node of nodes) if (node.isSilent && !node.isGreeted && node.restsUntil <= now) void greet(node);
    for (let at = 0; at < queue.length;) {
      const { avoid, only, take } = queue[at]!;
      const free = (only ? [only] : suitedNodes(nodes, avoid)).filter(
        (node) => !node.isSilent && node.active < Math.floor(node.slots) && node.restsUntil <= now,
      );
      const [best] = free.toSorted((a, b) => a.active / a.slots - b.active / b.slots);
      if (!best) {
        at++;
        continue;
      }
      queue.splice(at, 1);
      best.active++;
      take(best);
    }
    const rests = nodes.filter(({ restsUntil }) => restsUntil > now).map(({ restsUntil }) => restsUntil);
    if (queue.length > 0 && rests.length > 0) timer = setTimeout(serve, Math.min(...rests) - now);
  };

  const greet = async (node: RpcNode) => {
    node.isGreeted = true;
    try {
      const greeting = { url: node.url, calls: [CHEAPEST_CALL], signal, timeoutMs: GREETING_TIMEOUT_MS };
      requireChain(await postCalls(agents, greeting), chain);
      node.isSilent = false;
    } catch (error) {
      // Who waits for it is to hear that the work has ended.
      if (signal.aborted) node.isSilent = false;
      else fail(node, error instanceof NodeError ? error : new NodeError((error as Error).message, { cause: error }));
    } finally {
      node.isGreeted = false;
      serve();
    }
  };

  const fail = (node: RpcNode, error: NodeError) => {
    if (error.isTimeout && nodes.length > 1) node.isSilent = true;
    rest(node, error);
    if (isWorthTelling(node, error)) onProblem(`${node.host}: ${error.message}`);
  };

  const acquire = (options: AskOptions) =>
    new Promise<RpcNode>((resolve) => {
      const at = queue.findIndex(({ order }) => order > options.order);
      queue.splice(at < 0 ? queue.length : at, 0, { ...options, take: resolve });
      serve();
    });

  return {
    nodes,
    ask: async (options, attempt) => {
      for (;;) {
        signal.throwIfAborted();
        const node = await acquire(options);
        try {
          const result = await attempt(node, (calls) => postCalls(agents, { url: node.url, calls, signal }));
          praise(node);
          return result;
        } catch (error) {
          if (signal.aborted) throw signal.reason;
          if (!(error instanceof NodeError)) throw error;
          fail(node, error);
        } finally {
          node.active--;
          serve();
        }
      }
    },
    blame: (node) => rest(node, new NodeError("Its answer was wrong.")),
    isAlone: (node) => !suitedNodes(nodes, node).some((other) => other !== node),
    close: () => {
      clearTimeout(timer);
      agents.http.destroy();
      agents.https.destroy();
    },
  };
}

/** @throws NodeError where a node says that it is of another chain, or says nothing of that */
function requireChain(bytes: Buffer, { chainId: expected }: { chainId: number }): void {
  const [told] = sortAnswers(readAnswers(bytes, readPlain), 1);
  const chainId = Number(told ?? Number.NaN);
  if (Number.isNaN(chainId)) throw new NodeError("It doesn't say which chain it is of.");
  if (chainId !== expected) throw new NodeError(`It answers for chain ${chainId}. Expected ${expected}.`);
}

function createNode(url: string, { isSilent }: { isSilent: boolean }): RpcNode {
  return {
    url,
    host: new URL(url).host,
    slots: FIRST_SLOTS,
    active: 0,
    restsUntil: 0,
    failuresInARow: 0,
    batchSize: FIRST_BATCH_SIZE,
    maxAddresses: FIRST_MAX_ADDRESSES,
    isSilent,
    isGreeted: false,
    isUntrusted: false,
  };
}

/** Whoever is trusted and alive; if nobody is, whoever there is. */
function suitedNodes(nodes: RpcNode[], avoid: RpcNode | undefined): RpcNode[] {
  const trusted = nodes.filter(({ isUntrusted }) => !isUntrusted);
  const now = Date.now();
  const alive = trusted.filter(
    ({ failuresInARow, restsUntil, isSilent }) =>
      (failuresInARow < FAILURES_OF_THE_DEAD || restsUntil <= now) && !(isSilent && failuresInARow > 0),
  );
  const others = alive.filter((node) => node !== avoid);
  return [others, alive, trusted, nodes].find((list) => list.length > 0) ?? [];
}

function praise(node: RpcNode): void {
  node.failuresInARow = 0;
  node.slots = Math.min(MAX_SLOTS, node.slots + 1 / node.slots);
}

/** To be asked too often is no fault, as long as it ends soon. */
function isWorthTelling({ failuresInARow }: RpcNode, { isRateLimit, restMs = 0 }: NodeError): boolean {
  const isPowerOfTwo = Number.isInteger(Math.log2(failuresInARow));
  return isPowerOfTwo && (!isRateLimit || failuresInARow > 4 || restMs > LONGEST_REST_MS);
}

function rest(node: RpcNode, { restMs, isRateLimit, isTimeout }: NodeError): void {
  const now = Date.now();
  // What was on its way when the first of them was turned away says nothing new.
  if (node.restsUntil > now && restMs === undefined) return;
  node.failuresInARow++;
  if (isRateLimit || isTimeout) node.slots = Math.max(1, node.slots / 2);
  const ownMs = FIRST_REST_MS * 2 ** Math.min(node.failuresInARow - 1, 10);
  node.restsUntil = Math.max(node.restsUntil, now + Math.min(restMs ?? ownMs, LONGEST_REST_MS * (restMs ? 10 : 1)));
}
