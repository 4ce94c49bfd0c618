import { getContractAddress, type Hex, zeroAddress, zeroHash } from "viem";
import { BLUR_POOL_ADDRESS } from "./blur.ts";
import { CONDUIT_CODE_HASH, CONDUIT_CONTROLLER_ADDRESS, OTHER_CONDUITS } from "./seaport.ts";

/**
 * What a Seaport order's parameters mean: for the indexer, which sees them on the chain, and for the API, which takes
 * signed ones. Pure, and beside the ABI because both may read it there.
 */

/** Terms of an order for one token, or of an offer for any token of a contract. Columns of table `trade_order`. */
export type Terms = {
  side: "listing" | "offer";
  maker: Hex;
  contract_address: Hex;
  token_id: bigint | null;
  /** What the exchange is told that the token is, null where it needn't be told. */
  token_standard: "ERC721" | "ERC1155" | null;
  quantity: bigint;
  currency_address: Hex;
  start_amount: bigint;
  end_amount: bigint;
  unit_price: bigint | null;
  amounts: string | null;
  start_time: number;
  end_time: number;
  taker: Hex | null;
  broker: Hex;
};

type OfferItem = {
  itemType: number;
  token: Hex;
  identifierOrCriteria: bigint;
  startAmount: bigint;
  endAmount: bigint;
};
type ConsiderationItem = OfferItem & { recipient: Hex };

/** The parameters of an order, as far as its terms need them. Times are in Unix seconds, amounts in smallest units. */
export type OrderParameters = {
  offerer: Hex;
  offer: readonly OfferItem[];
  consideration: readonly ConsiderationItem[];
  orderType: number;
  zone: Hex;
  startTime: bigint;
  endTime: bigint;
};

const MAX_AMOUNT = 2n ** 256n - 1n;

/**
 * OpenSea's shared storefront is sold through an adapter: items name that, transfers the storefront. It moves tokens for
 * Seaport 1.1 and OpenSea's conduit alone. Its address is the same on every chain, the storefront's isn't. Source:
 * SharedStorefrontLazyMintAdapter on Ethereum, opensea-js (0c4323b).
 */
export const STOREFRONT_ADAPTER: Hex = "0xa604060890923ff400e8c6f5290461a83aedacec";
const STOREFRONT: Hex = "0x495f947276749ce646f68ac8c248420045cb7b5e";
/** By chain id, where it is another one than Ethereum's. */
const STOREFRONTS: Record<number, Hex> = { 137: "0x2953399124f0cbb46d2cbacd8a89cf0599974963" };
const STOREFRONT_OPERATORS = new Set([
  "0x00000000006c3852cbef3e08e8df289169ede581",
  "0x1e0049783f008a0085193e00003d00cd54003c71",
]);

/** The end of an order that has none: far enough away, and exact as a number. */
export const NO_END = Number.MAX_SAFE_INTEGER;

/** `itemType` of the chain's own currency; ERC-20 is 1. */
export const NATIVE_TYPE = 0;
/** ERC-721 2, ERC-1155 3, and one of several of them by criteria 4 and 5. */
const FIRST_NFT_TYPE = 2;
const FIRST_CRITERIA_TYPE = 4;
const ERC721_TYPES = new Set([2, 4]);

/** Orders that may be filled in parts. */
const PARTIAL_TYPES = new Set([1, 3]);
/** Orders that are filled as their zone says. */
const RESTRICTED_TYPES = new Set([2, 3]);

/**
 * What a Seaport order asks or offers for one token, fees included. Undefined for bundles, barters, sets of tokens that
 * only a proof tells, and whatever else has no price for one token; and for what has a fault.
 */
