/** Orders that the real Seaport would not fill: each is refused where it is sent, and counts for nothing on the chain. */
import { EIP_712_ORDER_TYPE, ItemType } from "@opensea/seaport-js/lib/constants.js";
import { LocalConduitController__factory } from "@opensea/seaport-js/lib/typechain-types/factories/seaport/contracts/conduit/ConduitController.sol/LocalConduitController__factory.js";
import { Seaport__factory } from "@opensea/seaport-js/lib/typechain-types/factories/seaport/contracts/Seaport__factory.js";
import type { OrderWithCounter } from "@opensea/seaport-js/lib/types.js";
import {
  type Address,
  compactSignatureToSignature,
  concat,
  encodeFunctionData,
  getTypesForEIP712Domain,
  type Hex,
  numberToHex,
  pad,
  parseCompactSignature,
  zeroAddress,
  zeroHash,
} from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BLUR_POOL_ADDRESS } from "../abis/blur.ts";
import { CONDUIT_CONTROLLER_ADDRESS, SEAPORT_ADDRESSES } from "../abis/seaport.ts";
import { conduitControllerAbi, SEAPORT_ADDRESS, WRAPPED_ETHER_ADDRESS } from "../demo/exchange.ts";
import { toTransaction } from "../demo/market.ts";
import { openApi } from "./api.ts";
import { startRpcProxy } from "./rpc-proxy.ts";
import { type OrderbookWorld, sendOrder, startOrderbookWorld } from "./orderbook-world.ts";

let w: OrderbookWorld;
/** A token of the seller's contract of single tokens, and one of the contract of units, of which they have ten. */
const ID = 970_001n;
const UNITS = 970_002n;
let salt = 0;

beforeAll(async () => {
  w = await startOrderbookWorld();
  await w.mine([
    w.call(w.seller, w.single, "mint", [w.seller, ID]),
    w.call(w.seller, w.units, "mint", [w.seller, UNITS, 10n]),
    ...[w.single, w.units].map((to) => w.call(w.seller, to, "setApprovalForAll", [SEAPORT_ADDRESS, true])),
    w.wrap(w.buyer, 10n ** 18n),
    w.call(w.buyer, WRAPPED_ETHER_ADDRESS, "approve", [SEAPORT_ADDRESS, 10n ** 18n]),
  ]);
});
afterAll(() => w?.stop());

type Item = { itemType: number; token: Address; identifierOrCriteria: string; startAmount: string; endAmount: string };
type Asked = Item & { recipient: Address };
type Parameters = OrderWithCounter["parameters"];

const item = (itemType: ItemType, token: Address, identifier: bigint, amount: bigint): Item => ({
  itemType,
  token,
  identifierOrCriteria: identifier.toString(),
  startAmount: amount.toString(),
  endAmount: amount.toString(),
});
const to = (recipient: Address, one: Item): Asked => ({ ...one, recipient });
const ether = (amount = 5n) => item(ItemType.NATIVE, zeroAddress, 0n, amount);
const wrapped = (amount = 5n) => item(ItemType.ERC20, WRAPPED_ETHER_ADDRESS, 0n, amount);

type Wanted = { offer: Item[]; consideration: Asked[] } & Partial<Record<keyof Parameters, unknown>>;

/** An order as no client would make it. */
const orderOf = (offerer: Address, { offer, consideration, ...more }: Wanted): Parameters =>
  ({
    offerer,
    zone: zeroAddress,
    offer,
    consideration,
    orderType: 0,
    startTime: String(w.now() - 100),
    endTime: String(w.now() + 100_000),
    zoneHash: zeroHash,
    salt: String(++salt),
    conduitKey: zeroHash,
    counter: 0,
    totalOriginalConsiderationItems: consideration.length,
    ...more,
  }) as unknown as Parameters;
const listingOf = (nft: Item, more: Partial<Wanted> = {}) =>
  orderOf(w.seller, { offer: [nft], consideration: [to(w.seller, ether())], ...more });
const offerOf = (nft: Item, more: Partial<Wanted> = {}) =>
  orderOf(w.buyer, { offer: [wrapped()], consideration: [to(w.buyer, nft)], ...more });

/** Under the counter that its maker has. */
async function sign(order: Parameters): Promise<OrderWithCounter> {
  const counter = (await w.getCounter(order.offerer as Address)).toString();
  const parameters = { ...order, counter };
  return { parameters, signature: await w.market.seaport.signOrder(parameters, order.offerer) };
}
const putOnChain = async (parameters: Parameters) => {
  const { offerer } = parameters;
  await w.mine([
    await toTransaction(offerer as Address, w.market.seaport.validate([{ parameters, signature: "0x" }], offerer)),
  ]);
};

