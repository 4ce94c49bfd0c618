import { Hono } from "hono";
import type { Sql } from "postgres";
import { NETWORKS, type Network } from "../config.ts";
import {
  type Collection,
  listCollections,
  type Holding,
  listHoldings,
  listPortfolio,
  listShownContracts,
  writePortfolio,
} from "./collection.ts";
import { createCollectionRank } from "./collection-rank.ts";
import type { Databases } from "./database.ts";
import { notFound } from "./errors.ts";
import type { Env } from "./exchange.ts";
import { createKeptLists } from "./kept-list.ts";
import { lightSql } from "./light-sql.ts";
import { createTokenLists, type Selection } from "./marketplace-list.ts";
import {
  getCollectionRoute,
  listCollectionsRoute,
  listPortfolioRoute,
  listPortfolioTokensRoute,
  listTokensRoute,
  MARKETPLACE_ROUTES,
} from "./marketplace-routes.ts";
import {
  listCollectionTokenPage,
  listPortfolioTokenPage,
  writeCollectionToken,
  writePortfolioToken,
} from "./marketplace-token.ts";
import { type Monitor, within } from "./monitor.ts";
import { mountRoute, refuseOtherMethods } from "./route.ts";

/**
 * A request waits no longer for the database, in milliseconds: lists of a million tokens take some seconds when they are
 * first asked for.
 */
const ANSWER_WITHIN_MS = 20_000;

/** The Marketplace API. Its lists are of the main network; a single collection may be of either. */
export function createMarketplaceApi({
  read,
  long,
  monitor,
}: Pick<Databases, "read" | "long"> & { monitor: Monitor }): Hono<Env> {
  const app = new Hono<Env>();
  const light = { mainnet: lightSql(read.mainnet), testnet: lightSql(read.testnet) };
  const sql = light.mainnet;
  const rank = createCollectionRank(long.mainnet);
  const shown = createKeptLists<string[]>({ sizeOf: (all) => all.length, weightOf: (all) => all.length });
  const holdings = createKeptLists<Map<string, Holding>>({
    sizeOf: (held) => held.values().reduce((sum, one) => sum + one.held + one.listed, 0),
    weightOf: (held) => held.size,
  });
  const tokenLists = { mainnet: createTokenLists(long.mainnet), testnet: createTokenLists(long.testnet) };
  const mount = ((target, route, { handle }) =>
    mountRoute(target, route, {
      isLive: true,
      handle: (input, c) => within(ANSWER_WITHIN_MS, Promise.resolve(handle(input, c))),
    })) as typeof mountRoute;

  mount(app, listCollectionsRoute, {
    handle: async ({ query }) => {
      const { chainId } = monitor.require("mainnet");
      const all = await rank.inOrder(await shown("all", () => listShownContracts(sql, { chainId })));
      const { addresses, ...rest } = pageOf(all, query);
      return JSON.stringify({ data: await listCollections(sql, { chainId, addresses }), ...rest });
    },
  });

  mount(app, getCollectionRoute, {
    handle: async ({ params }) => {
      const { network, chainId } = requireChain(params.chain_id);
      return JSON.stringify({ data: await requireCollection(light[network], { chainId, address: params.address }) });
    },
  });

  mount(app, listPortfolioRoute, {
    handle: async ({ params, query }) => {
      const { chainId, now } = monitor.require("mainnet");
      const { user_address: accountAddress } = params;
      const held = await holdings(accountAddress, () => listHoldings(long.mainnet, { chainId, now, accountAddress }));
      const { addresses, ...rest } = pageOf(await rank.inOrder([...held.keys()]), query);
      const rows = await listPortfolio(sql, { chainId, now, addresses, counts: addresses.map(rank.countOf) });
      const data = rows.map((row) => writePortfolio(row, held.get(row.address.slice(2))!));
      return JSON.stringify({ data, ...rest });
    },
  });

  mount(app, listTokensRoute, {
    handle: async ({ params, query }) => {
      const { network, chainId, now } = requireChain(params.chain_id);
      const { address: contractAddress } = params;
      const selection = selectionOf(query);
      const [{ count, page }] = await Promise.all([
        tokenLists[network]({ chainId, now, contractAddress }, selection, rangeOf(query)),
        requireCollection(light[network], { chainId, address: contractAddress }),
      ]);
      const { isBuyNow } = selection;
      const rows = await listCollectionTokenPage(light[network], { chainId, now, contractAddress, page, isBuyNow });
      return writeTokens(rows.map(writeCollectionToken), { query, count });
    },
  });

  mount(app, listPortfolioTokensRoute, {
    handle: async ({ params, query }) => {
      const { chainId, now } = monitor.require("mainnet");
      const scope = { chainId, now, accountAddress: params.user_address, contractAddress: query.collection };
      const selection = selectionOf(query);
      const { count, page } = await tokenLists.mainnet(scope, selection, rangeOf(query));
      const { isBuyNow } = selection;
      const { accountAddress } = scope;
      const rows = await listPortfolioTokenPage(sql, { chainId, now, accountAddress, page, isBuyNow });
      return writeTokens(rows.map(writePortfolioToken), { query, count });
    },
  });

  refuseOtherMethods(app, MARKETPLACE_ROUTES);
  return app;

  function requireChain(chainId: number): { network: Network; chainId: number; now: number } {
    const network = NETWORKS.find((name) =>
      monitor.networks().some((row) => row.name === name && row.chain_id === chainId),
    );
    if (!network) {
      monitor.require("mainnet");
      throw notFound(`Chain ${chainId} is not served here.`);
    }
    return { network, ...monitor.require(network) };
  }
}

async function requireCollection(
  sql: Sql,
  { chainId, address }: { chainId: number; address: string },
): Promise<Collection> {
  const [collection] = (await listCollections(sql, { chainId, addresses: [address.slice(2)] })) as [Collection?];
  if (!collection) throw notFound(`Collection ${address} is unknown.`);
  return collection;
}

type PageNumber = { page: number; items_per_page: number };

const rangeOf = ({ page, items_per_page: limit }: PageNumber) => ({ offset: (page - 1) * limit, limit });

const selectionOf = (query: { buy_now: string; sort?: "price" | undefined; direction: "asc" | "desc" }): Selection => ({
  isBuyNow: query.buy_now === "true",
  sort: query.sort,
  direction: query.direction,
});

function writeTokens(data: object[], { query, count }: { query: PageNumber; count: number }): string {
  const { offset, limit } = rangeOf(query);
  return JSON.stringify({ data, token_count: count, next_page: offset + limit < count ? query.page + 1 : null });
}

/** A page of a list by its number. Past the end it is empty. */
function pageOf(all: readonly string[], query: PageNumber) {
  const { offset, limit } = rangeOf(query);
  return {
    addresses: all.slice(offset, offset + limit),
    collection_count: all.length,
    next_page: offset + limit < all.length ? query.page + 1 : null,
  };
}
