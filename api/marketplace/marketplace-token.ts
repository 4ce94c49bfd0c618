import { z } from "@hono/zod-openapi";
import { toBytes } from "../../offchain/bytea.ts";
import { integer, number, text } from "../http/field.ts";
import { AFTER_ANY_ADDRESS, type Parameter, type RowStream, toArray } from "../sql/database.ts";
import { ACCOUNT_TOKEN_ITEM, accountFacts, COLLECTION_TOKEN_ITEM, COLLECTION_FACTS } from "./marketplace-item.ts";
import { itemsByPlace, LARGE, LARGE_OF_PAGE, loadNumberedPage } from "./marketplace-body.ts";
import type { Page } from "./marketplace-list.ts";
import * as pages from "./marketplace-page.ts";
import { joinListings, joinListingsInRange, withListings } from "../orderbook/order-listing.ts";
import { joinTokenMetadataText } from "../token/token.ts";
import { Balance, ContractAddress, CurrentOwner, TokenId } from "../token/token-field.ts";
import { CHAIN, type Moment, momentParameters } from "../orderbook/trade-order.ts";

const WholeUnits = (description: string) =>
  number(`${description} In whole units of the chain's currency, to which its wrapped form counts.`).nullable();
const Seconds = (description: string) => integer(`${description} Unix seconds.`).nullable();

const common = {
  contract: ContractAddress,
  token_id: TokenId,
};
const terms = {
  amount: text(
    "Extension: what a buyer pays now for one unit, exactly, in the smallest unit of the currency, decimal; empty where it " +
      "isn't on sale.",
  ),
  currency_address: text(
    "Extension: contract of that currency; the zero address is the chain's own. Empty where it isn't on sale.",
  ),
  metadata: z
    .strictObject({
      name: text("Name of the token."),
      description: text("What it is about."),
      image: text("Link to its image, in its own scheme."),
    })
    .openapi({
      description:
        `Out of the normalized metadata; empty texts where there is none. Of documents ${LARGE}, as those that hold their ` +
        `picture are, a page has ${LARGE_OF_PAGE}: the texts of others are empty too.`,
    }),
};

/** A token of a collection on the marketplace. */
export const CollectionToken = z
  .strictObject({
    ...common,
    last_price: WholeUnits(
      "What one unit was sold for last; null where none was. Bundles and sales in other currencies are left out.",
    ),
    floor_difference: number(
      "By how many percent the price is above the collection's floor, to two decimals; null where `price` is, or the floor is 0.",
    ).nullable(),
    listed_at: Seconds("When the best listing was placed; null where it isn't on sale."),
    owner: CurrentOwner,
    minted_at: Seconds("When it was minted first; null where no mint was seen."),
    updated_at: integer(
      "Last event of the token, or of that listing of it which was placed last, also where it is over. Unix seconds.",
    ),
    price: WholeUnits("What a buyer pays now for one unit; null where it isn't on sale, or only in another currency."),
    ...terms,
  })
  .openapi("CollectionToken", {
    description:
      "A token that somebody holds, with its best listing: the cheapest, those in the chain's currency first.",
  });

/** A token that an account holds. */
export const PortfolioToken = z
  .strictObject({
    ...common,
    list_price: WholeUnits(
      "What the account asks now for one unit; null where it doesn't sell it, or only in another currency.",
    ),
    best_offer: WholeUnits(
      "The highest offer of others for one unit that stands now, those on any token of the collection counted too; null " +
        "where there is none.",
    ),
    floor: WholeUnits("The collection's lowest ask for one unit; null where nothing is on sale."),
    received_at: Seconds("When the account received it last."),
    balance: Balance,
    ...terms,
  })
  .openapi("PortfolioToken", { description: "A token that an account holds, with the account's own best listing." });

/** The statements for each kind of page, for all tokens and for those on sale. */
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
    all: select(base, "true"),
    // Leaves out tokens that were sold since the list was made.
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
  join: joinListings({ maker: "$1" }),
};
const OF_ACCOUNT = statementsOf(ACCOUNT_TOKEN_ITEM, {
  keys: withListings({ ...ofAccount, page: pages.ACCOUNT_KEYS }),
  range: withListings({ ...ofAccount, page: pages.ACCOUNT_RANGE }),
});

type PageOptions = Moment & { page: Page; isBuyNow: boolean; about: object };

/** The body of a collection's page that `createTokenLists` found. It has no items where the collection is hidden. */
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

/** The body of an account's page; of one collection if `contractAddress` is given. */
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
