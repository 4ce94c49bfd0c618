import { ofNewestEvent } from "../token/event.ts";
import { isNative } from "./native-currency.ts";
import { forOne, priceNow } from "./order-price.ts";
import { firstRaisedCounter, isFillable, matchesAny, matchesToken, standingOffers } from "./order-rule.ts";
import { CHAIN, type Condition, isOfSide, openOrders } from "./trade-order.ts";

/*
 * SQL of tokens with their best listings. The tokens of a page have a `place` from 1, and the number of their contract
 * within the page, `collection`, from 1, so that facts of a contract are looked up once for all its tokens. The few
 * contracts with tokens of two standards count as two, because an offer for any token is for tokens of one standard.
 */

/** Column `collection` of a page of `token`. */
export const NUMBER_OF_COLLECTION = "dense_rank() over (order by token.contract_address, token.standard) as collection";
/** Column `collection` of a page of one contract. */
export const NUMBER_IN_CONTRACT = "dense_rank() over (order by token.standard) as collection";

const listingsOf = (condition: Condition) =>
  openOrders((table) => `${condition(table)} and ${isOfSide(table, "listing")}`);

/**
 * Joins each token of a page with its listings, token by token. `maker`: only theirs. Anybody can put any number of
 * listings on the chain for a token that they don't have: these are left out before they are sorted, 50 ms for 200,000
 * that took half a second.
 *
 * The maker stands in a `case` because the planner may otherwise read all that they have listed for each token: for
 * 28,000 signed listings that never were analyzed a page of 100 read 2.8 million buffers.
 */
export const joinListings = ({ maker }: { maker?: string } = {}) => `
  left join lateral ${listingsOf(
    (table) => `
      ${table}.contract_address = page.contract_address
      and ${table}.token_id = page.token_id
      and case when page.owner is null then true else ${table}.maker = page.owner end
      ${maker === undefined ? "" : `and case when ${table}.maker = ${maker} then true else false end`}
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
 * The same for all tokens at once, for a page that has almost all of a contract's tokens between its first and its
 * last. It is a full join because Postgres can't do that as a nested loop, the only join that our connections would use
 * otherwise: a page has 10,000 pairs. Listings of others than the one owner of a token match none, so that they are left
 * out before anything is sorted. The side stands in a `case` because the planner may otherwise take the index of all
 * listings by price: for a contract with half a million listings that read 506,000 buffers a page.
 */
export const joinListingsInRange = (contractAddress: string) => `
  full join (
    select
      trade_order.*,
      case when trade_order.token_standard = 'ERC1155' then ''::bytea else trade_order.maker end as owner
    from ${openOrders(
      (table) => `
        ${isInRange(contractAddress)(table)}
        and case when ${table}.side = 'listing' then true else false end
      `,
    )} as trade_order
  ) as trade_order
    on trade_order.token_id = page.token_id
    and trade_order.owner = coalesce(page.owner, ''::bytea)
`;

/** Joins each token of such a page with `offer`, a row that exists where there may be an offer for the token. */
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
 * The beginning of a statement, which goes on with `from listed`. A row of `listed` is a token of `page` with `columns`
 * (at least those that `isFillable` needs) and the terms of its best listing, valid only where `is_listed`. The best
 * listing is the cheapest now; any in the chain's own currency comes before all others. What a full join brings besides
 * the page's tokens is left out by a `case`: of a plain condition the planner would make it a left join, as a nested loop.
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
  /** SQL that joins the page with its listings. */
  join: string;
  mayHaveOffer?: string;
  /** Select list of facts about `one`, a contract and standard of the page. */
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
        when trade_order.order_hash is null then false
        else ${isFillable("trade_order", "page")}
      end) is true as is_listed,
      trade_order.exchange_address,
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
    where case when page.place is null then false else true end
    order by
      page.place,
      is_listed desc,
      is_native desc,
      current_price,
      placed_timestamp,
      order_hash,
      exchange_address
  )
`;

/** A fact about the contract of `token`, a row of `listed`. Read from an array: a look-up would scan all contracts. */
export const factOf = (name: string) => `
  (
    (
      select array_agg(collection.${name} order by collection.collection)
      from collection
    )[token.collection::integer]
  )
`;

/** `limit 1` instead of `exists`, for which the planner would build a hash of all offers. */
const exists = (orders: string) => `
  (
    (
      select true
      ${orders}
      limit 1
    ) is true
  )
`;

/** Whether an offer for any token of the contract `one` stands now. */
export const HAS_OFFER_FOR_ANY = exists(standingOffers("one", matchesAny));

/** Whether an offer for this one token stands now. `token` is a row of `listed`. */
export const HAS_OWN_OFFER = `
  case
    when token.may_have_offer then ${exists(standingOffers("token", matchesToken("token")))}
    else false
  end
`;

/**
 * When the newest listing of `token` in `table` was placed or last changed, or its maker's counter ended it. Of several
 * that were placed in the same second, as in one block, each is the newest. Seaport cancels what is over, too: that
 * changes nothing.
 */
const newestListing = (table: string, { state = table, join = "", condition = "true" }: NewestListing = {}) => `
  (
    select max(newest.updated_timestamp)
    from (
      select
        greatest(
          ${table}.placed_timestamp,
          case
            when ${state}.is_cancelled and ${state}.updated_timestamp >= ${table}.end_time then null
            else ${state}.updated_timestamp
          end,
          case
            when ${state}.is_cancelled or ${state}.filled >= ${table}.quantity then null
            when token.is_listed and token.order_hash = ${table}.order_hash then null
            else (
              select case when raised_counter.timestamp < ${table}.end_time then raised_counter.timestamp end
              ${firstRaisedCounter(table)}
            )
          end
        ) as updated_timestamp
      from ${table}
      ${join}
      where
        ${table}.contract_address = token.contract_address
        and ${table}.token_id = token.token_id
        and ${table}.side = 'listing'
        and ${condition}
      order by ${table}.placed_timestamp desc
      fetch first row with ties
    ) as newest
  )
`;
type NewestListing = { state?: string; join?: string; condition?: string };

/**
 * When something last happened to `token`, a row of `listed`, or to its listing that was placed last, in Unix seconds.
 * This never goes back when a listing ends: a fill is an event of the token, and the newest listing counts whether it is
 * open or not. A later cancellation of an older listing isn't seen: its log names no token, so that all signed listings
 * of the token would have to be looked up one by one.
 */
export const UPDATED_TIMESTAMP = `
  greatest(
    ${ofNewestEvent("token_event.timestamp")},
    case when token.is_listed then token.updated_timestamp end,
    ${newestListing("trade_order")},
    ${newestListing("signed_order", {
      state: "state",
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
