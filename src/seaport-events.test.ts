import { type AbiEvent, encodeAbiParameters, encodeEventTopics, type Hex, numberToHex, zeroHash } from "viem";
import { describe, expect, test } from "vitest";
import { SEAPORT_ADDRESSES, seaportAbi } from "../abis/seaport.ts";
import { NO_END } from "../abis/seaport-order.ts";
import { readConfig } from "../config.ts";
import type { ChainLog } from "../history/chain-log.ts";
import { listSources, type Source } from "../sources.ts";
import { applyLogs, createTables, textsOf } from "../test/memory-store.ts";
import { createSalesState } from "./record-sale.ts";
import { logOf as logAs, transferLog, word, words } from "../test/raw-log.ts";

const sourcesOf = (env: Record<string, string> = {}) =>
  listSources(readConfig({ MAINNET_RPC_URL: "http://localhost:1", ...env }), { network: "mainnet", chainId: 1 });
const sources = sourcesOf();
const [OLD, SEAPORT] = [SEAPORT_ADDRESSES[0], SEAPORT_ADDRESSES[5]] as [Hex, Hex];
const [ANNE, BEN, CRANES] = ["aa", "bb", "71"].map((byte): Hex => `0x${byte.repeat(20)}`) as [Hex, Hex, Hex];
const ZERO: Hex = `0x${"0".repeat(40)}`;
const HASH = numberToHex(1, { size: 32 });

type Written = { address: Hex; topics: Hex[]; data: Hex } & Partial<
  Pick<ChainLog, "blockNumber" | "blockHash" | "logIndex" | "timestamp" | "transactionHash">
>;

function logOf(eventName: string, args: Record<string, unknown>, address = SEAPORT): Written {
  const event = seaportAbi.find((item): item is AbiEvent & typeof item => "name" in item && item.name === eventName)!;
  const plain = (event as AbiEvent).inputs.filter(({ indexed }) => !indexed);
  return {
    address,
    topics: encodeEventTopics({ abi: [event], args } as never) as Hex[],
    data: encodeAbiParameters(
      plain,
      plain.map(({ name }) => args[name!]),
    ),
  };
}

const nft = { itemType: 3, token: CRANES, identifierOrCriteria: 7n, startAmount: 4n, endAmount: 4n };
const coin = { itemType: 0, token: ZERO, identifierOrCriteria: 0n, startAmount: 400n, endAmount: 400n };
const validatedWith = (changes: Record<string, unknown>, address = SEAPORT) =>
  logOf(
    "OrderValidated",
    {
      orderHash: HASH,
      orderParameters: {
        offerer: ANNE,
        zone: ZERO,
        offer: [nft],
        consideration: [{ ...coin, recipient: ANNE }],
        orderType: 1,
        startTime: 0n,
        endTime: 2n ** 40n,
        zoneHash: zeroHash,
        salt: 0n,
        conduitKey: zeroHash,
        totalOriginalConsiderationItems: 1n,
        ...changes,
      },
    },
    address,
  );
/** Anne's listing of four units. */
const validated = validatedWith({});
const filled = (units: bigint, ...tips: Record<string, unknown>[]) => filledFor(100n * units, units, ...tips);
const filledFor = (price: bigint, units: bigint, ...tips: Record<string, unknown>[]) =>
  logOf("OrderFulfilled", {
    orderHash: HASH,
    offerer: ANNE,
    zone: ZERO,
    recipient: BEN,
    offer: [{ itemType: 3, token: CRANES, identifier: 7n, amount: units }],
    consideration: [{ itemType: 0, token: ZERO, identifier: 0n, amount: price, recipient: ANNE }, ...tips],
  });
const cancelled = logOf("OrderCancelled", { orderHash: HASH, offerer: ANNE, zone: ZERO });
const raised = (newCounter: bigint, { by = ANNE, at = SEAPORT } = {}) =>
  logOf("CounterIncremented", { newCounter, offerer: by }, at);

