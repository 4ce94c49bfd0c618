import type { Hex } from "viem";

/*
 * A call may burn all the gas that a node gives it, which takes a node up to seconds, and a collection of a hundred
 * thousand such tokens costs its maker next to nothing: of 100 tokens, 50 of them such, a reading took five minutes.
 */

/** Calls that take so long each are slow: no node is that far away. */
const SLOW_CALL_MS = 500;
/** However many are asked at once, one of them is slow where that takes so long. */
export const SLOW_BATCH_MS = 4000;
/** Calls at once, as long as none was slow: one at first, then twice as many each time. */
const MAX_PART = 16;
/** What a contract may take of one reading by slow calls, and by whatever calls. */
const MAX_SLOW_MS = 2000;
const MAX_MS = 5000;
/** So many times what it took, a contract is left alone. */
const PAUSE_FACTOR = 20;
/** Contracts that are remembered. */
const MAX_KNOWN = 10_000;

/** Contracts that may be slow: asked by themselves, and left alone for a while where they are. */
export type SlowContracts = {
  isSuspect: (contract: Hex) => boolean;
  /** One of these was slow, and nobody knows which: each is asked by itself from now on, until it was quick. */
  suspect: (contracts: readonly Hex[]) => void;
  /** Asks a suspect's questions, few at a time, for as long as there is time: there may be fewer answers than questions. */
  askAlone: <Q, A>(contract: Hex, questions: readonly Q[], ask: (part: readonly Q[]) => Promise<A[]>) => Promise<A[]>;
};

export function createSlowContracts(): SlowContracts {
  const pausedUntil = new Map<Hex, number>();

  return {
    isSuspect: (contract) => pausedUntil.has(contract),
    suspect: (contracts) => {
      if (pausedUntil.size > MAX_KNOWN) pausedUntil.clear();
      for (const contract of contracts) pausedUntil.set(contract, pausedUntil.get(contract) ?? 0);
    },
    askAlone: async (contract, questions, ask) => {
      const answers = [];
      const beganAt = performance.now();
      let slowMs = 0;
      let size = 1;
      while (answers.length < questions.length) {
        const startedAt = performance.now();
        if ((pausedUntil.get(contract) ?? 0) > startedAt || startedAt - beganAt > MAX_MS) break;
        const part = questions.slice(answers.length, answers.length + size);
        answers.push(...(await ask(part)));
        const tookMs = performance.now() - startedAt;
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