export function readTerms(
  order: OrderParameters,
  { exchange, chainId }: { exchange: Hex; chainId: number },
): Terms | undefined {
  if (findFault(order) !== undefined) return undefined;
  const offered = withContracts(order.offer, { chainId }).filter(isNft);
  const wanted = withContracts(order.consideration, { chainId }).filter(isNft);
  const paid = order.offer.filter((item) => !isNft(item));
  const asked = order.consideration.filter((item) => !isNft(item));
  const common = {
    maker: order.offerer,
    start_time: timeOf(order.startTime),
    end_time: timeOf(order.endTime),
    broker:
      asked.find(({ recipient }) => recipient !== zeroAddress && recipient !== order.offerer)?.recipient ?? exchange,
  };

  if (offered.length === 1 && paid.length === 0) {
    const [nft, again] = [offered[0]!, wanted[0]];
    // A private listing asks for its own token, for whoever may take it.
    if (wanted.length > 1 || (again && !isSameToken(nft, again))) return undefined;
    const [token, price] = [tokenOf(nft), priceOf(asked)];
    if (!token || !price || nft.itemType >= FIRST_CRITERIA_TYPE) return undefined;
    return {
      ...common,
      side: "listing",
      ...token,
      ...price,
      ...unitPriceOf(price, token),
      taker: again?.recipient ?? null,
    };
  }
  if (offered.length === 0 && wanted.length === 1) {
    const [token, price] = [tokenOf(wanted[0]!), priceOf(paid)];
    const isOneCurrency = [...paid, ...asked].every((item) => currencyOf(item) === price?.currency_address);
    if (!token || !price || !isOneCurrency) return undefined;
    return { ...common, side: "offer", ...token, ...price, ...unitPriceOf(price, token), taker: null };
  }
  return undefined;
}

/** Why nobody could ever fill an order, or be told its price. */
export type OrderFault =
  | { kind: "several units" | "units not one by one" | "units not divisible"; units: bigint; orderType: number }
  | { kind: "token to nobody" | "native offer" }
  | { kind: "money with id"; itemType: number; id: bigint }
  | { kind: "native with token"; token: Hex }
  | { kind: "currency without token" | "currency of Blur" }
  | { kind: "change too long"; seconds: bigint }
  | { kind: "change too late"; endTime: bigint }
  | { kind: "no zone"; orderType: number };

/** What is wrong with an order as its parameters alone say; undefined where they don't. */
export function findFault({
  offer,
  consideration,
  orderType,
  zone,
  startTime,
  endTime,
}: OrderParameters): OrderFault | undefined {
  const items = [...offer, ...consideration];
  for (const item of items.filter(isNft)) {
    const { itemType } = item;
    const units = largerAmount(item);
    if (!ERC721_TYPES.has(itemType) || units <= 1n) continue;
    if (itemType < FIRST_CRITERIA_TYPE) return { kind: "several units", units, orderType };
    if (!PARTIAL_TYPES.has(orderType)) return { kind: "units not one by one", units, orderType };
    // Seaport fills no fraction that is not exact in every amount.
    if (items.some((item) => item.startAmount % units !== 0n || item.endAmount % units !== 0n))
      return { kind: "units not divisible", units, orderType };
  }
  // The standards of tokens forbid it.
  if (consideration.some((item) => isNft(item) && item.recipient === zeroAddress)) return { kind: "token to nobody" };
  for (const { itemType, token, identifierOrCriteria: id } of items.filter((item) => !isNft(item))) {
    if (id !== 0n) return { kind: "money with id", itemType, id };
    if (itemType === NATIVE_TYPE && token !== zeroAddress) return { kind: "native with token", token };
    if (itemType !== NATIVE_TYPE && token === zeroAddress) return { kind: "currency without token" };
    // Blur alone can pay out of its pool.
    if (token === BLUR_POOL_ADDRESS) return { kind: "currency of Blur" };
  }
  // Seaport multiplies amounts that change by seconds, and fills nothing where that overflows.
  const seconds = endTime - startTime;
  if (items.some((item) => isChanging(item) && largerAmount(item) * seconds > MAX_AMOUNT))
    return { kind: "change too long", seconds };
  if (endTime > NO_END && items.some(isChanging)) return { kind: "change too late", endTime };
  if (RESTRICTED_TYPES.has(orderType) && zone === zeroAddress) return { kind: "no zone", orderType };
  // Seaport takes it from whoever fills the order, or from whoever matches it: never from the bidder.
  if (offer.some(({ itemType }) => itemType === NATIVE_TYPE)) return { kind: "native offer" };
  return undefined;
}

