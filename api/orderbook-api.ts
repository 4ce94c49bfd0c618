import type { KeyObject } from "node:crypto";
import { Hono } from "hono";
import type { Sql } from "postgres";
import { findContract } from "./contract.ts";
import { decodeCursor, encodeCursor, scopeOf, type SortKey } from "./cursor.ts";
import { notFound } from "./errors.ts";
import type { Env } from "./exchange.ts";
import { lightSql } from "./light-sql.ts";
import { type Monitor, within } from "./monitor.ts";
import { createOrderChain } from "./order-chain.ts";
import { listHistory, listOffers } from "./order-history.ts";
import { takeOrder } from "./order-intake.ts";
import { findOrderbookToken, listCollectionTokens, listOwnedTokens, writeOrderbookToken } from "./orderbook.ts";
import {
  createOrderRoute,
  getOrderbookTokenRoute,
  listCollectionTokensRoute,
  listHistoryRoute,
  listOffersRoute,
  listOwnedTokensRoutes,
  ORDERBOOK_ROUTES,
} from "./orderbook-routes.ts";
import { writePage } from "./page.ts";
import { mountRoute, refuseOtherMethods } from "./route.ts";
import { toTokenIdHex } from "./token.ts";
import type { Moment } from "./trade-order.ts";

/** A request waits no longer for the database, in milliseconds. */
const ANSWER_WITHIN_MS = 6000;

/** The Orderbook API of the main network. `write` takes signed orders, `read` may be a replica. */
export function createOrderbookApi({
  read,
  write,
  monitor,
  rpcUrls,
  extraExchanges,
}: {
  read: Sql;
  write: Sql;
  monitor: Monitor;
  rpcUrls: readonly string[];
  extraExchanges: readonly string[];
}): Hono<Env> {
  const app = new Hono<Env>();
  const sql = lightSql(read);
  const chain = createOrderChain(rpcUrls);
  // What is listed changes with every second.
  const mount = ((target, route, { handle }) =>
    mountRoute(target, route, {
      isLive: true,
      handle: (input, c) => within(ANSWER_WITHIN_MS, Promise.resolve(handle(input, c))),
    })) as typeof mountRoute;

  const paging = (
    secret: KeyObject,
    { cursor, limit }: { cursor?: string | undefined; limit: number },
    scope: string,
  ) => ({
    after: cursor === undefined ? undefined : decodeCursor(secret, { scope, cursor }),
    limit,
    encode: (key: SortKey) => encodeCursor(secret, { scope, key }),
  });

  mount(app, getOrderbookTokenRoute, {
    handle: async ({ params }) => {
      const moment = monitor.require("mainnet");
      return `{"result":${writeOrderbookToken(await requireToken(moment, params), moment)}}`;
    },
  });

  mount(app, listCollectionTokensRoute, {
    handle: async ({ params, query }) => {
      const { chainId, now, secret } = monitor.require("mainnet");
      const { contract_address: contractAddress } = params;
      const { after, limit, encode } = paging(secret, query, scopeOf("orderbook-collection", contractAddress));
      const rows = await listCollectionTokens(sql, {
        chainId,
        now,
        contractAddress,
        after: after?.[0] as string | undefined,
        limit: limit + 1,
      });
      if (rows.length === 0 && !(await findContract(read, { chainId, contractAddress })))
        throw notFound(`Contract ${contractAddress} is unknown.`);
      const write = (row: (typeof rows)[number]) => [writeOrderbookToken(row, { chainId })];
      return writePage(rows, { limit, encode, keyOf: (row) => [row.token_id], write });
    },
  });

  for (const route of listOwnedTokensRoutes) {
    mount(app, route, {
      handle: async ({ params, query }) => {
        const { chainId, now, secret } = monitor.require("mainnet");
        const { account_address: accountAddress } = params;
        const { after, limit, encode } = paging(secret, query, scopeOf("orderbook-owner", accountAddress));
        const rows = await listOwnedTokens(sql, {
          chainId,
          now,
          accountAddress,
          after: after as [string, string] | undefined,
          limit: limit + 1,
        });
        const write = (row: (typeof rows)[number]) => [writeOrderbookToken(row, { chainId })];
        return writePage(rows, { limit, encode, keyOf: (row) => [row.contract_address, row.token_id], write });
      },
    });
  }

  mount(app, listOffersRoute, {
    handle: async ({ params }) => {
      const { chainId, now } = monitor.require("mainnet");
      const token = await requireToken({ chainId, now }, params);
      const offers = await listOffers(sql, {
        chainId,
        now,
        contractAddress: token.contract_address,
        tokenId: token.token_id,
      });
      const current_price = token.order_hash === null ? "" : token.current_price;
      return JSON.stringify({ result: { ...placeOf(token), current_price, offers } });
    },
  });

  mount(app, listHistoryRoute, {
    handle: async ({ params }) => {
      const { chainId, now } = monitor.require("mainnet");
      const token = await requireToken({ chainId, now }, params);
      const history = await listHistory(sql, {
        chainId,
        contractAddress: token.contract_address,
        tokenId: token.token_id,
      });
      return JSON.stringify({ result: { ...placeOf(token), history } });
    },
  });

  mount(app, createOrderRoute, {
    handle: async ({ body }) => {
      const { chainId, now } = monitor.require("mainnet");
      const order_hash = await takeOrder(write, chain, { chainId, body, extraExchanges, now });
      return JSON.stringify({ result: { order_hash } });
    },
  });

  refuseOtherMethods(app, ORDERBOOK_ROUTES);
  return app;

  async function requireToken(
    { chainId, now }: Moment,
    { contract_address: contractAddress, token_id: tokenId }: { contract_address: string; token_id: string },
  ) {
    const token = await findOrderbookToken(sql, { chainId, now, contractAddress, tokenId });
    if (!token) throw notFound(`Token ${tokenId} of contract ${contractAddress} is unknown.`);
    return token;
  }
}

const placeOf = (token: { contract_address: string; token_id: string; owner: string }) => ({
  contract_address: token.contract_address,
  token_id: toTokenIdHex(token.token_id),
  current_owner: token.owner,
});
