import type { Hex } from "viem";
import { eventOf, keepStep } from "../../src/record-sale.ts";
import { MAX_TRANSACTION_HOPS } from "../../src/limits.ts";
import type { Hop } from "../../src/sale.ts";
import type { LogPlace } from "../../src/movement.ts";
import { comparePlaces, type SettledSale } from "../../src/settle.ts";
import { fillOf, withoutTips } from "../../src/seaport.ts";
import type { Row, Store } from "../../src/store.ts";
import {
  createTransactionSales,
  putHops,
  putStep,
  salesOf,
  type Step,
  type StepContent,
} from "../../src/transaction-sales.ts";
import { placeAt, signerOf } from "../chain-log.ts";
import { moveLast, putRow } from "./copy-buffer.ts";
import { countHops, readHops } from "./hops.ts";
import { tableShapes } from "./onchain-schema.ts";
import { readOrderFulfilled } from "./order-fulfilled.ts";
import type { PlainFill } from "./plain-fill.ts";
import { findPlainSales, putPlainSale } from "./plain-sale.ts";
import type { Plan } from "./plan.ts";
import type { Recorder } from "./recorder.ts";

/**
 * The sales of a chunk's transactions. A chunk has all logs of a transaction, so its sales are worked out once, after
 * its last log, and their rows are final.
 */
export type Trades = {
  /** Adds a log that goes a short way. Its movements are read only if they are needed. */
  addLog: (log: number) => void;
  /** Adds the movements of a log. */
  addHops: (log: number, hops: readonly Hop[]) => void;
  /** Adds the content of an exchange's log. */
  addStep: (log: number, place: LogPlace, content: StepContent) => void;
  /** Adds a plain fill. `order`: its order's row from before. */
  addFill: (fill: PlainFill, order: Row<"tradeOrder"> | null) => void;
  /** Writes the sales of the last transaction. All other rows of it must still be in `recorder.events`. */
  end: () => void;
  /** Ends the chunk. */
  finish: () => void;
};

/** For each number within a transaction, the last exchange log that had it. */
export type LastSteps = PlacedStep[];
type PlacedStep = { place: LogPlace; step: Step };

const { columns } = tableShapes.get("tokenEvent")!;

