import type { Hex } from "viem";
import { type BlockHeader, fetchHeaders } from "./block-header.ts";
import { mayHaveLogs } from "./bloom.ts";
import { BadLogError } from "./log-answer.ts";
import type { QueryForm } from "./log-query.ts";
import { appendLogs, columnsOf, createLogTable } from "./log-table.ts";
import { isRound } from "./range-size.ts";
import { askForRange, type BlockRange, contentsOf, type RawRange } from "./raw-range.ts";
import { type RpcNode, type RpcPool, TooLargeError } from "./rpc-pool.ts";
import { createMatcher, type LogFilter, type WantedLogs } from "./wanted.ts";

/** Where there are several nodes, the first answers of each are compared with another's, then one of so many. */
const FIRST_COMPARED = 2;
const COMPARED_ONE_OF = 16;

/** Where there is one node, so often an empty answer is asked for again in parts. */
const EMPTY_ASKED_ONE_OF = 8;

/** Logs end so many times further from the end of the range than they are from each other: one in 10^8, if by chance. */
const SUSPICIOUS_GAP = 20;
const SUSPICIOUS_GAP_LOGS = 100;

export type VerifyOptions = {
  filter: LogFilter;
  forms: Map<RpcNode, QueryForm>;
  /** Answers so far, by node. */
  answers: Map<RpcNode, number>;
};

/**
 * Asks again where an answer may be cut short or empty by mistake, elsewhere if there is another node.
 *
 * @returns the answer, or what two nodes have together where they differ about a single block
 * @throws BadLogError where they differ about more: the parts must be asked for again, and be compared
 */
export async function verifyRange(
  pool: RpcPool,
  raw: RawRange,
  { lastHeader, isDoubted, ...options }: VerifyOptions & { lastHeader: BlockHeader; isDoubted: boolean },
): Promise<RawRange> {
  const nth = options.answers.get(raw.node) ?? 0;
  options.answers.set(raw.node, nth + 1);
  const suspect = isDoubted ? raw : suspectOf(raw, { nth, isAlone: pool.nodes.length === 1, lastHeader, ...options });
  if (!suspect) return raw;
  const others = await askAgain(pool, raw, { ...suspect, ...options });
  const own = contentsOf(raw.table, suspect);
  const theirs = new Map(others.flatMap(({ table }) => [...contentsOf(table, suspect)]));
  const missing = [...theirs.keys()].filter((place) => !own.has(place));
  const isSame = own.size + missing.length === theirs.size && [...own].every(([at, text]) => theirs.get(at) === text);
  if (isSame && missing.length === 0) return raw;
  if (raw.fromBlock === raw.toBlock) return unite(pool, raw, { others, ...options });
  const what = `${own.size} logs of blocks ${suspect.fromBlock} to ${suspect.toBlock}, then ${theirs.size}`;
  throw new BadLogError(
    `The answers differ: ${what}${others[0]!.node === raw.node ? "" : ` by ${others[0]!.node.host}`}.`,
  );
}

/** The blocks of an answer that should be asked for again, if any. */
function suspectOf(
  { table, counts, fromBlock, toBlock }: RawRange,
  { nth, isAlone, lastHeader, filter }: { nth: number; isAlone: boolean; lastHeader: BlockHeader; filter: LogFilter },
): BlockRange | undefined {
  const all = { fromBlock, toBlock };
  if (!isAlone && (nth < FIRST_COMPARED || nth % COMPARED_ONE_OF === 0)) return all;
  const count = counts.reduce((sum, each) => sum + each, 0);
  if (count === 0) {
    if (!isAlone || nth % EMPTY_ASKED_ONE_OF === 0) return all;
    // The last block says what it may have.
    return mayHaveLogs(lastHeader.logsBloom, filter) ? { fromBlock: toBlock, toBlock } : undefined;
  }
  if (counts.some(isRound)) return all;
  const { numbers } = table;
  if (table.count < SUSPICIOUS_GAP_LOGS) return undefined;
  const last = Math.max(...numbers);
  const spacing = (last - fromBlock + 1) / numbers.length;
  return toBlock - last > spacing * SUSPICIOUS_GAP ? { fromBlock: last, toBlock } : undefined;
}

/** The same blocks from another node; from the same one in two parts where there is no other. */
async function askAgain(
  pool: RpcPool,
  raw: RawRange,
  { fromBlock, toBlock, ...options }: BlockRange & VerifyOptions,
): Promise<RawRange[]> {
  const isAlone = pool.nodes.length === 1;
  const middle = Math.floor((fromBlock + toBlock) / 2);
  const parts =
    isAlone && toBlock > fromBlock
      ? [
          { fromBlock, toBlock: middle },
          { fromBlock: middle + 1, toBlock },
        ]
      : [{ fromBlock, toBlock }];
  const answers = parts.map(async (part): Promise<RawRange[]> => {
    try {
      const ask = { order: part.fromBlock, avoid: raw.node };
      return [
        await pool.ask(ask, (node, post) =>
          askForRange(node, { ...part, post, filter: options.filter, form: options.forms.get(node) ?? "topic" }),
        ),
      ];
    } catch (error) {
      if (!(error instanceof TooLargeError) || part.fromBlock === part.toBlock) throw error;
      // This node gives less at once.
      const half = Math.floor((part.fromBlock + part.toBlock) / 2);
      const [first, second] = await Promise.all([
        askAgain(pool, raw, { ...options, fromBlock: part.fromBlock, toBlock: half }),
        askAgain(pool, raw, { ...options, fromBlock: half + 1, toBlock: part.toBlock }),
      ]);
      return [...first, ...second];
    }
  });
  return (await Promise.all(answers)).flat();
}

/**
 * What answers for a single block have together: a node that has lost logs is more likely than one that makes them up,
 * and what is made up doesn't fit the block's hash and bloom. @throws BadLogError where they contradict each other
 */
async function unite(
  pool: RpcPool,
  raw: RawRange,
  { others, filter }: VerifyOptions & { others: RawRange[] },
): Promise<RawRange> {
  const [header] = await fetchHeaders(pool, [raw.fromBlock], { order: raw.fromBlock });
  const table = createLogTable();
  const seen = new Map<string, string>();
  for (const { table: source } of [raw, ...others]) {
    const contents = [...contentsOf(source, raw)];
    const logs = columnsOf(source);
    const matches = createMatcher(filter);
    const places = contents.flatMap(([place, text], log) => {
      if (!text.startsWith(header!.hash.slice(2))) return [];
      const [, , address = "", , first = ""] = text.split(" ");
      const [from, topic]: Hex[] = [`0x${address.slice(24)}`, `0x${first}`];
      const own: WantedLogs = { addresses: [from!], topics: [topic!], minTopics: 1, ofTransaction: "" };
      if (!mayHaveLogs(header!.logsBloom, [own])) return [];
      if (!matches(from!, topic!, logs.topicCountOf[log]!)) return [];
      const known = seen.get(place);
      if (known !== undefined && known !== text)
        throw new BadLogError(`Nodes contradict each other about log ${place}.`);
      seen.set(place, text);
      return known === undefined ? [log] : [];
    });
    appendLogs(table, logs, places);
  }
  return { ...raw, table, counts: [table.count] };
}
