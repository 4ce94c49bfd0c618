import type { Hex } from "viem";
import { type LogColumns, wordAt } from "../chain-log.ts";
import { WORD_BYTES } from "../word.ts";

/** The first topic of Transfer, the same for ERC-20 and ERC-721. */
export const TRANSFER = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";

/** The place of the token in a Transfer. No other event has it at this place. */
const DRAFT_PLACE = 3;

/**
 * Where a log has the token that it moves: in the topic with this index, in the first word of data, or it moves any.
 */
type TokenPlace = number | "data" | "any";

/**
 * The place of the token by the event's first topic. Written out, because ABIs would take too much memory in the reader
 * thread.
 */
export const TOKEN_PLACES: Record<Hex, TokenPlace> = {
  // Of ERC-721, also where fewer arguments are indexed: the words of topics and data together have the same order.
  [TRANSFER]: 3,
  // ConsecutiveTransfer of ERC-2309.
  "0xdeaa91b6123d068f5821d0fb0678463d1a8a6079fe8af5de3ce5e896dcf9133d": "any",
  // TransferSingle and TransferBatch of ERC-1155.
  "0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62": "data",
  "0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb": "any",
  // Assign, PunkTransfer and PunkBought of CryptoPunks.
  "0x8a0e37b73a0d9c82e205d4d1a3ff3d0b57ce5f4d7bccf6bac03336dc101cb7ba": "data",
  "0x05af636b70da6819000c49f85b21fa82081c632069bb626f30932034099107d8": "data",
  "0x58e5d5a525e3b40bc15abaa38b5882678db1ee68befd2f60bafe3a7fd06db9e3": 1,
};

/**
 * The transactions, out of `transactions`, in which a token may move more than once: two logs of one contract move it,
 * or it isn't known which token one of them moves. All tokens of one log go the same way, so none moves twice in it.
 *
 * @param options.drafts contracts whose Transfer indexes only the two addresses. Another contract's Transfer with three
 * topics is a fungible token's, with an amount in place of the token
 */
export function findMovedOn(
  logs: LogColumns,
  transactions: ReadonlySet<number>,
  { drafts = new Set() }: { drafts?: ReadonlySet<Hex> } = {},
): Set<number> {
  const { count, topicCountOf, transactionOf, addressOf, addresses, wordStartOf, wordOf, words } = logs;
  const movedOn = new Set<number>();
  const wordCount = words.length / WORD_BYTES;
  const placeOfKind = new Map<number, TokenPlace | undefined>();
  /** Keys of a transaction and a contract, and of those and a token, for all that has moved. */
  const moved = { contracts: new Set<number>(), tokens: new Set<number>() };
  /** Keys of a transaction and a contract of which any token may have moved. */
  const unclear = new Set<number>();
  for (let log = 0; log < count; log++) {
    const transaction = transactionOf[log]!;
    const topicCount = topicCountOf[log]!;
    if (topicCount === 0 || !transactions.has(transaction)) continue;
    const start = wordStartOf[log]!;
    const kind = wordOf[start]! * 5 + topicCount;
    if (!placeOfKind.has(kind)) placeOfKind.set(kind, placeOf(`0x${wordAt(logs, wordOf[start]!)}`, topicCount));
    const place = placeOfKind.get(kind);
    if (place === undefined) continue;
    if (topicCount === 3 && place === DRAFT_PLACE && !drafts.has(addresses[addressOf[log]!]!)) continue;
    const contract = transaction * addresses.length + addressOf[log]!;
    const at = start + (place === "data" ? topicCount : place === "any" ? Infinity : place);
    if (at < wordStartOf[log + 1]!) {
      const token = contract * wordCount + wordOf[at]!;
      if (moved.tokens.has(token) || unclear.has(contract)) movedOn.add(transaction);
      moved.tokens.add(token);
    } else {
      if (moved.contracts.has(contract)) movedOn.add(transaction);
      unclear.add(contract);
    }
    moved.contracts.add(contract);
  }
  return movedOn;
}

function placeOf(topic: Hex, topicCount: number): TokenPlace | undefined {
  return topic === TRANSFER && topicCount === 2 ? undefined : TOKEN_PLACES[topic];
}
