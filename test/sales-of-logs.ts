import { type Abi, decodeEventLog, type Hex, numberToHex, toEventSelector } from "viem";
import { erc1155Abi } from "../abis/erc1155.ts";
import { erc721Abi } from "../abis/erc721.ts";
import { findCurrency, WYVERN_ADDRESSES } from "../abis/wyvern.ts";
import { readConfig } from "../config.ts";
import type { ChainLog } from "../history/chain-log.ts";
import { listSources } from "../sources.ts";
import type { TokenEventRow } from "../src/movement.ts";
import type { Hop } from "../src/sale.ts";
import { applyLogs, createTables } from "./memory-store.ts";

/** A log as receipts have it. */
export type ReceiptLog = { address: Hex; topics: Hex[]; data: Hex; logIndex: Hex };

/** The call of a transaction, and who signed it. */
export type Call = { from: Hex; to: Hex | null; input: Hex };

// eslint-disable-next-line typescript/no-explicit-any
type Args = any;

/** The sales of one transaction: see `salesOfTransactions`. */
export const salesOfLogs = (logs: readonly ReceiptLog[], call: Call, chain?: { chainId: number }) =>
  salesOfTransactions([{ logs, call }], chain);

/** The sales that the definitions leave in the tables when the logs of transactions, a block each, come one by one. */
export async function salesOfTransactions(
  transactions: readonly { logs: readonly ReceiptLog[]; call: Call }[],
  { chainId }: { chainId: number } = { chainId: 1 },
): Promise<TokenEventRow[]> {
  const logs = transactions.flatMap(({ logs, call }, transaction) =>
    logs.map((log): ChainLog => ({
      address: log.address,
      topics: log.topics,
      data: log.data,
      blockNumber: transaction,
      timestamp: transaction,
      logIndex: Number(log.logIndex),
      sender: call.from,
      note: WYVERN_ADDRESSES.includes(log.address) ? findCurrency(call, log.address) : null,
      blockHash: numberToHex(transaction, { size: 32 }),
      transactionHash: numberToHex(transaction, { size: 32 }),
    })),
  );
  const config = readConfig({ MAINNET_RPC_URL: "http://localhost:1" });
  const tables = createTables();
  await applyLogs(tables, logs, { sources: listSources(config, { network: "mainnet", chainId }), chainId });
  return ([...tables.get("tokenEvent")!.values()] as TokenEventRow[])
    .filter(({ event_type }) => event_type === "sale")
    .toSorted((a, b) => a.block_number - b.block_number || a.log_index - b.log_index || a.batch_index - b.batch_index);
}

const hasEvent = (abi: Abi, { topics }: ReceiptLog) =>
  abi.some((item) => item.type === "event" && toEventSelector(item) === topics[0]);

/** Movements of ERC-721 and ERC-1155 tokens. */
export function readHops(log: ReceiptLog): Hop[] {
  const place = { logIndex: Number(log.logIndex), contractAddress: log.address };
  if (log.topics.length !== 4) return [];
  const event = [erc721Abi, erc1155Abi].filter((abi) => hasEvent(abi, log)).map((abi) => decode(abi, log))[0];
  if (!event) return [];
  const { from, to } = event.args;
  if (event.name === "Transfer") return [{ ...place, from, to, tokenId: event.args.tokenId, quantity: 1n }];
  if (event.name === "TransferSingle")
    return [{ ...place, from, to, tokenId: event.args.id, quantity: event.args.value }];
  const { ids, values } = event.args as { ids: bigint[]; values: bigint[] };
  return ids.map((tokenId, index) => ({ ...place, from, to, tokenId, quantity: values[index]! }));
}

const TRANSFER = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";

/** What an account paid of an ERC-20 currency in a transaction, computed from raw words. */
export function outflowOf(account: Hex, currency: Hex, logs: readonly Omit<ReceiptLog, "logIndex">[]): bigint {
  return logs
    .filter(({ address, topics }) => address === currency && topics[0] === TRANSFER && topics.length === 3)
    .filter(({ topics }) => `0x${topics[1]!.slice(26)}` === account)
    .reduce((sum, { data }) => sum + BigInt(data), 0n);
}

function decode(abi: Abi, { topics, data }: ReceiptLog): { name: string; args: Args } {
  const { eventName, args } = decodeEventLog({ abi, topics: topics as [Hex, ...Hex[]], data });
  return { name: eventName!, args: lowerCase(args) };
}

/** viem writes addresses with a checksum, Ponder in lower case. */
function lowerCase(value: unknown): unknown {
  if (typeof value === "string" && /^0x[0-9a-fA-F]{40}$/.test(value)) return value.toLowerCase();
  if (Array.isArray(value)) return value.map(lowerCase);
  if (typeof value === "object" && value !== null)
    return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, lowerCase(part)]));
  return value;
}
