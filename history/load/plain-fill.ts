import { zeroAddress } from "viem";
import { NATIVE_TYPE, STOREFRONT_ADAPTER } from "../../abis/seaport-order.ts";
import type { LogColumns } from "../chain-log.ts";
import { type Addresses, smallWord, WORD_BYTES } from "../word.ts";

/**
 * An OrderFulfilled, as every Seaport writes it, of an order that sells or buys one token for money of one currency.
 * Most logs of exchanges are such. It isn't decoded: these are the places in `wordOf` of its parts.
 */
export type PlainFill = {
  /** The log's own index. */
  log: number;
  /** Whether the order offered its token. Otherwise it was an offer for the token. */
  isListing: boolean;
  orderHash: number;
  maker: number;
  /** Who filled the order: the buyer of a listing, the seller to an offer. */
  recipient: number;
  /** The token's item: see `ITEM`. */
  token: number;
  /** The first item of money: of a listing what it asks for, of an offer what it pays. */
  coin: number;
  /** From here to `end` lie the items of money that the order asks for. */
  asked: number;
  end: number;
};

/** The words of an item, from its first one on, which is its type. `recipient`: of what is asked for. */
export const ITEM = { contract: 1, id: 2, amount: 3, recipient: 4 };
/** The words of an item that is asked for. */
export const ASKED_WORDS = 5;

// The words of the log, from its first topic on, where one item is offered.
const MAKER = 1;
const HASH = 3;
const RECIPIENT = 4;
const OFFER_OFFSET = 5;
const ASKED_OFFSET = 6;
const OFFER_COUNT = 7;
const OFFER = 8;
const ASKED_COUNT = 12;
const ASKED = 13;

/** So many amounts below 2^128 have a sum far below 2^256. */
const MAX_ASKED = 1_000;

const FIRST_NFT_TYPE = 2;
const LAST_NFT_TYPE = 3;

/** Reads a log of this event. Undefined where it is no plain fill. */
export function readPlainFill(logs: LogColumns, log: number, addresses: Addresses): PlainFill | undefined {
  const { wordOf, wordStartOf } = logs;
  const start = wordStartOf[log]!;
  const end = wordStartOf[log + 1]!;
  if (logs.topicCountOf[log] !== 3 || end < start + ASKED || logs.tails.has(log)) return undefined;
  const count = smallWord(logs, start + ASKED_COUNT);
  const isLaidOut =
    smallWord(logs, start + OFFER_OFFSET) === (OFFER_COUNT - HASH) * WORD_BYTES &&
    smallWord(logs, start + ASKED_OFFSET) === (ASKED_COUNT - HASH) * WORD_BYTES &&
    smallWord(logs, start + OFFER_COUNT) === 1 &&
    end === start + ASKED + count * ASKED_WORDS;
  if (!isLaidOut || count < 1 || count > MAX_ASKED) return undefined;
  // Without a recipient it is part of a match.
  const recipient = start + RECIPIENT;
  if (addresses(wordOf[recipient]!) === zeroAddress) return undefined;

  const isListing = isNft(logs, start + OFFER);
  const [token, coin] = isListing ? [start + OFFER, start + ASKED] : [start + ASKED, start + OFFER];
  const asked = start + ASKED + (isListing ? 0 : ASKED_WORDS);
  if (!isNft(logs, token) || smallWord(logs, token + ITEM.amount) === 0) return undefined;
  if (!isCurrency(logs, coin) || !isAmountOf(logs, coin, coin)) return undefined;
  for (let item = asked; item < end; item += ASKED_WORDS) if (!isAmountOf(logs, item, coin)) return undefined;
  for (const item of [token, coin])
    if (addresses(wordOf[item + ITEM.contract]!) === STOREFRONT_ADAPTER) return undefined;
  return { log, isListing, orderHash: start + HASH, maker: start + MAKER, recipient, token, coin, asked, end };
}

function isNft(logs: LogColumns, item: number): boolean {
  const type = smallWord(logs, item);
  return type >= FIRST_NFT_TYPE && type <= LAST_NFT_TYPE;
}

function isCurrency(logs: LogColumns, item: number): boolean {
  const type = smallWord(logs, item);
  return type >= NATIVE_TYPE && type < FIRST_NFT_TYPE;
}

/** Whether an item is some of the currency of `coin`, and below 2^128. */
function isAmountOf(logs: LogColumns, item: number, coin: number): boolean {
  const { words, wordOf } = logs;
  if (wordOf[item] !== wordOf[coin] || wordOf[item + ITEM.contract] !== wordOf[coin + ITEM.contract]) return false;
  const amount = item + ITEM.amount;
  const start = wordOf[amount]! * WORD_BYTES;
  for (let at = start; at < start + WORD_BYTES / 2; at++) if (words[at] !== 0) return false;
  return smallWord(logs, amount) !== 0;
}
