import { type BlockHeader, fetchHeaders } from "./block-header.ts";
import { BadLogError } from "./log-answer.ts";
import { appendLogs, columnsOf, createLogTable, type LogTable } from "./log-table.ts";
import { numberAlike } from "./log-number.ts";
import { blockOf, type BlockRange, contentsOf, placeOf, type RawRange } from "./raw-range.ts";
import type { RpcNode, RpcPool } from "../rpc/rpc-pool.ts";
import { voteOnBlock } from "./vote.ts";
import type { LogFilter, WantedLogs } from "../wanted.ts";

/**
 * A bloom that says nothing: some chains have no other. A bloom may also lack single logs, as those of Polygon's bridge
 * were for years. That shows where answers agree on a log which the bloom doesn't have.
 */
const EMPTY_BLOOM = /^0x0+$/;

/** An answer with its logs as `contentsOf` writes them. */
type Answer = RawRange & { contents: Map<string, string> };
type IsOfLog = (place: string, text: string) => boolean;

/** What the answers agree on in the blocks in which they differ. */
type Agreed = {
  /** Blocks whose bloom says nothing, or lacks a log on which all agree. */
  bloomless: Set<number>;
  /** Blocks whose bloom says nothing, and in which the answers agree on no log: nobody can say who is right. */
  undecided: Set<number>;
};

type United = {
  table: LogTable;
  /** Nodes whose answers lack logs of this table, or have others that are impossible, or number them otherwise. */
  wrong: RpcNode[];
  /** There are blocks about which nobody can say who is right. */
  isUndecided: boolean;
};

/**
 * Unites answers that differ, within the range of the first. Losing logs is more likely than inventing them, and
 * invented logs don't fit the hash or the bloom of their block. Both are checked only for logs on which the answers
 * disagree, and the bloom only where it has the logs on which they agree. In blocks with an empty bloom where they
 * agree on nothing, all logs are taken and no node is blamed. Logs that they number differently have the receipts' index.
 *
 * @param blocks numbers of the blocks in which the answers differ
 *
 * @throws BadLogError where answers contradict each other or the header of their block
 */
export async function uniteAnswers(
  pool: RpcPool,
  {
    ranges,
    blocks,
    filter,
    onProblem,
  }: { ranges: RawRange[]; blocks: number[]; filter: LogFilter; onProblem: (line: string) => void },
): Promise<United> {
  const [first] = ranges;
  const headers = await fetchHeaders(pool, blocks, { order: first!.fromBlock });
  const headerOf = new Map(headers.map((header) => [header.number, header]));
  const withContents = (range: RawRange): Answer => ({ ...range, contents: contentsOf(range.table, first!) });
  const given = ranges.map(withContents);
  const answers = (await numberAlike(pool, ranges, { blocks, filter })).map(withContents);
  // Imported here, because hashing needs memory and is rarely needed.
  const { mayHaveLogs } = await import("./bloom.ts");
  const isAgreed: IsOfLog = (place, text) =>
    answers.every((answer) => !isWithin(place, answer) || answer.contents.get(place) === text);
  const isInBloom = (text: string, { logsBloom }: BlockHeader) => mayHaveLogs(logsBloom, [filterOf(text)]);

  async function findAgreed(): Promise<Agreed> {
    const empty = headers.flatMap(({ number, logsBloom }) => (EMPTY_BLOOM.test(logsBloom) ? [number] : []));
    const agreed = { bloomless: new Set(empty), undecided: new Set(empty) };
    for (const [place, text] of answers[0]!.contents) {
      const header = headerOf.get(blockOf(place));
      if (!header || !isAgreed(place, text)) continue;
      if (!isOfBlock(text, header)) {
        await voteOnBlock(pool, { onProblem, number: header.number });
        throw new BadLogError(`Its block ${header.number} has another hash than another node says.`);
      }
      if (!isInBloom(text, header)) agreed.bloomless.add(header.number);
      agreed.undecided.delete(header.number);
    }
    return agreed;
  }

  const { bloomless, undecided } = await findAgreed();
  const isPossible: IsOfLog = (place, text) => {
    const header = headerOf.get(blockOf(place));
    if (!header || isAgreed(place, text)) return true;
    return isOfBlock(text, header) && (bloomless.has(header.number) || isInBloom(text, header));
  };
  const { table, places } = takePossible(answers, isPossible);
  const isWrong = ({ contents, fromBlock, toBlock }: Answer) =>
    places.some(
      (place) => isWithin(place, { fromBlock, toBlock }) && !contents.has(place) && !undecided.has(blockOf(place)),
    ) || [...contents].some(([place, text]) => !isPossible(place, text));
  return { table, wrong: given.filter(isWrong).map(({ node }) => node), isUndecided: undecided.size > 0 };
}

/** The possible logs of all answers, each once, and their places. @throws BadLogError */
function takePossible(answers: Answer[], isPossible: IsOfLog): { table: LogTable; places: string[] } {
  const table = createLogTable();
  const textOf = new Map<string, string>();
  for (const { table: source, contents } of answers) {
    const logOf = new Map(Array.from({ length: source.count }, (_, log) => [placeOf(source, log), log]));
    const taken: number[] = [];
    for (const [place, text] of contents) {
      if (!isPossible(place, text)) continue;
      const known = textOf.get(place);
      if (known !== undefined && known !== text)
        throw new BadLogError(`Nodes contradict each other about log ${place}.`);
      if (known === undefined) taken.push(logOf.get(place)!);
      textOf.set(place, text);
    }
    appendLogs(table, columnsOf(source), taken);
  }
  return { table, places: [...textOf.keys()] };
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

function isWithin(place: string, { fromBlock, toBlock }: BlockRange): boolean {
  const number = blockOf(place);
  return number >= fromBlock && number <= toBlock;
}
