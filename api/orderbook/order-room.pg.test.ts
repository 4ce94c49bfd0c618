import type { Hex } from "viem";
import { beforeEach, describe, expect, test } from "vitest";
import { toBytes } from "../../offchain/bytea.ts";
import type { Terms } from "../../abis/seaport-order.ts";
import { addressOf, hashOf, MAINNET_ID } from "../../test/api.ts";
import { createReadableDatabase, useDatabase } from "../../test/database.ts";
import { EXCHANGE } from "../../test/orders.ts";
import { makeRoom, requireRoom } from "./order-room.ts";

const NOW = 1_750_000_000;
const LATER = NOW + 1000;
const OTHER_CHAIN = String(MAINNET_ID + 1);
const CONTRACT = addressOf(0xc1) as Hex;
const MAKER = addressOf(0xa1) as Hex;
const OTHER = addressOf(0xa2) as Hex;
const WRAPPED_ETHER = "0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2";
const DOLLARS = addressOf(0xd0) as Hex;
/** The hash of the order that is sent. */
const SENT = 1_000_000;

const { sql } = await useDatabase(createReadableDatabase, {
  max: 1,
  connection: { search_path: "onchain_mainnet,offchain" },
});

beforeEach(() => sql`truncate signed_order, trade_order, order_counter, offer_funds`);

const address = (hex: string) => `'\\x${hex.slice(2)}'::bytea`;
const HASH = "decode(lpad(to_hex(i), 64, '0'), 'hex')";

/**
 * Stores `count` orders of one maker with the hashes `from` and up. `columns` overrides columns, as SQL of the hash
 * `i`.
 */
async function store(from: number, count: number, columns: Record<string, string> = {}): Promise<void> {
  const row = {
    chain_id: String(MAINNET_ID),
    exchange_address: address(EXCHANGE),
    order_hash: HASH,
    side: "'offer'",
    maker: address(MAKER),
    contract_address: address(CONTRACT),
    token_id: "null",
    quantity: "1",
    currency_address: address(WRAPPED_ETHER),
    start_amount: "1",
    end_amount: "1",
    start_time: "0",
    end_time: String(LATER),
    counter: "0",
    operator: address(EXCHANGE),
    broker: address(EXCHANGE),
    placed_timestamp: "i",
    parameters: "'{}'",
    signature: "'\\x00'",
    ...columns,
  };
  await sql.unsafe(`
    insert into signed_order (${Object.keys(row).join(", ")})
    select ${Object.values(row).join(", ")}
    from generate_series(${from}, ${from + count - 1}) as i
  `);
}

const sentOf = (terms: Partial<Terms> = {}) => ({
  chainId: MAINNET_ID,
  now: NOW,
  terms: {
    side: "offer",
    maker: MAKER,
    contract_address: CONTRACT,
    token_id: null,
    currency_address: WRAPPED_ETHER,
    ...terms,
  } as Terms,
  orderHash: hashOf(SENT) as Hex,
});
const room = async (terms: Partial<Terms> = {}) =>
  requireRoom(sql, sentOf(terms)).then(
    () => "room",
    (error: Error) => error.message,
  );
const hashes = async () =>
  (await sql<{ order_hash: Buffer }[]>`select order_hash from signed_order order by order_hash`).map(({ order_hash }) =>
    Number(BigInt(`0x${order_hash.toString("hex")}`)),
  );
const range = (from: number, count: number) => Array.from({ length: count }, (_, n) => from + n);

