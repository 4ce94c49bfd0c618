import type { Hex } from "viem";
import { fetchAll } from "./block-header.ts";
import type { LogColumns } from "./chain-log.ts";
import { placesOf } from "./places.ts";
import { readPlain } from "./rpc-answer.ts";
import { type AskOptions, NodeError, type RpcPool } from "./rpc-pool.ts";
import { createMatcher, type LogFilter, type NoteName } from "./wanted.ts";

type Transaction = { hash: Hex; blockHash: Hex | null; from: Hex; to: Hex | null; input: Hex };
type Place = { hash: Hex; blockHash: Hex };

const EVERYWHERE = { fromBlock: 0, toBlock: Infinity };

/** Adds what a filter asks of the logs' transactions: who signed them, and the notes of their calls. */
export async function addTransactionParts(
  pool: RpcPool,
  logs: LogColumns,
  { filter, ...options }: AskOptions & { filter: LogFilter },
): Promise<void> {
  const asked = filter.filter(({ ofTransaction }) => ofTransaction !== "");
  if (asked.length === 0 || logs.count === 0) return;
  const { transactions, transactionOf, blocks, blockOf } = logs;
  const hexAt = (bytes: Buffer, place: number): Hex => `0x${bytes.toString("hex", place * 32, place * 32 + 32)}`;
  const wanted = new Map<number, Place>();
  for (const log of placesOf(logs, { ...EVERYWHERE, matches: createMatcher(asked) })) {
    const transaction = transactionOf[log]!;
    const blockHash = hexAt(blocks.hashes, blockOf[log]!);
    wanted.set(transaction, { hash: hexAt(transactions.hashes, transaction), blockHash });
  }
  if (wanted.size === 0) return;
  const found = await fetchTransactions(pool, [...wanted.values()], options);

  transactions.senders = Buffer.from(new ArrayBuffer(transactions.count * 20));
  for (const [transaction, { hash }] of wanted) {
    transactions.hasSender[transaction] = 1;
    transactions.senders.write(found.get(hash)!.from.slice(2), transaction * 20, "hex");
  }
  const names = new Set(asked.map(({ ofTransaction }) => ofTransaction).filter((part) => part !== "sender"));
  for (const name of names as Set<NoteName>) {
    const matches = createMatcher(asked.filter(({ ofTransaction }) => ofTransaction === name));
    const noted = placesOf(logs, { ...EVERYWHERE, matches });
    if (noted.length === 0) continue;
    // Interfaces take tens of megabytes, and those that they are for have been quiet for years.
    const { TRANSACTION_NOTES } = await import("./source-filter.ts");
    logs.notes ??= new Map();
    for (const log of noted) {
      const { to, input } = found.get(wanted.get(transactionOf[log]!)!.hash)!;
      const call = { to: (to?.toLowerCase() ?? null) as Hex | null, input };
      const note = TRANSACTION_NOTES[name](call, logs.addresses[logs.addressOf[log]!]!);
      if (note) logs.notes.set(log, note);
    }
  }
}

/** Transactions by their hashes. Nodes forget after a while where one is, so the rest is taken out of its block. */
async function fetchTransactions(pool: RpcPool, places: Place[], options: AskOptions): Promise<Map<Hex, Transaction>> {
  const found = new Map<Hex, Transaction>();
  const add = (transaction: Transaction) => void found.set(transaction.hash.toLowerCase() as Hex, transaction);
  const byHash = await fetchAll(
    pool,
    callsOf(
      "eth_getTransactionByHash",
      places.map(({ hash }) => [hash]),
    ),
    {
      ...options,
      readResult: (scan) => readPlain(scan) as Transaction,
      check: (transaction, call) => {
        const { hash, blockHash } = places[call]!;
        const isOther = transaction && transaction.hash.toLowerCase() !== hash;
        const isElsewhere = transaction && transaction.blockHash?.toLowerCase() !== blockHash;
        if (isOther || isElsewhere)
          throw new NodeError(`It has another transaction ${hash} than is in block ${blockHash}.`);
      },
    },
  );
  for (const transaction of byHash) if (transaction) add(transaction);

  const missing = Map.groupBy(
    places.filter(({ hash }) => !found.has(hash)),
    ({ blockHash }) => blockHash,
  );
  const blockHashes = [...missing.keys()];
  const fullBlocks = await fetchAll(
    pool,
    callsOf(
      "eth_getBlockByHash",
      blockHashes.map((hash) => [hash, true]),
    ),
    {
      ...options,
      readResult: (scan) => readPlain(scan) as { transactions: Transaction[] },
      check: (block, call) => {
        const hashes = new Set(block?.transactions.map(({ hash }) => hash.toLowerCase()));
        for (const { hash } of missing.get(blockHashes[call]!)!)
          if (!hashes.has(hash)) throw new NodeError(`It doesn't have transaction ${hash}.`);
      },
    },
  );
  for (const { transactions } of fullBlocks) for (const transaction of transactions) add(transaction);
  return found;
}

function callsOf(method: string, params: unknown[][]) {
  return params.map((each) => ({ method, params: each }));
}
