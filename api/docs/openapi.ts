import { OpenAPIHono, z } from "@hono/zod-openapi";
import { INDEXER_ROUTES } from "../token/indexer-routes.ts";
import { createKeyRoute } from "../key/key-api.ts";
import { MARKETPLACE_ROUTES } from "../marketplace/marketplace-routes.ts";
import { ORDERBOOK_ROUTES } from "../orderbook/orderbook-routes.ts";
import { MEDIA_ROUTE } from "../media-api.ts";
import { DESCRIPTION, ERRORS, HEADERS } from "./openapi-text.ts";
import type { Route } from "../http/route.ts";
import { SERVICE_ROUTES } from "../service-api.ts";

type AnyRoute = Omit<Route, "params" | "query" | "body" | "bodyExample"> & {
  params?: z.ZodObject;
  query?: z.ZodObject;
  body?: z.ZodType | "empty";
  bodyExample?: unknown;
};

/** Everything that is documented, in the order in which it is read. */
const ROUTES: readonly AnyRoute[] = [
  ...INDEXER_ROUTES,
  ...ORDERBOOK_ROUTES,
  ...MARKETPLACE_ROUTES,
  createKeyRoute,
  ...SERVICE_ROUTES,
];

const ErrorBody = z
  .strictObject({
    type: z
      .enum(["invalid_request", "api_error"])
      .openapi({ description: "Whose fault it is: `invalid_request` the request's (4xx), `api_error` ours (5xx)." }),
    message: z.string().openapi({ description: "What is wrong, and what is accepted, for people to read." }),
  })
  .openapi("ErrorBody", {
    description: "Why a request was not answered.",
    example: { type: "invalid_request", message: 'limit "0" is out of range. Expected a whole number from 1 to 250.' },
  });

type Header = keyof typeof HEADERS;
const EVERYWHERE: readonly Header[] = [
  "RateLimit",
  "RateLimit-Policy",
  "RateLimit-Limit",
  "RateLimit-Remaining",
  "RateLimit-Reset",
  "X-Request-Id",
];
/** Headers beside those that every answer has. */
const OF_STATUS: Record<number, readonly Header[]> = {
  416: ["Content-Range"],
  429: ["Retry-After"],
  503: ["Retry-After"],
};
/** Of requests whose answers have an `ETag`. */
const CONDITION = z.object({
  "If-None-Match": z.string().optional().openapi({
    description:
      "`ETag` of an earlier answer, or several, comma-separated: 304 without a body where the answer is still the same.",
    example: 'W/"1b2o3fk-5a"',
  }),
});
const headersOf = (...more: Header[]) =>
  Object.fromEntries([...EVERYWHERE, ...more].map((name) => [name, { $ref: `#/components/headers/${name}` }]));

/** What a 400 means where a route says nothing else. */
function malformed({ params, query, body }: AnyRoute): string {
  const cursor = query && "cursor" in query.shape ? ", or the cursor is not of this list" : "";
  if (body === undefined) return `A parameter is malformed${cursor}.`;
  return params || query ? `A parameter or the body is malformed${cursor}.` : "The body is malformed.";
}

/** An error of an operation. `meaning`: where it is not what it is everywhere. */
const errorOf = (status: number, meaning = ERRORS[status]) => {
  if (meaning === undefined) throw new Error(`Nobody says what status ${status} means.`);
  const headers = OF_STATUS[status] ?? [];
  const again = headers.includes("Retry-After") ? " `Retry-After` says in how many seconds to come again." : "";
  return {
    description: meaning + again,
    headers: headersOf(...headers),
    content: { "application/json": { schema: ErrorBody } },
  };
};

