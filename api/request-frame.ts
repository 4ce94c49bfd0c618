import type { MiddlewareHandler } from "hono";
import type { Config } from "../config.ts";
import { HEADERS } from "./docs/openapi-text.ts";
import { createClientAddress } from "./http/client-address.ts";
import { createRequestState, type Env } from "./http/request-state.ts";
import type { Log } from "./log.ts";
import type { Metrics } from "./metrics.ts";

/**
 * Headers that scripts of other sites may read: all that are documented. Sent only to requests with an Origin header,
 * which browsers send.
 */
const EXPOSED_HEADERS = Object.keys(HEADERS).join(", ").toLowerCase();
const PREFLIGHT_HEADERS = {
  "access-control-allow-methods": "GET, HEAD, POST, OPTIONS",
  "access-control-allow-headers": "x-api-key, content-type, if-none-match, range, if-range",
  "access-control-max-age": "86400",
};

/**
 * Creates what stands around the handling of each request: its state and the headers of every answer before it, and
 * after it a line of the log and the metrics. `isPage`: whether a path is one of the explorer's.
 */
export function createRequestFrame({
  trustedProxies,
  metrics,
  log,
  isPage,
  isDraining,
}: Pick<Config, "trustedProxies"> & {
  metrics: Metrics;
  log: Log;
  isPage: (path: string) => boolean;
  isDraining: () => boolean;
}): MiddlewareHandler<Env> {
  const clientAddressOf = createClientAddress({ trustedProxies });
  return async (c, next) => {
    const socketAddress = c.env?.incoming?.socket.remoteAddress;
    const state = createRequestState({
      clientAddress: clientAddressOf(socketAddress, c.req.header("x-forwarded-for")),
    });
    c.set("state", state);
    state.headers["x-request-id"] = state.requestId;
    state.headers.vary = "accept-encoding";
    // Key registration and the explorer's pages are closed to other sites: their scripts can't register keys in a
    // visitor's name, send forms or read the answers.
    if (c.req.path !== "/keys" && !isPage(c.req.path)) {
      state.headers["access-control-allow-origin"] = "*";
      if (c.req.header("origin") !== undefined) state.headers["access-control-expose-headers"] = EXPOSED_HEADERS;
      if (c.req.method === "OPTIONS") Object.assign(state.headers, PREFLIGHT_HEADERS);
    }
    await next();
    if (isDraining()) c.res.headers.set("connection", "close");
    if (c.req.method === "HEAD") state.bytes = 0;
    metrics.observe(state, c.req.method);
    log("info", "request", {
      request_id: state.requestId,
      method: c.req.method,
      path: c.req.path.slice(0, 500),
      status: state.status,
      bytes: state.bytes,
      duration_ms: Math.round((performance.now() - state.startedAt) * 100) / 100,
      client: state.clientAddress,
    });
  };
}
