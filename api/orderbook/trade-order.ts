/*
 * SQL of orders: those found on the chain, and signed ones that makers sent us. Statements are plain strings; in each
 * of them $2 is the chain id, and $3 the second by which orders are judged.
 */

/** When and where an order could be filled. `now`: the earliest time that the next block can have, in Unix seconds. */
export type Moment = { chainId: number; now: number };

/** $2 and $3 of a statement. */
export const momentParameters = ({ chainId, now }: Moment): [number, number] => [chainId, now];

/** The chain's id in a statement. */
export const CHAIN = "$2::bigint";
/** The second by which orders are judged in a statement, in Unix seconds. */
export const NOW = "$3::bigint";

/** Columns that both tables of orders have. */
const termsOf = (table: string) => `
  ${table}.exchange_address,
  ${table}.order_hash,
  ${table}.side,
  ${table}.maker,
  ${table}.contract_address,
  ${table}.token_id,
  ${table}.token_standard,
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

/**
 * Columns of an order that its maker sent us. `is_counter_logged`: its counter was in the logs when it came, or in blocks
 * that weren't indexed yet. An order on the chain is in the same blocks as the log of its counter, or in later ones.
 */
export const SIGNED_COLUMNS = `
  ${termsOf("signed_order")},
  signed_order.is_counter_logged
`;

/** SQL of a condition on these columns of a table of orders. */
export type Condition = (table: string) => string;

/**
 * When an order was placed first. Anybody may put an order on the chain that was sent here before.
 *
 * @param order name of a row with exchange_address, order_hash and placed_timestamp
 */
export const firstPlaced = (order: string) => `
  least(
    ${order}.placed_timestamp,
    (
      select sent.placed_timestamp
      from signed_order as sent
      where
        sent.chain_id = ${CHAIN}
        and sent.exchange_address = ${order}.exchange_address
        and sent.order_hash = ${order}.order_hash
    )
  )
`;

const STATE_ON_CHAIN = `
  trade_order.marketplace,
  trade_order.is_cancelled,
  trade_order.filled,
  trade_order.updated_timestamp
`;

/** Columns of an order on the chain. */
export const ON_CHAIN_COLUMNS = `
  ${termsOf("trade_order")},
  ${STATE_ON_CHAIN}
`;

const onChain = (condition: string, { among = "trade_order" }: { among?: string } = {}) => `
  select
    ${termsOf("trade_order")},
    false as is_counter_logged,
    ${STATE_ON_CHAIN}
  from ${among}
  where ${condition}
`;

/**
 * Whether the maker, a contract, last said that it didn't sign. An order that was filled in part needs no signature any
 * more: the exchange remembers that it has validated the order.
 */
const IS_DISOWNED = "(signed_order.is_disowned and coalesce(state.filled, 0) = 0)";

/**
 * Orders that makers sent us, with their state on the chain. Left out: orders that are on the chain with their terms. The
 * state is looked up, also for very many: the limit keeps the planner from joining all orders of the chain, to which each
 * fill of any order belongs.
 */
const signed = (
  condition: string,
  { among = "signed_order", isWanted = "true", more = "" }: { among?: string; isWanted?: string; more?: string } = {},
) => `
  select
    ${SIGNED_COLUMNS},
    'seaport' as marketplace,
    coalesce(state.is_cancelled, false) as is_cancelled,
    coalesce(state.filled, 0) as filled,
    greatest(signed_order.placed_timestamp, state.updated_timestamp) as updated_timestamp${more}
  from ${among}
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
    ${condition}
    and case when state.side is not null then false else ${isWanted} end
`;
const inChain = (condition: string) => `
  signed_order.chain_id = ${CHAIN}
  and ${condition}
`;

/**
 * Orders whose terms are known, open or not: those on the chain and the signed ones that two queries select, one of
 * `ON_CHAIN_COLUMNS` and one of `SIGNED_COLUMNS`.
 */
export const allOrders = (among: { onChain: string; signed: string }) => `
  (
    ${onChain("true", { among: `(${among.onChain}) as trade_order` })}
    union all
    ${signed("true", { among: `(${among.signed}) as signed_order` })}
  )