describe("of one maker", () => {
  const FULL = "100 orders of the offerer stand for any token of the contract already. Expected fewer.";

  test("a hundred stand for the same, whoever may take them and whenever they begin", async () => {
    await store(1, 99, { start_time: `case when i > 50 then ${LATER} - 1 else 0 end`, taker: address(OTHER) });
    await store(201, 1, { chain_id: OTHER_CHAIN });
    expect(await room()).toBe("room");
    await store(SENT, 1);
    expect(await room()).toBe("room");
    await store(100, 1);
    expect(await room()).toBe(FULL);
    expect(await room({ token_id: 1n })).toBe("room");
    expect(await room({ maker: OTHER })).toBe("room");
  });

  test("what is filled, cancelled, disowned, under an earlier counter or over doesn't count", async () => {
    await store(1, 100);
    expect(await room()).toBe(FULL);
    const settle = (how: string, hash: number) =>
      sql.unsafe(`
        insert into trade_order (exchange_address, order_hash, marketplace, is_open, is_cancelled, filled, updated_timestamp)
        select ${address(EXCHANGE)}, ${HASH}, 'seaport', ${how}, 0 from (values (${hash})) as one (i)
      `);
    await settle("false, false, 1", 1);
    expect(await room()).toBe("room");
    await store(101, 1);
    expect(await room()).toBe(FULL);
    await settle("false, true, 0", 2);
    expect(await room()).toBe("room");
    await store(102, 1, { end_time: String(NOW) });
    await store(104, 1, { is_disowned: "true" });
    expect(await room()).toBe("room");
    await store(103, 1);
    expect(await room()).toBe(FULL);
    await sql.unsafe(`insert into order_counter values (${address(EXCHANGE)}, ${address(MAKER)}, 7)`);
    expect(await room()).toBe("room");
  });

  test("but no more than a thousand of these are waited for until they are over", async () => {
    await sql.unsafe(`insert into order_counter values (${address(EXCHANGE)}, ${address(MAKER)}, 7)`);
    await store(1, 999);
    expect(await room()).toBe("room");
    await store(1000, 1);
    expect(await room()).toMatch(/^1000 orders of the offerer for any token of the contract have not ended/);
  });

  test("ten thousand are waited for in all", async () => {
    await store(1, 9999, { token_id: "i", side: "case when i % 2 = 0 then 'offer' else 'listing' end" });
    await store(20_001, 5, { end_time: String(NOW) });
    await store(20_006, 5, { maker: address(OTHER) });
    await store(20_011, 5, { chain_id: OTHER_CHAIN });
    expect(await room()).toBe("room");
    await store(SENT, 1);
    expect(await room()).toBe("room");
    await store(10_000, 1, { token_id: "i" });
    expect(await room()).toMatch(/^10000 orders of the offerer have not ended, for whatever token/);
    expect(await room({ maker: OTHER })).toBe("room");
  });

  test("those that are over are kept as far as a history shows them", async () => {
    await store(1, 300, { end_time: String(NOW) });
    await store(301, 1);
    await store(401, 1, { end_time: String(NOW), maker: address(OTHER) });
    await store(402, 1, { end_time: String(NOW), token_id: "1" });
    await store(403, 1, { end_time: String(NOW), side: "'listing'" });
    await store(404, 1, { end_time: String(NOW), chain_id: OTHER_CHAIN });
    await makeRoom(sql, sentOf());
    expect(await hashes()).toEqual([...range(51, 251), ...range(401, 4)]);
  });
});

