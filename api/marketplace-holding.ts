import type { Fragment, Sql } from "postgres";
import { isShown } from "./contract.ts";
import { toBytes } from "./database.ts";
import { allOrders, isFillable, isNative, type Moment, priceNow } from "./trade-order.ts";

/** The tokens of a collection that somebody holds, or those that an account holds, all or of one collection. */
export type Scope = Moment & { contractAddress?: string | undefined; accountAddress?: string | undefined };

export const ZERO_ADDRESS = `0x${"0".repeat(40)}`;

/** Tokens of the scope that somebody, or the account, holds. */
export function held(sql: Sql, { chainId, contractAddress, accountAddress }: Scope): Fragment {
  if (accountAddress === undefined) {
    return sql`
      select
        token.contract_address,
        token.token_id
      from token
      where
        token.contract_address = ${toBytes(contractAddress!)}
        and ${isHeld(sql)}
    `;
  }
  const side = (table: Fragment, condition: Fragment): Fragment => sql`
    select
      ${table}.contract_address,
      ${table}.token_id
    from ${table}
    where
      ${table}.owner = ${toBytes(accountAddress)}
      ${contractAddress === undefined ? sql`` : sql`and ${table}.contract_address = ${toBytes(contractAddress)}`}
      ${condition}
      and ${isShown(sql, { chainId, contractAddress: sql`${table}.contract_address` })}
  `;
  if (accountAddress === ZERO_ADDRESS) return side(sql`token`, sql`and false`);
  return sql`
    ${side(sql`token`, sql``)}
    union all
    ${side(sql`ownership`, sql`and ownership.balance > 0`)}
  `;
}

/** Whether anybody holds a token: burned ones are the zero address's. */
export const isHeld = (sql: Sql): Fragment => sql`
  token.owner is distinct from ${toBytes(ZERO_ADDRESS)}
  and (
    token.owner is not null
    or exists (
      select
      from ownership
      where
        ownership.contract_address = token.contract_address
        and ownership.token_id = token.token_id
        and ownership.balance > 0
    )
  )
`;

/** Tokens of the scope that are on sale, each with its best price; of an account those that it sells itself. */
export const listed = (sql: Sql, { contractAddress, accountAddress, ...moment }: Scope): Fragment => sql`
  select distinct on (trade_order.contract_address, trade_order.token_id)
    trade_order.contract_address,
    trade_order.token_id,
    ${isNative(sql, sql`trade_order`)} as is_native,
    ${priceNow(sql, moment, sql`trade_order`)} as price
  from ${allOrders(sql, moment)} as trade_order
  join token using (contract_address, token_id)
  where
    trade_order.side = 'listing'
    and trade_order.is_open
    ${contractAddress === undefined ? sql`` : sql`and trade_order.contract_address = ${toBytes(contractAddress)}`}
    ${accountAddress === undefined ? sql`` : sql`and trade_order.maker = ${toBytes(accountAddress)}`}
    and ${isFillable(sql, { ...moment, order: sql`trade_order`, token: sql`token` })}
    and ${isShown(sql, { chainId: moment.chainId, contractAddress: sql`trade_order.contract_address` })}
  order by
    trade_order.contract_address,
    trade_order.token_id,
    is_native desc,
    price
`;
