import type { Hex } from "viem";

/*
 * A call may burn all the gas that a node gives it, which takes the node up to seconds. A collection of a hundred thousand
 * such tokens costs its maker next to nothing: reading 100 tokens, 50 of them such, took five minutes.
 */

/** Calls that take at least so long each are slow: no node is that far away. */
const SLOW_CALL_MS = 500;
/** A batch of any size that takes so long has a slow call in it. */
export const SLOW_BATCH_MS = 4000;
/**
 * How many bytes a slow line brings in a millisecond, and how long a part's answers may take for that at most. Drawings on
 * the chain have hundreds of kilobytes, whose way here is not their contract's fault.
 */
const LINE_BYTES_PER_MS = 250;
const MAX_LINE_MS = 4000;
/** The largest number of calls at once while none was slow. It begins with one, and doubles. */
const MAX_PART = 16;
/** How long one contract may take in one reading: with slow calls, and with any calls. */
const MAX_SLOW_MS = 2000;
const MAX_MS = 5000;
/** After slow calls a contract is left alone for so many times as long as they took. */
const PAUSE_FACTOR = 20;
/** How many contracts are remembered. */
const MAX_KNOWN = 10_000;

/** Remembers contracts that may be slow. They are asked alone, and left alone for a while where they were slow. */
export type SlowContracts = {
  isSuspect: (contract: Hex) => boolean;
  /** Notes that one of these contracts was slow. As it isn't known which, each is asked alone until it was quick. */
  suspect: (contracts: readonly Hex[]) => void;
  /**
   * Asks a suspect contract's questions, few at once, as long as there is time. There may be fewer answers than
   * questions. `ask` returns undefined where no node answers, whatever is asked: then the contract isn't to blame.
   * `bytesOf`: how large answers are.
   */
  askAlone: <Q, A>(
    contract: Hex,
    questions: readonly Q[],
    options: { ask: (part: readonly Q[]) => Promise<A[] | undefined>; bytesOf: (answers: A[]) => number },
  ) => Promise<A[]>;
};

/** Creates the memory of a process that suspects nobody yet. */
export function createSlowContracts(): SlowContracts {
  const pausedUntil = new Map<Hex, number>();

  return {
    isSuspect: (contract) => pausedUntil.has(contract),
    suspect: (contracts) => {
      if (pausedUntil.size > MAX_KNOWN) pausedUntil.clear();
      for (const contract of contracts) pausedUntil.set(contract, pausedUntil.get(contract) ?? 0);
    },
    askAlone: async (contract, questions, { ask, bytesOf }) => {
      const answers = [];
      const beganAt = performance.now();
      let slowMs = 0;
      let size = 1;
      while (answers.length < questions.length) {
        const startedAt = performance.now();
        if ((pausedUntil.get(contract) ?? 0) > startedAt || startedAt - beganAt > MAX_MS) break;
        const part = questions.slice(answers.length, answers.length + size);
        const given = await ask(part);
        if (!given) break;
        answers.push(...given);
        const lineMs = Math.min(bytesOf(given) / LINE_BYTES_PER_MS, MAX_LINE_MS);
        const tookMs = performance.now() - startedAt - lineMs;
        const isSlow = tookMs > Math.min(SLOW_CALL_MS * part.length, SLOW_BATCH_MS);
        if (isSlow) slowMs += tookMs;
        size = isSlow ? 1 : Math.min(size * 2, MAX_PART);
        if (slowMs > MAX_SLOW_MS) pausedUntil.set(contract, performance.now() + slowMs * PAUSE_FACTOR);
      }
      if (slowMs === 0 && answers.length === questions.length) pausedUntil.delete(contract);
      return answers;
    },
  };
}
