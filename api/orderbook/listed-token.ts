import type { Sql } from "postgres";
import { toBytes } from "../../offchain/bytea.ts";
import { BEFORE_ANY_ADDRESS } from "../sql/database.ts";
import { isShownText } from "../token/contract.ts";
import { isNative } from "./native-currency.ts";
import { isFillable, JOIN_TOKEN } from "./order-rule.ts";
import { CHAIN, type Condition, type Moment, momentParameters, openOnChain, openSigned } from "./trade-order.ts";

/** Fixed prices in the chain's own currency come first, then prices that change or are in another currency. */
const PHASES = ["fixed", "other"] as const;

/**
 * A listing's place in the list: phase, price of one unit (0 in phase `other`), hash and exchange of the order. Two
 * exchanges may have orders with one hash, as Zora's modules have for one token.
 */
export type ListedKey = [phase: (typeof PHASES)[number], unitPrice: string, orderHash: string, exchangeAddress: string];

type ListedRow = { token_id: string; key: ListedKey };

/**
 * Listings of a contract's tokens that could be filled now, the cheapest first. A token with several listings appears
 * several times; its best one has the `order_hash` and the `exchange_address` of its `OrderbookRow`. Finding the best one
 * here took twenty times as long.
 */
export async function listListings(
  sql: Sql,
  { after, limit, ...place }: Moment & { contractAddress: string; after?: ListedKey | undefined; limit: number },
): Promise<ListedRow[]> {
  const rows: ListedRow[] = [];
  for (const phase of PHASES.slice(after ? PHASES.indexOf(after[0]) : 0)) {
    const from = after?.[0] === phase ? after : undefined;
    rows.push(...(await listPhase(sql, { ...place, phase, after: from, limit: limit - rows.length })));
    if (rows.length === limit) break;
  }
  return rows;
}

/**
 * $1: rows, $4: contract. The page starts after the order with hash $5 at exchange $6 and, in phase `fixed`, price $7.
 * Each side is ordered by `first` alone, for which an index has the order: where few rows are expected, the planner would
 * rather sort them all by the hash, too, and look all of 50,000 up for a page of 50.
 */
function listingsOf(isOfPhase: Condition, [first, ...others]: [string, ...string[]]): string {
  const sides = [openOnChain, openSigned].map(
    (orders) => `
      (
        select
          trade_order.token_id,
          trade_order.unit_price,
          trade_order.order_hash,
          trade_order.exchange_address
        from (
          ${orders(
            (table) => `
              ${table}.contract_address = $4
              and ${table}.side = 'listing'
              and ${isOfPhase(table)}
            `,
          )}
        ) as trade_order
        ${JOIN_TOKEN}
        where ${isFillable("trade_order", "token")}
        order by ${first}
        fetch first ($1) rows with ties
      )
    `,
  );
  return `
    select
      listed.token_id,
      listed.unit_price,
      '0x' || encode(listed.order_hash, 'hex') as order_hash,
      '0x' || encode(listed.exchange_address, 'hex') as exchange_address
    from (${sides.join("union all")}) as listed
    order by ${[first, ...others].join(", ")}
    limit $1
  `;
}

const LISTINGS = {
  fixed: listingsOf(
    (table) => `
      ${table}.unit_price >= $7
      and (${table}.unit_price, ${table}.order_hash, ${table}.exchange_address) > ($7, $5, $6)
      and ${isNative(table)}
    `,
    ["unit_price", "order_hash", "exchange_address"],
  ),
  other: listingsOf(
    (table) => `
      case
        when (${table}.order_hash, ${table}.exchange_address) > ($5, $6)
          then ${table}.unit_price is null or not ${isNative(table)}
        else false
      end
    `,
    ["order_hash", "exchange_address"],
  ),
};

async function listPhase(
  sql: Sql,
  {
    contractAddress,
    phase,
    after,
    limit,
    ...moment
  }: Moment & {
    contractAddress: string;
    phase: ListedKey[0];
    after: ListedKey | undefined;
    limit: number;
  },
): Promise<ListedRow[]> {
  const [, price = "-1", hash = "0x", exchange = "0x"] = after ?? [];
  const parameters = [limit, ...momentParameters(moment), ...[contractAddress, hash, exchange].map(toBytes)];
  const rows = await sql.unsafe<
    { token_id: string; unit_price: string | null; order_hash: string; exchange_address: string }[]
  >(LISTINGS[phase], phase === "fixed" ? [...parameters, price] : parameters, { prepare: true });
  return rows.map(({ token_id, unit_price, order_hash, exchange_address }) => ({
    token_id,
    key: [phase, phase === "fixed" ? (unit_price ?? "0") : "0", order_hash, exchange_address],
  }));
}

/** One query per table: a query over both would sort all orders before it returns the first. */
const accountListings = [openOnChain, openSigned].map(
  (orders) => `
    (
      select distinct
        trade_order.contract_address,
        trade_order.token_id
      from (
        ${orders(
          (table) => `
            ${table}.maker = $4
            and ${table}.side = 'listing'
            and (${table}.contract_address, ${table}.token_id) > ($5, $6)
          `,
        )}
      ) as trade_order
      ${JOIN_TOKEN}
      where
        ${isFillable("trade_order", "token")}
        and ${isShownText({ chainId: CHAIN, contractAddress: "trade_order.contract_address" })}
      order by
        trade_order.contract_address,
        trade_order.token_id
      limit $1
    )
  `,
);

/** $1: rows, $4: account. The page starts after contract $5 and token id $6. */
const ACCOUNT_LISTINGS = `
  select
    '0x' || encode(listed.contract_address, 'hex') as contract_address,
    listed.token_id
  from (
    select distinct
      listed.contract_address,
      listed.token_id
    from (${accountListings.join("union all")}) as listed
    order by
      listed.contract_address,
      listed.token_id
    limit $1
  ) as listed
  order by
    listed.contract_address,
    listed.token_id
`;

/**
 * Tokens that an account has on sale, by contract and id, without those of hidden contracts. `after`: the last token of
 * the page before.
 */
export async function listAccountListings(
  sql: Sql,
  {
    accountAddress,
    after,
    limit,
    ...moment
  }: Moment & { accountAddress: string; after?: [string, string] | undefined; limit: number },
): Promise<{ contract_address: string; token_id: string }[]> {
  const [afterContract, afterToken] = after ? [toBytes(after[0]), after[1]] : [BEFORE_ANY_ADDRESS, "-1"];
  const parameters = [limit, ...momentParameters(moment), toBytes(accountAddress), afterContract, afterToken];
  return sql.unsafe<{ contract_address: string; token_id: string }[]>(ACCOUNT_LISTINGS, parameters, { prepare: true });
}
