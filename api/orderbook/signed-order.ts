import type { Sql } from "postgres";
import type { Hex } from "viem";
import { toBytes } from "../sql/database.ts";
import type { Sent } from "./order-room.ts";
import type { OrderComponents } from "./order-signature.ts";

/** Keeps a signed order. The same one twice is one. */
export async function insertOrder(
  sql: Sql,
  {
    chainId,
    exchange,
    orderHash,
    terms,
    order,
    operator,
    signature,
    now,
  }: Sent & {
    exchange: Hex;
    order: OrderComponents;
    operator: Hex;
    signature: Hex;
  },
): Promise<void> {
  const numeric = (value: bigint | null) => value?.toString() ?? null;
  const row = {
    chain_id: chainId,
    exchange_address: toBytes(exchange),
    order_hash: toBytes(orderHash),
    side: terms.side,
    maker: toBytes(terms.maker),
    contract_address: toBytes(terms.contract_address),
    token_id: numeric(terms.token_id),
    token_standard: terms.token_standard,
    quantity: numeric(terms.quantity),
    currency_address: toBytes(terms.currency_address),
    start_amount: numeric(terms.start_amount),
    end_amount: numeric(terms.end_amount),
    unit_price: numeric(terms.unit_price),
    amounts: terms.amounts,
    start_time: terms.start_time,
    end_time: terms.end_time,
    counter: numeric(order.counter),
    operator: toBytes(operator),
    taker: terms.taker === null ? null : toBytes(terms.taker),
    broker: toBytes(terms.broker),
    placed_timestamp: now,
    parameters: JSON.stringify(order, (_, value: unknown) => (typeof value === "bigint" ? value.toString() : value)),
    signature: toBytes(signature),
  };
  await sql`
    insert into offchain.signed_order ${sql(row)}
    on conflict do nothing
  `;
}
