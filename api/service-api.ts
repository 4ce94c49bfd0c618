import { z } from "@hono/zod-openapi";
import { Hono } from "hono";
import { unavailable } from "./http/errors.ts";
import { text } from "./http/field.ts";
import type { Env } from "./http/request-state.ts";
import { send } from "./http/send.ts";
import type { Metrics } from "./metrics.ts";
import type { Monitor } from "./monitor.ts";
import { defineRoute, mountRoute, refuseOtherMethods } from "./http/route.ts";
import { describeStatus, Status } from "./status.ts";

const service = { tag: "Service", needsKey: false, errors: [] } as const;
const stateOf = (meaning: string) => z.strictObject({ status: text(meaning) });

const healthRoute = defineRoute({
  ...service,
  method: "get",
  path: "/health",
  operationId: "getHealth",
  summary: "200 while the process lives",
  answer: stateOf("Always `ok`."),
  example: { status: "ok" },
});

const readyRoute = defineRoute({
  ...service,
  method: "get",
  path: "/ready",
  operationId: "getReady",
  summary: "200 once requests can be answered from indexed data",
  description: "503 before that, without a database, and once the process was told to end.",
  answer: stateOf("Always `ready`."),
  example: { status: "ready" },
  errors: [503],
  meanings: {
    503: "The database is unreachable, nothing is indexed yet, or the process is ending.",
  },
});

const statusRoute = defineRoute({
  ...service,
  method: "get",
  path: "/status",
  operationId: "getStatus",
  summary: "How far the networks are indexed, and how the fetching of metadata goes",
  description:
    "As this process saw it within the last second, and without asking the database: it answers when that is gone.",
  answer: Status,
  example: {
    networks: {
      mainnet: {
        chain_id: 1,
        state: "live",
        head_block: 18_500_000,
        indexed_block: 18_500_000,
        finalized_block: 18_499_936,
        lag_seconds: 0,
        progress: 1,
        logs_per_second: 42.5,
        eta_seconds: null,
        skipped_logs: 0,
        reorgs: 0,
      },
    },
    metadata: {
      tokens: 1000,
      fetched: 990,
      waiting: 4,
      failing: 6,
      fetches_per_second: 12.5,
      oldest_due_seconds: 0.4,
      failures: [{ code: "http_404", host: "example.org", tokens: 6 }],
      workers: 1,
    },
  },
});

/** The routes that the OpenAPI document has. `/metrics` is text and not among them. */
export const SERVICE_ROUTES = [healthRoute, readyRoute, statusRoute] as const;

/** Health, readiness, status and metrics, for operators. None of them asks the database. */
export function createServiceApi({
  monitor,
  metrics,
  isDraining,
}: {
  monitor: Monitor;
  metrics: Metrics;
  isDraining: () => boolean;
}): Hono<Env> {
  const app = new Hono<Env>();
  mountRoute(app, healthRoute, { isLive: true, handle: () => '{"status":"ok"}' });
  mountRoute(app, readyRoute, {
    isLive: true,
    handle: () => {
      if (isDraining()) throw unavailable("The process is ending.");
      monitor.require("mainnet");
      return '{"status":"ready"}';
    },
  });
  mountRoute(app, statusRoute, { isLive: true, handle: () => JSON.stringify(describeStatus(monitor)) });
  app.get("/metrics", async (c) => {
    c.get("state").route = "/metrics";
    const headers = { "cache-control": "no-store" };
    return send(c, { body: await metrics.render(), contentType: metrics.contentType, headers });
  });
  refuseOtherMethods(app);
  return app;
}
