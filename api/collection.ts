import { z } from "@hono/zod-openapi";
import type { Sql } from "postgres";
import { isShown } from "./contract.ts";
import { toArray } from "./database.ts";
import { floorOf, toWhole } from "./floor.ts";
import { runLong } from "./long-statement.ts";
import { chooseListed, held, isHeld } from "./marketplace-holding.ts";
import type { Moment } from "./trade-order.ts";

/** A collection on the marketplace. */
export const Collection = z
  .strictObject({
    collection_id: z.string().openapi({ description: "Its contract's address." }),
    collection_name: z.string(),
    collection_description: z.string(),
    collection_image: z.string(),
  })
  .openapi("Collection");
export type Collection = z.infer<typeof Collection>;

/** A collection of which an account holds something. */
export const PortfolioCollection = z
  .strictObject({
    address: z.string(),
    image: z.string(),
    collection_name: z.string(),
    floor: z.number().nullable().openapi({
      description: "The lowest ask that could be taken now, in whole units of the chain's currency.",
    }),
    token_count: z.int().openapi({ description: "Tokens that somebody holds, each once." }),
    user_token_count: z.int(),
    user_listed_tokens: z.int().openapi({ description: "Tokens that the account has on sale." }),
    is_verified: z.boolean(),
  })
  .openapi("PortfolioCollection");

/** Addresses without 0x of all contracts that aren't hidden. */
export async function listShownContracts(sql: Sql, { chainId }: { chainId: number }): Promise<string[]> {
  const rows = await sql<{ address: string }[]>`
    select encode(contract.contract_address, 'hex') as address
    from contract
    where ${isShown(sql, { chainId, contractAddress: sql`contract.contract_address` })}
  `;
  return rows.map(({ address }) => address);
}

/** What an account has of one contract: distinct tokens that it holds, and those of them that it sells. */
export type Holding = { held: number; listed: number };

/** What an account has, by address of the contract without 0x. */
export async function listHoldings(
  sql: Sql,
  scope: Moment & { accountAddress: string },
): Promise<Map<string, Holding>> {
  const listed = await chooseListed(sql, scope);
  const rows = await runLong<Holding & { address: string }>(
    sql,
    (long) => long`
      select
        encode(contract_address, 'hex') as address,
        sum(held)::float8 as held,
        sum(listed)::float8 as listed
      from (
        select
          contract_address,
          count(*) as held,
          0 as listed
        from (${held(long, scope)}) as held
        group by contract_address
        union all
        select
          contract_address,
          0,
          count(*)
        from (${listed(long)}) as listed
        group by contract_address
      ) as counted
      group by contract_address
    `,
  );
  return new Map(rows.map(({ address, ...holding }) => [address, holding]));
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

export type PortfolioRow = {
  address: string;
  image: string;
  collection_name: string;
  floor: string | null;
  token_count: number;
  is_verified: boolean;
};

/** From so many tokens on the count of a moment ago is shown. */
const COUNT_FROM = 1000;

/**
 * What is said of these collections in an account's list, in this order. `counts`: their tokens as counted a moment
 * ago, which few of them have so many of that counting anew would be slow.
 */
export async function listPortfolio(
  sql: Sql,
  { chainId, now, addresses, counts }: Moment & { addresses: readonly string[]; counts: readonly number[] },
): Promise<PortfolioRow[]> {
  return sql<PortfolioRow[]>`
    select
      '0x' || requested.address as address,
      coalesce(contract_metadata.image, '') as image,
      coalesce(contract_metadata.name, '') as collection_name,
      ${floorOf(sql, { chainId, now, contractAddress: sql`contract.contract_address` })} as floor,
      case
        when requested.count >= ${COUNT_FROM} then requested.count
        else (
          select count(*)
          from token
          where
            token.contract_address = contract.contract_address
            and ${isHeld(sql)}
        )
      end as token_count,
      exists (
        select
        from verified_collection
        where verified_collection.contract_address = contract.contract_address
      ) as is_verified
    from unnest(
      ${toArray(addresses)}::text[],
      ${toArray(counts)}::bigint[]
    ) with ordinality as requested (address, count, place)
    join contract
      on contract.contract_address = decode(requested.address, 'hex')
    left join contract_metadata
      on contract_metadata.chain_id = ${chainId}
      and contract_metadata.contract_address = contract.contract_address
    order by requested.place
  `;
}

/** A collection of an account as JSON. */
export function writePortfolio(
  { floor, ...row }: PortfolioRow,
  { held, listed }: Holding,
): z.infer<typeof PortfolioCollection> {
  return {
    address: row.address,
    image: row.image,
    collection_name: row.collection_name,
    floor: toWhole(floor),
    token_count: row.token_count,
    user_token_count: held,
    user_listed_tokens: listed,
    is_verified: row.is_verified,
  };
}