/** The OpenAPI 3.1 document, made of the schemas that check the requests. */
export function createOpenApiDocument() {
  const app = new OpenAPIHono();
  app.openAPIRegistry.registerComponent("securitySchemes", "key", {
    type: "apiKey",
    in: "header",
    name: "x-api-key",
    description:
      "Registered by `POST /keys` or given by the operator: `nft_` and 40 hex digits, or what the operator chose.",
  });
  for (const [name, header] of Object.entries(HEADERS)) app.openAPIRegistry.registerComponent("headers", name, header);

  for (const route of ROUTES) registerRoute(app, route);
  registerMedia(app);
  return app.getOpenAPI31Document({
    openapi: "3.1.0",
    info: {
      title: "NFT index",
      version: "1.0.0",
      description: DESCRIPTION,
      license: { name: "MIT", url: "https://opensource.org/license/mit" },
    },
    // Unless an operation says more: what says nothing may have been forgotten, which linters and gateways refuse.
    security: [],
    // Not on the operations: Postman and generated clients ask these of an operation whatever host they are given.
    servers: [
      { url: "/", description: "All APIs, the Indexer API for the main network" },
      { url: "/testnet", description: "The Indexer API for the test network, and no other" },
    ],
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
      { name: "Media", description: "Cached images, films and pages of tokens." },
      { name: "Service", description: "For those who run it. `/metrics` has Prometheus text." },
    ],
  });
}

/** Adds an endpoint, with all that it may answer. */
function registerRoute(app: OpenAPIHono, route: AnyRoute): void {
  const isIndexer = route.tag === "Indexer";
  const hasInput = route.params !== undefined || route.query !== undefined || route.body !== undefined;
  const statuses = [
    ...new Set([
      ...(hasInput ? [400] : []),
      414,
      ...(route.needsKey ? [401, 404, 503] : []),
      ...route.errors,
      // Those who watch are never told to come again later.
      ...(route.tag === "Service" ? [] : [429]),
      500,
    ]),
  ];
  const json = (schema: z.ZodType, example: unknown) => ({ "application/json": { schema, example } });
  const meanings: Route["meanings"] = { 400: malformed(route), ...route.meanings };
  const isKept = isIndexer && route.method === "get";
  app.openAPIRegistry.registerPath({
    method: route.method,
    path: route.path,
    operationId: route.operationId,
    tags: [route.tag],
    summary: route.summary,
    ...(route.description === undefined ? {} : { description: route.description }),
    ...(route.needsKey ? { security: [{ key: [] }] } : {}),
    request: {
      ...(route.params ? { params: route.params } : {}),
      ...(route.query ? { query: route.query } : {}),
      ...(isKept ? { headers: CONDITION } : {}),
      ...(route.body === undefined
        ? {}
        : {
            body: {
              required: route.body !== "empty",
              content: route.body === "empty" ? json(z.object({}), {}) : json(route.body, route.bodyExample),
            },
          }),
    },
    responses: {
      [route.status ?? 200]: {
        description: route.summary,
        headers: isKept ? headersOf("ETag") : headersOf(),
        content: json(route.answer, route.example),
      },
      ...(isKept
        ? { 304: { description: "It is still as `If-None-Match` names it.", headers: headersOf("ETag") } }
        : {}),
      ...Object.fromEntries(
        statuses.toSorted((a, b) => a - b).map((status) => [status, errorOf(status, meanings[status])]),
      ),
    },
  });
}

/**
 * Any type. Images are named although they are among them, and as binary: only by that do generated clients know that the
 * answer is bytes. Those of Python, PHP and Ruby want the format to see it; where types are openapi-typescript's, to which
 * it is a text, any other type keeps the answer unknown.
 */
const CONTENT = { "image/*": { schema: { type: "string" as const, format: "binary" } }, "*/*": {} };

/** The one endpoint whose answers aren't JSON. */
function registerMedia(app: OpenAPIHono): void {
  const headers = headersOf("ETag", "Accept-Ranges");
  app.openAPIRegistry.registerPath({
    ...MEDIA_ROUTE,
    request: { ...MEDIA_ROUTE.request, headers: MEDIA_ROUTE.request.headers.extend(CONDITION.shape) },
    tags: ["Media"],
    responses: {
      200: { description: "The content, in the type that it was recognized as.", headers, content: CONTENT },
      206: {
        description: "The range of it that `Range` asks for.",
        headers: headersOf("ETag", "Accept-Ranges", "Content-Range"),
        content: CONTENT,
      },
      304: { description: "Nothing else than `If-None-Match` names.", headers },
      404: errorOf(404, "Nothing is kept under this key."),
      416: errorOf(416),
      429: errorOf(429),
      500: errorOf(500),
      503: errorOf(503, "The media store does not answer as it should."),
    },
  });
}
