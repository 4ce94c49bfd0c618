import { ofNewestEvent } from "../token/event.ts";
import { isNative } from "./native-currency.ts";
import { forOne, priceNow } from "./order-price.ts";
import { isFillable, matchesAny, matchesToken, standingOffers } from "./order-rule.ts";
import { CHAIN, type Condition, isOfSide, openOrders } from "./trade-order.ts";

/*
 * SQL of tokens with their best listings: of a page whose tokens have a `place` from 1 and the number of their contract
 * among those of the page, `collection`, from 1. All facts of a contract are asked for once. The few contracts with tokens
 * of two standards count as two, because an offer for any token is for those of one.
 */

/** Column `collection` of a page of `token`. */
export const NUMBER_OF_COLLECTION = "dense_rank() over (order by token.contract_address, token.standard) as collection";
/** The same of a page of one contract. */
export const NUMBER_IN_CONTRACT = "dense_rank() over (order by token.standard) as collection";

const listingsOf = (condition: Condition) =>
  openOrders((table) => `${condition(table)} and ${isOfSide(table, "listing")}`);

/** Joins each token of a page with its listings, one after the other; `condition` on those that count. */
export const joinListings = (condition: Condition = () => "true") => `
  left join lateral ${listingsOf(
    (table) => `
      ${table}.contract_address = page.contract_address
      and ${table}.token_id = page.token_id
      and ${condition(table)}
    `,
  )} as trade_order on true
`;

const isInRange =
  (contractAddress: string): Condition =>
  (table) =>
    `
    ${table}.contract_address = ${contractAddress}
    and ${table}.token_id >= (select bounds.first from bounds)
    and ${table}.token_id <= (select bounds.last from bounds)
  `;

/**
 * The same at once, for a page that leaves out next to none of a contract's tokens between its first and its last. A full
 * join, because that can't be done one by one, which is all that our connections do otherwise: the pairs of a page are
 * 10,000. The side in a `case`, because the planner may else take the index of all listings by price: of a contract with
 * half a million that was 506,000 buffers a page.
 */
export const joinListingsInRange = (contractAddress: string) => `
  full join ${openOrders(
    (table) => `
      ${isInRange(contractAddress)(table)}
      and case when ${table}.side = 'listing' then true else false end
    `,
  )} as trade_order
    on trade_order.token_id = page.token_id
`;

/** Joins each token of such a page with `offer`, where there may be an offer for it. */
export const joinOffersInRange = (contractAddress: string) => `
  full join (
    select trade_order.token_id
    from trade_order
    where
      trade_order.is_open
      and ${isOfSide("trade_order", "offer")}
      and ${isInRange(contractAddress)("trade_order")}
    union
    select signed_order.token_id
    from signed_order
    where
      signed_order.chain_id = ${CHAIN}
      and ${isOfSide("signed_order", "offer")}
      and ${isInRange(contractAddress)("signed_order")}
  ) as offer
    on offer.token_id = page.token_id
`;

/**
 * The beginning of a statement, which goes on with `from listed`: tokens of `page` with `columns`, which are those of
 * `isFillable` at least, and terms that count where `is_listed`. The best listing is the cheapest now, in the chain's
 * own currency before any other.
 */
export const withListings = ({
  page,
  columns,
  join,
  mayHaveOffer = "true",
  facts,
}: {
  page: string;
  columns: readonly string[];
  /** The page with its listings. */
  join: string;
  mayHaveOffer?: string;
  /** Columns of each contract, `one`, with its standard. */
  facts: string;
}) => `
  with page as materialized (${page}),
  bounds as materialized (
    select
      min(page.token_id) as first,
      max(page.token_id) as last
    from page
  ),
  collection as materialized (
    select
      one.collection,
      ${facts}
    from (
      select distinct
        page.contract_address,
        page.collection,
        page.standard
      from page
    ) as one
  ),
  listed as materialized (
    select distinct on (page.place)
      page.place,
      page.collection,
      page.contract_address,
      page.token_id,
      ${columns.map((column) => `page.${column}`).join(", ")},
      ${mayHaveOffer} as may_have_offer,
      (case
        when page.place is null or trade_order.order_hash is null then false
        else ${isFillable("trade_order", "page")}
      end) is true as is_listed,
      trade_order.order_hash,
      trade_order.marketplace,
      trade_order.maker,
      trade_order.broker,
      trade_order.currency_address,
      ${forOne("trade_order", "start_amount")} as start_amount,
      case
        when trade_order.amounts is not null then ${forOne("trade_order", "end_amount")}
      end as end_amount,
      ${priceNow("trade_order")} as current_price,
      ${isNative("trade_order")} as is_native,
      trade_order.start_time,
      trade_order.end_time,
      trade_order.placed_timestamp,
      trade_order.updated_timestamp,
      trade_order.quantity - trade_order.filled as quantity
    from page
    ${join}
    order by
      page.place,
      is_listed desc,
      is_native desc,
      current_price,
      placed_timestamp,
      order_hash
  )
`;

/** A fact of the contract of `token`, a row of `listed`: a look-up for each would go through all of them. */
export const factOf = (name: string) => `
  (
    (
      select array_agg(collection.${name} order by collection.collection)
      from collection
    )[token.collection::integer]
  )
`;

/** Limited, because the planner makes a hash of all offers out of what is only asked to exist. */
const exists = (orders: string) => `
  (
    (
      select true
      ${orders}
      limit 1
    ) is true
  )
`;

/** Whether an offer for any token of `one`, a contract, stands now. */
export const HAS_OFFER_FOR_ANY = exists(standingOffers("one", matchesAny));

/** Whether an offer for `token`, a row of `listed`, itself stands now. */
export const HAS_OWN_OFFER = `
  case
    when token.may_have_offer then ${exists(standingOffers("token", matchesToken("token")))}
    else false
  end
`;

/** When `token`'s listing that was placed last, in `table`, was placed or last changed. */
const newestListing = (table: string, { updated, join = "", condition = "true" }: NewestListing) => `
  (
    select ${updated}
    from ${table}
    ${join}
    where
      ${table}.contract_address = token.contract_address
      and ${table}.token_id = token.token_id
      and ${table}.side = 'listing'
      and ${condition}
    order by ${table}.placed_timestamp desc
    limit 1
  )
`;
type NewestListing = { updated: string; join?: string; condition?: string };

/**
 * When something last happened to `token`, a row of `listed`, or to the listing of it that was placed last, in Unix
 * seconds. Whatever becomes of a listing, this never goes back: what fills one is an event, and another one of before was
 * placed before the last. That an older one was cancelled later isn't seen: the log of that names no token, so that all
 * signed listings of the token would have to be looked up one by one.
 */
export const UPDATED_TIMESTAMP = `
  greatest(
    ${ofNewestEvent("token_event.timestamp")},
    case when token.is_listed then token.updated_timestamp end,
    ${newestListing("trade_order", { updated: "trade_order.updated_timestamp" })},
    ${newestListing("signed_order", {
      updated: "greatest(signed_order.placed_timestamp, state.updated_timestamp)",
      join: `
        left join trade_order as state
          on state.exchange_address = signed_order.exchange_address
          and state.order_hash = signed_order.order_hash
      `,
      condition: `signed_order.chain_id = ${CHAIN}`,
    })},
    0
  )
`;
