import { OpenAPIHono, z } from "@hono/zod-openapi";
import { INDEXER_ROUTES } from "../token/indexer-routes.ts";
import { createKeyRoute } from "../key/key-api.ts";
import { MARKETPLACE_ROUTES } from "../marketplace/marketplace-routes.ts";
import { ORDERBOOK_ROUTES } from "../orderbook/orderbook-routes.ts";
import { MEDIA_ROUTE } from "../media-api.ts";
import { DESCRIPTION, ERRORS } from "./openapi-text.ts";
import type { Route } from "../http/route.ts";
import { SERVICE_ROUTES } from "../service-api.ts";

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

const RATE_HEADERS = {
  RateLimit: { description: "Requests left (`r`) and seconds until there are more (`t`).", schema: { type: "string" } },
  "RateLimit-Policy": {
    description: "Requests (`q`) in a window of seconds (`w`), and how many at once (`burst`).",
    schema: { type: "string" },
  },
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
      ...new Set([
        ...(hasInput ? [400, 414] : []),
        ...(route.needsKey ? [401, 404, 503] : []),
        ...route.errors,
        429,
        500,
      ]),
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
        ...(isIndexer && route.method === "get"
          ? { 304: { description: "It is still as `If-None-Match` names it.", headers: RATE_HEADERS } }
          : {}),
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
  registerMedia(app);
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
      { name: "Media", description: "Cached images, films and pages of tokens." },
      { name: "Service", description: "For those who run it. `/metrics` has Prometheus text." },
    ],
  });
}

/** The one endpoint whose answers aren't JSON. */
function registerMedia(app: OpenAPIHono): void {
  const headers = {
    ...RATE_HEADERS,
    ETag: { description: "Names the content for ever.", schema: { type: "string" } },
    "Accept-Ranges": { description: "Always `bytes`.", schema: { type: "string" } },
  } as const;
  const error = (status: number) => ({
    description: ERRORS[status] ?? "",
    headers: RATE_HEADERS,
    content: { "application/json": { schema: ErrorBody } },
  });
  app.openAPIRegistry.registerPath({
    ...MEDIA_ROUTE,
    operationId: operationId(MEDIA_ROUTE),
    tags: ["Media"],
    responses: {
      200: { description: "The content, in the type that it was recognized as.", headers, content: { "*/*": {} } },
      206: { description: "The range of it that `Range` asks for.", headers, content: { "*/*": {} } },
      304: { description: "Nothing else than `If-None-Match` names.", headers },
      404: error(404),
      416: {
        ...error(416),
        headers: {
          ...RATE_HEADERS,
          "Content-Range": { description: "`bytes */` and the length of the content.", schema: { type: "string" } },
        },
      },
      429: error(429),
      500: error(500),
    },
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
