import { openAsBlob } from "node:fs";
import { Readable } from "node:stream";
import { AwsClient } from "aws4fetch";
import type { Config } from "../../config.ts";
import type { Bucket } from "./file-bucket.ts";
import { mimeTypeOfExtension } from "./media-type.ts";

/**
 * A store that hasn't answered by then is out of order, whatever it does with the connection; what it has begun to send may
 * take longer. A film of 50 MB takes a minute on the way to it.
 */
const ANSWER_WITHIN_MS = 10_000;
const TAKE_WITHIN_MS = 120_000;

/** Any S3-compatible store, addressed by path, which all of them understand. */
export function createS3Bucket({ endpoint, bucket, accessKeyId, secretAccessKey, region }: Config["s3"]): Bucket {
  if (!endpoint || !bucket || !accessKeyId || !secretAccessKey) throw new Error("The S3 store is not configured.");
  const client = new AwsClient({ accessKeyId, secretAccessKey, region, service: "s3", retries: 3 });
  const urlOf = (key: string) => `${endpoint.replace(/\/+$/, "")}/${bucket}/${key.slice(0, 2)}/${key}`;

  async function ask(method: string, key: string, init: RequestInit = {}): Promise<Response> {
    const silence = new AbortController();
    const timer = setTimeout(
      () => silence.abort(new Error(`The S3 store does not answer ${method} ${key}.`)),
      method === "PUT" ? TAKE_WITHIN_MS : ANSWER_WITHIN_MS,
    );
    try {
      return await client.fetch(urlOf(key), { ...init, method, signal: silence.signal });
    } finally {
      clearTimeout(timer);
    }
  }

  async function send(method: string, key: string, init: RequestInit = {}): Promise<Response> {
    const response = await ask(method, key, init);
    // To who may not list the bucket AWS says 403 of what isn't there.
    const isAbsent = response.status === 404 || (method === "HEAD" && response.status === 403);
    if (response.ok || isAbsent) return response;
    await response.body?.cancel();
    throw new Error(`The S3 store answered ${response.status} to ${method} ${key}.`);
  }

  /** An answer to HEAD has no body, so that only GET tells what is refused: the content, or who asks for it. */
  async function requireAccess(key: string): Promise<void> {
    const response = await ask("GET", key, { headers: { range: "bytes=0-0" } });
    const [, code] = /<Code>(\w+)<\/Code>/.exec(await response.text()) ?? [];
    if (response.status === 404 || code === "AccessDenied") return;
    throw new Error(`The S3 store refuses HEAD ${key}: ${code ?? response.status}.`);
  }

  return {
    // Whether all is refused PUT tells.
    has: async (key) => (await send("HEAD", key)).ok,
    async put(key, file) {
      const response = await send("PUT", key, {
        // Read anew for each try: a stream that was sent once can't be sent again.
        body: await openAsBlob(file.path),
        headers: {
          "content-length": String(file.size),
          "content-type": mimeTypeOfExtension(key.split(".").at(-1) ?? ""),
          // The body isn't in memory, and the key is its hash already.
          "x-amz-content-sha256": "UNSIGNED-PAYLOAD",
        },
      });
      await response.body?.cancel();
      if (!response.ok) throw new Error(`The S3 store answered ${response.status} to PUT ${key}.`);
    },
    async size(key) {
      const response = await send("HEAD", key);
      if (response.status === 403) await requireAccess(key);
      return response.ok ? Number(response.headers.get("content-length")) : undefined;
    },
    async read(key, { start, end }) {
      const response = await send("GET", key, end < start ? {} : { headers: { range: `bytes=${start}-${end}` } });
      if (!response.ok || !response.body) throw new Error(`The S3 store has lost ${key}.`);
      const [length, expected] = [response.headers.get("content-length"), end - start + 1];
      if (length !== String(expected)) {
        // Where it ignores ranges, say: what is too much a client would take for the next answer.
        await response.body.cancel();
        throw new Error(`The S3 store sends ${length ?? "any number of"} bytes of ${key}. Expected ${expected}.`);
      }
      return Readable.fromWeb(response.body);
    },
  };
}
