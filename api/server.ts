import { type Context, Hono } from "hono";
import { getPath } from "hono/utils/url";
import { type Config, NETWORKS } from "../config.ts";
import { createMediaStore } from "../offchain/media/media-store.ts";
import { clientNetwork, createClientAddress } from "./client-address.ts";
import type { Databases } from "./database.ts";
import { createDocsApi } from "./docs-api.ts";
import { HttpError, notFound, quote, toHttpError } from "./errors.ts";
import { type Env, type Exchange, newExchange, send } from "./exchange.ts";
import { createPathOf } from "./host.ts";
import { createIndexerApi } from "./indexer-api.ts";
import { createKeyApi } from "./key-api.ts";
import { createKeyCheck } from "./key-check.ts";
import { createKeyRegistration, type KeyRegistration } from "./key-registration.ts";
import { describeError, type Log } from "./log.ts";
import { createMarketplaceApi } from "./marketplace-api.ts";
import { createMediaApi } from "./media-api.ts";
import { createMetrics } from "./metrics.ts";
import { type Monitor, startMonitor, within } from "./monitor.ts";
import { createOrderbookApi } from "./orderbook-api.ts";
import { type Budget, createRateLimit, rateHeaders } from "./rate-limit.ts";
import { createPostgresStore, createRedisStore } from "./rate-store.ts";
import { createServiceApi } from "./service-api.ts";

/** What the API needs of the configuration. */
export type ApiConfig = Pick<
  Config,
  | "apiKeys"
  | "dataDir"
  | "hosts"
  | "keyRegistration"
  | "mediaStore"
  | "networks"
  | "rateBurst"
  | "rateLimit"
  | "redisUrl"
  | "refreshCooldownSeconds"
  | "s3"
  | "seaportAddresses"
  | "trustedProxies"
>;

/** What pages that people read are made from. */
export type PageSources = {
  config: ApiConfig;
  databases: Databases;
  monitor: Monitor;
  registration: KeyRegistration;
  log: Log;
};

/** Makes those pages: `web/` knows this folder, not the other way round. */
export type CreatePages = (sources: PageSources) => { app: Hono<Env>; stop: () => void };

export type Api = {
  app: Hono<Env>;
  /** Looks at the database now instead of within a second. */
  refresh: () => Promise<void>;
  /** From now on /ready refuses, and answers ask clients to leave. */
  drain: () => void;
  stop: () => Promise<void>;
};

/** What scripts of other sites may read of an answer beside its body; told to browsers only, which send an origin. */
const EXPOSED_HEADERS =
  "etag, ratelimit, ratelimit-policy, ratelimit-limit, ratelimit-remaining, ratelimit-reset, retry-after, x-request-id";
const PREFLIGHT_HEADERS = {
  "access-control-allow-methods": "GET, HEAD, POST, OPTIONS",
  "access-control-allow-headers": "x-api-key, content-type, if-none-match",
  "access-control-max-age": "86400",
};

/** A key that is new to this process is looked up; a database that hangs is a 503 by then. */
const KEY_CHECK_WITHIN_MS = 3000;
/** Room for 250 padded ids in `tokens_ids`, which take 20 kB. */
const MAX_URL_LENGTH = 32_768;
/** What watches us must not be refused because somebody at the same address asks too much. */
const UNLIMITED = new Set(["/health", "/ready", "/status", "/metrics", "/explorer/pulse"]);

