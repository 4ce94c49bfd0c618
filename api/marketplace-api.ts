import { Hono } from "hono";
import { NETWORKS } from "../config.ts";
import {
  type Collection,
  listCollections,
  listHeldContracts,
  listPortfolio,
  listShownContracts,
  writePortfolio,
} from "./collection.ts";
import { createCollectionRank } from "./collection-rank.ts";
import type { Databases } from "./database.ts";
import { notFound } from "./errors.ts";
import type { Env } from "./exchange.ts";
import {
  getCollectionRoute,
  listCollectionsRoute,
  listPortfolioRoute,
  MARKETPLACE_ROUTES,
} from "./marketplace-routes.ts";
import { type Monitor, within } from "./monitor.ts";
import { mountRoute, refuseOtherMethods } from "./route.ts";

/** A request waits no longer for the database, in milliseconds. */
const ANSWER_WITHIN_MS = 6000;

/** The Marketplace API. Its lists are of the main network; a single collection may be of either. */
export function createMarketplaceApi({ read, monitor }: { read: Databases["read"]; monitor: Monitor }): Hono<Env> {
  const app = new Hono<Env>();
  const sql = read.mainnet;
  const rank = createCollectionRank(sql);
  const mount = ((target, route, { handle }) =>
    mountRoute(target, route, {
      isLive: true,
      handle: (input, c) => within(ANSWER_WITHIN_MS, Promise.resolve(handle(input, c))),
    })) as typeof mountRoute;

  mount(app, listCollectionsRoute, {
    handle: async ({ query }) => {
      const { chainId } = monitor.require("mainnet");
      const all = await rank(await listShownContracts(sql, { chainId }));
      const { addresses, ...rest } = pageOf(all, query);
      return JSON.stringify({ data: await listCollections(sql, { chainId, addresses }), ...rest });
    },
  });

  mount(app, getCollectionRoute, {
    handle: async ({ params }) => {
      const network = NETWORKS.find((name) =>
        monitor.networks().some((row) => row.name === name && row.chain_id === params.chain_id),
      );
      if (!network) {
        monitor.require("mainnet");
        throw notFound(`Chain ${params.chain_id} is not served here.`);
      }
      const { chainId } = monitor.require(network);
      const addresses = [params.address.slice(2)];
      const [data] = (await listCollections(read[network], { chainId, addresses })) as [Collection?];
      if (!data) throw notFound(`Collection ${params.address} is unknown.`);
      return JSON.stringify({ data });
    },
  });

  mount(app, listPortfolioRoute, {
    handle: async ({ params, query }) => {
      const { chainId } = monitor.require("mainnet");
      const { user_address: accountAddress } = params;
      const all = await rank(await listHeldContracts(sql, { chainId, accountAddress }));
      const { addresses, ...rest } = pageOf(all, query);
      const rows = await listPortfolio(sql, { chainId, accountAddress, addresses });
      return JSON.stringify({ data: rows.map(writePortfolio), ...rest });
    },
  });

  refuseOtherMethods(app, MARKETPLACE_ROUTES);
  return app;
}

/** A page of a list by its number. Past the end it is empty. */
function pageOf(all: readonly string[], { page, items_per_page }: { page: number; items_per_page: number }) {
  const from = (page - 1) * items_per_page;
  return {
    addresses: all.slice(from, from + items_per_page),
    collection_count: all.length,
    next_page: from + items_per_page < all.length ? page + 1 : null,
  };
}
