/**
 * SQL of orders that could be filled now. Everything that can change without a log of the order itself is looked up when
 * it is asked for: the time, the maker's counter, what the maker holds, whether the approval stands. So an order comes
 * back by itself when the maker has the token again.
 *
 * Statements are whole texts: in each of them $2 is the chain, and $3 the second by which orders are judged.
 */

/**
 * When and where an order could be filled. `now`: what the next block's time will be at least, in Unix seconds; by
 * default this second.
 */
export type Moment = { chainId: number; now?: number | undefined };

/** $2 and $3 of a statement. */
export const momentParameters = ({ chainId, now }: Moment): [number, number] => [
  chainId,
  now ?? Math.floor(Date.now() / 1000),
];

export const CHAIN = "$2::bigint";
const NOW = "$3::bigint";

/** The chain's own currency and its wrapped forms: mainnet, OP chains, Polygon, Arbitrum, BNB, and Blur's pool. */
const NATIVE_CURRENCIES = [
  "0000000000000000000000000000000000000000",
  "c02aaa39b223fe8d0a0e5c4f27ead9083c756cc2",
  "4200000000000000000000000000000000000006",
  "0d500b1d8e8ef31e21c99d1db9a6444d3adf1270",
  "82af49447d8a07e3bd95bd0d56f35241523fbab1",
  "bb4cdb9cbd36b01bd1cbaebf2de08d9173bc095c",
  "0000000000a39bb272e79075ade125fd351887ac",
];

const NATIVE_LITERALS = NATIVE_CURRENCIES.map((digits) => `'\\x${digits}'::bytea`).join(", ");

/** Whether an order is paid in the chain's own currency, as itself or wrapped. */
export const isNative = (order: string) => `(${order}.currency_address in (${NATIVE_LITERALS}))`;

/** Columns that an order has wherever it is from. */
const termsOf = (table: string) => `
  ${table}.exchange_address,
  ${table}.order_hash,
  ${table}.side,
  ${table}.maker,
  ${table}.contract_address,
  ${table}.token_id,
  ${table}.quantity,
  ${table}.currency_address,
  ${table}.start_amount,
  ${table}.end_amount,
  ${table}.unit_price,
  ${table}.amounts,
  ${table}.start_time,
  ${table}.end_time,
  ${table}.counter,
  ${table}.operator,
  ${table}.taker,
  ${table}.broker,
  ${table}.placed_timestamp
`;

/** A condition on those columns, which both tables of orders have. */
export type Condition = (table: string) => string;

const onChain = (condition: string) => `
  select
    ${termsOf("trade_order")},
    trade_order.marketplace,
    trade_order.is_cancelled,
    trade_order.filled,
    trade_order.updated_timestamp
  from trade_order
  where ${condition}
`;

/** Orders that makers sent us, with what became of them on the chain; without those that were put there too. */
const signed = (
  condition: string,
  { isWanted = "true", limit = "limit 1" }: { isWanted?: string; limit?: string | undefined } = {},
) => `
  select
    ${termsOf("signed_order")},
    'seaport' as marketplace,
    coalesce(state.is_cancelled, false) as is_cancelled,
    coalesce(state.filled, 0) as filled,
    greatest(signed_order.placed_timestamp, state.updated_timestamp) as updated_timestamp
  from signed_order
  left join lateral (
    select
      found.side,
      found.is_cancelled,
      found.filled,
      found.updated_timestamp
    from trade_order as found
    where
      found.exchange_address = signed_order.exchange_address
      and found.order_hash = signed_order.order_hash
    ${limit}
  ) as state on true
  where
    signed_order.chain_id = ${CHAIN}
    and ${condition}
    and case when state.side is not null then false else ${isWanted} end
`;

/** Orders whose terms are known, whatever became of them. */
export const allOrders = (condition: Condition) => `
  (
    ${onChain(condition("trade_order"))}
    union all
    ${signed(condition("signed_order"))}
  )
`;

/** What an order's own columns say: begun, not over, for anybody. */
export const isCurrent: Condition = (table) => `
  ${table}.taker is null
  and ${table}.start_time <= ${NOW}
  and ${table}.end_time > ${NOW}
`;

const IS_OPEN_WHERE_SIGNED = `
  state.is_cancelled is not true
  and coalesce(state.filled, 0) < signed_order.quantity
`;

/** Open orders of either table: neither cancelled nor filled, begun, not over, for anybody. */
export const openOnChain = (condition: Condition) =>
  onChain(`trade_order.is_open and ${isCurrent("trade_order")} and ${condition("trade_order")}`);