/** All APIs of one process on one port. */
export async function createApi({
  config,
  databases,
  log,
  createPages,
}: {
  config: ApiConfig;
  databases: Databases;
  log: Log;
  createPages?: CreatePages;
}): Promise<Api> {
  const monitor = await startMonitor({ sql: databases.monitor, log });
  const keyCheck = createKeyCheck({ sql: databases.write.mainnet, apiKeys: config.apiKeys, log });
  const metrics = createMetrics({ monitor });
  const redis = config.redisUrl
    ? await createRedisStore(config.redisUrl, {
        onError: (error) => log("debug", "Redis does not answer", describeError(error)),
      })
    : undefined;
  const store = redis?.store ?? createPostgresStore(databases.write.mainnet);
  const rates = { limit: config.rateLimit, burst: Math.max(config.rateLimit, config.rateBurst) };
  const rateLimit = createRateLimit({ ...rates, store, isStoreUp: () => redis !== undefined || monitor.isReachable() });
  const clientAddressOf = createClientAddress(config);
  const pathOf = createPathOf(config);
  let isDraining = false;

  const app = new Hono<Env>(
    pathOf ? { getPath: (request) => pathOf(request.headers.get("host") ?? undefined, getPath(request)) } : {},
  );

  app.use(async (c, next) => {
    const socketAddress = c.env?.incoming?.socket.remoteAddress;
    const exchange = newExchange({ clientAddress: clientAddressOf(socketAddress, c.req.header("x-forwarded-for")) });
    c.set("exchange", exchange);
    exchange.headers["x-request-id"] = exchange.requestId;
    exchange.headers.vary = "accept-encoding";
    if (isDraining) exchange.headers.connection = "close";
    // Registering is no read: other sites' pages get no keys in their visitors' names.
    if (c.req.path !== "/keys") {
      exchange.headers["access-control-allow-origin"] = "*";
      if (c.req.header("origin") !== undefined) exchange.headers["access-control-expose-headers"] = EXPOSED_HEADERS;
      if (c.req.method === "OPTIONS") Object.assign(exchange.headers, PREFLIGHT_HEADERS);
    }
    await next();
    metrics.observe(exchange, c.req.method);
    log("info", "request", {
      request_id: exchange.requestId,
      method: c.req.method,
      path: c.req.path.slice(0, 500),
      status: exchange.status,
      bytes: exchange.bytes,
      duration_ms: Math.round((performance.now() - exchange.startedAt) * 100) / 100,
      client: exchange.clientAddress,
    });
  });

  app.use(async (c, next) => {
    const exchange = c.get("exchange");
    const client = `client:${clientNetwork(exchange.clientAddress)}`;
    if (c.req.url.length > MAX_URL_LENGTH) {
      Object.assign(exchange.headers, rateHeaders(rateLimit.peek(client), rates));
      throw new HttpError(414, `The URL is too long. Expected at most ${MAX_URL_LENGTH} characters.`);
    }
    if (c.req.method === "OPTIONS" || UNLIMITED.has(c.req.path)) {
      Object.assign(exchange.headers, rateHeaders(rateLimit.peek(client), rates));
      return next();
    }

    const key = c.req.header("x-api-key");
    let checked = key === undefined ? undefined : keyCheck.check(key);
    if (checked instanceof Promise) {
      checked.catch(() => {});
      // A look-up costs the address that asks for it: guessing keys is limited like everything else.
      await take(exchange, client);
      checked = await within(KEY_CHECK_WITHIN_MS, checked);
    }
    exchange.caller = checked;
    if (checked) keyCheck.count(checked);
    const taken = take(exchange, checked ? `key:${checked.keyHash.slice(0, 32)}` : client);
    if (taken) await taken;
    await next();
  });

  /** Takes one request from a budget. @throws HttpError 429 where nothing is left */
  const take = (exchange: Exchange, id: string): Promise<void> | undefined => {
    const apply = (budget: Budget) => {
      Object.assign(exchange.headers, rateHeaders(budget, rates));
      if (budget.isAllowed) return;
      throw new HttpError(
        429,
        `Too many requests. Expected at most ${rates.limit} a second, ${rates.burst} at once; the next in ${budget.resetSeconds} s.`,
        { "retry-after": String(budget.resetSeconds) },
      );
    };
    const budget = rateLimit.take(id);
    if (budget instanceof Promise) return budget.then(apply);
    apply(budget);
    return undefined;
  };

  const refuse = (error: unknown, c: Context<Env>) => {
    const known = toHttpError(error);
    if (!known) log("error", "request failed", { request_id: c.get("exchange").requestId, ...describeError(error) });
    const { status, message, headers, type } =
      known ?? new HttpError(500, "Something went wrong on our side. The request id helps to find out what.");
    return send(c, {
      status,
      body: JSON.stringify({ type, message }),
      headers: { "cache-control": "no-store", ...headers },
    });
  };
  app.onError(refuse);
  app.notFound((c) => refuse(notFound(`There is nothing at ${quote(c.req.path)}. /openapi.json lists what is.`), c));

  const isOpen = config.keyRegistration === "open";
  const registration = createKeyRegistration({ sql: databases.write.mainnet, monitor, store, isOpen });
  app.route("/", createKeyApi(registration));
  app.route(
    "/",
    createOrderbookApi({
      read: databases.read.mainnet,
      write: databases.write.mainnet,
      monitor,
      rpcUrls: config.networks.mainnet?.rpcUrls ?? [],
      extraExchanges: config.seaportAddresses,
    }),
  );
  app.route("/", createMarketplaceApi({ read: databases.read, long: databases.long, monitor }));
  app.route("/", createDocsApi());
  app.route("/", createMediaApi(createMediaStore(config)));
  app.route("/", createServiceApi({ monitor, metrics, isDraining: () => isDraining }));
  for (const network of NETWORKS) {
    app.route(
      network === "mainnet" ? "/" : `/${network}`,
      createIndexerApi({
        network,
        read: databases.read[network],
        stream: databases.stream[network],
        write: databases.write[network],
        monitor,
        refreshCooldownSeconds: config.refreshCooldownSeconds,
      }),
    );
  }

  const pages = createPages?.({ config, databases, monitor, registration, log });
  if (pages) app.route("/", pages.app);

  return {
    app,
    refresh: monitor.refresh,
    drain: () => {
      isDraining = true;
    },
    stop: async () => {
      monitor.stop();
      pages?.stop();
      rateLimit.stop();
      redis?.close();
      await keyCheck.stop();
    },
  };
}
