import { type Context, Hono } from "hono";
import { getPath } from "hono/utils/url";
import { type Config, type Network, NETWORKS } from "../config.ts";
import { createMediaStore } from "../offchain/media/media-store.ts";
import { createAdmission } from "./key/admission.ts";
import type { Databases } from "./sql/database.ts";
import { createDocsApi } from "./docs/docs-api.ts";
import { notFound, quote } from "./http/errors.ts";
import type { Env } from "./http/request-state.ts";
import { createPathOption } from "./host.ts";
import { createIndexerApi } from "./token/indexer-api.ts";
import { createKeyApi } from "./key/key-api.ts";
import { createKeyCheck } from "./key/key-check.ts";
import { createKeyRegistration, type KeyRegistration } from "./key/key-registration.ts";
import type { Log } from "./log.ts";
import { type CollectionRank, createCollectionRank } from "./marketplace/collection-rank.ts";
import { createMarketplaceApi } from "./marketplace/marketplace-api.ts";
import { createMediaApi } from "./media-api.ts";
import { createMetrics } from "./metrics.ts";
import { type Monitor, startMonitor } from "./monitor.ts";
import { createOrderbookApi } from "./orderbook/orderbook-api.ts";
import { createRateLimit } from "./key/rate-limit.ts";
import { createPostgresStore, createRedisStore } from "./key/rate-store.ts";
import { createRefuse } from "./refusal.ts";
import { createRequestFrame } from "./request-frame.ts";
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
  const refuse = createRefuse({ monitor, log });
  let isDraining = false;

  const app = new Hono<Env>(createPathOption(config));
  app.use(
    createRequestFrame({
      trustedProxies: config.trustedProxies,
      metrics,
      log,
      isPage: (path) => pages?.isPage(path) === true,
      isDraining: () => isDraining,
    }),
  );
  app.use(createAdmission({ keyCheck, rateLimit, rates }));
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
