import { Hono } from "hono";
import type { Sql } from "postgres";
import type { Network } from "../../config.ts";
import { contractJson, findContract, listContracts } from "./contract.ts";
import { readPaging, scopeOf } from "../http/cursor.ts";
import type { RowStream } from "../sql/database.ts";
import { unknownContract, unknownToken } from "../http/errors.ts";
import type { Event, EventKey } from "./event.ts";
import { eventKey, listEventItems } from "./event-item.ts";
import type { Env } from "../http/request-state.ts";
import { createMount } from "../http/mount.ts";
import * as routes from "./indexer-routes.ts";
import type { Monitor } from "../monitor.ts";
import { mountOwners } from "./owner-api.ts";
import { parseItem, writePage } from "../http/page.ts";
import { requestRefresh } from "./refresh.ts";
import { refuseOtherMethods } from "../http/route.ts";
import type { Token } from "./token.ts";
import { listTokens } from "./token-item.ts";
import { createTokenLoader } from "./token-loader.ts";
import { findTokens, listBatch, type TokenKey } from "./token-lookup.ts";

/** Creates the Indexer API of one network. `write` takes refresh requests; `read` and `stream` may be of a replica. */
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
  const loadToken = createTokenLoader((tokens) => {
    const { chainId } = monitor.require(network);
    return findTokens(stream, { chainId, tokens });
  });

  const mount = createMount({ network, monitor });

  // Mounted before the paths in which its last part would be an address.
  mount(app, routes.batchTokensRoute, {
    handle: async ({ body }) => {
      const { chainId } = monitor.require(network);
      const keyOf = (token: TokenKey) => `${token.contract_address}/${token.token_id}`;
      const tokens = new Map(body.tokens.map((token) => [keyOf(token), token]));
      const items = await listBatch(stream, { chainId, tokens: [...tokens.values()] });
      return `{"result":[${items.join(",")}]}`;
    },
  });

  refuseOtherMethods(app);

  mount(app, routes.listContractsRoute, {
    handle: async ({ query }) => {
      const { chainId, secret } = monitor.require(network);
      const { after, limit, encode } = readPaging(secret, query, scopeOf("contracts", network));
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
      const { after, limit, encode } = readPaging(secret, query, scope);
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
      monitor.require(network);
      const { contract_address: contractAddress, token_id: tokenId } = params;
      const token = await loadToken({ contractAddress, tokenId });
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
      return JSON.stringify({ result: routes.QUEUED });
    },
  });

  mount(app, routes.listContractEventsRoute, {
    handle: async ({ params, query }) => {
      const { chainId, secret } = monitor.require(network);
      const { contract_address: contractAddress } = params;
      const { after, limit, encode } = readPaging(secret, query, scopeOf("events", network, contractAddress));
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
      const { after, limit, encode } = readPaging(secret, query, scopeOf("events", network, contractAddress, tokenId));
      const before = after as EventKey | undefined;
      const page = await listEventItems(stream, { chainId, contractAddress, tokenId, before, limit });
      if (page.count() === 0 && !(await loadToken({ contractAddress, tokenId })))
        throw unknownToken(contractAddress, tokenId);
      return page.finish((last) => encode(eventKey(parseItem(last) as Event)));
    },
  });

  mountOwners(app, { network, stream, monitor, mount });
  refuseOtherMethods(app);
  return app;

  async function requireContract({ chainId, contractAddress }: { chainId: number; contractAddress: string }) {
    const contract = await findContract(read, { chainId, contractAddress });
    if (!contract) throw unknownContract(contractAddress);
    return contract;
  }
}
