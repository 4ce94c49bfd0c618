import { z } from "@hono/zod-openapi";
import { zeroAddress } from "viem";
import { Collection } from "./collection.ts";
import { quote } from "../http/errors.ts";
import { grouped, integer, list } from "../http/field.ts";
import { CollectionToken, PortfolioToken } from "./marketplace-token.ts";
import { AccountAddress, Address } from "../http/parameter.ts";
import { defineRoute } from "../http/route.ts";
import { SHORT_LIST } from "../sql/kept-list.ts";
import { PortfolioCollection } from "./portfolio.ts";

const DEFAULT_ITEMS = 100;
const MAX_ITEMS = 250;
/** Longer lists are kept for a moment. */
const MANY = grouped(SHORT_LIST);

const wholeNumber = (
  name: string,
  { max, otherwise, description }: { max: number; otherwise: number; description: string },
) => {
  const invalid = ({ input }: { input?: unknown }) =>
    `${name} ${quote(input)} is invalid. Expected a whole number from 1 to ${max}.`;
  return (
    z
      .string({ error: `${name} is given more than once. Expected once.` })
      .regex(/^[0-9]{1,16}$/, { abort: true, error: invalid })
      // Before it becomes a number, which of 16 digits may be another one than was given.
      .refine((digits) => BigInt(digits) >= 1n && BigInt(digits) <= BigInt(max), { error: invalid })
      .transform(Number)
      .default(otherwise)
      .openapi({ type: "integer", minimum: 1, maximum: max, default: otherwise, description })
  );
};

const PageNumberQuery = z.object({
  // Offsets are computed here, not in SQL. A page so far past the end that its offset is inexact is empty anyway.
  page: wholeNumber("page", {
    max: Number.MAX_SAFE_INTEGER,
    otherwise: 1,
    description: "Number of the page. One past the end is empty.",
  }),
  items_per_page: wholeNumber("items_per_page", {
    max: MAX_ITEMS,
    otherwise: DEFAULT_ITEMS,
    description: "Items that a page has at most. All pages of a walk want the same number.",
  }),
});

const oneOf = <T extends string>(name: string, values: readonly [T, ...T[]]) =>
  z.enum(values, {
    error: ({ input }) => `${name} ${quote(input)} is invalid. Expected ${values.join(" or ")}, once.`,
  });

const TokenListQuery = PageNumberQuery.extend({
  // In any case, and in digits: Python's requests write a boolean as "True", PHP as "1".
  buy_now: z
    .stringbool({
      truthy: ["true", "1"],
      falsy: ["false", "0"],
      error: ({ input }) => `buy_now ${quote(input)} is invalid. Expected true or false, once.`,
    })
    .default(false)
    .openapi({
      type: "boolean",
      default: false,
      description: "`true`: only what is on sale, in whichever currency. `false`: all.",
    }),
  sort: oneOf("sort", ["price"])
    .optional()
    .openapi({
      description:
        "`price`: by what one unit costs now, those in other currencies than the chain's own behind the others, those that " +
        "aren't on sale last. By default by address of the contract and token id, ascending.",
    }),
  direction: oneOf("direction", ["asc", "desc"]).default("asc").openapi({
    description: "Of the price: `asc` the lowest first, `desc` the highest first. Without `sort` it does nothing.",
  }),
});

const PortfolioQuery = TokenListQuery.extend({
  collection: Address.optional().openapi({
    type: "string",
    description: "Address of a collection, in any case: only tokens of it.",
  }),
});

/** Chain ids go up to 2^256-1. Greater numbers of this form are served nowhere, but count as well-formed. */
const CHAIN_ID_PATTERN = "^([0-9]{1,78}|0x[0-9a-fA-F]{1,64})$";

const CollectionParams = z.object({
  address: Address.openapi({ description: "Address of the collection, in any case." }),
  chain_id: z
    .string()
    .regex(new RegExp(CHAIN_ID_PATTERN), {
      error: ({ input }) => `Chain id ${quote(input)} is invalid. Expected decimal, or 0x and up to 64 hex digits.`,
    })
    .transform(BigInt)
    .openapi({
      type: "string",
      pattern: CHAIN_ID_PATTERN,
      description: "Chain id of the main network or of the test network, decimal or hex.",
      example: "1",
    }),
});

const UserParams = z.object({
  user_address: AccountAddress,
});

const pageOf = (item: z.ZodType, count: "collection_count" | "token_count") =>
  z.strictObject({
    data: list(item, "Items of this page, in the order of the list; empty past the end."),
    [count]: integer("All that there are, not just of this page."),
    next_page: integer("The next page's number, for the parameter `page`; null on the last one.").nullable(),
  });

