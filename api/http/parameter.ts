import { z } from "@hono/zod-openapi";
import { INVALID_CURSOR } from "./cursor.ts";
import { quote } from "./errors.ts";
import { grouped } from "./field.ts";
import { MAX_BODY_BYTES } from "./page.ts";

/** Items in a page: by default, and at most. */
const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 250;
/** Far longer than our cursors, which have about 150 characters. */
const MAX_CURSOR_LENGTH = 1024;

/** Not viem's constant, for which alone commands would have to load viem. */
const MAX_TOKEN_ID = 2n ** 256n - 1n;

/** An address in any case, as the OpenAPI document has it. */
export const ADDRESS_PATTERN = "^0x[0-9a-fA-F]{40}$";
/** A token id, decimal or hex, as the OpenAPI document has it. Not every match is small enough. */
export const TOKEN_ID_PATTERN = "^([0-9]+|0x[0-9a-fA-F]{1,64})$";

/** A text parameter that is given once. */
export const textParameter = (name: string, expected = "Expected a text.") =>
  z.string({
    error: ({ input }) => {
      if (input === undefined) return `${name} is missing. ${expected}`;
      // One value in a list is no repeated parameter: it is in a body of JSON.
      return Array.isArray(input) && input.length > 1
        ? `${name} is given ${input.length} times. Expected once.`
        : `${name} ${quote(input)} is invalid. Expected a text.`;
    },
  });

const ADDRESS_EXPECTED = "Expected 0x and 40 hex digits.";

/** An address: 0x and 40 hex digits in any case. The result is in lower case. */
export const Address = textParameter("Address", ADDRESS_EXPECTED)
  .regex(new RegExp(ADDRESS_PATTERN), {
    error: ({ input }) => `Address ${quote(input)} is invalid. ${ADDRESS_EXPECTED}`,
  })
  .transform((value) => value.toLowerCase())
  .openapi({ type: "string", pattern: ADDRESS_PATTERN, example: "0x52908400098527886e0f7030069857d2e4169ee7" });

const TOKEN_ID_EXPECTED = "Expected decimal, or 0x and up to 64 hex digits, at most 2^256-1.";

/** A token id: decimal or hex, padded or not. The result is decimal without leading zeros. */
export const TokenId = textParameter("Token id", TOKEN_ID_EXPECTED)
  .regex(new RegExp(TOKEN_ID_PATTERN), {
    abort: true,
    error: ({ input }) => `Token id ${quote(input)} is invalid. ${TOKEN_ID_EXPECTED}`,
  })
  .transform((value, context) => {
    // Parsing a thousand digits costs nothing, but a megabyte of them would.
    const id = value.length <= 1000 ? BigInt(value) : MAX_TOKEN_ID + 1n;
    if (id <= MAX_TOKEN_ID) return id.toString();
    context.addIssue({ code: "custom", message: `Token id ${quote(value)} is too large. ${TOKEN_ID_EXPECTED}` });
    return z.NEVER;
  })
  .openapi({ type: "string", pattern: TOKEN_ID_PATTERN, example: "1" });

/** The path of a contract. */
export const ContractParams = z.object({
  contract_address: Address.openapi({ description: "Address of the contract, in any case." }),
});
/** The path of a token. */
export const TokenParams = ContractParams.extend({
  token_id: TokenId.openapi({ description: "Token id, decimal or hex, padded or not." }),
});
/** An address of an account in a path. */
export const AccountAddress = Address.openapi({
  description:
    "Address of the account, in any case. One that holds nothing has an empty list, and so has the zero address.",
});
/** The path of an account. */
export const AccountParams = z.object({ account_address: AccountAddress });

const LIMIT_EXPECTED = `Expected a whole number from 1 to ${MAX_LIMIT}.`;

/** The query of a list that pages by cursor. The result has `limit` as a number. */
export const PageQuery = z.object({
  cursor: textParameter("cursor")
    .min(1, { error: "cursor is empty. Expected one from a previous answer, or none for the first page." })
    .max(MAX_CURSOR_LENGTH, { error: INVALID_CURSOR })
    .optional()
    .openapi({
      type: "string",
      minLength: 1,
      maxLength: MAX_CURSOR_LENGTH,
      description:
        "Where to go on: `cursor` of the previous answer, as it is; none for the first page. Opaque, and good for ever, " +
        "but only for the same network, path and filters, else 400. `limit` may change.",
    }),
  limit: textParameter("limit")
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
        "Items that a page has at most. It may have fewer and still not be the last: it ends before it exceeds " +
        `${grouped(MAX_BODY_BYTES)} bytes.`,
    }),
});
