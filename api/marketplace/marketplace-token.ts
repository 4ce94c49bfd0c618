import { z } from "@hono/zod-openapi";
import { type Parameter, type RowStream, toArray, toBytes } from "../sql/database.ts";
import { ACCOUNT_TOKEN_ITEM, accountFacts, COLLECTION_TOKEN_ITEM, COLLECTION_FACTS } from "./marketplace-item.ts";
import { itemsByPlace, loadNumberedPage } from "./marketplace-body.ts";
import type { Page } from "./marketplace-list.ts";
import * as pages from "./marketplace-page.ts";
import { joinListings, joinListingsInRange, withListings } from "../orderbook/order-listing.ts";
import { joinTokenMetadataText } from "../token/token.ts";
import { CHAIN, type Moment, momentParameters } from "../orderbook/trade-order.ts";

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

/** A statement for each way in which a page is found, for all tokens and for those on sale. */
function statementsOf(item: string, bases: Record<Page["kind"], string>) {
  const select = (base: string, isWanted: string) =>
    itemsByPlace(`
      ${base}
      select
        ${item} as item,
        token.place
      from listed as token
      ${joinTokenMetadataText({ chainId: CHAIN, page: "token" })}
      where ${isWanted}
    `);
  const both = (base: string) => ({
    all: select(base, "token.place is not null"),
    // Leaves out what was sold while the page was looked for.
    onSale: select(base, "token.is_listed"),
  });
  return { keys: both(bases.keys), range: both(bases.range) };
}

const ofCollection = { columns: pages.COLLECTION_COLUMNS, facts: COLLECTION_FACTS };
const OF_COLLECTION = statementsOf(COLLECTION_TOKEN_ITEM, {
  keys: withListings({ ...ofCollection, page: pages.COLLECTION_KEYS, join: joinListings() }),
  range: withListings({ ...ofCollection, page: pages.COLLECTION_RANGE, join: joinListingsInRange("$1") }),
});

const ofAccount = {
  columns: pages.ACCOUNT_COLUMNS,
  facts: accountFacts("$1"),
  join: joinListings((table) => `${table}.maker = $1`),
};
const OF_ACCOUNT = statementsOf(ACCOUNT_TOKEN_ITEM, {
  keys: withListings({ ...ofAccount, page: pages.ACCOUNT_KEYS }),
  range: withListings({ ...ofAccount, page: pages.ACCOUNT_RANGE }),
});

type PageOptions = Moment & { page: Page; isBuyNow: boolean; about: object };

/** The body of a page of a collection, which `createTokenLists` found. Empty where the collection is hidden. */
export async function writeCollectionPage(
  stream: RowStream,
  {
    contractAddress,
    page,
    isBuyNow,
    about,
    ifEmpty,
    ...moment
  }: PageOptions & { contractAddress: string; ifEmpty?: () => Promise<unknown> },
): Promise<Buffer> {
  const place: Parameter[] = page.kind === "keys" ? [toArray(page.ids)] : [page.fromId, page.offset, page.limit];
  const parameters = [toBytes(contractAddress), ...momentParameters(moment), ...place];
  const text = OF_COLLECTION[page.kind][isBuyNow ? "onSale" : "all"];
  return loadNumberedPage(stream, { text, parameters, about, ifEmpty });
}

/** The same of an account; of one collection where that is given. */
export async function writeAccountPage(
  stream: RowStream,
  {
    accountAddress,
    contractAddress,
    page,
    isBuyNow,
    about,
    ...moment
  }: PageOptions & { accountAddress: string; contractAddress?: string | undefined },
): Promise<Buffer> {
  const place: Parameter[] =
    page.kind === "keys"
      ? [toArray(page.addresses), toArray(page.ids)]
      : [
          Buffer.from(page.fromAddress, "hex"),
          page.fromId,
          contractAddress === undefined ? AFTER_ANY_ADDRESS : toBytes(contractAddress),
          page.offset,
          page.limit,
        ];
  const parameters = [toBytes(accountAddress), ...momentParameters(moment), ...place];
  const text = OF_ACCOUNT[page.kind][isBuyNow ? "onSale" : "all"];
  return loadNumberedPage(stream, { text, parameters, about });
}

/** Greater than any address. */
const AFTER_ANY_ADDRESS = Buffer.alloc(32, 0xff);