const collection = {
  collection_id: "0x7d7f4a5c2b8a0a1f6d5b1c0e9f8a7b6c5d4e3f21",
  collection_name: "Example Apes",
  collection_description: "Apes for examples.",
  collection_image: "ipfs://QmExample/apes.png",
};

const marketplace = { tag: "Marketplace", needsKey: false, method: "get" } as const;
const ofCollection = {
  errors: [404, 503],
  meanings: { 404: "The collection is unknown, or the chain is not served." },
};

export const listCollectionsRoute = defineRoute({
  ...marketplace,
  path: "/marketplace/collections",
  operationId: "listCollections",
  summary: "Collections of the main network, those with most tokens first",
  description:
    "By the number of tokens that somebody holds, as counted a moment ago, then by address. Those whose tokens nobody " +
    "holds come last.",
  query: PageNumberQuery,
  answer: pageOf(Collection, "collection_count"),
  example: { data: [collection], collection_count: 1, next_page: null },
  errors: [503],
});

export const getCollectionRoute = defineRoute({
  ...marketplace,
  path: "/marketplace/collections/{address}/{chain_id}",
  operationId: "getCollection",
  summary: "One collection",
  params: CollectionParams,
  answer: z.strictObject({ data: Collection }),
  example: { data: collection },
  ...ofCollection,
});

export const listPortfolioRoute = defineRoute({
  ...marketplace,
  path: "/marketplace/portfolio/{user_address}/collections",
  operationId: "listPortfolioCollections",
  summary: "Collections of the main network of which an account holds a token, those with most tokens first",
  description:
    "By the number of tokens that somebody holds, as counted a moment ago, then by address. For an account with more than " +
    `${MANY} tokens, those of hidden contracts counted, or listings, fillable or not, all of it is as of a moment ago.`,
  params: UserParams,
  query: PageNumberQuery,
  answer: pageOf(PortfolioCollection, "collection_count"),
  example: {
    data: [
      {
        address: collection.collection_id,
        image: collection.collection_image,
        collection_name: collection.collection_name,
        floor: 0.42,
        token_count: 10_000,
        user_token_count: 3,
        user_listed_tokens: 1,
        is_verified: true,
      },
    ],
    collection_count: 1,
    next_page: null,
  },
  errors: [503],
});

const exampleToken = {
  contract: collection.collection_id,
  token_id: "42",
};
const exampleTerms = {
  amount: "420000000000000000",
  currency_address: zeroAddress,
  metadata: { name: "Ape #42", description: "An ape for examples.", image: "ipfs://QmExample/42.png" },
};
const LONG_LISTS =
  `Lists of more than ${MANY} tokens, burned ones and those of hidden contracts counted, are in the order of a moment ` +
  `ago, and so are those by price or of what is on sale for which there are more than ${MANY} listings, fillable or ` +
  "not; what is said of each token is of this second.";

export const listTokensRoute = defineRoute({
  ...marketplace,
  path: "/marketplace/collections/{address}/{chain_id}/tokens",
  operationId: "listCollectionTokens",
  summary: "Extension: tokens of a collection that somebody holds, with what they cost",
  description: LONG_LISTS,
  params: CollectionParams,
  query: TokenListQuery,
  answer: pageOf(CollectionToken, "token_count"),
  example: {
    data: [
      {
        ...exampleToken,
        last_price: 0.4,
        floor_difference: 5,
        listed_at: 1_700_000_000,
        owner: "0x52908400098527886e0f7030069857d2e4169ee7",
        minted_at: 1_690_000_000,
        updated_at: 1_700_000_000,
        price: 0.42,
        ...exampleTerms,
      },
    ],
    token_count: 1,
    next_page: null,
  },
  ...ofCollection,
});

export const listPortfolioTokensRoute = defineRoute({
  ...marketplace,
  path: "/marketplace/portfolio/{user_address}",
  operationId: "listPortfolioTokens",
  summary: "Extension: tokens of the main network that an account holds, with what it asks and others offer for them",
  description: LONG_LISTS,
  params: UserParams,
  query: PortfolioQuery,
  answer: pageOf(PortfolioToken, "token_count"),
  example: {
    data: [
      {
        ...exampleToken,
        list_price: 0.42,
        best_offer: 0.38,
        floor: 0.4,
        received_at: 1_695_000_000,
        balance: "1",
        ...exampleTerms,
      },
    ],
    token_count: 1,
    next_page: null,
  },
  errors: [503],
});

/** Routes of the Marketplace API: the specification's in its order, then our extensions. */
export const MARKETPLACE_ROUTES = [
  listCollectionsRoute,
  getCollectionRoute,
  listPortfolioRoute,
  listTokensRoute,
  listPortfolioTokensRoute,
] as const;
