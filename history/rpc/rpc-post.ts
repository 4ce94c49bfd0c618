import type { Agent as HttpAgent } from "node:http";
import type { Agent as HttpsAgent } from "node:https";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { addressOf } from "../../net/node-address.ts";
import { readRetryAfter } from "../../net/retry-after.ts";
import { HttpSizeError, HttpTimeoutError, post } from "./http-post.ts";
import { NodeError, TooLargeError } from "./rpc-error.ts";

/** How long to wait for an answer. Providers stop a query after about ten seconds. */
const ANSWER_TIMEOUT_MS = 30_000;
/** The largest answer that is read: several times what is asked for at once. */
const MAX_ANSWER_BYTES = 96 * 2 ** 20;

/** How much of an answer is searched for an error: errors are shorter, and other answers show what they are by then. */
const LOOKED_AT_BYTES = 2_000;

/** The connections of all nodes of a pool. */
export type Agents = { http: HttpAgent; https: HttpsAgent };

/** A call of JSON-RPC. Its id is its place among the calls of the request. */
export type RpcCall = { method: string; params: unknown[] };

/** The call that costs a node least. */
export const CHEAPEST_CALL: RpcCall = { method: "eth_chainId", params: [] };

/** A number as a JSON-RPC quantity. */
export const quantityOf = (value: number) => `0x${value.toString(16)}` as const;

/** Sends calls as one request. Returns the answer's bytes. @throws NodeError, TooLargeError */
export async function postCalls(
  agents: Agents,
  {
    url: withPassword,
    calls,
    signal,
    timeoutMs = ANSWER_TIMEOUT_MS,
  }: { url: string; calls: RpcCall[]; signal: AbortSignal; timeoutMs?: number },
): Promise<Buffer> {
  const bodies = calls.map(({ method, params }, id) => ({ jsonrpc: "2.0", id, method, params }));
  const { url: address, authorization } = addressOf(withPassword);
  const url = new URL(address);
  const { status, headers, bytes } = await post(url, {
    agent: url.protocol === "https:" ? agents.https : agents.http,
    headers: {
      "content-type": "application/json",
      accept: "application/json",
      "accept-encoding": "gzip",
      ...(authorization !== undefined && { authorization }),
    },
    body: JSON.stringify(bodies.length === 1 ? bodies[0] : bodies),
    signal,
    timeoutMs,
    maxBytes: MAX_ANSWER_BYTES,
  }).catch(throwNodeError);
  const text = headers["content-encoding"] === "gzip" ? await unpack(bytes) : bytes;
  const start = text.subarray(0, LOOKED_AT_BYTES).toString("latin1");
  // JSON-RPC errors often come with another status than 200.
  const isRpc = /^\s*[[{]/.test(start) && (status < 400 || /"(error|result)"/.test(start));
  if (isRpc && ![429, 503, 408, 504].includes(status)) return text;
  const message = [`It answers ${status}.`, wordsOf(start)].join(" ").trim();
  if (status === 413) throw Object.assign(new TooLargeError(message), { isOfRequest: true });
  if (status === 408 || status === 504) throw Object.assign(new NodeError(message), { isTimeout: true });
  const restSeconds = status === 429 || status === 503 ? readRetryAfter(headers["retry-after"]) : undefined;
  throw Object.assign(new NodeError(message), {
    isRateLimit: status === 429,
    isAnswer: true,
    isRefusal: status < 500 && status !== 429,
    restMs: restSeconds ? restSeconds * 1000 : undefined,
  });
}

/** The text of an error page or message without URLs, because they may have a key in them. */
function wordsOf(text: string): string {
  return text
    .replace(/<(style|script)\b.*?<\/\1>/gs, " ")
    .replace(/<[^>]*>?/g, " ")
    .replace(/https?:\/\/\S+/g, " ")
    .replace(/\s+/g, " ")
    .trim()
    .slice(0, 150);
}

async function unpack(bytes: Buffer): Promise<Buffer> {
  try {
    return await promisify(gunzip)(bytes, { maxOutputLength: MAX_ANSWER_BYTES });
  } catch (error) {
    const isTooLarge = (error as { code?: string }).code === "ERR_BUFFER_TOO_LARGE";
    const message = (error as Error).message;
    throw isTooLarge
      ? new TooLargeError(message)
      : Object.assign(new NodeError(message, { cause: error }), { isAnswer: true });
  }
}

function throwNodeError(error: Error): never {
  if (error instanceof HttpSizeError) throw new TooLargeError(error.message, { cause: error });
  throw Object.assign(new NodeError(error.message, { cause: error }), {
    isTimeout: error instanceof HttpTimeoutError,
    isAnswer: (error as { code?: string }).code === "ECONNRESET",
  });
}
