import { z } from "@hono/zod-openapi";
import type { Sql } from "postgres";
import { flag, integer, number, text } from "../http/field.ts";
import { isShown } from "../token/contract.ts";
import { ContractAddress, ContractImageText, ContractName } from "../token/token-field.ts";
import { toArray } from "../sql/database.ts";
import { floorOf, wholeOf } from "../orderbook/floor.ts";
import { numberJson, textJson } from "../sql/item.ts";
import { runLong } from "../sql/long-statement.ts";
import { itemsByPlace } from "./marketplace-body.ts";
import { chooseListed, held, IS_HELD, namesOf, scopeParameters } from "./marketplace-holding.ts";
import { CHAIN, type Moment } from "../orderbook/trade-order.ts";

/** A collection on the marketplace. */
export const Collection = z
  .strictObject({
    collection_id: ContractAddress,
    collection_name: ContractName,
    collection_description: text(
      "What the contract's `contractURI()` says that it is about, up to 10,000 characters; empty where it says nothing.",
    ),
    collection_image: ContractImageText,
  })
  .openapi("Collection", { description: "A contract of tokens, as the marketplace shows it." });
export type Collection = z.infer<typeof Collection>;

/** A collection of which an account holds something. */
export const PortfolioCollection = z
  .strictObject({
    address: ContractAddress,
    image: ContractImageText,
    collection_name: ContractName,
    floor: number(
      "The lowest ask for one unit that could be taken now, in whole units of the chain's currency, to which its wrapped " +
        "form counts; null where nothing is on sale for that.",
    ).nullable(),
    token_count: integer("Tokens that somebody holds, each id once; from 1,000 on as counted a moment ago."),
    user_token_count: integer("Those that the account holds, each id once."),
    user_listed_tokens: integer("Those that the account has on sale, each id once."),
    is_verified: flag("The operator of this service has verified it."),
  })
  .openapi("PortfolioCollection", { description: "A collection of which an account holds something." });

/** Addresses without 0x of all contracts that aren't hidden. */
export async function listShownContracts(sql: Sql, { chainId }: { chainId: number }): Promise<string[]> {
  const rows = await sql<{ address: string }[]>`
    select encode(contract.contract_address, 'hex') as address
    from contract
    where ${isShown(sql, { chainId, contractAddress: "contract.contract_address" })}
  `;
  return rows.map(({ address }) => address);
}

/** What an account has of one contract: distinct tokens that it holds, and those of them that it sells. */
export type Holding = { held: number; listed: number };

/** What an account has, by address of the contract without 0x, and those addresses. */
export type Holdings = { addresses: string[]; of: Map<string, Holding> };

/** What an account has of each contract that is shown, and sells now. `sql`: connections of `runLong`. */
export async function listHoldings(sql: Sql, scope: Moment & { accountAddress: string }): Promise<Holdings> {
  const { listed, isOverSets } = await chooseListed(sql, scope);
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
  return { addresses: [...of.keys()], of };
}

/** These collections, in this order. */
export async function listCollections(
  sql: Sql,
  { chainId, addresses }: { chainId: number; addresses: readonly string[] },
): Promise<Collection[]> {
  return sql<Collection[]>`
    select
      '0x' || requested.address as collection_id,
      coalesce(contract_metadata.name, '') as collection_name,
      coalesce(contract_metadata.description, '') as collection_description,
      coalesce(contract_metadata.image, '') as collection_image
    from unnest(${toArray(addresses)}::text[]) with ordinality as requested (address, place)
    join contract
      on contract.contract_address = decode(requested.address, 'hex')
    left join contract_metadata
      on contract_metadata.chain_id = ${chainId}
      and contract_metadata.contract_address = contract.contract_address
    where contract_metadata.is_fungible is not true
    order by requested.place
  `;
}

/** The contracts of a page, which are those of a list of what is there: only their metadata is looked up. */
const JOIN_COLLECTION = `
  cross join lateral (select decode(requested.address, 'hex') as contract_address) as contract
  left join lateral (
    select
      found.name,
      found.description,
      found.image,
      found.is_fungible
    from contract_metadata as found
    where
      found.chain_id = ${CHAIN}
      and found.contract_address = contract.contract_address
    limit 1
  ) as contract_metadata on true
`;

/** Collections as JSON. $1: their addresses without 0x. */
export const COLLECTION_ITEMS = itemsByPlace(`
  select
    '{"collection_id":"0x' || requested.address
    || '","collection_name":' || ${textJson("contract_metadata.name")}
    || ',"collection_description":' || ${textJson("contract_metadata.description")}
    || ',"collection_image":' || ${textJson("contract_metadata.image")} || '}' as item,
    requested.place
  from unnest($1::text[]) with ordinality as requested (address, place)
  ${JOIN_COLLECTION}
  where contract_metadata.is_fungible is not true
`);

/** From so many tokens on the count of a moment ago is shown. */
const COUNT_FROM = 1000;

/**
 * Collections in an account's list as JSON. $1: their addresses without 0x; $4: their tokens as counted a moment ago,
 * which few of them have so many of that counting anew would be slow; $5 and $6: those that the account holds and sells.
 */
export const PORTFOLIO_ITEMS = itemsByPlace(`
  select
    '{"address":"0x' || requested.address
    || '","image":' || ${textJson("contract_metadata.image")}
    || ',"collection_name":' || ${textJson("contract_metadata.name")}
    || ',"floor":' || ${numberJson(wholeOf(floorOf("contract.contract_address")))}
    || ',"token_count":' || case
      when requested.count >= ${COUNT_FROM} then requested.count
      else (
        select count(*)
        from token
        where
          token.contract_address = contract.contract_address
          and ${IS_HELD}
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
