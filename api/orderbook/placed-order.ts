import { isNative, NATIVE_CURRENCIES } from "./native-currency.ts";
import { firstRaisedCounter } from "./order-rule.ts";
import { allOrders, CHAIN, type Condition, firstOf, ON_CHAIN_COLUMNS, SIGNED_COLUMNS } from "./trade-order.ts";

/*
 * SQL of all orders that were ever placed for a token (rows of `placed`), and of how each one ended.
 */

/** Most orders, offers or history entries that are returned for one token: enough for any token that people trade. */
export const MAX_ROWS = 250;

/**
 * Whether an order is likely to be serious: it is a listing, or it bids in the chain's own currency. Anybody can create
 * another currency and bid with it.
 */
const isEarnest = (table: string) => `(${table}.side = 'listing' or ${isNative(table)})`;

/** A table of orders: its columns, and what else its rows must meet. */
type Source = { table: string; columns: string; isWanted: string };
const ON_CHAIN: Source = { table: "trade_order", columns: ON_CHAIN_COLUMNS, isWanted: "true" };
const SIGNED: Source = {
  table: "signed_order",
  columns: SIGNED_COLUMNS,
  isWanted: `signed_order.chain_id = ${CHAIN}`,
};

/** The newest orders of one table that `condition` selects. */
const newestOf = (
  { table, columns, isWanted }: Source,
  matches: Condition,
  { condition, order = "" }: { condition: string; order?: string },
) =>
  firstOf(table, {
    columns,
    condition: `${isWanted} and ${table}.contract_address = $1 and ${matches(table)} and ${condition}`,
    order: `${order} ${table}.placed_timestamp desc`,
    limit: MAX_ROWS,
  });

/**
 * SQL of the orders in one currency. Bounds and an order instead of `=`, with which the planner may go through those in
 * all currencies, which have the same order then.
 */
const inCurrency = (table: string, currency: string) => ({
  condition: `
    ${table}.side = 'offer'
    and ${table}.currency_address >= ${currency}
    and ${table}.currency_address <= ${currency}
  `,
  order: `${table}.currency_address desc,`,
});

/**
 * All orders of one table that may be shown. Of offers in other currencies, those among the newest offers in any
 * currency.
 */
const shownOf = (source: Source, matches: Condition) => {
  const { table, columns } = source;
  return `
    ${newestOf(source, matches, { condition: `${table}.side = 'listing'` })}
    union all
    select ${columns}
    from unnest(${NATIVE_CURRENCIES}) as native (currency_address)
    cross join lateral ${newestOf(source, matches, inCurrency(table, "native.currency_address"))} as ${table}
    union all
    select ${columns}
    from ${newestOf(source, matches, { condition: `${table}.side = 'offer'` })} as ${table}
    where not ${isNative(table)}
  `;
};

/** The newest orders for a token. If there are more than `MAX_ROWS`, those for which `isEarnest` holds come first. */
export const placedOrders = (matches: Condition) => `
  (
    select
      trade_order.exchange_address,
      trade_order.marketplace,
      trade_order.side,
      trade_order.maker,
      trade_order.is_cancelled,
      trade_order.filled,
      trade_order.quantity,
      trade_order.currency_address,
      trade_order.start_amount,
      trade_order.end_amount,
      trade_order.start_time,
      trade_order.end_time,
      trade_order.counter,
      trade_order.placed_timestamp,
      trade_order.updated_timestamp,
      trade_order.order_hash,
      case
        when trade_order.side = 'listing' and trade_order.end_amount < trade_order.start_amount then 'Auction'
        when trade_order.side = 'listing' then 'Listing'
        when trade_order.token_id is null then 'CollectionOffer'
        else 'Offer'
      end as event_type
    from ${allOrders({ onChain: shownOf(ON_CHAIN, matches), signed: shownOf(SIGNED, matches) })} as trade_order
    order by
      not ${isEarnest("trade_order")},
      trade_order.placed_timestamp desc,
      trade_order.order_hash
    limit ${MAX_ROWS}
  )
`;

/**
 * What cancelled an order before it was filled or ended, if anything did: its own cancellation, or the first counter of
 * its maker above the one that it was signed with, whichever came first. An order that was sent to us after its counter
 * was raised counts as cancelled when it came.
 */
export const CANCELLATION = `
  select
    cancellation.timestamp,
    cancellation.reason
  from (
    select
      placed.updated_timestamp as timestamp,
      'cancelled on chain' as reason
    where placed.is_cancelled
    union all
    (
      select
        greatest(raised_counter.timestamp, placed.placed_timestamp),
        'counter raised on chain'
      ${firstRaisedCounter("placed")}
    )
  ) as cancellation
  where
    placed.filled < placed.quantity
    and cancellation.timestamp < placed.end_time
  order by
    cancellation.timestamp,
    cancellation.reason
  limit 1
`;

/**
 * Orders on one side of a sale whose price fits the sale's, at some second where it changes, and that were filled at its
 * time or later. A sale doesn't name its order, so it is called special only if all fitting orders are.
 */
const fittingOrders = (
  side: "listing" | "offer",
  { maker, special, isOfSide }: { maker: string; special: string; isOfSide: string },
) => `
  select
    count(*) > 0 as is_known,
    bool_and(placed.event_type = '${special}') as is_special
  from placed
  where
    placed.side = '${side}'
    and placed.maker = sale.${maker}
    and placed.marketplace = sale.marketplace
    and placed.currency_address = sale.currency_address
    and ${isOfSide}
    and sale.price * placed.quantity
      between least(placed.start_amount, placed.end_amount) * sale.quantity
      and greatest(placed.start_amount, placed.end_amount) * sale.quantity
    and placed.filled > 0
    and placed.start_time <= sale.timestamp
    and placed.end_time > sale.timestamp
    and placed.updated_timestamp >= sale.timestamp
`;

/** Offers that `sale` may have taken. */
export const FITTING_OFFERS = fittingOrders("offer", {
  maker: "to_address",
  special: "CollectionOffer",
  isOfSide: "sale.is_offer is not false",
});

/** Listings that `sale` may have bought. */
export const FITTING_LISTINGS = fittingOrders("listing", {
  maker: "from_address",
  special: "Auction",
  isOfSide: "sale.is_offer is not true",
});