/** Creates the trades of a chunk. Each transaction's steps are noted in `lastSteps`. */
export function createTrades({
  plan,
  recorder: { events },
  lastSteps,
}: {
  plan: Plan;
  recorder: Recorder;
  lastSteps: LastSteps;
}): Trades {
  const { logs } = plan.chunk;
  let transaction = -1;
  /** Movements in the order of the logs: hops, or the number of a log from which they are read. */
  let moved: (number | readonly Hop[])[] = [];
  let steps: (PlacedStep | PlainFill)[] = [];
  /** As `lastSteps`, for the steps of this chunk. */
  const latest: typeof steps = [];
  /** By log index of an exchange's log: the offset in `events` at which its rows belong among those of movements. */
  const rowPlaceOf = new Map<number, number>();

  const contractOf = (moves: number | readonly Hop[]) =>
    typeof moves === "number" ? logs.addresses[logs.addressOf[moves]!] : moves[0]?.contractAddress;

  const toStep = (step: PlacedStep | PlainFill): PlacedStep => (isFill(step) ? readStep(plan, step) : step);

  const settle = (steps: readonly Step[]): SettledSale[] => {
    const transactionSales = createTransactionSales();
    const put = (isAsked: (contractAddress: Hex | undefined) => boolean) => {
      // As many as `putHops` takes, those that aren't asked for among them.
      let left = MAX_TRANSACTION_HOPS;
      for (const moves of moved) {
        if (left <= 0) break;
        const count = typeof moves === "number" ? countHops(plan, moves) : moves.length;
        if (isAsked(contractOf(moves))) {
          const hops = typeof moves === "number" ? readHops(plan, moves) : moves;
          putHops(transactionSales, count > left ? hops.slice(0, left) : hops);
        }
        left -= count;
      }
    };
    // Wyvern's logs need all movements before them, other exchanges' logs only those of the tokens that they name,
    // which most movements of a transaction aren't of.
    const isAnyAsked = steps.some(({ kind }) => kind === "window");
    if (isAnyAsked) put(() => true);
    for (const step of steps) putStep(transactionSales, step);
    if (!isAnyAsked) {
      const sold = transactionSales.salesByToken.values().map(([first]) => first?.sale.contractAddress);
      const contracts = new Set<Hex | undefined>(sold);
      put((contractAddress) => contracts.has(contractAddress));
    }
    return salesOf(transactionSales, () => signerOf(logs, transaction));
  };

  /** Inserts a row in the order of the chain: the key of sorted rows takes half the time to make. */
  const writeRow = (logIndex: number, put: () => void) => {
    const start = events.length;
    put();
    moveLast(events, { start, place: rowPlaceOf.get(logIndex) ?? start });
  };

  const writeSales = () => {
    const fills = steps.filter((step) => isFill(step));
    const logsMoved = moved.filter((moves) => typeof moves === "number");
    const isPlain = fills.length === steps.length && logsMoved.length === moved.length;
    const plainSales = isPlain ? findPlainSales(plan, fills, logsMoved) : undefined;
    // From the last one on, so that the places of the others stay.
    if (plainSales) {
      for (const sale of plainSales.toReversed())
        writeRow(logs.logIndexOf[sale.fill.log]!, () => putPlainSale(events, plan, sale));
      return;
    }
    const placed = steps.map(toStep);
    const { place } = placed.at(-1)!;
    for (const sale of settle(placed.map(({ step }) => step)).toSorted((a, b) => comparePlaces(b, a)))
      writeRow(sale.logIndex, () => putRow(events, columns, eventOf(place, sale)));
  };

  const end = () => {
    // A transaction without an exchange's log has no sales.
    if (steps.length > 0) writeSales();
    moved = [];
    steps = [];
    rowPlaceOf.clear();
  };
  const begin = (log: number) => {
    if (logs.transactionOf[log] === transaction) return;
    end();
    transaction = logs.transactionOf[log]!;
  };
  const add = (log: number, moves: number | readonly Hop[]) => {
    begin(log);
    moved.push(moves);
  };

  const addStep = (log: number, step: PlacedStep | PlainFill) => {
    begin(log);
    rowPlaceOf.set(logs.logIndexOf[log]!, events.length);
    latest[steps.length] = step;
    steps.push(step);
  };

  return {
    addLog: (log) => add(log, log),
    addHops: add,
    addStep: (log, place, content) =>
      addStep(log, {
        place,
        step: { logIndex: place.logIndex, exchangeAddress: place.contractAddress, ...content },
      }),
    addFill: (fill, order) => {
      // Of what is known to be a listing, tips are taken off.
      if (order?.side !== "listing") return addStep(fill.log, fill);
      const { place, step } = readStep(plan, fill);
      addStep(fill.log, { place, step: { ...step, fill: withoutTips(step.fill, order) } });
    },
    end,
    finish: () => {
      end();
      for (const [number, step] of latest.entries()) lastSteps[number] = toStep(step);
    },
  };
}

/** Puts the rows of the last exchange logs into the store. */
export async function keepSteps(store: Store, lastSteps: LastSteps): Promise<void> {
  for (const [number, { place, step }] of lastSteps.entries()) await keepStep(store, place, { number, step });
}

const isFill = (step: PlacedStep | PlainFill): step is PlainFill => "orderHash" in step;

/** Reads a plain fill as the step that the definition makes of it. */
function readStep({ chunk: { logs }, addressesInWords }: Plan, { log }: PlainFill) {
  const place = placeAt(logs, log);
  const fill = fillOf(readOrderFulfilled(logs, log, addressesInWords)!, place);
  return {
    place,
    step: { logIndex: place.logIndex, exchangeAddress: place.contractAddress, kind: "fill" as const, fill },
  };
}
