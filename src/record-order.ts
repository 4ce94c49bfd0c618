import { concat, type Hex, keccak256, numberToHex } from "viem";
import type { LogPlace } from "./movement.ts";
import { MAX_UINT256 } from "./limits.ts";
import { NO_END, type Terms } from "../abis/seaport-order.ts";
import type { Marketplace } from "./sale.ts";
import type { Context, Row } from "./store.ts";

type OrderKey = { marketplace: Marketplace; order_hash: Hex };

/** Puts an order on the books with what is known of it by then: it may be partly filled, or cancelled. */
export async function placeOrder(
  { store }: Context,
  { contractAddress: exchange_address, timestamp }: LogPlace,
  { order_hash, marketplace }: OrderKey,
  terms: Terms & { counter: bigint | null; operator: Hex | null },
): Promise<void> {
  const before = await store.find("tradeOrder", { exchange_address, order_hash });
  const [is_cancelled, filled] = [before?.is_cancelled ?? false, before?.filled ?? 0n];
  const is_open = !is_cancelled && filled < terms.quantity;
  const row = {
    ...terms,
    marketplace,
    is_cancelled,
    filled,
    is_open,
    placed_timestamp: timestamp,
    updated_timestamp: timestamp,
  };
  if (before) await store.update("tradeOrder", { exchange_address, order_hash }, row);
  else await store.insert("tradeOrder", { exchange_address, order_hash, ...row });
}

/** An order for one token at an exchange that has only one such: it stands until something happens to it. */
type StandingOrder = Pick<Terms, "side" | "maker" | "contract_address" | "currency_address" | "taker"> & {
  token_id: bigint;
  amount: bigint;
  operator: Hex | null;
};

/** Replaces whatever stood under this hash. That one is over, and goes on under a hash of its own. */
export async function replaceOrder(
  { store }: Context,
  { contractAddress: exchange_address, timestamp, blockNumber, logIndex }: LogPlace,
  { order_hash, marketplace }: OrderKey,
  { amount, ...order }: StandingOrder,
): Promise<void> {
  const key = { exchange_address, order_hash };
  const before = await store.find("tradeOrder", key);
  if (before) {
    const end = { is_open: false, is_cancelled: true, updated_timestamp: timestamp };
    const over = before.is_open ? { ...before, ...end } : before;
    await store.insert("tradeOrder", { ...over, order_hash: hashOfReplaced(order_hash, { blockNumber, logIndex }) });
  }
  const row = {
    ...order,
    token_standard: null,
    quantity: 1n,
    start_amount: amount,
    end_amount: amount,
    unit_price: amount,
    amounts: null,
    start_time: timestamp,
    end_time: NO_END,
    broker: exchange_address,
    marketplace,
    is_cancelled: false,
    filled: 0n,
    is_open: true,
    counter: null,
    placed_timestamp: timestamp,
    updated_timestamp: timestamp,
  };
  await store.upsert("tradeOrder", { ...key, ...row }, row);
}

/** Of the order that a log has replaced. */
const hashOfReplaced = (order_hash: Hex, { blockNumber, logIndex }: Pick<LogPlace, "blockNumber" | "logIndex">): Hex =>
  keccak256(concat([order_hash, ...[blockNumber, logIndex].map((number) => numberToHex(number, { size: 32 }))]));

/**
 * Counts units as filled, or the order as cancelled, whether it was ever seen whole or not. Returns what was known of it
 * before.
 */
export async function settleOrder(
  { store }: Context,
  { contractAddress: exchange_address, timestamp }: LogPlace,
  { order_hash, marketplace }: OrderKey,
  { units, isCancelled = false }: { units: bigint; isCancelled?: boolean },
): Promise<Row<"tradeOrder"> | null> {
  const before = await store.find("tradeOrder", { exchange_address, order_hash });
  // Seaport cancels what is cancelled already, and what is filled: that stays as it ended.
  const isOver = before?.is_cancelled || (before?.quantity != null && before.filled >= before.quantity);
  if (isCancelled && isOver) return before;
  const sum = (before?.filled ?? 0n) + units;
  const filled = sum > MAX_UINT256 ? MAX_UINT256 : sum;
  const is_cancelled = isCancelled || (before?.is_cancelled ?? false);
  const is_open = !is_cancelled && before?.quantity != null && filled < before.quantity;
  const state = { filled, is_cancelled, is_open, updated_timestamp: timestamp };
  if (before) await store.update("tradeOrder", { exchange_address, order_hash }, state);
  else await store.insert("tradeOrder", { ...state, exchange_address, order_hash, marketplace });
  return before;
}

/** Takes an order off the books, where one stands: it was taken, or what it was about is gone. */
export async function closeOrder(
  { store }: Context,
  { contractAddress: exchange_address, timestamp }: LogPlace,
  { order_hash, isTaken }: { order_hash: Hex; isTaken: boolean },
): Promise<void> {
  const before = await store.find("tradeOrder", { exchange_address, order_hash });
  if (!before) return;
  // Some contracts say that an offer is over, and only then that this was because it was taken.
  const isJustOver = before.updated_timestamp === timestamp;
  if (!before.is_open && !(isTaken && isJustOver)) return;
  const state = {
    is_open: false,
    is_cancelled: !isTaken,
    filled: isTaken ? (before.quantity ?? before.filled) : before.filled,
    updated_timestamp: timestamp,
  };
  await store.update("tradeOrder", { exchange_address, order_hash }, state);
}
