import { z } from "@hono/zod-openapi";
import { quote } from "./errors.ts";

/** Items a page holds where the request doesn't say, and at most. */
const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 250;
/** Token ids that one request may ask for by `tokens_ids`, and tokens of one batch. */
const MAX_TOKENS_IDS = 250;
const MAX_BATCH = 100;
/** Far above the longest that we issue: they are about 150 characters. */
const MAX_CURSOR_LENGTH = 1024;
const MAX_TOKEN_ID = 2n ** 256n - 1n;

const ADDRESS_PATTERN = "^0x[0-9a-fA-F]{40}$";
const TOKEN_ID_PATTERN = "^([0-9]+|0x[0-9a-fA-F]{1,64})$";

/** A parameter that is a text and given once. */
const text = (name: string, expected = "Expected a text.") =>
  z.string({
    error: ({ input }) => {
      if (input === undefined) return `${name} is missing. ${expected}`;
      return Array.isArray(input)
        ? `${name} is given ${input.length} times. Expected once.`
        : `${name} ${quote(input)} is invalid. Expected a text.`;
    },
  });

const ADDRESS_EXPECTED = "Expected 0x and 40 hex digits.";

/** 0x and 40 hex digits in any case; comes out in lower case. */
export const Address = text("Address", ADDRESS_EXPECTED)
  .regex(new RegExp(ADDRESS_PATTERN), {
    error: ({ input }) => `Address ${quote(input)} is invalid. ${ADDRESS_EXPECTED}`,
  })
  .transform((value) => value.toLowerCase())
  .openapi({ type: "string", pattern: ADDRESS_PATTERN, example: "0x52908400098527886e0f7030069857d2e4169ee7" });

const TOKEN_ID_EXPECTED = "Expected decimal, or 0x and up to 64 hex digits, at most 2^256-1.";

/** Decimal or hex, padded or not; comes out in decimal without leading zeros. */
export const TokenId = text("Token id", TOKEN_ID_EXPECTED)
  .regex(new RegExp(TOKEN_ID_PATTERN), {
    abort: true,
    error: ({ input }) => `Token id ${quote(input)} is invalid. ${TOKEN_ID_EXPECTED}`,
  })
  .transform((value, context) => {
    // A thousand digits cost nothing; a megabyte of them would.
    const id = value.length <= 1000 ? BigInt(value) : MAX_TOKEN_ID + 1n;
    if (id <= MAX_TOKEN_ID) return id.toString();
    context.addIssue({ code: "custom", message: `Token id ${quote(value)} is too large. ${TOKEN_ID_EXPECTED}` });
    return z.NEVER;
  })
  .openapi({ type: "string", pattern: TOKEN_ID_PATTERN, example: "1" });

export const ContractParams = z.object({
  contract_address: Address.openapi({ description: "Address of the contract, in any case." }),
});
export const TokenParams = ContractParams.extend({
  token_id: TokenId.openapi({ description: "Token id, decimal or hex, padded or not." }),
});
export const AccountAddress = Address.openapi({
  description:
    "Address of the account, in any case. One that holds nothing has an empty list, and so has the zero address.",
});
export const AccountParams = z.object({ account_address: AccountAddress });

const HASH_PATTERN = "^0x[0-9a-fA-F]{64}$";

export const OrderParams = z.object({
  order_hash: text("Order hash")
    .regex(new RegExp(HASH_PATTERN), {
      error: ({ input }) => `Order hash ${quote(input)} is invalid. Expected 0x and 64 hex digits.`,
    })
    .transform((value) => value.toLowerCase())
    .openapi({
      type: "string",
      pattern: HASH_PATTERN,
      description: "Hash of the order, in any case.",
      example: `0x${"5e".repeat(32)}`,
    }),
});

const LIMIT_EXPECTED = `Expected a whole number from 1 to ${MAX_LIMIT}.`;

