import { z } from "@hono/zod-openapi";
import type { Fragment, Sql } from "postgres";
import { isShown } from "./contract.ts";
import { toArray, toBytes } from "./database.ts";
import { toTokenIdHex } from "./token.ts";
import { bestListing, matchesAny, matchesToken, type Moment, standingOffers } from "./trade-order.ts";

const Text = (description: string) => z.string().openapi({ description });
const Flag = z.enum(["true", "false"]);

/** A token with its best listing. Every value is a text, empty where there is nothing. */
export const OrderbookToken = z
  .strictObject({
    token_chain_id: Text("Hex."),
    contract_address: z.string(),
    token_id: Text("0x and 64 hex digits."),
    current_owner: z.string(),
    listed_timestamp: Text("Unix seconds."),
    updated_timestamp: Text("Unix seconds of the last event of the token or its listing."),
    current_price: Text("What one unit costs now, in the smallest unit of the currency, rounded up."),
    quantity: Text("Units for sale; of a token that isn't listed, units that the owner holds."),
    start_amount: Text("What was asked for one unit at the start."),
    end_amount: Text("What will be asked at the end, where the price changes with time."),
    start_date: Text("Unix seconds."),
    end_date: Text("Unix seconds."),
    broker_id: Text("The first fee recipient that isn't the seller, else the exchange's contract."),
    is_listed: Flag.openapi({ description: "A listing exists that could be filled now." }),
    has_offer: Flag.openapi({ description: "An offer on the token or on its collection stands now." }),
    currency_address: Text("Extension: the zero address is the chain's own currency."),
    order_hash: Text("Extension."),
    exchange: Text("Extension: the name of the exchange."),
  })
  .openapi("OrderbookToken");

export type OrderbookRow = {
  contract_address: string;
  token_id: string;
  owner: string;
  held: string;
  updated_timestamp: number;
  has_offer: boolean;
  order_hash: string | null;
  marketplace: string;
  broker: string;
  currency_address: string;
  start_amount: string;
  end_amount: string | null;
  current_price: string;
  start_time: number;
  end_time: number;
  placed_timestamp: number;
  quantity: string;
};

/** Orders without an end are as good for ever: the largest number that a program holds exactly. */
const NO_END = Number.MAX_SAFE_INTEGER;

/** One token; undefined where it is unknown or its contract hidden. */
export async function findOrderbookToken(
  sql: Sql,
  { contractAddress, tokenId, ...moment }: Moment & { contractAddress: string; tokenId: string },
): Promise<OrderbookRow | undefined> {
  const found = sql`
    from token
    where
      token.contract_address = ${toBytes(contractAddress)}
      and token.token_id = ${tokenId}
      and ${isShown(sql, { ...moment, contractAddress: sql`${toBytes(contractAddress)}::bytea` })}
  `;
  const [row] = await selectTokens(sql, moment, { page: withOwners(sql, found), contractAddress });
  return row;
}

/** These tokens, as far as they are known and not hidden, by contract and id. */
export async function listOrderbookTokens(
  sql: Sql,
  { tokens, ...moment }: Moment & { tokens: readonly { contract_address: string; token_id: string }[] },
): Promise<OrderbookRow[]> {
  const found = sql`
    from unnest(
      ${toArray(tokens.map((token) => token.contract_address.slice(2)))}::text[],
      ${toArray(tokens.map((token) => token.token_id))}::numeric[]
    ) as requested (address, id)
    join token
      on token.contract_address = decode(requested.address, 'hex')
      and token.token_id = requested.id
    where ${isShown(sql, { ...moment, contractAddress: sql`token.contract_address` })}
  `;
  return selectTokens(sql, moment, { page: withOwners(sql, found) });
}

/** Tokens of a contract by ascending id. None where the contract is hidden. */
export async function listCollectionTokens(
  sql: Sql,
  {
    contractAddress,
    after,
    limit,
    ...moment
  }: Moment & { contractAddress: string; after: string | undefined; limit: number },
): Promise<OrderbookRow[]> {
  const found = sql`
    from token
    where
      token.contract_address = ${toBytes(contractAddress)}
      and ${isShown(sql, { ...moment, contractAddress: sql`${toBytes(contractAddress)}::bytea` })}
      ${after === undefined ? sql`` : sql`and token.token_id > ${after}`}
    order by token.token_id
    limit ${limit}
  `;
  return selectTokens(sql, moment, { page: withOwners(sql, found), contractAddress });
}

/** The zero address is where burned tokens go: it holds nothing. */
const ZERO_ADDRESS = `0x${"0".repeat(40)}`;

/** Tokens with their current owners: of an ERC-1155 token who received last of those still holding. */
const withOwners = (sql: Sql, found: Fragment): Fragment => sql`
  select
    token.contract_address,
    token.token_id,
    token.standard,
    token.owner,
    coalesce(token.owner, holder.owner) as current_owner,
    case
      when token.owner is null then coalesce(holder.balance, 0)
      when token.owner = ${toBytes(ZERO_ADDRESS)} then 0
      else 1
    end as held
  from (
    select
      token.contract_address,
      token.token_id,
      token.standard,
      token.owner
    ${found}
  ) as token
  left join lateral (
    select
      ownership.owner,
      ownership.balance
    from ownership
    where
      token.owner is null
      and ownership.contract_address = token.contract_address
      and ownership.token_id = token.token_id
      and ownership.balance > 0
    order by
      ownership.received_block_number desc,
      ownership.received_log_index desc,
      ownership.received_batch_index desc
    limit 1
  ) as holder on true
`;

