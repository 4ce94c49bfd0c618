import type { KeyObject } from "node:crypto";
import { Hono } from "hono";
import type { Sql } from "postgres";
import type { Network } from "../config.ts";
import { type Contract, contractJson, findContract, listContracts } from "./contract.ts";
import { decodeCursor, encodeCursor, scopeOf, type SortKey } from "./cursor.ts";
import type { RowStream } from "./database.ts";
import { HttpError, notFound, throughTakeover } from "./errors.ts";
import type { Event, EventKey } from "./event.ts";
import { eventKey, listEventItems } from "./event-item.ts";
import type { Env } from "./exchange.ts";
import * as routes from "./indexer-routes.ts";
import { type Monitor, within } from "./monitor.ts";
import { listOwnerContracts } from "./owner-contract.ts";
import { holdingKey, listHoldings, listOwnerTokens, type OwnerToken } from "./owner-token.ts";
import { type LastItem, writePage } from "./page.ts";
import { requestRefresh } from "./refresh.ts";
import { mountRoute, refuseOtherMethods } from "./route.ts";
import { listBatch, listTokens, type Token, type TokenKey } from "./token.ts";
import { createTokenLoader } from "./token-loader.ts";

/** A request waits no longer for the database, in milliseconds: a little more than a statement may take there. */
const ANSWER_WITHIN_MS = 6000;

