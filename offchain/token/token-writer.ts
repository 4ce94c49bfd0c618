import type { Sql } from "postgres";
import type { Postponed } from "../fetch/failure.ts";
import { type ClaimedToken, releaseClaims } from "./token-queue.ts";
import type { TokenOutcome } from "./token-row.ts";
import { storeTokens } from "./token-store.ts";
import { tellFault } from "../fault.ts";

/** Outcomes are stored together: so many, or so much text, or after so long. */
const STORE_SIZE = 200;
/**
 * Documents go to Postgres joined, as received in one text and normalized in another. From 128 kB on V8 gives such a text
 * memory of its own, new each time: half of the worker's CPU for storing a token.
 */
const STORE_LENGTH = 200 * 1024;
const STORE_AFTER_MS = 50;
/** Writes at a time: Postgres works on one while the next is made. */
const STORE_CONCURRENCY = 3;
/** What may be there unwritten before it is waited for. */
const MAX_UNWRITTEN = 2000;
const MAX_UNWRITTEN_LENGTH = 32 * 1024 * 1024;

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
  /** Whether they are so many, or so much text, that nothing should be added. */
  isFull: () => boolean;
  /** Until they aren't any more. */
  room: () => Promise<void>;
  /** What comes later was given back and isn't ours any more. */
  close: () => void;
};

/** Outcomes and tokens put off, written so many at a time; written ones leave `inFlight`. */
export function createTokenWriter(sql: Sql, { chainId, inFlight, onStored }: WriterOptions): TokenWriter {
  const outcomes: TokenOutcome[] = [];
  let postponed: (ClaimedToken & { seconds: number; host: string })[] = [];
  let timer: NodeJS.Timeout | undefined;
  const writing = new Set<Promise<void>>();
  let isClosed = false;
  let unwritten = 0;
  let unwrittenLength = 0;
  /** Of those that no write has taken yet. */
  let waitingLength = 0;

  const isFull = () => unwritten > MAX_UNWRITTEN || unwrittenLength > MAX_UNWRITTEN_LENGTH;
  const hasRest = () => outcomes.length + postponed.length > 0;
  const isDue = () => outcomes.length + postponed.length >= STORE_SIZE || waitingLength >= STORE_LENGTH;

  /** All of them, but for what would be too much text for one write. */
  function takeOutcomes(): { done: TokenOutcome[]; length: number } {
    let length = 0;
    let count = 0;
    while (count < outcomes.length && length < STORE_LENGTH) length += lengthOf(outcomes[count++]!);
    waitingLength -= length;
    return { done: outcomes.splice(0, count), length };
  }

  async function write(): Promise<void> {
    const { done, length } = takeOutcomes();
    const later = postponed;
    postponed = [];
    try {
      if (done.length > 0) await storeTokens(sql, { chainId, outcomes: done });
      await releaseClaims(sql, { chainId, tokens: later });
      onStored?.(done);
    } finally {
      for (const { token } of done) inFlight.delete(token);
      unwritten -= done.length;
      unwrittenLength -= length;
    }
  }

  function startWrite(): void {
    clearTimeout(timer);
    timer = undefined;
    // What couldn't be written is due again when its lease ends.
    const task: Promise<void> = write()
      .catch((error: unknown) => tellFault("can't store metadata", error))
      .finally(() => {
        writing.delete(task);
        if (hasRest() && !isClosed) schedule();
      });
    writing.add(task);
    if (outcomes.length > 0) schedule();
  }

  function schedule(): void {
    // The first that ends goes on.
    if (writing.size >= STORE_CONCURRENCY) return;
    if (isDue()) startWrite();
    else timer ??= setTimeout(startWrite, STORE_AFTER_MS);
  }

  async function flush(): Promise<void> {
    while (hasRest() || writing.size > 0) {
      if (hasRest() && writing.size < STORE_CONCURRENCY) startWrite();
      await Promise.race(writing);
    }
  }

  return {
    add: (outcome) => {
      if (isClosed) return;
      outcomes.push(outcome);
      unwritten++;
      const length = lengthOf(outcome);
      unwrittenLength += length;
      waitingLength += length;
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
    isFull,
    room: async () => {
      while (isFull() && writing.size > 0) await Promise.race(writing);
    },
    close: () => {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}

/** The text that it holds. */
function lengthOf({ uri = "", result }: TokenOutcome): number {
  if (result.kind === "failure") return uri.length;
  const { raw_json, normalized, links } = result;
  const { image, image_data, animation_url } = links;
  return uri.length + raw_json.length + normalized.length + image.length + image_data.length + animation_url.length;
}
