import { type BlockHeader, fetchHeaders } from "./block-header.ts";
import { BadLogError } from "./log-answer.ts";
import type { QueryForm } from "./log-query.ts";
import { appendLogs, columnsOf, createLogTable } from "./log-table.ts";
import { askForRange, type BlockRange, contentsOf, isRound, placeOf, type RawRange } from "./raw-range.ts";
import { TooLargeError } from "../rpc/rpc-error.ts";
import type { RpcNode, RpcPool } from "../rpc/rpc-pool.ts";
import { voteOnBlock } from "./vote.ts";
import type { LogFilter, WantedLogs } from "../wanted.ts";

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

/**
 * A bloom that says nothing: some chains have no other. A bloom may also lack single logs, as those of Polygon's bridge
 * were for years. That shows where answers agree on a log which the bloom doesn't have.
 */
const EMPTY_BLOOM = /^0x0+$/;

export type VerifyOptions = {
  filter: LogFilter;
  forms: Map<RpcNode, QueryForm>;
  /** How reliable each node was so far. */
  records: Map<RpcNode, NodeRecord>;
  onProblem: (line: string) => void;
};

/**
 * How many answers a node gave so far, how many of them another node confirmed, and in how many logs were lost or
 * invented.
 */
export type NodeRecord = { answers: number; verified: number; faults: number };

/**
 * Asks again where an answer may be cut short or empty by mistake, another node if there is one.
 *
 * @returns the answer, with logs that only the others have, and without logs that are impossible
 *
 * @throws BadLogError where it can't be told what is right: then smaller ranges must be asked for, and compared
 */
export async function verifyRange(
  pool: RpcPool,
  raw: RawRange,
  { lastHeader, isDoubted, ...options }: VerifyOptions & { lastHeader: BlockHeader; isDoubted: boolean },
): Promise<RawRange> {
  const record = recordOf(options, raw.node);
  record.answers++;
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
  const blocks = [...new Set(different.map(numberOf))];
  const isAnyCut = isCut || others.some(({ counts }) => counts.some(isRound));
  const isTooMuch = isAnyCut || blocks.length > MAX_DIFFERENT_BLOCKS;
  if (isTooMuch && raw.toBlock > raw.fromBlock) throw new BadLogError(problem);
  options.onProblem(`${raw.node.host}: ${problem}`);
  return unite(pool, raw, { others, blocks, ...options });
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
  const last = Math.max(...table.numbers);
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
    return [answer];
  } catch (error) {
    // This node gives less at once than the first one.
    if (!(error instanceof TooLargeError)) throw error;
    return askAgain(pool, raw, { fromBlock, toBlock, parts: 2, ...options });
  }
}

/**
 * Unites answers that differ. Losing logs is more likely than inventing them, and invented logs don't fit the hash or
 * the bloom of their block. Both are checked only for logs on which the answers disagree, and the bloom only where it
 * has the logs on which they agree. In blocks with an empty bloom where they agree on nothing, all logs are taken and
 * no node is blamed.
 *
 * @throws BadLogError where answers contradict each other or the header of their block
 */
async function unite(
  pool: RpcPool,
  raw: RawRange,
  { others, blocks, ...options }: VerifyOptions & { others: RawRange[]; blocks: number[] },
): Promise<RawRange> {
  const headers = await fetchHeaders(pool, blocks, { order: raw.fromBlock });
  const headerOf = new Map(headers.map((header) => [header.number, header]));
  const answers = [raw, ...others].map((answer) => ({ ...answer, contents: contentsOf(answer.table, raw) }));
  const isAgreed = (place: string, text: string) =>
    answers.every((answer) => !isWithin(place, answer) || answer.contents.get(place) === text);
  const { mayHaveLogs } = await import("./bloom.ts");
  const isInBloom = (text: string, { logsBloom }: BlockHeader) => mayHaveLogs(logsBloom, [filterOf(text)]);

  const undecided = new Set(headers.flatMap(({ number, logsBloom }) => (EMPTY_BLOOM.test(logsBloom) ? [number] : [])));
  const bloomless = new Set(undecided);
  for (const [place, text] of answers[0]!.contents) {
    const header = headerOf.get(numberOf(place));
    if (!header || !isAgreed(place, text)) continue;
    if (!isOfBlock(text, header)) {
      await voteOnBlock(pool, { ...options, number: header.number });
      throw new BadLogError(`Its block ${header.number} has another hash than another node says.`);
    }
    if (!isInBloom(text, header)) bloomless.add(header.number);
    undecided.delete(header.number);
  }

  const isPossible = (place: string, text: string) => {
    const header = headerOf.get(numberOf(place));
    if (!header || isAgreed(place, text)) return true;
    return isOfBlock(text, header) && (bloomless.has(header.number) || isInBloom(text, header));
  };
  const table = createLogTable();
  const seen = new Map<string, string>();
  const impossible = new Set<RpcNode>();
  for (const { node, table: source, contents } of answers) {
    const logOf = new Map(Array.from({ length: source.count }, (_, log) => [placeOf(source, log), log]));
    const places = [...contents].flatMap(([place, text]) => {
      if (!isPossible(place, text)) {
        impossible.add(node);
        return [];
      }
      const known = seen.get(place);
      if (known !== undefined && known !== text)
        throw new BadLogError(`Nodes contradict each other about log ${place}.`);
      seen.set(place, text);
      return known === undefined ? [logOf.get(place)!] : [];
    });
    appendLogs(table, columnsOf(source), places);
  }
  for (const { node, contents, ...range } of answers) {
    const isMissing = (place: string) =>
      isWithin(place, range) && !contents.has(place) && !undecided.has(numberOf(place));
    if (impossible.has(node) || seen.keys().some(isMissing)) addFault(pool, node, options);
    // In these blocks nobody can say who was wrong: more answers are compared.
    if (undecided.size > 0) recordOf(options, node).verified -= COMPARED_AFTER_FAULT;
  }
  return { ...raw, table, counts: [table.count] };
}

/** Whether a log, as `contentsOf` writes it, is from the block of this header. */
function isOfBlock(text: string, { hash }: BlockHeader): boolean {
  return text.startsWith(hash.slice(2));
}

/** The filter for a log that `contentsOf` has written. */
function filterOf(text: string): WantedLogs {
  const [, , address = "", , topic = ""] = text.split(" ");
  return { addresses: [`0x${address.slice(24)}`], topics: [`0x${topic}`], minTopics: 1, ofTransaction: "" };
}

const numberOf = (place: string) => Number(place.split(" ")[0]);

function isWithin(place: string, { fromBlock, toBlock }: BlockRange): boolean {
  const number = numberOf(place);
  return number >= fromBlock && number <= toBlock;
}

function addFault(pool: RpcPool, node: RpcNode, options: VerifyOptions): void {
  const record = recordOf(options, node);
  if (++record.faults < MAX_FAULTS || node.isUntrusted || pool.isAlone(node)) return;
  node.isUntrusted = true;
  options.onProblem(`${node.host}: It was wrong ${record.faults} times. It is asked only where there is no other.`);
}

function recordOf({ records }: VerifyOptions, node: RpcNode) {
  const record = records.get(node) ?? { answers: 0, verified: 0, faults: 0 };
  records.set(node, record);
  return record;
}
