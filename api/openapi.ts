import { OpenAPIHono, z } from "@hono/zod-openapi";
import { INDEXER_ROUTES } from "./indexer-routes.ts";
import { createKeyRoute } from "./key-api.ts";
import { MARKETPLACE_ROUTES } from "./marketplace-routes.ts";
import { ORDERBOOK_ROUTES } from "./orderbook-routes.ts";
import type { Route } from "./route.ts";
import { SERVICE_ROUTES } from "./service-api.ts";

type AnyRoute = Omit<Route, "params" | "query" | "body"> & {
  params?: z.ZodObject;
  query?: z.ZodObject;
  body?: z.ZodType | "empty";
};

/** Everything that is documented, in the order in which it is read. */
const ROUTES: readonly AnyRoute[] = [
  ...INDEXER_ROUTES,
  ...ORDERBOOK_ROUTES,
  ...MARKETPLACE_ROUTES,
  createKeyRoute,
  ...SERVICE_ROUTES,
];

export const ErrorBody = z
  .strictObject({
    type: z
      .enum(["invalid_request", "api_error"])
      .openapi({ description: "Whose fault it is: the request's, or ours." }),
    message: z.string().openapi({ description: "What is wrong, and what is accepted." }),
  })
  .openapi("Error", {
    example: { type: "invalid_request", message: 'limit "0" is out of range. Expected a whole number from 1 to 250.' },
  });

const ERRORS: Record<number, string> = {
  400: "A parameter, the body or the cursor is malformed.",
  401: "The key is missing, unknown or revoked.",
  403: "Registration of keys is closed.",
  404: "The contract, token, network or path is unknown.",
  405: "The method is not allowed here; `Allow` names those that are.",
  413: "The body is larger than 1,048,576 bytes.",
  414: "The URL is longer than 32,768 characters.",
  415: "The body is not JSON.",
  429: "The rate limit is reached, or a token's metadata was asked for a short while ago; `Retry-After` says when to come again.",
  500: "A fault of ours; `x-request-id` helps to find it.",
  503: "The database is unreachable, or nothing is indexed yet; `Retry-After` says when to come again.",
};

const DESCRIPTION = `
NFT contracts, tokens with normalized metadata, token events and owners of two EVM networks.

**Networks.** The main network is at the root, the test network behind \`/testnet\`, with the same paths. Where the
operator has given them host names, both are at the root of theirs.

**Keys.** Each request of the Indexer API carries a key in the header \`x-api-key\`. \`POST /keys\` registers one.

**Lists** have \`cursor\` and \`result\`. Ask again with \`?cursor=\` until \`cursor\` is null. A cursor is opaque, holds for
ever and only for the list, path and filters that it came from; \`limit\` may change on the way. A page ends early before
its body exceeds 1,048,576 bytes, but has at least one item. While rows are added, no row is shown twice and none that
was there at the start is left out.

**Values.** Addresses are taken in any case and given in lower case. Token ids are taken in decimal or hex, padded or
not, up to 2^256-1. Timestamps are Unix seconds. Unknown query parameters and fields of a body are ignored.

**Rate limits.** Every answer carries \`RateLimit\` and \`RateLimit-Policy\` (IETF draft), and \`RateLimit-Limit\`,
\`-Remaining\` and \`-Reset\` of its earlier version. By default a key, or without one a client address, has 50 requests a
second and up to 100 at once; what was used beyond the 50 comes back after ten seconds.

**Caching.** Lists and single objects carry an \`ETag\`; \`If-None-Match\` answers 304. Bodies from 1400 bytes on are
compressed with br or gzip where the client accepts that.

**Extensions** beyond the specification are marked as such.
`.trim();

const RATE_HEADERS = {
  RateLimit: { description: "Requests left (`r`) and seconds until there are more (`t`).", schema: { type: "string" } },
  "RateLimit-Policy": { description: "Requests (`q`) in a window of seconds (`w`).", schema: { type: "string" } },
  "X-Request-Id": { description: "Names this request in our log.", schema: { type: "string" } },
} as const;

/** The OpenAPI 3.1 document, made of the schemas that check the requests. */
export function createOpenApiDocument() {
  const app = new OpenAPIHono();
  app.openAPIRegistry.registerComponent("securitySchemes", "key", {
    type: "apiKey",
    in: "header",
    name: "x-api-key",
    description: "Registered by POST /keys or given by the operator.",
  });

  for (const route of ROUTES) {
    const isIndexer = route.tag === "Indexer";
    const hasInput = route.params !== undefined || route.query !== undefined || route.body !== undefined;
    const statuses = [
      ...new Set([...(hasInput ? [400] : []), ...(route.needsKey ? [401, 404, 503] : []), ...route.errors, 429, 500]),
    ];
    const json = (schema: z.ZodType, example?: unknown) => ({
      "application/json": { schema, ...(example === undefined ? {} : { example }) },
    });
    app.openAPIRegistry.registerPath({
      method: route.method,
      path: route.path,
      operationId: operationId(route),
      tags: [route.tag],
      summary: route.summary,
      ...(route.description === undefined ? {} : { description: route.description }),
      ...(route.needsKey ? { security: [{ key: [] }] } : {}),
      ...(isIndexer
        ? {
            servers: [
              { url: "/", description: "Main network" },
              { url: "/testnet", description: "Test network" },
            ],
          }
        : {}),
      request: {
        ...(route.params ? { params: route.params } : {}),
        ...(route.query ? { query: route.query } : {}),
        ...(route.body === undefined
          ? {}
          : {
              body: {
                required: route.body !== "empty",
                content: json(route.body === "empty" ? z.looseObject({}) : route.body),
              },
            }),
      },
      responses: {
        [route.status ?? 200]: {
          description: route.summary,
          headers: RATE_HEADERS,
          content: json(route.answer, route.example),
        },
        ...Object.fromEntries(
          statuses
            .toSorted((a, b) => a - b)
            .map((status) => [
              status,
              { description: ERRORS[status] ?? "", headers: RATE_HEADERS, content: json(ErrorBody) },
            ]),
        ),
      },
    });
  }
  return app.getOpenAPI31Document({
    openapi: "3.1.0",
    info: {
      title: "NFT index",
      version: "1.0.0",
      description: DESCRIPTION,
      license: { name: "MIT" },
    },
    servers: [{ url: "/" }],
    tags: [
      { name: "Indexer", description: "Contracts, tokens, events and owners." },
      {
        name: "Orderbook",
        description:
          "Listings and offers of the main network, as they stand now. Also at the root of a host name of its own.",
      },
      {
        name: "Marketplace",
        description: "Collections, paged by number. Also at the root of a host name of its own.",
      },
      { name: "Keys", description: "Registration." },
      { name: "Service", description: "For those who run it." },
    ],
  });
}

/** `getV1Tokens…` without the version, unique for each method and path. */
function operationId({ method, path }: { method: string; path: string }): string {
  const words = path
    .replace(/^\/v1/, "")
    .replaceAll(/[{}]/g, "")
    .split(/[/_-]/)
    .filter((word) => word !== "");
  return method + words.map((word) => (word[0] ?? "").toUpperCase() + word.slice(1)).join("");
}
