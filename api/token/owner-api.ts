import type { Hono } from "hono";
import type { Network } from "../../config.ts";
import type { Contract } from "./contract.ts";
import { readPaging, scopeOf } from "../http/cursor.ts";
import type { RowStream } from "../sql/database.ts";
import type { Env } from "../http/request-state.ts";
import { listHoldingsRoute, listOwnerContractsRoute, listOwnerTokensRoute } from "./indexer-routes.ts";
import type { Monitor } from "../monitor.ts";
import { parseItem } from "../http/page.ts";
import { listOwnerContracts } from "./owner-contract.ts";
import { holdingKey, listHoldings, listOwnerTokens, type OwnerToken } from "./owner-token.ts";
import type { mountRoute } from "../http/route.ts";

/** Adds the endpoints for what an account holds. */
export function mountOwners(
  app: Hono<Env>,
  {
    network,
    stream,
    monitor,
    mount,
  }: { network: Network; stream: RowStream; monitor: Monitor; mount: typeof mountRoute },
): void {
  mount(app, listOwnerTokensRoute, {
    handle: async ({ params, query }) => {
      const { chainId, secret } = monitor.require(network);
      const { account_address: accountAddress } = params;
      const { contract_address: contractAddress } = query;
      const scope = scopeOf("owner-tokens", network, accountAddress, contractAddress ?? "*");
      const { after, limit, encode } = readPaging(secret, query, scope);
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

  mount(app, listOwnerContractsRoute, {
    handle: async ({ params, query }) => {
      const { chainId, secret } = monitor.require(network);
      const { account_address: accountAddress } = params;
      const { after, limit, encode } = readPaging(secret, query, scopeOf("owner-contracts", network, accountAddress));
      const page = await listOwnerContracts(stream, {
        chainId,
        accountAddress,
        after: after?.[0] as string | undefined,
        limit,
      });
      return page.finish((last) => encode([(parseItem(last) as Contract).contract_address]));
    },
  });

  mount(app, listHoldingsRoute, {
    handle: async ({ params, query }) => {
      const { chainId, secret } = monitor.require(network);
      const { account_address: accountAddress } = params;
      const { after, limit, encode } = readPaging(secret, query, scopeOf("owner-all", network, accountAddress));
      const page = await listHoldings(stream, {
        chainId,
        accountAddress,
        after: after as [string, string] | undefined,
        limit,
      });
      return page.finish((last) => encode(holdingKey(last)));
    },
  });
}
