import { type Hex, zeroAddress } from "viem";
import { MAX_UINT256 } from "./limits.ts";
import type { Movement } from "./movement.ts";

/** The pure core of sales: what every exchange's log is brought into. */

export type Marketplace =
  | "seaport"
  | "cryptopunks"
  | "blur"
  | "looksrare"
  | "x2y2"
  | "wyvern"
  | "zora"
  | "foundation"
  | "payment-processor"
  | "element"
  | "superrare"
  | "0x";

/** What a price is when it is not simply what was paid for this token. */
export type PriceNote =
  /** A share of one total for several tokens, by units. */
  | "bundle"
  /** What the order says: whoever buys may pay fees on top of it, and no log has what they come to. */
  | "fees on top"
  /** Tokens for tokens: there is no price. */
  | "barter"
  /** Paid in more than one currency: there is no single price. */
  | "several currencies"
  /** The exchange's log doesn't name the currency. */
  | "unknown currency"
  /**
   * The bid that was taken stands in a log that was never seen: it is from before the first block indexed. Or a bidder has
   * a part of it back, and no log says how much.
   */
  | "unknown bid"
  /** More than any currency can have: only made-up currencies are paid so. */
  | "out of range";

/** A price for all units of a sale. `price` and `currency` are null where logs don't tell. */
export type Price = { price: bigint | null; currency: Hex | null; note: PriceNote | null };

/** A token that changed hands for something, as the exchange's log has it. Null: the log doesn't say who. */
export type Sale = Price & {
  logIndex: number;
  /** Place among the events of the log. */
  batchIndex: number;
  marketplace: Marketplace;
  contractAddress: Hex;
  tokenId: bigint;
  quantity: bigint;
  seller: Hex | null;
  buyer: Hex | null;
  broker: Hex;
  /** An offer was accepted; false: a listing was bought. Null: the log doesn't say which. */
  isOffer: boolean | null;
  /** Who holds the token for its seller, where that isn't the exchange itself. */
  holder?: Hex;
  /** The exchange has the token, and may keep it for the buyer: then nothing moves. */
  isInEscrow?: true;
};

/** Units of a token that move. */
export type Hop = Pick<Movement, "logIndex" | "contractAddress" | "tokenId" | "from" | "to" | "quantity">;

/** So many units of one token. */
export type Item = { contractAddress: Hex; tokenId: bigint; quantity: bigint };

export const priceOf = (price: bigint, currency: Hex): Price =>
  price > MAX_UINT256 ? noPrice("out of range") : { price, currency, note: null };

/** The price of an order whose exchange takes fees on top from the buyer, and doesn't log what they come to. */
export function priceBeforeFees(price: bigint, currency: Hex): Price {
  const paid = priceOf(price, currency);
  return { ...paid, note: paid.note ?? "fees on top" };
}

export const noPrice = (note: PriceNote): Price => ({ price: null, currency: null, note });

/**
 * One price for several items, shared by units: the parts add up to the total, and the first has what is left over. A part
 * may round to 0; a price of 0 has no parts, and stays that of a gift.
 */
export function splitPrice(total: Price, items: readonly Item[]): Price[] {
  if (!total.price || items.length === 1) return items.map(() => total);
  const { price, currency } = total;
  const units = items.reduce((sum, { quantity }) => sum + quantity, 0n);
  // Units of one token are worth the same, so a share of their total is their price.
  const note = new Set(items.map(keyOfToken)).size > 1 ? "bundle" : total.note;
  const parts = items.map(({ quantity }) => (units === 0n ? 0n : (price * quantity) / units));
  const rest = price - parts.reduce((sum, part) => sum + part, 0n);
  return parts.map((part, index) => ({ price: index === 0 ? part + rest : part, currency, note }));
}

/** How 0x, and Element after it, write the chain's own currency. */
const NATIVE_MARKER = "0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee";

/** The currency at an address as 0x and Element write it. */
export const currencyAt = (address: Hex): Hex => (address === NATIVE_MARKER ? zeroAddress : address);

/** What tells one token from another. */
export function keyOfToken({ contractAddress, tokenId }: Pick<Item, "contractAddress" | "tokenId">): string {
  return `${contractAddress}${tokenId}`;
}

/** The first of these that is somebody and not one of `except`, else `otherwise`. */
export function firstOther(
  addresses: readonly Hex[],
  { except, otherwise }: { except: readonly (Hex | null)[]; otherwise: Hex },
): Hex {
  return addresses.find((address) => address !== zeroAddress && !except.includes(address)) ?? otherwise;
}
