import type { Fragment, Sql } from "postgres";
/**
 * Orders that could be filled now. Everything that can change without a log of the order itself is looked up when it is
 * asked for: the time, the maker's counter, what the maker holds, whether the approval stands. So an order comes back
 * by itself when the maker has the token again.
 */

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

/** Columns that an order has wherever it is from. */
const TERMS = [
  "exchange_address",
  "order_hash",
  "side",
  "maker",
  "contract_address",
  "token_id",
  "quantity",
  "currency_address",
  "start_amount",
  "end_amount",
  "unit_price",
  "amounts",
  "start_time",
  "end_time",
  "counter",
  "operator",
  "taker",
  "broker",
  "placed_timestamp",
] as const;

/** Those columns, of a table. */
export const termsOf = (sql: Sql, table: string): Fragment =>
  sql.unsafe(TERMS.map((name) => `${table}.${name}`).join(", "));

/** Orders that makers sent us, with what became of them on the chain; without those that were put there too. */
export const signedOrders = (sql: Sql, { chainId }: Moment): Fragment => sql`
  (
    select
      ${termsOf(sql, "signed_order")},
      'seaport' as marketplace,
      coalesce(state.is_cancelled, false) as is_cancelled,
      coalesce(state.filled, 0) as filled,
      not coalesce(state.is_cancelled, false) and coalesce(state.filled, 0) < signed_order.quantity as is_open,
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
      limit 1
    ) as state on true
    where
      signed_order.chain_id = ${chainId}
      and state.side is null
  )
`;

/** All orders whose terms are known. */
export const allOrders = (sql: Sql, { chainId }: Moment): Fragment => sql`
  (
    select
      ${termsOf(sql, "trade_order")},
      trade_order.marketplace,
      trade_order.is_cancelled,
      trade_order.filled,
      trade_order.is_open,
      trade_order.updated_timestamp
    from trade_order
    union all
    select
      ${termsOf(sql, "signed")},
      signed.marketplace,
      signed.is_cancelled,
      signed.filled,
      signed.is_open,
      signed.updated_timestamp
    from ${signedOrders(sql, { chainId })} as signed
  )
`;

/**
 * When and where an order could be filled. `now`: what the next block's time will be at least, in Unix seconds; by
 * default this second. A value, because a look-up in each expression doubled what a plan takes to start.
 */
export type Moment = { chainId: number; now?: number | undefined };

/** The second by which orders are judged. */
export const secondOf = ({ now }: Moment): number => now ?? Math.floor(Date.now() / 1000);

/** Whether an order is paid in the chain's own currency, as itself or wrapped. */
export const isNative = (sql: Sql, order: Fragment): Fragment => sql`
  (${order}.currency_address in (${sql.unsafe(NATIVE_LITERALS)}))
`;

/** What an order's exchange would say of it: open, begun, not over, under the maker's counter, for anybody. */
const isStanding = (sql: Sql, moment: Moment, order: Fragment): Fragment => sql`
  ${order}.is_open
  and ${order}.taker is null
  and ${order}.start_time <= ${secondOf(moment)}
  and ${order}.end_time > ${secondOf(moment)}
  and (
    ${order}.counter is null
    or ${order}.counter = coalesce(
      (
        select order_counter.counter
        from order_counter
        where
          order_counter.exchange_address = ${order}.exchange_address
          and order_counter.maker = ${order}.maker
      ),
      0
    )
  )
`;

/**
 * Whether a listing could be filled now. An approval that was never seen may still stand: some contracts approve
 * exchanges by themselves, and people approve single tokens. Then it is as the worker was told by the contract a moment
 * ago; where it never asked, the listing counts.
 *
 * For lists of many orders the same stands in `listedOverSets`: a change here is one there.
 *
 * @param options.token with contract_address, token_id, standard and owner
 */
export const isFillable = (
  sql: Sql,
  { order, token, ...moment }: Moment & { order: Fragment; token: Fragment },
): Fragment => sql`
  ${isStanding(sql, moment, order)}
  and case
    when ${token}.standard = 'ERC1155' then
      (
        select ownership.balance
        from ownership
        where
          ownership.contract_address = ${token}.contract_address
          and ownership.token_id = ${token}.token_id
          and ownership.owner = ${order}.maker
      ) >= ${order}.quantity - ${order}.filled
    else ${token}.owner = ${order}.maker
  end
  and (
    ${order}.operator is null
    or (
      select
        case
          when said.is_approved then true
          when asked.block_number >= coalesce(said.block_number, 0) then asked.is_approved
          else said.is_approved is null
        end
      from (select) as one
      left join lateral (
        select
          approval.is_approved,
          approval.block_number
        from approval
        where
          approval.contract_address = ${order}.contract_address
          and approval.owner = ${order}.maker
          and approval.operator = ${order}.operator
        order by
          approval.block_number desc,
          approval.log_index desc
        limit 1
      ) as said on true
      left join lateral (
        select
          listing_approval.is_approved,
          listing_approval.block_number
        from listing_approval
        where
          said.is_approved is not true
          and listing_approval.chain_id = ${moment.chainId}
          and listing_approval.contract_address = ${order}.contract_address
          and listing_approval.token_id = ${order}.token_id
          and listing_approval.owner = ${order}.maker
          and listing_approval.operator = ${order}.operator
        limit 1
      ) as asked on true
    )
  )
  and ${isModuleAllowed(sql, order)}
`;

