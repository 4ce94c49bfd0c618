import { expect, test } from "vitest";
import { createProgress, type HistoryProgress } from "./progress.ts";

/** A load of 1,000 blocks. The work after the last log takes as long as the CPU time of this thread predicts. */
function play({ firstSeconds, secondsOf }: { firstSeconds: number; secondsOf: (block: number) => number }) {
  let seconds = 0;
  let reported: HistoryProgress | undefined;
  const seen: { at: number; eta: number }[] = [];
  const progress = createProgress({
    fromBlock: 1,
    toBlock: 1_000,
    logCount: 0,
    onProgress: (one) => (reported = one),
    now: () => seconds,
  });
  const note = () => seen.push({ at: seconds, eta: reported!.etaSeconds! });
  for (let block = 10; block <= 1_000; block += 10) {
    seconds += block === 10 ? firstSeconds : 10 * secondsOf(block);
    progress.readLogs({ block, logCount: block * 100, cpuSeconds: block / 100 });
    note();
  }
  for (let share = 1; share <= 10; share++) {
    seconds += 3.5;
    progress.finishPart(share / 10);
    note();
  }
  return seen.map(({ at, eta }) => ({ done: at / seconds, error: Math.abs(eta - (seconds - at)) / seconds, eta }));
}

test.for([
  ["even", () => 0.1],
  ["three times as slow from the middle on", (block: number) => (block > 500 ? 0.3 : 0.1)],
] as const)("on a chain that is %s the time left is right soon, though the first answer took long", ([, secondsOf]) => {
  const isEven = secondsOf(1) === secondsOf(1_000);
  const seen = play({ firstSeconds: 20, secondsOf });
  for (const { error } of seen.filter(({ done }) => done > (isEven ? 0.3 : 0.85))) expect(error).toBeLessThan(0.1);
  expect(seen.at(-1)!.eta).toBe(0);
});

test("what was read before counts in what comes after the logs", () => {
  const etas: (number | null)[] = [];
  const progress = createProgress({
    fromBlock: 901,
    toBlock: 1_000,
    logCount: 90_000,
    onProgress: ({ etaSeconds }) => etas.push(etaSeconds),
    now: () => 0,
  });
  progress.readLogs({ block: 1_000, logCount: 100_000, cpuSeconds: 1 });
  expect(etas).toEqual([35]);
});

test("a load of which all logs were read before goes by what is done of the rest", () => {
  let seconds = 0;
  const etas: (number | null)[] = [];
  const progress = createProgress({
    fromBlock: 1_001,
    toBlock: 1_000,
    logCount: 100_000,
    onProgress: ({ etaSeconds }) => etas.push(etaSeconds),
    now: () => seconds,
  });
  progress.finishPart(0);
  seconds = 10;
  progress.finishPart(0.25);
  expect(etas).toEqual([30]);
});
