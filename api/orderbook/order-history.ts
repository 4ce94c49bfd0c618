import { z } from "@hono/zod-openapi";
import type { Sql } from "postgres";
import { toBytes } from "../sql/database.ts";
import { ZERO_LITERAL } from "../token/holding.ts";
import { CURRENT_OWNER } from "../token/token.ts";
import { isNative } from "./native-currency.ts";
import { totalNow } from "./order-price.ts";
import { matchesAny, matchesToken, standingOffers } from "./order-rule.ts";
import { allOrders, type Condition, type Moment, momentParameters } from "./trade-order.ts";

/** Rows of either list: enough for any token that people trade. */
const MAX_ROWS = 250;

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
  event_type: z.enum(["Listing", "Auction", "Offer", "CollectionOffer"]),
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

/** Of more, those in the chain's own currency: anybody can make up another one and bid with it. */
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
      trade_order.amounts,
      trade_order.start_time,
      trade_order.end_time,
      trade_order.counter,
      trade_order.placed_timestamp,
      trade_order.updated_timestamp,
      trade_order.order_hash,
      case
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
    )} as trade_order
    order by
      not ${isNative("trade_order")},
      trade_order.placed_timestamp desc
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
 * Offers of a sale's buyer for what he paid, that were filled by then or later. A sale doesn't name its order, so what is
 * said of it is what all of these are.
 */
const FITTING_OFFERS = `
  select
    count(*) > 0 as is_known,
    bool_and(placed.event_type = 'CollectionOffer') as is_for_collection
  from placed
  where
    sale.is_offer is not false
    and placed.side = 'offer'
    and placed.maker = sale.to_address
    and placed.marketplace = sale.marketplace
    and placed.currency_address = sale.currency_address
    and placed.amounts is null
    and placed.start_amount * sale.quantity = sale.price * placed.quantity
    and placed.filled > 0
    and placed.start_time <= sale.timestamp
    and placed.end_time > sale.timestamp
    and placed.updated_timestamp >= sale.timestamp
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
      order_hash
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
      order_hash
    from placed
    cross join lateral (${CANCELLATION}) as cancellation
    union all
    select
      case
        when not taken.is_offer then 'Listing'
        when offer.is_for_collection then 'CollectionOffer'
        else 'Offer'
      end,
      sale.timestamp,
      case when taken.is_offer then 'EXECUTED' else 'FULFILLED' end,
      '0x' || encode(sale.from_address, 'hex'),
      '0x' || encode(sale.to_address, 'hex'),
      coalesce(sale.price, 0),
      null,
      sale.currency_address,
      sale.transaction_hash
    from (
      select
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
        token_event.log_index desc
      limit ${MAX_ROWS}
    ) as sale
    cross join lateral (${FITTING_OFFERS}) as offer
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
        when event_type <> 'CollectionOffer' or order_status = 'EXECUTED' then 0
        when ${isNative("entry")} then 1
        else 2
      end,
      event_timestamp desc,
      order_status,
      order_hash
    limit ${MAX_ROWS}
  ) as shown
  order by
    event_timestamp desc,
    order_status,
    order_hash
`;

/**
 * Orders placed for a token, what it was sold for, and what was cancelled, newest first. Of more than fit, the token's own:
 * offers for any token of a collection are as many as people like.
 */
export async function listHistory(
  sql: Sql,
  { chainId, contractAddress, tokenId }: Omit<Token, "now">,
): Promise<HistoryEntry[]> {
  return sql.unsafe<HistoryEntry[]>(HISTORY, [toBytes(contractAddress), chainId, tokenId], { prepare: true });
}
