import { type Context, Hono } from "hono";
import { getPath } from "hono/utils/url";
import { type Config, type Network, NETWORKS } from "../config.ts";
import { createMediaStore } from "../offchain/media/media-store.ts";
import { createSeldom } from "../offchain/seldom.ts";
import { createAdmission } from "./key/admission.ts";
import { createClientAddress } from "./http/client-address.ts";
import type { Databases } from "./sql/database.ts";
import { createDocsApi } from "./docs/docs-api.ts";
import { HEADERS } from "./docs/openapi-text.ts";
import { HttpError, notFound, quote, toHttpError } from "./http/errors.ts";
import { type Env, createRequestState } from "./http/request-state.ts";
import { send } from "./http/send.ts";
import { createPathOf } from "./host.ts";
import { createIndexerApi } from "./token/indexer-api.ts";
import { createKeyApi } from "./key/key-api.ts";
import { createKeyCheck } from "./key/key-check.ts";
import { createKeyRegistration, type KeyRegistration } from "./key/key-registration.ts";
import { describeError, type Log } from "./log.ts";
import { type CollectionRank, createCollectionRank } from "./marketplace/collection-rank.ts";
import { createMarketplaceApi } from "./marketplace/marketplace-api.ts";
import { createMediaApi } from "./media-api.ts";
import { createMetrics } from "./metrics.ts";
import { type Monitor, startMonitor } from "./monitor.ts";
import { createOrderbookApi } from "./orderbook/orderbook-api.ts";
import { createRateLimit } from "./key/rate-limit.ts";
import { createPostgresStore, createRedisStore } from "./key/rate-store.ts";
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

/** What the explorer's pages are made from. */
export type PageSources = {
  config: ApiConfig;
  databases: Databases;
  monitor: Monitor;
  ranks: Record<Network, CollectionRank>;
  registration: KeyRegistration;
  log: Log;
};

/** Makes the explorer's pages. It is passed in, because `web/` imports this folder and not the other way round. */
export type CreatePages = (sources: PageSources) => {
  app: Hono<Env>;
  isPage: (path: string) => boolean;
  /** Whether a person looks at the answer itself: at a page, or at media in a frame. */
  isRead: (c: Context<Env>) => boolean;
  /** The page that is shown instead of one that failed or was refused. */
  refuse: (error: Error, c: Context<Env>) => Promise<Response>;
  stop: () => void;
};

/** The APIs of one process, and what ends them. */
export type Api = {
  app: Hono<Env>;
  /** Reads the database's state now instead of within a second. */
  refresh: () => Promise<void>;
  /** From now on /ready refuses, and answers ask clients to leave. */
  drain: () => void;
  stop: () => Promise<void>;
};

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

/** All APIs of one process on one port. */
export async function createApi({
  config,
  databases,
  log,
  createPages,
  isUpgrading,
}: {
  config: ApiConfig;
  databases: Databases;
  log: Log;
  createPages?: CreatePages;
  /** Whether our tables may not be those of this version yet: requests are told 503. */
  isUpgrading?: () => boolean;
}): Promise<Api> {
  const monitor = await startMonitor({ sql: databases.monitor, log, isUpgrading });
  const keyCheck = createKeyCheck({
    sql: databases.write.mainnet,
    read: databases.read.mainnet,
    apiKeys: config.apiKeys,
    log,
  });
  const metrics = createMetrics({ monitor });
  const redis = config.redisUrl ? await createRedisStore(config.redisUrl, { log }) : undefined;
  const store = redis?.store ?? createPostgresStore(databases.write.mainnet);
  const rates = { limit: config.rateLimit, burst: config.rateBurst };
  const rateLimit = createRateLimit({ ...rates, store, isStoreUp: () => redis !== undefined || monitor.isReachable() });
  const clientAddressOf = createClientAddress(config);
  const pathOf = createPathOf(config);
  let isDraining = false;

  const app = new Hono<Env>(
    pathOf
      ? {
          getPath: (request, options) => {
            // If the request target is a whole URL, its host counts, not the Host header.
            const isWhole = options?.env?.incoming?.url?.startsWith("/") === false;
            const host = isWhole ? new URL(request.url).host : request.headers.get("host");
            return pathOf(host ?? undefined, getPath(request));
          },
        }
      : {},
  );

  app.use(async (c, next) => {
    const socketAddress = c.env?.incoming?.socket.remoteAddress;
    const state = createRequestState({
      clientAddress: clientAddressOf(socketAddress, c.req.header("x-forwarded-for")),
    });
    c.set("state", state);
    state.headers["x-request-id"] = state.requestId;
    state.headers.vary = "accept-encoding";
    // Key registration and the explorer's pages are closed to other sites: their scripts can't register keys in a
    // visitor's name, send forms or read the answers.
    if (c.req.path !== "/keys" && !pages?.isPage(c.req.path)) {
      state.headers["access-control-allow-origin"] = "*";
      if (c.req.header("origin") !== undefined) state.headers["access-control-expose-headers"] = EXPOSED_HEADERS;
      if (c.req.method === "OPTIONS") Object.assign(state.headers, PREFLIGHT_HEADERS);
    }
    await next();
    if (isDraining) c.res.headers.set("connection", "close");
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
  });

  app.use(createAdmission({ keyCheck, rateLimit, rates }));

  const isToTell = createSeldom();
  /** Says why the database refuses requests, as for a full disk. That it can't be reached, the monitor says. */
  const tellRefusal = (error: unknown) => {
    const { code } = error as { code?: unknown };
    if (monitor.isReachable() && isToTell(String(code)))
      log("warn", "the database refuses requests", describeError(error));
  };

  const refuse = (error: unknown, c: Context<Env>) => {
    const known = toHttpError(error);
    if (!known) log("error", "request failed", { request_id: c.get("state").requestId, ...describeError(error) });
    else if (error !== known) tellRefusal(error);
    const { status, message, headers, type } =
      known ?? new HttpError(500, "Something went wrong on our side. The request id helps to find out what.");
    return send(c, {
      status,
      body: JSON.stringify({ type, message }),
      headers: { "cache-control": "no-store", ...headers },
    });
  };
  app.onError((error, c) => (pages?.isRead(c) ? pages.refuse(error, c) : refuse(error, c)));
  app.notFound((c) =>
    refuse(notFound(`There is nothing at ${quote(getPath(c.req.raw))}. /openapi.json lists what is.`), c),
  );

  const ranks = {
    mainnet: createCollectionRank(databases.long.mainnet),
    testnet: createCollectionRank(databases.long.testnet),
  };
  const isOpen = config.keyRegistration === "open";
  const registration = createKeyRegistration({ sql: databases.write.mainnet, monitor, store, isOpen });
  app.route("/", createKeyApi(registration));
  app.route(
    "/",
    createOrderbookApi({
      read: databases.read.mainnet,
      stream: databases.stream.mainnet,
      write: databases.write.mainnet,
      monitor,
      rpcUrls: config.networks.mainnet?.rpcUrls,
      extraExchanges: config.seaportAddresses,
      store,
      log,
    }),
  );
  app.route("/", createMarketplaceApi({ ...databases, rank: ranks.mainnet, monitor }));
  app.route("/", createDocsApi());
  app.route("/", createMediaApi({ store: createMediaStore(config), log }));
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

  const pages = createPages?.({ config, databases, monitor, ranks, registration, log });
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
