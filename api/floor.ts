import type { Fragment, Sql } from "postgres";
import { isFillable, isNative, type Moment, priceNow, signedOrders } from "./trade-order.ts";

/** Decimals of the chain's currency. */
const NATIVE_DECIMALS = 18;

/** An amount in whole units of the chain's currency: the nearest number there is, amounts have more digits. */
export const toWhole = (amount: string | null): number | null =>
  amount === null ? null : Number(`${amount}e-${NATIVE_DECIMALS}`);

/**
 * The lowest ask for one unit of a token of `contractAddress`, in the chain's own currency. Fixed prices come in the
 * index's order, so that the first one that could be taken is it; those that change with time are few, and all looked at.
 * The token is looked up with a limit, so that the planner can't begin with all tokens.
 */
export function floorOf(sql: Sql, { contractAddress, ...moment }: Moment & { contractAddress: Fragment }): Fragment {
  const signed = signedOrders(sql, moment);
  const lowest = (orders: Fragment, condition: Fragment, order: Fragment): Fragment => sql`
    (
      select ${priceNow(sql, moment, sql`trade_order`)} as price
      from ${orders} as trade_order
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
      where
        trade_order.contract_address = ${contractAddress}
        and trade_order.side = 'listing'
        and trade_order.is_open
        and ${condition}
        and ${isNative(sql, sql`trade_order`)}
        and ${isFillable(sql, { ...moment, order: sql`trade_order`, token: sql`token` })}
      order by ${order}
      limit 1
    )
  `;
  const fixed = (orders: Fragment) =>
    lowest(orders, sql`trade_order.unit_price is not null`, sql`trade_order.unit_price`);
  const changing = (orders: Fragment) => lowest(orders, sql`trade_order.unit_price is null`, sql`price`);
  return sql`
    least(
      ${fixed(sql`trade_order`)},
      ${changing(sql`trade_order`)},
      ${fixed(signed)},
      ${changing(signed)}
    )
  `;
}
