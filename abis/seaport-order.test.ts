import { type Hex, zeroAddress } from "viem";
import { describe, expect, test } from "vitest";
import { BLUR_POOL_ADDRESS } from "./blur.ts";
import { findFault, moverOf, NO_END, type OrderFault, type OrderParameters, readTerms } from "./seaport-order.ts";

const [MAKER, TOKEN, COIN, ZONE] = ["11", "22", "33", "44"].map((digits) => `0x${digits.repeat(20)}`) as [
  Hex,
  Hex,
  Hex,
  Hex,
];
const exchange = `0x${"5e".repeat(20)}` as const;

const item = (itemType: number, token: Hex, identifierOrCriteria: bigint, amount: bigint, endAmount = amount) => ({
  itemType,
  token,
  identifierOrCriteria,
  startAmount: amount,
  endAmount,
  recipient: MAKER,
});
const ether = (amount: bigint) => item(0, zeroAddress, 0n, amount);
const coins = (amount: bigint) => item(1, COIN, 0n, amount);
const order = (more: Partial<OrderParameters>): OrderParameters => ({
  offerer: MAKER,
  offer: [item(2, TOKEN, 7n, 1n)],
  consideration: [ether(1000n)],
  orderType: 0,
  zone: ZONE,
  startTime: 1n,
  endTime: 2n,
  ...more,
});
const listing = (nft: ReturnType<typeof item>, orderType = 0) => order({ offer: [nft], orderType });
const offer = (nft: ReturnType<typeof item>, orderType = 0) =>
  order({ offer: [coins(1200n)], consideration: [nft], orderType });
const termsOf = (parameters: OrderParameters, chainId = 1) => readTerms(parameters, { exchange, chainId });

