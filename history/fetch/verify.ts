import type { BlockHeader } from "./block-header.ts";
import { BadLogError } from "./log-answer.ts";
import { numberLogs } from "./log-number.ts";
import type { QueryForm } from "./log-query.ts";
import { findFirstKept } from "./pruned.ts";
import { askForRange, blockOf, type BlockRange, contentsOf, isRound, type RawRange } from "./raw-range.ts";
import { TooLargeError } from "../rpc/rpc-error.ts";
import type { RpcNode, RpcPool } from "../rpc/rpc-pool.ts";
import { uniteAnswers } from "./unite.ts";
import type { LogFilter } from "../wanted.ts";

/**
 * With several nodes, a node's answers are compared with another's until `FIRST_COMPARED` were right, and
 * `COMPARED_AFTER_FAULT` more for each that was wrong. After that one in `COMPARED_ONE_OF` is compared.
 */
const FIRST_COMPARED = 2;
const COMPARED_AFTER_FAULT = 8;
const COMPARED_ONE_OF = 16;

/** With one node, one empty answer in so many is asked for again in parts. */
const EMPTY_ASKED_ONE_OF = 8;

/**
 * An answer is suspicious if the range goes on so many times further behind its last log than logs are apart: by chance
 * that happens once in 10^8 times.
 */
const SUSPICIOUS_GAP = 20;
const SUSPICIOUS_GAP_LOGS = 100;

/** Up to so many blocks with different logs are examined one by one. With more, smaller ranges are asked for. */
const MAX_DIFFERENT_BLOCKS = 200;

/** After losing or inventing logs so many times, a node is asked only where there is no other. */
const MAX_FAULTS = 3;

/** What verifying shares among all ranges of a history. `forms`: the form of query each node understands. */
export type VerifyOptions = {
  filter: LogFilter;
  forms: Map<RpcNode, QueryForm>;
  /** How reliable each node was so far. */
  records: Map<RpcNode, NodeRecord>;
  onProblem: (line: string) => void;
};

/**
 * How many answers a node gave so far, how many of them another node confirmed, and in how many logs were lost or
 * invented. `logsFrom`: the first block from which on it is known to have logs.
 */
export type NodeRecord = { answers: number; verified: number; faults: number; logsFrom: number };

/**
 * Asks again where an answer may be cut short or empty by mistake, another node if there is one.
 *
 * @returns the answer, with logs that only the others have, and without logs that are impossible
 *
 * @throws BadLogError where it can't be told what is right: then smaller ranges must be asked for, and compared
 *
 * @throws PrunedError where the node has thrown logs away
 */
export async function verifyRange(
  pool: RpcPool,
  raw: RawRange,
  { lastHeader, isDoubted, ...options }: VerifyOptions & { lastHeader: BlockHeader; isDoubted: boolean },
): Promise<RawRange> {
  const record = recordOf(options, raw.node);
  record.answers++;
  const logsFrom = await findFirstKept(pool, raw, { filter: options.filter, known: record.logsFrom });
  // Another range of the node may have told more meanwhile.
  record.logsFrom = Math.min(record.logsFrom, logsFrom);
  const isAlone = pool.isAlone(raw.node);
  const suspect = isDoubted ? raw : await suspectOf(raw, { record, isAlone, lastHeader, ...options });
  if (!suspect) return raw;
  // Another node of the same provider would cut the answer at the same number, so it is asked for in parts.
  const isCut = raw.counts.some(isRound);
  const others = await askAgain(pool, raw, { ...suspect, parts: isAlone || isCut ? 2 : 1, ...options });
  const own = contentsOf(raw.table, suspect);
  const theirs = new Map(others.flatMap(({ table }) => [...contentsOf(table, suspect)]));
  const different = [...new Set([...own.keys(), ...theirs.keys()])].filter(
    (place) => own.get(place) !== theirs.get(place),
  );
  if (different.length === 0) {
    for (const node of new Set(others.map((other) => other.node)))
      if (node !== raw.node) recordOf(options, node).verified++;
    if (!isAlone) record.verified++;
    return raw;
  }

  const { fromBlock, toBlock } = suspect;
  const what = `${own.size} and ${theirs.size} logs of blocks ${fromBlock} to ${toBlock}`;
  const problem = `The answers differ: ${what}${isAlone ? "" : `, those of ${others[0]!.node.host}`}.`;
  const blocks = [...new Set(different.map(blockOf))];
  const isAnyCut = isCut || others.some(({ counts }) => counts.some(isRound));
  const isTooMuch = isAnyCut || blocks.length > MAX_DIFFERENT_BLOCKS;
  if (isTooMuch && raw.toBlock > raw.fromBlock) throw new BadLogError(problem);
  options.onProblem(`${raw.node.host}: ${problem}`);
  const { table, wrong, isUndecided } = await uniteAnswers(pool, {
    ranges: [raw, ...others],
    blocks,
    ...options,
  });
  for (const node of wrong) addFault(pool, node, options);
  // Nobody can say who was wrong: more answers are compared.
  if (isUndecided) for (const { node } of [raw, ...others]) recordOf(options, node).verified -= COMPARED_AFTER_FAULT;
  return { ...raw, table, counts: [table.count] };
}