/** The tables after these logs, one each ten seconds from 10 on. */
const tablesAfter = (...written: Written[]) => tablesOf(sources, written);

async function tablesOf(sources: Source[], written: Written[]) {
  const logs = written.map((log, index): ChainLog => ({
    blockNumber: index + 1,
    timestamp: (index + 1) * 10,
    logIndex: 0,
    blockHash: numberToHex(index, { size: 32 }),
    transactionHash: numberToHex(index, { size: 32 }),
    ...log,
    sender: BEN,
    note: null,
  }));
  const tables = createTables();
  await applyLogs(tables, logs, { sources });
  return tables;
}

async function orderAfter(...logs: Written[]) {
  const [order] = [...(await tablesAfter(...logs)).get("tradeOrder")!.values()];
  const { is_open, is_cancelled, updated_timestamp } = order!;
  return { is_open, is_cancelled, updated_timestamp };
}

test("an order leaves a row where it names a token that is indexed, by its contract or the adapter of it", async () => {
  const [storefront, adapter] = [
    "0x495f947276749ce646f68ac8c248420045cb7b5e",
    "0xa604060890923ff400e8c6f5290461a83aedacec",
  ];
  const filledWith = (token: Hex) =>
    logOf("OrderFulfilled", {
      orderHash: HASH,
      offerer: ANNE,
      zone: ZERO,
      recipient: BEN,
      offer: [{ itemType: 1, token: BEN, identifier: 0n, amount: 100n }],
      consideration: [{ itemType: 3, token, identifier: 7n, amount: 1n, recipient: ANNE }],
    });
  const countRows = async (contracts: string, token: Hex) => {
    const indexed = sourcesOf({ MAINNET_CONTRACTS: contracts });
    const placed = validatedWith({ offer: [{ ...nft, token }] });
    const tables = [await tablesOf(indexed, [filledWith(token)]), await tablesOf(indexed, [placed, filledWith(token)])];
    const [filledAlone, placedBefore] = tables.map((each) => each.get("tradeOrder")!.size);
    expect(placedBefore).toBe(filledAlone);
    return filledAlone;
  };
  expect(await countRows("*", CRANES)).toBe(1);
  expect(await countRows(`${BEN},${CRANES}`, CRANES)).toBe(1);
  expect(await countRows(ANNE, CRANES)).toBe(0);
  expect(await countRows(storefront, adapter as Hex)).toBe(1);
});

test("an order is cancelled when it is cancelled first", async () => {
  const gone = { is_open: false, is_cancelled: true };
  expect(await orderAfter(validated, cancelled)).toEqual({ ...gone, updated_timestamp: 20 });
  expect(await orderAfter(validated, cancelled, cancelled)).toEqual({ ...gone, updated_timestamp: 20 });
  expect(await orderAfter(validated, filled(1n), cancelled, cancelled)).toEqual({ ...gone, updated_timestamp: 30 });
  // One that was only signed.
  expect(await orderAfter(cancelled, cancelled)).toEqual({ ...gone, updated_timestamp: 10 });
});

test("units that an offer has bought are those of the token that it wants", async () => {
  const placed = validatedWith({
    offer: [{ ...coin, itemType: 1, token: BEN }],
    consideration: [{ ...nft, recipient: ANNE }],
  });
  const taken = (units: bigint) =>
    logOf("OrderFulfilled", {
      orderHash: HASH,
      offerer: ANNE,
      zone: ZERO,
      recipient: BEN,
      offer: [{ itemType: 1, token: BEN, identifier: 0n, amount: 100n * units }],
      consideration: [{ itemType: 3, token: CRANES, identifier: 7n, amount: units, recipient: ANNE }],
    });
  expect(await orderAfter(placed, taken(3n))).toMatchObject({ is_open: true });
  expect(await orderAfter(placed, taken(3n), taken(1n))).toMatchObject({ is_open: false, is_cancelled: false });
});

