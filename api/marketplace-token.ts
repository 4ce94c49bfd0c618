import { z } from "@hono/zod-openapi";
import type { Fragment, Sql } from "postgres";
import { toBytes } from "./database.ts";
import { floorOf, toWhole } from "./floor.ts";
import type { Page } from "./marketplace-list.ts";
import { currentOwner, joinTokenMetadata } from "./token.ts";
import {
  bestListing,
  isNative,
  matchesAny,
  matchesToken,
  type Moment,
  standingOffers,
  totalNow,
} from "./trade-order.ts";

const Whole = (description: string) =>
  z
    .number()
    .nullable()
    .openapi({ description: `${description} In whole units of the chain's currency.` });
const Seconds = (description: string) =>
  z
    .int()
    .nullable()
    .openapi({ description: `${description} Unix seconds.` });

const common = {
  contract: z.string(),
  token_id: z.string().openapi({ description: "Decimal." }),
};
const terms = {
  amount: z.string().openapi({
    description: "Extension: the exact price, in the smallest unit of its currency; empty where there is none.",
  }),
  currency_address: z.string().openapi({
    description: "Extension: the zero address is the chain's own currency; empty where there is no price.",
  }),
  metadata: z.strictObject({ name: z.string(), description: z.string(), image: z.string() }),
};

/** A token of a collection on the marketplace. */
export const CollectionToken = z
  .strictObject({
    ...common,
    last_price: Whole("What one unit was sold for last; bundles and other currencies are left out."),
    floor_difference: z.number().nullable().openapi({
      description: "By how many percent the price is above the collection's floor, rounded to two decimals.",
    }),
    listed_at: Seconds("When the best listing was placed; null where nothing is on sale."),
    owner: z.string(),
    minted_at: Seconds("Null where no mint was seen."),
    updated_at: z.int().openapi({ description: "The last event of the token or its listing. Unix seconds." }),
    price: Whole("What a buyer pays now for one unit; null where it isn't on sale, or only in another currency."),
    ...terms,
  })
  .openapi("CollectionToken");
export type CollectionToken = z.infer<typeof CollectionToken>;

/** A token that an account holds. */
export const PortfolioToken = z
  .strictObject({
    ...common,
    list_price: Whole("What the account asks now for one unit; null where it doesn't, or only in another currency."),
    best_offer: Whole("The highest offer of others for one unit, those for any token of the collection counted too."),
    floor: Whole("The collection's lowest ask."),
    received_at: Seconds("When the account received it last."),
    balance: z.string().openapi({ description: "Extension: units that the account holds." }),
    ...terms,
  })
  .openapi("PortfolioToken");
export type PortfolioToken = z.infer<typeof PortfolioToken>;

type CommonRow = {
  contract: string;
  token_id: string;
  amount: string | null;
  is_native: boolean | null;
  currency_address: string | null;
  floor: string | null;
  metadata: string | null;
};
export type CollectionTokenRow = CommonRow & {
  last_amount: string | null;
  listed_at: number | null;
  owner: string;
  minted_at: number | null;
  updated_at: number;
};
export type PortfolioTokenRow = CommonRow & { offered: string | null; received_at: number | null; balance: string };

/** A page of `createTokenLists` of a collection. `isBuyNow` leaves out what was sold while the page was looked for. */
export async function listCollectionTokenPage(
  sql: Sql,
  { contractAddress, page, isBuyNow, ...moment }: Moment & { contractAddress: string; page: Page; isBuyNow: boolean },
): Promise<CollectionTokenRow[]> {
  return sql<CollectionTokenRow[]>`
    with page as materialized (${page(sql)}),
    floor as materialized (
      select ${floorOf(sql, { ...moment, contractAddress: sql`${toBytes(contractAddress)}` })} as amount
    )
    select
      ${commonColumns(sql)},
      (select floor.amount from floor) as floor,
      coalesce('0x' || encode(${currentOwner(sql)}, 'hex'), '') as owner,
      token.mint_timestamp as minted_at,
      listing.placed_timestamp as listed_at,
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
      ) as updated_at,
      (
        select div(sale.price, sale.quantity)
        from token_event as sale
        where
          sale.contract_address = token.contract_address
          and sale.token_id = token.token_id
          and sale.event_type = 'sale'
          and sale.price > 0
          and sale.quantity > 0
          and sale.price_note is null
          and ${isNative(sql, sql`sale`)}
        order by
          sale.block_number desc,
          sale.log_index desc,
          sale.batch_index desc
        limit 1
      ) as last_amount
    from page
    join token using (contract_address, token_id)
    ${joinTokenMetadata(sql, { chainId: moment.chainId, page: "page" })}
    ${isBuyNow ? sql`cross` : sql`left`} join lateral (
      ${bestListing(sql, { ...moment, token: sql`token` })}
    ) as listing ${isBuyNow ? sql`` : sql`on true`}
    order by page.place
  `;
}

