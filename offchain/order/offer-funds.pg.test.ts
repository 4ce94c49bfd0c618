import { beforeEach, expect, test } from "vitest";
import { toBytes } from "../bytea.ts";
import { addressOf, hashOf, MAINNET_ID, ZERO } from "../../test/api.ts";
import { createReadableDatabase, useDatabase } from "../../test/database.ts";
import { EXCHANGE, placeOrder } from "../../test/orders.ts";
import type { Call, CallAnswer } from "../chain/call.ts";
import { readOfferFunds } from "./offer-funds.ts";

const CURRENCY = addressOf(0xd0);
const OTHER = addressOf(0xb0b);
/** More bidders than one call of `readOfferFunds` asks for. */
const MANY = 700;
const UNTOLD = "The node doesn't tell what bidders can pay.";

const { sql } = await useDatabase(createReadableDatabase, {
  max: 1,
  connection: { search_path: "offchain" },
});

beforeEach(() => sql`truncate signed_order, offer_funds, onchain_mainnet.trade_order`);

const inAnHour = () => Math.floor(Date.now() / 1000) + 3600;
/** Stores an offer that `maker` sent. */
const send = (hash: number, maker: string, more: Record<string, unknown> = {}) =>
  sql`insert into signed_order ${sql({
    chain_id: MAINNET_ID,
    exchange_address: toBytes(EXCHANGE),
    order_hash: toBytes(hashOf(hash)),
    side: "offer",
    maker: toBytes(maker),
    contract_address: toBytes(addressOf(0xc1)),
    quantity: 1,
    currency_address: toBytes(CURRENCY),
    start_amount: 1,
    end_amount: 1,
    start_time: 0,
    end_time: inAnHour(),
    counter: 0,
    operator: toBytes(EXCHANGE),
    broker: toBytes(EXCHANGE),
    placed_timestamp: 1,
    parameters: "{}",
    signature: Buffer.alloc(1),
    ...more,
  })}`;
/**
 * Reads once, with an answer of 7 for everybody, but for none in the currency `untold`. Returns who was asked for.
 */
async function read({ untold }: { untold?: string } = {}): Promise<string[]> {
  const asked: string[] = [];
  const readCalls = async (calls: Call[]) =>
    calls.map(({ to, data }): CallAnswer => {
      asked.push(`0x${data.slice(34, 74)}`);
      if (to === untold) return { kind: "fault", message: "Not asked: its contract takes long.", againSeconds: 600 };
      return { kind: "data", data: Buffer.from("7".padStart(64, "0"), "hex") };
    });
  await readOfferFunds(sql, { network: "mainnet", chainId: MAINNET_ID, readCalls });
  return [...new Set(asked)].toSorted();
}
const known = async () =>
  sql`select '0x' || encode(maker, 'hex') as maker, spendable::text from offer_funds order by maker`;
const pass = (seconds: number) =>
  sql`update offer_funds set checked_at = checked_at - ${seconds} * interval '1 second'`;

test("who sends an offer or puts one on the chain is asked for at once, then every twelve seconds", async () => {
  await send(1, addressOf(1));
  await send(2, addressOf(1), { token_id: 5 });
  await send(3, addressOf(3), { currency_address: toBytes(ZERO) });
  await send(4, addressOf(4), { side: "listing" });
  await placeOrder(sql, 5, { side: "offer", maker: OTHER, currency_address: CURRENCY });
  expect(await known()).toEqual([{ maker: addressOf(1), spendable: null }]);
  expect(await read()).toEqual([addressOf(1), OTHER]);
  expect(await known()).toEqual([
    { maker: addressOf(1), spendable: "7" },
    { maker: OTHER, spendable: "7" },
  ]);
  expect(await read()).toEqual([]);
  await pass(13);
  expect(await read()).toEqual([addressOf(1), OTHER]);
  await send(6, addressOf(1), { token_id: 6 });
  expect([await known(), await read()]).toEqual([
    [
      { maker: addressOf(1), spendable: "7" },
      { maker: OTHER, spendable: "7" },
    ],
    [addressOf(1)],
  ]);
});

test("who was asked for before the database's clock was set back is asked for again", async () => {
  await send(1, addressOf(1));
  expect([await read(), await read()]).toEqual([[addressOf(1)], []]);
  await pass(-18_000);
  expect([await read(), await read()]).toEqual([[addressOf(1)], []]);
});

test("who has no offer any more is forgotten at their next turn", async () => {
  await send(1, addressOf(1), { end_time: 1000 });
  await send(2, addressOf(2));
  await placeOrder(sql, 3, { side: "offer", maker: OTHER, currency_address: CURRENCY });
  expect(await read()).toEqual([addressOf(2), OTHER]);
  await sql`update onchain_mainnet.trade_order set is_open = false`;
  expect(await known()).toHaveLength(2);
  await pass(13);
  expect(await read()).toEqual([addressOf(2)]);
  expect(await known()).toEqual([{ maker: addressOf(2), spendable: "7" }]);
});

test("of more than one reading takes everybody has their turn", async () => {
  const bidders = Array.from({ length: MANY }, (_, n) => addressOf(0x1000 + n));
  for (const [n, maker] of bidders.entries()) await send(n, maker);
  const [first, second] = [await read(), await read()];
  expect([first.length, second.length]).toEqual([500, 200]);
  expect([...first, ...second].toSorted()).toEqual(bidders);
  expect(await read()).toEqual([]);
});

test("bidders in a currency that takes too long to answer keep nobody else from their turn", async () => {
  const slow = addressOf(0xd1);
  const fundsOfSlow = () =>
    sql`select distinct spendable::text from offer_funds where currency_address = ${toBytes(slow)}`;
  await send(500, OTHER);
  for (let n = 0; n < 500; n++) await send(n, addressOf(0x1000 + n), { currency_address: toBytes(slow) });
  await sql`update offer_funds set checked_at = checked_at - interval '1 minute' where currency_address = ${toBytes(slow)}`;
  await expect(read({ untold: slow })).rejects.toThrow(UNTOLD);
  expect(await read({ untold: slow })).toEqual([OTHER]);
  expect(await fundsOfSlow()).toEqual([{ spendable: null }]);
  // What was told of them before stands.
  await sql`update offer_funds set spendable = 5`;
  await pass(13);
  await expect(read({ untold: slow })).rejects.toThrow(UNTOLD);
  expect(await fundsOfSlow()).toEqual([{ spendable: "5" }]);
});
