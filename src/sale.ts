import { type Hex, zeroAddress } from "viem";
import type { MARKETPLACES } from "../abis/marketplace.ts";
import { MAX_UINT256 } from "./limits.ts";
import type { Movement } from "./movement.ts";

/** The pure core of sales: the shape into which every exchange's log is brought. */

/** The exchange of a sale or an order, as `token_event.marketplace` has it. */
export type Marketplace = (typeof MARKETPLACES)[number];

/** Why a price is missing, or is not simply what was paid for this token. */
type PriceNote =
  /** A share, by units, of one total for several tokens. */
  | "bundle"
  /** The price that the order names. The buyer may have paid fees on top of it, which no log has. */
  | "fees on top"
  /** Tokens for tokens: there is no price. */
  | "barter"
  /** Paid in more than one currency: there is no single price. */
  | "several currencies"
  /** The exchange's log doesn't name the currency. */
  | "unknown currency"
  /**
   * The log of the accepted bid was never seen, because it is from before the first block indexed. Or a bidder gets part
   * of it back, and no log says how much.
   */
  | "unknown bid"
  /** More than any currency has units: only made-up currencies are paid so. */
  | "out of range";

/** The price of all units of a sale together. `price` and `currency` are null where the logs don't tell. */
export type Price = { price: bigint | null; currency: Hex | null; note: PriceNote | null };

/** A token that changed hands for something, as the exchange's log says. Null: the log doesn't say who. */
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
  /** True: an offer was accepted; false: a listing was bought. Null: the log doesn't say which. */
  isOffer: boolean | null;
  /** The price is what this buyer pays, whoever's units he gets: of several sellers the log doesn't say whose. */
  isBuyersPrice?: true;
  /** Who holds the token for its seller, where that isn't the exchange itself. */
  holder?: Hex;
  /** The exchange holds the token and may keep it for the buyer: then no transfer follows. */
  isInEscrow?: true;
  /** Fewer units may have moved than the log says: then no more were sold. */
  isAtMost?: true;
};

/** A movement of a token, without what sales don't need. */
export type Hop = Pick<Movement, "logIndex" | "contractAddress" | "tokenId" | "from" | "to" | "quantity">;

/** Units of one token. */
export type Item = { contractAddress: Hex; tokenId: bigint; quantity: bigint };

/** A price that is known. Beyond 2^256 - 1, which sums of several amounts may be, there is none. */
export const priceOf = (price: bigint, currency: Hex): Price =>
  price > MAX_UINT256 ? noPrice("out of range") : { price, currency, note: null };

/** The price of an order whose exchange takes fees from the buyer on top of it, and doesn't log them. */
export function priceBeforeFees(price: bigint, currency: Hex): Price {
  const paid = priceOf(price, currency);
  return { ...paid, note: paid.note ?? "fees on top" };
}

/** A price that the logs don't tell, and why. */
export const noPrice = (note: PriceNote): Price => ({ price: null, currency: null, note });

/**
 * Splits one price among several items, by units. The parts add up to the total: the first has what division leaves
 * over. A part may round to 0. A total of 0 is a gift and isn't split.
 */
export function splitPrice(total: Price, items: readonly Item[]): Price[] {
  if (!total.price || items.length === 1) return items.map(() => total);
  const { price, currency } = total;
  const units = items.reduce((sum, { quantity }) => sum + quantity, 0n);
  // Units of one token are worth the same: then a share is the true price and not only a bundle's part.
  const note = new Set(items.map(keyOfToken)).size > 1 ? "bundle" : total.note;
  const parts = items.map(({ quantity }) => (units === 0n ? 0n : (price * quantity) / units));
  const rest = price - parts.reduce((sum, part) => sum + part, 0n);
  return parts.map((part, index) => ({ price: index === 0 ? part + rest : part, currency, note }));
}

/** The address by which 0x and Element mean the chain's own currency. */
const NATIVE_MARKER = "0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee";

/** The currency that 0x and Element write as this address: the zero address for the chain's own. */
export const currencyAt = (address: Hex): Hex => (address === NATIVE_MARKER ? zeroAddress : address);

/** Identifies a token within a chain, for maps. */
export function keyOfToken({ contractAddress, tokenId }: Pick<Item, "contractAddress" | "tokenId">): string {
  return `${contractAddress}${tokenId}`;
}

/** The first of these addresses that is neither zero nor one of `except`, else `otherwise`. */
export function firstOther(
  addresses: readonly Hex[],
  { except, otherwise }: { except: readonly (Hex | null)[]; otherwise: Hex },
): Hex {
  return addresses.find((address) => address !== zeroAddress && !except.includes(address)) ?? otherwise;
}
