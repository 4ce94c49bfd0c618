import { leftNow } from "./order-price.ts";
import { CHAIN, type Condition, isOfSide, openOrders } from "./trade-order.ts";

/*
 * SQL of whether an open order could be filled now. Everything that can change without a log of the order itself is
 * looked up when it is asked for: the time, the maker's counter, what the maker holds, whether the approval stands. So
 * an order comes back by itself when the maker has the token again.
 */

/** What decides about an order beside its own columns, as SQL. */
type Facts = { counter: string; balance: string; isApproved: string; isModuleApproved: string };

const lookUpCounter = (order: string) => `
  (
    select order_counter.counter
    from order_counter
    where
      order_counter.exchange_address = ${order}.exchange_address
      and order_counter.maker = ${order}.maker
  )
`;

/** Those of one order, looked up one by one. */
export const lookUpFacts = (order: string, token: string): Facts => ({
  counter: lookUpCounter(order),
  balance: `
    (
      select ownership.balance
      from ownership
      where
        ownership.contract_address = ${token}.contract_address
        and ownership.token_id = ${token}.token_id
        and ownership.owner = ${order}.maker
    )
  `,
  // Most approvals are on record and stand.
  isApproved: `
    case
      when (${lastApproval(order, { contract: "contract_address", operator: "operator" })}) then true
      else (
        select ${isApprovedBy("said", "asked")}
        from (select) as one
        left join lateral (
          ${lastApproval(order, { contract: "contract_address", operator: "operator" }, ", approval.block_number")}
        ) as said on true
        left join lateral (
          select
            listing_approval.is_approved,
            listing_approval.block_number
          from listing_approval
          where
            listing_approval.chain_id = ${CHAIN}
            and listing_approval.contract_address = ${order}.contract_address
            and listing_approval.token_id = ${order}.token_id
            and listing_approval.owner = ${order}.maker
            and listing_approval.operator = ${order}.operator
          limit 1
        ) as asked on true
      )
    end
  `,
  isModuleApproved: `(${lastApproval(order, { contract: "exchange_address", operator: "exchange_address" })})`,
});

/** What the maker of an order said last of an operator, both by their columns in the order. */
const lastApproval = (order: string, by: { contract: string; operator: string }, more = "") => `
  select approval.is_approved${more}
  from approval
  where
    approval.contract_address = ${order}.${by.contract}
    and approval.owner = ${order}.maker
    and approval.operator = ${order}.${by.operator}
  order by
    approval.block_number desc,
    approval.log_index desc
  limit 1
`;

/**
 * Whether an approval stands. One that was never seen may: some contracts approve exchanges by themselves, and people
 * approve single tokens. Then it is as the worker was told by the contract a moment ago; where it never asked, it
 * stands.
 */
export const isApprovedBy = (said: string, asked: string) => `
  case
    when ${said}.is_approved then true
    when ${asked}.block_number >= coalesce(${said}.block_number, 0) then ${asked}.is_approved
    else ${said}.is_approved is null
  end
`;

/**
 * Whether an order was made under its maker's counter. Where none was raised it still is: it was under the exchange's
 * when it was taken or validated, which may have been raised before the first block that is indexed.
 */
export const isUnderCounter = (order: string, { counter } = { counter: lookUpCounter(order) }) => `
  case
    when ${order}.counter is null then true
    else coalesce(${order}.counter = ${counter}, true)
  end
`;

/**
 * Whether a token is of the standard that an order takes it for: the exchange moves it as one of that. A CryptoPunk is of
 * none that Seaport knows.
 */
const isOfStandard = (order: string, token: string) => `
  case
    when ${order}.token_standard is null then true
    else ${order}.token_standard = ${token}.standard
  end
`;

/**
 * Whether an open listing could be filled now. Each condition stands in a `case`, which the planner takes to be true
 * for half of the rows. For the plain comparisons it would expect next to none, and sort a million rows as if they were
 * a thousand.
 *
 * @param token with contract_address, token_id, standard and owner
 */
export const isFillable = (order: string, token: string, facts: Facts = lookUpFacts(order, token)) => `
  case
    when
      case
        when ${token}.standard = 'ERC1155' then ${facts.balance} >= ${order}.quantity - ${order}.filled
        else ${token}.owner = ${order}.maker
      end
    then
      ${isOfStandard(order, token)}
      and ${isUnderCounter(order, facts)}
      and case when ${order}.operator is null then true else ${facts.isApproved} end
      and case when ${order}.marketplace = 'zora' then ${facts.isModuleApproved} is not false else true end
    else false
  end
`;

/** Orders for the token itself, and those for any token of its contract: two look-ups, where `or` would be a scan. */
export const matchesToken =
  (token: string): Condition =>
  (table) =>
    `${table}.token_id = ${token}.token_id`;
export const matchesAny: Condition = (table) => `${table}.token_id is null`;

/** Whether anybody signed an offer, so that those aren't looked for where there are none. In the order of their index. */
const HAS_SIGNED_OFFERS = `
  (
    select true
    from signed_order as one
    where
      one.chain_id = ${CHAIN}
      and one.side = 'offer'
    order by one.maker
    limit 1
  )
`;

/**
 * Whether the maker of an offer could pay it, as the worker was told a moment ago; one that it never asked for is taken
 * to have the money.
 */
export const isFunded = (offer: string) => `
  coalesce(
    (
      select offer_funds.spendable
      from offer_funds
      where
        offer_funds.chain_id = ${CHAIN}
        and offer_funds.currency_address = ${offer}.currency_address
        and offer_funds.maker = ${offer}.maker
        and offer_funds.operator = ${offer}.operator
    ) >= ${leftNow(offer)},
    true
  )
`;

/**
 * Offers for a token that stand now, of those that match.
 *
 * @param token with contract_address and standard, and token_id where that is matched
 */
export const standingOffers = (token: string, matches: Condition) => `
  from ${openOrders(
    (table) => `
      ${table}.contract_address = ${token}.contract_address
      and ${matches(table)}
      and ${isOfSide(table, "offer")}
      ${table === "signed_order" ? `and ${HAS_SIGNED_OFFERS}` : ""}
    `,
  )} as trade_order
  where
    ${isOfStandard("trade_order", token)}
    and ${isUnderCounter("trade_order")}
    and ${isFunded("trade_order")}
`;
