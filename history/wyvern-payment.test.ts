import { encodeAbiParameters, encodeEventTopics, erc20Abi, type Hex, numberToHex, zeroAddress, zeroHash } from "viem";
import { expect, test } from "vitest";
import { wyvernAbi } from "../abis/wyvern.ts";
import type { ChainLog } from "./chain-log.ts";
import { type BlockLog, findPayment, topicsOfPayment } from "./wyvern-payment.ts";

const account = (digit: string): Hex => `0x${digit.repeat(40)}`;
const hash = (digit: string): Hex => `0x${digit.repeat(64)}`;
const [MAKER, TAKER, OTHER, COIN] = [account("1"), account("2"), account("3"), account("c")];
const [TRANSACTION, BLOCK] = [hash("7"), hash("b")];
const PRICE = 500n;

const match = ({
  buyHash = zeroHash,
  sellHash = hash("5"),
  price = PRICE,
}: {
  buyHash?: Hex;
  sellHash?: Hex;
  price?: bigint;
}) =>
  ({
    topics: encodeEventTopics({
      abi: wyvernAbi,
      eventName: "OrdersMatched",
      args: { maker: MAKER, taker: TAKER, metadata: zeroHash },
    }),
    data: encodeAbiParameters(
      [{ type: "bytes32" }, { type: "bytes32" }, { type: "uint256" }],
      [buyHash, sellHash, price],
    ),
    transactionHash: TRANSACTION,
    logIndex: 9,
  }) as unknown as ChainLog;

const moved = (from: Hex, to: Hex, { at = 5, amount = PRICE, transactionHash = TRANSACTION } = {}): BlockLog => ({
  address: COIN,
  topics: encodeEventTopics({ abi: erc20Abi, eventName: "Transfer", args: { from, to } }) as Hex[],
  data: numberToHex(amount, { size: 32 }),
  blockHash: BLOCK,
  transactionHash,
  logIndex: numberToHex(at),
});

const LISTING = match({});
const OFFER = match({ buyHash: hash("6"), sellHash: zeroHash });
const BY_OTHERS = match({ buyHash: hash("6") });

test.each<[string, ChainLog, BlockLog[], Hex | null]>([
  ["nothing moved: ether", LISTING, [], zeroAddress],
  ["a listing is paid by its taker", LISTING, [moved(TAKER, MAKER)], COIN],
  ["an offer is paid by its maker", OFFER, [moved(MAKER, TAKER)], COIN],
  ["orders that others matched are paid by either", BY_OTHERS, [moved(MAKER, TAKER)], COIN],
  ["what went the other way is no payment", LISTING, [moved(MAKER, TAKER)], zeroAddress],
  ["what others got is no payment", LISTING, [moved(TAKER, OTHER), moved(OTHER, MAKER)], zeroAddress],
  ["what the sale before it was paid is not its payment", LISTING, [moved(TAKER, MAKER, { at: 2 })], zeroAddress],
  ["what came after it is not its payment", LISTING, [moved(TAKER, MAKER, { at: 10 })], zeroAddress],
  [
    "another transaction's is not its payment",
    LISTING,
    [moved(TAKER, MAKER, { transactionHash: hash("8") })],
    zeroAddress,
  ],
  ["a coin that takes a part of what is moved isn't told", LISTING, [moved(TAKER, MAKER, { amount: 490n })], null],
  ["the fee beside the price", LISTING, [moved(TAKER, MAKER, { amount: 10n }), moved(TAKER, MAKER)], COIN],
  ["a price of nothing is in no currency", match({ price: 0n }), [], null],
  ["a log that isn't whole says nothing", { ...LISTING, data: "0x00" }, [], null],
])("%s", (_, log, logs, currency) => {
  expect(findPayment(log, logs, { after: 3 })).toBe(currency);
});

test("the logs that are asked for include the match itself", () => {
  const [first, ...parties] = topicsOfPayment(LISTING);
  expect(first).toContain(LISTING.topics[0]);
  for (const [at, party] of parties.entries()) expect(party).toContain(LISTING.topics[at + 1]);
});
