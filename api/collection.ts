import { z } from "@hono/zod-openapi";
import type { Fragment, Sql } from "postgres";
import { isShown } from "./contract.ts";
import { toArray, toBytes } from "./database.ts";
import { allOrders, isFillable, isNative, priceNow, signedOrders } from "./trade-order.ts";

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

/** Decimals of the chain's currency. */
const NATIVE_DECIMALS = 18;
const ZERO_ADDRESS = "0".repeat(40);

const isHeld = (sql: Sql): Fragment => sql`
  token.owner is not null
  and token.owner <> decode(${ZERO_ADDRESS}, 'hex')
`;

/** Tokens of each contract that somebody holds, by address without 0x; contracts without any are left out. */
export async function countTokens(sql: Sql): Promise<Map<string, number>> {
  const rows = await sql<{ address: string; count: number }[]>`
    select
      encode(contract_address, 'hex') as address,
      sum(count)::float8 as count
    from (
      select
        token.contract_address,
        count(*) as count
      from token
      where ${isHeld(sql)}
      group by token.contract_address
      union all
      select
        held.contract_address,
        count(*)
      from (
        select distinct
          ownership.contract_address,
          ownership.token_id
        from ownership
        where ownership.balance > 0
      ) as held
      group by held.contract_address
    ) as counted
    group by contract_address
  `;
  return new Map(rows.map(({ address, count }) => [address, count]));
}

/** Addresses without 0x of all contracts that aren't hidden. */
export async function listShownContracts(sql: Sql, { chainId }: { chainId: number }): Promise<string[]> {
  const rows = await sql<{ address: string }[]>`
    select encode(contract.contract_address, 'hex') as address
    from contract
    where ${isShown(sql, { chainId, contractAddress: sql`contract.contract_address` })}
  `;
  return rows.map(({ address }) => address);
}

/** Addresses without 0x of all contracts of which an account holds a token. */
export async function listHeldContracts(
  sql: Sql,
  { chainId, accountAddress }: { chainId: number; accountAddress: string },
): Promise<string[]> {
  if (accountAddress === `0x${ZERO_ADDRESS}`) return [];
  const account = toBytes(accountAddress);
  const rows = await sql<{ address: string }[]>`
    select encode(held.contract_address, 'hex') as address
    from (
      select token.contract_address
      from token
      where token.owner = ${account}
      union
      select ownership.contract_address
      from ownership
      where
        ownership.owner = ${account}
        and ownership.balance > 0
    ) as held
    where ${isShown(sql, { chainId, contractAddress: sql`held.contract_address` })}
  `;
  return rows.map(({ address }) => address);
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

export type PortfolioRow = Omit<z.infer<typeof PortfolioCollection>, "floor"> & { floor: string | null };

/** What an account holds of these collections, in this order. */
export async function listPortfolio(
  sql: Sql,
  { chainId, accountAddress, addresses }: { chainId: number; accountAddress: string; addresses: readonly string[] },
): Promise<PortfolioRow[]> {
  const account = toBytes(accountAddress);
  const signed = signedOrders(sql, { chainId });
  return sql<PortfolioRow[]>`
    select
      '0x' || requested.address as address,
      coalesce(contract_metadata.image, '') as image,
      coalesce(contract_metadata.name, '') as collection_name,
      floor.price as floor,
      (
        select count(*)
        from token
        where
          token.contract_address = contract.contract_address
          and ${isHeld(sql)}
      ) + (
        select count(distinct ownership.token_id)
        from ownership
        where
          ownership.contract_address = contract.contract_address
          and ownership.balance > 0
      ) as token_count,
      (
        select count(*)
        from token
        where
          token.contract_address = contract.contract_address
          and token.owner = ${account}
      ) + (
        select count(*)
        from ownership
        where
          ownership.contract_address = contract.contract_address
          and ownership.owner = ${account}
          and ownership.balance > 0
      ) as user_token_count,
      (
        select count(distinct trade_order.token_id)
        from ${allOrders(sql, { chainId })} as trade_order
        join token using (contract_address, token_id)
        where
          trade_order.maker = ${account}
          and trade_order.contract_address = contract.contract_address
          and trade_order.side = 'listing'
          and ${isFillable(sql, { order: sql`trade_order`, token: sql`token` })}
      ) as user_listed_tokens,
      exists (
        select
        from verified_collection
        where verified_collection.contract_address = contract.contract_address
      ) as is_verified
    from unnest(${toArray(addresses)}::text[]) with ordinality as requested (address, place)
    join contract
      on contract.contract_address = decode(requested.address, 'hex')
    left join contract_metadata
      on contract_metadata.chain_id = ${chainId}
      and contract_metadata.contract_address = contract.contract_address
    left join lateral (
      select least(
        ${lowestAsk(sql, { orders: sql`trade_order`, condition: sql`trade_order.unit_price is not null` })},
        ${lowestAsk(sql, { orders: sql`trade_order`, condition: sql`trade_order.unit_price is null` })},
        ${lowestAsk(sql, { orders: signed, condition: sql`trade_order.unit_price is not null` })},
        ${lowestAsk(sql, { orders: signed, condition: sql`trade_order.unit_price is null` })}
      ) as price
    ) as floor on true
    order by requested.place
  `;
}

/**
 * The lowest ask for one unit of a contract's token. Fixed prices come in the index's order, so that the first one that
 * could be taken is it; those that change with time are few, and all looked at.
 */
const lowestAsk = (sql: Sql, { orders, condition }: { orders: Fragment; condition: Fragment }): Fragment => sql`
  (
    select ${priceNow(sql, sql`trade_order`)} as price
    from ${orders} as trade_order
    join token using (contract_address, token_id)
    where
      trade_order.contract_address = contract.contract_address
      and trade_order.side = 'listing'
      and ${condition}
      and ${isNative(sql, sql`trade_order`)}
      and ${isFillable(sql, { order: sql`trade_order`, token: sql`token` })}
    order by
      trade_order.unit_price,
      price
    limit 1
  )
`;

/** A collection of an account as JSON. */
export function writePortfolio({ floor, ...row }: PortfolioRow): z.infer<typeof PortfolioCollection> {
  return {
    address: row.address,
    image: row.image,
    collection_name: row.collection_name,
    // The nearest number there is: prices have more digits than numbers.
    floor: floor === null ? null : Number(`${floor}e-${NATIVE_DECIMALS}`),
    token_count: row.token_count,
    user_token_count: row.user_token_count,
    user_listed_tokens: row.user_listed_tokens,
    is_verified: row.is_verified,
  };
}
