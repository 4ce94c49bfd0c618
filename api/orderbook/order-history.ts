import { z } from "@hono/zod-openapi";
import type { Sql } from "postgres";
import { toBytes } from "../sql/database.ts";
import { ZERO_LITERAL } from "../token/holding.ts";
import { CURRENT_OWNER } from "../token/token.ts";
import { isNative, NATIVE_CURRENCIES } from "./native-currency.ts";
import { totalNow } from "./order-price.ts";
import { matchesAny, matchesToken, standingOffers } from "./order-rule.ts";
import { allOrders, CHAIN, type Condition, type Moment, momentParameters, SIGNED_COLUMNS } from "./trade-order.ts";

/** Rows of either list: enough for any token that people trade. */
export const MAX_ROWS = 250;

const place = {
  contract_address: z.string(),
  token_id: z.string().openapi({ description: "0x and 64 hex digits." }),
  current_owner: z.string(),
};

const Offer = z.strictObject({
  offer_maker: z.string(),
  offer_amount: z.string().openapi({ description: "For all units, in the smallest unit of the currency." }),
  offer_quantity: z.string(),
  offer_timestamp: z.int(),
  currency_address: z.string().openapi({ description: "Extension: the zero address is the chain's own currency." }),
});
export type Offer = z.infer<typeof Offer>;

/** Offers on one token. */
export const OrderbookOffers = z
  .strictObject({ ...place, current_price: z.string(), offers: z.array(Offer) })
  .openapi("OrderbookOffers");

const HistoryEntry = z.strictObject({
  event_type: z.enum(["Listing", "Auction", "Offer", "CollectionOffer"]).openapi({
    description:
      "Auction: a listing whose price falls with time, Seaport's. Auctions with bids are seen when they end, as listings that were bought.",
  }),
  event_timestamp: z.int(),
  order_status: z.enum(["PLACED", "FULFILLED", "CANCELLED", "EXECUTED"]).openapi({
    description: "FULFILLED: a listing was bought. EXECUTED: an offer was accepted.",
  }),
  previous_owner: z.string().openapi({ description: "Of a listing its maker." }),
  new_owner: z.string().openapi({ description: "Of an offer its maker; of what was bought, who has it since." }),
  amount: z.string().openapi({
    description: "For all units, in the smallest unit of the currency; 0 where nobody can say what a sale cost.",
  }),
  canceled_reason: z.enum(["cancelled on chain", "counter raised on chain"]).nullable().openapi({
    description:
      "Null where it isn't cancelled. `counter raised on chain`: its maker ended all that they had signed for the exchange.",
  }),
  currency_address: z.string().openapi({
    description:
      "Extension: the zero address is the chain's own currency; empty where nobody can say what a sale cost.",
  }),
});
export type HistoryEntry = z.infer<typeof HistoryEntry>;

/** What became of the orders for one token. */
export const History = z.strictObject({ ...place, history: z.array(HistoryEntry) }).openapi("OrderbookHistory");

type Token = Moment & { contractAddress: string; tokenId: string };

const offersOf = (matches: Condition) => `
  select
    trade_order.maker,
    trade_order.quantity - trade_order.filled as quantity,
    div(${totalNow("trade_order")} * (trade_order.quantity - trade_order.filled), trade_order.quantity) as amount,
    trade_order.placed_timestamp,
    trade_order.order_hash,
    trade_order.currency_address
  ${standingOffers("held", matches)}
`;

/** $1: contract, $4: token id. None for a token that nobody has: nobody can accept one. */
const OFFERS = `
  with held as (
    select
      token.contract_address,
      token.token_id,
      token.standard
    from token
    where
      token.contract_address = $1
      and token.token_id = $4
      and ${CURRENT_OWNER} <> ${ZERO_LITERAL}
  )
  select
    '0x' || encode(offer.maker, 'hex') as offer_maker,
    offer.amount as offer_amount,
    offer.quantity as offer_quantity,
    offer.placed_timestamp as offer_timestamp,
    '0x' || encode(offer.currency_address, 'hex') as currency_address
  from held
  cross join lateral (
    ${offersOf(matchesToken("held"))}
    union all
    ${offersOf(matchesAny)}
  ) as offer
  order by
    not ${isNative("offer")},
    case when not ${isNative("offer")} then offer.currency_address end,
    offer.amount desc,
    offer.placed_timestamp,
    offer.order_hash
  limit ${MAX_ROWS}
`;

