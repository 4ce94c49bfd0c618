import type { LogPlace, TokenEventRow } from "./movement.ts";
import { recordLog } from "./record.ts";
import type { Hop } from "./sale.ts";
import type { Context, Store } from "./store.ts";
import type { SettledSale, Signer } from "./settle.ts";
import {
  addHops,
  addStep,
  createTransactionSales,
  type SaleChange,
  type Step,
  type StepContent,
  type TransactionSales,
} from "./transaction-sales.ts";

/**
 * What the logs of the current transaction have said so far of its sales. It is kept in memory, because a row for each
 * transfer would cost more than the transfer. Logs come in order, so what was begun with the transaction's first log is
 * whole. Where that isn't sure (the process has just started, or goes back after a reorg or an error), it is restored
 * from the tables before it is needed.
 */
export type SalesState = {
  transactionSales: TransactionSales;
  transaction: Pick<LogPlace, "blockHash" | "transactionHash"> | undefined;
  isWhole: boolean;
  /** What was recorded last. */
  last: Mark | undefined;
};

/** Block number, log index, and 0 for the log's movements or 1 for its step. */
type Mark = readonly [number, number, 0 | 1];

/**
 * What the functions below work on. `sales`: one `createSalesState()` for each chain that is followed. `signer`: who
 * signed the transaction of the current log.
 */
type Sales = { store: Store; sales: SalesState; signer: Signer };

/** The state of a process that has seen no log yet. */
export const createSalesState = (): SalesState => ({
  transactionSales: createTransactionSales(),
  transaction: undefined,
  isWhole: false,
  last: undefined,
});

/** The context of handlers, for an engine that runs them one log after the other, in order. */
export function contextOf({ isIndexed, chainId, ...sales }: Sales & Pick<Context, "isIndexed" | "chainId">): Context {
  const { store } = sales;
  const rows = { store, recordHops: (place: LogPlace, hops: readonly Hop[]) => recordHops(sales, place, hops) };
  return {
    store,
    recordLog: (place, movements, options) => recordLog(rows, place, movements, options),
    recordStep: (place, step) => recordStep(sales, place, step),
    isIndexed,
    chainId,
  };
}

/** Adds a log's movements to its transaction's sales, and writes the sales that change by it. Cheap where nothing is sold. */
async function recordHops(context: Sales, place: LogPlace, hops: readonly Hop[]): Promise<void> {
  advance(context.sales, place, 0);
  if (!context.sales.isWhole) {
    // The movements before this one are needed only if something was sold before it: a later sale restores them itself.
    if (!(await findStep(context, place, 0))) return;
    await restore(context, place, place.logIndex);
  }
  await writeChanges(context, place, addHops(context.sales.transactionSales, hops, context.signer));
}

/** Adds a step to its transaction's sales, and writes the sales that change by it. */
async function recordStep(context: Sales, place: LogPlace, content: StepContent): Promise<void> {
  advance(context.sales, place, 1);
  if (!context.sales.isWhole) await restore(context, place, place.logIndex + 1);
  const step: Step = { logIndex: place.logIndex, exchangeAddress: place.contractAddress, ...content };
  const { transactionSales } = context.sales;
  await keepStep(context.store, place, { number: transactionSales.stepCount, step });
  await writeChanges(context, place, addStep(transactionSales, step, context.signer));
}

/** Writes a step, the `number`th of its transaction, for a process that starts in the middle of the transaction. */
export async function keepStep(
  store: Store,
  place: LogPlace,
  { number, step }: { number: number; step: Step },
): Promise<void> {
  const row = {
    block_number: place.blockNumber,
    log_index: place.logIndex,
    transaction_hash: place.transactionHash,
    content: writeStep(step),
  };
  await store.upsert("saleStep", { step: number, ...row }, row);
}

/**
 * Goes on to a log. Sales begin anew with each transaction, and where logs don't go forward (a reorg, an error).
 */
function advance(
  sales: SalesState,
  { blockNumber, logIndex, blockHash, transactionHash }: LogPlace,
  part: 0 | 1,
): void {
  const mark = [blockNumber, logIndex, part] as const;
  const { last, transaction } = sales;
  const isForward = last !== undefined && isAfter(mark, last);
  sales.last = mark;
  const isSame = transaction?.transactionHash === transactionHash && transaction.blockHash === blockHash;
  if (isSame && isForward) return;
  sales.transactionSales = createTransactionSales();
  sales.transaction = { blockHash, transactionHash };
  sales.isWhole = isForward;
}

const isAfter = (a: Mark, b: Mark) => (a[0] !== b[0] ? a[0] > b[0] : a[1] !== b[1] ? a[1] > b[1] : a[2] > b[2]);

/** Restores a transaction's sales from the tables: the movements of logs before `end`, and all steps before this log. */
async function restore(context: Sales, place: LogPlace, end: number): Promise<void> {
  const transactionSales = createTransactionSales();
  addHops(transactionSales, await context.store.listHops(place, { end }), context.signer);
  for (
    let step = await findStep(context, place, 0);
    step;
    step = await findStep(context, place, transactionSales.stepCount)
  )
    addStep(transactionSales, step, context.signer);
  context.sales.transactionSales = transactionSales;
  context.sales.isWhole = true;
}

/** A step of the transaction by number, as long as it is from before this log. */
async function findStep({ store }: Sales, place: LogPlace, step: number): Promise<Step | undefined> {
  const row = await store.find("saleStep", { step });
  const isOfTransaction = row?.block_number === place.blockNumber && row.transaction_hash === place.transactionHash;
  return isOfTransaction && row.log_index < place.logIndex ? readStep(row.content) : undefined;
}

async function writeChanges({ store }: Sales, place: LogPlace, changes: readonly SaleChange[]): Promise<void> {
  for (const { before, after } of changes) {
    const { logIndex: log_index, batchIndex: batch_index } = (after ?? before)!;
    const key = { block_number: place.blockNumber, log_index, batch_index };
    if (!after) await store.delete("tokenEvent", key);
    else {
      const { block_number: _block, log_index: _log, batch_index: _batch, ...event } = eventOf(place, after);
      if (before) await store.update("tokenEvent", key, event);
      else await store.insert("tokenEvent", { ...key, ...event });
    }
  }
}

/** A sale's row in `token_event`. `place`: that of any log of its transaction. */
export function eventOf(
  place: Pick<LogPlace, "blockNumber" | "timestamp" | "transactionHash">,
  sale: SettledSale,
): TokenEventRow {
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
    marketplace: sale.marketplace,
    broker: sale.broker,
    is_offer: sale.isOffer,
  };
}

/** A step as JSON, with bigints as strings of digits and an n behind. No other string in a step looks like that. */
const writeStep = (step: Step) =>
  JSON.stringify(step, (_, value: unknown) => (typeof value === "bigint" ? `${value}n` : value));

const readStep = (text: string) =>
  JSON.parse(text, (_, value: unknown) =>
    typeof value === "string" && /^\d+n$/.test(value) ? BigInt(value.slice(0, -1)) : value,
  ) as Step;
