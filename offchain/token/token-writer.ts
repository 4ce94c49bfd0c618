import type { Sql } from "postgres";
import type { Postponed } from "../fetch/failure.ts";
import { type ClaimedToken, releaseClaims } from "./token-queue.ts";
import type { TokenOutcome } from "./token-row.ts";
import { storeTokens } from "./token-store.ts";

/** Outcomes are stored together: so many, or after so long. */
const STORE_SIZE = 200;
const STORE_AFTER_MS = 50;
/** Writes at a time: Postgres works on one while the next is made. */
const STORE_CONCURRENCY = 3;

type WriterOptions = {
  chainId: number;
  inFlight: Set<ClaimedToken>;
  /** Called with what was written. */
  onStored?: ((outcomes: TokenOutcome[]) => void) | undefined;
};

/** Collects what came of tokens, and writes it together. */
export type TokenWriter = {
  add: (outcome: TokenOutcome) => void;
  postpone: (token: ClaimedToken, until: Pick<Postponed, "seconds" | "host">) => void;
  flush: () => Promise<void>;
  /** Outcomes that aren't written yet. */
  size: () => number;
  /** What comes later was given back and isn't ours any more. */
  close: () => void;
};

/** Outcomes and tokens put off, written so many at a time; written ones leave `inFlight`. */
export function createTokenWriter(sql: Sql, { chainId, inFlight, onStored }: WriterOptions): TokenWriter {
  let outcomes: TokenOutcome[] = [];
  let postponed: (ClaimedToken & { seconds: number; host: string })[] = [];
  let timer: NodeJS.Timeout | undefined;
  const writing = new Set<Promise<void>>();
  let isClosed = false;
  let unwritten = 0;

  async function write(): Promise<void> {
    const [done, later] = [outcomes, postponed];
    outcomes = [];
    postponed = [];
    try {
      if (done.length > 0) await storeTokens(sql, { chainId, outcomes: done });
      await releaseClaims(sql, { chainId, tokens: later });
      onStored?.(done);
    } finally {
      for (const { token } of done) inFlight.delete(token);
      unwritten -= done.length;
    }
  }

  function startWrite(): void {
    clearTimeout(timer);
    timer = undefined;
    // What couldn't be written is due again when its lease ends.
    const task: Promise<void> = write()
      .catch((error: unknown) => {
        console.error("worker: can't store metadata:", error instanceof Error ? error.message : error);
      })
      .finally(() => {
        writing.delete(task);
        if (outcomes.length + postponed.length >= STORE_SIZE) schedule();
      });
    writing.add(task);
  }

  function schedule(): void {
    const size = outcomes.length + postponed.length;
    if (size >= STORE_SIZE && writing.size < STORE_CONCURRENCY) startWrite();
    else timer ??= setTimeout(startWrite, STORE_AFTER_MS);
  }

  async function flush(): Promise<void> {
    startWrite();
    await Promise.allSettled(writing);
  }

  return {
    add: (outcome) => {
      if (isClosed) return;
      outcomes.push(outcome);
      unwritten++;
      schedule();
    },
    postpone: (token, { seconds, host }) => {
      if (isClosed) return;
      postponed.push({ ...token, seconds, host });
      inFlight.delete(token);
      schedule();
    },
    flush,
    size: () => unwritten,
    close: () => {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}
