import { Hono } from "hono";
import type { Sql } from "postgres";
import { NETWORKS, type Network } from "../../config.ts";
import { type Collection, COLLECTION_ITEMS, listCollections, listShownContracts } from "./collection.ts";
import type { CollectionRank } from "./collection-rank.ts";
import { type Databases, toArray } from "../sql/database.ts";
import { notFound } from "../http/errors.ts";
import type { Env } from "../http/request-state.ts";
import { createKeptLists } from "../sql/kept-list.ts";
import { createKeptPages, loadNumberedPage } from "./marketplace-body.ts";
import { createTokenLists, type Selection } from "./marketplace-list.ts";
import {
  getCollectionRoute,
  listCollectionsRoute,
  listPortfolioRoute,
  listPortfolioTokensRoute,
  listTokensRoute,
} from "./marketplace-routes.ts";
import { writeAccountPage, writeCollectionPage } from "./marketplace-token.ts";
import { type Portfolio, PORTFOLIO_ITEMS, readPortfolio } from "./portfolio.ts";
import type { Monitor } from "../monitor.ts";
import { createLiveMount } from "../http/mount.ts";
import { refuseOtherMethods } from "../http/route.ts";
import { momentParameters } from "../orderbook/trade-order.ts";

/**
 * How long a request may wait for the database, in milliseconds: a list of a million tokens takes some seconds at its
 * first request.
 */
const LISTS_WITHIN_MS = 20_000;

/** The Marketplace API. Lists of collections and portfolios are of the main network; a collection may be of either. */
export function createMarketplaceApi({
  read,
  stream,
  long,
  rank,
  monitor,
}: Pick<Databases, "read" | "stream" | "long"> & { rank: CollectionRank; monitor: Monitor }): Hono<Env> {
  const app = new Hono<Env>();
  const shown = createKeptLists<string[]>({ sizeOf: (all) => all.length, weightOf: (all) => all.length });
  const portfolios = createKeptLists<Portfolio>({
    sizeOf: ({ size }) => size,
    // A holding takes as much memory as three entries of another list.
    weightOf: ({ of }) => 3 * of.size,
  });
  const getPage = createKeptPages();
  const tokenLists = { mainnet: createTokenLists(long.mainnet), testnet: createTokenLists(long.testnet) };
  const mount = createLiveMount({ answerWithinMs: LISTS_WITHIN_MS });

  mount(app, listCollectionsRoute, {
    handle: async ({ query }) => {
      const { chainId } = monitor.require("mainnet");
      const all = await rank.inOrder(await shown("all", () => listShownContracts(long.mainnet, { chainId })));
      return getPage({ key: query, listSize: all.length }, () => {
        const { addresses, about } = pageOf(all, query);
        const parameters = [toArray(addresses), chainId];
        return loadNumberedPage(stream.mainnet, { text: COLLECTION_ITEMS, parameters, about });
      });
    },
  });

  mount(app, getCollectionRoute, {
    handle: async ({ params }) => {
      const { network, chainId } = requireChain(params.chain_id);
      return JSON.stringify({ data: await requireCollection(read[network], { chainId, address: params.address }) });
    },
  });

  mount(app, listPortfolioRoute, {
    handle: async ({ params, query }) => {
      const { chainId, now } = monitor.require("mainnet");
      const { user_address: accountAddress } = params;
      const scope = { chainId, now, accountAddress };
      const portfolio = await portfolios(accountAddress, () => readPortfolio(long.mainnet, scope));
      const all = await rank.inOrder(portfolio.addresses);
      return getPage({ key: { ...query, accountAddress }, listSize: portfolio.size }, () => {
        const { addresses, about } = pageOf(all, query);
        const parameters = [
          toArray(addresses),
          ...momentParameters({ chainId, now }),
          toArray(addresses.map(rank.countOf)),
          toArray(addresses.map((address) => portfolio.of.get(address)!.held)),
          toArray(addresses.map((address) => portfolio.of.get(address)!.listed)),
        ];
        return loadNumberedPage(stream.mainnet, { text: PORTFOLIO_ITEMS, parameters, about });
      });
    },
  });

  mount(app, listTokensRoute, {
    handle: async ({ params, query }) => {
      const { network, chainId, now } = requireChain(params.chain_id);
      const scope = { chainId, now, contractAddress: params.address };
      const selection = selectionOf(query);
      const { count, page } = await tokenLists[network](scope, selection, rangeOf(query));
      return writeCollectionPage(stream[network], {
        ...scope,
        page,
        isBuyNow: selection.isBuyNow,
        about: aboutTokens(query, count),
        ifEmpty: () => requireCollection(read[network], { chainId, address: params.address }),
      });
    },
  });

  mount(app, listPortfolioTokensRoute, {
    handle: async ({ params, query }) => {
      const { chainId, now } = monitor.require("mainnet");
      const scope = { chainId, now, accountAddress: params.user_address, contractAddress: query.collection };
      const selection = selectionOf(query);
      const { count, page } = await tokenLists.mainnet(scope, selection, rangeOf(query));
      const { isBuyNow } = selection;
      return writeAccountPage(stream.mainnet, { ...scope, page, isBuyNow, about: aboutTokens(query, count) });
    },
  });

  refuseOtherMethods(app);
  return app;

  function requireChain(chainId: bigint): { network: Network; chainId: number; now: number } {
    const network = NETWORKS.find((name) =>
      monitor.networks().some((row) => row.name === name && BigInt(row.chain_id) === chainId),
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

/** Without a sort by price the direction has no effect. It is set to `asc`, so that the same list isn't kept twice. */
const selectionOf = (query: {
  buy_now: boolean;
  sort?: "price" | undefined;
  direction: "asc" | "desc";
}): Selection => ({
  isBuyNow: query.buy_now,
  sort: query.sort,
  direction: query.sort === undefined ? "asc" : query.direction,
});

const nextPage = (query: PageNumber, count: number) =>
  query.page * query.items_per_page < count ? query.page + 1 : null;

const aboutTokens = (query: PageNumber, count: number) => ({ token_count: count, next_page: nextPage(query, count) });

/** A page of a list by its number. Past the end it is empty. */
function pageOf(all: readonly string[], query: PageNumber) {
  const { offset, limit } = rangeOf(query);
  return {
    addresses: all.slice(offset, offset + limit),
    about: { collection_count: all.length, next_page: nextPage(query, all.length) },
  };
}
