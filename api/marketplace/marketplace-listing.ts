import type { Sql } from "postgres";
import { isNative } from "../orderbook/native-currency.ts";
import { priceNow } from "../orderbook/order-price.ts";
import { isApprovedBy, isFillable, JOIN_TOKEN, lookUpFacts } from "../orderbook/order-rule.ts";
import { CHAIN, type Condition, isCurrent, openOrders } from "../orderbook/trade-order.ts";
import { runLong } from "../sql/long-statement.ts";
import { isShownText } from "../token/contract.ts";
import { namesOf, type Scope, type ScopeNames, scopeParameters } from "./marketplace-scope.ts";

/**
 * From so many open listings of a collection on, joins over sets are faster than look-ups. They read all tokens and
 * approvals of the collection. For an account they would read those of everybody.
 */
const MANY_LISTINGS = 20_000;

/** Counts the scope's listings, up to `MANY_LISTINGS` of each table. */
const countUpToMany = (names: ScopeNames) => {
  const some = (table: string, condition: string) => `
    (
      select
      from ${table}
      where
        ${condition}
        and ${isCurrent(table)}
        and ${inScope(names)(table)}
      limit ${MANY_LISTINGS}
    )
  `;
  return `
    select count(*)::int as count
    from (
      ${some("trade_order", "trade_order.is_open")}
      union all
      ${some("signed_order", `signed_order.chain_id = ${CHAIN}`)}
    ) as listing
  `;
};

/**
 * Added to prices in other currencies, so that they sort after all in the chain's own, which have 78 digits at most.
 */
export const BEHIND = `1${"0".repeat(80)}::numeric`;

/**
 * SQL of the scope's tokens that are on sale; for an account, those that it sells itself. `rank` is a token's best
 * price, plus `BEHIND` if it is in another currency. `looked`: the listings that are looked at, up to `MANY_LISTINGS` of
 * either table. Most of them may be unfillable.
 */
export async function chooseListed(
  sql: Sql,
  scope: Scope,
): Promise<{ listed: string; isOverSets: boolean; looked: number }> {
  const names = namesOf(scope);
  // Planned for these values: a plan for any collection may go through the signed orders of all others.
  const [row] = await runLong<{ count: number }>(sql, (long) =>
    long.unsafe(countUpToMany(names), scopeParameters(scope)),
  );
  const looked = row?.count ?? 0;
  const { contract } = names;
  if (contract === undefined || looked < MANY_LISTINGS)
    return { listed: listedOneByOne(names), isOverSets: false, looked };
  return { listed: listedOverSets({ ...names, contract }), isOverSets: true, looked };
}

const inScope =
  ({ contract, account }: ScopeNames): Condition =>
  (table) =>
    `
    ${table}.side = 'listing'
    ${contract === undefined ? "" : `and ${table}.contract_address = ${contract}`}
    ${account === undefined ? "" : `and ${table}.maker = ${account}`}
  `;

const RANK = `min(${priceNow("trade_order")} + case when ${isNative("trade_order")} then 0 else ${BEHIND} end) as rank`;

/** Tokens on sale, by look-ups for each order. */
export const listedOneByOne = (names: ScopeNames) => `
  select
    trade_order.contract_address,
    trade_order.token_id,
    ${RANK}
  from ${openOrders(inScope(names))} as trade_order
  ${JOIN_TOKEN}
  where
    ${isFillable("trade_order", "token")}
    and ${isShownText({ chainId: CHAIN, contractAddress: "trade_order.contract_address" })}
  group by
    trade_order.contract_address,
    trade_order.token_id
`;

/**
 * The same for a collection, by joins over sets, because look-ups took 15 s for half a million orders. Each joined table
 * has its own condition on the collection, so that no table is read whole.
 */
export function listedOverSets(names: ScopeNames & { contract: string }): string {
  const { contract, account } = names;
  // Pages of a hidden collection are empty anyway. A list of an account must leave out hidden collections itself.
  const isOfCollection = account === undefined;
  const inCollection = (table: string) => `and ${table}.contract_address = ${contract}`;
  const said = `
    (
      select distinct on (approval.contract_address, approval.owner, approval.operator)
        approval.contract_address,
        approval.owner,
        approval.operator,
        approval.is_approved,
        approval.block_number
      from approval
      where
        approval.contract_address = ${contract}
        ${account === undefined ? "" : `and approval.owner = ${account}`}
      order by
        approval.contract_address,
        approval.owner,
        approval.operator,
        approval.block_number desc,
        approval.log_index desc
    )
  `;
  return `
    select
      ${contract} as contract_address,
      trade_order.token_id,
      ${RANK}
    from ${openOrders(inScope(names))} as trade_order
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
      on asked.chain_id = ${CHAIN}
      and asked.contract_address = trade_order.contract_address
      and asked.token_id = trade_order.token_id
      and asked.owner = trade_order.maker
      and asked.operator = trade_order.operator
      ${inCollection("asked")}
    where
      ${isFillable("trade_order", "token", {
        ...lookUpFacts("trade_order", "token"),
        counter: "order_counter.counter",
        balance: "ownership.balance",
        isApproved: isApprovedBy("said", "asked"),
      })}
      ${isOfCollection ? "" : `and ${isShownText({ chainId: CHAIN, contractAddress: "trade_order.contract_address" })}`}
    group by trade_order.token_id
  `;
}
