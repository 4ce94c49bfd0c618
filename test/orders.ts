import type { Sql } from "postgres";
import { addressOf, hashOf, ZERO } from "./api.ts";
import { ALICE, APES } from "./seed.ts";

export const EXCHANGE = addressOf(0x5ea);
export const CONDUIT = addressOf(0xc0d);
export const BROKER = addressOf(0xb20);
const NO_END = Number.MAX_SAFE_INTEGER;

/** The bytes of an address or a hash. */
export const bytesOf = (hex: string) => Buffer.from(hex.slice(2), "hex");

/** Puts a row into `trade_order` of the main network: Alice's listing of ape 1 for 1000 wei but for what is given. */
export async function placeOrder(sql: Sql, hash: number, order: Record<string, unknown> = {}): Promise<void> {
  const row = {
    side: "listing",
    maker: ALICE,
    contract_address: APES,
    token_id: "1",
    quantity: "1",
    currency_address: ZERO,
    start_amount: "1000",
    end_amount: order.start_amount ?? "1000",
    unit_price: order.amounts ? null : (order.start_amount ?? "1000"),
    amounts: null,
    start_time: 1_700_000_000,
    end_time: NO_END,
    counter: "0",
    operator: CONDUIT,
    taker: null,
    broker: BROKER,
    is_open: true,
    is_cancelled: false,
    filled: "0",
    marketplace: "seaport",
    placed_timestamp: 1_700_000_001,
    updated_timestamp: 1_700_000_001,
    exchange_address: EXCHANGE,
    order_hash: hashOf(hash),
    ...order,
  };
  const values = Object.entries(row).map(([name, value]) => [
    name,
    typeof value === "string" && value.startsWith("0x") ? bytesOf(value) : value,
  ]);
  await sql`insert into onchain_mainnet.trade_order ${sql(Object.fromEntries(values) as never)}`;
}

/** Nobody has put anything on sale, and nobody has approved or cancelled anything. */
export async function clearOrders(sql: Sql): Promise<void> {
  for (const table of ["trade_order", "order_counter", "raised_counter", "approval"])
    await sql.unsafe(`delete from onchain_mainnet.${table}`);
}
