import type { Sql } from "postgres";
import type { Postponed } from "../fetch/failure.ts";
import { type ClaimedToken, releaseClaims } from "./token-queue.ts";
import { type FoundToken, STORE_CONCURRENCY, type Stored, type StoreThread } from "./store-thread.ts";

/** Tokens are stored together: so many, or after so long. */
const STORE_SIZE = 200;
const STORE_AFTER_MS = 50;

type WriterOptions = {
  chainId: number;
  inFlight: Set<ClaimedToken>;
  storeThread: StoreThread;
  /** Called with what was written. */
  onStored?: ((stored: Stored) => void) | undefined;
};

/** Collects what was found of tokens, to be stored together. */
export type TokenWriter = {
  add: (found: FoundToken) => void;
  postpone: (token: ClaimedToken, until: Pick<Postponed, "seconds" | "host">) => void;
  flush: () => Promise<void>;
  /** Tokens that aren't written yet. */
  size: () => number;
  /** What comes later was given back and isn't ours any more. */
  close: () => void;
};

/** Tokens found and put off, written so many at a time; written ones leave `inFlight`. */
export function createTokenWriter(sql: Sql, options: WriterOptions): TokenWriter {
  const { chainId, inFlight, storeThread, onStored } = options;
  let found: FoundToken[] = [];
  let postponed: (ClaimedToken & { seconds: number; host: string })[] = [];
  let timer: NodeJS.Timeout | undefined;
  const writing = new Set<Promise<void>>();
  let isClosed = false;
  let unwritten = 0;

  async function write(): Promise<void> {
    const [done, later] = [found, postponed];
    found = [];
    postponed = [];
    try {
      await releaseClaims(sql, { chainId, tokens: later });
      if (done.length === 0) return;
      const stored = await storeThread.store({ chainId, tokens: done });
      onStored?.(stored);
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
        if (found.length + postponed.length >= STORE_SIZE) schedule();
      });
    writing.add(task);
  }

  function schedule(): void {
    const size = found.length + postponed.length;
    if (size >= STORE_SIZE && writing.size < STORE_CONCURRENCY) startWrite();
    else timer ??= setTimeout(startWrite, STORE_AFTER_MS);
  }

  async function flush(): Promise<void> {
    startWrite();
    await Promise.allSettled(writing);
  }

  return {
    add: (token) => {
      if (isClosed) return;
      found.push(token);
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
