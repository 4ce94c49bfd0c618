import { joinToken } from "../token/token.ts";
import { leftNow } from "./order-price.ts";
import { CHAIN, type Condition, openOffers } from "./trade-order.ts";

/*
 * SQL of whether an open order could be filled now. Everything that can change without a log of the order itself is
 * looked up at each request: the time, the maker's counter, the maker's balance, the approval. So an order is shown
 * again by itself once the maker has the token again.
 */

/** What decides about an order besides its own columns, as SQL. */
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

/** The facts of one order, each found by a look-up of its own. */
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
  isApproved: lookUpApproval(order, {
    contract: "contract_address",
    operator: "operator",
    tokenId: `${order}.token_id`,
  }),
  isModuleApproved: lookUpApproval(order, { contract: "exchange_address", operator: "exchange_address", tokenId: "0" }),
});

/** What an approval is looked up by: the order's columns with the contract and the operator, and SQL of the token. */
type ApprovalKey = { contract: string; operator: string; tokenId: string };

// Most approvals are logged and stand, so the logs are looked up first.
const lookUpApproval = (order: string, by: ApprovalKey) => `
  case
    when (${lastApproval(order, by)}) then true
    else (
      select ${isApprovedBy("said", "asked")}
      from (select) as one
      left join lateral (
        ${lastApproval(order, by, ", approval.block_number")}
      ) as said on true
      left join lateral (
        select
          listing_approval.is_approved,
          listing_approval.block_number
        from listing_approval
        where
          listing_approval.chain_id = ${CHAIN}
          and listing_approval.contract_address = ${order}.${by.contract}
          and listing_approval.token_id = ${by.tokenId}
          and listing_approval.owner = ${order}.maker
          and listing_approval.operator = ${order}.${by.operator}
        limit 1
      ) as asked on true
    )
  end
`;

/** The last approval that an order's maker logged. */
const lastApproval = (order: string, by: Omit<ApprovalKey, "tokenId">, more = "") => `
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
 * Whether an approval stands. It may stand without a log: some contracts approve exchanges by themselves, and people
 * approve single tokens. Then the contract's answer to the worker a moment ago decides; if the worker hasn't asked yet,
 * the approval is taken to stand. `said`: the last log; `asked`: the worker's answer.
 */
export const isApprovedBy = (said: string, asked: string) => `
  case
    when ${said}.is_approved then true
    when ${asked}.block_number >= coalesce(${said}.block_number, 0) then ${asked}.is_approved
    else ${said}.is_approved is null
  end
`;

/**
 * Whether an order was signed under its maker's current counter. Without a log of a raised counter it was: the counter
 * was checked when the order was taken or validated, even if it was raised before the first indexed block. Only where
 * that log was there or to come when the order came, and is missing since, it wasn't: a reorg took it away.
 */
export const isUnderCounter = (order: string, { counter } = { counter: lookUpCounter(order) }) => `
  case
    when ${order}.counter is null then true
    else coalesce(${order}.counter = ${counter}, not ${order}.is_counter_logged)
  end
`;

/** The `from` clause of the first counter of an order's maker above the one that the order was signed with. */
export const firstRaisedCounter = (order: string) => `
  from raised_counter
  where
    raised_counter.exchange_address = ${order}.exchange_address
    and raised_counter.maker = ${order}.maker
    and raised_counter.counter > ${order}.counter
  order by raised_counter.counter
  limit 1
`;

/**
 * Whether a token is of the standard that its order names, by which the exchange would move it. Orders at CryptoPunks and
 * Zora name none: what these move has one owner.
 */
const isOfStandard = (order: string, token: string) => `
  case
    when ${order}.token_standard is null then ${token}.standard <> 'ERC1155'
    else ${order}.token_standard = ${token}.standard
  end
`;

/**
 * Whether an open listing could be filled now. Each condition stands in a `case`, which the planner expects to be true
 * for half of the rows. Of plain comparisons it would expect almost no rows, and sort a million as if they were a
 * thousand.
 *
 * @param token name of a row with contract_address, token_id, standard and owner
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
      and case when ${order}.marketplace = 'zora' then ${facts.isModuleApproved} else true end
    else false
  end
`;

/** Joins each order with its token, with the columns that `isFillable` needs. */
export const JOIN_TOKEN = joinToken({
  columns: ["contract_address", "token_id", "standard", "owner"],
  contractAddress: "trade_order.contract_address",
  tokenId: "trade_order.token_id",
});

/** Orders for one token, and orders for any token of its contract. Two look-ups, because an `or` would be a scan. */
export const matchesToken =
  (token: string): Condition =>
  (table) =>
    `${table}.token_id = ${token}.token_id`;
/** Orders for any token of a contract. */
export const matchesAny: Condition = (table) => `${table}.token_id is null`;

/** Whether any signed offer exists; if not, none are looked up. The `order by` is that of an index on signed offers. */
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
 * Whether an offer pays something, and its maker could pay that, by what the worker was told a moment ago. A maker whose
 * money the worker hasn't asked about yet is taken to have it.
 */
export const isFunded = (offer: string) => `
  (
    ${leftNow(offer)} <= coalesce(
      (
        select offer_funds.spendable
        from offer_funds
        where
          offer_funds.chain_id = ${CHAIN}
          and offer_funds.currency_address = ${offer}.currency_address
          and offer_funds.maker = ${offer}.maker
          and offer_funds.operator = ${offer}.operator
      ),
      'Infinity'::numeric
    )
  ) is true
`;

/**
 * The `from` clause of the offers that stand now, among those that `matches` selects.
 *
 * @param token name of a row with contract_address and standard, and token_id for `matchesToken`
 */
export const standingOffers = (token: string, matches: Condition) => `
  from ${openOffers((table) => `${table}.contract_address = ${token}.contract_address and ${matches(table)}`, {
    isSignedWanted: HAS_SIGNED_OFFERS,
  })} as trade_order
  where
    ${isOfStandard("trade_order", token)}
    and ${isUnderCounter("trade_order")}
    and ${isFunded("trade_order")}
`;
