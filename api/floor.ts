import type { Fragment, Sql } from "postgres";
import { isFillable, isNative, priceNow, signedOrders } from "./trade-order.ts";

/** Decimals of the chain's currency. */
const NATIVE_DECIMALS = 18;

/** An amount in whole units of the chain's currency: the nearest number there is, amounts have more digits. */
export const toWhole = (amount: string | null): number | null =>
  amount === null ? null : Number(`${amount}e-${NATIVE_DECIMALS}`);

/**
 * The lowest ask for one unit of a token of `contractAddress`, in the chain's own currency. Fixed prices come in the
 * index's order, so that the first one that could be taken is it; those that change with time are few, and all looked at.
 */
export function floorOf(
  sql: Sql,
  { chainId, contractAddress }: { chainId: number; contractAddress: Fragment },
): Fragment {
  const signed = signedOrders(sql, { chainId });
  const lowest = (orders: Fragment, condition: Fragment): Fragment => sql`
    (
      select ${priceNow(sql, sql`trade_order`)} as price
      from ${orders} as trade_order
      join token using (contract_address, token_id)
      where
        trade_order.contract_address = ${contractAddress}
        and trade_order.side = 'listing'
        and ${condition}
        and ${isNative(sql, sql`trade_order`)}
        and ${isFillable(sql, { chainId, order: sql`trade_order`, token: sql`token` })}
      order by
        trade_order.unit_price,
        price
      limit 1
    )
  `;
  const [isFixed, isChanging] = [sql`trade_order.unit_price is not null`, sql`trade_order.unit_price is null`];
  return sql`
    least(
      ${lowest(sql`trade_order`, isFixed)},
      ${lowest(sql`trade_order`, isChanging)},
      ${lowest(signed, isFixed)},
      ${lowest(signed, isChanging)}
    )
  `;
}