describe("terms", () => {
  test("say what the order takes its token for", () => {
    const standardOf = (itemType: number, identifier = 7n) => [
      termsOf(listing(item(itemType, TOKEN, identifier, 1n)))?.token_standard,
      termsOf(offer(item(itemType, TOKEN, identifier, 1n)))?.token_standard,
    ];
    expect(standardOf(2)).toEqual(["ERC721", "ERC721"]);
    expect(standardOf(3)).toEqual(["ERC1155", "ERC1155"]);
    expect(standardOf(4, 0n)).toEqual([undefined, "ERC721"]);
    expect(standardOf(5, 0n)).toEqual([undefined, "ERC1155"]);
  });

  test("are for OpenSea's shared storefront where its adapter is named, which moves it for two alone", () => {
    const storefront = "0x495f947276749ce646f68ac8c248420045cb7b5e";
    const adapter = "0xa604060890923ff400e8c6f5290461a83aedacec";
    const [seaport11, conduit] = [
      "0x00000000006c3852cbef3e08e8df289169ede581",
      "0x1e0049783f008a0085193e00003d00cd54003c71",
    ] as const;
    const [sold, direct] = [adapter, storefront].map((token) => listing(item(3, token as Hex, 7n, 1n))) as [
      OrderParameters,
      OrderParameters,
    ];
    const bid = offer(item(3, adapter, 7n, 1n));
    const contractsAt = (chainId?: number) => [sold, direct, bid].map((one) => termsOf(one, chainId)?.contract_address);
    const polygons = "0x2953399124f0cbb46d2cbacd8a89cf0599974963";
    expect(contractsAt()).toEqual([storefront, storefront, storefront]);
    expect(contractsAt(137)).toEqual([polygons, storefront, polygons]);
    const movers = (order: OrderParameters) =>
      [seaport11, conduit, exchange].map((operator) => moverOf(order, { operator }));
    expect(movers(sold)).toEqual([adapter, adapter, undefined]);
    // Money is taken by whom the bidder approved, the token from whoever accepts.
    for (const order of [direct, bid]) expect(movers(order)).toEqual([seaport11, conduit, exchange]);
  });

  test("of several units are those of ERC-1155, or of any ERC-721 that may be filled one by one", () => {
    const quantityOf = (parameters: OrderParameters) => termsOf(parameters)?.quantity;
    for (const orderType of [0, 1, 2, 3]) {
      const isPartial = orderType % 2 === 1;
      expect(quantityOf(listing(item(2, TOKEN, 7n, 2n), orderType))).toBe(undefined);
      expect(quantityOf(offer(item(2, TOKEN, 7n, 2n), orderType))).toBe(undefined);
      expect(quantityOf(offer(item(4, TOKEN, 0n, 3n), orderType))).toBe(isPartial ? 3n : undefined);
      expect(quantityOf(listing(item(3, TOKEN, 7n, 2n), orderType))).toBe(2n);
      expect(quantityOf(offer(item(5, TOKEN, 0n, 3n), orderType))).toBe(3n);
    }
    expect(quantityOf(offer(item(4, TOKEN, 0n, 7n), 1))).toBe(undefined);
    expect(findFault(offer(item(4, TOKEN, 0n, 7n), 1))).toEqual({
      kind: "units not divisible",
      units: 7n,
      orderType: 1,
    });
    expect(findFault(offer(item(2, TOKEN, 7n, 2n), 1))).toEqual({ kind: "several units", units: 2n, orderType: 1 });
    expect(findFault(offer(item(4, TOKEN, 0n, 3n), 2))).toEqual({
      kind: "units not one by one",
      units: 3n,
      orderType: 2,
    });
  });

  test("are none of an offer in the chain's own currency, which nobody can take", () => {
    const native = order({ offer: [ether(1000n)], consideration: [item(2, TOKEN, 7n, 1n)] });
    expect(termsOf(native)).toBe(undefined);
    expect(findFault(native)).toEqual({ kind: "native offer" });
    expect(findFault(order({}))).toBe(undefined);
  });

  test("are none where an amount changes over more seconds than 256 bits hold of it, or than a number does", () => {
    const most = 2n ** 256n - 1n;
    const changing = (from: bigint, to: bigint, duration: bigint) =>
      order({ consideration: [item(0, zeroAddress, 0n, from, to)], startTime: 5n, endTime: 5n + duration });
    const larger = most / 3n;
    for (const [from, to] of [
      [larger, 1n],
      [1n, larger],
    ] as const) {
      expect(termsOf(changing(from, to, 3n))).toBeDefined();
      expect(termsOf(changing(from, to, 4n))).toBe(undefined);
      expect(findFault(changing(from, to, 4n))).toEqual({ kind: "change too long", seconds: 4n });
    }
    // Of an end that is later than a number is exact, the price could not be told.
    expect(termsOf(changing(3n, 1n, 2n ** 53n - 6n))).toMatchObject({ end_time: NO_END, amounts: "[[3,1]]" });
    expect(termsOf(changing(3n, 1n, 2n ** 53n - 5n))).toBe(undefined);
    expect(findFault(changing(3n, 1n, 2n ** 53n - 5n))).toEqual({ kind: "change too late", endTime: 2n ** 53n });
    expect(termsOf(changing(3n, 3n, most - 5n))).toMatchObject({ start_amount: 3n, amounts: null });
  });

  test("are none where a token goes to nobody", () => {
    const asked = (recipient: Hex) =>
      order({
        offer: [item(1, COIN, 0n, 5n)],
        consideration: [
          { ...item(2, TOKEN, 7n, 1n), recipient },
          { ...item(1, COIN, 0n, 1n), recipient: zeroAddress },
        ],
      });
    expect(termsOf(asked(MAKER))).toMatchObject({ side: "offer", token_id: 7n });
    expect(termsOf(asked(zeroAddress))).toBe(undefined);
    expect(findFault(asked(zeroAddress))).toEqual({ kind: "token to nobody" });
  });

  test("are none where the money is none, or the zone that restricts the order", () => {
    const faultOf = (money: ReturnType<typeof item>) => {
      const parameters = order({ consideration: [ether(1n), money] });
      return { hasTerms: termsOf(parameters) !== undefined, fault: findFault(parameters) };
    };
    const none = (fault: OrderFault) => ({ hasTerms: false, fault });
    expect(faultOf(ether(1n))).toEqual({ hasTerms: true, fault: undefined });
    expect(faultOf(item(0, COIN, 0n, 1n))).toEqual(none({ kind: "native with token", token: COIN }));
    expect(faultOf(item(0, zeroAddress, 9n, 1n))).toEqual(none({ kind: "money with id", itemType: 0, id: 9n }));
    expect(faultOf(item(1, COIN, 9n, 1n))).toEqual(none({ kind: "money with id", itemType: 1, id: 9n }));
    expect(faultOf(item(1, zeroAddress, 0n, 1n))).toEqual(none({ kind: "currency without token" }));
    expect(faultOf(item(1, BLUR_POOL_ADDRESS, 0n, 1n))).toEqual(none({ kind: "currency of Blur" }));
    for (const orderType of [0, 1, 2, 3]) {
      expect(termsOf(order({ orderType }))).toBeDefined();
      expect(termsOf(order({ orderType, zone: zeroAddress })) === undefined).toBe(orderType >= 2);
    }
  });
});