describe("of offers in a currency that isn't the chain's own", () => {
  const inDollars = { currency_address: address(DOLLARS) };
  const send = async (amount: number) => {
    await store(SENT, 1, { ...inDollars, start_amount: String(amount), end_amount: String(amount) });
    return makeRoom(sql, sentOf({ currency_address: DOLLARS })).then(
      () => "kept",
      (error: Error) => error.message,
    );
  };

  test("the thousand highest are kept, so that worthless ones shut nobody out", async () => {
    const amount = { start_amount: "i", end_amount: "i" };
    await store(1, 1000, { ...inDollars, ...amount });
    await store(2001, 1, { ...inDollars, token_id: "1" });
    await store(2002, 1);
    await store(2003, 1, { currency_address: address(addressOf(0xd1)) });
    expect(await send(2)).toBe("kept");
    expect(await hashes()).toEqual([...range(2, 999), ...range(2001, 3), SENT]);
    await sql`delete from signed_order where order_hash = ${toBytes(hashOf(SENT))}`;
    await store(1, 1, { ...inDollars, ...amount });
    expect(await send(1)).toBe(
      `1000 offers in ${DOLLARS} stand for any token of the contract that are as high. Expected a higher one.`,
    );
    expect(await hashes()).toEqual([...range(1, 1000), ...range(2001, 3)]);
    // Of equal offers, the one that was there first is kept.
    await sql.unsafe(
      `update signed_order set order_hash = decode(repeat('ff', 32), 'hex') where order_hash = '\\x${hashOf(1).slice(2)}'`,
    );
    expect(await send(1)).toMatch(/Expected a higher one/);
  });

  test("high is what is paid for one unit, and the same hash on another chain or exchange is another order", async () => {
    await store(1, 1000, {
      ...inDollars,
      quantity: "case when i = 7 then 4 else 1 end",
      start_amount: "case when i = 7 then 36 else 10 end",
      end_amount: "case when i = 7 then 36 else 10 end",
    });
    await store(7, 1, { ...inDollars, chain_id: OTHER_CHAIN, start_amount: "10" });
    await store(7, 1, { ...inDollars, exchange_address: address(OTHER), token_id: "1" });
    expect(await send(10)).toBe("kept");
    expect(await hashes()).toEqual([...range(1, 7), 7, ...range(8, 993), SENT]);
  });

  test("those that could not be filled go first", async () => {
    const high = { ...inDollars, start_amount: "1000000", end_amount: "1000000" };
    await store(1, 999, inDollars);
    await store(2001, 2, high);
    await store(2003, 1, { ...high, maker: address(OTHER) });
    await store(2004, 1, { ...high, start_time: String(LATER) });
    await store(2005, 1, { ...high, is_disowned: "true" });
    await sql.unsafe(`
      insert into trade_order (exchange_address, order_hash, marketplace, is_open, is_cancelled, filled, updated_timestamp)
      select ${address(EXCHANGE)}, ${HASH}, 'seaport', false, i = 2001, i - 2001, 0 from generate_series(2001, 2002) as i
    `);
    await sql.unsafe(`insert into order_counter values (${address(EXCHANGE)}, ${address(OTHER)}, 7)`);
    expect(await send(1)).toBe("kept");
    expect(await hashes()).toEqual([...range(1, 999), SENT]);
  });

  test("those whose makers don't have the money any more go first", async () => {
    await store(1, 1000, { ...inDollars, start_amount: "1000000", end_amount: "1000000" });
    await store(1001, 1, { ...inDollars, maker: address(OTHER) });
    await sql.unsafe(
      `update offer_funds set spendable = 9 where currency_address = ${address(DOLLARS)} and maker = ${address(MAKER)}`,
    );
    await sql.unsafe(`update signed_order set maker = ${address(OTHER)} where order_hash = '\\x${hashOf(7).slice(2)}'`);
    expect(await send(1)).toBe("kept");
    const left = await hashes();
    expect([left.length, left.includes(7), left.includes(1001)]).toEqual([1000, true, true]);
  });

  test("in the chain's own more are kept", async () => {
    await store(1, 1001);
    await makeRoom(sql, sentOf());
    expect(await hashes()).toHaveLength(1001);
  });
});

describe("of offers in all currencies", () => {
  const send = async (amount: number, columns: Record<string, string> = {}) => {
    await store(SENT, 1, { start_amount: String(amount), end_amount: String(amount), ...columns });
    return makeRoom(sql, sentOf()).then(
      () => "kept",
      (error: Error) => error.message,
    );
  };
  const FULL =
    "5000 offers stand for any token of the contract that are as high. Expected a higher one in the chain's own currency.";

  test("five thousand are kept: those left behind without money go first, then those in other currencies, then the lowest", async () => {
    const high = { start_amount: "1000000", end_amount: "1000000" };
    await store(1, 3, { ...high, maker: address(OTHER) });
    await sql.unsafe(`update offer_funds set spendable = 9 where maker = ${address(OTHER)}`);
    await store(1001, 4, { ...high, currency_address: "decode(lpad(to_hex(i), 40, '0'), 'hex')" });
    await store(2001, 4998, { start_amount: "i", end_amount: "i" });
    await store(9001, 1, { token_id: "1" });
    expect(await send(5)).toBe("kept");
    expect(await hashes()).toEqual([1001, ...range(2001, 4998), 9001, SENT]);
  });

  test("and one that is lower than all these is refused", async () => {
    await store(1, 5000, { start_amount: "10", end_amount: "10" });
    expect(await send(10)).toBe(FULL);
    expect(await send(11)).toBe("kept");
    expect(await hashes()).toEqual([...range(1, 4999), SENT]);
  });
});

