import { z } from "@hono/zod-openapi";
import { Hono } from "hono";
import type { Env } from "../http/request-state.ts";
import { type KeyRegistration, KEYS_PER_HOUR } from "./key-registration.ts";
import { KeyBody } from "../http/parameter.ts";
import { defineRoute, mountRoute, refuseOtherMethods } from "../http/route.ts";

const NewKey = z
  .strictObject({
    key: z.string().openapi({ description: "Shown this once: only its hash is stored." }),
    prefix: z.string().openapi({ description: "By which it is listed and revoked." }),
    name: z.string(),
  })
  .openapi("NewKey");

export const createKeyRoute = defineRoute({
  tag: "Keys",
  needsKey: false,
  method: "post",
  path: "/keys",
  summary: "Registers an API key",
  description: `Up to ${KEYS_PER_HOUR} an hour for each client address. 403 where the operator has closed registration.`,
  body: KeyBody,
  status: 201,
  answer: z.strictObject({ result: NewKey }),
  example: {
    result: { key: `nft_${"0123456789abcdef".repeat(3).slice(0, 40)}`, prefix: "nft_01234567", name: "my-app" },
  },
  errors: [403, 413, 415, 503],
});

/** Registration of keys. */
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
  refuseOtherMethods(app, [createKeyRoute]);
  return app;
}