`;

/** Signed orders whose end time hasn't come, open or not, and whether their signature is disowned. */
export const unendedSigned = (condition: Condition) => `
  (
    ${signed(inChain(`signed_order.end_time > ${NOW} and ${condition("signed_order")}`), {
      more: `, ${IS_DISOWNED} as is_disowned`,
    })}
  )
`;

/**
 * Orders of one side, where they are looked up by more than their contract. The planner must not see which side: else it
 * may take an index of that side alone and go through the whole contract, as it does where a table was never analyzed.
 */
export const isOfSide = (table: string, side: "listing" | "offer") => `${table}.side = (select '${side}')`;

/** What an order's own columns tell: it has begun and hasn't ended. */
export const isInTime: Condition = (table) => `
  ${table}.start_time <= ${NOW}
  and ${table}.end_time > ${NOW}
`;
/** The same, and that it is for anybody. */
export const isCurrent: Condition = (table) => `
  ${table}.taker is null
  and ${isInTime(table)}
`;

const IS_OPEN_WHERE_SIGNED = `
  signed_order.is_followed
  and state.is_cancelled is not true
  and coalesce(state.filled, 0) < signed_order.quantity
  and not ${IS_DISOWNED}
`;

/**
 * Open orders of each table, at exchanges that are followed: neither cancelled nor filled nor disowned, begun, not ended,
 * for anybody unless `isMeant` says otherwise.
 */
export const openOnChain = (condition: Condition, isMeant = isCurrent) =>
  onChain(`trade_order.is_open and ${isMeant("trade_order")} and ${condition("trade_order")}`);
/** The same of those that were sent here. */
export const openSigned = (condition: Condition, isMeant = isCurrent) =>
  signed(inChain(`${isMeant("signed_order")} and ${condition("signed_order")}`), {
    isWanted: IS_OPEN_WHERE_SIGNED,
  });
/** The same of both, to select from. */
export const openOrders = (condition: Condition, isMeant = isCurrent) =>
  `(${openOnChain(condition, isMeant)} union all ${openSigned(condition, isMeant)})`;

/**
 * The first orders of one table, for one token or for any token of a contract, read in the order of an index: there may
 * be a million. The `order by` begins with the token id, because the planner doesn't see that `token_id is null` makes it
 * constant.
 */
export const firstOf = (
  table: string,
  { columns, condition, order, limit }: { columns: string; condition: string; order: string; limit: number },
) => `
  (
    select ${columns}
    from ${table}
    where ${condition}
    order by
      ${table}.token_id desc,
      ${order}
    limit ${limit}
  )
`;

/**
 * Open offers of each table that are looked at for one token, or for any token of a contract. No more signed ones are
 * kept. Whoever puts an offer on the chain needs no money for it: half a million of them took longer than a statement
 * may.
 */
export const MAX_OFFERS = 5000;

/**
 * Open offers for the same, of those on the chain among the newest. The signed ones have an `order by`, too: where most
 * of them are for any token of one contract, the planner would read them all for any other.
 *
 * @param isSame condition on contract and token id
 */
export const openOffers = (isSame: Condition, { isSignedWanted }: { isSignedWanted: string }) => {
  const among = (table: string, { columns, isOpen, last }: { columns: string; isOpen: string; last: string }) => {
    const condition = `${isOpen} and ${isSame(table)} and ${isOfSide(table, "offer")}`;
    return `${firstOf(table, { columns, condition, order: `${table}.${last} desc`, limit: MAX_OFFERS })} as ${table}`;
  };
  return `
    (
      ${onChain(isCurrent("trade_order"), {
        among: among("trade_order", {
          columns: ON_CHAIN_COLUMNS,
          isOpen: "trade_order.is_open",
          last: "placed_timestamp",
        }),
      })}
      union all
      ${signed(isCurrent("signed_order"), {
        among: among("signed_order", {
          columns: `${SIGNED_COLUMNS}, signed_order.is_disowned, signed_order.is_followed`,
          isOpen: inChain(`signed_order.end_time > ${NOW} and ${isSignedWanted}`),
          last: "end_time",
        }),
        isWanted: IS_OPEN_WHERE_SIGNED,
      })}
    )
  `;
};
