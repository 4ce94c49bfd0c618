import {
  type Agent as HttpAgent,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as requestHttp,
} from "node:http";
import { type Agent as HttpsAgent, request as requestHttps } from "node:https";

/** Node's own client: the thread that fetches has no need for one that takes 28 MB more. */
export type PostOptions = {
  headers: Record<string, string>;
  body: string;
  agent: HttpAgent | HttpsAgent;
  signal: AbortSignal;
  /** For as long nothing may come. */
  timeoutMs: number;
  maxBytes: number;
};

export type PostAnswer = { status: number; headers: IncomingHttpHeaders; bytes: Buffer };

/** Nothing came for too long. */
export class HttpTimeoutError extends Error {}

/** The answer is larger than what was asked for can be. */
export class HttpSizeError extends Error {}

/** Sends a request and reads the answer as it is. @throws HttpTimeoutError, HttpSizeError, or what the system says */
export async function post(url: URL, options: PostOptions): Promise<PostAnswer> {
  try {
    return await postOnce(url, options);
  } catch (error) {
    // The server had closed the connection that was kept: that says nothing of the next one.
    const { code, isReused } = error as { code?: string; isReused?: boolean };
    if (code !== "ECONNRESET" || !isReused) throw error;
    return postOnce(url, options);
  }
}

function postOnce(url: URL, { headers, body, agent, signal, timeoutMs, maxBytes }: PostOptions): Promise<PostAnswer> {
  return new Promise((resolve, reject) => {
    const send = url.protocol === "https:" ? requestHttps : requestHttp;
    const request = send(url, {
      method: "POST",
      agent,
      signal,
      headers: { ...headers, "content-length": Buffer.byteLength(body) },
    });
    request.setTimeout(timeoutMs, () => request.destroy(new HttpTimeoutError(`No answer for ${timeoutMs / 1000} s.`)));
    request.once("error", (error) => reject(Object.assign(error, { isReused: request.reusedSocket })));
    request.once("response", (response) => {
      readAll(response, maxBytes).then(
        (bytes) => resolve({ status: response.statusCode ?? 0, headers: response.headers, bytes }),
        (error: Error) => {
          request.destroy();
          reject(error);
        },
      );
    });
    request.end(body);
  });
}

/** Into one piece of memory from the start where the length is known: answers are megabytes. */
async function readAll(response: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const expected = Number(response.headers["content-length"] ?? 0);
  if (expected > maxBytes) throw new HttpSizeError(`The answer has ${expected} bytes.`);
  const whole = Buffer.allocUnsafeSlow(expected);
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > maxBytes) throw new HttpSizeError(`The answer has more than ${maxBytes} bytes.`);
    if (length <= expected) chunk.copy(whole, length - chunk.length);
    else chunks.push(chunk);
  }
  return chunks.length === 0 ? whole.subarray(0, length) : Buffer.concat([whole, ...chunks]);
}