test("an order that is wholly filled stays so", async () => {
  const done = { is_open: false, is_cancelled: false };
  expect(await orderAfter(validated, filled(4n), cancelled)).toEqual({ ...done, updated_timestamp: 20 });
  expect(await orderAfter(validated, filled(1n), filled(3n), cancelled)).toEqual({ ...done, updated_timestamp: 30 });
});

test("nor is it on sale where its maker puts it on the chain once it is filled or cancelled", async () => {
  expect(await orderAfter(filled(4n), validated)).toMatchObject({ is_open: false, is_cancelled: false });
  expect(await orderAfter(filled(3n), validated)).toMatchObject({ is_open: true });
  expect(await orderAfter(cancelled, validated)).toMatchObject({ is_open: false, is_cancelled: true });
  expect(await orderAfter(cancelled, filled(1n))).toMatchObject({ is_open: false, is_cancelled: true });
});

test("units that a listing has sold are its own, not those of a token that its buyer adds", async () => {
  const tip = { itemType: 3, token: BEN, identifier: 1n, amount: 9n, recipient: ANNE };
  expect(await orderAfter(validated, filled(1n, tip))).toMatchObject({ is_open: true });
});

test("a listing of which the chain has the terms is sold for what was asked, whatever its buyer adds for others", async () => {
  const moved = (id: bigint, units: bigint) => ({
    address: CRANES,
    ...logAs("TransferSingle(address,address,address,uint256,uint256)", [SEAPORT, ANNE, BEN], words(id, units)),
  });
  const salesAfter = async (...logs: Written[]) => {
    const one = { blockNumber: 1, blockHash: HASH, transactionHash: HASH };
    const inOne = logs.map((log, logIndex) => ({ ...log, ...one, logIndex }));
    const tables = await tablesAfter(...inOne);
    return [...tables.get("tokenEvent")!.values()]
      .filter(({ event_type }) => event_type === "sale")
      .map(({ token_id, price, currency_address, price_note, broker }) => [
        token_id,
        price,
        currency_address,
        price_note,
        broker,
      ]);
  };
  const tip = (itemType: number, token: Hex, amount = 1n) => ({
    itemType,
    token,
    identifier: 0n,
    amount,
    recipient: OLD,
  });
  const added = [tip(1, BEN), tip(0, ZERO, 5n), tip(3, CRANES)];
  // More in its own currency is paid for the token too.
  expect(await salesAfter(validated, filled(1n, ...added), moved(7n, 1n), moved(0n, 1n))).toEqual([
    [7n, 105n, ZERO, null, OLD],
  ]);
  // One that was only signed: what was added may have been asked.
  expect(await salesAfter(filled(1n, tip(1, BEN)), moved(7n, 1n))).toEqual([
    [7n, null, null, "several currencies", OLD],
  ]);
  // A private one asks for its own token again.
  const again = { ...nft, recipient: OLD };
  const priv = validatedWith({ consideration: [{ ...coin, recipient: ANNE }, again] });
  const back = { itemType: 3, token: CRANES, identifier: 7n, amount: 1n, recipient: OLD };
  expect(await salesAfter(priv, filled(1n, back, ...added), moved(7n, 1n))).toEqual([[7n, 105n, ZERO, null, OLD]]);
});

test("units filled add up to no more than any token can have", async () => {
  const all = filledFor(1n, 2n ** 256n - 1n);
  const [order] = [...(await tablesAfter(all, all)).get("tradeOrder")!.values()];
  expect(order).toMatchObject({ filled: 2n ** 256n - 1n });
});

test("an order that is put on the chain is under the counter that its maker has", async () => {
  const counterAfter = async (...logs: Written[]) =>
    [...(await tablesAfter(...logs)).get("tradeOrder")!.values()].map(({ counter }) => counter);
  expect(await counterAfter(validated)).toEqual([0n]);
  expect(await counterAfter(raised(7n), raised(9n, { by: BEN }), raised(8n, { at: OLD }), validated)).toEqual([7n]);
});