/** Whom the maker of an order must have approved: the exchange, or the conduit of a key. */
export function operatorOf(conduitKey: Hex, { exchange }: { exchange: Hex }): Hex {
  if (conduitKey === zeroHash) return exchange;
  const other = OTHER_CONDUITS[exchange]?.[conduitKey];
  if (other) return other;
  return getContractAddress({
    opcode: "CREATE2",
    from: CONDUIT_CONTROLLER_ADDRESS,
    salt: conduitKey,
    bytecodeHash: CONDUIT_CODE_HASH,
  }).toLowerCase() as Hex;
}

/** Items with the contracts that they are of, where they name an adapter of these. */
export function withContracts<item extends { token: Hex }>(
  items: readonly item[],
  { chainId }: { chainId: number },
): readonly item[] {
  // Nearly none does.
  if (items.every(({ token }) => token !== STOREFRONT_ADAPTER)) return items;
  const storefront = STOREFRONTS[chainId] ?? STOREFRONT;
  return items.map((item) => (item.token === STOREFRONT_ADAPTER ? { ...item, token: storefront } : item));
}

/**
 * Whom the contract of what an order offers must let move it: the order's operator, or the storefront's adapter where
 * that obeys the operator. Undefined where it doesn't: nobody can fill the order.
 */
export function moverOf({ offer }: Pick<OrderParameters, "offer">, { operator }: { operator: Hex }): Hex | undefined {
  if (offer.every(({ token }) => token !== STOREFRONT_ADAPTER)) return operator;
  return STOREFRONT_OPERATORS.has(operator) ? STOREFRONT_ADAPTER : undefined;
}

function tokenOf(
  nft: OfferItem,
): Pick<Terms, "contract_address" | "token_id" | "token_standard" | "quantity"> | undefined {
  const { itemType, token, identifierOrCriteria, startAmount: quantity, endAmount } = nft;
  if (quantity !== endAmount || quantity === 0n) return undefined;
  const isAny = itemType >= FIRST_CRITERIA_TYPE;
  // Which tokens a root stands for is not on the chain.
  if (isAny && identifierOrCriteria !== 0n) return undefined;
  return {
    contract_address: token,
    token_id: isAny ? null : identifierOrCriteria,
    token_standard: ERC721_TYPES.has(itemType) ? "ERC721" : "ERC1155",
    quantity,
  };
}

function priceOf(
  coins: readonly OfferItem[],
): Pick<Terms, "currency_address" | "start_amount" | "end_amount" | "amounts"> | undefined {
  const [first] = coins;
  if (!first || coins.some((coin) => currencyOf(coin) !== currencyOf(first))) return undefined;
  const sum = (key: "startAmount" | "endAmount") => coins.reduce((total, coin) => total + coin[key], 0n);
  const [start_amount, end_amount] = [sum("startAmount"), sum("endAmount")];
  if (start_amount > MAX_AMOUNT || end_amount > MAX_AMOUNT) return undefined;
  const pairs = coins.map(({ startAmount, endAmount }) => `[${startAmount},${endAmount}]`);
  return {
    currency_address: currencyOf(first),
    start_amount,
    end_amount,
    amounts: coins.some(isChanging) ? `[${pairs.join(",")}]` : null,
  };
}

/** A price that stays the same, for one unit, rounded up. */
function unitPriceOf(
  { start_amount, amounts }: Pick<Terms, "start_amount" | "amounts">,
  { quantity }: Pick<Terms, "quantity">,
): Pick<Terms, "unit_price"> {
  return { unit_price: amounts === null ? (start_amount + quantity - 1n) / quantity : null };
}

const largerAmount = ({ startAmount, endAmount }: OfferItem) => (startAmount > endAmount ? startAmount : endAmount);
const isChanging = ({ startAmount, endAmount }: OfferItem) => startAmount !== endAmount;
/** Whether an item is a token, or one of several, and no money. */
export const isNft = ({ itemType }: Pick<OfferItem, "itemType">) => itemType >= FIRST_NFT_TYPE;
const isSameToken = (a: OfferItem, b: OfferItem) =>
  a.token === b.token && a.identifierOrCriteria === b.identifierOrCriteria;
const currencyOf = ({ itemType, token }: OfferItem) => (itemType === NATIVE_TYPE ? zeroAddress : token);
const timeOf = (seconds: bigint) => Number(seconds < NO_END ? seconds : NO_END);
