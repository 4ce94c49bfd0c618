import type { Hex } from "viem";
import { logAt, type LogColumns } from "../chain-log.ts";
import { fetchAll } from "./fetch-all.ts";
import { findMovedOn, TRANSFER } from "./moved-on.ts";
import { listMatching } from "../matching-logs.ts";
import { readPlain } from "../rpc/rpc-answer.ts";
import { NodeError } from "../rpc/rpc-error.ts";
import type { AskOptions, RpcPool } from "../rpc/rpc-pool.ts";
import { quantityOf } from "../rpc/rpc-post.ts";
import { createMatcher, type LogFilter, type NoteName, type TransactionPart } from "../wanted.ts";
import { ADDRESS_BYTES, hexAt, WORD_BYTES } from "../word.ts";
import type { BlockLog } from "../wyvern-payment.ts";

type Transaction = { hash: Hex; blockHash: Hex | null; from: Hex; to: Hex | null; input: Hex };
type Place = { hash: Hex; blockHash: Hex };

const EVERYWHERE = { fromBlock: 0, toBlock: Infinity };

/**
 * Adds what a filter needs of the logs' transactions and isn't known yet: notes, and who signed them where that can
 * matter. In logs that were fetched separately and merged, it can matter for more transactions than before.
 */
export async function addTransactionParts(
  pool: RpcPool,
  logs: LogColumns,
  { filter, ...options }: AskOptions & { filter: LogFilter },
): Promise<void> {
  const { transactions, transactionOf, blocks, blockOf } = logs;
  const listAsking = (isAsked: (part: TransactionPart) => boolean): number[] => {
    const asked = filter.filter(({ ofTransaction }) => isAsked(ofTransaction));
    if (asked.length === 0) return [];
    const places = listMatching(logs, { ...EVERYWHERE, matches: createMatcher(asked) });
    return places.filter((log) => transactions.hasSender[transactionOf[log]!] === 0);
  };
  const asking = listAsking((part) => part !== "");
  const names = new Set(filter.map(({ ofTransaction }) => ofTransaction).filter(isNoteName));
  const noted = [...names].flatMap((name) => listAsking((part) => part === name).map((log) => ({ log, name })));
  const movedOn = findMovedOn(logs, new Set(asking.map((log) => transactionOf[log]!)), { drafts: listDrafts(filter) });
  const isNeeded = new Set([...movedOn, ...noted.map(({ log }) => transactionOf[log]!)]);
  const wanted = new Map<number, Place>();
  for (const log of asking) {
    const transaction = transactionOf[log]!;
    if (!isNeeded.has(transaction)) continue;
    const blockHash = hexAt(blocks.hashes, blockOf[log]! * WORD_BYTES);
    wanted.set(transaction, { hash: hexAt(transactions.hashes, transaction * WORD_BYTES), blockHash });
  }
  if (wanted.size === 0) return;
  const found = await fetchTransactions(pool, [...wanted.values()], options);

  const transactionAt = (log: number) => found.get(wanted.get(transactionOf[log]!)!.hash)!;
  const notes = await findNotes(pool, logs, { noted, transactionAt, ...options });

  // Written at the end, when nothing can fail any more: a transaction with a sender isn't asked for again.
  if (transactions.senders.length === 0)
    transactions.senders = Buffer.from(new ArrayBuffer(transactions.count * ADDRESS_BYTES));
  for (const [transaction, { hash }] of wanted) {
    transactions.hasSender[transaction] = 1;
    transactions.senders.write(found.get(hash)!.from.slice(2), transaction * ADDRESS_BYTES, "hex");
  }
  if (noted.length > 0) logs.notes ??= new Map();
  for (const [log, note] of notes) logs.notes!.set(log, note);
}

/** Contracts that are asked by name for Transfers with three topics. Contracts of the ERC-721 draft are among them. */
const listDrafts = (filter: LogFilter): ReadonlySet<Hex> =>
  new Set(
    filter.flatMap(({ addresses, topics, minTopics, ofTransaction }) =>
      addresses !== "*" && ofTransaction === "" && minTopics <= 3 && topics.includes(TRANSFER) ? addresses : [],
    ),
  );

/** Notes by the index of their logs, from their transactions' calls or else from other logs of their blocks. */
async function findNotes(
  pool: RpcPool,
  logs: LogColumns,
  { noted, transactionAt, ...options }: AskOptions & NotesOptions,
): Promise<Map<number, Hex>> {
  const notes = new Map<number, Hex>();
  if (noted.length === 0) return notes;
  const { transactionOf, addresses, addressOf, logIndexOf } = logs;
  // Imported only when needed: ABIs take tens of megabytes, and the exchanges that need notes have been idle for years.
  const { TRANSACTION_NOTES } = await import("../transaction-note.ts");
  const silent = noted.flatMap(({ log, name }, at) => {
    const { ofCall, ...byLogs } = TRANSACTION_NOTES[name];
    const { to, input } = transactionAt(log);
    const note = ofCall({ to: (to?.toLowerCase() ?? null) as Hex | null, input }, addresses[addressOf[log]!]!);
    if (note) notes.set(log, note);
    if (note) return [];
    const before = noted[at - 1];
    const isSecond = before?.name === name && transactionOf[before.log] === transactionOf[log];
    return [{ log, chainLog: logAt(logs, log), after: isSecond ? logIndexOf[before.log]! : -1, ...byLogs }];
  });
  const calls = callsOf(
    "eth_getLogs",
    silent.map(({ chainLog, topicsOf }) => {
      const block = quantityOf(chainLog.blockNumber);
      return [{ fromBlock: block, toBlock: block, topics: topicsOf(chainLog) }];
    }),
  );
  const found = await fetchAll(pool, calls, {
    ...options,
    readResult: (scan) => readPlain(scan) as BlockLog[],
    check: (result, call) => {
      const { logIndex, blockHash } = silent[call]!.chainLog;
      if (!result?.some((log) => Number(log.logIndex) === logIndex && log.blockHash.toLowerCase() === blockHash))
        throw new NodeError(`It doesn't have log ${logIndex} of block ${blockHash}.`);
    },
  });
  for (const [at, { log, chainLog, after, ofLogs }] of silent.entries()) {
    const note = ofLogs(chainLog, found[at]!.map(toLowerCase), { after });
    if (note) notes.set(log, note);
  }
  return notes;
}
type NotesOptions = { noted: { log: number; name: NoteName }[]; transactionAt: (log: number) => Transaction };

/** Hex in lower case, like all logs that are kept. */
function toLowerCase(log: BlockLog): BlockLog {
  const lower = (hex: Hex) => hex.toLowerCase() as Hex;
  const { address, topics, transactionHash } = log;
  return { ...log, address: lower(address), topics: topics.map(lower), transactionHash: lower(transactionHash) };
}

const isNoteName = (part: TransactionPart): part is NoteName => part !== "" && part !== "sender";

/** Transactions by hash. Nodes forget hashes of old transactions after a while: those are read from their blocks. */
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