/** The blocks of an answer that should be asked for again, if any. */
async function suspectOf(
  { table, counts, fromBlock, toBlock }: RawRange,
  {
    record: { answers, verified, faults },
    isAlone,
    lastHeader,
    filter,
  }: { record: NodeRecord; isAlone: boolean; lastHeader: BlockHeader; filter: LogFilter },
): Promise<BlockRange | undefined> {
  const all = { fromBlock, toBlock };
  const isUnproven = verified < FIRST_COMPARED + faults * COMPARED_AFTER_FAULT;
  if (!isAlone && (isUnproven || answers % COMPARED_ONE_OF === 0)) return all;
  if (counts.every((count) => count === 0)) {
    if (!isAlone || answers % EMPTY_ASKED_ONE_OF === 1) return all;
    // The bloom of the last block tells what it may have. Imported here, because hashing needs memory and is rarely
    // needed.
    const { mayHaveLogs } = await import("./bloom.ts");
    return mayHaveLogs(lastHeader.logsBloom, filter) ? { fromBlock: toBlock, toBlock } : undefined;
  }
  if (counts.some(isRound)) return all;
  if (table.count < SUSPICIOUS_GAP_LOGS) return undefined;
  // Not by spreading them, which V8 refuses from 120,000 on.
  const last = table.numbers.reduce((one, other) => Math.max(one, other));
  const spacing = (last - fromBlock + 1) / table.numbers.length;
  return toBlock - last > spacing * SUSPICIOUS_GAP ? { fromBlock: last, toBlock } : undefined;
}

/** Asks for the same blocks again, another node if there is one, in so many parts. */
async function askAgain(
  pool: RpcPool,
  raw: RawRange,
  { fromBlock, toBlock, parts, ...options }: BlockRange & VerifyOptions & { parts: number },
): Promise<RawRange[]> {
  if (parts > 1 && toBlock > fromBlock) {
    const middle = Math.floor((fromBlock + toBlock) / 2);
    const halves = [
      { fromBlock, toBlock: middle },
      { fromBlock: middle + 1, toBlock },
    ];
    return (await Promise.all(halves.map((half) => askAgain(pool, raw, { ...half, parts: 1, ...options })))).flat();
  }
  try {
    const answer = await pool.ask({ order: fromBlock, avoid: raw.node }, (node, post) =>
      askForRange(node, { fromBlock, toBlock, post, filter: options.filter, form: options.forms.get(node) ?? "topic" }),
    );
    return [{ ...answer, table: await numberLogs(pool, answer, options) }];
  } catch (error) {
    // This node gives less at once than the first one.
    if (!(error instanceof TooLargeError)) throw error;
    return askAgain(pool, raw, { fromBlock, toBlock, parts: 2, ...options });
  }
}

function addFault(pool: RpcPool, node: RpcNode, options: VerifyOptions): void {
  const record = recordOf(options, node);
  if (++record.faults < MAX_FAULTS || node.isUntrusted || pool.isAlone(node)) return;
  node.isUntrusted = true;
  options.onProblem(`${node.host}: It was wrong ${record.faults} times. It is asked only where there is no other.`);
}

function recordOf({ records }: VerifyOptions, node: RpcNode) {
  const record = records.get(node) ?? { answers: 0, verified: 0, faults: 0, logsFrom: Infinity };
  records.set(node, record);
  return record;
}
