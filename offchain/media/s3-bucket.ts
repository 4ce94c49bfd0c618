import { openAsBlob } from "node:fs";
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { AwsClient } from "aws4fetch";
import { Agent, Dispatcher1Wrapper, type Dispatcher } from "undici";
import type { Config } from "../../config.ts";
import { networkFailure, RESET } from "../fetch/failure.ts";
import type { Bucket } from "./file-bucket.ts";
import { mimeTypeOfExtension } from "./media-type.ts";

/**
 * How long to wait for the store's answer, and for it to take a file; its content may take longer to arrive. A store
 * that hasn't answered by then is out of order. Sending a film of 50 MB to it takes a minute.
 */
const ANSWER_WITHIN_MS = 10_000;
const TAKE_WITHIN_MS = 120_000;
/**
 * A store, or what stands before it, may close a kept connection just as it is used. It is asked once more, a moment
 * later: others that it closes at the same time are known by then to be closed.
 */
const RESET_PAUSE_MS = 50;

/**
 * `fetch` keeps a copy of a body, in case a redirect wants it again, unless redirects are errors: fourteen films at once
 * took 700 MB. Of small files it may, because what a store says with a redirect names what to set right. Source: Fetch
 * Standard, HTTP-network-or-cache fetch.
 */
const MAX_COPIED_BYTES = 65_536;

/** The variable to set right, by the error code of the store. Other codes are of the moment, or of a wrong clock. */
const VARIABLES: Record<string, string> = {
  NoSuchBucket: "S3_BUCKET",
  InvalidBucketName: "S3_BUCKET",
  InvalidAccessKeyId: "S3_ACCESS_KEY_ID",
  SignatureDoesNotMatch: "S3_SECRET_ACCESS_KEY",
  AccessDenied: "what S3_ACCESS_KEY_ID may do in S3_BUCKET",
  AuthorizationHeaderMalformed: "S3_REGION",
  PermanentRedirect: "S3_ENDPOINT and S3_REGION",
};

/**
 * Answers to HEAD that don't say what is wrong, as they have no body. AWS answers 403 for a missing key to who has no
 * right to list the bucket, and 400 or 301 to everything where the region is wrong. GET and PUT tell.
 */
const UNTOLD = new Set([301, 400, 403]);

/**
 * Asks for bytes as they are stored: what stands before a store, as Cloudflare before R2, else compresses drawings and
 * pages, and HEAD has another length, or none. Not signed, because some pass this header on changed.
 */
class Client extends AwsClient {
  override async sign(...[input, init]: Parameters<AwsClient["sign"]>): Promise<Request> {
    const request = await super.sign(input, { ...init, dispatcher } as RequestInit);
    request.headers.set("accept-encoding", "identity");
    return request;
  }
}

/** Connections to stores. In the form that the `fetch` of Node takes. */
const dispatcher = new Dispatcher1Wrapper(
  new Agent().compose((dispatch) => (options, handler) => dispatch(options, releaseLast(handler))),
);

/**
 * Doesn't hold the connection back for the last bytes of an answer. A store closes one on which it has nothing more to
 * send, while a slow reader has yet to get what came: that would count as an answer which was broken off.
 */
function releaseLast(handler: Dispatcher.DispatchHandler): Dispatcher.DispatchHandler {
  let left = Number.NaN;
  return {
    onRequestStart: (...told) => handler.onRequestStart?.(...told),
    onResponseStart: (controller, status, headers, message) => {
      left = Number(headers["content-length"]);
      handler.onResponseStart?.(controller, status, headers, message);
    },
    onResponseData: (controller, chunk) => {
      left -= chunk.length;
      const released = left === 0 ? Object.create(controller, { pause: { value: () => {} } }) : controller;
      handler.onResponseData?.(released as Dispatcher.DispatchController, chunk);
    },
    onResponseEnd: (...told) => handler.onResponseEnd?.(...told),
    onResponseError: (...told) => handler.onResponseError?.(...told),
  };
}

