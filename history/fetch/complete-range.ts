import { type BlockHeader, fetchHeaders } from "./block-header.ts";
import type { LogColumns } from "../chain-log.ts";
import { BadLogError } from "./log-answer.ts";
import { columnsOf, type LogTable } from "./log-table.ts";
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
 * Adds what a range's answer doesn't have (times, senders), and checks the answer against the headers of all its
 * blocks, against another node where there is one, and against itself. @throws BadLogError where something doesn't fit
 */
export async function completeRange(
  pool: RpcPool,
  raw: RawRange & { isDoubted: boolean },
  options: VerifyOptions,
): Promise<FetchedRange> {
  const { fromBlock, toBlock, node, isDoubted } = raw;
  const asked = [...new Set([fromBlock, ...raw.table.numbers, toBlock])].toSorted((a, b) => a - b);
  const headers = await fetchHeaders(pool, asked, { order: fromBlock, avoid: node });
  const [firstHeader, lastHeader] = [headers[0]!, headers.at(-1)!];
  checkLinks(headers);

  const { table } = await verifyRange(pool, raw, { lastHeader, isDoubted, ...options });
  const added = table.numbers.filter((number) => !raw.table.blockPlaces.has(number));
  if (added.length > 0) headers.push(...(await fetchHeaders(pool, added, { order: fromBlock, avoid: node })));
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
