import type { Fragment, Sql } from "postgres";
import { toBytes } from "./database.ts";
import { allOrders, isFillable, isNative, type Moment, signedOrders } from "./trade-order.ts";

/** Fixed prices in the chain's own currency come first, those that change or are in another currency after. */
const PHASES = ["fixed", "other"] as const;

/** A place among listed tokens: phase, price of one unit (0 where it doesn't count), hash of the order. */
export type ListedKey = [phase: (typeof PHASES)[number], unitPrice: string, orderHash: string];

type ListedRow = { token_id: string; key: ListedKey };

/**
 * Listings of a contract's tokens that could be filled now, the cheapest first. A token with several comes several
 * times; which one is its best, `OrderbookRow` tells by its `order_hash`. To ask for that here took twenty times as long.
 */
export async function listListings(
  sql: Sql,
  { after, limit, ...place }: Moment & { contractAddress: string; after?: ListedKey | undefined; limit: number },
): Promise<ListedRow[]> {
  const rows: ListedRow[] = [];
  for (const phase of PHASES.slice(after ? PHASES.indexOf(after[0]) : 0)) {
    const from = after?.[0] === phase ? after : undefined;
    rows.push(...(await listPhase(sql, { ...place, phase, after: from, limit: limit - rows.length })));
    if (rows.length === limit) break;
  }
  return rows;
}

async function listPhase(
  sql: Sql,
  {
    contractAddress,
    phase,
    after,
    limit,
    ...moment
  }: Moment & {
    contractAddress: string;
    phase: ListedKey[0];
    after: ListedKey | undefined;
    limit: number;
  },
): Promise<ListedRow[]> {
  const [, price = "-1", hash = "0x"] = after ?? [];
  const isOfPhase =
    phase === "fixed"
      ? sql`
        trade_order.unit_price >= ${price}
        and (trade_order.unit_price, trade_order.order_hash) > (${price}, ${toBytes(hash)})
        and ${isNative(sql, sql`trade_order`)}
      `
      : sql`
        trade_order.order_hash > ${toBytes(hash)}
        and (trade_order.unit_price is null or not ${isNative(sql, sql`trade_order`)})
      `;
  const order = phase === "fixed" ? sql`unit_price, order_hash` : sql`order_hash`;
  const side = (orders: Fragment): Fragment => sql`
    (
      select
        trade_order.token_id,
        trade_order.unit_price,
        trade_order.order_hash
      from ${orders} as trade_order
      ${joinToken(sql)}
      where
        trade_order.contract_address = ${toBytes(contractAddress)}
        and trade_order.side = 'listing'
        and trade_order.is_open
        and ${isOfPhase}
        and ${isFillable(sql, { ...moment, order: sql`trade_order`, token: sql`token` })}
      order by ${order}
      limit ${limit}
    )
  `;
  const rows = await sql<{ token_id: string; unit_price: string | null; order_hash: string }[]>`
    select
      listed.token_id,
      listed.unit_price,
      '0x' || encode(listed.order_hash, 'hex') as order_hash
    from (
      ${side(sql`trade_order`)}
      union all
      ${side(signedOrders(sql, moment))}
    ) as listed
    order by ${phase === "fixed" ? sql`listed.unit_price, listed.order_hash` : sql`listed.order_hash`}
    limit ${limit}
  `;
  return rows.map(({ token_id, unit_price, order_hash }) => ({
    token_id,
    key: [phase, phase === "fixed" ? (unit_price ?? "0") : "0", order_hash],
  }));
}

/** Looks up the token of each order. Limited, so that the planner can't begin with all tokens. */
const joinToken = (sql: Sql): Fragment => sql`
  cross join lateral (
    select
      found.contract_address,
      found.token_id,
      found.standard,
      found.owner
    from token as found
    where
      found.contract_address = trade_order.contract_address
      and found.token_id = trade_order.token_id
    limit 1
  ) as token
`;

/** Tokens that an account has on sale, by contract and id, `after` one of them. */
export async function listAccountListings(
  sql: Sql,
  {
    accountAddress,
    after,
    limit,
    ...moment
  }: Moment & { accountAddress: string; after?: [string, string] | undefined; limit: number },
): Promise<{ contract_address: string; token_id: string }[]> {
  const [afterContract, afterToken] = after ? [toBytes(after[0]), after[1]] : [Buffer.alloc(0), "-1"];
  return sql<{ contract_address: string; token_id: string }[]>`
    select
      '0x' || encode(listed.contract_address, 'hex') as contract_address,
      listed.token_id
    from (
      select distinct
        trade_order.contract_address,
        trade_order.token_id
      from ${allOrders(sql, moment)} as trade_order
      ${joinToken(sql)}
      where
        trade_order.maker = ${toBytes(accountAddress)}
        and trade_order.side = 'listing'
        and (trade_order.contract_address, trade_order.token_id) > (${afterContract}, ${afterToken})
        and ${isFillable(sql, { ...moment, order: sql`trade_order`, token: sql`token` })}
      order by
        trade_order.contract_address,
        trade_order.token_id
      limit ${limit}
    ) as listed
    order by
      listed.contract_address,
      listed.token_id
  `;
}
