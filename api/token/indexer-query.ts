import { z } from "@hono/zod-openapi";
import { quote } from "../http/errors.ts";
import { Address, ADDRESS_PATTERN, PageQuery, TOKEN_ID_PATTERN, TokenId, TokenParams } from "../http/parameter.ts";

/** The most token ids in `tokens_ids`. */
const MAX_TOKENS_IDS = 250;
/** The most tokens in a batch. */
export const MAX_BATCH = 100;

/** A repeated parameter as a list. Whoever writes several ids as one is told how they are given. */
function toList(value: unknown, context: z.RefinementCtx): unknown {
  const list = typeof value === "string" ? [value] : value;
  const joined = Array.isArray(list) ? (list as string[]).find((id) => id.includes(",")) : undefined;
  if (joined !== undefined)
    context.addIssue({
      code: "custom",
      message: `tokens_ids ${quote(joined)} is invalid. Expected the parameter repeated for each id: tokens_ids=1&tokens_ids=2.`,
    });
  return list;
}

/** A page of the tokens of a contract, or of some of these. */
export const TokensQuery = PageQuery.extend({
  tokens_ids: z
    .preprocess(
      toList,
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

/** A page of the tokens of an account, or of those of one contract. */
export const OwnerTokensQuery = PageQuery.extend({
  contract_address: Address.optional().openapi({
    type: "string",
    pattern: ADDRESS_PATTERN,
    description: "Address of a contract, in any case: only tokens of it.",
  }),
});

/**
 * Refuses a list that is too long before its items are checked: describing the errors of 350,000 items takes a quarter
 * of a second.
 */
function refuseTooMany(value: unknown, context: z.RefinementCtx): unknown {
  if (Array.isArray(value) && value.length > MAX_BATCH)
    context.addIssue({ code: "custom", message: `tokens has ${value.length} items. Expected 1 to ${MAX_BATCH}.` });
  return value;
}

/** Tokens of any contracts. */
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
