import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import type { Answer, RpcError } from "./rpc-answer.ts";
import { HttpSizeError, HttpTimeoutError, post } from "./http-post.ts";
import { classifyError } from "./provider-error.ts";

/** Providers give a query about ten seconds. */
const ANSWER_TIMEOUT_MS = 30_000;
/** Several times what is asked for at once. */
const MAX_ANSWER_BYTES = 96 * 2 ** 20;

/** Requests at once to a URL: at first, and at most. */
const FIRST_SLOTS = 4;
const MAX_SLOTS = 16;
const FIRST_BATCH_SIZE = 100;

/** A node that fails so often in a row is not waited for: it is tried again when it has rested. */
const FAILURES_OF_THE_DEAD = 3;

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
  successes: number;
  /** Calls that it takes in one request. */
  batchSize: number;
  /** It was wrong too often: it is asked only where there is no other. */
  isUntrusted: boolean;
};

/** The node didn't answer, or says that it was asked too often. It is asked again later, another one at once. */
export class NodeError extends Error {
  /** How long it wants to be left alone, if it says so. */
  restMs?: number | undefined;
  isRateLimit = false;
  isTimeout = false;
  /** It is what the node said of a call. */
  isAnswer = false;
}

/** More than the node gives at once. */
export class TooLargeError extends Error {
  maxBlocks?: number | undefined;
  maxLogs?: number | undefined;
  upTo?: number | undefined;
}

/** The node gives fewer calls in one request than it was sent. */
export class BatchError extends Error {}

type Agents = { http: HttpAgent; https: HttpsAgent };

export type RpcCall = { method: string; params: unknown[] };

/** A number as JSON-RPC writes it. */
export const quantityOf = (value: number) => `0x${value.toString(16)}` as const;

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

