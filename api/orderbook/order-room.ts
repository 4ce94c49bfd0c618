import type { Sql } from "postgres";
import type { Hex } from "viem";
import { toBytes } from "../../offchain/bytea.ts";
import type { Terms } from "../../abis/seaport-order.ts";
import { invalid } from "../http/errors.ts";
import { isNative, isWrapped } from "./native-currency.ts";
import { MAX_ROWS } from "./placed-order.ts";
import { totalNow } from "./order-price.ts";
import { isFillable, isFunded, isUnderCounter, JOIN_TOKEN } from "./order-rule.ts";
import { CHAIN, type Condition, isCurrent, MAX_OFFERS, momentParameters, NOW, unendedSigned } from "./trade-order.ts";

/*
 * Signing an order costs nothing, and a request for a token's best order reads all of the token's orders that haven't
 * ended. So the number of orders for the same token is limited: to more than an honest maker needs, and to few enough
 * to be read quickly.
 */

/** Orders of one maker for one token, or for any token of a contract, that could be filled now or later. */
export const MAX_OF_MAKER = 100;
/** The same, with orders that were filled or cancelled but whose end time hasn't come. */
export const MAX_UNENDED_OF_MAKER = 1000;
/** The same for all tokens together. A collection of ten thousand tokens, each listed once, fits. */
export const MAX_OF_MAKER_IN_ALL = 10_000;
/** Ended orders of one maker for the same that are kept: a token's history shows no more. */
const MAX_ENDED_OF_MAKER = MAX_ROWS;
/**
 * Listings of all makers for one token: one person can pass a token among 100 own accounts and list it 100 times from
 * each.
 */
export const MAX_LISTINGS = 1000;
/**
 * Offers of all makers in one other currency than the chain's own: anybody can create a currency and any number of
 * bidders.
 */
export const MAX_IN_CURRENCY = 1000;

/** An order that somebody sent. `now`: the time by which it is judged, in Unix seconds. */
export type Sent = { chainId: number; now: number; terms: Terms; orderHash: Hex };

/** A statement about orders for the same thing: $1 contract, $4 token id (null for any token), $5 side. */
function forSame(statement: (isSame: Condition) => string) {
  const textOf = (matches: Condition) =>
    statement(
      (table) => `
        ${table}.contract_address = $1
        and ${matches(table)}
        and ${table}.side = $5
      `,
    );
  const texts = {
    token: textOf((table) => `${table}.token_id = $4::numeric`),
    any: textOf((table) => `${table}.token_id is null and $4::numeric is null`),
  };
  return ({ token_id }: Terms) => (token_id === null ? texts.any : texts.token);
}

const parametersOf = ({ terms, ...moment }: Omit<Sent, "orderHash">) => [
  toBytes(terms.contract_address),
  ...momentParameters(moment),
  terms.token_id === null ? null : terms.token_id.toString(),
  terms.side,
];

const IS_OPEN = `
  not trade_order.is_cancelled
  and not trade_order.is_disowned
  and trade_order.filled < trade_order.quantity
`;

/** $6: hash, $7: maker. */
const roomOf = forSame((isSame) => {
  const isOfMaker: Condition = (table) => `
    ${isSame(table)}
    and ${table}.maker = $7
    and ${table}.order_hash <> $6
  `;
  const count = (condition: string, most: number) => `
    (
      select count(*)::int
      from (
        select
        from ${unendedSigned(isOfMaker)} as trade_order
        where ${condition}
        limit ${most}
      ) as one
    )
  `;
  // By an index that ends with end_time, because most orders of a maker may have ended.
  const inAll = `
    (
      select count(*)::int
      from (
        select
        from signed_order
        where
          signed_order.chain_id = ${CHAIN}
          and signed_order.maker = $7
          and signed_order.end_time > ${NOW}
          and signed_order.order_hash <> $6
        limit ${MAX_OF_MAKER_IN_ALL}
      ) as one
    )
  `;
  return `
    select
      ${inAll} as in_all,
      ${count(`${IS_OPEN} and ${isUnderCounter("trade_order")}`, MAX_OF_MAKER)} as open,
      ${count("true", MAX_UNENDED_OF_MAKER)} as unended
  `;
});

/** @throws HttpError 400 where the maker has too many orders, for the same thing or in total */
export async function requireRoom(sql: Pick<Sql, "unsafe">, { orderHash, ...sent }: Sent): Promise<void> {
  const { terms } = sent;
  const [row] = await sql.unsafe<{ open: number; unended: number; in_all: number }[]>(
    roomOf(terms),
    [...parametersOf(sent), toBytes(orderHash), toBytes(terms.maker)],
    { prepare: true },
  );
  if (row!.open >= MAX_OF_MAKER)
    throw invalid(`${MAX_OF_MAKER} orders of the offerer stand for ${nameOf(terms)} already. Expected fewer.`);
  if (row!.unended >= MAX_UNENDED_OF_MAKER)
    throw invalid(
      `${MAX_UNENDED_OF_MAKER} orders of the offerer for ${nameOf(terms)} have not ended, filled and cancelled ones counted. Expected fewer.`,
    );
  if (row!.in_all >= MAX_OF_MAKER_IN_ALL)
    throw invalid(
      `${MAX_OF_MAKER_IN_ALL} orders of the offerer have not ended, for whatever token, filled and cancelled ones counted. Expected fewer.`,
    );
}

