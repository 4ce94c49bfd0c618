import type { z } from "@hono/zod-openapi";
import type { Context, Hono } from "hono";
import { readJsonBody } from "./body.ts";
import { HttpError, invalid } from "./errors.ts";
import type { Env } from "./request-state.ts";
import { send } from "./send.ts";

/** An endpoint: its parameters and its answer. Requests are checked by it, and the OpenAPI document is made of it. */
export type Route<
  P extends z.ZodObject = z.ZodObject,
  Q extends z.ZodObject = z.ZodObject,
  B extends z.ZodType = z.ZodType,
> = {
  method: "get" | "post";
  /** With parameters in braces. */
  path: string;
  /** What generated clients call it: `list…` for several, `get…` for one. Unique among all APIs. */
  operationId: string;
  tag: string;
  summary: string;
  description?: string;
  needsKey: boolean;
  params?: P;
  query?: Q;
  /** "empty": a body of JSON is accepted but not used. */
  body?: B | "empty";
  bodyExample?: z.input<B>;
  status?: 200 | 201;
  answer: z.ZodType;
  example: unknown;
  /** The statuses of errors, beside those that all endpoints have. */
  errors: readonly number[];
  /** What a status means here, where that differs from its usual meaning. */
  meanings?: Readonly<Record<number, string>>;
};

/** The checked parameters of a request. */
type Input<P extends z.ZodObject, Q extends z.ZodObject, B extends z.ZodType> = {
  params: z.output<P>;
  query: z.output<Q>;
  body: z.output<B>;
};

/** Declares an endpoint. Keeps the types of its parameters. */
export const defineRoute = <
  P extends z.ZodObject = z.ZodObject,
  Q extends z.ZodObject = z.ZodObject,
  B extends z.ZodType = z.ZodType,
>(
  route: Route<P, Q, B>,
): Route<P, Q, B> => route;

/**
 * Adds an endpoint to `app`. `guard` may refuse a request before it is read; `handle` returns the body as JSON text.
 *
 * Other methods on the path answer 405, and OPTIONS lists the allowed ones.
 */
export function mountRoute<P extends z.ZodObject, Q extends z.ZodObject, B extends z.ZodType>(
  app: Hono<Env>,
  route: Route<P, Q, B>,
  {
    guard,
    handle,
    headers = {},
    isLive = false,
  }: {
    guard?: (c: Context<Env>) => void;
    handle: (input: Input<P, Q, B>, c: Context<Env>) => Promise<string | Buffer> | string | Buffer;
    headers?: Record<string, string>;
    /** The answer is valid only at this moment: nobody may cache it. */
    isLive?: boolean;
  },
): void {
  app.on(route.method.toUpperCase(), honoPath(route.path), async (c) => {
    c.get("state").route = route.path;
    guard?.(c);
    const params = route.params ? parse(route.params, c.req.param()) : {};
    const query = route.query ? parse(route.query, queryOf(c)) : {};
    const text = route.body === undefined ? undefined : await readJsonBody(c, { isOptional: route.body === "empty" });
    const body = route.body === undefined || route.body === "empty" ? undefined : parse(route.body, text);
    return send(c, {
      status: route.status ?? 200,
      body: await handle({ params, query, body } as Input<P, Q, B>, c),
      isCacheable: route.method === "get" && !isLive,
      headers: isLive ? { ...headers, "cache-control": "no-store" } : headers,
    });
  });
}

/** Refuses other methods on the paths that `app` has so far. */
export function refuseOtherMethods(app: Hono<Env>): void {
  const methods = new Map<string, Set<string>>();
  for (const { method, path } of app.routes) {
    // What takes all methods is a guard, or refuses them itself.
    if (method === "ALL") continue;
    const allowed = methods.get(path) ?? new Set(["OPTIONS"]);
    allowed.add(method);
    if (method === "GET") allowed.add("HEAD");
    methods.set(path, allowed);
  }
  for (const [path, allowed] of methods) {
    const allow = [...allowed].toSorted().join(", ");
    app.all(path, async (c) => {
      if (c.req.method === "OPTIONS") {
        c.get("state").status = 204;
        return new Response(null, { status: 204, headers: { ...c.get("state").headers, allow } });
      }
      throw new HttpError(405, `Method ${c.req.method} is not allowed here. Expected ${allow}.`, { allow });
    });
  }
}

/** A path in the router's form, with colons before parameters. */
const honoPath = (path: string) => path.replaceAll(/\{(\w+)\}/g, ":$1");

/** Checks a value. @throws HttpError 400 with what is wrong and what is expected */
export function parse<T extends z.ZodType>(schema: T, value: unknown): z.output<T> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw invalid(issue ? `${issue.message}${placeOf(issue)}` : "The request is invalid.");
}

/** The place of a value: ` (tokens[0].token_id)`, ` (contract_address)`. None where the message begins with its name. */
function placeOf({ path, message }: z.core.$ZodIssue): string {
  if (path.length < 2 && inWords(message).startsWith(inWords(path.map(String).join("")))) return "";
  const steps = path.map((part) => (typeof part === "number" ? `[${part}]` : `.${String(part)}`));
  return ` (${steps.join("").slice(1)})`;
}

/** A name as messages have it: `token_id` is "Token id". */
const inWords = (text: string) => text.toLowerCase().replaceAll("_", " ");

/** The query parameters: texts, or arrays where a parameter is repeated. */
function queryOf(c: Context<Env>): Record<string, string | string[]> {
  const lists = new Map<string, string[]>();
  for (const [written, values] of Object.entries(c.req.queries())) {
    // axios, jQuery and PHP write a list as `name[]` or `name[0]`. Ignored, a filter would let everything through.
    const name = written.replace(/\[\d*\]$/, "");
    lists.set(name, [...(lists.get(name) ?? []), ...values]);
  }
  return Object.fromEntries(
    [...lists].map(([name, values]) => [name, values.length === 1 ? (values[0] as string) : values]),
  );
}
