import { z } from "@hono/zod-openapi";
import { type Hex, maxUint256 } from "viem";
import { quote } from "../http/errors.ts";
import { Address } from "../http/parameter.ts";

/** A tree of 2^24 orders makes the longest signature of a key; those of contracts may be longer. */
const MAX_SIGNATURE_BYTES = 8_192;
const MAX_ITEMS = 20;

const account = Address.transform((value) => value as Hex);

const uint = (name: string) => {
  const error = ({ input }: { input?: unknown }) =>
    `${name} ${quote(input)} is invalid. Expected a whole number up to 2^256-1, decimal or hex, as a text.`;
  const digits = z.string({ error }).regex(/^([0-9]{1,78}|0x[0-9a-fA-F]{1,64})$/, { error });
  return z
    .union([digits, z.int({ error }).min(0, { error })], { error })
    .transform(BigInt)
    .refine((value) => value <= maxUint256, { error: `${name} is too large. Expected at most 2^256-1.` })
    .openapi({ type: "string", example: "1" });
};

const bytes32 = (name: string) =>
  z
    .string({ error: `${name} is missing or not a text.` })
    .regex(/^0x[0-9a-fA-F]{64}$/, {
      error: ({ input }) => `${name} ${quote(input)} is invalid. Expected 0x and 64 hex digits.`,
    })
    .transform((value) => value.toLowerCase() as Hex);

const small = (name: string, max: number) =>
  uint(name)
    .refine((value) => value <= BigInt(max), { error: `${name} is out of range. Expected 0 to ${max}.` })
    .transform(Number)
    .openapi({ type: "integer", minimum: 0, maximum: max });

const item = {
  itemType: small("itemType", 5),
  token: account,
  identifierOrCriteria: uint("identifierOrCriteria"),
  startAmount: uint("startAmount"),
  endAmount: uint("endAmount"),
};
const list = <T extends z.ZodType>(name: string, one: T) =>
  z
    .array(one, { error: `${name} is missing or not an array.` })
    .min(1, { error: `${name} is empty. Expected 1 to ${MAX_ITEMS} items.` })
    .max(MAX_ITEMS, { error: `${name} is too long. Expected 1 to ${MAX_ITEMS} items.` });

/** A signed Seaport order as its client makes it. */
export const OrderBody = z
  .object(
    {
      parameters: z.object(
        {
          offerer: account,
          zone: account,
          offer: list("offer", z.object(item)),
          consideration: list("consideration", z.object({ ...item, recipient: account })),
          orderType: small("orderType", 4),
          startTime: uint("startTime"),
          endTime: uint("endTime"),
          zoneHash: bytes32("zoneHash"),
          salt: uint("salt"),
          conduitKey: bytes32("conduitKey"),
          counter: uint("counter").optional(),
          totalOriginalConsiderationItems: uint("totalOriginalConsiderationItems").optional(),
        },
        { error: "parameters is missing or not an object. Expected those of a Seaport order." },
      ),
      signature: z
        .string({ error: "signature is missing or not a text." })
        .regex(/^0x([0-9a-fA-F]{2})+$/, {
          error: "signature is invalid. Expected 0x and an even number of hex digits.",
        })
        .max(2 + 2 * MAX_SIGNATURE_BYTES, { error: "signature is too long." })
        .transform((value) => value.toLowerCase() as Hex),
      exchange_address: account.optional().openapi({
        type: "string",
        description: "The Seaport that the order was signed for; by default the one that the signature fits.",
      }),
    },
    { error: "The body is not an object. Expected an object with parameters and signature." },
  )
  .openapi("SignedOrder");
export type OrderBody = z.output<typeof OrderBody>;