const openSignedUpTo = (limit: "limit 1" | "", condition: Condition) =>
  signed(`${isCurrent("signed_order")} and ${condition("signed_order")}`, { isWanted: IS_OPEN_WHERE_SIGNED, limit });
export const openSigned = (condition: Condition) => openSignedUpTo("limit 1", condition);
export const openOrders = (condition: Condition) => `(${openOnChain(condition)} union all ${openSigned(condition)})`;

/** The same for a statement over very many of them: what became of signed ones may come from a hash. */
export const openOrdersOverSets = (condition: Condition) =>
  `(${openOnChain(condition)} union all ${openSignedUpTo("", condition)})`;

/** What decides about an order beside its own columns, as SQL. */
export type Facts = { counter: string; balance: string; isApproved: string; isModuleApproved: string };

/** Those of one order, looked up one by one. */
export const lookUpFacts = (order: string, token: string): Facts => ({
  counter: `
    (
      select order_counter.counter
      from order_counter
      where
        order_counter.exchange_address = ${order}.exchange_address
        and order_counter.maker = ${order}.maker
    )
  `,
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

/** Whether an order was made under its maker's counter. */
const isUnderCounter = (order: string, { counter }: Pick<Facts, "counter">) => `
  case
    when ${order}.counter is null then true
    else ${order}.counter = coalesce(${counter}, 0)
  end
`;

/**
 * Whether an open listing could be filled now. All in `case`, of which the planner takes half of the rows to meet each;
 * of what these stand for it expects next to nothing, and sorts a million rows that it took for a thousand.
 *
 * @param token with contract_address, token_id, standard and owner
 */
export const isFillable = (order: string, token: string, facts: Facts = lookUpFacts(order, token)) => `
  case
    when ${token}.standard = 'ERC1155' then ${facts.balance} >= ${order}.quantity - ${order}.filled
    else ${token}.owner = ${order}.maker
  end
  and ${isUnderCounter(order, facts)}
  and case when ${order}.operator is null then true else ${facts.isApproved} end
  and case when ${order}.marketplace = 'zora' then ${facts.isModuleApproved} is not false else true end
`;

/** The total of an order at this second. Payments of a listing round up, of an offer down, each by itself. */
export const totalNow = (order: string) => `
  (case
    when ${order}.amounts is null then ${order}.start_amount
    else (
      select
        sum(
          case
            when ${order}.side = 'offer' then div(part.product, part.duration)
            when part.product = 0 then 0
            else div(part.product - 1, part.duration) + 1
          end
        )
      from (
        select
          (amount ->> 0)::numeric * (${order}.end_time - ${NOW})
            + (amount ->> 1)::numeric * (${NOW} - ${order}.start_time) as product,
          (${order}.end_time - ${order}.start_time)::numeric as duration
        from jsonb_array_elements(${order}.amounts::jsonb) as amount
      ) as part
    )
  end)
`;

const divided = (order: string, total: string) => `div(${total} + ${order}.quantity - 1, ${order}.quantity)`;

/** One of an order's totals for one unit, rounded up, without a division where there is nothing to divide. */
export const forOne = (order: string, column: "start_amount" | "end_amount") => `
  (case
    when ${order}.quantity = 1 then ${order}.${column}
    else ${divided(order, `${order}.${column}`)}
  end)
`;

/** What a buyer pays now for one unit. */
export const priceNow = (order: string) => `
  (case
    when ${order}.amounts is null then ${forOne(order, "start_amount")}
    else ${divided(order, totalNow(order))}
  end)
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
 * Offers for a token that stand now, of those that match. Whether the bidder has the money was asked by the worker a
 * moment ago; one that it never asked for is taken to have it.
 */
export const standingOffers = (token: string, matches: Condition) => `
  from ${openOrders(
    (table) => `
      ${table}.contract_address = ${token}.contract_address
      and ${matches(table)}
      and ${table}.side = 'offer'
      ${table === "signed_order" ? `and ${HAS_SIGNED_OFFERS}` : ""}
    `,
  )} as trade_order
  where
    ${isUnderCounter("trade_order", lookUpFacts("trade_order", token))}
    and coalesce(
      (
        select offer_funds.spendable
        from offer_funds
        where
          offer_funds.chain_id = ${CHAIN}
          and offer_funds.currency_address = trade_order.currency_address
          and offer_funds.maker = trade_order.maker
          and offer_funds.operator = trade_order.operator
      ) >= div(
        ${totalNow("trade_order")} * (trade_order.quantity - trade_order.filled),
        trade_order.quantity
      ),
      true
    )
`;
