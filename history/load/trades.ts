import type { Hex } from "viem";
import { eventOf, keepStep } from "../../src/record-sale.ts";
import type { Hop } from "../../src/sale.ts";
import type { LogPlace } from "../../src/movement.ts";
import { comparePlaces, type SettledSale } from "../../src/settle.ts";
import type { Store } from "../../src/store.ts";
import { newTrail, putHops, putStep, salesOf, type Step, type StepContent } from "../../src/trail.ts";
import { signerOf } from "../chain-log.ts";
import { moveLast, putRow } from "./copy-buffer.ts";
import { readHops } from "./hops.ts";
import { tableShapes } from "./onchain-schema.ts";
import type { Plan } from "./plan.ts";
import type { Recorder } from "./recorder.ts";

/**
 * The sales of a chunk's transactions. All logs of a transaction are at hand, so its sales are worked out once, behind
 * its last one, and their rows are final.
 */
export type Trades = {
  /** Adds a log that goes a short way: its movements are read when they are asked for. */
  addLog: (log: number) => void;
  /** Adds the movements of a log. */
  addHops: (log: number, hops: readonly Hop[]) => void;
  /** Adds what an exchange's log says. */
  addStep: (log: number, place: LogPlace, content: StepContent) => void;
  /** Writes the sales of the transaction that came last. Until then all of its rows must be in `recorder.events`. */
  end: () => void;
};

/** The exchanges' logs that came last, by their number in their transaction. */
export type LastSteps = { place: LogPlace; step: Step }[];

const { columns } = tableShapes.get("tokenEvent")!;

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
  /** What moved, in the order of the logs. */
  let moved: (number | readonly Hop[])[] = [];
  let steps: Step[] = [];
  /** Where the rows of an exchange's log belong among those of movements, by its index. */
  const rowPlaceOf = new Map<number, number>();
  let lastPlace: LogPlace | undefined;

  const contractOf = (moves: number | readonly Hop[]) =>
    typeof moves === "number" ? logs.addresses[logs.addressOf[moves]!] : moves[0]?.contractAddress;

  const settle = (): SettledSale[] => {
    const trail = newTrail();
    const put = (isAsked: (contractAddress: Hex | undefined) => boolean) => {
      for (const moves of moved)
        if (isAsked(contractOf(moves))) putHops(trail, typeof moves === "number" ? readHops(plan, moves) : moves);
    };
    // Wyvern's logs ask for all that moved before them, the others for the tokens that they name: most hops of a
    // transaction are of others.
    const isAnyAsked = steps.some(({ kind }) => kind === "window");
    if (isAnyAsked) put(() => true);
    for (const step of steps) putStep(trail, step);
    if (!isAnyAsked) {
      const sold = trail.salesByToken.values().map(([first]) => first?.sale.contractAddress);
      const contracts = new Set<Hex | undefined>(sold);
      put((contractAddress) => contracts.has(contractAddress));
    }
    return salesOf(trail, () => signerOf(logs, transaction));
  };

  /** Puts rows where they belong in the order of the chain: the key of rows that are sorted takes half the time to make. */
  const writeSales = (place: LogPlace) => {
    for (const sale of settle().toSorted((a, b) => comparePlaces(b, a))) {
      const start = events.length;
      putRow(events, columns, eventOf(place, sale));
      moveLast(events, { start, place: rowPlaceOf.get(sale.logIndex) ?? start });
    }
  };

  const end = () => {
    // Without an exchange's log nothing was sold.
    if (lastPlace) writeSales(lastPlace);
    moved = [];
    steps = [];
    rowPlaceOf.clear();
    lastPlace = undefined;
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

  return {
    addLog: (log) => add(log, log),
    addHops: add,
    addStep: (log, place, content) => {
      begin(log);
      lastPlace = place;
      rowPlaceOf.set(place.logIndex, events.length);
      const step: Step = { logIndex: place.logIndex, exchangeAddress: place.contractAddress, ...content };
      lastSteps[steps.length] = { place, step };
      steps.push(step);
    },
    end,
  };
}

/** Writes the rows of the last steps. */
export async function keepSteps(store: Store, lastSteps: LastSteps): Promise<void> {
  for (const [number, { place, step }] of lastSteps.entries()) await keepStep(store, place, { number, step });
}
