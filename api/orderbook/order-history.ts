import { z } from "@hono/zod-openapi";
import type { Sql } from "postgres";
import { toBytes } from "../../offchain/bytea.ts";
import { integer, list, oneOf, text } from "../http/field.ts";
import { isNative } from "./native-currency.ts";
import { matchesAny } from "./order-rule.ts";
import { OrderbookToken } from "./orderbook.ts";
import { CANCELLATION, FITTING_LISTINGS, FITTING_OFFERS, MAX_ROWS, placedOrders } from "./placed-order.ts";
import { firstPlaced } from "./trade-order.ts";

const { contract_address, token_id, current_owner } = OrderbookToken.shape;

const HistoryEntry = z.strictObject({
  event_type: oneOf({
    Listing: "the token was offered for sale",
    Auction:
      "the same at a price that falls with time, Seaport's; auctions with bids are seen when they end, as listings that " +
      "were bought",
    Offer: "somebody bid for the token",
    CollectionOffer: "somebody bid for any token of its contract",
  }),
  event_timestamp: integer("Unix seconds of what `order_status` says."),
  order_status: oneOf({
    PLACED: "the order was put on the chain or sent here",
    FULFILLED: "a listing was bought",
    CANCELLED: "the order was cancelled before it was filled or over",
    EXECUTED: "an offer was accepted",
  }),
  previous_owner: text("Of a sale the seller, of a listing its maker; empty of an offer that wasn't accepted."),
  new_owner: text("Of a sale the buyer, of an offer its maker; empty of a listing that wasn't bought."),
  amount: text(
    "For all units, in the smallest unit of the currency, decimal; 0 where nobody can say what a sale cost. Of an order " +
      "what it began with.",
  ),
  // No enum, and no choice of one and null: of either, clients generated in some language don't compile.
  canceled_reason: text(
    "`cancelled on chain`: this order alone; `counter raised on chain`: its maker ended all that they had signed for " +
      "the exchange. Null of anything else than CANCELLED.",
  ).nullable(),
  currency_address: text(
    "Extension: contract of the currency; the zero address is the chain's own. Empty where nobody can say what a sale cost.",
  ),
});
/** One entry of a token's history: an order that was placed or cancelled, or a sale. */
export type HistoryEntry = z.infer<typeof HistoryEntry>;

/** One token with the history of its orders. */
export const History = z
  .strictObject({
    contract_address,
    token_id,
    current_owner,
    history: list(
      HistoryEntry,
      `Newest first, at most ${MAX_ROWS}. Where there are more, offers in other currencies than the chain's own or its ` +
        "wrapped form are left out first, then those on its contract.",
    ),
  })
  .openapi("OrderbookHistory", { description: "A token with what became of the orders for it." });

/** SQL of an order's maker if the order is on this side, else empty. */
const makerOf = (side: "listing" | "offer") =>
  `case when side = '${side}' then '0x' || encode(maker, 'hex') else '' end`;

/** Entries of the same second are ordered by status; then sales by their logs, the last first, and others by hash. */
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
      ${firstPlaced("placed")} as event_timestamp,
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
 * Orders placed for a token, its sales, and its cancelled orders, newest first. If there are more than `MAX_ROWS`,
 * sales, listings and offers for the token itself in the chain's own currency go first: of other offers, anybody can
 * make as many as they like.
 */
export async function listHistory(
  sql: Sql,
  { chainId, contractAddress, tokenId }: { chainId: number; contractAddress: string; tokenId: string },
): Promise<HistoryEntry[]> {
  return sql.unsafe<HistoryEntry[]>(HISTORY, [toBytes(contractAddress), chainId, tokenId], { prepare: true });
}
