import type { Hono } from "hono";
import { getPath } from "hono/utils/url";
import type { Config } from "../config.ts";
import { toComparedHost } from "../config-value.ts";
import type { Env } from "./http/request-state.ts";

/** Paths that mean the same under every host name. */
const COMMON =
  /^\/(health|ready|status|metrics|openapi\.json|docs|favicon\.ico|keys|media|explorer|testnet|orderbook|marketplace)(\/|$)/;

/**
 * Finds the path of a request within this service: under a configured host name an API is at the root, elsewhere it has
 * its prefix. Undefined if no host name is configured: then no request needs a look-up.
 */
export function createPathOf({
  hosts,
}: Pick<Config, "hosts">): ((host: string | undefined, path: string) => string) | undefined {
  const prefixes = new Map<string, string>();
  if (hosts.indexer) prefixes.set(hosts.indexer, "");
  if (hosts.testnet) prefixes.set(hosts.testnet, "/testnet");
  if (hosts.orderbook) prefixes.set(hosts.orderbook, "/orderbook");
  if (hosts.marketplace) prefixes.set(hosts.marketplace, "/marketplace");
  if (prefixes.size === 0) return undefined;

  return (host, path) => {
    if (host === undefined) return path;
    const name = toComparedHost(host);
    const prefix = prefixes.get(name) ?? prefixes.get(name.replace(/:\d+$/, "")) ?? "";
    return prefix === "" || path === "/" || COMMON.test(path) ? path : prefix + path;
  };
}

/** How a router finds paths, for its options: nothing where no host name is configured. */
export function createPathOption(config: Pick<Config, "hosts">): ConstructorParameters<typeof Hono<Env>>[0] {
  const pathOf = createPathOf(config);
  if (!pathOf) return {};
  return {
    getPath: (request, options) => {
      // If the request target is a whole URL, its host counts, not the Host header.
      const isWhole = options?.env?.incoming?.url?.startsWith("/") === false;
      const host = isWhole ? new URL(request.url).host : request.headers.get("host");
      return pathOf(host ?? undefined, getPath(request));
    },
  };
}
