import { decodeEventLog, type Hex, zeroAddress, zeroHash } from "viem";
import { wyvernAbi } from "../abis/wyvern.ts";
import type { ChainLog } from "./chain-log.ts";
import { TRANSFER } from "./fetch/moved-on.ts";

/** A log of a block, as `eth_getLogs` returns it. */
export type BlockLog = Pick<ChainLog, "address" | "topics" | "data" | "blockHash" | "transactionHash"> & {
  logIndex: Hex;
};

/** An ERC-20's Transfer has its amount in the data. */
const ERC20_TOPICS = 3;

/**
 * Topics that select, from a match's block, the match itself and the logs that tell what it was paid in. With the match
 * among them, an answer is known to have the others. Source: WyvernExchange 2.2, 2.3, executeFundsTransfer.
 */
export function topicsOfPayment({ topics: [match, maker, taker] }: ChainLog): Hex[][] {
  const parties = [maker!, taker!];
  return [[TRANSFER, match!], parties, parties];
}

/**
 * The currency of a match, from the logs of its block: the zero address for ether, all in lower case. An ERC-20 is
 * transferred from buyer to seller, with the price as its amount, between the previous match of the transaction and
 * this one. Null where anything else was transferred there, and where the price is 0.
 */
export function findPayment(match: ChainLog, logs: readonly BlockLog[], { after }: { after: number }): Hex | null {
  const { buyHash, sellHash, price } = readTerms(match);
  if (!price) return null;
  const [, maker, taker] = match.topics as [Hex, Hex, Hex];
  // The order without a hash is the caller's own, who is the taker.
  const buyers = buyHash === zeroHash ? [taker] : sellHash === zeroHash ? [maker] : [maker, taker];
  const payments = logs.filter(
    ({ topics: [first, from, to], topics, transactionHash, logIndex }) =>
      first === TRANSFER &&
      topics.length === ERC20_TOPICS &&
      buyers.includes(from!) &&
      to === (from === maker ? taker : maker) &&
      transactionHash === match.transactionHash &&
      Number(logIndex) > after &&
      Number(logIndex) < match.logIndex,
  );
  if (payments.length === 0) return zeroAddress;
  return payments.find(({ data }) => data !== "0x" && BigInt(data) === price)?.address ?? null;
}

type Terms = { buyHash: Hex; sellHash: Hex; price: bigint };

/** Decodes the match. Empty where that can't be done. */
function readTerms({ topics, data }: ChainLog): Partial<Terms> {
  try {
    return decodeEventLog({ abi: wyvernAbi, topics: topics as [Hex, ...Hex[]], data }).args;
  } catch {
    return {};
  }
}
