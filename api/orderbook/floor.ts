import { isNative } from "./native-currency.ts";
import { priceNow } from "./order-price.ts";
import { isFillable } from "./order-rule.ts";
import { joinToken } from "../token/token.ts";
import { CHAIN, type Condition, openOnChain, openSigned } from "./trade-order.ts";

/** Decimals of the chain's currency. */
const NATIVE_DECIMALS = 18;

/** SQL of an amount in whole units of the chain's currency: the nearest number there is, amounts have more digits. */
export const wholeOf = (amount: string) => `((${amount})::text || 'e-${NATIVE_DECIMALS}')::float8`;

/** Looks up the token of each order, with what `isFillable` asks of it. */
export const JOIN_TOKEN = joinToken({
  columns: ["contract_address", "token_id", "standard", "owner"],
  contractAddress: "trade_order.contract_address",
  tokenId: "trade_order.token_id",
});

/**
 * SQL of the lowest ask for one unit of a token of `contractAddress`, in the chain's own currency. Fixed prices come in
 * the index's order, so that the first one that could be taken is it; those that change with time are few, and all
 * looked at. Most contracts have no listing in one of the tables or in both, which one look tells; in order too, so that
 * the planner can't look through listings of others.
 */
export function floorOf(contractAddress: string): string {
  const lowest = (orders: (condition: Condition) => string, isOfKind: Condition, order: string) => `
    (
      select ${priceNow("trade_order")} as price
      from (
        ${orders(
          (table) => `
            ${table}.contract_address = ${contractAddress}
            and ${table}.side = 'listing'
            and ${isOfKind(table)}
            and ${isNative(table)}
          `,
        )}
      ) as trade_order
      ${JOIN_TOKEN}
      where ${isFillable("trade_order", "token")}
      order by ${order}
      limit 1
    )
  `;
  const lowestOf = (table: string, orders: (condition: Condition) => string, condition: string) => `
    case
      when (
        select true
        from ${table}
        where
          ${table}.contract_address = ${contractAddress}
          and ${table}.side = 'listing'
          and ${condition}
        order by ${table}.unit_price
        limit 1
      ) then least(
        ${lowest(orders, (name) => `${name}.unit_price is not null`, "trade_order.unit_price")},
        ${lowest(orders, (name) => `${name}.unit_price is null`, "price")}
      )
    end
  `;
  return `
    least(
      ${lowestOf("trade_order", openOnChain, "trade_order.is_open")},
      ${lowestOf("signed_order", openSigned, `signed_order.chain_id = ${CHAIN}`)}
    )
  `;
}
