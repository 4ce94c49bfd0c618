import { setImmediate as nextTurn } from "node:timers/promises";
import type { Hex } from "viem";
import type { Log } from "../../src/define.ts";
import { recordLog as recordOnRows } from "../../src/record.ts";
import type { LogPlace } from "../../src/movement.ts";
import { fillOrder } from "../../src/seaport-events.ts";
import type { Hop } from "../../src/sale.ts";
import type { Context, RecordLog, Row, TableName } from "../../src/store.ts";
import { logAt, placeAt } from "../chain-log.ts";
import { isTracked } from "./contract-table.ts";
import type { Match } from "./dispatch.ts";
import { createMover } from "./mover.ts";
import { hashPlaceOf, wantOrder } from "./order-fulfilled.ts";
import { ITEM, type PlainFill, readPlainFill } from "./plain-fill.ts";
import { markAt, markOf, type OrderFilter, type OrderMark } from "./order-filter.ts";
import { ANY, FILL, isAnnounced, NOTHING, type Plan } from "./plan.ts";
import { type Recorder, recordFilledOrder } from "./recorder.ts";
import {
  addWanted,
  createRehearsal,
  createRowStore,
  type Finder,
  prefetch,
  type RowStore,
  type Wanted,
} from "./row-store.ts";
import { createTrades, type LastSteps, keepSteps } from "./trades.ts";
import { ADDRESS_BYTES, bigintAt, bytesOf, hexAt, WORD_BYTES } from "../word.ts";

/**
 * Applies logs as their definitions do. Nearly all logs are movements of contracts with one standard, and go a short
 * way: such a movement is always valid, so its event is written at once, and the rows of its token and holders are
 * worked out when all logs are read. A contract for which this doesn't hold is tracked: its movements are applied to
 * rows, as by Ponder.
 */
export type LogLoader = {
  store: RowStore;
  /**
   * Finds out which rows a chunk's definitions need, and reads them. If it returns contracts, the caller has to track
   * these and plan the chunk again.
   *
   * @param writeOrders writes and commits what is in `recorder.orders`, where the chunk may name one of these again
   */
  prepare: (plan: Plan, options: { writeOrders: () => Promise<void> }) => Promise<Hex[]>;
  /** @param write takes rows out of `recorder.events` */
  apply: (plan: Plan, write: () => Promise<void>) => Promise<void>;
  /** Puts the remaining rows, the last exchange logs, into the store before it is written. */
  complete: () => Promise<void>;
};

/** Thrown where a definition reads a row of a contract that must be tracked from before this chunk on. */
export class UntrackedError extends Error {
  readonly contractAddress: Hex;
  constructor(contractAddress: Hex) {
    super(`Rows of ${contractAddress} are asked for, which isn't tracked.`);
    this.contractAddress = contractAddress;
  }
}

/**
 * Bytes of events after which they are written, at the next end of a transaction. Then other work of the process gets
 * its turn, every few milliseconds.
 */
const SLICE_BYTES = 128 * 1024;

/** Tables that have rows of tracked contracts only, until the load finishes. */
const LATE_TABLES: readonly TableName[] = ["token", "ownership"];

/** A log that goes no short way. `log` is undefined where its wanted row is known: then it is decoded when applied. */
type Delivery = { index: number; match: Match; log: Log | undefined };

