import type { Sql } from "postgres";
import { toBytes } from "../offchain/bytea.ts";
import { addressOf, hashOf, MAINNET_ID, ZERO } from "./api.ts";
import { ALICE, APES, ITEMS, PUNKS } from "./seed.ts";

export const EXCHANGE = addressOf(0x5ea);
export const CONDUIT = addressOf(0xc0d);
export const BROKER = addressOf(0xb20);
const NO_END = Number.MAX_SAFE_INTEGER;

/** Alice's listing of ape 1 for 1000 wei but for what is given. */
const orderOf = (hash: number, order: Record<string, unknown>) => ({
  side: "listing",
  maker: ALICE,
  contract_address: APES,
  token_id: "1",
  token_standard: order.contract_address === PUNKS ? null : order.contract_address === ITEMS ? "ERC1155" : "ERC721",
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
  placed_timestamp: 1_700_000_001,
  exchange_address: EXCHANGE,
  order_hash: hashOf(hash),
});

async function insertOrder(sql: Sql, table: string, order: Record<string, unknown>): Promise<void> {
  const values = Object.entries(order).map(([name, value]) => [
    name,
    typeof value === "string" && value.startsWith("0x") ? toBytes(value) : value,
  ]);
  await sql`insert into ${sql(table)} ${sql(Object.fromEntries(values) as never)}`;
}

/** Puts a row into `trade_order` of the main network: Alice's listing of ape 1 for 1000 wei but for what is given. */
export async function placeOrder(sql: Sql, hash: number, order: Record<string, unknown> = {}): Promise<void> {
  const state = { is_open: true, is_cancelled: false, filled: "0", marketplace: "seaport" };
  const row = { ...orderOf(hash, order), ...state, updated_timestamp: 1_700_000_001, ...order };
  await insertOrder(sql, "onchain_mainnet.trade_order", row);
}

/** The same as an order that its maker sent here. */
export async function storeOrder(sql: Sql, hash: number, order: Record<string, unknown> = {}): Promise<void> {
  const sent = { chain_id: MAINNET_ID, parameters: "{}", signature: "0x00" };
  await insertOrder(sql, "offchain.signed_order", { ...orderOf(hash, order), ...sent, ...order });
}

/** Nobody has put anything on sale, and nobody has approved or cancelled anything. */
export async function clearOrders(sql: Sql): Promise<void> {
  for (const table of ["trade_order", "order_counter", "raised_counter", "approval"])
    await sql.unsafe(`delete from onchain_mainnet.${table}`);
}
