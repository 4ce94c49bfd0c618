import { Hono } from "hono";
import type { Sql } from "postgres";
import { type Hex, numberToHex } from "viem";
import { findContract } from "../token/contract.ts";
import { readPaging, scopeOf } from "../http/cursor.ts";
import type { RowStream } from "../sql/database.ts";
import { unavailable, unknownContract, unknownOrder, unknownToken } from "../http/errors.ts";
import type { Env } from "../http/request-state.ts";
import { createClientBudget } from "../key/client-budget.ts";
import type { RateStore } from "../key/rate-store.ts";
import type { Log } from "../log.ts";
import type { Monitor } from "../monitor.ts";
import { createLiveMount } from "../http/mount.ts";
import type { OrderBody } from "./order-body.ts";
import { createOrderNodes } from "./order-nodes.ts";
import { listHistory } from "./order-history.ts";
import { findSignedOrder } from "./signed-order.ts";
import { listOffers } from "./token-offer.ts";
import { takeOrder } from "./order-intake.ts";
import {
  findOrderbookItems,
  findOrderbookToken,
  listCollectionItems,
  listOwnedItems,
  type OrderbookToken,
} from "./orderbook.ts";
import {
  createOrderRoute,
  getOrderRoute,
  getOrderbookTokenRoute,
  listCollectionTokensRoute,
  listHistoryRoute,
  listOffersRoute,
  listOwnedTokensRoutes,
  ORDERS_PER_MINUTE,
} from "./orderbook-routes.ts";
import { parseItem } from "../http/page.ts";
import { refuseOtherMethods } from "../http/route.ts";
import { createTokenLoader } from "../token/token-loader.ts";
import type { Moment } from "./trade-order.ts";

/** What signed orders are checked with, and where they are stored. */
type IntakeOptions = {
  write: Sql;
  monitor: Monitor;
  rpcUrls: readonly string[] | undefined;
  extraExchanges: readonly string[];
  store: RateStore;
  log: Log;
};

/**
 * The Orderbook API of the main network. Signed orders are stored through `write`, and taken only if `rpcUrls` names
 * nodes to check them with. `read` and `stream` may read from a replica.
 */
export function createOrderbookApi({
  read,
  stream,
  ...intake
}: IntakeOptions & { read: Sql; stream: RowStream }): Hono<Env> {
  const { monitor, extraExchanges } = intake;
  const app = new Hono<Env>();
  const loadToken = createTokenLoader((tokens) => {
    const { chainId, now } = monitor.require("mainnet");
    return findOrderbookItems(stream, { chainId, now, tokens });
  });
  const take = createIntake(intake);
  const mount = createLiveMount();
  const mountIntake = createLiveMount({
    late: "The database or the network's nodes take too long to check the order. Expected to be sent again.",
  });

  mount(app, getOrderbookTokenRoute, {
    handle: async ({ params }) => {
      monitor.require("mainnet");
      const { contract_address: contractAddress, token_id: tokenId } = params;
      const token = await loadToken({ contractAddress, tokenId });
      if (!token) throw unknownToken(contractAddress, tokenId);
      return `{"result":${token}}`;
    },
  });

  mount(app, listCollectionTokensRoute, {
    handle: async ({ params, query }) => {
      const { chainId, now, secret } = monitor.require("mainnet");
      const { contract_address: contractAddress } = params;
      const { after, limit, encode } = readPaging(secret, query, scopeOf("orderbook-collection", contractAddress));
      const page = await listCollectionItems(stream, {
        chainId,
        now,
        contractAddress,
        after: after?.[0] as string | undefined,
        limit,
      });
      if (page.count() === 0 && !(await findContract(read, { chainId, contractAddress })))
        throw unknownContract(contractAddress);
      return page.finish((last) => encode([keyOf(parseItem(last)).tokenId]));
    },
  });

  for (const route of listOwnedTokensRoutes) {
    mount(app, route, {
      handle: async ({ params, query }) => {
        const { chainId, now, secret } = monitor.require("mainnet");
        const { account_address: accountAddress } = params;
        const { after, limit, encode } = readPaging(secret, query, scopeOf("orderbook-owner", accountAddress));
        const page = await listOwnedItems(stream, {
          chainId,
          now,
          accountAddress,
          after: after as [string, string] | undefined,
          limit,
        });
        return page.finish((last) => {
          const { contractAddress, tokenId } = keyOf(parseItem(last));
          return encode([contractAddress, tokenId]);
        });
      },
    });
  }

  mount(app, listOffersRoute, {
    handle: async ({ params }) => {
      const { chainId, now } = monitor.require("mainnet");
      const token = await requireToken({ chainId, now }, params);
      const offers = await listOffers(read, {
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
      const history = await listHistory(read, {
        chainId,
        contractAddress: token.contract_address,
        tokenId: token.token_id,
      });
      return JSON.stringify({ result: { ...placeOf(token), history } });
    },
  });

  mountIntake(app, createOrderRoute, {
    handle: async ({ body }, c) => {
      const order_hash = await take(body, { clientAddress: c.get("state").clientAddress });
      return JSON.stringify({ result: { order_hash } });
    },
  });

  mount(app, getOrderRoute, {
    handle: async ({ params }) => {
      const { chainId, now } = monitor.require("mainnet");
      const { order_hash: orderHash } = params;
      const result = await findSignedOrder(read, { chainId, now, orderHash, extraExchanges });
      if (!result) throw unknownOrder(orderHash);
      return JSON.stringify({ result });
    },
  });

  refuseOtherMethods(app);
  return app;

  async function requireToken(
    { chainId, now }: Moment,
    { contract_address: contractAddress, token_id: tokenId }: { contract_address: string; token_id: string },
  ) {
    const token = await findOrderbookToken(read, { chainId, now, contractAddress, tokenId });
    if (!token) throw unknownToken(contractAddress, tokenId);
    return token;
  }
}

/**
 * Creates the function that takes a signed order of a client, and returns its hash. @throws HttpError 400, 429, 503 where
 * there is no node to check it with
 */
function createIntake({ write, monitor, rpcUrls, extraExchanges, store, log }: IntakeOptions) {
  const chainIdOf = () => monitor.require("mainnet").chainId;
  const openChain =
    rpcUrls &&
    createOrderNodes({
      rpcUrls,
      chain: {
        id: chainIdOf,
        onOther: (host, chain_id) =>
          log("error", "a node is not asked: it is of another chain", { host, chain_id, expected: chainIdOf() }),
      },
    });
  const budget = createClientBudget({
    store,
    name: "order",
    most: ORDERS_PER_MINUTE,
    seconds: 60,
    what: "orders",
    each: "a minute",
  });

  return async (body: OrderBody, { clientAddress }: { clientAddress: string }): Promise<Hex> => {
    const { chainId, now } = monitor.require("mainnet");
    if (!openChain)
      throw unavailable(
        "Orders are not taken: there is no node to check them with. Expected MAINNET_RPC_URL to be set.",
      );
    await budget.take(clientAddress);
    return takeOrder(write, openChain(), { chainId, body, extraExchanges, now });
  };
}

/** Where an item is in its list. */
function keyOf(item: unknown): { contractAddress: string; tokenId: string } {
  const { contract_address: contractAddress, token_id } = item as OrderbookToken;
  return { contractAddress, tokenId: BigInt(token_id).toString() };
}

const placeOf = (token: { contract_address: string; token_id: string; owner: string }) => ({
  contract_address: token.contract_address,
  token_id: numberToHex(BigInt(token.token_id), { size: 32 }),
  current_owner: token.owner,
});
