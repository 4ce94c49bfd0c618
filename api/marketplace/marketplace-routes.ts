import { z } from "@hono/zod-openapi";
import { zeroAddress } from "viem";
import { Collection, PortfolioCollection } from "./collection.ts";
import { quote } from "../http/errors.ts";
import { CollectionToken, PortfolioToken } from "./marketplace-token.ts";
import { Address } from "../http/parameter.ts";
import { defineRoute } from "../http/route.ts";

const DEFAULT_ITEMS = 100;
const MAX_ITEMS = 250;

const wholeNumber = (name: string, { max, otherwise }: { max: number; otherwise: number }) => {
  const invalid = ({ input }: { input?: unknown }) =>
    `${name} ${quote(input)} is invalid. Expected a whole number from 1 to ${max}.`;
  return z
    .string({ error: `${name} is given more than once. Expected once.` })
    .regex(/^[0-9]{1,16}$/, { abort: true, error: invalid })
    .transform(Number)
    .refine((value) => value >= 1 && value <= max, { error: invalid })
    .default(otherwise)
    .openapi({ type: "integer", minimum: 1, maximum: max, default: otherwise });
};

const PageNumberQuery = z.object({
  // Places in lists are counted here, not in SQL: a page so far past the end that its place is no exact number is empty too.
  page: wholeNumber("page", { max: Number.MAX_SAFE_INTEGER, otherwise: 1 }),
  items_per_page: wholeNumber("items_per_page", { max: MAX_ITEMS, otherwise: DEFAULT_ITEMS }),
});

const oneOf = <T extends string>(name: string, values: readonly [T, ...T[]]) =>
  z.enum(values, {
    error: ({ input }) => `${name} ${quote(input)} is invalid. Expected ${values.join(" or ")}, once.`,
  });

const TokenListQuery = PageNumberQuery.extend({
  buy_now: oneOf("buy_now", ["true", "false"])
    .default("false")
    .openapi({ description: "Only what is on sale, in whichever currency." }),
  sort: oneOf("sort", ["price"]).optional().openapi({
    description:
      "By price, those that aren't on sale last, and those in other currencies before them; by default by token id.",
  }),
  direction: oneOf("direction", ["asc", "desc"]).default("asc").openapi({ description: "Of the price." }),
});

const PortfolioQuery = TokenListQuery.extend({
  collection: Address.optional().openapi({ type: "string", description: "Only tokens of this collection." }),
});

/** Up to 2^256-1, which is what a chain may call itself: longer ones are served nowhere, but well-formed. */
const CHAIN_ID_PATTERN = "^([0-9]{1,78}|0x[0-9a-fA-F]{1,64})$";

const CollectionParams = z.object({
  address: Address.openapi({ description: "Address of the collection, in any case." }),
  chain_id: z
    .string()
    .regex(new RegExp(CHAIN_ID_PATTERN), {
      error: ({ input }) => `Chain id ${quote(input)} is invalid. Expected decimal, or 0x and up to 64 hex digits.`,
    })
    .transform(BigInt)
    .openapi({ type: "string", pattern: CHAIN_ID_PATTERN, example: "1" }),
});

const UserParams = z.object({
  user_address: Address.openapi({ description: "Address of the account, in any case." }),
});

const listOf = (item: z.ZodType) =>
  z.strictObject({
    data: z.array(item),
    collection_count: z.int().openapi({ description: "All that there are, not just of this page." }),
    next_page: z.int().nullable().openapi({ description: "The next page's number; null on the last one." }),
  });

const tokensOf = (item: z.ZodType) =>
  z.strictObject({
    data: z.array(item),
    token_count: z.int().openapi({ description: "All that there are, not just of this page." }),
    next_page: z.int().nullable().openapi({ description: "The next page's number; null on the last one." }),
  });

const collection = {
  collection_id: "0x7d7f4a5c2b8a0a1f6d5b1c0e9f8a7b6c5d4e3f21",
  collection_name: "Example Apes",
  collection_description: "Apes for examples.",
  collection_image: "ipfs://QmExample/apes.png",
};

const marketplace = { tag: "Marketplace", needsKey: false, method: "get" } as const;

export const listCollectionsRoute = defineRoute({
  ...marketplace,
  path: "/marketplace/collections",
  summary: "Collections of the main network, those with most tokens first",
  query: PageNumberQuery,
  answer: listOf(Collection),
  example: { data: [collection], collection_count: 1, next_page: null },
  errors: [503],
});

export const getCollectionRoute = defineRoute({
  ...marketplace,
  path: "/marketplace/collections/{address}/{chain_id}",
  summary: "One collection",
  params: CollectionParams,
  answer: z.strictObject({ data: Collection }),
  example: { data: collection },
  errors: [404, 503],
});

export const listPortfolioRoute = defineRoute({
  ...marketplace,
  path: "/marketplace/portfolio/{user_address}/collections",
  summary: "Collections of the main network of which an account holds a token, those with most tokens first",
  params: UserParams,
  query: PageNumberQuery,
  answer: listOf(PortfolioCollection),
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
  "Lists of more than a thousand tokens are in the order of a moment ago; what is said of each token is of this second.";

export const listTokensRoute = defineRoute({
  ...marketplace,
  path: "/marketplace/collections/{address}/{chain_id}/tokens",
  summary: "Extension: tokens of a collection that somebody holds, with what they cost",
  description: LONG_LISTS,
  params: CollectionParams,
  query: TokenListQuery,
  answer: tokensOf(CollectionToken),
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
  errors: [404, 503],
});

export const listPortfolioTokensRoute = defineRoute({
  ...marketplace,
  path: "/marketplace/portfolio/{user_address}",
  summary: "Extension: tokens of the main network that an account holds, with what it asks and others offer for them",
  description: LONG_LISTS,
  params: UserParams,
  query: PortfolioQuery,
  answer: tokensOf(PortfolioToken),
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

/** The Marketplace API, in the specification's order, and what goes beyond it. */
export const MARKETPLACE_ROUTES = [
  listCollectionsRoute,
  getCollectionRoute,
  listPortfolioRoute,
  listTokensRoute,
  listPortfolioTokensRoute,
] as const;
