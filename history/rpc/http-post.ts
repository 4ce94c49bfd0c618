import {
  type Agent as HttpAgent,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as requestHttp,
} from "node:http";
import { type Agent as HttpsAgent, request as requestHttps } from "node:https";

/** One request, and how long and how large its answer may be. */
type PostOptions = {
  headers: Record<string, string>;
  body: string;
  agent: HttpAgent | HttpsAgent;
  signal: AbortSignal;
  /**
   * The length of a period in milliseconds: the longest silence. An answer must begin within two periods, end within
   * `LONGEST_ANSWER_PERIODS` more, and bring at least `LEAST_BYTES_PER_SECOND` in each.
   */
  timeoutMs: number;
  maxBytes: number;
};

/**
 * Slower answers are given up, so that nobody can hold us with a byte now and then. Sixteen answers at once on a line
 * of 1 Mbit/s each come twice as fast. The largest answer is in time at 320 kB/s; smaller parts are asked for where it
 * isn't.
 */
const LEAST_BYTES_PER_SECOND = 4_000;
const LONGEST_ANSWER_PERIODS = 10;

/** An answer of any status. The bytes are as they came: they may be compressed. */
type PostAnswer = { status: number; headers: IncomingHttpHeaders; bytes: Buffer };

/** Thrown where nothing came for too long, or too little. */
export class HttpTimeoutError extends Error {}

/** Thrown where the answer is larger than `maxBytes`. */
export class HttpSizeError extends Error {}

/**
 * Sends a request and returns the answer's bytes. Uses Node's own client, because undici would take 28 MB more in the
 * reader thread.
 *
 * @throws HttpTimeoutError, HttpSizeError, or the system's error
 */
export async function post(url: URL, options: PostOptions): Promise<PostAnswer> {
  try {
    return await postOnce(url, options);
  } catch (error) {
    // The server had closed the kept connection. That says nothing about the next one, so it is tried once more.
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
    const fail = (error: Error) => {
      reject(error);
      request.destroy();
    };
    let timer: NodeJS.Timeout | undefined;
    request.setTimeout(timeoutMs, () => fail(new HttpTimeoutError(`No answer for ${timeoutMs / 1000} s.`)));
    request.once("socket", () => {
      const begins = `No answer began within ${(timeoutMs * 2) / 1000} s.`;
      timer = setTimeout(() => fail(new HttpTimeoutError(begins)), timeoutMs * 2);
    });
    request.once("close", () => clearTimeout(timer));
    request.once("error", (error) => reject(Object.assign(error, { isReused: request.reusedSocket })));
    request.once("response", (response) => {
      clearTimeout(timer);
      const pace = createPace(timeoutMs);
      timer = setInterval(() => {
        const problem = pace.problem();
        if (problem !== undefined) fail(new HttpTimeoutError(problem));
      }, timeoutMs);
      readAll(response, { maxBytes, onBytes: pace.add })
        .then((bytes) => resolve({ status: response.statusCode ?? 0, headers: response.headers, bytes }), fail)
        .finally(() => clearTimeout(timer));
    });
    request.end(body);
  });
}

/** Watches how fast an answer comes. At the end of each period `problem` tells what is wrong with it, if anything. */
function createPace(periodMs: number): { add: (bytes: number) => void; problem: () => string | undefined } {
  const seconds = periodMs / 1000;
  let [bytes, periods] = [0, 0];
  return {
    add: (count) => void (bytes += count),
    problem: () => {
      if (bytes < LEAST_BYTES_PER_SECOND * seconds) return `Only ${bytes} bytes came in ${seconds} s.`;
      bytes = 0;
      return ++periods < LONGEST_ANSWER_PERIODS
        ? undefined
        : `The answer took more than ${LONGEST_ANSWER_PERIODS * seconds} s.`;
    },
  };
}

/** Reads an answer, into a buffer of the right size where the length is known: answers have megabytes. */
async function readAll(
  response: IncomingMessage,
  { maxBytes, onBytes }: { maxBytes: number; onBytes: (count: number) => void },
): Promise<Buffer> {
  const expected = Number(response.headers["content-length"] ?? 0);
  if (expected > maxBytes) throw new HttpSizeError(`The answer has ${expected} bytes.`);
  const whole = Buffer.allocUnsafeSlow(expected);
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    length += chunk.length;
    onBytes(chunk.length);
    if (length > maxBytes) throw new HttpSizeError(`The answer has more than ${maxBytes} bytes.`);
    if (length <= expected) chunk.copy(whole, length - chunk.length);
    else chunks.push(chunk);
  }
  return chunks.length === 0 ? whole.subarray(0, length) : Buffer.concat([whole, ...chunks]);
}