/**
 * Offers that stand now, those in the chain's own currency or its wrapped form first: amounts of others tell nothing
 * beside them, nor beside each other. Highest first within.
 */
export async function listOffers(sql: Sql, { contractAddress, tokenId, ...moment }: Token): Promise<Offer[]> {
  const parameters = [toBytes(contractAddress), ...momentParameters(moment), tokenId];
  return sql.unsafe<Offer[]>(OFFERS, parameters, { prepare: true });
}

/**
 * Whether an order is more than words: who lists has the token, and who bids in the chain's own currency has some of it.
 * Anybody can make up another one and bid with that.
 */
const isEarnest = (table: string) => `(${table}.side = 'listing' or ${isNative(table)})`;

/**
 * Signed orders of one side, the newest, as an index has them: there may be a million for any token of a contract. By
 * token first, because the planner doesn't see that one which is null is always the same.
 */
const newestSigned = (matches: Condition, condition: string) => `
  (
    select ${SIGNED_COLUMNS}
    from signed_order
    where
      signed_order.chain_id = ${CHAIN}
      and signed_order.contract_address = $1
      and ${matches("signed_order")}
      and ${condition}
    order by
      signed_order.token_id desc,
      signed_order.placed_timestamp desc
    limit ${MAX_ROWS}
  )
`;

/** All of those that can be among the ones shown: of offers in other currencies only such as no others come before. */
const shownSigned = (matches: Condition) => `
  ${newestSigned(matches, "signed_order.side = 'listing'")}
  union all
  select ${SIGNED_COLUMNS}
  from unnest(${NATIVE_CURRENCIES}) as native (currency_address)
  cross join lateral ${newestSigned(
    matches,
    "signed_order.side = 'offer' and signed_order.currency_address = native.currency_address",
  )} as signed_order
  union all
  select ${SIGNED_COLUMNS}
  from ${newestSigned(matches, "signed_order.side = 'offer'")} as signed_order
  where not ${isNative("signed_order")}
`;

/** Of more, those in earnest. */
const placedOrders = (matches: Condition) => `
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
      trade_order.amounts,
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
    from ${allOrders(
      (table) => `
        ${table}.side is not null
        and ${table}.contract_address = $1
        and ${matches(table)}
      `,
      { among: shownSigned(matches) },
    )} as trade_order
    order by
      not ${isEarnest("trade_order")},
      trade_order.placed_timestamp desc,
      trade_order.order_hash
    limit ${MAX_ROWS}
  )
`;

/** The maker of an order, where it is of this side. */
const makerOf = (side: "listing" | "offer") =>
  `case when side = '${side}' then '0x' || encode(maker, 'hex') else '' end`;

/**
 * What cancelled an order, if anything did before it was filled or over: its own cancellation, or the first counter of its
 * maker above the one that it was made under, whichever came first. One that was sent to us too late was cancelled when it
 * came.
 */
const CANCELLATION = `
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
      from raised_counter
      where
        raised_counter.exchange_address = placed.exchange_address
        and raised_counter.maker = placed.maker
        and raised_counter.counter > placed.counter
      order by raised_counter.counter
      limit 1
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
 * Orders on one side of a sale that came to what was paid and were filled by then or later. A sale doesn't name its order,
 * so what is said of it is what all of these are.
 */
const fittingOrders = (
  side: "listing" | "offer",
  { maker, special, fits }: { maker: string; special: string; fits: string },
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
    and ${fits}
    and placed.filled > 0
    and placed.start_time <= sale.timestamp
    and placed.end_time > sale.timestamp
    and placed.updated_timestamp >= sale.timestamp
`;
const FITTING_OFFERS = fittingOrders("offer", {
  maker: "to_address",
  special: "CollectionOffer",
  fits: `
    sale.is_offer is not false
    and placed.amounts is null
    and placed.start_amount * sale.quantity = sale.price * placed.quantity
  `,
});
const FITTING_LISTINGS = fittingOrders("listing", {
  maker: "from_address",
  special: "Auction",
  fits: `
    sale.is_offer is not true
    and sale.price * placed.quantity
      between least(placed.start_amount, placed.end_amount) * sale.quantity
      and greatest(placed.start_amount, placed.end_amount) * sale.quantity
  `,
});

