import { ZERO } from "./api.ts";
import { NOW, type Order, type Token, type World } from "./random-orders.ts";

/*
 * Which orders of a world could be filled, said without SQL, one order after the other: started and not ended, neither
 * filled nor cancelled, under the maker's counter, of units that the maker holds and has approved, or of money, of which
 * each payment comes to something.
 */

/** An order whose terms are known, with what became of it. */
export type Standing = Order & {
  marketplace: string;
  is_cancelled: boolean;
  filled: bigint;
  /** By the wallet that is to have signed it, which is asked until a part is filled. */
  is_disowned: boolean;
};

const NATIVE = new Set([ZERO, "0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2"]);
/** Whether an order is in ether or its wrapped form. */
export const isNative = ({ currency_address }: Order) => NATIVE.has(currency_address);

/** Orders of either table, those in both as the chain has them. */
function ordersOf(world: World): Standing[] {
  const onChain = world.states.flatMap(({ order, ...state }) =>
    order ? [{ ...order, ...state, is_disowned: false }] : [],
  );
  const signed = world.signed.flatMap((order): Standing[] => {
    const state = world.states.find(
      (one) => one.exchange_address === order.exchange_address && one.order_hash === order.order_hash,
    );
    if (state?.order) return [];
    const filled = state?.filled ?? 0n;
    return [
      {
        ...order,
        marketplace: "seaport",
        is_cancelled: state?.is_cancelled ?? false,
        filled,
        is_disowned: world.disowned.has(order.order_hash) && filled === 0n,
      },
    ];
  });
  return [...onChain, ...signed];
}

function isStanding(world: World, order: Standing): boolean {
  const counter = world.counters.find(
    (one) => one.exchange_address === order.exchange_address && one.maker === order.maker,
  );
  return (
    !order.is_cancelled &&
    !order.is_disowned &&
    order.filled < order.quantity &&
    order.taker === null &&
    order.start_time <= NOW &&
    order.end_time > NOW &&
    (order.counter === null || counter === undefined || order.counter === counter.counter)
  );
}

const lastApproval = (world: World, contract: string, owner: string, operator: string) =>
  world.approvals
    .filter((one) => one.contract_address === contract && one.owner === owner && one.operator === operator)
    .toSorted((a, b) => b.block_number - a.block_number || b.log_index - a.log_index)[0];

function isApproved(world: World, { contract_address, token_id, maker, operator }: Order): boolean {
  if (operator === null) return true;
  const said = lastApproval(world, contract_address, maker, operator);
  if (said?.is_approved) return true;
  const asked = world.tokenApprovals.find(
    (one) =>
      one.contract_address === contract_address &&
      one.token_id === token_id &&
      one.owner === maker &&
      one.operator === operator,
  );
  if (asked && asked.block_number >= (said?.block_number ?? 0)) return asked.is_approved;
  return said === undefined;
}

const isOfStandard = (token: Token, { token_standard }: Order) =>
  token_standard === null ? token.standard !== "ERC1155" : token_standard === token.standard;

function isFillable(world: World, token: Token, order: Standing): boolean {
  const holds =
    token.standard === "ERC1155"
      ? (token.balances.get(order.maker) ?? -1n) >= order.quantity - order.filled
      : token.owner === order.maker;
  const isModuleAllowed =
    order.marketplace !== "zora" ||
    lastApproval(world, order.exchange_address, order.maker, order.exchange_address)?.is_approved !== false;
  return (
    order.side === "listing" &&
    order.contract_address === token.contract_address &&
    order.token_id === token.token_id &&
    isOfStandard(token, order) &&
    isStanding(world, order) &&
    holds &&
    isApproved(world, order) &&
    isModuleAllowed
  );
}

const divideUp = (a: bigint, b: bigint) => (a === 0n ? 0n : (a - 1n) / b + 1n);

/** What is paid for so many units: each payment's part is rounded by itself. */
const totalNow = (order: Order, units = order.quantity): bigint =>
  paymentsNow(order, units).reduce((sum, part) => sum + part, 0n);

/** A price that stays the same is told as one payment. */
function paymentsNow(order: Order, units: bigint): bigint[] {
  if (order.amounts === null) return [(order.start_amount * units) / order.quantity];
  const [left, gone] = [BigInt(order.end_time - NOW), BigInt(NOW - order.start_time)];
  return order.amounts.map(([start, end]) => {
    const product = (start * left + end * gone) * units;
    const divisor = (left + gone) * order.quantity;
    return order.side === "offer" ? product / divisor : divideUp(product, divisor);
  });
}

/** What one unit costs. */
export const priceOf = (order: Order): bigint =>
  order.amounts === null ? divideUp(order.start_amount, order.quantity) : totalNow(order, 1n);

const compare = <T extends bigint | number | string>(a: T, b: T) => (a < b ? -1 : a > b ? 1 : 0);

/** Listings of a token that could be filled, the best first. */
export const listingsOf = (world: World, token: Token): Standing[] =>
  ordersOf(world)
    .filter((order) => isFillable(world, token, order))
    .toSorted(
      (a, b) =>
        Number(isNative(b)) - Number(isNative(a)) ||
        compare(priceOf(a), priceOf(b)) ||
        compare(a.placed_timestamp, b.placed_timestamp) ||
        compare(a.order_hash, b.order_hash) ||
        compare(a.exchange_address, b.exchange_address),
    );

const isHeld = ({ owner, balances }: Token) =>
  owner === null ? [...balances.values()].some((balance) => balance > 0n) : owner !== ZERO;

/** What is left of an offer, and what that pays now. */
export const leftOf = (order: Standing) => ({
  quantity: order.quantity - order.filled,
  amount: totalNow(order, order.quantity - order.filled),
});

const leftForOne = (order: Standing) => leftOf(order).amount / leftOf(order).quantity;

/** Offers for a token that stand, those for any of its contract too, as they are told. */
export const offersOf = (world: World, token: Token): Standing[] =>
  standingOffers(world, token).toSorted(
    (a, b) =>
      Number(isNative(b)) - Number(isNative(a)) ||
      (isNative(a) ? 0 : compare(a.currency_address, b.currency_address)) ||
      compare(leftForOne(b), leftForOne(a)) ||
      compare(a.placed_timestamp, b.placed_timestamp) ||
      compare(a.order_hash, b.order_hash) ||
      compare(a.exchange_address, b.exchange_address),
  );

const standingOffers = (world: World, token: Token): Standing[] =>
  ordersOf(world).filter((order) => {
    const funds = world.funds.find(
      (one) =>
        one.currency_address === order.currency_address && one.maker === order.maker && one.operator === order.operator,
    );
    return (
      order.side === "offer" &&
      isHeld(token) &&
      order.contract_address === token.contract_address &&
      (order.token_id === null || order.token_id === token.token_id) &&
      isOfStandard(token, order) &&
      isStanding(world, order) &&
      paymentsNow(order, leftOf(order).quantity).every((payment) => payment > 0n) &&
      (!funds || funds.spendable >= leftOf(order).amount)
    );
  });

/** The highest of others than `account` for one unit, in the chain's own currency. */
export function highestOffer(world: World, token: Token, account: string): bigint | undefined {
  return offersOf(world, token)
    .filter((order) => isNative(order) && order.maker !== account)
    .map((order) => totalNow(order) / order.quantity)
    .toSorted((a, b) => compare(b, a))[0];
}