/** Creates a loader without rows. `find` reads those that are in the tables already. */
export function createLogLoader({
  recorder,
  orders,
  isIndexed,
  chainId,
  ...options
}: { recorder: Recorder; find: Finder; orders: OrderFilter } & Pick<Context, "isIndexed" | "chainId">): LogLoader {
  const { contracts } = recorder;
  /** Hashes of the orders that the chunk's definitions need and that no log before it has named. */
  let newOrders = new Set<Hex>();
  /**
   * 1 for each plain fill of the chunk whose order no log before the chunk and no other log of it names. Its row is new,
   * and nothing reads it before it is written: it needs no store.
   */
  let isOnly = new Uint8Array(0);
  const find: Finder = async (table, keys) => {
    const found = table === "tradeOrder" ? keys.filter((key) => !newOrders.has(key.order_hash as Hex)) : keys;
    return found.length > 0 ? options.find(table, found) : [];
  };
  const store = createRowStore(async (table, key) => {
    if (table === "tradeOrder" && !orders.note(markOf(key.order_hash as Hex))) return null;
    const address = key.contract_address as Hex;
    if (LATE_TABLES.includes(table) && !isTracked(contracts, bytesOf(address))) throw new UntrackedError(address);
    return (await find(table, [key]))[0] ?? null;
  });
  const lastSteps: LastSteps = [];
  let deliveries: Delivery[] = [];
  let transactionBase = 0;

  /** Notes the orders that a chunk names. Returns whether one of them may have been named before, or is twice in it. */
  const noteOrders = ({ wayOf, chunk: { logs } }: Plan, wanted: Wanted): boolean => {
    const hashes = Array.from(wanted.get("tradeOrder")?.values() ?? [], (key) => key.order_hash as Hex);
    newOrders = new Set(hashes.filter((hash) => !orders.note(markOf(hash))));
    isOnly = new Uint8Array(wayOf.length);
    const known = new Set<OrderMark>();
    const fills: number[] = [];
    for (let log = 0; log < wayOf.length; log++) if (wayOf[log] === FILL) fills.push(log);
    const marks = fills.map((log) => markAt(logs.words, logs.wordOf[hashPlaceOf(logs, log)]! * WORD_BYTES));
    for (const mark of marks) if (orders.note(mark)) known.add(mark);
    for (const [place, log] of fills.entries())
      if (known.has(marks[place]!)) addWanted(wanted, wantOrder(logs, log));
      else isOnly[log] = 1;
    return known.size > 0 || newOrders.size < hashes.length;
  };

  const prepare: LogLoader["prepare"] = async (plan, { writeOrders }) => {
    deliveries = listDeliveries(plan);
    const { store: tried, wanted } = createRehearsal();
    const untracked = new Set<Hex>();
    // Sales need no rows besides those that the logs of the same transaction write.
    const onTried = { store: tried, recordHops: async () => {} };
    const context: Context = {
      store: tried,
      recordLog: async (place, movements, options) => {
        const address = place.contractAddress;
        if (isTracked(contracts, bytesOf(address))) await recordOnRows(onTried, place, movements, options);
        else if (typeof movements !== "string" && !movements.every((one) => isAnnounced(plan, address, one)))
          untracked.add(address);
      },
      recordStep: async () => {},
      isIndexed,
      chainId,
    };
    for (const { index, match, log } of deliveries) {
      if (log) await match.handle(log, context);
      else addWanted(wanted, match.wants?.(plan.chunk.logs, index));
    }
    for (const table of LATE_TABLES)
      for (const key of wanted.get(table)?.values() ?? []) {
        const address = key.contract_address as Hex;
        if (!isTracked(contracts, bytesOf(address))) untracked.add(address);
      }
    if (untracked.size > 0) return [...untracked];
    if (noteOrders(plan, wanted) && recorder.orders.length > 0) await writeOrders();
    await prefetch(store, wanted, find);
    return [];
  };

  const apply: LogLoader["apply"] = async (plan, write) => {
    const { chunk, wayOf } = plan;
    const { transactionOf } = chunk.logs;
    let index = 0;
    const trades = createTrades({ plan, recorder, lastSteps });
    const mover = createMover({ plan, recorder, store, trades, transactionBase });
    const onRows = { store, recordHops: async (_: LogPlace, hops: readonly Hop[]) => trades.addHops(index, hops) };
    const recordLog: RecordLog = async (place, movements, options) => {
      if (typeof movements === "string" || isTracked(contracts, bytesOf(place.contractAddress)))
        await recordOnRows(onRows, place, movements, options);
      else mover.moveAll(place, movements, options);
    };
    const context: Context = {
      store,
      recordLog,
      recordStep: (place, step) => Promise.resolve(trades.addStep(index, place, step)),
      isIndexed,
      chainId,
    };
    let next = 0;
    for (; index < chunk.logs.count; index++) {
      const way = wayOf[index]!;
      if (way === NOTHING) continue;
      if (way === FILL) {
        const fill = readPlainFill(chunk.logs, index, plan.addressesInWords)!;
        const isNew = isOnly[index] === 1;
        trades.addFill(
          fill,
          isNew ? recordOrder(plan, fill, { recorder, isIndexed }) : await settleFill(plan, fill, context),
        );
      } else if (way === ANY) {
        mover.begin(index);
        for (; deliveries[next]?.index === index; next++) {
          const { match, log = readLog(plan, index, match) } = deliveries[next]!;
          if (log) await match.handle(log, context);
        }
      } else mover.moveShort(index, way);
      if (recorder.events.length < SLICE_BYTES || transactionOf[index] === transactionOf[index + 1]) continue;
      trades.end();
      await write();
      await nextTurn();
    }
    trades.finish();
    await write();
    transactionBase += chunk.logs.transactions.count;
  };

  const complete = () => keepSteps(store, lastSteps.splice(0));

  return { store, prepare, apply, complete };
}