/** `onProblem` is told in a line of nodes that fail, the less often the longer they do. */
export function createRpcPool(
  urls: string[],
  { signal, onProblem }: { signal: AbortSignal; onProblem: (line: string) => void },
): RpcPool {
  const agents: Agents = {
    http: new HttpAgent({ keepAlive: true, maxSockets: MAX_SLOTS }),
    https: new HttpsAgent({ keepAlive: true, maxSockets: MAX_SLOTS }),
  };
  const nodes = [...new Set(urls)].map(createNode);
  const queue: Waiting[] = [];
  let timer: NodeJS.Timeout | undefined;

  /** Serves who waits, as far as nodes are free. */
  const serve = () => {
    clearTimeout(timer);
    const now = Date.now();
    for (let at = 0; at < queue.length;) {
      const { avoid, only, take } = queue[at]!;
      const free = (only ? [only] : suitedNodes(nodes, avoid)).filter(
        (node) => node.active < Math.floor(node.slots) && node.restsUntil <= now,
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
          const result = await attempt(node, (calls) => postCalls(agents, { node, calls, signal }));
          praise(node);
          return result;
        } catch (error) {
          if (signal.aborted) throw signal.reason;
          if (!(error instanceof NodeError)) throw error;
          rest(node, error);
          if (isWorthTelling(node, error)) onProblem(`${node.host}: ${error.message}`);
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

/** @throws NodeError, TooLargeError, BatchError as the node's error means; nothing where there is none */
function throwIfError(error: RpcError | undefined): void {
  if (!error) return;
  const problem = classifyError(error);
  const message = `${error.message} (${error.code})`;
  if (problem.kind === "too large") throw Object.assign(new TooLargeError(message), problem);
  if (problem.kind === "batch too large") throw new BatchError(message);
  throw Object.assign(new NodeError(message), { isAnswer: true, isRateLimit: problem.kind === "rate limit" });
}

/** The answers in the order of their calls. @throws NodeError, TooLargeError, BatchError where one is missing or an error */
export function sortAnswers<T>(answers: Answer<T>[], count: number): (T | undefined)[] {
  // One error for the whole batch.
  if (count > 1 && answers.length === 1) throwIfError(answers[0]!.error);
  const byId = new Map(answers.map((answer) => [answer.id, answer]));
  return Array.from({ length: count }, (_, id) => {
    const answer = byId.get(id);
    if (!answer) throw new NodeError(`It answered ${answers.length} of ${count} calls.`);
    throwIfError(answer.error);
    return answer.value;
  });
}

function createNode(url: string): RpcNode {
  return {
    url,
    host: new URL(url).host,
    slots: FIRST_SLOTS,
    active: 0,
    restsUntil: 0,
    failuresInARow: 0,
    successes: 0,
    batchSize: FIRST_BATCH_SIZE,
    isUntrusted: false,
  };
}

/** Whoever is trusted and alive; if nobody is, whoever there is. */
function suitedNodes(nodes: RpcNode[], avoid: RpcNode | undefined): RpcNode[] {
  const trusted = nodes.filter(({ isUntrusted }) => !isUntrusted);
  const now = Date.now();
  const alive = trusted.filter(
    ({ failuresInARow, restsUntil }) => failuresInARow < FAILURES_OF_THE_DEAD || restsUntil <= now,
  );
  const others = alive.filter((node) => node !== avoid);
  return [others, alive, trusted, nodes].find((list) => list.length > 0) ?? [];
}

function praise(node: RpcNode): void {
  node.failuresInARow = 0;
  node.successes++;
  node.slots = Math.min(MAX_SLOTS, node.slots + 1 / node.slots);
}

/** To be asked too often is no fault, as long as it ends. */
function isWorthTelling({ failuresInARow }: RpcNode, { isRateLimit }: NodeError): boolean {
  const isPowerOfTwo = Number.isInteger(Math.log2(failuresInARow));
  return isPowerOfTwo && (!isRateLimit || failuresInARow > 4);
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

async function postCalls(
  agents: Agents,
  { node, calls, signal }: { node: RpcNode; calls: RpcCall[]; signal: AbortSignal },
): Promise<Buffer> {
  const bodies = calls.map(({ method, params }, id) => ({ jsonrpc: "2.0", id, method, params }));
  // Name and password go into a header by themselves.
  const url = new URL(node.url);
  const { status, headers, bytes } = await post(url, {
    agent: url.protocol === "https:" ? agents.https : agents.http,
    headers: { "content-type": "application/json", accept: "application/json", "accept-encoding": "gzip" },
    body: JSON.stringify(bodies.length === 1 ? bodies[0] : bodies),
    signal,
    timeoutMs: ANSWER_TIMEOUT_MS,
    maxBytes: MAX_ANSWER_BYTES,
  }).catch(throwNodeError);
  if (status === 429 || status === 503) {
    const error = new NodeError(`It answers ${status}.`);
    throw Object.assign(error, { isRateLimit: status === 429, restMs: restOf(headers["retry-after"]) });
  }
  if (status === 413) throw new TooLargeError("It answers 413.");
  if (status === 408 || status === 504)
    throw Object.assign(new NodeError(`It answers ${status}.`), { isTimeout: true });
  const text = headers["content-encoding"] === "gzip" ? await unpack(bytes) : bytes;
  // Errors often come with another status than 200, and JSON-RPC all the same.
  const isJson = text[0] === 0x7b || text[0] === 0x5b;
  if (!isJson) throw new NodeError(`It answers ${status} with ${text.length} bytes that are not JSON.`);
  return text;
}

async function unpack(bytes: Buffer): Promise<Buffer> {
  try {
    return await promisify(gunzip)(bytes, { maxOutputLength: MAX_ANSWER_BYTES });
  } catch (error) {
    const isTooLarge = (error as { code?: string }).code === "ERR_BUFFER_TOO_LARGE";
    const message = (error as Error).message;
    throw isTooLarge ? new TooLargeError(message) : new NodeError(message, { cause: error });
  }
}

function throwNodeError(error: Error): never {
  if (error instanceof HttpSizeError) throw new TooLargeError(error.message, { cause: error });
  throw Object.assign(new NodeError(error.message, { cause: error }), { isTimeout: error instanceof HttpTimeoutError });
}

/** Retry-After in seconds or as a date. */
function restOf(retryAfter: string | string[] | undefined): number | undefined {
  const text = [retryAfter].flat()[0];
  if (text === undefined) return undefined;
  const ms = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return ms > 0 ? ms : undefined;
}
