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
 * Where there are several nodes, the answers of each are compared with another's until so many were right (and so many
 * more for each that was wrong), then one of so many.
 */
const FIRST_COMPARED = 2;
const COMPARED_AFTER_FAULT = 8;
const COMPARED_ONE_OF = 16;

/** Where there is one node, so often an empty answer is asked for again in parts. */
const EMPTY_ASKED_ONE_OF = 8;

/** Logs end so many times further from the end of the range than they are from each other: one in 10^8, if by chance. */
const SUSPICIOUS_GAP = 20;
const SUSPICIOUS_GAP_LOGS = 100;

/** Blocks whose logs differ are looked at one by one up to so many; where more do, less is asked for at once. */
const MAX_DIFFERENT_BLOCKS = 200;

/** So often a node may have lost or made up logs before it is asked only where there is no other. */
const MAX_FAULTS = 3;

/**
 * A bloom that says nothing: some chains give no other. Where some logs only are missing in it, as those of Polygon's
 * bridge were for years, a log shows it on which answers agree.
 */
const EMPTY_BLOOM = /^0x0+$/;

export type VerifyOptions = {
  filter: LogFilter;
  forms: Map<RpcNode, QueryForm>;
  /** What nodes have done so far. */
  records: Map<RpcNode, NodeRecord>;
  onProblem: (line: string) => void;
};

/** Answers of a node so far, those that another one had given, too, and those in which logs were lost or made up. */
export type NodeRecord = { answers: number; verified: number; faults: number };

/**
 * Asks again where an answer may be cut short or empty by mistake, elsewhere if there is another node.
 *
 * @returns the answer, with the logs that only the others have, and without those that can't be
 * @throws BadLogError where it can't be told what is right: less must be asked for at once, and be compared
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
  // What was cut short is so at another node of the same provider, too.
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
    // The last block says what it may have. What hashes its words is large, and seldom asked for.
    const { mayHaveLogs } = await import("./bloom.ts");
    return mayHaveLogs(lastHeader.logsBloom, filter) ? { fromBlock: toBlock, toBlock } : undefined;
  }
  if (counts.some(isRound)) return all;
  if (table.count < SUSPICIOUS_GAP_LOGS) return undefined;
  const last = Math.max(...table.numbers);
  const spacing = (last - fromBlock + 1) / table.numbers.length;
  return toBlock - last > spacing * SUSPICIOUS_GAP ? { fromBlock: last, toBlock } : undefined;
}

/** The same blocks from another node, if there is one, in so many parts. */
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
    // This node gives less at once.
    if (!(error instanceof TooLargeError)) throw error;
    return askAgain(pool, raw, { fromBlock, toBlock, parts: 2, ...options });
  }
}

/**
 * What answers have together. A node that has lost logs is more likely than one that makes them up, and what is made up
 * doesn't fit the block's hash and bloom. These judge only what the answers don't agree on, and the bloom only where it
 * has what they agree on. Where it is empty and they agree on nothing, all logs are taken and no node is blamed.
 *
 * @throws BadLogError where they contradict each other, or their block's header
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
    // Nobody can say which of them is wrong.
    if (undecided.size > 0) recordOf(options, node).verified -= COMPARED_AFTER_FAULT;
  }
  return { ...raw, table, counts: [table.count] };
}

/** Whether a log, as `contentsOf` writes it, is of the block that a header is of. */
function isOfBlock(text: string, { hash }: BlockHeader): boolean {
  return text.startsWith(hash.slice(2));
}

/** What brings a log that `contentsOf` has written. */
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