describe("of listings of one token", () => {
  const listing = { side: "'listing'", token_id: "1", token_standard: "'ERC721'" };
  const send = async (price: number, columns: Record<string, string> = {}, token_id = 1n) => {
    await store(SENT, 1, { ...listing, start_amount: String(price), end_amount: String(price), ...columns });
    return makeRoom(sql, sentOf({ side: "listing", token_id })).then(
      () => "kept",
      (error: Error) => error.message,
    );
  };

  test("the thousand cheapest that stand are kept, whoever signed so many", async () => {
    await sql.unsafe(`
      insert into token (contract_address, token_id, standard, owner) values (${address(CONTRACT)}, 1, 'ERC721', ${address(MAKER)})
    `);
    const price = { start_amount: "i", end_amount: "i" };
    // Cheaper, but from a maker who no longer has the token, or disowned; and one listing of another token.
    await store(1, 100, { ...listing, ...price, maker: address(OTHER) });
    await store(101, 1, { ...listing, ...price, is_disowned: "true" });
    await store(1001, 950, { ...listing, ...price });
    await store(5000, 1, { ...listing, ...price, token_id: "2" });
    expect(await send(2000)).toBe("kept");
    expect(await hashes()).toEqual([...range(1, 49), ...range(1001, 950), 5000, SENT]);
    await sql`delete from signed_order where order_hash = ${toBytes(hashOf(SENT))}`;
    await store(3001, 50, { ...listing, ...price });
    expect(await send(9000)).toMatch(/^1000 listings stand for token 1 that are as cheap. Expected a lower price/);
    expect(await hashes()).toEqual([...range(1001, 950), ...range(3001, 50), 5000]);
    expect(await send(1)).toBe("kept");
    expect(await hashes()).toEqual([...range(1001, 950), ...range(3001, 49), 5000, SENT]);
  });

  test("cheap is what asks least for one unit in the chain's own currency, and of the same the one that was there first", async () => {
    await sql.unsafe(`
      insert into token (contract_address, token_id, standard) values (${address(CONTRACT)}, 3, 'ERC1155');
      insert into ownership values (${address(CONTRACT)}, 3, ${address(MAKER)}, 4, 1, 0, 0);
    `);
    const units = { token_id: "3", token_standard: "'ERC1155'" };
    await store(1, 1000, {
      ...listing,
      ...units,
      quantity: "case when i = 7 then 4 else 1 end",
      start_amount: "case when i = 7 then 36 else 10 end",
      end_amount: "case when i = 7 then 36 else 10 end",
    });
    // One in another currency, one that hasn't begun, one that is cancelled.
    await store(2001, 3, {
      ...listing,
      ...units,
      currency_address: `case when i = 2001 then ${address(DOLLARS)} else ${address(WRAPPED_ETHER)} end`,
      start_time: `case when i = 2002 then ${LATER} - 1 else 0 end`,
    });
    await sql.unsafe(`
      insert into trade_order (exchange_address, order_hash, marketplace, is_open, is_cancelled, filled, updated_timestamp)
      select ${address(EXCHANGE)}, ${HASH}, 'seaport', false, true, 0, 0 from (values (2003)) as one (i)
    `);
    expect(await send(10, units, 3n)).toMatch(/^1000 listings stand for token 3 that are as cheap/);
    expect(await hashes()).toEqual(range(1, 1000));
  });
});
