import { and, eq, lt, ne } from "ponder";
import type { Context } from "ponder:registry";
import { saleStep, tokenEvent } from "ponder:schema";
import type { Hex } from "viem";
import type { LogPlace, TokenEventRow } from "./movement.ts";
import type { Hop } from "./sale.ts";
import {
  addHops,
  addStep,
  newTrail,
  type SaleChange,
  type SettledSale,
  type Step,
  type StepContent,
  type Trail,
} from "./trail.ts";

/**
 * The transaction whose logs come now. Kept in memory, because a row for each transfer would cost more than the
 * transfer. Logs come in order, so what was seen from its first log on is whole. Where that isn't sure (the process has
 * just started, or goes back after a reorg or an error), it is read from the tables before it is needed.
 */
let trail: Trail = newTrail();
let transaction: Pick<LogPlace, "blockHash" | "transactionHash"> | undefined;
let isWhole = false;

/** The log that was seen last: its block, its index, and 0 for its movements or 1 for what it says of a sale. */
let last: Mark | undefined;
type Mark = readonly [number, number, 0 | 1];

/** Tells the transaction's trail of the movements of a log. Costs next to nothing where nothing is sold. */
export async function recordHops(context: Context, place: LogPlace, hops: readonly Hop[]): Promise<void> {
  advance(place, 0);
  if (!isWhole) {
    // Movements before this one matter only if something was sold before it: a sale to come reads them itself.
    if (!(await findStep(context, place, 0))) return;
    await restore(context, place, place.logIndex);
  }
  await writeChanges(context, place, addHops(trail, hops));
}

/** Adds what an exchange's log says to its transaction's trail, and writes what that makes of the sales. */
export async function recordStep(
  context: Context,
  place: LogPlace,
  { sender, ...content }: StepContent & { sender: Hex },
): Promise<void> {
  advance(place, 1);
  if (!isWhole) await restore(context, place, place.logIndex + 1);
  const step: Step = { logIndex: place.logIndex, exchange: place.contractAddress, sender, ...content };
  const row = {
    block_number: place.blockNumber,
    log_index: place.logIndex,
    transaction_hash: place.transactionHash,
    content: writeStep(step),
  };
  await context.db
    .insert(saleStep)
    .values({ step: trail.stepCount, ...row })
    .onConflictDoUpdate(row);
  await writeChanges(context, place, addStep(trail, step));
}

function advance({ blockNumber, logIndex, blockHash, transactionHash }: LogPlace, part: 0 | 1): void {
  const mark = [blockNumber, logIndex, part] as const;
  const isForward = last !== undefined && isAfter(mark, last);
  last = mark;
  const isSame = transaction?.transactionHash === transactionHash && transaction.blockHash === blockHash;
  if (isSame && isForward) return;
  trail = newTrail();
  transaction = { blockHash, transactionHash };
  isWhole = isForward;
}

const isAfter = (a: Mark, b: Mark) => (a[0] !== b[0] ? a[0] > b[0] : a[1] !== b[1] ? a[1] > b[1] : a[2] > b[2]);

/** Makes the trail out of the tables, with the movements of logs before `end` and all that was said before this log. */
async function restore(context: Context, place: LogPlace, end: number): Promise<void> {
  trail = newTrail();
  const rows = await context.db.sql
    .select()
    .from(tokenEvent)
    .where(
      and(
        eq(tokenEvent.block_number, place.blockNumber),
        eq(tokenEvent.transaction_hash, place.transactionHash),
        lt(tokenEvent.log_index, end),
        ne(tokenEvent.event_type, "sale"),
      ),
    )
    .orderBy(tokenEvent.log_index, tokenEvent.batch_index);
  const hops = rows.map((row) => ({
    logIndex: row.log_index,
    contractAddress: row.contract_address,
    tokenId: row.token_id,
    from: row.from_address,
    to: row.to_address,
    quantity: row.quantity,
  }));
  addHops(trail, hops);
  for (let step = await findStep(context, place, 0); step; step = await findStep(context, place, trail.stepCount))
    addStep(trail, step);
  isWhole = true;
}

/** What the transaction's exchange logs before this one said, by number. */
async function findStep({ db }: Context, place: LogPlace, step: number): Promise<Step | undefined> {
  const row = await db.find(saleStep, { step });
  const isOfTransaction = row?.block_number === place.blockNumber && row.transaction_hash === place.transactionHash;
  return isOfTransaction && row.log_index < place.logIndex ? readStep(row.content) : undefined;
}

async function writeChanges({ db }: Context, place: LogPlace, changes: readonly SaleChange[]): Promise<void> {
  for (const { before, after } of changes) {
    const { logIndex: log_index, batchIndex: batch_index } = (after ?? before)!;
    const key = { block_number: place.blockNumber, log_index, batch_index };
    if (!after) await db.delete(tokenEvent, key);
    else if (before) await db.update(tokenEvent, key).set(eventOf(place, after));
    else await db.insert(tokenEvent).values(eventOf(place, after));
  }
}

function eventOf(place: LogPlace, sale: SettledSale): TokenEventRow {
  return {
    block_number: place.blockNumber,
    log_index: sale.logIndex,
    batch_index: sale.batchIndex,
    timestamp: place.timestamp,
    event_type: "sale",
    contract_address: sale.contractAddress,
    token_id: sale.tokenId,
    from_address: sale.seller,
    to_address: sale.buyer,
    quantity: sale.quantity,
    transaction_hash: place.transactionHash,
    price: sale.price,
    currency_address: sale.currency,
    price_note: sale.note,
    marketplace: sale.exchange,
    broker: sale.broker,
  };
}

/** JSON has no bigints: they are strings of digits with an n behind. Nothing else in a step looks so. */
const writeStep = (step: Step) =>
  JSON.stringify(step, (_, value: unknown) => (typeof value === "bigint" ? `${value}n` : value));

const readStep = (text: string) =>
  JSON.parse(text, (_, value: unknown) =>
    typeof value === "string" && /^\d+n$/.test(value) ? BigInt(value.slice(0, -1)) : value,
  ) as Step;
