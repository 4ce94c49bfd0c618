import { setTimeout as sleep } from "node:timers/promises";
import { Agent, request } from "undici";
import { isRevert } from "./revert.ts";
import { addressOf, hostOf } from "../../net/node-address.ts";

const REQUEST_TIMEOUT_MS = 20_000;
/**
 * The largest answer that is read. A batch of the largest answers that we ask for is smaller; larger ones are repeated
 * one by one.
 */
const MAX_ANSWER_BYTES = 48 * 1024 * 1024;
/** A URL that failed is tried last for so long. */
const PAUSE_MS = 15_000;
/** What a URL says of its chain counts for so long: it may come to lead to a node of another one. */
const CHAIN_KNOWN_MS = 10_000;

/** A call of JSON-RPC, without its id. */
export type RpcRequest = { method: string; params: unknown[] };
/** A node's answer to one call. */
export type RpcAnswer =
  | { result: unknown; error?: undefined }
  | { result?: undefined; error: { code: number; message: string } };

/** JSON-RPC over one or several URLs of the same chain. */
export type Rpc = {
  /**
   * Sends one request, or several as one batch. Answers come in the order of the requests. An answer is an error only
   * where every URL gave one.
   *
   * @throws RpcFault where no URL gave a usable answer
   */
  send: (requests: RpcRequest[]) => Promise<RpcAnswer[]>;
  close: () => Promise<void>;
};

/** The chain that all URLs must belong to. `onOther` gets the host of a URL of another chain, and that chain's id. */
export type ExpectedChain = { id: () => number; onOther: (host: string, chainId: number) => void };

/** Thrown where no node could be reached or spoke JSON-RPC. Unlike after a revert, another try is worth it. */
export class RpcFault extends Error {}

/**
 * JSON-RPC over several URLs, tried in their order, those that failed lately last, each for at most `timeoutMs`. With
 * `chain`, each URL is first asked for its chain, and again after a failure and every few seconds, so that another
 * chain's answers aren't used. `checkChains` asks all URLs, as far as they answer. Where a URL has an error of its own (a
 * limit, a missing block), the next one is tried.
 */
export function createRpc({
  urls,
  timeoutMs = REQUEST_TIMEOUT_MS,
  chain,
}: {
  urls: string[];
  timeoutMs?: number;
  chain?: ExpectedChain;
}): Rpc & { checkChains: () => Promise<void> } {
  const agent = new Agent({
    connections: 16,
    connect: { timeout: 5000 },
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    maxResponseSize: MAX_ANSWER_BYTES,
  });
  const pausedUntil = new Map<string, number>();
  const chains = new Map<string, { chainId: number; until: number }>();

  async function requireChain(url: string, expected: number): Promise<void> {
    const known = chains.get(url);
    if (known?.chainId === expected && performance.now() < known.until) return;
    const chainId = await readChainId(agent, { url, timeoutMs });
    chains.set(url, { chainId, until: performance.now() + CHAIN_KNOWN_MS });
    if (chainId === expected) return;
    const host = hostOf(url);
    chain!.onOther(host, chainId);
    throw new RpcFault(`${host} answers for chain ${chainId}. Expected ${expected}.`);
  }

  async function send(requests: RpcRequest[]): Promise<RpcAnswer[]> {
    if (requests.length === 0) return [];
    const now = performance.now();
    const isPaused = (url: string) => Number((pausedUntil.get(url) ?? 0) > now);
    const failures: string[] = [];
    const expected = chain?.id();
    const answers = Array.from<RpcAnswer | undefined>({ length: requests.length });
    let open = requests.map((_, i) => i);
    for (const url of urls.toSorted((a, b) => isPaused(a) - isPaused(b))) {
      if (open.length === 0) break;
      try {
        if (expected !== undefined) await requireChain(url, expected);
        const given = await post(agent, { url, requests: open.map((i) => requests[i]!), timeoutMs });
        open.forEach((i, at) => (answers[i] = given[at]));
        const left = open.filter((_, at) => isOwnFault(given[at]!));
        if (left.length < open.length) pausedUntil.delete(url);
        else pausedUntil.set(url, performance.now() + PAUSE_MS);
        open = left;
      } catch (error) {
        // What is there when it answers again may be another node.
        chains.delete(url);
        pausedUntil.set(url, performance.now() + PAUSE_MS);
        failures.push(error instanceof Error ? error.message : String(error));
      }
    }
    if (answers.includes(undefined)) throw new RpcFault(`No RPC URL answered: ${failures.join("; ")}`);
    return answers as RpcAnswer[];
  }

  return {
    send,
    checkChains: async () => {
      const expected = chain?.id();
      if (expected !== undefined) await Promise.allSettled(urls.map((url) => requireChain(url, expected)));
    },
    close: () => Promise.race([agent.close(), sleep(1000).then(() => agent.destroy())]),
  };
}

async function readChainId(agent: Agent, options: { url: string; timeoutMs: number }): Promise<number> {
  const [answer] = await post(agent, { ...options, requests: [{ method: "eth_chainId", params: [] }] });
  const chainId = typeof answer?.result === "string" ? Number(answer.result) : Number.NaN;
  if (Number.isSafeInteger(chainId)) return chainId;
  throw new RpcFault(`${hostOf(options.url)} doesn't say which chain it is of.`);
}

async function post(
  agent: Agent,
  { url, requests, timeoutMs }: { url: string; requests: RpcRequest[]; timeoutMs: number },
): Promise<RpcAnswer[]> {
  const bodies = requests.map(({ method, params }, id) => ({ jsonrpc: "2.0", id, method, params }));
  const { origin } = new URL(url);
  const { url: asked, authorization } = addressOf(url);
  const response = await request(asked, {
    dispatcher: agent,
    method: "POST",
    headers: { "content-type": "application/json", ...(authorization !== undefined && { authorization }) },
    body: JSON.stringify(bodies.length === 1 ? bodies[0] : bodies),
    signal: AbortSignal.timeout(timeoutMs),
  });
  const text = await response.body.text();
  // Some nodes send a revert with status 400 or 500 and a JSON-RPC body: that is a valid answer.
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw new RpcFault(`${origin} answered ${response.statusCode} with ${text.length} characters that are not JSON.`);
  }
  if (response.statusCode === 429) throw new RpcFault(`${origin} answered 429.`);
  const answers = Array.isArray(body) ? body : [body];
  const byId = new Map<unknown, RpcAnswer>();
  for (const answer of answers) if (isAnswer(answer)) byId.set(answer.id, answer);
  return requests.map((_, id) => {
    const answer = byId.get(id);
    if (!answer) throw new RpcFault(`${origin} answered ${answers.length} of ${requests.length} requests.`);
    return answer;
  });
}

function isOwnFault({ error }: RpcAnswer): boolean {
  // Some nodes write `error: null` together with a result.
  return !!error && !isRevert(error);
}

function isAnswer(value: unknown): value is RpcAnswer & { id: unknown } {
  return typeof value === "object" && value !== null && "id" in value && ("result" in value || "error" in value);
}
