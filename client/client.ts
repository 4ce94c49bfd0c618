import createFetchClient, { type Client, type FetchOptions } from "openapi-fetch";
import type { ErrorBody, paths } from "./schema.ts";

/**
 * A client for all APIs of one service: `get` and `post` with the types of every endpoint, and `iterate` for lists.
 *
 * For the test network give a `url` that ends in `/testnet`.
 */
export type NftIndexClient = {
  /** Requests as openapi-fetch makes them: `{ data, error, response }`, nothing thrown for an error of the API. */
  get: Client<paths>["GET"];
  post: Client<paths>["POST"];
  /** Every item of a list, asking for the next page when it is needed. @throws ApiError */
  iterate: <P extends ListPath>(path: P, options: FetchOptions<paths[P]["get"]>) => AsyncGenerator<ItemOf<P>>;
};

/** What a list answers. */
type List<Item> = { cursor: string | null; result: Item[] };
type AnswerOf<P extends keyof paths> = paths[P] extends {
  get: { responses: { 200: { content: { "application/json": infer Answer } } } };
}
  ? Answer
  : never;

/** Paths of lists that go on by a cursor. */
export type ListPath = {
  [P in keyof paths]: paths[P] extends { get: { parameters: { query?: { cursor?: string } } } } ? P : never;
}[keyof paths] &
  { [P in keyof paths]: AnswerOf<P> extends List<unknown> ? P : never }[keyof paths];
/** An item of the list at a path. */
export type ItemOf<P extends ListPath> = AnswerOf<P> extends List<infer Item> ? Item : never;

/** An error that the API answered, or a proxy in front of it. */
export class ApiError extends Error {
  readonly status: number;
  readonly type: ErrorBody["type"];

  constructor(status: number, { type, message }: ErrorBody) {
    super(message);
    this.status = status;
    this.type = type;
  }
}

/** "Not now" is asked again so often, after as long as the answer says. */
const RETRIES = 3;
const MAX_WAIT_SECONDS = 30;

/**
 * A client for the service at `url`; all its requests carry `key`, where there is one. Reads that are told 429 or 503 are
 * made again when the answer says, a few times. Whatever else fails is the caller's to try again.
 */
export function createClient({ url, key }: { url: string; key?: string }): NftIndexClient {
  const client = createFetchClient<paths>({
    baseUrl: url.replace(/\/$/, ""),
    headers: key === undefined ? {} : { "x-api-key": key },
    bodySerializer: writeBody,
    fetch: fetchPatiently,
  });
  return {
    get: client.GET,
    post: client.POST,
    iterate: async function* (path, options) {
      // One page is asked for like any other; what varies by path is in the types that callers see.
      const get = client.GET as unknown as (path: string, options: unknown) => Promise<Page>;
      const params: { query?: object } | undefined = options.params;
      let cursor: string | null = null;
      do {
        const query: object = { ...params?.query, ...(cursor !== null && { cursor }) };
        const { data, error, response } = await get(path, { ...options, params: { ...params, query } });
        if (!data) throw toApiError(response, error);
        yield* data.result as never[];
        ({ cursor } = data);
      } while (cursor !== null);
    },
  };
}

/** As JSON, with bigints as decimal texts: Seaport's own client has them in orders. */
const writeBody = (body: unknown) =>
  JSON.stringify(body, (_, value: unknown) => (typeof value === "bigint" ? value.toString() : value));

type Page = { data?: List<unknown>; error?: unknown; response: Response };

/** What the API says of it. A proxy in front of it answers with a page of its own, or with nothing: then the status. */
function toApiError({ status, statusText }: Response, body: unknown): ApiError {
  const said = Object(body) as Partial<ErrorBody>;
  return new ApiError(status, {
    type: said.type ?? (status < 500 ? "invalid_request" : "api_error"),
    message: said.message ?? `The answer is ${[status, statusText].join(" ").trim()}, and not of the API.`,
  });
}

/** Reads that met a limit, or a service that isn't ready, are made again when it says so. */
async function fetchPatiently(request: Request): Promise<Response> {
  for (let attempt = 0; ; attempt += 1) {
    const response = await fetch(request.clone());
    const seconds = Number(response.headers.get("retry-after") ?? Number.NaN);
    const isWorthIt = request.method === "GET" && [429, 503].includes(response.status) && seconds <= MAX_WAIT_SECONDS;
    if (!isWorthIt || attempt === RETRIES) return response;
    await response.body?.cancel();
    await pause(seconds * 1000, request.signal);
  }
}

/** @throws what the signal was aborted with */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
  });
}