/** A page of `createTokenLists` of an account. */
export async function listPortfolioTokenPage(
  sql: Sql,
  { accountAddress, page, isBuyNow, ...moment }: Moment & { accountAddress: string; page: Page; isBuyNow: boolean },
): Promise<PortfolioTokenRow[]> {
  const account = toBytes(accountAddress);
  const highest = (token: Fragment, matches: Fragment): Fragment => sql`
    (
      select max(div(${totalNow(sql, moment, sql`trade_order`)}, trade_order.quantity))
      ${standingOffers(sql, { ...moment, token, matches })}
      and trade_order.maker <> ${account}
      and ${isNative(sql, sql`trade_order`)}
    )
  `;
  return sql<PortfolioTokenRow[]>`
    with page as materialized (${page(sql)}),
    collection as materialized (
      select
        one.contract_address,
        ${floorOf(sql, { ...moment, contractAddress: sql`one.contract_address` })} as floor,
        ${highest(sql`one`, matchesAny(sql))} as offered
      from (
        select distinct page.contract_address
        from page
      ) as one
    ),
    holding as materialized (
      select
        page.place,
        token.contract_address,
        token.token_id,
        token.standard,
        token.owner,
        ownership.balance,
        case
          when token.owner is null then (
            select token_event.timestamp
            from token_event
            where
              token_event.block_number = ownership.received_block_number
              and token_event.log_index = ownership.received_log_index
              and token_event.batch_index = ownership.received_batch_index
          )
          else (
            select token_event.timestamp
            from token_event
            where
              token_event.contract_address = token.contract_address
              and token_event.token_id = token.token_id
              and token_event.event_type <> 'sale'
            order by
              token_event.block_number desc,
              token_event.log_index desc,
              token_event.batch_index desc
            limit 1
          )
        end as received_at
      from page
      join token using (contract_address, token_id)
      left join ownership
        on ownership.contract_address = page.contract_address
        and ownership.token_id = page.token_id
        and ownership.owner = ${account}
    )
    select
      ${commonColumns(sql)},
      (
        select collection.floor
        from collection
        where collection.contract_address = token.contract_address
      ) as floor,
      greatest(
        (
          select collection.offered
          from collection
          where collection.contract_address = token.contract_address
        ),
        ${highest(sql`token`, matchesToken(sql, sql`token`))}
      ) as offered,
      token.received_at,
      coalesce(token.balance, 1) as balance
    from holding as token
    ${joinTokenMetadata(sql, { chainId: moment.chainId, page: "token" })}
    ${isBuyNow ? sql`cross` : sql`left`} join lateral (
      ${bestListing(sql, { ...moment, token: sql`token`, maker: account })}
    ) as listing ${isBuyNow ? sql`` : sql`on true`}
    order by token.place
  `;
}

/** Documents above this are cut to three fields where they lie: a page of documents of 1 MB would be 250 MB. */
const LARGE_BYTES = 8192;

const commonColumns = (sql: Sql): Fragment => sql`
  '0x' || encode(token.contract_address, 'hex') as contract,
  token.token_id,
  listing.current_price as amount,
  listing.is_native,
  '0x' || encode(listing.currency_address, 'hex') as currency_address,
  case
    when octet_length(token_metadata.normalized) < ${LARGE_BYTES} then token_metadata.normalized
    else (
      select json_build_object(
        'name', document.content ->> 'name',
        'description', document.content ->> 'description',
        'image', document.content ->> 'image'
      )::text
      from (select token_metadata.normalized::jsonb as content) as document
      where token_metadata.normalized is not null
    )
  end as metadata
`;

/** A token of a collection as JSON. */
export function writeCollectionToken(row: CollectionTokenRow): CollectionToken {
  const [price, floor] = [priceOf(row), toWhole(row.floor)];
  return {
    contract: row.contract,
    token_id: row.token_id,
    last_price: toWhole(row.last_amount),
    floor_difference: price === null || !floor ? null : Math.round((price / floor - 1) * 10_000) / 100,
    listed_at: row.listed_at,
    owner: row.owner,
    minted_at: row.minted_at,
    updated_at: row.updated_at,
    price,
    ...termsOf(row),
  };
}

/** A token of an account as JSON. */
export function writePortfolioToken(row: PortfolioTokenRow): PortfolioToken {
  return {
    contract: row.contract,
    token_id: row.token_id,
    list_price: priceOf(row),
    best_offer: toWhole(row.offered),
    floor: toWhole(row.floor),
    received_at: row.received_at,
    balance: row.balance,
    ...termsOf(row),
  };
}

const priceOf = ({ amount, is_native }: CommonRow) => (is_native ? toWhole(amount) : null);

const termsOf = ({ amount, currency_address, metadata }: CommonRow) => {
  const { name, description, image } = JSON.parse(metadata ?? "{}") as Partial<CollectionToken["metadata"]>;
  return {
    amount: amount ?? "",
    currency_address: currency_address ?? "",
    metadata: { name: name ?? "", description: description ?? "", image: image ?? "" },
  };
};
