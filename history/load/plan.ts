import { Buffer } from "node:buffer";
import type { Hex } from "viem";
import { type Chunk, type LogColumns, wordAt } from "../chain-log.ts";
import { type ContractTable, findContract } from "./contract-table.ts";
import { MAX_BATCH_TOKENS } from "../../src/limits.ts";
import type { Movement } from "../../src/movement.ts";
import type { Dispatch, Match } from "./dispatch.ts";
import { readPlainFill } from "./plain-fill.ts";
import { ADDRESS_BYTES, type Addresses, createAddresses, smallWord, WORD_BYTES } from "../word.ts";

/** How the logs of a chunk are to be applied. It is made before the first of them is applied. */
export type Plan = {
  chunk: Chunk;
  /** How each log is read: `NOTHING` to `ANY`. */
  wayOf: Uint8Array;
  matchesOf: (log: number) => readonly Match[];
  /** 1 for each of the chunk's transactions that has a trade in it. */
  hasTrade: Uint8Array;
  /** For each of the chunk's addresses, the contract's number; -1 before its first movement. */
  contractOf: Int32Array;
  /** Reads addresses from the chunk's words. */
  addressesInWords: Addresses;
  /** The chunk's addresses, 20 bytes each, and their places among them. */
  addresses: Buffer;
  placeOf: Map<Hex, number>;
  /** For each of the addresses, the standards of its movements in this chunk: bits `ERC721` and `ERC1155`. */
  standardsOf: Uint8Array;
};

/** The log does nothing. */
export const NOTHING = 0;
/** An ERC-721 Transfer with four topics. */
export const TRANSFER = 1;
/** An ERC-1155 TransferSingle. */
const SINGLE = 2;
/** An ERC-1155 TransferBatch whose words are where they should be. */
export const BATCH = 3;
/** An ApprovalForAll. */
export const APPROVAL = 4;
/** A plain fill of an order. */
export const FILL = 5;
/** Any other log: its definitions are run. */
export const ANY = 6;

const ERC721 = 1;
const ERC1155 = 2;

/** Standards of the movements of a source's logs. For other sources they aren't known before the definitions run. */
const STANDARDS: Record<string, number> = {
  "Erc721:Transfer": ERC721,
  "Erc721FirstGeneration:Transfer": ERC721,
  "Erc721Draft:Transfer": ERC721,
  "Erc2309:ConsecutiveTransfer": ERC721,
  "Erc1155:TransferSingle": ERC1155,
  "Erc1155:TransferBatch": ERC1155,
};

/** Events that an ERC-721 Transfer may match. The number of topics decides which one it is. */
const TRANSFERS = new Set(["Erc721:Transfer", "Erc721FirstGeneration:Transfer", "Erc721Draft:Transfer"]);
const isDraft = ({ name }: Match) => name === "Erc721Draft:Transfer";

/** Short ways of logs that match this event only. */
const SHORT_WAYS: Record<string, number> = {
  "Erc1155:TransferSingle": SINGLE,
  "Erc1155:TransferBatch": BATCH,
  "Approval:ApprovalForAll": APPROVAL,
  "Seaport:OrderFulfilled": FILL,
};

/** What a pair of topic and address means. */
type Meaning = { matches: readonly Match[]; standards: number; isTrade: boolean; shortWay: number };

const NO_MEANING: Meaning = { matches: [], standards: 0, isTrade: false, shortWay: NOTHING };

/** Looks at all logs of a chunk. */
export function planChunk(
  chunk: Chunk,
  { dispatch, contracts }: { dispatch: Dispatch; contracts: ContractTable },
): Plan {
  const { logs } = chunk;
  const { count, addressOf, transactionOf, topicCountOf, wordStartOf, wordOf } = logs;
  const meaningAt = createLookUp(logs, dispatch);
  const addressesInWords = createAddresses(logs);
  const wayOf = new Uint8Array(count);
  const hasTrade = new Uint8Array(logs.transactions.count);
  const standardsOf = new Uint8Array(logs.addresses.length);
  const addresses = Buffer.from(logs.addresses.map((address) => address.slice(2)).join(""), "hex");
  const contractOf = Int32Array.from(logs.addresses, (_, index) =>
    findContract(contracts, addresses, index * ADDRESS_BYTES),
  );
  for (let log = 0; log < count; log++) {
    const topicCount = topicCountOf[log]!;
    if (topicCount === 0) continue;
    const address = addressOf[log]!;
    const meaning = meaningAt(wordOf[wordStartOf[log]!]!, address);
    const way = wayOfLog(meaning, logs, log, addressesInWords);
    if (way === NOTHING) continue;
    const contract = contractOf[address]!;
    const isTracked = contract >= 0 && contracts.isTracked[contract] === 1;
    wayOf[log] = isTracked && way !== APPROVAL ? ANY : way;
    standardsOf[address]! |= meaning.standards;
    if (meaning.isTrade) hasTrade[transactionOf[log]!] = 1;
  }
  return {
    chunk,
    wayOf,
    matchesOf: (log) => meaningAt(wordOf[wordStartOf[log]!]!, addressOf[log]!).matches,
    hasTrade,
    contractOf,
    addressesInWords,
    addresses,
    placeOf: new Map(logs.addresses.map((address, place) => [address, place])),
    standardsOf,
  };
}

