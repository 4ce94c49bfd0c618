import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { hostOf } from "../../net/node-address.ts";
import { readAnswers, readPlain, sortAnswers } from "./rpc-answer.ts";
import { NodeError } from "./rpc-error.ts";
import { type Agents, CHEAPEST_CALL, postCalls, type RpcCall } from "./rpc-post.ts";

/** How many requests are sent to a URL at once: at first, and at most. */
const FIRST_SLOTS = 4;
const MAX_SLOTS = 16;
const FIRST_BATCH_SIZE = 100;

/** How many contracts a query names at first. Nodes have limits of a thousand at most. */
const FIRST_MAX_ADDRESSES = 500;

/**
 * After so many failures in a row a node is not waited for while another is alive. It is tried again after its rest.
 */
const FAILURES_OF_THE_DEAD = 3;

/**
 * Each node is first asked the cheapest call, for its chain: waiting for logs takes three times as long to show silence.
 */
const GREETING_TIMEOUT_MS = 10_000;

/** How long a node that fails is left alone: at first, twice as long after each further failure, and at most. */
const FIRST_REST_MS = 250;
const LONGEST_REST_MS = 30_000;

/** A node that asks for a longer rest gets it, up to this. */
const LONGEST_ASKED_REST_MS = 300_000;

/** So many rate limits in a row aren't told: their rests are over within 4 s. */
const UNTOLD_RATE_LIMITS = 4;

/** One URL, and what was learned about it. */
export type RpcNode = {
  url: string;
  host: string;
  /**
   * How many requests it gets at once: one more after each round of successes, half as many after a rate limit or
   * timeout.
   */
  slots: number;
  active: number;
  restsUntil: number;
  failuresInARow: number;
  /** How many calls it accepts in one request. */
  batchSize: number;
  /** How many contracts it accepts in one query. */
  maxAddresses: number;
  /** It hasn't answered yet, or not in time. It gets no requests until it answers a greeting. */
  isSilent: boolean;
  isGreeting: boolean;
  /** It was wrong too often: it is asked only where there is no other node. */
  isUntrusted: boolean;
};

/** The nodes of a chain, which share its work and stand in for each other. */
export type RpcPool = {
  nodes: RpcNode[];
  /**
   * Runs `attempt` on a free node. After a NodeError it runs again, elsewhere or later. Whoever has the lowest `order`
   * is served first.
   */
  ask: <T>(options: AskOptions, attempt: Attempt<T>) => Promise<T>;
  /** Lets a node rest for a moment, because its answer was wrong. */
  blame: (node: RpcNode) => void;
  /** Whether no other node is alive and trusted. */
  isAlone: (node: RpcNode) => boolean;
  close: () => void;
};

/** `avoid`: this node is used only where no other is alive. `only`: no other node is used. */
export type AskOptions = { order: number; avoid?: RpcNode | undefined; only?: RpcNode | undefined };

/** `post` sends calls as one request and returns the answer's bytes. */
type Attempt<T> = (node: RpcNode, post: (calls: RpcCall[]) => Promise<Buffer>) => Promise<T>;

type Waiting = AskOptions & { take: (node: RpcNode) => void };

/**
 * Creates a pool of nodes. A node is used only after it has said that it is of `chain`.
 * `onProblem` gets a line about nodes that fail, more rarely the longer they do.
 */
export function createRpcPool(
  urls: string[],
  { chain, signal, onProblem }: { chain: { chainId: number }; signal: AbortSignal; onProblem: (line: string) => void },
): RpcPool {
  const agents: Agents = {
    http: new HttpAgent({ keepAlive: true, maxSockets: MAX_SLOTS }),
    https: new HttpsAgent({ keepAlive: true, maxSockets: MAX_SLOTS }),
  };
  const nodes = [...new Set(urls)].map(createNode);
  const queue: Waiting[] = [];
  let timer: NodeJS.Timeout | undefined;

  /** Gives free nodes to those who wait. */
  const serve = () => {
    clearTimeout(timer);
    const now = performance.now();
    for (const node of nodes) if (node.isSilent && !node.isGreeting && node.restsUntil <= now) void greet(node);
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
    node.isGreeting = true;
    try {
      const greeting = { url: node.url, calls: [CHEAPEST_CALL], signal, timeoutMs: GREETING_TIMEOUT_MS };
      requireChain(await postCalls(agents, greeting), chain);
      node.isSilent = false;
    } catch (error) {
      // Whoever waits for this node must learn that the work has ended.
      if (signal.aborted) node.isSilent = false;
      else fail(node, error instanceof NodeError ? error : new NodeError((error as Error).message, { cause: error }));
    } finally {
      node.isGreeting = false;
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

/** @throws NodeError where a node says that it is of another chain, or doesn't say of which */
function requireChain(bytes: Buffer, { chainId: expected }: { chainId: number }): void {
  const [told] = sortAnswers(readAnswers(bytes, readPlain), 1);
  const chainId = Number(told ?? Number.NaN);
  if (Number.isNaN(chainId)) throw new NodeError("It doesn't say which chain it is of.");
  if (chainId !== expected) throw new NodeError(`It answers for chain ${chainId}. Expected ${expected}.`);
}

function createNode(url: string): RpcNode {
  return {
    url,
    host: hostOf(url),
    slots: FIRST_SLOTS,
    active: 0,
    restsUntil: 0,
    failuresInARow: 0,
    batchSize: FIRST_BATCH_SIZE,
    maxAddresses: FIRST_MAX_ADDRESSES,
    isSilent: true,
    isGreeting: false,
    isUntrusted: false,
  };
}

/** The nodes that are trusted and alive. If there are none, all that are trusted; if there are none either, all. */
function suitedNodes(nodes: RpcNode[], avoid: RpcNode | undefined): RpcNode[] {
  const trusted = nodes.filter(({ isUntrusted }) => !isUntrusted);
  const now = performance.now();
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

/** Whether a failure is worth a line. A rate limit isn't, as long as it ends soon. */
function isWorthTelling({ failuresInARow }: RpcNode, { isRateLimit, restMs = 0 }: NodeError): boolean {
  const isPowerOfTwo = Number.isInteger(Math.log2(failuresInARow));
  return isPowerOfTwo && (!isRateLimit || failuresInARow > UNTOLD_RATE_LIMITS || restMs > LONGEST_REST_MS);
}

function rest(node: RpcNode, { restMs: askedMs, isRateLimit, isTimeout }: NodeError): void {
  const now = performance.now();
  // The failures of requests that were on their way already say nothing new.
  if (node.restsUntil > now && askedMs === undefined) return;
  node.failuresInARow++;
  if (isRateLimit || isTimeout) node.slots = Math.max(1, node.slots / 2);
  const restMs =
    askedMs === undefined
      ? Math.min(FIRST_REST_MS * 2 ** (node.failuresInARow - 1), LONGEST_REST_MS)
      : Math.min(askedMs, LONGEST_ASKED_REST_MS);
  node.restsUntil = Math.max(node.restsUntil, now + restMs);
}
