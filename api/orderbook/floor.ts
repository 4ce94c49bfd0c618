import { isNative } from "./native-currency.ts";
import { priceNow } from "./order-price.ts";
import { isFillable } from "./order-rule.ts";
import { joinToken } from "../token/token.ts";
import { CHAIN, type Condition, openOnChain, openSigned } from "./trade-order.ts";

/** Decimals of the chain's currency. */
const NATIVE_DECIMALS = 18;

/**
 * SQL of an amount in whole units of the chain's currency. Rounded to a float8, which holds fewer digits than amounts.
 */
export const wholeOf = (amount: string) => `((${amount})::text || 'e-${NATIVE_DECIMALS}')::float8`;

/** Joins each order with its token, with the columns that `isFillable` needs. */
export const JOIN_TOKEN = joinToken({
  columns: ["contract_address", "token_id", "standard", "owner"],
  contractAddress: "trade_order.contract_address",
  tokenId: "trade_order.token_id",
});

/**
 * SQL of the lowest price asked for one unit of a token of `contractAddress`, in the chain's own currency. Fixed prices
 * are read in the order of their index, so the first listing that can be filled is the cheapest. Listings whose price
 * changes with time are few, and all of them are read. Most contracts have no listing in one or both tables: one
 * look-up per table finds that out. It has an `order by`, too, so that the planner can't scan the listings of other
 * contracts.
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