const nameOf = ({ token_id }: Terms) => (token_id === null ? "any token of the contract" : `token ${token_id}`);

const drop = (chosen: string) => `
  delete from signed_order
  using (${chosen}) as chosen
  where
    signed_order.chain_id = ${CHAIN}
    and signed_order.exchange_address = chosen.exchange_address
    and signed_order.order_hash = chosen.order_hash
  returning '0x' || encode(signed_order.order_hash, 'hex') as order_hash
`;

/** $6: maker. */
const dropEnded = forSame((isSame) =>
  drop(`
    select
      one.exchange_address,
      one.order_hash
    from signed_order as one
    where
      one.chain_id = ${CHAIN}
      and ${isSame("one")}
      and one.maker = $6
      and one.end_time <= ${NOW}
    order by one.placed_timestamp desc
    offset ${MAX_ENDED_OF_MAKER}
  `),
);

const dropLowest = (condition: Condition, most: number) =>
  forSame((isSame) =>
    drop(`
      select
        trade_order.exchange_address,
        trade_order.order_hash
      from ${unendedSigned((table) => `${isSame(table)} and ${condition(table)}`)} as trade_order
      order by
        case
          when not (${isCurrent("trade_order")} and ${IS_OPEN}) then false
          else ${isUnderCounter("trade_order")} and ${isFunded("trade_order")}
        end desc,
        ${isNative("trade_order")} desc,
        ${totalNow("trade_order")} / trade_order.quantity desc,
        trade_order.placed_timestamp,
        trade_order.order_hash
      offset ${most}
    `),
  );

/**
 * Anybody can create any number of currencies, too, or pass the same money among any number of accounts and leave behind
 * offers that nobody pays.
 */
const dropLowestOfAll = dropLowest(() => "true", MAX_OFFERS);

/** $6: currency. */
const dropLowestInCurrency = dropLowest((table) => `${table}.currency_address = $6`, MAX_IN_CURRENCY);

const dropDearest = forSame((isSame) =>
  drop(`
    select
      trade_order.exchange_address,
      trade_order.order_hash
    from ${unendedSigned(isSame)} as trade_order
    ${JOIN_TOKEN}
    order by
      case
        when not (${isCurrent("trade_order")} and ${IS_OPEN}) then false
        else ${isFillable("trade_order", "token")}
      end desc,
      ${isNative("trade_order")} desc,
      ${totalNow("trade_order")} / trade_order.quantity,
      trade_order.placed_timestamp,
      trade_order.order_hash
    offset ${MAX_LISTINGS}
  `),
);

/**
 * Drops the orders that are too many now that one more is stored. Of a token's listings, those that can't be filled, then
 * the dearest; or of the offers, in a currency that isn't the chain's own and in all, those that can't be filled, then
 * those in other currencies, then the lowest. So nobody shuts others out with many orders that nobody would take. Last
 * the oldest ended orders of its maker.
 *
 * @throws HttpError 400 where the new order itself would be dropped: too many are as cheap, or as high
 */
export async function makeRoom(sql: Pick<Sql, "unsafe">, { orderHash, ...sent }: Sent): Promise<void> {
  const { terms, chainId } = sent;
  const currency = terms.currency_address;
  const run = async (statement: (of: Terms) => string, more: Buffer[] = []) =>
    sql.unsafe<{ order_hash: string }[]>(statement(terms), [...parametersOf(sent), ...more], { prepare: true });
  const isDropped = async (...statement: Parameters<typeof run>) =>
    (await run(...statement)).some(({ order_hash }) => order_hash === orderHash);
  if (terms.side === "listing") {
    if (await isDropped(dropDearest))
      throw invalid(
        `${MAX_LISTINGS} listings stand for ${nameOf(terms)} that are as cheap. Expected a lower price, for anybody and from now on.`,
      );
  } else {
    if (!isWrapped(chainId, currency) && (await isDropped(dropLowestInCurrency, [toBytes(currency)])))
      throw invalid(
        `${MAX_IN_CURRENCY} offers in ${currency} stand for ${nameOf(terms)} that are as high. Expected a higher one.`,
      );
    if (await isDropped(dropLowestOfAll))
      throw invalid(
        `${MAX_OFFERS} offers stand for ${nameOf(terms)} that are as high. Expected a higher one in the chain's own currency.`,
      );
  }
  await run(dropEnded, [toBytes(terms.maker)]);
}