/** What the Orderbook says of the two tokens. */
const standing = async () => {
  const tokens = await Promise.all([w.token(w.single, ID), w.token(w.units, UNITS)]);
  return tokens.map(({ is_listed, has_offer }) => ({ is_listed, has_offer }));
};
const NOTHING = [
  { is_listed: "false", has_offer: "false" },
  { is_listed: "false", has_offer: "false" },
];

/** What the API says to an order, whether the exchange would fill it, and what counts once it is on the chain. */
async function tryOut(parameters: Parameters) {
  const order = await sign(parameters);
  const { status, message } = await w.post(order);
  const taker = parameters.offerer.toLowerCase() === w.seller ? w.buyer : w.seller;
  const isFillable = await w.couldBeFilled(order, { taker });
  await putOnChain(parameters);
  return { status, message, isFillable, standing: await standing() };
}
/** Whether the exchange would take the seller's token for a third of an offer for any three. */
function couldFillOne({ parameters, signature }: OrderWithCounter): Promise<boolean> {
  const data = w.market.seaport.contract.interface.encodeFunctionData("fulfillAdvancedOrder", [
    { parameters, numerator: 1, denominator: 3, signature, extraData: "0x" },
    [{ orderIndex: 0, side: 1, index: 0, identifier: ID, criteriaProof: [] }],
    zeroHash,
    w.seller,
  ]) as Hex;
  return w.client.call({ account: w.seller, to: SEAPORT_ADDRESS, data, blockTag: "pending" }).then(
    () => true,
    () => false,
  );
}

const refused = (message: RegExp) => ({
  status: 400,
  message: expect.stringMatching(message) as string,
  isFillable: false,
  standing: NOTHING,
});

const says400 = (message: RegExp) => ({
  status: 400,
  type: "invalid_request",
  message: expect.stringMatching(message) as string,
});

describe("a token that the order takes for another kind", () => {
  const single = (itemType: ItemType) => item(itemType, w.single, ID, 1n);
  const units = (itemType: ItemType) => item(itemType, w.units, UNITS, 1n);

  test("is not on sale", async () => {
    expect(await tryOut(listingOf(single(ItemType.ERC1155)))).toEqual(
      refused(/itemType is that of ERC1155. Expected that of ERC721/),
    );
    expect(await tryOut(listingOf(units(ItemType.ERC721)))).toEqual(
      refused(/itemType is that of ERC721. Expected that of ERC1155/),
    );
  });

  test("has no offer, and neither has its collection", async () => {
    expect(await tryOut(offerOf(single(ItemType.ERC1155)))).toEqual(
      refused(/itemType is that of ERC1155. Expected that of ERC721/),
    );
    expect(await tryOut(offerOf(units(ItemType.ERC721)))).toEqual(
      refused(/itemType is that of ERC721. Expected that of ERC1155/),
    );
    const any = (itemType: ItemType, token: Address) => offerOf(item(itemType, token, 0n, 1n));
    expect(await tryOut(any(ItemType.ERC1155_WITH_CRITERIA, w.single))).toEqual(
      refused(/Expected that of ERC721, which contract/),
    );
    expect(await tryOut(any(ItemType.ERC721_WITH_CRITERIA, w.units))).toEqual(
      refused(/Expected that of ERC1155, which contract/),
    );
  });
});

test("several units of one ERC-721 token, or several of any at once", async () => {
  expect(await tryOut(listingOf(item(ItemType.ERC721, w.single, ID, 2n)))).toEqual(refused(/2 units of one ERC-721/));
  expect(await tryOut(offerOf(item(ItemType.ERC721, w.single, ID, 2n), { orderType: 1 }))).toEqual(
    refused(/2 units of one ERC-721/),
  );
  expect(await tryOut(offerOf(item(ItemType.ERC721_WITH_CRITERIA, w.single, 0n, 3n)))).toEqual(
    refused(/3 ERC-721 tokens at once/),
  );
  const three = item(ItemType.ERC721_WITH_CRITERIA, w.single, 0n, 3n);
  const [exact, inexact] = [6n, 5n].map((amount) => offerOf(three, { orderType: 1, offer: [wrapped(amount)] }));
  expect(await couldFillOne(await sign(exact!))).toBe(true);
  expect(await couldFillOne(await sign(inexact!))).toBe(false);
  expect(await tryOut(inexact!)).toEqual(refused(/whole multiples of 3/));
});

test("a token that goes to nobody", async () => {
  const [single, units] = [item(ItemType.ERC721, w.single, ID, 1n), item(ItemType.ERC1155, w.units, UNITS, 1n)];
  const [anySingle, none] = [item(ItemType.ERC721_WITH_CRITERIA, w.single, 0n, 1n), refused(/to the zero address/)];
  for (const nft of [single, units, anySingle])
    expect(await tryOut(offerOf(nft, { consideration: [to(zeroAddress, nft)] }))).toEqual(none);
  expect(await tryOut(listingOf(single, { consideration: [to(w.seller, ether()), to(zeroAddress, single)] }))).toEqual(
    none,
  );
});

