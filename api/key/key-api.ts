import { z } from "@hono/zod-openapi";
import { Hono } from "hono";
import { text } from "../http/field.ts";
import type { Env } from "../http/request-state.ts";
import { LISTED_LENGTH } from "./key.ts";
import { type KeyRegistration, KEYS_PER_HOUR } from "./key-registration.ts";
import { KeyBody } from "./key-body.ts";
import { defineRoute, mountRoute, refuseOtherMethods } from "../http/route.ts";

const NewKey = z
  .strictObject({
    key: text("The key: `nft_` and 40 hex digits. Shown this once: only its hash is stored."),
    prefix: text(`The first ${LISTED_LENGTH} characters of it, by which the operator lists and revokes it.`),
    name: text("As it was given, without white space around it."),
  })
  .openapi("NewKey", { description: "A key for the header `x-api-key`, good on both networks." });

export const createKeyRoute = defineRoute({
  tag: "Keys",
  needsKey: false,
  method: "post",
  path: "/keys",
  operationId: "createKey",
  summary: "Registers an API key",
  description: `Up to ${KEYS_PER_HOUR} an hour for each client address.`,
  body: KeyBody,
  bodyExample: { name: "my-app" },
  status: 201,
  answer: z.strictObject({ result: NewKey }),
  example: {
    result: { key: `nft_${"0123456789abcdef".repeat(3).slice(0, 40)}`, prefix: "nft_01234567", name: "my-app" },
  },
  errors: [403, 413, 415, 503],
  meanings: {
    429: `The rate limit is reached, or the client address got ${KEYS_PER_HOUR} keys within an hour.`,
    503: "The database is unreachable.",
  },
});

/** The API to register keys. */
export function createKeyApi(registration: KeyRegistration): Hono<Env> {
  const app = new Hono<Env>();
  mountRoute(app, createKeyRoute, {
    headers: { "cache-control": "no-store" },
    guard: registration.requireOpen,
    handle: async ({ body: { name } }, c) => {
      const { clientAddress } = c.get("state");
      return JSON.stringify({ result: await registration.register({ name, clientAddress }) });
    },
  });
  refuseOtherMethods(app);
  return app;
}
