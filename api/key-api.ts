import { z } from "@hono/zod-openapi";
import { Hono } from "hono";
import type { Sql } from "postgres";
import { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";
import { clientNetwork } from "./client-address.ts";
import { HttpError, unavailable } from "./errors.ts";
import type { Env } from "./exchange.ts";
import { createKey } from "./key.ts";
import { type Monitor, within } from "./monitor.ts";
import { KeyBody } from "./parameter.ts";
import type { RateStore } from "./rate-store.ts";
import { defineRoute, mountRoute, refuseOtherMethods } from "./route.ts";

/** Keys that one client address gets in an hour. */
const KEYS_PER_HOUR = 20;
const HOUR_SECONDS = 3600;
const ANSWER_WITHIN_MS = 6000;

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
  errors: [403, 413, 415],
});

/** Registration of keys. */
export function createKeyApi({
  sql,
  monitor,
  store,
  isOpen,
}: {
  sql: Sql;
  monitor: Monitor;
  store: RateStore;
  isOpen: boolean;
}): Hono<Env> {
  const app = new Hono<Env>();
  const window = { keyPrefix: "register", points: KEYS_PER_HOUR, duration: HOUR_SECONDS };
  const limiter = store({ ...window, insuranceLimiter: new RateLimiterMemory(window) });

  mountRoute(app, createKeyRoute, {
    headers: { "cache-control": "no-store" },
    guard: () => {
      if (!isOpen) throw new HttpError(403, "Registration is closed. Expected a key from the operator.");
    },
    handle: async ({ body }, c) => {
      if (!monitor.isReachable()) throw unavailable("The database is unreachable.");
      const client = clientNetwork(c.get("exchange").clientAddress);
      await within(ANSWER_WITHIN_MS, limiter.consume(client)).catch((error: unknown) => {
        if (!(error instanceof RateLimiterRes)) throw error;
        const seconds = Math.ceil(error.msBeforeNext / 1000);
        throw new HttpError(
          429,
          `Too many keys for this address. Expected at most ${KEYS_PER_HOUR} an hour; the next in ${seconds} seconds.`,
          { "retry-after": String(seconds) },
        );
      });
      return JSON.stringify({ result: await within(ANSWER_WITHIN_MS, createKey(sql, body)) });
    },
  });
  refuseOtherMethods(app, [createKeyRoute]);
  return app;
}