test("whom the maker of an order must have approved is told by its conduit key, and by what it offers", async () => {
  const adapter: Hex = "0xa604060890923ff400e8c6f5290461a83aedacec";
  const openSeas: Hex = "0x0000007b02230091a7ed01230072f7006a004d60a8d4e71d599b8104250f0000";
  const operatorsAfter = async (changes: Record<string, unknown>, exchange?: Hex) =>
    [...(await tablesAfter(validatedWith(changes, exchange))).get("tradeOrder")!.values()].map(
      ({ operator }) => operator,
    );
  expect(await operatorsAfter({})).toEqual([SEAPORT]);
  expect(await operatorsAfter({ conduitKey: openSeas })).toEqual(["0x1e0049783f008a0085193e00003d00cd54003c71"]);
  const storefront = { offer: [{ ...nft, token: adapter }] };
  expect(await operatorsAfter({ ...storefront, conduitKey: openSeas })).toEqual([adapter]);
  // It obeys no other: nobody can fill the order.
  expect(await operatorsAfter(storefront)).toEqual([]);
  // Where Seaport lives elsewhere, OpenSea's conduit doesn't follow from its key.
  const elsewhere: Hex = "0x00000000006687982678b03100b9bdc8be440814";
  const conduitKey = "0x86d26897267711ea4b173c8c124a0a73612001da35562f1ee3b26929b6575e89";
  expect(await operatorsAfter({ conduitKey }, elsewhere)).toEqual(["0x00000000001566479594a2e05532d81afa09bc52"]);
});

test("each approval of an operator is kept, and each that is taken back", async () => {
  const approved = (by: Hex, value: bigint) => ({
    address: CRANES,
    ...logAs("ApprovalForAll(address,address,bool)", [by, SEAPORT], words(value)),
  });
  const tables = await tablesAfter(approved(ANNE, 1n), approved(ANNE, 0n), approved(BEN, 1n));
  const row = { contract_address: CRANES, operator: SEAPORT };
  expect([...tables.get("approval")!.values()]).toMatchObject([
    { ...row, block_number: 1, owner: ANNE, is_approved: true },
    { ...row, block_number: 2, owner: ANNE, is_approved: false },
    { ...row, block_number: 3, owner: BEN, is_approved: true },
  ]);
});