test("money of which there is none, beside other money", async () => {
  const nft = item(ItemType.ERC721, w.single, ID, 1n);
  const listing = listingOf(nft, { consideration: [to(w.seller, ether()), to(w.other, ether(0n))] });
  const offer = offerOf(nft, { consideration: [to(w.buyer, nft), to(w.other, wrapped(0n))] });
  const twice = offerOf(nft, { offer: [wrapped(), wrapped(0n)] });
  for (const parameters of [listing, offer, twice]) {
    const order = await sign(parameters);
    expect(await w.couldBeFilled(order, { taker: parameters === listing ? w.buyer : w.seller })).toBe(false);
    expect(await w.post(order)).toMatchObject(says400(/startAmount and endAmount are 0/));
  }
});

test("an offer of which a payment has come down to nothing", async () => {
  const nft = item(ItemType.ERC721, w.single, ID, 1n);
  const nothing = { ...wrapped(1n), endAmount: "0" };
  const gone = refused(/has come down to nothing/);
  for (const offer of [[nothing], [wrapped(), nothing]]) expect(await tryOut(offerOf(nft, { offer }))).toEqual(gone);
  // It takes no money to make one.
  expect(await tryOut(offerOf(nft, { offerer: w.other, offer: [nothing] }))).toEqual(gone);
  const order = await sign(
    offerOf(nft, {
      offer: [
        { ...wrapped(), endAmount: "1" },
        { ...wrapped(10n ** 9n), startAmount: "0" },
      ],
    }),
  );
  expect(await w.post(order)).toMatchObject({ status: 200 });
  expect(await w.couldBeFilled(order, { taker: w.seller })).toBe(true);
  await w.databases.write.mainnet`delete from offchain.signed_order`;
});

