import type { Sql } from "postgres";
import { toBytes } from "../../offchain/bytea.ts";
import { isNative } from "./native-currency.ts";
import { priceNow } from "./order-price.ts";
import { isFillable, JOIN_TOKEN } from "./order-rule.ts";
import { CHAIN, type Condition, type Moment, momentParameters, openOnChain, openSigned } from "./trade-order.ts";

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

/** $1: contract. */
const FLOOR = `select ${floorOf("$1")} as floor`;

/**
 * Price now of a collection's cheapest token, in the smallest unit of the chain's currency; null if none is for sale.
 */
export async function findFloor(
  sql: Sql,
  { contractAddress, ...moment }: Moment & { contractAddress: string },
): Promise<string | null> {
  const parameters = [toBytes(contractAddress), ...momentParameters(moment)];
  const [row] = await sql.unsafe<[{ floor: string | null }]>(FLOOR, parameters, { prepare: true });
  return row.floor;
}