describe("a punk", () => {
  const market: Hex = "0xb47e3cd837ddf8e4c57f05d70ab865de6e193bbb";
  const [punk, of] = [numberToHex(7n, { size: 32 }), (address: Hex) => numberToHex(BigInt(address), { size: 32 })];
  const log = (signature: string, topics: Hex[], ...values: bigint[]) => ({
    address: market,
    ...logAs(signature, topics, words(...values)),
  });
  const assigned = log("Assign(address,uint256)", [of(ANNE)], 7n);
  const offered = (amount: bigint, { to = ZERO } = {}) =>
    log("PunkOffered(uint256,uint256,address)", [punk, of(to)], amount);
  const notForSale = log("PunkNoLongerForSale(uint256)", [punk]);
  const bid = (amount: bigint, by: Hex) => log("PunkBidEntered(uint256,uint256,address)", [punk, of(by)], amount);
  const bought = (by: Hex, amount: bigint) =>
    log("PunkBought(uint256,uint256,address,address)", [punk, of(ANNE), of(by)], amount);
  const ordersAfter = async (...logs: Written[]) =>
    [...(await tablesAfter(...logs)).get("tradeOrder")!.values()]
      .map((order) =>
        [order.start_amount, order.is_open, order.is_cancelled, order.filled, order.updated_timestamp].join(" "),
      )
      .toSorted();

  test("has what was offered and bid for it before", async () => {
    expect(
      await ordersAfter(
        assigned,
        offered(100n),
        notForSale,
        offered(90n),
        bid(50n, BEN),
        bid(60n, CRANES),
        bought(BEN, 90n),
        offered(200n),
      ),
    ).toEqual([
      "100 false true 0 30",
      "200 true false 0 80",
      "50 false true 0 60",
      "60 true false 0 60",
      "90 false false 1 70",
    ]);
  });

  test("is sold where its market says in the same block that it is no longer for sale", async () => {
    expect(await ordersAfter(assigned, offered(90n), { ...notForSale, timestamp: 40 }, bought(BEN, 90n))).toEqual([
      "90 false false 1 40",
    ]);
    // In an earlier one that was something else.
    expect(await ordersAfter(assigned, offered(90n), notForSale, bought(BEN, 90n))).toEqual(["90 false true 0 30"]);
  });

  test("may be offered any number of times in one block", async () => {
    const at = (logIndex: number) => ({ ...offered(90n + BigInt(logIndex)), blockNumber: 2, logIndex, timestamp: 20 });
    expect(await ordersAfter(assigned, at(1), at(2), at(3))).toEqual([
      "91 false true 0 20",
      "92 false true 0 20",
      "93 true false 0 20",
    ]);
  });

  test("has no bid of its new owner, whom the market pays back without a word", async () => {
    expect(await ordersAfter(assigned, offered(90n), bid(50n, BEN), bought(BEN, 90n))).toEqual([
      "50 false true 0 40",
      "90 false false 1 40",
    ]);
  });

  test("has no bid that was withdrawn", async () => {
    const withdrawn = log("PunkBidWithdrawn(uint256,uint256,address)", [punk, of(BEN)], 50n);
    expect(await ordersAfter(assigned, bid(50n, BEN), withdrawn)).toEqual(["50 false true 0 30"]);
  });

  test("whose owner nobody saw, from before the first block indexed, is offered by nobody", async () => {
    expect(await ordersAfter(offered(90n))).toEqual([]);
  });

  test("that is offered to one is for nobody else", async () => {
    const tables = await tablesAfter(assigned, offered(90n, { to: BEN }));
    expect([...tables.get("tradeOrder")!.values()]).toMatchObject([
      { maker: ANNE, taker: BEN, broker: market, end_time: NO_END },
    ]);
  });
});

test("each time that a counter was raised is kept, and the last one is the maker's", async () => {
  const tables = await tablesAfter(
    raised(5n),
    raised(2n ** 130n),
    raised(1n, { at: OLD }),
    raised(9n, { by: BEN }),
    raised(2n ** 131n),
  );
  const rows = (table: "orderCounter" | "raisedCounter") =>
    [...tables.get(table)!.values()].map(({ exchange_address, maker, counter, timestamp }) => [
      exchange_address,
      maker,
      counter,
      ...(timestamp === undefined ? [] : [timestamp]),
    ]);
  expect(rows("raisedCounter")).toEqual([
    [SEAPORT, ANNE, 5n, 10],
    [SEAPORT, ANNE, 2n ** 130n, 20],
    [OLD, ANNE, 1n, 30],
    [SEAPORT, BEN, 9n, 40],
    [SEAPORT, ANNE, 2n ** 131n, 50],
  ]);
  expect(rows("orderCounter")).toEqual([
    [SEAPORT, ANNE, 2n ** 131n],
    [OLD, ANNE, 1n],
    [SEAPORT, BEN, 9n],
  ]);
});