test("an offer in the chain's own currency", async () => {
  const nft = item(ItemType.ERC721, w.single, ID, 1n);
  expect(await tryOut(offerOf(nft, { offer: [ether(10n ** 18n)] }))).toEqual(refused(/chain's own currency/));
});

describe("an order of which a part is sold may be sent, and sent again", () => {
  /** Fills some of an order's units, which Seaport's client doesn't where the offerer lacks the others. */
  const part = ({ parameters, signature }: OrderWithCounter, taker: Address, units: bigint, value = 0n) => ({
    from: taker,
    to: SEAPORT_ADDRESS,
    value,
    data: w.market.seaport.contract.interface.encodeFunctionData("fulfillAdvancedOrder", [
      { parameters, numerator: units, denominator: unitsOf(parameters), signature, extraData: "0x" },
      [],
      zeroHash,
      taker,
    ]) as Hex,
  });
  const unitsOf = ({ offer, consideration }: Parameters) =>
    [...offer, ...consideration].find(({ itemType }) => itemType === ItemType.ERC1155)!.startAmount;

  test("a listing, while the rest of the units is there", async () => {
    const id = 970_003n;
    await w.mine([w.call(w.seller, w.units, "mint", [w.seller, id, 10n])]);
    const listings = [1, 2].map(() =>
      listingOf(item(ItemType.ERC1155, w.units, id, 10n), {
        orderType: 1,
        consideration: [to(w.seller, ether(1000n))],
      }),
    );
    const [known, unknown] = (await Promise.all(listings.map(sign))) as [OrderWithCounter, OrderWithCounter];
    const first = await w.post(known);
    expect(first).toMatchObject({ status: 200 });
    expect(await w.post(known)).toEqual(first);
    await w.mine([part(known, w.buyer, 3n, 300n)]);
    expect(await w.post(known)).toEqual(first);
    expect(await w.token(w.units, id)).toMatchObject({ is_listed: "true", quantity: "7" });
    // Seven are left, of which this one sells five more, and was never sent before.
    await w.mine([part(unknown, w.buyer, 5n, 500n)]);
    expect(await w.post(known)).toMatchObject({
      status: 400,
      message: expect.stringMatching(/holds 2 .* at least 7/) as string,
    });
    expect(await w.post(unknown)).toMatchObject({
      status: 400,
      message: expect.stringMatching(/holds 2 .* at least 5/) as string,
    });
    await w.mine([w.call(w.seller, w.units, "mint", [w.seller, id, 3n])]);
    expect(await w.post(unknown)).toMatchObject({
      status: 200,
      result: { order_hash: w.market.seaport.getOrderHash(unknown.parameters) },
    });
    await w.mine([w.call(w.seller, w.units, "mint", [w.seller, id, 2n]), part(known, w.buyer, 7n, 700n)]);
    expect(await w.post(known)).toMatchObject({ status: 400, message: "The order is filled." });
  });

  test("an offer, while the bidder has the money for the rest, as much as it comes to now", async () => {
    const id = 970_004n;
    const allow = (amount: bigint) => w.call(w.other, WRAPPED_ETHER_ADDRESS, "approve", [SEAPORT_ADDRESS, amount]);
    await w.mine([w.call(w.seller, w.units, "mint", [w.seller, id, 4n]), w.wrap(w.other, 1000n), allow(1000n)]);
    const nft = to(w.other, item(ItemType.ERC1155, w.units, id, 4n));
    const offer = await sign(orderOf(w.other, { offer: [wrapped(1000n)], consideration: [nft], orderType: 1 }));
    const first = await w.post(offer);
    expect(first).toMatchObject({ status: 200 });
    await w.mine([part(offer, w.seller, 1n)]);
    expect(await w.post(offer)).toEqual(first);
    await w.mine([allow(749n)]);
    expect(await w.post(offer)).toMatchObject({
      status: 400,
      message: expect.stringMatching(/not funded: 749 .* Expected 750/) as string,
    });

    const falling = (end: bigint) =>
      sign(
        orderOf(w.other, {
          offer: [{ ...wrapped(1400n), endAmount: end.toString() }],
          consideration: [to(w.other, item(ItemType.ERC1155, w.units, id, 1n))],
          startTime: String(w.now() - 900),
          endTime: String(w.now() + 100),
        }),
      );
    expect(await w.post(await falling(1n))).toMatchObject({ status: 200 });
    expect(await w.post(await falling(1300n))).toMatchObject({
      status: 400,
      message: expect.stringContaining("not funded") as string,
    });
  });
});

test("a signature whose last byte is 0 or 1, alone or with its place in a tree", async () => {
  const compact = [await sign(listingOf(item(ItemType.ERC721, w.single, ID, 1n)))];
  const input = w.inputOf(w.seller, w.single721(ID));
  compact.push(...(await (await w.market.seaport.createBulkOrders([input, input], w.seller)).executeAllActions()));
  for (const { parameters, signature } of compact) {
    const [short, place] = [signature.slice(0, 130) as Hex, signature.slice(130)];
    const { r, s, yParity } = compactSignatureToSignature(parseCompactSignature(short));
    const withLast = (last: number) => ({
      parameters,
      signature: `${r}${s.slice(2)}${numberToHex(last, { size: 1 }).slice(2)}${place}`,
    });
    const [seaports, other] = [withLast(27 + yParity!), withLast(yParity!)];
    expect(await w.couldBeFilled(seaports)).toBe(true);
    expect(await w.couldBeFilled(other)).toBe(false);
    expect(await w.post(other)).toMatchObject({ status: 400, message: expect.stringContaining("signature") as string });
  }
  expect(await standing()).toEqual(NOTHING);
});

describe("money that is none", () => {
  const nft = () => item(ItemType.ERC721, w.single, ID, 1n);
  const askedIn = (money: Item) => listingOf(nft(), { consideration: [to(w.seller, money)] });

  test("as its item says", async () => {
    expect(await tryOut(askedIn({ ...ether(), token: WRAPPED_ETHER_ADDRESS }))).toEqual(
      refused(/token of an item of itemType 0 is 0xc02a.* Expected the zero address/),
    );
    expect(await tryOut(askedIn({ ...ether(), identifierOrCriteria: "9" }))).toEqual(
      refused(/identifierOrCriteria of an item of itemType 0 is 9/),
    );
    expect(await tryOut(askedIn({ ...wrapped(), identifierOrCriteria: "9" }))).toEqual(
      refused(/identifierOrCriteria of an item of itemType 1 is 9/),
    );
    expect(await tryOut(askedIn({ ...wrapped(), token: zeroAddress }))).toEqual(
      refused(/token of an item of itemType 1 is the zero address/),
    );
    expect(await tryOut(offerOf(nft(), { offer: [{ ...wrapped(), identifierOrCriteria: "9" }] }))).toEqual(
      refused(/identifierOrCriteria of an item of itemType 1 is 9/),
    );
  });

  test("as Blur alone can pay it", async () => {
    // As the pool answers all others.
    await w.client.setCode({ address: BLUR_POOL_ADDRESS, bytecode: "0x5f5ffd" });
    const pool = item(ItemType.ERC20, BLUR_POOL_ADDRESS, 0n, 5n);
    expect(await tryOut(askedIn(pool))).toEqual(refused(/itemType 1 is Blur's pool/));
    expect(await tryOut(offerOf(nft(), { offer: [pool] }))).toEqual(refused(/itemType 1 is Blur's pool/));
  });

  test("as the chain says", async () => {
    const ofNobody = item(ItemType.ERC20, w.other, 0n, 5n);
    for (const parameters of [askedIn(ofNobody), offerOf(nft(), { offer: [ofNobody] })]) {
      const order = await sign(parameters);
      expect(await w.post(order)).toEqual(says400(new RegExp(`Currency ${w.other} has no code`)));
      expect(await w.couldBeFilled(order, { taker: w.other })).toBe(false);
    }
    // A contract that isn't money says nothing.
    const offer = await sign(offerOf(nft(), { offer: [item(ItemType.ERC20, SEAPORT_ADDRESS, 0n, 5n)] }));
    expect(await w.post(offer)).toEqual(says400(/not funded: 0 of .* Expected 5/));
    expect(await standing()).toEqual(NOTHING);
  });
});

test("a price that changes until the end of time", async () => {
  const [nft, endTime] = [item(ItemType.ERC721, w.single, ID, 1n), (2n ** 256n - 1n).toString()];
  const falling = { ...ether(1000n), endAmount: "1" };
  expect(await tryOut(listingOf(nft, { consideration: [to(w.seller, falling)], endTime }))).toEqual(
    refused(/too long for Seaport/),
  );
  expect(await tryOut(offerOf(nft, { offer: [{ ...wrapped(), endAmount: "1" }], endTime }))).toEqual(
    refused(/too long for Seaport/),
  );
});

test("a price that changes until later than it can be told, though it could be paid", async () => {
  const [nft, endTime] = [item(ItemType.ERC721, w.single, ID, 1n), (2n ** 64n).toString()];
  const untold = { ...refused(/changes until second 18446744073709551616/), isFillable: true };
  const falling = { ...ether(1000n), endAmount: "1" };
  expect(await tryOut(listingOf(nft, { consideration: [to(w.seller, falling)], endTime }))).toEqual(untold);
  expect(await tryOut(offerOf(nft, { offer: [{ ...wrapped(), endAmount: "1" }], endTime }))).toEqual(untold);
});

test("an order that its zone restricts, without a zone", async () => {
  const nft = item(ItemType.ERC721, w.single, ID, 1n);
  expect(await tryOut(listingOf(nft, { orderType: 2 }))).toEqual(
    refused(/orderType is 2 .* Expected a zone, or orderType 0/),
  );
  expect(await tryOut(offerOf(nft, { orderType: 3 }))).toEqual(
    refused(/orderType is 3 .* Expected a zone, or orderType 1/),
  );
});

test("an order whose zone, which must agree, is no contract", async () => {
  const zone: Address = "0x0000000000000000000000000000000000020e00";
  const orderOfType = (orderType: number) =>
    sign(listingOf(item(ItemType.ERC721, w.single, ID, 1n), { orderType, zone }));
  const offer = await sign(offerOf(item(ItemType.ERC721, w.single, ID, 1n), { orderType: 2, zone }));
  const restricted = await orderOfType(2);
  for (const order of [restricted, await orderOfType(3), offer]) {
    expect(await w.post(order)).toEqual(says400(/zone is 0x0+20e00, which has no code/));
    expect(await w.couldBeFilled(order, { taker: order === offer ? w.seller : w.buyer })).toBe(false);
  }
  expect(await standing()).toEqual(NOTHING);
  // An order that isn't restricted may name any zone.
  const open = await orderOfType(0);
  expect(await w.post(open)).toMatchObject({ status: 200 });
  expect(await w.couldBeFilled(open)).toBe(true);
  // Answers each function with its selector, which is how a zone agrees.
  await w.client.setCode({ address: zone, bytecode: "0x5f3560e01c60e01b5f5260205ff3" });
  expect(await w.post(restricted)).toMatchObject({ status: 200 });
  expect(await w.couldBeFilled(restricted)).toBe(true);
  await w.databases.write.mainnet`delete from offchain.signed_order`;
});

test("an order for a Seaport that isn't on this chain", async () => {
  const seaport15 = "0x00000000000000adc04c56bf30ac9d3c0aaf14dc";
  await w.mine([w.call(w.seller, w.single, "setApprovalForAll", [seaport15, true])]);
  const parameters = { ...listingOf(item(ItemType.ERC721, w.single, ID, 1n)), counter: "0" };
  const domain = { name: "Seaport", version: "1.5", chainId: w.chain.chainId, verifyingContract: seaport15 } as const;
  const signature = await w.client.request({
    method: "eth_signTypedData_v4",
    params: [
      w.seller,
      JSON.stringify({
        domain,
        types: {
          EIP712Domain: getTypesForEIP712Domain({ domain }),
          ...EIP_712_ORDER_TYPE,
        },
        primaryType: "OrderComponents",
        message: parameters,
      }),
    ],
  } as never);
  expect(await w.post({ parameters, signature })).toEqual(
    says400(new RegExp(`exchange ${seaport15}, which has no code`)),
  );
  expect(await standing()).toEqual(NOTHING);
});

/** The conduit of a key at a controller. The seller may make it and is its owner then. */
async function conduitAt(controller: Address, conduitKey: Hex) {
  const abi = conduitControllerAbi;
  const [conduit] = await w.client.readContract({
    address: controller,
    abi,
    functionName: "getConduit",
    args: [conduitKey],
  });
  const control = (data: Hex) => w.mine([{ from: w.seller, to: controller, data }]);
  return {
    conduit,
    create: () => control(encodeFunctionData({ abi, functionName: "createConduit", args: [conduitKey, w.seller] })),
    openChannel: (exchange: Address) =>
      control(encodeFunctionData({ abi, functionName: "updateChannel", args: [conduit, exchange, true] })),
  };
}

test("an order through a conduit that has no channel to the exchange, until it has", async () => {
  const conduitKey = concat([w.seller, "0x".padEnd(26, "7") as Hex]);
  const { conduit, create, openChannel } = await conduitAt(CONDUIT_CONTROLLER_ADDRESS, conduitKey);
  await create();
  const id = 970_005n;
  await w.mine([
    w.call(w.seller, w.single, "mint", [w.seller, id]),
    w.call(w.seller, w.single, "setApprovalForAll", [conduit, true]),
  ]);
  const order = await sign(listingOf(item(ItemType.ERC721, w.single, id, 1n), { conduitKey }));
  expect(await w.post(order)).toEqual(says400(/conduit of the order's conduitKey, .* has no open channel/));
  expect(await w.couldBeFilled(order)).toBe(false);
  await openChannel(SEAPORT_ADDRESS);
  expect(await w.post(order)).toMatchObject({ status: 200 });
  expect(await w.couldBeFilled(order)).toBe(true);
});

test("an order through a conduit of the controller that its exchange, one of SEAPORT_ADDRESSES, has for itself", async () => {
  const deploy = async (data: Hex) =>
    (await w.mine([{ from: w.seller, data }]))[0]!.contractAddress!.toLowerCase() as Address;
  const controller = await deploy(LocalConduitController__factory.bytecode);
  const exchange = await deploy(concat([Seaport__factory.bytecode, pad(controller)]));
  const conduitKey = concat([w.seller, "0x".padEnd(26, "8") as Hex]);
  const { conduit, create, openChannel } = await conduitAt(controller, conduitKey);
  const id = 970_009n;
  await w.mine([w.call(w.seller, w.single, "mint", [w.seller, id])]);
  const parameters = {
    ...listingOf(item(ItemType.ERC721, w.single, id, 1n), { conduitKey }),
    counter: "0",
  };
  const signature = await w.client.signTypedData({
    account: w.seller,
    domain: { name: "Seaport", version: "1.6", chainId: w.chain.chainId, verifyingContract: exchange },
    types: EIP_712_ORDER_TYPE,
    primaryType: "OrderComponents",
    message: { ...parameters },
  });
  const order = { parameters, signature } as OrderWithCounter;
  const isFillable = () => w.couldBeFilled(order, { exchange });
  const api = await startApi({ MAINNET_RPC_URL: w.chain.rpcUrl, SEAPORT_ADDRESSES: exchange });
  const expectRefused = async (message: string) => {
    expect(await api.post(order)).toMatchObject({ status: 400, message: expect.stringContaining(message) as string });
    expect(await isFillable()).toBe(false);
  };
  const address = conduit.toLowerCase();
  await expectRefused(`${address}, has no open channel`);
  await create();
  await expectRefused(`${address}, has no open channel`);
  await openChannel(exchange);
  await expectRefused(`not approved for ${address}`);
  await w.mine([w.call(w.seller, w.single, "setApprovalForAll", [conduit, true])]);
  expect(await isFillable()).toBe(true);
  expect(await api.post(order)).toMatchObject({ status: 200 });
  expect(await w.token(w.single, id)).toMatchObject({ is_listed: "true" });
  await api.stop();
});

test("a token of OpenSea's shared storefront, which its adapter moves for OpenSea's conduit", async () => {
  const storefront: Address = "0x495f947276749ce646f68ac8c248420045cb7b5e";
  const adapter: Address = "0xa604060890923ff400e8c6f5290461a83aedacec";
  const conduitKey = "0x0000007b02230091a7ed01230072f7006a004d60a8d4e71d599b8104250f0000";
  // That conduit isn't on this chain. The controller is made to say that any channel is open.
  const controller = (await w.client.getCode({ address: CONDUIT_CONTROLLER_ADDRESS }))!;
  await w.client.setCode({ address: CONDUIT_CONTROLLER_ADDRESS, bytecode: "0x60015f5260205ff3" });
  await w.client.setCode({ address: storefront, bytecode: (await w.client.getCode({ address: w.units }))! });
  const id = 970_007n;
  await w.mine([
    w.call(w.seller, storefront, "mint", [w.seller, id, 1n]),
    w.call(w.seller, storefront, "setApprovalForAll", [adapter, true]),
  ]);
  const listing = (more: Partial<Wanted>) => listingOf(item(ItemType.ERC1155, adapter, id, 1n), more);
  const orders = [listing({ conduitKey }), listing({ conduitKey, consideration: [to(w.seller, ether(4n))] })];
  expect(await w.post(await sign(orders[0]!))).toMatchObject({ status: 200 });
  for (const isApproved of [false, true]) {
    await w.mine([w.call(w.seller, storefront, "setApprovalForAll", [adapter, isApproved])]);
    expect(await w.token(storefront, id)).toMatchObject({ is_listed: String(isApproved) });
  }
  await putOnChain(orders[1]!);
  expect(await w.token(storefront, id)).toMatchObject({ is_listed: "true", current_price: "4" });

  const direct = listing({ consideration: [to(w.seller, ether(3n))] });
  expect(await w.post(await sign(direct))).toEqual(says400(/adapter of OpenSea's storefront/));
  await putOnChain(direct);
  expect(await w.token(storefront, id)).toMatchObject({ is_listed: "true", current_price: "4" });
  await w.client.setCode({ address: CONDUIT_CONTROLLER_ADDRESS, bytecode: controller });
});

test("a wallet that says yes to anything is taken to sign for the Seaport that is there", async () => {
  const wallet: Address = "0x00000000000000000000000000000000a11e7000";
  const id = 970_006n;
  await w.client.setBalance({ address: wallet, value: 10n ** 18n });
  await w.client.impersonateAccount({ address: wallet });
  await w.mine([
    w.call(w.seller, w.single, "mint", [wallet, id]),
    w.call(wallet, w.single, "setApprovalForAll", [SEAPORT_ADDRESS, true]),
  ]);
  // Answers the word of EIP-1271 to every call, and another word behind it.
  await w.client.setCode({ address: wallet, bytecode: `0x7f${"1626ba7e".padEnd(64, "0")}5f5260405ff3` });
  const orderAt = (price: bigint, signature: Hex) => {
    const offer = [item(ItemType.ERC721, w.single, id, 1n)];
    const parameters = { ...orderOf(wallet, { offer, consideration: [to(wallet, ether(price))] }), counter: "0" };
    return { parameters, signature } as OrderWithCounter;
  };
  const order = orderAt(5n, "0x1234");
  expect(await w.couldBeFilled(order)).toBe(true);
  expect(await w.post(order)).toMatchObject({ status: 200 });
  expect(await w.token(w.single, id)).toMatchObject({ is_listed: "true" });

  // As wallets sign that note it on the chain.
  const empty = orderAt(4n, "0x");
  const hash = w.market.seaport.getOrderHash(empty.parameters);
  expect(await w.couldBeFilled(empty)).toBe(true);
  expect(await w.post(empty)).toEqual({ status: 200, result: { order_hash: hash } });
  expect(await w.token(w.single, id)).toMatchObject({ order_hash: hash, current_price: "4" });
  const ofKey = await sign(listingOf(item(ItemType.ERC721, w.single, ID, 1n)));
  expect(await w.post({ ...ofKey, signature: "0x" })).toEqual(says400(/signature is not the offerer's/));
  const response = await w.api.app.request(`/orderbook/orders/${hash}`);
  expect(await response.json()).toMatchObject({ result: { signature: "0x", is_fillable: true } });
});

test("an offer for units by a wallet that doesn't take them", async () => {
  const wallet: Address = "0x00000000000000000000000000000000a11e7001";
  await w.client.setBalance({ address: wallet, value: 10n ** 18n });
  await w.client.impersonateAccount({ address: wallet });
  await w.mine([w.wrap(wallet, 100n), w.call(wallet, WRAPPED_ETHER_ADDRESS, "approve", [SEAPORT_ADDRESS, 100n])]);
  const offers = [item(ItemType.ERC1155, w.units, UNITS, 2n), item(ItemType.ERC721, w.single, ID, 1n)].map((nft) => {
    const parameters = orderOf(wallet, { offer: [wrapped()], consideration: [to(wallet, nft)] });
    return { parameters: { ...parameters, counter: "0" }, signature: "0x1234" };
  });
  const isFillable = () => Promise.all(offers.map((offer) => w.couldBeFilled(offer, { taker: w.seller })));
  // Answers the word of EIP-1271 to every call.
  await w.client.setCode({ address: wallet, bytecode: `0x7f${"1626ba7e".padEnd(64, "0")}5f5260205ff3` });
  expect(await w.post(offers[0])).toEqual(says400(new RegExp(`recipient ${wallet} doesn't take ERC-1155`)));
  expect(await w.post(offers[1])).toMatchObject({ status: 200 });
  expect(await isFillable()).toEqual([false, true]);
  // Answers each function with its selector, which is how a wallet says that it signed, and that it takes units.
  await w.client.setCode({ address: wallet, bytecode: "0x5f3560e01c60e01b5f5260205ff3" });
  expect(await w.post(offers[0])).toMatchObject({ status: 200 });
  expect(await isFillable()).toEqual([true, true]);
  await w.databases.write.mainnet`delete from offchain.signed_order`;
});

/** Another API on the same tables, which asks other nodes or none. */
async function startApi(env: Record<string, string>) {
  const api = await openApi(w.database.url, { env });
  const read = async (response: Response) => {
    const { message } = (await response.json()) as { message?: string };
    return { status: response.status, retryAfter: response.headers.get("retry-after"), message };
  };
  return {
    ...api,
    post: async (order: unknown) => read(await sendOrder(api, order)),
    postOnce: async (order: unknown) =>
      read(
        await api.app.request("/orderbook/orders", {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify(order),
        }),
      ),
  };
}
const later = { status: 503, retryAfter: "2" };

test("what a node would have to say is waited for, not guessed", async () => {
  const proxy = await startRpcProxy(w.chain.rpcUrl);
  const api = await startApi({ MAINNET_RPC_URL: proxy.url });
  const { parameters } = await sign(listingOf(item(ItemType.ERC721, w.single, ID, 1n)));
  const ofContract = { parameters, signature: "0x1234" };
  const offer = await sign(offerOf(item(ItemType.ERC721, w.single, ID, 1n)));
  const expectLater = async () => {
    expect(await api.postOnce(ofContract)).toMatchObject(later);
    expect(await api.postOnce(offer)).toMatchObject(later);
  };
  proxy.set({ isDown: true });
  await expectLater();
  proxy.set({ isDown: false, delayMs: 3000 });
  await expectLater();
  expect(await standing()).toEqual(NOTHING);
  // Each question is answered in time, all of them aren't. At last such an order would be refused.
  proxy.set({ delayMs: 1800 });
  const refusing = { consideration: [to(w.single, ether())] };
  expect(await api.postOnce(await sign(listingOf(item(ItemType.ERC721, w.single, ID, 1n), refusing)))).toEqual({
    ...later,
    message: expect.stringContaining("nodes") as string,
  });
  proxy.set({ delayMs: 0 });
  expect(await api.post(ofContract)).toMatchObject({ status: 400 });
  await api.stop();
  await proxy.stop();
});

test("without a node orders are not taken, and all else is read", async () => {
  const api = await startApi({});
  const offer = await sign(offerOf(item(ItemType.ERC721, w.single, ID, 1n)));
  const message = expect.stringContaining("Expected MAINNET_RPC_URL to be set.") as string;
  expect(await api.postOnce(offer)).toEqual({ ...later, message });
  expect((await api.app.request(`/orderbook/token/${w.single}/${ID}`)).status).toBe(200);
  await api.stop();
});

test("a counter that logs say was raised is that, where a node lags; all exchanges are asked at once", async () => {
  const id = 970_008n;
  const maker = w.other;
  await w.mine([
    w.call(maker, w.single, "mint", [maker, id]),
    w.call(maker, w.single, "setApprovalForAll", [SEAPORT_ADDRESS, true]),
  ]);
  const order = orderOf(maker, {
    offer: [item(ItemType.ERC721, w.single, id, 1n)],
    consideration: [to(maker, ether())],
  });
  const old = await sign(order);
  const proxy = await startRpcProxy(w.chain.rpcUrl);
  const api = await startApi({
    MAINNET_RPC_URL: proxy.url,
    SEAPORT_ADDRESSES: [w.single, w.units].join(","),
  });
  proxy.set({ head: await w.head() });
  await w.mine([await toTransaction(maker, w.market.seaport.bulkCancelOrders(maker))]);
  expect(await api.post(old)).toMatchObject({
    status: 400,
    message: expect.stringContaining(`its counter is ${old.parameters.counter}. Expected`) as string,
  });

  const { parameters, signature } = await sign(order);
  proxy.resetCounts();
  // So that they meet there. One after the other, they would be more than the API has patience for.
  proxy.set({ delayMs: 500 });
  expect(await api.post({ parameters: { ...parameters, counter: undefined }, signature })).toMatchObject({
    status: 200,
  });
  expect(proxy.mostAtOnce()).toBeGreaterThanOrEqual(SEAPORT_ADDRESSES.length);
  await w.databases.write.mainnet`delete from offchain.signed_order`;
  await api.stop();
  await proxy.stop();
});

/** The last: what is right counts. */
test("orders without a fault count", async () => {
  const listing = await sign(listingOf(item(ItemType.ERC721, w.single, ID, 1n)));
  const three = await sign(
    offerOf(item(ItemType.ERC721_WITH_CRITERIA, w.single, 0n, 3n), { orderType: 1, offer: [wrapped(6n)] }),
  );
  const units = await sign(listingOf(item(ItemType.ERC1155, w.units, UNITS, 10n)));
  for (const order of [listing, three, units]) {
    const hash = w.market.seaport.getOrderHash(order.parameters) as Hex;
    expect(await w.post(order)).toEqual({ status: 200, result: { order_hash: hash } });
  }
  expect(await w.couldBeFilled(listing)).toBe(true);
  expect(await w.couldBeFilled(units)).toBe(true);
  expect(await standing()).toEqual([
    { is_listed: "true", has_offer: "true" },
    { is_listed: "true", has_offer: "false" },
  ]);
});
