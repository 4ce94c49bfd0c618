import type { Fragment, Sql } from "postgres";
import { isShown } from "./contract.ts";
import { toBytes } from "./database.ts";
import {
  allOrders,
  isFillable,
  isModuleAllowed,
  isNative,
  type Moment,
  priceNow,
  secondOf,
  termsOf,
} from "./trade-order.ts";

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

/** From so many open listings on, sets are quicker than look-ups: they read all approvals of a collection. */
const MANY_LISTINGS = 5000;

/**
 * How tokens of the scope that are on sale are found, each with its best price; of an account those that it sells
 * itself.
 */
export async function chooseListed(sql: Sql, scope: Scope): Promise<(sql: Sql) => Fragment> {
  const some = (table: Fragment, condition: Fragment): Fragment => sql`
    (
      select
      from ${table}
      where
        ${inScope(sql, table, scope)}
        and ${condition}
      limit ${MANY_LISTINGS}
    )
  `;
  const [row] = await sql<{ count: number }[]>`
    select count(*)
    from (
      ${some(sql`trade_order`, sql`trade_order.is_open`)}
      union all
      ${some(sql`signed_order`, sql`signed_order.chain_id = ${scope.chainId}`)}
    ) as listing
  `;
  const isMany = (row?.count ?? 0) >= MANY_LISTINGS;
  return (long) => (isMany ? listedOverSets(long, scope) : listedOneByOne(long, scope));
}

const inScope = (sql: Sql, table: Fragment, { contractAddress, accountAddress }: Scope): Fragment => sql`
  ${table}.side = 'listing'
  ${contractAddress === undefined ? sql`` : sql`and ${table}.contract_address = ${toBytes(contractAddress)}`}
  ${accountAddress === undefined ? sql`` : sql`and ${table}.maker = ${toBytes(accountAddress)}`}
`;

const listedOneByOne = (sql: Sql, scope: Scope): Fragment => sql`
  select distinct on (trade_order.contract_address, trade_order.token_id)
    trade_order.contract_address,
    trade_order.token_id,
    ${isNative(sql, sql`trade_order`)} as is_native,
    ${priceNow(sql, scope, sql`trade_order`)} as price
  from ${allOrders(sql, scope)} as trade_order
  join token using (contract_address, token_id)
  where
    ${inScope(sql, sql`trade_order`, scope)}
    and trade_order.is_open
    and ${isFillable(sql, { ...scope, order: sql`trade_order`, token: sql`token` })}
    and ${isShown(sql, { ...scope, contractAddress: sql`trade_order.contract_address` })}
  order by
    trade_order.contract_address,
    trade_order.token_id,
    is_native desc,
    price
`;

/**
 * The same conditions over sets: half a million took 15 s one by one, and a third of that so. A collection is named in
 * each table, so that none is read whole. The planner takes half of the rows to meet a `case`, where it expects next to
 * nothing of what it stands for, and sorts a million rows that it took for a thousand.
 */
function listedOverSets(sql: Sql, scope: Scope): Fragment {
  const { contractAddress, accountAddress, ...moment } = scope;
  const inCollection = (table: string): Fragment =>
    contractAddress === undefined ? sql`` : sql`and ${sql(table)}.contract_address = ${toBytes(contractAddress)}`;
  const said = sql`
    (
      select distinct on (approval.contract_address, approval.owner, approval.operator)
        approval.contract_address,
        approval.owner,
        approval.operator,
        approval.is_approved,
        approval.block_number
      from approval
      where
        true
        ${contractAddress === undefined ? sql`` : sql`and approval.contract_address = ${toBytes(contractAddress)}`}
        ${accountAddress === undefined ? sql`` : sql`and approval.owner = ${toBytes(accountAddress)}`}
      order by
        approval.contract_address,
        approval.owner,
        approval.operator,
        approval.block_number desc,
        approval.log_index desc
    )
  `;
  const fillable = sql`
    from (
      select
        ${termsOf(sql, "trade_order")},
        trade_order.marketplace,
        trade_order.filled
      from trade_order
      where
        ${inScope(sql, sql`trade_order`, scope)}
        and trade_order.is_open
      union all
      select
        ${termsOf(sql, "signed_order")},
        'seaport',
        coalesce(state.filled, 0)
      from signed_order
      left join lateral (
        select
          found.side,
          found.is_cancelled,
          found.filled
        from trade_order as found
        where
          found.exchange_address = signed_order.exchange_address
          and found.order_hash = signed_order.order_hash
        limit 1
      ) as state on true
      where
        ${inScope(sql, sql`signed_order`, scope)}
        and signed_order.chain_id = ${moment.chainId}
        and case
          when state.side is not null or state.is_cancelled then false
          else coalesce(state.filled, 0) < signed_order.quantity
        end
    ) as trade_order
    join token
      on token.contract_address = trade_order.contract_address
      and token.token_id = trade_order.token_id
      ${inCollection("token")}
    left join order_counter
      on order_counter.exchange_address = trade_order.exchange_address
      and order_counter.maker = trade_order.maker
    left join ownership
      on ownership.contract_address = trade_order.contract_address
      and ownership.token_id = trade_order.token_id
      and ownership.owner = trade_order.maker
      ${inCollection("ownership")}
    left join ${said} as said
      on said.contract_address = trade_order.contract_address
      and said.owner = trade_order.maker
      and said.operator = trade_order.operator
    left join listing_approval as asked
      on asked.chain_id = ${moment.chainId}
      and asked.contract_address = trade_order.contract_address
      and asked.token_id = trade_order.token_id
      and asked.owner = trade_order.maker
      and asked.operator = trade_order.operator
      ${inCollection("asked")}
    where
      trade_order.taker is null
      and trade_order.start_time <= ${secondOf(moment)}
      and trade_order.end_time > ${secondOf(moment)}
      and case
        when trade_order.counter is null then true
        else trade_order.counter = coalesce(order_counter.counter, 0)
      end
      and case
        when token.standard = 'ERC1155' then ownership.balance >= trade_order.quantity - trade_order.filled
        else token.owner = trade_order.maker
      end
      and case
          when trade_order.operator is null or said.is_approved then true
          when asked.block_number >= coalesce(said.block_number, 0) then asked.is_approved
          else said.is_approved is null
        end
      and ${isModuleAllowed(sql, sql`trade_order`)}
      ${contractAddress === undefined ? sql`and ${isShown(sql, { ...moment, contractAddress: sql`trade_order.contract_address` })}` : sql``}
  `;
  return sql`
    select
      ask.contract_address,
      ask.token_id,
      bool_or(ask.is_native) as is_native,
      coalesce(min(ask.price) filter (where ask.is_native), min(ask.price)) as price
    from (
      select
        trade_order.contract_address,
        trade_order.token_id,
        ${isNative(sql, sql`trade_order`)} as is_native,
        coalesce(trade_order.unit_price, ${priceNow(sql, moment, sql`trade_order`)}) as price
      ${fillable}
    ) as ask
    group by
      ask.contract_address,
      ask.token_id
  `;
}