test("a process that starts between any two logs goes on with what those before it said", async () => {
  const [CLEO, ROUTER, SENDER] = ["cc", "e0", "ee"].map((byte): Hex => `0x${byte.repeat(20)}`) as [Hex, Hex, Hex];
  const move = (from: Hex, to: Hex, id: bigint) => ({
    address: CRANES,
    ...transferLog(from, to, id),
  });
  const crane = (identifier: bigint) => ({ itemType: 2, token: CRANES, identifier, amount: 1n });
  const coins = (amount: bigint) => ({ itemType: 1, token: OLD, identifier: 0n, amount });
  const fill = (hash: bigint, offerer: Hex, recipient: Hex, offer: object[], consideration: object[]) =>
    logOf("OrderFulfilled", { orderHash: word(hash), offerer, zone: ZERO, recipient, offer, consideration });
  const transactions = [
    [
      move(ANNE, ROUTER, 1n),
      fill(1n, ANNE, ROUTER, [crane(1n)], [{ ...coins(50n), recipient: ANNE }]),
      move(ROUTER, CLEO, 1n),
    ],
    [
      // What answers a bid looks like a sale of its own until they are matched, and so does the bid.
      move(ROUTER, BEN, 2n),
      move(BEN, ANNE, 2n),
      fill(2n, ANNE, SENDER, [crane(2n)], [{ ...coins(90n), recipient: ANNE }]),
      fill(3n, BEN, SENDER, [coins(100n)], [{ ...crane(2n), recipient: BEN }]),
      logOf("OrdersMatched", { orderHashes: [word(2n), word(3n)] }),
      move(ANNE, BEN, 2n),
    ],
    [
      fill(4n, CLEO, ROUTER, [crane(1n)], [{ ...coins(60n), recipient: CLEO }]),
      move(CLEO, ROUTER, 1n),
      move(ROUTER, ANNE, 1n),
    ],
    // One log that is both the movement and the sale.
    [
      {
        address: "0xb47e3cd837ddf8e4c57f05d70ab865de6e193bbb" as Hex,
        ...logAs("PunkBought(uint256,uint256,address,address)", [7n, ANNE, BEN], words(90n)),
      },
    ],
  ];
  const logs = transactions.flatMap((written, place) =>
    written.map((log, index): ChainLog => ({
      ...log,
      blockNumber: place < 2 ? 1 : 2,
      timestamp: 10,
      blockHash: word(place < 2 ? 1n : 2n),
      transactionHash: word(BigInt(place)),
      logIndex: (place % 2) * 10 + index,
      sender: SENDER,
      note: null,
    })),
  );
  const tablesOf = async (...parts: ChainLog[][]) => {
    const tables = createTables();
    for (const part of parts) await applyLogs(tables, part, { sources });
    return tables;
  };
  const whole = await tablesOf(logs);
  const sales = [...whole.get("tokenEvent")!.values()].filter(({ event_type }) => event_type === "sale");
  expect(sales).toMatchObject([
    { from_address: ANNE, to_address: CLEO, price: 50n, timestamp: 10 },
    { from_address: ROUTER, to_address: BEN, price: 100n },
    { from_address: CLEO, to_address: ANNE, price: 60n },
    { from_address: ANNE, to_address: BEN, price: 90n },
  ]);
  for (let cut = 1; cut < logs.length; cut++)
    expect(textsOf(await tablesOf(logs.slice(0, cut), logs.slice(cut)))).toEqual(textsOf(whole));

  // The same process goes back: after an error to any log, and after a reorg to blocks with the same transactions.
  for (let cut = 0; cut < logs.length; cut++) {
    const sales = createSalesState();
    await applyLogs(createTables(), logs, { sources, sales });
    const tables = await tablesOf(logs.slice(0, cut));
    await applyLogs(tables, logs.slice(cut), { sources, sales });
    expect(textsOf(tables)).toEqual(textsOf(whole));
    const moved = logs.map((log) => ({ ...log, blockHash: word(9n), logIndex: log.logIndex + 100 }));
    const others = createTables();
    await applyLogs(createTables(), logs.slice(0, cut + 1), { sources, sales });
    await applyLogs(others, moved, { sources, sales });
    expect(textsOf(others)).toEqual(textsOf(await tablesOf(moved)));
  }
});
