import { eventOf, keepStep } from "../../src/record-sale.ts";
import type { Hop } from "../../src/sale.ts";
import type { LogPlace } from "../../src/movement.ts";
import type { Store } from "../../src/store.ts";
import { newTrail, putHops, putStep, salesOf, type Step, type StepContent } from "../../src/trail.ts";
import { type LogColumns, signerOf } from "../chain-log.ts";
import { putRow } from "./copy-buffer.ts";
import { tableShapes } from "./onchain-schema.ts";
import type { Recorder } from "./recorder.ts";

/**
 * The sales of a chunk's transactions. All logs of a transaction are at hand, so its sales are worked out once, behind
 * its last one, and their rows are final.
 */
export type Trades = {
  /** Adds the movements of a log. */
  addHops: (log: number, hops: readonly Hop[]) => void;
  /** Adds what an exchange's log says. */
  addStep: (log: number, place: LogPlace, content: StepContent) => void;
  /** Writes the sales of the transaction that came last. */
  end: () => void;
};

/** The exchanges' logs that came last, by their number in their transaction. */
export type LastSteps = { place: LogPlace; step: Step }[];

const { columns } = tableShapes.get("tokenEvent")!;

export function createTrades({
  logs,
  recorder: { events },
  lastSteps,
}: {
  logs: LogColumns;
  recorder: Recorder;
  lastSteps: LastSteps;
}): Trades {
  let transaction = -1;
  let trail = newTrail();
  let lastPlace: LogPlace | undefined;

  const end = () => {
    // Without an exchange's log nothing was sold.
    if (lastPlace)
      for (const sale of salesOf(trail, () => signerOf(logs, transaction)))
        putRow(events, columns, eventOf(lastPlace, sale));
    trail = newTrail();
    lastPlace = undefined;
  };
  const begin = (log: number) => {
    if (logs.transactionOf[log] === transaction) return;
    end();
    transaction = logs.transactionOf[log]!;
  };

  return {
    addHops: (log, hops) => {
      begin(log);
      putHops(trail, hops);
    },
    addStep: (log, place, content) => {
      begin(log);
      lastPlace = place;
      const step: Step = { logIndex: place.logIndex, exchangeAddress: place.contractAddress, ...content };
      lastSteps[trail.stepCount] = { place, step };
      putStep(trail, step);
    },
    end,
  };
}

/** Writes the rows of the last steps. */
export async function keepSteps(store: Store, lastSteps: LastSteps): Promise<void> {
  for (const [number, { place, step }] of lastSteps.entries()) await keepStep(store, place, { number, step });
}
