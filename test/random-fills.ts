import { encodeAbiParameters, encodeEventTopics, type Hex, keccak256, toHex, zeroAddress, zeroHash } from "viem";
import { seaportAbi } from "../abis/seaport.ts";
import { STOREFRONT_ADAPTER } from "../abis/seaport-order.ts";
import type { ChainLog } from "../history/chain-log.ts";
import { fulfilled } from "./order-fulfilled.ts";
import { batchLog, consecutiveLog, logOf, type LogToWrite, singleLog, transferLog, word } from "./raw-log.ts";
import { createRandom } from "./random-logs.ts";

type Item = { itemType: number; token: Hex; identifier: bigint; amount: bigint };
type AskedItem = Item & { recipient: Hex };

const address = (byte: string): Hex => `0x${byte.repeat(20)}`;
const PEOPLE = ["a1", "a2", "a3", "a4"].map(address);
const [ERC721, OTHER_ERC721, ERC1155, BOTH] = ["71", "72", "15", "16"].map(address) as [Hex, Hex, Hex, Hex];
const WRAPPED = address("ee");

const orderParameters = seaportAbi.find(({ name }) => name === "OrderValidated")!.inputs;
const eventOf = (eventName: "OrderFulfilled" | "OrderValidated" | "OrdersMatched" | "OrderCancelled") =>
  encodeEventTopics({ abi: seaportAbi, eventName })[0];

/**
 * Transactions in which orders of Seaport are filled: most as in everyday life, one token that goes from the one to the
 * other for money, and the others with something odd about the order, the log, or the way of the token.
 */