/** Untracked contracts with movements of both standards, in this chunk or in this chunk and before it. */
export function listMixed({ chunk, contractOf, standardsOf }: Plan, { isErc1155, isTracked }: ContractTable): Hex[] {
  return chunk.logs.addresses.filter((_, index) => {
    const contract = contractOf[index]!;
    if (contract >= 0 && isTracked[contract]) return false;
    const before = contract < 0 ? 0 : isErc1155[contract] ? ERC1155 : ERC721;
    const standards = standardsOf[index]! | (standardsOf[index] === 0 ? 0 : before);
    return standards === (ERC721 | ERC1155);
  });
}

function wayOfLog({ shortWay, matches }: Meaning, logs: LogColumns, log: number, addresses: Addresses): number {
  const topicCount = logs.topicCountOf[log]!;
  const wordCount = logs.wordStartOf[log + 1]! - logs.wordStartOf[log]! - topicCount;
  if (shortWay === NOTHING || shortWay === ANY) return shortWay;
  if (shortWay === FILL) return readPlainFill(logs, log, addresses) ? FILL : ANY;
  if (shortWay === TRANSFER) {
    if (topicCount === 4) return matches[0]!.name === "Erc721:Transfer" ? TRANSFER : NOTHING;
    // A first-generation Transfer has no indexed arguments, so one topic. Three topics are an ERC-20 token's Transfer,
    // except for the draft contracts that are configured.
    if (topicCount === 3) return wordCount >= 1 && matches.some(isDraft) ? ANY : NOTHING;
    return topicCount === 1 && wordCount >= 3 ? ANY : NOTHING;
  }
  if (shortWay === APPROVAL) {
    const approved = topicCount >= 3 && wordCount >= 1 ? smallWord(logs, logs.wordStartOf[log]! + topicCount) : -1;
    return approved === 0 || approved === 1 ? APPROVAL : NOTHING;
  }
  if (topicCount !== 4) return NOTHING;
  if (shortWay === SINGLE) return wordCount >= 2 ? SINGLE : NOTHING;
  return isPlainBatch(logs, log) ? BATCH : ANY;
}

/**
 * Whether a batch's two arrays follow one another, as every compiler writes them, have the same length, and fit the
 * limit.
 */
function isPlainBatch(logs: LogColumns, log: number): boolean {
  const data = logs.wordStartOf[log]! + 4;
  const wordCount = logs.wordStartOf[log + 1]! - data;
  if (wordCount < 4 || logs.tails.has(log)) return false;
  const count = smallWord(logs, data + 2);
  return (
    smallWord(logs, data) === 2 * WORD_BYTES &&
    count >= 0 &&
    count <= MAX_BATCH_TOKENS &&
    wordCount >= 4 + 2 * count &&
    smallWord(logs, data + 1) === (3 + count) * WORD_BYTES &&
    smallWord(logs, data + 3 + count) === count
  );
}

/** Whether the plan expects movements of this standard from the contract. If not, the contract must be tracked. */
export function isAnnounced({ standardsOf, placeOf }: Plan, address: Hex, { standard }: Movement): boolean {
  const bit = standard === "ERC721" ? ERC721 : standard === "ERC1155" ? ERC1155 : 0;
  const place = placeOf.get(address);
  return place !== undefined && (standardsOf[place]! & bit) !== 0;
}

/** The index among the chunk's addresses of one that emitted a log of the chunk. */
export const placeAmong = ({ placeOf }: Plan, address: Hex): number => placeOf.get(address)!;

function meaningOf(matches: readonly Match[]): Meaning {
  if (matches.length === 0) return NO_MEANING;
  const names = matches.map(({ name }) => name);
  const isTransfer = names.every((name) => TRANSFERS.has(name));
  const only = names.length === 1 ? names[0]! : "";
  return {
    matches,
    standards: names.reduce((standards, name) => standards | (STANDARDS[name] ?? 0), 0),
    isTrade: matches.some(({ isTrade }) => isTrade),
    shortWay: isTransfer ? TRANSFER : (SHORT_WAYS[only] ?? ANY),
  };
}

/** Looks up meanings by the topic's word and the address's index. Both repeat, so each pair is dispatched only once. */
function createLookUp(logs: LogColumns, dispatch: Dispatch): (word: number, address: number) => Meaning {
  const byWord = new Map<number, (Meaning | undefined)[]>();
  return (word, address) => {
    let byAddress = byWord.get(word);
    if (!byAddress) byWord.set(word, (byAddress = []));
    return (byAddress[address] ??= meaningOf(dispatch(`0x${wordAt(logs, word)}`, logs.addresses[address]!)));
  };
}
