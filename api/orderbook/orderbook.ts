import { z } from "@hono/zod-openapi";
import type { Sql } from "postgres";
import { zeroAddress } from "viem";
import { toBytes } from "../../offchain/bytea.ts";
import { text } from "../http/field.ts";
import { BEFORE_ANY_ADDRESS, type Parameter, type RowStream, squeeze, toArray } from "../sql/database.ts";
import { itemOf, loadItems, placedItemsInPieces } from "../sql/item-page.ts";
import { ITEM_HEAD, ORDERBOOK_ITEM, ORDERBOOK_ROW } from "./orderbook-item.ts";
import { PAGE_BY_KEY, PAGE_OF_COLLECTION, PAGE_OF_OWNER } from "./orderbook-page.ts";
import {
  HAS_OFFER_FOR_ANY,
  joinListings,
  joinListingsInRange,
  joinOffersInRange,
  withListings,
} from "./order-listing.ts";
import { createPage, type Page } from "../http/page.ts";
import { ContractAddress, CurrentOwner, TokenIdHex } from "../token/token-field.ts";
import type { TokenKey } from "../token/token-lookup.ts";
import { type Moment, momentParameters } from "./trade-order.ts";

const Flag = (description: string) => z.enum(["true", "false"]).openapi({ description });

/** A token with its best listing. Every value is a text, empty where there is nothing. */
export const OrderbookToken = z
  .strictObject({
    token_chain_id: text("Chain id in hex, as `0x1`."),
    contract_address: ContractAddress,
    token_id: TokenIdHex,
    current_owner: CurrentOwner,
    listed_timestamp: text("Unix seconds of when the listing was placed."),
    updated_timestamp: text(
      "Unix seconds of the last event of the token, or of that listing of it which was placed last, also where it is over.",
    ),
    current_price: text("What a buyer pays now for one unit, in the smallest unit of the currency, rounded up."),
    quantity: text("Units that are left for sale; of a token that isn't listed, units that `current_owner` holds."),
    start_amount: text(
      "What was asked for one unit at `start_date`, in the smallest unit of the currency, rounded up.",
    ),
    end_amount: text("What will be asked for one unit at `end_date`, in the same way; empty where the price is fixed."),
    start_date: text("Unix seconds from which on the listing can be filled."),
    end_date: text("Unix seconds before which the listing can be filled; empty where it has no end."),
    broker_id: text("Address of the first fee recipient that isn't the seller, else of the exchange's contract."),
    is_listed: Flag(
      "A listing could be filled now by anybody: begun, not over, neither cancelled nor filled, its maker's counter not " +
        "raised, the units still theirs and approved. Its zone, or the token's contract, may refuse all the same: that " +
        "shows when it is filled.",
    ),
    has_offer: Flag(
      "An offer on the token, or on any of its contract, could be accepted now, as far as the last few seconds tell of " +
        "its maker's money. Its zone, or the contract of the token or the currency, may refuse all the same.",
    ),
    currency_address: text("Extension: contract of the listing's currency; the zero address is the chain's own."),
    order_hash: text("Extension: hash of the listing, the exchange's own where it has any: Seaport."),
    exchange: text("Extension: where the listing can be filled: `seaport`, `cryptopunks` or `zora`."),
  })
  .openapi("OrderbookToken", {
    description:
      "A token with its best listing: the cheapest for one unit now, those in the chain's own currency or its wrapped " +
      "form before all others. Every value is a text. What is said of a listing is empty where `is_listed` is `false`.",
  });
export type OrderbookToken = z.infer<typeof OrderbookToken>;

type TokenColumns = {
  contract_address: string;
  token_id: string;
  /** Of the token itself: a contract may have tokens of several. */
  standard: string;
  owner: string;
  held: string;
  updated_timestamp: number;
};
type ListingColumns = {
  exchange_address: string;
  order_hash: string;
  marketplace: string;
  maker: string;
  broker: string;
  currency_address: string;
  start_amount: string;
  /** Null where the price is fixed. */
  end_amount: string | null;
  current_price: string;
  start_time: number;
  end_time: number;
  placed_timestamp: number;
  quantity: string;
};
/**
 * The same as columns. Columns of the listing are null where the token isn't listed. `has_offer` is left out, because no
 * reader of rows shows it, and it looks at each offer that nobody could pay.
 */
export type OrderbookRow = TokenColumns & (ListingColumns | Record<keyof ListingColumns, null>);

/** How the orders of a page are found: token by token, or for the page's whole range of token ids at once. */
const BY_TOKEN = { join: joinListings() };
const IN_RANGE = { join: joinListingsInRange("$4") };
const IN_RANGE_WITH_OFFERS = {
  join: IN_RANGE.join + joinOffersInRange("$4"),
  mayHaveOffer: "offer.token_id is not null",
};

const statement = (page: string, orders: { join: string; mayHaveOffer?: string }, columns: string) => `
  ${withListings({
    page,
    columns: ["standard", "owner", "current_owner", "held"],
    facts: `${HAS_OFFER_FOR_ANY} as has_offer, ${ITEM_HEAD} as head`,
    ...orders,
  })}
  select ${columns}
  from listed as token
`;
const inOrder = (select: string) => `${select} order by token.contract_address, token.token_id`;