/** Takes what was filled off its order, as `OrderFulfilled` of `src/seaport-events.ts` does. Returns its row from before. */
function settleFill(plan: Plan, fill: PlainFill, context: Context): Promise<Row<"tradeOrder"> | null> {
  const { wordOf, words, addresses, addressOf, blocks, blockOf } = plan.chunk.logs;
  return fillOrder(
    context,
    { contractAddress: addresses[addressOf[fill.log]!]!, timestamp: blocks.timestamps[blockOf[fill.log]!]! },
    {
      orderHash: hexAt(words, wordOf[fill.orderHash]! * WORD_BYTES),
      units: bigintAt(words, wordOf[fill.token + ITEM.amount]! * WORD_BYTES),
      tokens: tokensOf(plan, fill),
    },
  );
}

/** Does the same for an order that has no row: returns null. */
function recordOrder(
  plan: Plan,
  fill: PlainFill,
  { recorder, isIndexed }: { recorder: Recorder } & Pick<Context, "isIndexed">,
): null {
  const { wordOf, words, addressOf, blocks, blockOf } = plan.chunk.logs;
  if (tokensOf(plan, fill).some(isIndexed))
    recordFilledOrder(recorder, {
      exchange: { bytes: plan.addresses, start: addressOf[fill.log]! * ADDRESS_BYTES },
      words,
      orderHash: wordOf[fill.orderHash]! * WORD_BYTES,
      units: wordOf[fill.token + ITEM.amount]! * WORD_BYTES,
      timestamp: blocks.timestamps[blockOf[fill.log]!]!,
    });
  return null;
}

const tokensOf = ({ chunk: { logs }, addressesInWords }: Plan, { token, coin }: PlainFill): Hex[] =>
  [token, coin].map((item) => addressesInWords(logs.wordOf[item + ITEM.contract]!));

function listDeliveries(plan: Plan): Delivery[] {
  const deliveries: Delivery[] = [];
  for (let index = 0; index < plan.chunk.logs.count; index++) {
    if (plan.wayOf[index] !== ANY) continue;
    for (const match of plan.matchesOf(index)) {
      const log = match.wants ? undefined : readLog(plan, index, match);
      if (log || match.wants) deliveries.push({ index, match, log });
    }
  }
  return deliveries;
}

/** Reads a log with its arguments; undefined where Ponder wouldn't deliver it. */
function readLog({ chunk: { logs }, addressesInWords }: Plan, index: number, match: Match): Log | undefined {
  const place = placeAt(logs, index);
  const args = match.read?.(logs, index, addressesInWords);
  if (args) return { place, args, topics: [], data: "0x", note: null };
  const whole = logAt(logs, index);
  const decoded = match.decode(whole);
  return decoded && { place, args: decoded[0], topics: whole.topics, data: whole.data, note: whole.note };
}