/** Whether the maker of a Zora ask still lets its module act; of every other order that is so. */
export const isModuleAllowed = (sql: Sql, order: Fragment): Fragment => sql`
  (
    ${order}.marketplace <> 'zora'
    or (
      select approval.is_approved
      from approval
      where
        approval.contract_address = ${order}.exchange_address
        and approval.owner = ${order}.maker
        and approval.operator = ${order}.exchange_address
      order by
        approval.block_number desc,
        approval.log_index desc
      limit 1
    ) is not false
  )
`;

/** The total of an order at this second. Payments of a listing round up, of an offer down, each by itself. */
export const totalNow = (sql: Sql, moment: Moment, order: Fragment): Fragment => sql`
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
          (amount ->> 0)::numeric * (${order}.end_time - ${secondOf(moment)})
            + (amount ->> 1)::numeric * (${secondOf(moment)} - ${order}.start_time) as product,
          (${order}.end_time - ${order}.start_time)::numeric as duration
        from jsonb_array_elements(${order}.amounts::jsonb) as amount
      ) as part
    )
  end)
`;

/** A total for one unit, rounded up. */
const forOne = (sql: Sql, { order, total }: { order: Fragment; total: Fragment }): Fragment => sql`
  div(${total} + ${order}.quantity - 1, ${order}.quantity)
`;

/** The same of one of an order's own columns, without a division where there is nothing to divide. */
const columnForOne = (sql: Sql, { order, total }: { order: Fragment; total: Fragment }): Fragment => sql`
  (case when ${order}.quantity = 1 then ${total} else ${forOne(sql, { order, total })} end)
`;

/** What a buyer pays now for one unit. */
export const priceNow = (sql: Sql, moment: Moment, order: Fragment): Fragment => sql`
  (case
    when ${order}.amounts is null then ${columnForOne(sql, { order, total: sql`${order}.start_amount` })}
    else ${forOne(sql, { order, total: totalNow(sql, moment, order) })}
  end)
`;

/** The listing of a token, or of one account, that is the cheapest now, in the chain's own currency before any other. */
export const bestListing = (
  sql: Sql,
  { token, maker, ...moment }: Moment & { token: Fragment; maker?: Buffer },
): Fragment => sql`
  select
    trade_order.order_hash,
    trade_order.exchange_address,
    trade_order.marketplace,
    trade_order.broker,
    trade_order.currency_address,
    ${columnForOne(sql, { order: sql`trade_order`, total: sql`trade_order.start_amount` })} as start_amount,
    case
      when trade_order.amounts is not null then
        ${columnForOne(sql, { order: sql`trade_order`, total: sql`trade_order.end_amount` })}
    end as end_amount,
    ${priceNow(sql, moment, sql`trade_order`)} as current_price,
    ${isNative(sql, sql`trade_order`)} as is_native,
    trade_order.start_time,
    trade_order.end_time,
    trade_order.placed_timestamp,
    trade_order.updated_timestamp,
    trade_order.quantity - trade_order.filled as quantity
  from ${allOrders(sql, moment)} as trade_order
  where
    trade_order.contract_address = ${token}.contract_address
    and trade_order.token_id = ${token}.token_id
    and trade_order.side = 'listing'
    ${maker ? sql`and trade_order.maker = ${maker}` : sql``}
    and ${isFillable(sql, { ...moment, order: sql`trade_order`, token })}
  order by
    is_native desc,
    current_price,
    trade_order.placed_timestamp,
    trade_order.order_hash
  limit 1
`;

/** Orders for the token itself, and those for any token of its contract: two look-ups, where `or` would be a scan. */
export const matchesToken = (sql: Sql, token: Fragment): Fragment => sql`trade_order.token_id = ${token}.token_id`;
export const matchesAny = (sql: Sql): Fragment => sql`trade_order.token_id is null`;

/**
 * Offers for a token that stand now, of those that match. Whether the bidder has the money was asked by the worker a
 * moment ago; one that it never asked for is taken to have it.
 */
export const standingOffers = (
  sql: Sql,
  { token, matches, ...moment }: Moment & { token: Fragment; matches: Fragment },
): Fragment => sql`
  from ${allOrders(sql, moment)} as trade_order
  where
    trade_order.contract_address = ${token}.contract_address
    and ${matches}
    and trade_order.side = 'offer'
    and ${isStanding(sql, moment, sql`trade_order`)}
    and coalesce(
      (
        select offer_funds.spendable
        from offer_funds
        where
          offer_funds.chain_id = ${moment.chainId}
          and offer_funds.currency_address = trade_order.currency_address
          and offer_funds.maker = trade_order.maker
          and offer_funds.operator = trade_order.operator
      ) >= div(
        ${totalNow(sql, moment, sql`trade_order`)} * (trade_order.quantity - trade_order.filled),
        trade_order.quantity
      ),
      true
    )
`;