/** Tokens that an account holds, by contract and token id. */
export async function listOwnedTokens(
  sql: Sql,
  {
    accountAddress,
    after,
    limit,
    ...moment
  }: Moment & { accountAddress: string; after: [string, string] | undefined; limit: number },
): Promise<OrderbookRow[]> {
  if (accountAddress === ZERO_ADDRESS) return [];
  const account = toBytes(accountAddress);
  const [afterContract, afterToken] = after ? [toBytes(after[0]), after[1]] : [Buffer.alloc(0), "-1"];
  // Bounds of the index on owner: see `listHoldings`.
  const side = (table: Fragment, columns: Fragment, condition: Fragment): Fragment => sql`
    (
      select
        ${table}.contract_address,
        ${table}.token_id,
        ${columns}
      from ${table}
      where
        (${table}.owner, ${table}.contract_address, ${table}.token_id) > (${account}, ${afterContract}, ${afterToken})
        and ${table}.owner <= ${account}
        ${condition}
        and ${isShown(sql, { chainId: moment.chainId, contractAddress: sql`${table}.contract_address` })}
      order by
        ${table}.owner,
        ${table}.contract_address,
        ${table}.token_id
      limit ${limit}
    )
  `;
  const ofToken = sql`
    token.standard,
    token.owner,
    token.owner as current_owner,
    1::numeric as held
  `;
  const ofOwnership = sql`
    'ERC1155',
    null::bytea,
    ownership.owner,
    ownership.balance
  `;
  const page = sql`
    ${side(sql`token`, ofToken, sql``)}
    union all
    ${side(sql`ownership`, ofOwnership, sql`and ownership.balance > 0`)}
    order by
      contract_address,
      token_id
    limit ${limit}
  `;
  return selectTokens(sql, moment, { page });
}

/**
 * The tokens of `page`, which names their owners, with all that is said of them. Where all are of one contract, offers
 * for any of its tokens are looked for once.
 */
async function selectTokens(
  sql: Sql,
  moment: Moment,
  { page, contractAddress }: { page: Fragment; contractAddress?: string },
): Promise<OrderbookRow[]> {
  const offerForAny = (collection: Fragment) => hasOffer(sql, moment, { token: collection, matches: matchesAny(sql) });
  return sql<OrderbookRow[]>`
    with token as materialized (${page})
    select
      '0x' || encode(token.contract_address, 'hex') as contract_address,
      token.token_id,
      coalesce('0x' || encode(token.current_owner, 'hex'), '') as owner,
      token.held,
      greatest(
        (
          select token_event.timestamp
          from token_event
          where
            token_event.contract_address = token.contract_address
            and token_event.token_id = token.token_id
          order by
            token_event.block_number desc,
            token_event.log_index desc,
            token_event.batch_index desc
          limit 1
        ),
        listing.updated_timestamp,
        0
      ) as updated_timestamp,
      (
        ${
          contractAddress === undefined
            ? offerForAny(sql`token`)
            : sql`
              (
                select ${offerForAny(sql`collection`)}
                from (select ${toBytes(contractAddress)}::bytea as contract_address) as collection
              )
            `
        }
        or ${hasOffer(sql, moment, { token: sql`token`, matches: matchesToken(sql, sql`token`) })}
      ) as has_offer,
      '0x' || encode(listing.order_hash, 'hex') as order_hash,
      listing.marketplace,
      '0x' || encode(listing.broker, 'hex') as broker,
      '0x' || encode(listing.currency_address, 'hex') as currency_address,
      listing.start_amount,
      listing.end_amount,
      listing.current_price,
      listing.start_time,
      listing.end_time,
      listing.placed_timestamp,
      listing.quantity
    from token
    left join lateral (${bestListing(sql, { ...moment, token: sql`token` })}) as listing on true
    order by
      token.contract_address,
      token.token_id
  `;
}

/** Limited, because the planner makes a hash of all offers out of what is only asked to exist. */
const hasOffer = (
  sql: Sql,
  moment: Moment,
  { token, matches }: { token: Fragment; matches: Fragment },
): Fragment => sql`
  (
    (
      select true
      ${standingOffers(sql, { ...moment, token, matches })}
      limit 1
    ) is true
  )
`;

/** A token of the Orderbook as JSON. Nothing in it needs escaping. */
export function writeOrderbookToken(row: OrderbookRow, { chainId }: { chainId: number }): string {
  const isListed = row.order_hash !== null;
  const ifListed = (value: string | number | null) => (isListed && value !== null ? String(value) : "");
  return JSON.stringify({
    token_chain_id: `0x${chainId.toString(16)}`,
    contract_address: row.contract_address,
    token_id: toTokenIdHex(row.token_id),
    current_owner: row.owner,
    listed_timestamp: ifListed(row.placed_timestamp),
    updated_timestamp: String(row.updated_timestamp),
    current_price: ifListed(row.current_price),
    quantity: isListed ? row.quantity : row.held,
    start_amount: ifListed(row.start_amount),
    end_amount: ifListed(row.end_amount),
    start_date: ifListed(row.start_time),
    end_date: row.end_time === NO_END ? "" : ifListed(row.end_time),
    broker_id: ifListed(row.broker),
    is_listed: String(isListed),
    has_offer: String(row.has_offer),
    currency_address: ifListed(row.currency_address),
    order_hash: ifListed(row.order_hash),
    exchange: ifListed(row.marketplace),
  });
}
