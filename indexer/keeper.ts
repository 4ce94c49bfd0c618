import { setTimeout as sleep } from "node:timers/promises";

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;

/** After a run of this length the pauses begin anew. */
const GOOD_RUN_MS = 120_000;

/** Something that is started again whenever it ends. */
export type Keeper = {
  /** Why it isn't running now, if it isn't. */
  failure: () => string | undefined;
  stop: () => Promise<void>;
};

/** Returns why it failed, or undefined when it is done for good, and calls `onStart` once it is under way. */
export type Work = (options: { signal: AbortSignal; onStart: () => void }) => Promise<string | undefined>;

/** Runs `work` again after each failure, with a pause that doubles up to half a minute. */
export function keepRunning(work: Work, { onFailure }: { onFailure: (reason: string) => void }): Keeper {
  const stopping = new AbortController();
  const { signal } = stopping;
  let failure: string | undefined;
  const onStart = () => (failure = undefined);

  const run = async () => {
    let pause = FIRST_PAUSE_MS;
    while (!signal.aborted) {
      const startedAt = performance.now();
      const reason = await work({ signal, onStart }).catch((error: unknown) => String(error));
      if (signal.aborted || reason === undefined) return onStart();
      if (performance.now() - startedAt > GOOD_RUN_MS) pause = FIRST_PAUSE_MS;
      failure = reason;
      onFailure(`${reason.replace(/\.$/, "")}. Starts again in ${pause / 1000} s`);
      await sleep(pause, undefined, { signal }).catch(() => {});
      pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
    }
  };
  const finished = run();
  return {
    failure: () => failure,
    stop: async () => {
      stopping.abort();
      await finished;
    },
  };
}