/** Sales of one transaction as its logs have them. */
const NEWEST_FIRST = `
  event_timestamp desc,
  order_status,
  block_number desc,
  log_index desc,
  batch_index desc,
  order_hash
`;

/** $1: contract, $3: token id. */
const HISTORY = `
  with placed as materialized (
    ${placedOrders((table) => `${table}.token_id = $3`)}
    union all
    ${placedOrders(matchesAny)}
  ),
  entry as (
    select
      event_type,
      placed_timestamp as event_timestamp,
      'PLACED' as order_status,
      ${makerOf("listing")} as previous_owner,
      ${makerOf("offer")} as new_owner,
      start_amount as amount,
      null as canceled_reason,
      currency_address,
      order_hash,
      null::bigint as block_number,
      null::integer as log_index,
      null::integer as batch_index
    from placed
    union all
    select
      event_type,
      cancellation.timestamp,
      'CANCELLED',
      ${makerOf("listing")},
      ${makerOf("offer")},
      start_amount,
      cancellation.reason,
      currency_address,
      order_hash,
      null,
      null,
      null
    from placed
    cross join lateral (${CANCELLATION}) as cancellation
    union all
    select
      case
        when not taken.is_offer then case when listing.is_special then 'Auction' else 'Listing' end
        when offer.is_special then 'CollectionOffer'
        else 'Offer'
      end,
      sale.timestamp,
      case when taken.is_offer then 'EXECUTED' else 'FULFILLED' end,
      '0x' || encode(sale.from_address, 'hex'),
      '0x' || encode(sale.to_address, 'hex'),
      coalesce(sale.price, 0),
      null,
      sale.currency_address,
      sale.transaction_hash,
      sale.block_number,
      sale.log_index,
      sale.batch_index
    from (
      select
        token_event.block_number,
        token_event.log_index,
        token_event.batch_index,
        token_event.timestamp,
        token_event.from_address,
        token_event.to_address,
        token_event.quantity,
        token_event.transaction_hash,
        token_event.price,
        token_event.currency_address,
        token_event.marketplace,
        token_event.is_offer
      from token_event
      where
        token_event.contract_address = $1
        and token_event.token_id = $3
        and token_event.event_type = 'sale'
      order by
        token_event.block_number desc,
        token_event.log_index desc,
        token_event.batch_index desc
      limit ${MAX_ROWS}
    ) as sale
    cross join lateral (${FITTING_OFFERS}) as offer
    cross join lateral (${FITTING_LISTINGS}) as listing
    cross join lateral (select coalesce(sale.is_offer, offer.is_known) as is_offer) as taken
  )
  select
    event_type,
    event_timestamp,
    order_status,
    previous_owner,
    new_owner,
    amount::text as amount,
    canceled_reason,
    coalesce('0x' || encode(currency_address, 'hex'), '') as currency_address
  from (
    select *
    from entry
    order by
      case
        when order_status in ('FULFILLED', 'EXECUTED') or event_type in ('Listing', 'Auction') then 0
        when not ${isNative("entry")} then 2
        when event_type = 'Offer' then 0
        else 1
      end,
      ${NEWEST_FIRST}
    limit ${MAX_ROWS}
  ) as shown
  order by ${NEWEST_FIRST}
`;

/**
 * Orders placed for a token, what it was sold for, and what was cancelled, newest first. Of more than fit, sales, listings
 * and offers for the token itself in the chain's own currency: others are as many as people like.
 */
export async function listHistory(
  sql: Sql,
  { chainId, contractAddress, tokenId }: Omit<Token, "now">,
): Promise<HistoryEntry[]> {
  return sql.unsafe<HistoryEntry[]>(HISTORY, [toBytes(contractAddress), chainId, tokenId], { prepare: true });
}
