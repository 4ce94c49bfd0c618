import { concat, type Hex, keccak256, numberToHex } from "viem";
import type { LogPlace } from "./movement.ts";
import { MAX_UINT256 } from "./limits.ts";
import { NO_END, type Terms } from "../abis/seaport-order.ts";
import type { Marketplace } from "./sale.ts";
import type { Context, Row } from "./store.ts";

type OrderKey = { marketplace: Marketplace; order_hash: Hex };

/** Writes an order's terms. Its fills and its cancellation may be known before them, and are kept. */
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

/**
 * An order at an exchange with one order of a kind for each token. It has no end: it stands until it is replaced or
 * closed.
 */
type StandingOrder = Pick<Terms, "side" | "maker" | "contract_address" | "currency_address" | "taker"> & {
  token_id: bigint;
  amount: bigint;
  operator: Hex | null;
};

/** Writes a standing order. The order that stood under this hash is over, and is kept under a hash of its own. */
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

/** The hash for an order that a log has replaced. */
const hashOfReplaced = (order_hash: Hex, { blockNumber, logIndex }: Pick<LogPlace, "blockNumber" | "logIndex">): Hex =>
  keccak256(concat([order_hash, ...[blockNumber, logIndex].map((number) => numberToHex(number, { size: 32 }))]));

/**
 * Adds filled units to an order, or notes its cancellation, also where its terms were never seen. Returns the row from
 * before.
 */
export async function settleOrder(
  { store }: Context,
  { contractAddress: exchange_address, timestamp }: Pick<LogPlace, "contractAddress" | "timestamp">,
  { order_hash, marketplace }: OrderKey,
  { units, isCancelled = false }: { units: bigint; isCancelled?: boolean },
): Promise<Row<"tradeOrder"> | null> {
  const before = await store.find("tradeOrder", { exchange_address, order_hash });
  // Seaport also logs cancellations of orders that are filled or cancelled already: these keep how they ended.
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

/** Closes the order, where there is one, as taken or as cancelled. */
export async function closeOrder(
  { store }: Context,
  { contractAddress: exchange_address, timestamp }: LogPlace,
  { order_hash, isTaken }: { order_hash: Hex; isTaken: boolean },
): Promise<void> {
  const before = await store.find("tradeOrder", { exchange_address, order_hash });
  if (!before) return;
  // Some contracts log that an offer is over before they log, in the same block, that it was taken.
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