/** Any S3-compatible store, addressed by path, because all of them support that. */
export function createS3Bucket({ endpoint, bucket, accessKeyId, secretAccessKey, region }: Config["s3"]): Bucket {
  if (!endpoint || !bucket || !accessKeyId || !secretAccessKey) throw new Error("The S3 store is not configured.");
  const { host } = new URL(endpoint);
  const client = new Client({ accessKeyId, secretAccessKey, region, service: "s3", retries: 3 });
  const urlOf = (key: string) => `${endpoint.replace(/\/+$/, "")}/${bucket}/${key.slice(0, 2)}/${key}`;

  /**
   * Sends a request. Redirects aren't followed: they lead to another host name, for which the signature is wrong, or to
   * a login page.
   */
  async function ask(method: string, key: string, init: RequestInit = {}): Promise<Response> {
    const silence = new AbortController();
    const timer = setTimeout(
      () => silence.abort(new Error(`The S3 store does not answer ${method} ${key}.`)),
      method === "PUT" ? TAKE_WITHIN_MS : ANSWER_WITHIN_MS,
    );
    try {
      const request = { redirect: "manual", ...init, method, signal: silence.signal } as const;
      const attempt = () => client.fetch(urlOf(key), request);
      const response = await attempt().catch(async (error: unknown) => {
        if (networkFailure(error, { host }).code !== RESET) throw error;
        await sleep(RESET_PAUSE_MS);
        return attempt();
      });
      // The body of an error is short, and arrives within the same time.
      return response.ok ? response : new Response((await response.text()) || null, response);
    } catch (error) {
      if (silence.signal.aborted) throw error;
      const { message } = networkFailure(error, { host });
      throw new Error(`S3_ENDPOINT can't be reached (${message}).`, { cause: error });
    } finally {
      clearTimeout(timer);
    }
  }

  async function send(method: string, key: string, init: RequestInit = {}): Promise<Response> {
    const response = await ask(method, key, init);
    const isAbsent = response.status === 404 || (method === "HEAD" && UNTOLD.has(response.status));
    if (response.ok || isAbsent) return response;
    throw refused(await describe(response), method, key);
  }

  /**
   * Throws if more than this content is missing or refused, the bucket for example. It asks by GET, because an answer to
   * HEAD has no body that would tell.
   */
  async function requireAccess(key: string): Promise<void> {
    const response = await ask("GET", key, { headers: { range: "bytes=0-0" } });
    const said = await describe(response);
    if (/^404( NoSuchKey)?$| AccessDenied$/.test(said)) return;
    throw refused(said, "GET", key);
  }

  return {
    // A store that refuses everything is noticed at PUT.
    async has(key, { size }) {
      const response = await send("HEAD", key);
      // Another size may be some page with status 200.
      return response.ok && response.headers.get("content-length") === String(size);
    },
    async put(key, file) {
      const response = await send("PUT", key, {
        // Opened for each try, because a stream can't be sent twice.
        body: await openAsBlob(file.path),
        redirect: file.size > MAX_COPIED_BYTES ? "error" : "manual",
        headers: {
          "content-length": String(file.size),
          "content-type": mimeTypeOfExtension(key.split(".").at(-1) ?? ""),
          // The body isn't in memory, so it isn't hashed for the signature. The key is its hash already.
          "x-amz-content-sha256": "UNSIGNED-PAYLOAD",
        },
      });
      if (!response.ok) throw refused(await describe(response), "PUT", key);
      await response.body?.cancel();
      // A web page may answer PUT with 200.
      if (!response.headers.has("etag")) throw new Error(`The S3 store answered PUT ${key} without an ETag.`);
    },
    async size(key) {
      const response = await send("HEAD", key);
      if (!response.ok) await requireAccess(key);
      return response.ok ? Number(response.headers.get("content-length")) : undefined;
    },
    async read(key, { start, end }) {
      const response = await send("GET", key, end < start ? {} : { headers: { range: `bytes=${start}-${end}` } });
      if (!response.ok || !response.body) throw new Error(`The S3 store has lost ${key}.`);
      const [length, expected] = [response.headers.get("content-length"), end - start + 1];
      if (length !== String(expected)) {
        // A store that ignores ranges, for example. A client would take the surplus for the next answer.
        await response.body.cancel();
        throw new Error(`The S3 store sends ${length ?? "any number of"} bytes of ${key}. Expected ${expected}.`);
      }
      return Readable.fromWeb(response.body);
    },
  };
}

function refused(said: string, method: string, key: string): Error {
  const variable = VARIABLES[said.split(" ")[1] ?? ""];
  return new Error(`The S3 store answered ${said} to ${method} ${key}.${variable ? ` Look at ${variable}.` : ""}`);
}

/** The status, and the error code in the answer: a wrong clock, a missing bucket. */
async function describe(response: Response): Promise<string> {
  const [, code] = /<Code>(\w+)<\/Code>/.exec(await response.text()) ?? [];
  return code === undefined ? String(response.status) : `${response.status} ${code}`;
}