const ITEM = `${ORDERBOOK_ITEM} as item, token.place`;
const ITEMS_BY_KEY = squeeze(statement(PAGE_BY_KEY, BY_TOKEN, ITEM));
const ROWS_BY_KEY = squeeze(inOrder(statement(PAGE_BY_KEY, BY_TOKEN, ORDERBOOK_ROW)));
const ROWS_BY_MAKER = squeeze(inOrder(statement(PAGE_BY_KEY, { join: joinListings({ maker: "$5" }) }, ORDERBOOK_ROW)));
const ITEMS_OF_COLLECTION = squeeze(
  placedItemsInPieces({ page: statement(PAGE_OF_COLLECTION, IN_RANGE_WITH_OFFERS, ITEM), pieceItems: "$6" }),
);
const ROWS_OF_COLLECTION = squeeze(inOrder(statement(PAGE_OF_COLLECTION, IN_RANGE, ORDERBOOK_ROW)));
const ITEMS_OF_OWNER = squeeze(
  placedItemsInPieces({ page: statement(PAGE_OF_OWNER, BY_TOKEN, ITEM), pieceItems: "$7" }),
);

/** Items of `tokens` as JSON, each with its index in `tokens`, in no order. Unknown and hidden tokens are left out. */
export async function findOrderbookItems(
  stream: RowStream,
  { tokens, ...moment }: Moment & { tokens: readonly TokenKey[] },
): Promise<{ json: string; place: number }[]> {
  const found: { json: string; place: number }[] = [];
  await stream(ITEMS_BY_KEY, keyParameters(moment, tokens), (row) => {
    found.push({ json: itemOf(row).toString(), place: Number(row[1]) - 1 });
  });
  return found;
}

/** The rows of `tokens`, by contract and id. Unknown and hidden tokens are left out. */
export async function listOrderbookTokens(
  sql: Sql,
  { tokens, ...moment }: Moment & { tokens: readonly TokenKey[] },
): Promise<OrderbookRow[]> {
  return sql.unsafe<OrderbookRow[]>(ROWS_BY_KEY, keyParameters(moment, tokens), { prepare: true });
}

/** The same with an account's own best listing of each token; listings of other makers don't count. */
export async function listOrderbookTokensOf(
  sql: Sql,
  { accountAddress, tokens, ...moment }: Moment & { accountAddress: string; tokens: readonly TokenKey[] },
): Promise<OrderbookRow[]> {
  const parameters = [...keyParameters(moment, tokens), toBytes(accountAddress)];
  return sql.unsafe<OrderbookRow[]>(ROWS_BY_MAKER, parameters, { prepare: true });
}

/** One token; undefined where it is unknown or its contract hidden. */
export async function findOrderbookToken(
  sql: Sql,
  { contractAddress, tokenId, ...moment }: Moment & { contractAddress: string; tokenId: string },
): Promise<OrderbookRow | undefined> {
  const tokens = [{ contract_address: contractAddress, token_id: tokenId }];
  const [row] = await listOrderbookTokens(sql, { ...moment, tokens });
  return row;
}

const keyParameters = (moment: Moment, tokens: readonly TokenKey[]): Parameter[] => [
  toArray(tokens.map((token) => token.contract_address.slice(2))),
  ...momentParameters(moment),
  toArray(tokens.map((token) => token.token_id)),
];

type CollectionOptions = Moment & { contractAddress: string; after: string | undefined; limit: number };

const collectionParameters = ({ contractAddress, after = "-1", ...moment }: CollectionOptions): Parameter[] => [
  ...momentParameters(moment),
  toBytes(contractAddress),
  after,
];

/** Tokens of a contract by ascending id. None where the contract is hidden. */
export async function listCollectionItems(stream: RowStream, options: CollectionOptions): Promise<Page> {
  return loadItems(stream, ITEMS_OF_COLLECTION, { limit: options.limit, parameters: collectionParameters(options) });
}

/** The same as rows. */
export async function listCollectionTokens(sql: Sql, options: CollectionOptions): Promise<OrderbookRow[]> {
  const parameters = [options.limit, ...collectionParameters(options)];
  return sql.unsafe<OrderbookRow[]>(ROWS_OF_COLLECTION, parameters, { prepare: true });
}

/** Tokens that an account holds, by contract and token id. */
export async function listOwnedItems(
  stream: RowStream,
  {
    accountAddress,
    after,
    limit,
    ...moment
  }: Moment & { accountAddress: string; after: [string, string] | undefined; limit: number },
): Promise<Page> {
  if (accountAddress === zeroAddress) return createPage({ limit });
  const [afterContract, afterToken] = after ? [toBytes(after[0]), after[1]] : [BEFORE_ANY_ADDRESS, "-1"];
  const parameters = [...momentParameters(moment), toBytes(accountAddress), afterContract, afterToken];
  return loadItems(stream, ITEMS_OF_OWNER, { limit, parameters });
}
