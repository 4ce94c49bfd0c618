import { setTimeout as sleep } from "node:timers/promises";
import { Agent, request } from "undici";
import { isRevert } from "./revert.ts";

const REQUEST_TIMEOUT_MS = 20_000;
/** A batch of the largest answers that we ask for stays below; what is larger is asked for one by one. */
const MAX_ANSWER_BYTES = 48 * 1024 * 1024;
/** A URL that failed is asked last for this long. */
const PAUSE_MS = 15_000;

export type RpcRequest = { method: string; params: unknown[] };
export type RpcAnswer =
  | { result: unknown; error?: undefined }
  | { result?: undefined; error: { code: number; message: string; data?: unknown } };

/** JSON-RPC over one or several URLs of the same chain. */
export type Rpc = {
  /**
   * Sends one request, or several as one batch; answers in the order of the requests. An error is one that every URL had.
   *
   * @throws RpcFault when no URL gave a usable answer
   */
  send: (requests: RpcRequest[]) => Promise<RpcAnswer[]>;
  close: () => Promise<void>;
};

/** The node could not be reached or did not speak JSON-RPC. Worth another try, unlike a call that reverts. */
export class RpcFault extends Error {}

/**
 * URLs are tried in their order, those that failed lately last, each for `timeoutMs` at most. What one has an error of its
 * own for, a limit or a block that it lacks, is asked of the next.
 */
export function createRpc({ urls, timeoutMs = REQUEST_TIMEOUT_MS }: { urls: string[]; timeoutMs?: number }): Rpc {
  const agent = new Agent({
    connections: 16,
    connect: { timeout: 5000 },
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    maxResponseSize: MAX_ANSWER_BYTES,
  });
  const pausedUntil = new Map<string, number>();

  async function send(requests: RpcRequest[]): Promise<RpcAnswer[]> {
    if (requests.length === 0) return [];
    const now = Date.now();
    const isPaused = (url: string) => Number((pausedUntil.get(url) ?? 0) > now);
    const failures: string[] = [];
    const answers = Array.from<RpcAnswer | undefined>({ length: requests.length });
    let open = requests.map((_, i) => i);
    for (const url of urls.toSorted((a, b) => isPaused(a) - isPaused(b))) {
      if (open.length === 0) break;
      try {
        const given = await post(agent, { url, requests: open.map((i) => requests[i]!), timeoutMs });
        open.forEach((i, at) => (answers[i] = given[at]));
        const left = open.filter((_, at) => isOwnFault(given[at]!));
        if (left.length < open.length) pausedUntil.delete(url);
        else pausedUntil.set(url, Date.now() + PAUSE_MS);
        open = left;
      } catch (error) {
        pausedUntil.set(url, Date.now() + PAUSE_MS);
        failures.push(error instanceof Error ? error.message : String(error));
      }
    }
    if (answers.includes(undefined)) throw new RpcFault(`No RPC URL answered: ${failures.join("; ")}`);
    return answers as RpcAnswer[];
  }

  return { send, close: () => Promise.race([agent.close(), sleep(1000).then(() => agent.destroy())]) };
}

async function post(
  agent: Agent,
  { url, requests, timeoutMs }: { url: string; requests: RpcRequest[]; timeoutMs: number },
): Promise<RpcAnswer[]> {
  const bodies = requests.map(({ method, params }, id) => ({ jsonrpc: "2.0", id, method, params }));
  const { origin, username, password } = new URL(url);
  const response = await request(username ? withoutUser(url) : url, {
    dispatcher: agent,
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...(username && { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}` }),
    },
    body: JSON.stringify(bodies.length === 1 ? bodies[0] : bodies),
    signal: AbortSignal.timeout(timeoutMs),
  });
  const text = await response.body.text();
  // Some nodes answer a call that reverts with status 400 or 500 and a JSON-RPC body: that is an answer.
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
  // Some nodes write `error: null` beside a result.
  return !!error && !isRevert(error);
}

function isAnswer(value: unknown): value is RpcAnswer & { id: unknown } {
  return typeof value === "object" && value !== null && "id" in value && ("result" in value || "error" in value);
}

function withoutUser(url: string): string {
  const parsed = new URL(url);
  parsed.username = "";
  parsed.password = "";
  return parsed.href;
}
