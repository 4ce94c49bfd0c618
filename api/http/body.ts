import type { Context } from "hono";
import { HttpError, invalid } from "./errors.ts";
import type { Env } from "./request-state.ts";

/** The largest body of a request, in bytes. */
export const MAX_REQUEST_BYTES = 1_048_576;

/**
 * The largest number of chunks of a body. Each takes 300 bytes of memory and 3 µs, however small it is: a megabyte in
 * single bytes took 300 MB and three seconds.
 */
export const MAX_REQUEST_CHUNKS = 16_384;

/**
 * Its connection isn't closed: Node would cut it while the client still sends, and most clients don't read the answer
 * then. What is left of the body is thrown away for half a second.
 */
const tooLarge = () => new HttpError(413, `The body is too large. Expected at most ${MAX_REQUEST_BYTES} bytes.`);
const tooManyChunks = () =>
  new HttpError(413, `The body comes in too many chunks. Expected at most ${MAX_REQUEST_CHUNKS}.`, {
    connection: "close",
  });

/**
 * The JSON body of a request. `isOptional`: an empty body is accepted too, whatever type it is said to have: many clients
 * name a form's by themselves.
 *
 * @throws HttpError 413 above the limits, 415 where its type isn't JSON, 400 where it can't be parsed
 */
export async function readJsonBody(c: Context<Env>, { isOptional }: { isOptional: boolean }): Promise<unknown> {
  if (Number(c.req.header("content-length") ?? 0) > MAX_REQUEST_BYTES) throw tooLarge();
  const bytes = await readBytes(c);
  if (bytes.length === 0 && isOptional) return undefined;

  requireJson(c.req.header("content-type") ?? "");
  const encoding = c.req.header("content-encoding") ?? "identity";
  if (encoding.toLowerCase() !== "identity")
    throw new HttpError(415, "The body is compressed. Expected JSON without Content-Encoding.");
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)) as unknown;
  } catch (error) {
    const reason = bytes.length === 0 ? "it is empty" : error instanceof SyntaxError ? error.message : "not UTF-8";
    throw invalid(`The body is not JSON: ${reason.slice(0, 200)}`);
  }
}

function requireJson(contentType: string): void {
  const type = contentType.split(";")[0]?.trim().toLowerCase() ?? "";
  if (type === "application/json" || /^application\/[a-z0-9.+-]+\+json$/.test(type)) return;
  throw new HttpError(415, "The body's type is not JSON. Expected Content-Type: application/json.");
}

async function readBytes(c: Context<Env>): Promise<Buffer> {
  const { body } = c.req.raw;
  if (!body) return Buffer.alloc(0);
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of body as ReadableStream<Uint8Array>) {
      size += chunk.length;
      if (size > MAX_REQUEST_BYTES) throw tooLarge();
      chunks.push(chunk);
      if (chunks.length > MAX_REQUEST_CHUNKS) throw tooManyChunks();
    }
  } catch (error) {
    // The client is gone, so this is no fault of ours.
    throw error instanceof HttpError ? error : invalid("The body ended early.");
  }
  return Buffer.concat(chunks);
}
