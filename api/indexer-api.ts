import type { KeyObject } from "node:crypto";
import { Hono } from "hono";
import type { Sql } from "postgres";
import type { Network } from "../config.ts";
import { findContract, listContracts, writeContract } from "./contract.ts";
import { decodeCursor, encodeCursor, scopeOf, type SortKey } from "./cursor.ts";
import { type RawRow, toHex, toText } from "./database.ts";
import { HttpError, notFound, throughTakeover } from "./errors.ts";
import { type EventKey, listEvents, writeEvent } from "./event.ts";
import type { Env } from "./exchange.ts";
import * as routes from "./indexer-routes.ts";
import { type Monitor, within } from "./monitor.ts";
import { holdingsGroup, listHoldings, listOwnerContracts, writeHolding, writeOwnerToken } from "./owner.ts";
import { concat, writeGroupedPage, writePage } from "./page.ts";
import { requestRefresh } from "./refresh.ts";
import { mountRoute, refuseOtherMethods } from "./route.ts";
import { listBatch, listTokens, writeBatchToken, writeToken } from "./token.ts";
import { createTokenLoader } from "./token-loader.ts";

/** A request waits no longer for the database, in milliseconds: a little more than a statement may take there. */
const ANSWER_WITHIN_MS = 6000;

/** The Indexer API of one network. `write` takes refresh requests, `read` may be a replica. */
export function createIndexerApi({
  network,
  read,
  write,
  monitor,
  refreshCooldownSeconds,
}: {
  network: Network;
  read: Sql;
  write: Sql;
  monitor: Monitor;
  refreshCooldownSeconds: number;
}): Hono<Env> {
  const app = new Hono<Env>();
  const loadToken = createTokenLoader(read);

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
      const rows = await listBatch(read, { chainId, tokens: body.tokens });
      const items = rows.flatMap((row, place) => [place === 0 ? "" : ",", ...writeBatchToken(row)]);
      return concat(['{"result":[', ...items, "]}"]);
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
        write: writeContract,
      });
    },
  });

  mount(app, routes.getContractRoute, {
    handle: async ({ params }) => {
      const { chainId } = monitor.require(network);
      const contract = await requireContract({ chainId, contractAddress: params.contract_address });
      return concat(['{"result":', ...writeContract(contract), ',"cursor":null}']);
    },
  });

  mount(app, routes.listTokensRoute, {
    handle: async ({ params, query }) => {
      const { chainId, secret } = monitor.require(network);
      const { contract_address: contractAddress } = params;
      const { tokens_ids: tokenIds } = query;
      const scope = scopeOf("tokens", network, contractAddress, tokenIds?.join(",") ?? "*");
      const { after, limit, encode } = paging(secret, query, scope);
      const rows = await listTokens(read, {
        chainId,
        contractAddress,
        tokenIds,
        after: after?.[0] as string | undefined,
        limit: limit + 1,
      });
      if (rows.length === 0) await requireContract({ chainId, contractAddress });
      return writePage(rows, { limit, encode, keyOf: (row) => [toText(row[1])], write: writeToken });
    },
  });

  mount(app, routes.getTokenRoute, {
    handle: async ({ params }) => {
      const { chainId } = monitor.require(network);
      const { contract_address: contractAddress, token_id: tokenId } = params;
      const token = await loadToken({ chainId, contractAddress, tokenId });
      if (!token) throw unknownToken(contractAddress, tokenId);
      return concat(['{"result":', ...writeToken(token), "}"]);
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
      const rows = await listEvents(read, { chainId, contractAddress, before, limit: limit + 1 });
      if (rows.length === 0) await requireContract({ chainId, contractAddress });
      return writePage(rows, { limit, encode, keyOf: eventKey, write: writeEvent });
    },
  });

  mount(app, routes.listTokenEventsRoute, {
    handle: async ({ params, query }) => {
      const { chainId, secret } = monitor.require(network);
      const { contract_address: contractAddress, token_id: tokenId } = params;
      const { after, limit, encode } = paging(secret, query, scopeOf("events", network, contractAddress, tokenId));
      const before = after as EventKey | undefined;
      const rows = await listEvents(read, { chainId, contractAddress, tokenId, before, limit: limit + 1 });
      if (rows.length === 0 && !(await loadToken({ chainId, contractAddress, tokenId })))
        throw unknownToken(contractAddress, tokenId);
      return writePage(rows, { limit, encode, keyOf: eventKey, write: writeEvent });
    },
  });

  mount(app, routes.listOwnerTokensRoute, {
    handle: async ({ params, query }) => {
      const { chainId, secret } = monitor.require(network);
      const { account_address: accountAddress } = params;
      const { contract_address: contractAddress } = query;
      const scope = scopeOf("owner-tokens", network, accountAddress, contractAddress ?? "*");
      const { after, limit, encode } = paging(secret, query, scope);
      const rows = await listHoldings(read, {
        chainId,
        accountAddress,
        contractAddress,
        normalizedAs: "text",
        after: after as [string, string] | undefined,
        limit: limit + 1,
      });
      return writePage(rows, {
        limit,
        encode,
        keyOf: holdingKey,
        write: (row) => writeOwnerToken(row, { accountAddress }),
      });
    },
  });

  mount(app, routes.listOwnerContractsRoute, {
    handle: async ({ params, query }) => {
      const { chainId, secret } = monitor.require(network);
      const { account_address: accountAddress } = params;
      const { after, limit, encode } = paging(secret, query, scopeOf("owner-contracts", network, accountAddress));
      const rows = await listOwnerContracts(read, {
        chainId,
        accountAddress,
        after: after?.[0] as string | undefined,
        limit: limit + 1,
      });
      return writePage(rows, { limit, encode, keyOf: (row) => [row.contract_address], write: writeContract });
    },
  });

  mount(app, routes.listHoldingsRoute, {
    handle: async ({ params, query }) => {
      const { chainId, secret } = monitor.require(network);
      const { account_address: accountAddress } = params;
      const { after, limit, encode } = paging(secret, query, scopeOf("owner-all", network, accountAddress));
      const rows = await listHoldings(read, {
        chainId,
        accountAddress,
        normalizedAs: "object",
        after: after as [string, string] | undefined,
        limit: limit + 1,
      });
      return writeGroupedPage(rows, {
        limit,
        encode,
        keyOf: holdingKey,
        groupOf: holdingsGroup,
        write: (row) => writeHolding(row, { accountAddress }),
      });
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

const eventKey = (row: { block_number: number; log_index: number; batch_index: number }): EventKey => [
  row.block_number,
  row.log_index,
  row.batch_index,
];

const holdingKey = (row: RawRow): [string, string] => [toHex(row[0]), toText(row[1])];

function catchError(task: () => unknown): HttpError | undefined {
  try {
    task();
    return undefined;
  } catch (error) {
    if (error instanceof HttpError) return error;
    throw error;
  }
}
