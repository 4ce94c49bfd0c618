import { type BlockHeader, fetchHeaders } from "./block-header.ts";
import type { LogColumns } from "../chain-log.ts";
import { BadLogError } from "./log-answer.ts";
import { numberLogs } from "./log-number.ts";
import { columnsOf, type LogTable, UNKNOWN_TIME } from "./log-table.ts";
import { type BlockRange, orderOf, type RawRange } from "./raw-range.ts";
import type { RpcPool } from "../rpc/rpc-pool.ts";
import { addTransactionParts } from "./transaction.ts";
import { type VerifyOptions, verifyRange } from "./verify.ts";
import { voteOnBlock } from "./vote.ts";
import { hexAt, WORD_BYTES } from "../word.ts";

/**
 * All logs of a filter in a range of blocks, and the headers of its first and last block. `order`: the indexes of the
 * logs in the order of the chain, each log once; undefined where they are in that order already.
 */
export type FetchedRange = BlockRange & {
  logs: LogColumns;
  order: number[] | undefined;
  firstHeader: BlockHeader;
  lastHeader: BlockHeader;
};

/**
 * Of blocks whose logs tell their time, the header of one in so many is asked for. All headers would be most of what a
 * history costs where a provider charges by the call, because most blocks have logs.
 */
const HEADERS_ONE_OF = 16;

/**
 * Adds what a range's answer doesn't have (times, senders), and checks the answer against headers of its blocks, against
 * another node where there is one, and against itself. @throws BadLogError where something doesn't fit
 */
export async function completeRange(
  pool: RpcPool,
  answer: RawRange & { isDoubted: boolean },
  options: VerifyOptions,
): Promise<FetchedRange> {
  const raw = { ...answer, table: await numberLogs(pool, answer, options) };
  const { fromBlock, toBlock, node, isDoubted } = raw;
  const fetchThese = (numbers: number[]) => fetchHeaders(pool, numbers, { order: fromBlock, avoid: node });
  const headers = await fetchThese(listAsked(raw));
  if (!areTimesTold(raw.table, headers)) headers.push(...(await fetchThese(listOthers(raw.table, headers))));
  headers.sort((a, b) => a.number - b.number);
  const [firstHeader, lastHeader] = [headers[0]!, headers.at(-1)!];
  checkLinks(headers);

  const { table } = await verifyRange(pool, raw, { lastHeader, isDoubted, ...options });
  // Logs of other nodes are among these: what they tell was compared with nothing.
  if (table !== raw.table) headers.push(...(await fetchThese(listOthers(table, headers))));
  const otherBlock = applyHeaders(table, headers);
  if (otherBlock !== undefined) {
    await voteOnBlock(pool, { ...options, number: otherBlock });
    throw new BadLogError(`Its block ${otherBlock} has another hash than another node says.`);
  }
  const order = orderOf(table);
  const logs = columnsOf(table);
  await addTransactionParts(pool, logs, { order: fromBlock, filter: options.filter });
  return { fromBlock, toBlock, logs, order, firstHeader, lastHeader };
}

/** The blocks whose headers are asked for at first: the outermost ones, those without a time, and some of the others. */
function listAsked({ fromBlock, toBlock, table: { numbers, timestamps } }: RawRange): number[] {
  const inRange = numbers.filter(
    (number, block) => timestamps[block] === UNKNOWN_TIME || number % HEADERS_ONE_OF === 0,
  );
  const outermost = [fromBlock, ...numbers.slice(0, 1), ...numbers.slice(-1), toBlock];
  return [...new Set([...outermost, ...inRange])].toSorted((a, b) => a - b);
}

function listOthers({ numbers }: LogTable, headers: BlockHeader[]): number[] {
  const known = new Set(headers.map(({ number }) => number));
  return numbers.filter((number) => !known.has(number));
}

/**
 * Whether the times that a node has written into its logs are those of these headers, and lie in between where there is
 * none: some nodes write 0 now and then.
 */
function areTimesTold({ numbers, timestamps }: LogTable, headers: BlockHeader[]): boolean {
  const timeOf = new Map(numbers.map((number, block) => [number, timestamps[block]!]));
  for (const { number, timestamp } of headers) {
    const told = timeOf.get(number) ?? UNKNOWN_TIME;
    if (told !== UNKNOWN_TIME && told !== timestamp) return false;
    timeOf.set(number, timestamp);
  }
  const times = [...timeOf].toSorted(([a], [b]) => a - b).map(([, time]) => time);
  return times.every((time, place) => place === 0 || time >= times[place - 1]!);
}

function checkLinks(headers: BlockHeader[]): void {
  for (const [at, { number, parentHash }] of headers.entries()) {
    const before = headers[at - 1];
    if (before?.number === number - 1 && before.hash !== parentHash)
      throw new BadLogError(`Block ${number} doesn't name block ${number - 1} as its parent.`);
  }
}

/**
 * Adds the times of blocks. Returns the first block whose header has another hash than the logs have, if there is one.
 */
function applyHeaders(table: LogTable, headers: BlockHeader[]): number | undefined {
  for (const { number, hash, timestamp } of headers) {
    const block = table.blockPlaces.get(number);
    if (block === undefined) continue;
    if (hash !== hexAt(table.blocks.bytes, block * WORD_BYTES)) return number;
    table.timestamps[block] = timestamp;
  }
  return undefined;
}