export const PageQuery = z.object({
  cursor: text("cursor")
    .min(1, { error: "cursor is empty. Expected one from a previous answer, or none for the first page." })
    .max(MAX_CURSOR_LENGTH, { error: "cursor is invalid. Expected one from a previous answer of this list." })
    .optional()
    .openapi({
      type: "string",
      minLength: 1,
      maxLength: MAX_CURSOR_LENGTH,
      description:
        "Where to go on: `cursor` of the previous answer, as it is; none for the first page. Opaque, and good for ever, " +
        "but only for the same network, path and filters, else 400. `limit` may change.",
    }),
  limit: text("limit")
    .regex(/^[0-9]{1,9}$/, {
      abort: true,
      error: ({ input }) => `limit ${quote(input)} is invalid. ${LIMIT_EXPECTED}`,
    })
    .transform(Number)
    .refine((value) => value >= 1 && value <= MAX_LIMIT, {
      error: ({ input }) => `limit ${quote(input)} is out of range. ${LIMIT_EXPECTED}`,
    })
    .default(DEFAULT_LIMIT)
    .openapi({
      type: "integer",
      minimum: 1,
      maximum: MAX_LIMIT,
      default: DEFAULT_LIMIT,
      description:
        "Items that a page has at most. It may have fewer and still not be the last: it ends before it exceeds 1,048,576 " +
        "bytes.",
    }),
});

export const TokensQuery = PageQuery.extend({
  tokens_ids: z
    .preprocess(
      (value) => (typeof value === "string" ? [value] : value),
      z.array(TokenId).max(MAX_TOKENS_IDS, {
        error: ({ input }) =>
          `tokens_ids is given ${(input as unknown[]).length} times. Expected at most ${MAX_TOKENS_IDS}.`,
      }),
    )
    .transform((ids) => [...new Set(ids)].toSorted())
    .optional()
    .openapi({
      type: "array",
      items: { type: "string", pattern: TOKEN_ID_PATTERN },
      maxItems: MAX_TOKENS_IDS,
      description:
        "Only these tokens, each id decimal or hex, padded or not: the parameter is repeated for each. Ids that don't " +
        "exist are left out.",
    }),
});

export const OwnerTokensQuery = PageQuery.extend({
  contract_address: Address.optional().openapi({
    type: "string",
    pattern: ADDRESS_PATTERN,
    description: "Address of a contract, in any case: only tokens of it.",
  }),
});

/** Refuses what is too long before its items are looked at: what is wrong with each of 350,000 takes a quarter of a second. */
function refuseTooMany(value: unknown, context: z.RefinementCtx): unknown {
  if (Array.isArray(value) && value.length > MAX_BATCH)
    context.addIssue({ code: "custom", message: `tokens has ${value.length} items. Expected 1 to ${MAX_BATCH}.` });
  return value;
}

export const BatchBody = z.object(
  {
    tokens: z
      .preprocess(
        refuseTooMany,
        z
          .array(
            z.object(TokenParams.shape, {
              error: ({ input }) => `Token ${quote(input)} is invalid. Expected contract_address and token_id.`,
            }),
            { error: "tokens is missing or not an array. Expected an array of contract_address and token_id." },
          )
          .min(1, { error: `tokens is empty. Expected 1 to ${MAX_BATCH}.` })
          .max(MAX_BATCH),
      )
      .openapi({ description: `1 to ${MAX_BATCH} tokens of this network, of any contracts.` }),
  },
  { error: "The body is not an object. Expected an object with tokens." },
);

/** Longest name of a key, in characters. */
const MAX_NAME_LENGTH = 100;
const NAME_PATTERN = "^[^\\p{Cc}\\p{Cs}]*$";

export const KeyBody = z.object(
  {
    name: z
      .string({ error: `name is missing or not a text. Expected 1 to ${MAX_NAME_LENGTH} characters.` })
      .trim()
      .min(1, { error: `name is empty. Expected 1 to ${MAX_NAME_LENGTH} characters.` })
      .max(MAX_NAME_LENGTH, { error: `name is too long. Expected 1 to ${MAX_NAME_LENGTH} characters.` })
      // Postgres text holds no NUL, and a name is one line of a list.
      .regex(new RegExp(NAME_PATTERN, "u"), { error: "name has control characters. Expected printable ones." })
      .openapi({
        // Without the flag that belongs to the expression here: patterns of a document have it anyway.
        pattern: NAME_PATTERN,
        description:
          "What the key is for, as the list of keys shows it: one line without control characters. White space around it " +
          "is cut off, and doesn't count.",
        example: "my-app",
      }),
  },
  { error: "The body is not an object. Expected an object with name." },
);