/** The Indexer API of one network. `write` takes refresh requests, `read` and `stream` may be of a replica. */
export function createIndexerApi({
  network,
  read,
  stream,
  write,
  monitor,
  refreshCooldownSeconds,
}: {
  network: Network;
  read: Sql;
  stream: RowStream;
  write: Sql;
  monitor: Monitor;
  refreshCooldownSeconds: number;
}): Hono<Env> {
  const app = new Hono<Env>();
  const loadToken = createTokenLoader(stream);

  const mount = ((target, route, { handle }) =>
    mountRoute(target, route, {
      guard: (c) => {
        // An unknown network is no matter of keys. One that can't be read now is: strangers needn't know.
        const error = catchError(() => monitor.require(network));
        if (error?.status === 404) throw error;
        if (!c.get("exchange").caller) {
          throw new HttpError(
            401,
            c.req.header("x-api-key") === undefined
              ? "The API key is missing. Expected one in the header x-api-key."
              : "The API key is unknown or revoked. Expected a registered one in the header x-api-key.",
          );
        }
      },
      handle: (input, c) =>
        within(
          ANSWER_WITHIN_MS,
          throughTakeover(async () => handle(input, c)),
        ),
    })) as typeof mountRoute;

  /** How the pages of one list are cut and continued. */
  const paging = (
    secret: KeyObject,
    { cursor, limit }: { cursor?: string | undefined; limit: number },
    scope: string,
  ) => ({
    after: cursor === undefined ? undefined : decodeCursor(secret, { scope, cursor }),
    limit,
    encode: (key: SortKey) => encodeCursor(secret, { scope, key }),
  });

  // Before the paths in which its last part would be an address.
  mount(app, routes.batchTokensRoute, {
    handle: async ({ body }) => {
      const { chainId } = monitor.require(network);
      const keyOf = (token: TokenKey) => `${token.contract_address}/${token.token_id}`;
      const tokens = new Map(body.tokens.map((token) => [keyOf(token), token]));
      const items = await listBatch(stream, { chainId, tokens: [...tokens.values()] });
      return `{"result":[${items.join(",")}]}`;
    },
  });

  refuseOtherMethods(app, [routes.batchTokensRoute]);

  mount(app, routes.listContractsRoute, {
    handle: async ({ query }) => {
      const { chainId, secret } = monitor.require(network);
      const { after, limit, encode } = paging(secret, query, scopeOf("contracts", network));
      const rows = await listContracts(read, {
        chainId,
        after: after as [number, number, string] | undefined,
        limit: limit + 1,
      });
      return writePage(rows, {
        limit,
        encode,
        keyOf: (row) => [row.block_number, row.log_index, row.contract_address],
        write: (row) => [Buffer.from(contractJson(row))],
      });
    },
  });

  mount(app, routes.getContractRoute, {
    handle: async ({ params }) => {
      const { chainId } = monitor.require(network);
      const contract = await requireContract({ chainId, contractAddress: params.contract_address });
      return `{"result":${contractJson(contract)},"cursor":null}`;
    },
  });

  mount(app, routes.listTokensRoute, {
    handle: async ({ params, query }) => {
      const { chainId, secret } = monitor.require(network);
      const { contract_address: contractAddress } = params;
      const { tokens_ids: tokenIds } = query;
      const scope = scopeOf("tokens", network, contractAddress, tokenIds?.join(",") ?? "*");
      const { after, limit, encode } = paging(secret, query, scope);
      const page = await listTokens(stream, {
        chainId,
        contractAddress,
        tokenIds,
        after: after?.[0] as string | undefined,
        limit,
      });
      if (page.count() === 0) await requireContract({ chainId, contractAddress });
      return page.finish((last) => encode([(parseItem(last) as Token).token_id]));
    },
  });

  mount(app, routes.getTokenRoute, {
    handle: async ({ params }) => {
      const { chainId } = monitor.require(network);
      const { contract_address: contractAddress, token_id: tokenId } = params;
      const token = await loadToken({ chainId, contractAddress, tokenId });
      if (!token) throw unknownToken(contractAddress, tokenId);
      return `{"result":${token}}`;
    },
  });

  mount(app, routes.refreshMetadataRoute, {
    handle: async ({ params }) => {
      const { chainId } = monitor.require(network);
      await requestRefresh(write, {
        chainId,
        contractAddress: params.contract_address,
        tokenId: params.token_id,
        cooldownSeconds: refreshCooldownSeconds,
      });
      return JSON.stringify(routes.refreshMetadataRoute.example);
    },
  });

  mount(app, routes.listContractEventsRoute, {
    handle: async ({ params, query }) => {
      const { chainId, secret } = monitor.require(network);
      const { contract_address: contractAddress } = params;
      const { after, limit, encode } = paging(secret, query, scopeOf("events", network, contractAddress));
      const before = after as EventKey | undefined;
      const page = await listEventItems(stream, { chainId, contractAddress, before, limit });
      if (page.count() === 0) await requireContract({ chainId, contractAddress });
      return page.finish((last) => encode(eventKey(parseItem(last) as Event)));
    },
  });

  mount(app, routes.listTokenEventsRoute, {
    handle: async ({ params, query }) => {
      const { chainId, secret } = monitor.require(network);
      const { contract_address: contractAddress, token_id: tokenId } = params;
      const { after, limit, encode } = paging(secret, query, scopeOf("events", network, contractAddress, tokenId));
      const before = after as EventKey | undefined;
      const page = await listEventItems(stream, { chainId, contractAddress, tokenId, before, limit });
      if (page.count() === 0 && !(await loadToken({ chainId, contractAddress, tokenId })))
        throw unknownToken(contractAddress, tokenId);
      return page.finish((last) => encode(eventKey(parseItem(last) as Event)));
    },
  });

  mount(app, routes.listOwnerTokensRoute, {
    handle: async ({ params, query }) => {
      const { chainId, secret } = monitor.require(network);
      const { account_address: accountAddress } = params;
      const { contract_address: contractAddress } = query;
      const scope = scopeOf("owner-tokens", network, accountAddress, contractAddress ?? "*");
      const { after, limit, encode } = paging(secret, query, scope);
      const page = await listOwnerTokens(stream, {
        chainId,
        accountAddress,
        contractAddress,
        after: after as [string, string] | undefined,
        limit,
      });
      return page.finish((last) => {
        const { contract_address, token_id } = parseItem(last) as OwnerToken;
        return encode([contract_address, token_id]);
      });
    },
  });

  mount(app, routes.listOwnerContractsRoute, {
    handle: async ({ params, query }) => {
      const { chainId, secret } = monitor.require(network);
      const { account_address: accountAddress } = params;
      const { after, limit, encode } = paging(secret, query, scopeOf("owner-contracts", network, accountAddress));
      const page = await listOwnerContracts(stream, {
        chainId,
        accountAddress,
        after: after?.[0] as string | undefined,
        limit,
      });
      return page.finish((last) => encode([(parseItem(last) as Contract).contract_address]));
    },
  });

  mount(app, routes.listHoldingsRoute, {
    handle: async ({ params, query }) => {
      const { chainId, secret } = monitor.require(network);
      const { account_address: accountAddress } = params;
      const { after, limit, encode } = paging(secret, query, scopeOf("owner-all", network, accountAddress));
      const page = await listHoldings(stream, {
        chainId,
        accountAddress,
        after: after as [string, string] | undefined,
        limit,
      });
      return page.finish((last) => encode(holdingKey(last)));
    },
  });

  refuseOtherMethods(app, routes.INDEXER_ROUTES);
  return app;

  async function requireContract({ chainId, contractAddress }: { chainId: number; contractAddress: string }) {
    const contract = await findContract(read, { chainId, contractAddress });
    if (!contract) throw notFound(`Contract ${contractAddress} is unknown.`);
    return contract;
  }
}

const unknownToken = (contractAddress: string, tokenId: string) =>
  notFound(`Token ${tokenId} of contract ${contractAddress} is unknown.`);

/** An item as it is on the wire: its place in the list is read from it, so that no row needs columns for that. */
const parseItem = ({ item }: LastItem): unknown => JSON.parse(item.toString());

function catchError(task: () => unknown): HttpError | undefined {
  try {
    task();
    return undefined;
  } catch (error) {
    if (error instanceof HttpError) return error;
    throw error;
  }
}