export function randomFills(seed: number, { exchange, count }: { exchange: Hex; count: number }): ChainLog[] {
  const random = createRandom(seed);
  const below = (limit: number) => Math.floor(random() * limit);
  const pick = <T>(list: readonly T[]): T => list[below(list.length)]!;
  const isOneIn = (n: number) => below(n) === 0;
  const logs: ChainLog[] = [];
  let [blockNumber, logIndex] = [1, 0];

  const write = (transaction: number, written: (LogToWrite & { address: Hex })[]) => {
    if (isOneIn(3)) [blockNumber, logIndex] = [blockNumber + 1, 0];
    for (const log of written)
      logs.push({
        blockNumber,
        timestamp: 1_600_000_000 + blockNumber,
        blockHash: word(BigInt(blockNumber)),
        transactionHash: keccak256(toHex(transaction)),
        logIndex: logIndex++,
        sender: PEOPLE[transaction % 4]!,
        note: null,
        ...log,
      });
  };

  const trade = (): (LogToWrite & { address: Hex })[] => {
    const contract = pick([ERC721, ERC721, OTHER_ERC721, ERC1155, BOTH, STOREFRONT_ADAPTER]);
    const isUnits = contract === ERC1155 || (contract === BOTH && isOneIn(2));
    const id = BigInt(below(6));
    const [maker, taker] = [pick(PEOPLE), pick(PEOPLE)];
    const isListing = !isOneIn(3);
    const [seller, buyer] = isListing ? [maker, taker] : [taker, maker];
    const units = isUnits ? BigInt(1 + below(3)) : 1n;
    const nft: Item = { itemType: isUnits ? 3 : 2, token: contract, identifier: id, amount: units };
    const isNative = isListing && isOneIn(2);
    const amount = () => pick([1n, 5n, 10n ** 18n, 2n ** 64n - 1n, 2n ** 127n, 2n ** 128n - 1n]);
    const money = (): Item => ({
      itemType: isNative ? 0 : 1,
      token: isNative ? zeroAddress : WRAPPED,
      identifier: 0n,
      amount: amount(),
    });
    const payee = () => pick([seller, seller, maker, zeroAddress, exchange, address("fe"), ...PEOPLE]);
    const asked: AskedItem[] = Array.from({ length: below(4) }, () => ({ ...money(), recipient: payee() }));
    let offer: Item[] = [isListing ? nft : money()];
    let consideration: AskedItem[] = isListing ? asked : [{ ...nft, recipient: buyer }, ...asked];
    let recipient = taker;
    const change = <T extends Item>(items: readonly T[], changes: Partial<Item>): T[] => {
      const place = below(items.length);
      return items.map((item, at) => (at === place ? { ...item, ...changes } : item));
    };
    // Something odd about the order.
    if (isOneIn(4))
      pick([
        () => (recipient = pick([zeroAddress, exchange, ...PEOPLE])),
        () => (offer = change(offer, { amount: pick([0n, 2n, 2n ** 128n, 2n ** 255n]) })),
        () => (consideration = change(consideration, { amount: pick([0n, 2n, 2n ** 128n, 2n ** 255n]) })),
        () => (consideration = change(consideration, { itemType: below(6) })),
        () => (offer = change(offer, { itemType: below(6) })),
        () =>
          (consideration = change(consideration, { token: pick([WRAPPED, zeroAddress, STOREFRONT_ADAPTER, ERC721]) })),
        () => (consideration = [...consideration, { ...nft, identifier: BigInt(below(6)), recipient: payee() }]),
        () => (offer = [...offer, isOneIn(2) ? money() : { ...nft, identifier: BigInt(below(6)) }]),
        () => (consideration = consideration.map((item) => ({ ...item, amount: 2n ** 255n }))),
        () => (consideration = consideration.map((item, at) => (at % 2 === 0 ? { ...item, amount: 0n } : item))),
        () => (offer = []),
        () => (consideration = []),
      ])();
    // Few hashes for some orders: they are filled in parts, placed and cancelled.
    const orderHash = keccak256(toHex(isOneIn(3) ? below(5) : 1_000 + below(2 ** 30)));
    const data = encodeAbiParameters(fulfilled, [orderHash, recipient, offer, consideration]);
    const fill = { address: exchange, topics: [eventOf("OrderFulfilled"), word(maker), zeroHash], data };
    // What nobody's Seaport writes.
    if (isOneIn(20)) fill.data = pick<Hex>([`${data}00`, `${data}${"00".repeat(32)}`, `0x${data.slice(2, -64)}`]);

    const move = (from: Hex, to: Hex, tokenId = id): LogToWrite & { address: Hex } => {
      const of = contract === STOREFRONT_ADAPTER ? address("49") : contract;
      if (!isUnits) return { address: of, ...transferLog(from, to, tokenId) };
      return {
        address: of,
        ...(isOneIn(5) ? batchLog(from, to, [[tokenId], [units]]) : singleLog(from, to, tokenId, units)),
      };
    };
    const router = pick([address("70"), ...PEOPLE]);
    const ways = [
      () => [move(seller, router), move(router, buyer)],
      () => [move(router, buyer)],
      () => [move(seller, router)],
      () => [],
      () => [move(seller, buyer), move(seller, buyer, BigInt(below(6)))],
      () => [move(seller, router), { address: contract, ...consecutiveLog(router, buyer, id, id) }],
      () => [
        move(seller, router),
        {
          address: ERC1155,
          ...batchLog(router, buyer, [
            [9n, id],
            [1n, units],
          ]),
        },
      ],
      () => [
        {
          address: ERC1155,
          ...batchLog(router, buyer, [
            [1n, 2n],
            [1n, 1n],
          ]),
        },
        move(seller, buyer),
      ],
    ];
    const moves = isOneIn(4) ? pick(ways)() : [move(seller, buyer)];
    const others = isOneIn(6) ? [otherLog(orderHash, { maker, offer, consideration })] : [];
    const fills = isOneIn(10) ? [fill, fill] : [fill];
    return isOneIn(2) ? [...others, ...fills, ...moves] : [...moves, ...fills, ...others];
  };

  const otherLog = (
    orderHash: Hex,
    { maker, offer, consideration }: { maker: Hex; offer: Item[]; consideration: AskedItem[] },
  ): LogToWrite & { address: Hex } => {
    if (isOneIn(3))
      return { address: exchange, topics: [eventOf("OrderCancelled"), word(maker), zeroHash], data: orderHash };
    if (isOneIn(2))
      return {
        address: exchange,
        ...logOf("OrdersMatched(bytes32[])", [], encodeAbiParameters([{ type: "bytes32[]" }], [[orderHash]])),
      };
    const termsOf = <T extends Item>({ identifier, amount, ...item }: T) => ({
      ...item,
      identifierOrCriteria: identifier,
      startAmount: amount,
      endAmount: amount,
    });
    const parameters = {
      offerer: maker,
      zone: zeroAddress,
      offer: offer.map(termsOf),
      consideration: consideration.map(termsOf),
      orderType: 1,
      startTime: 0n,
      endTime: 2n ** 40n,
      zoneHash: zeroHash,
      salt: 0n,
      conduitKey: zeroHash,
      totalOriginalConsiderationItems: BigInt(consideration.length),
    };
    return {
      address: exchange,
      topics: [eventOf("OrderValidated")],
      data: encodeAbiParameters(orderParameters, [orderHash, parameters]),
    };
  };

  for (let transaction = 0; logs.length < count; transaction++)
    write(transaction, Array.from({ length: 1 + below(3) }, trade).flat());
  return logs;
}
