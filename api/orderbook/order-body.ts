import { z } from "@hono/zod-openapi";
import { type Hex, maxUint256 } from "viem";
import { quote } from "../http/errors.ts";
import { Address } from "../http/parameter.ts";
import { ORDER_TEXT } from "./order-text.ts";

/**
 * A key's longest signature is that of a tree of 2^24 orders. Signatures of contracts may be longer than that, and empty
 * where a wallet has noted on the chain what it signs.
 */
const MAX_SIGNATURE_BYTES = 8_192;
const MAX_ITEMS = 20;
const ITEMS_EXPECTED = `Expected 1 to ${MAX_ITEMS} items.`;
const HASH_EXPECTED = "Expected 0x and 64 hex digits.";
const SIGNATURE_EXPECTED = "Expected 0x and an even number of hex digits.";
const UINT_EXPECTED = "Expected a whole number up to 2^256-1, decimal or hex, as a text.";
const NO_ITEM = "Not an item. Expected an object of itemType, token, identifierOrCriteria, startAmount and endAmount.";

type Name = keyof typeof ORDER_TEXT;

const hexAddress = Address.transform((value) => value as Hex);
const account = (name: Name) => hexAddress.openapi({ description: ORDER_TEXT[name] });

const UINT_PATTERN = "^([0-9]{1,78}|0x[0-9a-fA-F]{1,64})$";
const parseUint = (name: string) => {
  const error = ({ input }: { input?: unknown }) =>
    `${name} ${input === undefined ? "is missing" : `${quote(input)} is invalid`}. ${UINT_EXPECTED}`;
  const digits = z.string({ error }).regex(new RegExp(UINT_PATTERN), { error });
  return z
    .union([digits, z.int({ error }).min(0, { error })], { error })
    .transform(BigInt)
    .refine((value) => value <= maxUint256, { error: `${name} is too large. Expected at most 2^256-1.` });
};
/**
 * A text in the document, though a number is taken too: a choice of types is none in many languages, nor in OpenAPI 3.0.
 * `x-bigint` has our client take bigints and numbers.
 */
const uint = (name: Name) =>
  parseUint(name).openapi({
    type: "string",
    pattern: UINT_PATTERN,
    "x-bigint": true,
    description: ORDER_TEXT[name],
  });

const bytes32 = (name: Name) =>
  z
    .string({ error: `${name} is missing or not a text. ${HASH_EXPECTED}` })
    .regex(/^0x[0-9a-fA-F]{64}$/, {
      error: ({ input }) => `${name} ${quote(input)} is invalid. ${HASH_EXPECTED}`,
    })
    .transform((value) => value.toLowerCase() as Hex)
    .openapi({ description: ORDER_TEXT[name] });

const small = (name: Name, max: number) =>
  parseUint(name)
    .refine((value) => value <= BigInt(max), { error: `${name} is out of range. Expected 0 to ${max}.` })
    .transform(Number)
    .openapi({ type: "integer", minimum: 0, maximum: max, description: ORDER_TEXT[name] });

const item = {
  itemType: small("itemType", 5),
  token: account("token"),
  identifierOrCriteria: uint("identifierOrCriteria"),
  startAmount: uint("startAmount"),
  endAmount: uint("endAmount"),
};
const list = <T extends z.ZodType>(name: Name, one: T) =>
  z
    .array(one, { error: `${name} is missing or not an array. ${ITEMS_EXPECTED}` })
    .min(1, { error: `${name} is empty. ${ITEMS_EXPECTED}` })
    .max(MAX_ITEMS, { error: `${name} is too long. ${ITEMS_EXPECTED}` })
    .openapi({ description: ORDER_TEXT[name] });

/** A signed Seaport order as its client makes it. */
export const OrderBody = z
  .object(
    {
      parameters: z
        .object(
          {
            offerer: account("offerer"),
            zone: account("zone"),
            offer: list("offer", z.object(item, { error: NO_ITEM })),
            consideration: list(
              "consideration",
              z.object({ ...item, recipient: account("recipient") }, { error: NO_ITEM }),
            ),
            orderType: small("orderType", 4),
            startTime: uint("startTime"),
            endTime: uint("endTime"),
            zoneHash: bytes32("zoneHash"),
            salt: uint("salt"),
            conduitKey: bytes32("conduitKey"),
            counter: uint("counter")
              .optional()
              .openapi({ description: `${ORDER_TEXT.counter} By default what it is now.` }),
            totalOriginalConsiderationItems: uint("totalOriginalConsiderationItems")
              .optional()
              .openapi({ type: "integer", pattern: undefined, minimum: 0 }),
          },
          { error: "parameters is missing or not an object. Expected those of a Seaport order." },
        )
        .openapi({ description: "What was signed, as Seaport's own client has it." }),
      signature: z
        .string({ error: `signature is missing or not a text. ${SIGNATURE_EXPECTED}` })
        .regex(/^0x([0-9a-fA-F]{2})*$/, {
          error: `signature is invalid. ${SIGNATURE_EXPECTED}`,
        })
        .max(2 + 2 * MAX_SIGNATURE_BYTES, { error: "signature is too long." })
        .transform((value) => value.toLowerCase() as Hex)
        .openapi({ description: ORDER_TEXT.signature }),
      exchange_address: hexAddress.optional().openapi({
        type: "string",
        description:
          "Address of the Seaport that the order was signed for; by default the one that the signature fits.",
      }),
    },
    { error: "The body is not an object. Expected an object with parameters and signature." },
  )
  .openapi("SignedOrder", {
    description:
      "A listing or an offer as Seaport's own client makes it. Numbers are decimal or 0x hex as a text, up to 2^256-1; a " +
      "whole JSON number is taken as well.",
  });
export type OrderBody = z.output<typeof OrderBody>;
