import { z } from "@hono/zod-openapi";
import type { Sql } from "postgres";
import { zeroAddress } from "viem";
import { flag, grouped, integer, number } from "../http/field.ts";
import { floorOf } from "../orderbook/floor.ts";
import { wholeOf } from "../orderbook/native-currency.ts";
import type { Moment } from "../orderbook/trade-order.ts";
import { numberJson, textJson } from "../sql/item.ts";
import { SHORT_LIST } from "../sql/kept-list.ts";
import { runLong } from "../sql/long-statement.ts";
import { ContractAddress, ContractImageText, ContractName } from "../token/token-field.ts";
import { JOIN_COLLECTION } from "./collection.ts";
import { isRead, itemsByPlace, LARGE, LARGE_OF_PAGE } from "./marketplace-body.ts";
import { chooseListed } from "./marketplace-listing.ts";
import { countSeen, held, IS_HELD, namesOf, scopeParameters } from "./marketplace-scope.ts";

/**
 * For a collection with so many tokens, burned ones included, the last count is shown. Otherwise somebody could burn a
 * million tokens and give one away, and each page of its holder would count them all.
 */
const COUNT_FROM = 1000;

/** A collection of which an account holds tokens. */
export const PortfolioCollection = z
  .strictObject({
    address: ContractAddress,
    image: ContractImageText,
    collection_name: ContractName,
    floor: number(
      "The lowest ask for one unit that could be taken now, in whole units of the chain's currency, to which its wrapped " +
        "form counts; null where nothing is on sale for that.",
    ).nullable(),
    token_count: integer(
      `Tokens that somebody holds, each id once; as of a moment ago in a collection that has had ${grouped(COUNT_FROM)} or more.`,
    ),
    user_token_count: integer("Those that the account holds, each id once."),
    user_listed_tokens: integer("Those that the account has on sale, each id once."),
    is_verified: flag("The operator of this service has verified it."),
  })
  .openapi("PortfolioCollection", {
    description:
      `A collection of which an account holds something. Of images ${LARGE} a page has ${LARGE_OF_PAGE}: those of others are ` +
      "empty.",
  });

/** How many distinct tokens of one contract an account holds, and how many it has on sale. */
type Holding = { held: number; listed: number };

/**
 * An account's holdings by contract (addresses without 0x), these addresses, and how many tokens or listings were looked
 * at.
 */
export type Portfolio = { addresses: string[]; of: Map<string, Holding>; size: number };

/**
 * What an account holds and sells now of each contract that isn't hidden. The zero address gets nothing: all tokens
 * that were ever burned would be read for it. `sql`: connections for `runLong`.
 */
export async function readPortfolio(sql: Sql, scope: Moment & { accountAddress: string }): Promise<Portfolio> {
  if (scope.accountAddress === zeroAddress) return { addresses: [], of: new Map(), size: 0 };
  const { listed, isOverSets, looked } = await chooseListed(sql, scope);
  const statement = `
    select
      encode(contract_address, 'hex') as address,
      sum(held)::float8 as held,
      sum(listed)::float8 as listed
    from (
      select
        contract_address,
        count(*) as held,
        0 as listed
      from (${held(namesOf(scope))}) as held
      group by contract_address
      union all
      select
        contract_address,
        0,
        count(*)
      from (${listed}) as listed
      group by contract_address
    ) as counted
    group by contract_address
  `;
  const rows = await runLong<Holding & { address: string }>(
    sql,
    (long) => long.unsafe(statement, scopeParameters(scope)),
    { isOverSets },
  );
  const of = new Map(rows.map(({ address, ...holding }) => [address, holding]));
  const seen = await countSeen(sql, scope, { most: SHORT_LIST + 1 });
  return { addresses: [...of.keys()], of, size: Math.max(seen, looked) };
}

const IS_IMAGE_READ = isRead("octet_length(contract_metadata.image)", { place: "requested.place" });

/**
 * Collections in an account's list as JSON. $1: their addresses without 0x; $4: how many tokens they had when last
 * counted, shown where counting again would be slow; $5 and $6: how many the account holds and sells.
 */
export const PORTFOLIO_ITEMS = itemsByPlace(`
  select
    '{"address":"0x' || requested.address
    || '","image":' || ${textJson(`case when ${IS_IMAGE_READ} then contract_metadata.image end`)}
    || ',"collection_name":' || ${textJson("contract_metadata.name")}
    || ',"floor":' || ${numberJson(wholeOf(floorOf("contract.contract_address")))}
    || ',"token_count":' || case
      when requested.count >= ${COUNT_FROM} then requested.count
      else (
        select
          case
            when count(*) < ${COUNT_FROM} then count(*) filter (where counted.is_held)
            else requested.count
          end
        from (
          select ${IS_HELD} as is_held
          from token
          where token.contract_address = contract.contract_address
          limit ${COUNT_FROM}
        ) as counted
      )
    end
    || ',"user_token_count":' || requested.held
    || ',"user_listed_tokens":' || requested.listed
    || ',"is_verified":' || (
      (
        select true
        from verified_collection
        where verified_collection.contract_address = contract.contract_address
      ) is true
    )::text || '}' as item,
    requested.place
  from unnest(
    $1::text[],
    $4::bigint[],
    $5::bigint[],
    $6::bigint[]
  ) with ordinality as requested (address, count, held, listed, place)
  ${JOIN_COLLECTION}
`);
