import { z } from "@hono/zod-openapi";
import type { Sql } from "postgres";
import { toBytes } from "../sql/database.ts";
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
  amount: z.string(),
  canceled_reason: z.string().nullable(),
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
    trade_order.order_hash
  ${standingOffers("token", matches)}
`;

/** $1: contract, $4: token id. */
const OFFERS = `
  with token as (
    select
      known.contract_address,
      known.token_id,
      known.standard
    from token as known
    where
      known.contract_address = $1
      and known.token_id = $4
  )
  select
    '0x' || encode(offer.maker, 'hex') as offer_maker,
    offer.amount as offer_amount,
    offer.quantity as offer_quantity,
    offer.placed_timestamp as offer_timestamp
  from token
  cross join lateral (
    ${offersOf(matchesToken("token"))}
    union all
    ${offersOf(matchesAny)}
  ) as offer
  order by
    offer.amount desc,
    offer.placed_timestamp,
    offer.order_hash
  limit ${MAX_ROWS}
`;

/** Offers that stand now, highest first. */
export async function listOffers(sql: Sql, { contractAddress, tokenId, ...moment }: Token): Promise<Offer[]> {
  const parameters = [toBytes(contractAddress), ...momentParameters(moment), tokenId];
  return sql.unsafe<Offer[]>(OFFERS, parameters, { prepare: true });
}

const placedOrders = (matches: Condition) => `
  (
    select
      trade_order.side,
      trade_order.is_cancelled,
      trade_order.filled,
      trade_order.quantity,
      trade_order.start_amount,
      trade_order.placed_timestamp,
      trade_order.updated_timestamp,
      trade_order.order_hash,
      '0x' || encode(trade_order.maker, 'hex') as maker,
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
    order by trade_order.placed_timestamp desc
    limit ${MAX_ROWS}
  )
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
      case when side = 'listing' then maker else '' end as previous_owner,
      case when side = 'offer' then maker else '' end as new_owner,
      start_amount as amount,
      null as canceled_reason,
      order_hash
    from placed
    union all
    select
      event_type,
      updated_timestamp,
      'CANCELLED',
      case when side = 'listing' then maker else '' end,
      case when side = 'offer' then maker else '' end,
      start_amount,
      'cancelled on chain',
      order_hash
    from placed
    where is_cancelled
    union all
    select
      coalesce(bought.event_type, 'Listing'),
      token_event.timestamp,
      case when bought.side = 'offer' then 'EXECUTED' else 'FULFILLED' end,
      '0x' || encode(token_event.from_address, 'hex'),
      '0x' || encode(token_event.to_address, 'hex'),
      coalesce(token_event.price, 0),
      null,
      token_event.transaction_hash
    from (
      select
        sold.timestamp,
        sold.from_address,
        sold.to_address,
        sold.price,
        sold.transaction_hash
      from token_event as sold
      where
        sold.contract_address = $1
        and sold.token_id = $3
        and sold.event_type = 'sale'
      order by
        sold.block_number desc,
        sold.log_index desc
      limit ${MAX_ROWS}
    ) as token_event
    left join lateral (
      select
        placed.event_type,
        placed.side
      from placed
      where
        placed.updated_timestamp = token_event.timestamp
        and placed.side = 'offer'
        and placed.maker = '0x' || encode(token_event.to_address, 'hex')
        and placed.filled > 0
      limit 1
    ) as bought on true
  )
  select
    event_type,
    event_timestamp,
    order_status,
    previous_owner,
    new_owner,
    amount::text as amount,
    canceled_reason
  from entry
  order by
    event_timestamp desc,
    order_status,
    order_hash
  limit ${MAX_ROWS}
`;

/** Orders placed for a token, what it was sold for, and what was cancelled, newest first. */
export async function listHistory(
  sql: Sql,
  { chainId, contractAddress, tokenId }: Omit<Token, "now">,
): Promise<HistoryEntry[]> {
  return sql.unsafe<HistoryEntry[]>(HISTORY, [toBytes(contractAddress), chainId, tokenId], { prepare: true });
}
